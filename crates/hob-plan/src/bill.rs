//! What a number of machines costs under each billing mode.

use hob_catalog::{ChargeType, Price, PriceAmount};
use hob_units::{HOURS_PER_MONTH, Money, MoneyPer, Period, Seconds, Share};

use crate::document::Bill;

/// How long the machines are needed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Need {
    /// All the time, used for a share of it.
    Always(Share),
    /// For one job.
    Once(Seconds),
}

/// Bills for `machines` machines, cheapest first. Prices whose arithmetic overflows are left out.
pub(crate) fn bills(prices: &[&Price], machines: u32, need: Need) -> Vec<Bill> {
    let on_demand = prices.iter().find(|price| price.charge == ChargeType::PayAsYouGo).and_then(|price| upper(price));
    let mut bills: Vec<Bill> = prices.iter().filter_map(|price| bill(price, machines, need, on_demand)).collect();
    bills.sort_by(|a, b| a.cost.amount.cmp(&b.cost.amount).then(a.charge.cmp(&b.charge)));
    bills
}

/// The amount to plan with: the upper end of a range, so that a bill is not higher than the plan said.
fn upper(price: &Price) -> Option<MoneyPer> {
    let money = match price.amount {
        PriceAmount::Exact(money) | PriceAmount::Range { high: money, .. } => money,
    };
    (!money.amount.is_zero()).then_some(MoneyPer { money, per: price.per })
}

fn bill(price: &Price, machines: u32, need: Need, on_demand: Option<MoneyPer>) -> Option<Bill> {
    let one = upper(price)?;
    let all = |money: Money| money.times(f64::from(machines));
    let cost = all(cost(one, price.charge, need)?)?;
    let low = match price.amount {
        PriceAmount::Range { low, .. } => Some(MoneyPer { money: all(low)?, per: price.per }),
        PriceAmount::Exact(_) => None,
    };
    Some(Bill {
        charge: price.charge,
        price: MoneyPer { money: all(one.money)?, per: one.per },
        price_low: low,
        cost,
        for_whole_job: matches!(need, Need::Once(_)),
        source: price.provenance.source.clone(),
        date: price.provenance.date.clone(),
        break_even: break_even(one, price.charge, on_demand),
    })
}

/// Cost of one machine.
fn cost(price: MoneyPer, charge: ChargeType, need: Need) -> Option<Money> {
    let committed_months = match charge {
        ChargeType::Monthly => Some(1.0),
        ChargeType::Reserved { term_months } => Some(f64::from(term_months.max(1))),
        ChargeType::PayAsYouGo | ChargeType::Spot | ChargeType::Owned => None,
    };
    match (need, committed_months) {
        // A commitment is paid whether used or not.
        (Need::Always(_), Some(_)) => Some(price.per(Period::Month)?.money),
        (Need::Always(share), None) => price.per(Period::Hour)?.money.times(HOURS_PER_MONTH * share.0),
        (Need::Once(time), None) => price.per(Period::Hour)?.money.times(time.as_hours()),
        (Need::Once(time), Some(term)) => {
            let months = (time.as_hours() / HOURS_PER_MONTH / term).ceil().max(1.0) * term;
            price.per(Period::Month)?.money.times(months)
        }
    }
}

/// Share of the time in use above which a commitment is cheaper than pay-as-you-go; `None` when it never is.
fn break_even(price: MoneyPer, charge: ChargeType, on_demand: Option<MoneyPer>) -> Option<Share> {
    if !matches!(charge, ChargeType::Monthly | ChargeType::Reserved { .. }) {
        return None;
    }
    let on_demand = on_demand?.per(Period::Month)?.money;
    let committed = price.per(Period::Month)?.money;
    if committed.currency != on_demand.currency {
        return None;
    }
    let share = committed.as_f64_for_score() / on_demand.as_f64_for_score();
    (share.is_finite() && share < 1.0).then_some(Share(share))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use hob_catalog::{Confidence, Provenance};

    fn price(charge: ChargeType, money: &str, per: Period) -> Price {
        let provenance = Provenance {
            source: "test".to_owned(),
            date: "2026-11-30".to_owned(),
            confidence: Confidence::High,
            note: None,
        };
        Price {
            cloud: "c".to_owned(),
            instance: "i".to_owned(),
            region: "r".to_owned(),
            charge,
            amount: PriceAmount::Exact(money.parse().unwrap()),
            per,
            provenance,
        }
    }

    #[test]
    fn a_month_is_cheaper_than_hours_above_its_break_even() {
        let hourly = price(ChargeType::PayAsYouGo, "CNY 10", Period::Hour);
        let monthly = price(ChargeType::Monthly, "CNY 3652.425", Period::Month);
        for (used, cheapest) in [(0.4, ChargeType::PayAsYouGo), (0.6, ChargeType::Monthly)] {
            let bills = bills(&[&hourly, &monthly], 2, Need::Always(Share(used)));
            assert_eq!(bills[0].charge, cheapest, "at {used}");
            let committed = bills.iter().find(|bill| bill.charge == ChargeType::Monthly).unwrap();
            assert!((committed.break_even.unwrap().0 - 0.5).abs() < 1e-9);
            assert_eq!(committed.cost, "CNY 7304.85".parse().unwrap());
        }
    }

    #[test]
    fn a_job_of_five_weeks_pays_two_months() {
        let monthly = price(ChargeType::Monthly, "CNY 1000", Period::Month);
        let bills = bills(&[&monthly], 1, Need::Once(Seconds::from_hours(5.0 * 7.0 * 24.0)));
        assert_eq!(bills[0].cost, "CNY 2000".parse().unwrap());
    }
}
