//! What a number of machines costs under each billing mode.

use hob_catalog::{ChargeType, Price};
use hob_text::Message;
use hob_units::{Currency, HOURS_PER_MONTH, Interval, Money, MoneyPer, Period, Seconds, Share};
use hob_workload::Stage;
use serde::Serialize;

use crate::unit::{Output, Unit};

/// What a choice costs under one billing mode, for all its machines.
#[derive(Debug, Clone, Serialize)]
pub struct Bill {
    /// Mode.
    pub charge: ChargeType,
    /// List price of all machines as the source states it; the upper end where it prints a range.
    pub price: MoneyPer,
    /// Lower end where the source prints a range.
    pub price_low: Option<MoneyPer>,
    /// The user's exchange rate by which the costs below were converted.
    pub exchange: Option<Exchange>,
    /// For one average month with machines stopped when they are not needed, or for the whole job.
    pub cost: Money,
    /// Lower end of `cost`: the low list price and the short duration.
    pub cost_low: Money,
    /// Upper end of `cost`: the high list price and the long duration.
    pub cost_high: Money,
    /// Whether `cost` is for the whole job (else for a month).
    pub for_whole_job: bool,
    /// All machines for one hour.
    pub hour: Money,
    /// All machines for one month without a stop.
    pub month: Money,
    /// Cost of each unit of work.
    pub units: Vec<UnitCost>,
    /// Source of the price.
    pub source: String,
    /// Date of the price.
    pub date: String,
    /// Share of the time in use above which this mode beats pay-as-you-go, for commitments.
    pub break_even: Option<Share>,
    /// Why this mode is not advised for this work, or what it needs.
    pub caveat: Option<Message>,
    /// Whether the mode may be advised.
    pub is_advised: bool,
}

/// A rate that the user stated: one `from` costs `rate` of `to`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Exchange {
    /// Currency of the list price.
    pub from: Currency,
    /// Currency of the costs.
    pub to: Currency,
    /// Units of `to` for one of `from`.
    pub rate: f64,
}

/// Cost of one unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UnitCost {
    /// Unit.
    pub unit: Unit,
    /// Its cost.
    pub cost: Money,
}

/// How long the machines are needed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Need {
    /// All the time; this share of the machines' hours is in use.
    Always(Share),
    /// For one job.
    Once(Interval<Seconds>),
}

/// What bills are made for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// Machines.
    pub machines: u32,
    /// How long.
    pub need: Need,
    /// What is made.
    pub outputs: &'a [Output],
    /// Stage of the work: a service with real users is not put on machines that can be taken away.
    pub stage: Stage,
    /// Rates that the user states.
    pub exchange: &'a [Exchange],
}

/// Bills, advised ones first, then cheapest first. Prices whose arithmetic overflows are left out.
pub(crate) fn bills(prices: &[&Price], terms: Terms<'_>) -> Vec<Bill> {
    let mut bills: Vec<Bill> = prices.iter().filter_map(|price| bill(price, prices, terms)).collect();
    if bills.iter().all(|bill| !bill.is_advised) {
        // The user allows nothing else.
        bills.iter_mut().for_each(|bill| bill.is_advised = true);
    }
    bills.sort_by(|a, b| {
        (!a.is_advised, a.cost.currency, a.cost.amount, a.charge).cmp(&(
            !b.is_advised,
            b.cost.currency,
            b.cost.amount,
            b.charge,
        ))
    });
    bills
}

fn bill(price: &Price, prices: &[&Price], terms: Terms<'_>) -> Option<Bill> {
    if price.amount.high().amount.is_zero() {
        return None;
    }
    let exchange = terms.exchange.iter().find(|exchange| exchange.from == price.amount.currency()).copied();
    let converted = |money: Money| match exchange {
        None => Some(money),
        Some(exchange) => money.times(exchange.rate).map(|money| Money::new(money.amount, exchange.to)),
    };
    let all = |money: Money| money.times(f64::from(terms.machines));
    let cost = |one: Money, duration: fn(Interval<Seconds>) -> Seconds| {
        all(converted(cost(MoneyPer { money: one, per: price.per }, price.charge, terms.need, duration)?)?)
    };
    let (low, high) = (price.amount.low(), price.amount.high());
    let period = |period| all(converted(MoneyPer { money: high, per: price.per }.per(period)?.money)?);
    let middle = cost(high, |duration| duration.mid)?;
    let is_service = matches!(terms.need, Need::Always(_));
    let caveat = match price.charge {
        ChargeType::Spot if is_service => Some(Message::new("bill-spot-service")),
        ChargeType::Spot => Some(Message::new("bill-spot-job")),
        _ => None,
    };
    Some(Bill {
        charge: price.charge,
        price: MoneyPer { money: all(high)?, per: price.per },
        price_low: if low == high { None } else { Some(MoneyPer { money: all(low)?, per: price.per }) },
        exchange,
        cost: middle,
        cost_low: cost(low, |duration| duration.low)?,
        cost_high: cost(high, |duration| duration.high)?,
        for_whole_job: !is_service,
        hour: period(Period::Hour)?,
        month: period(Period::Month)?,
        units: terms.outputs.iter().filter_map(|output| unit_cost(middle, *output)).collect(),
        source: price.provenance.source.clone(),
        date: price.provenance.date.clone(),
        break_even: break_even(price, prices),
        caveat,
        is_advised: !(price.charge == ChargeType::Spot && is_service && terms.stage == Stage::Production),
    })
}

fn unit_cost(cost: Money, output: Output) -> Option<UnitCost> {
    let share = 1.0 / output.amount;
    Some(UnitCost { unit: output.unit, cost: if share.is_finite() { cost.times(share)? } else { return None } })
}

/// Cost of one machine.
fn cost(price: MoneyPer, charge: ChargeType, need: Need, duration: fn(Interval<Seconds>) -> Seconds) -> Option<Money> {
    let committed_months = match charge {
        ChargeType::Monthly => Some(1.0),
        ChargeType::Reserved { term_months } => Some(f64::from(term_months.max(1))),
        ChargeType::PayAsYouGo | ChargeType::Spot | ChargeType::Owned => None,
    };
    match (need, committed_months) {
        // A commitment is paid whether used or not, and so is a machine of one's own.
        (Need::Always(_), Some(_)) => Some(price.per(Period::Month)?.money),
        (Need::Always(_), None) if charge == ChargeType::Owned => Some(price.per(Period::Month)?.money),
        (Need::Always(share), None) => price.per(Period::Hour)?.money.times(HOURS_PER_MONTH * share.0),
        (Need::Once(time), None) => price.per(Period::Hour)?.money.times(duration(time).as_hours()),
        (Need::Once(time), Some(term)) => {
            let months = (duration(time).as_hours() / HOURS_PER_MONTH / term).ceil().max(1.0) * term;
            price.per(Period::Month)?.money.times(months)
        }
    }
}

/// Share of the time in use above which a commitment is cheaper than pay-as-you-go; `None` when it never is.
fn break_even(price: &Price, prices: &[&Price]) -> Option<Share> {
    if !matches!(price.charge, ChargeType::Monthly | ChargeType::Reserved { .. }) {
        return None;
    }
    let same_money =
        |other: &&&Price| other.charge == ChargeType::PayAsYouGo && other.amount.currency() == price.amount.currency();
    let month = |price: &Price| {
        MoneyPer { money: price.amount.high(), per: price.per }.per(Period::Month).map(|month| month.money)
    };
    let on_demand = month(prices.iter().find(same_money)?)?;
    let share = month(price)?.as_f64_for_score() / on_demand.as_f64_for_score();
    (share.is_finite() && share < 1.0).then_some(Share(share))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use hob_catalog::{Confidence, PriceAmount, Provenance};

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

    fn terms(machines: u32, need: Need) -> Terms<'static> {
        Terms { machines, need, outputs: &[], stage: Stage::Production, exchange: &[] }
    }

    fn money(text: &str) -> Money {
        text.parse().unwrap()
    }

    #[test]
    fn a_month_is_cheaper_than_hours_above_its_break_even() {
        let hourly = price(ChargeType::PayAsYouGo, "CNY 10", Period::Hour);
        let monthly = price(ChargeType::Monthly, "CNY 3652.425", Period::Month);
        for (used, cheapest) in [(0.4, ChargeType::PayAsYouGo), (0.6, ChargeType::Monthly)] {
            let bills = bills(&[&hourly, &monthly], terms(2, Need::Always(Share(used))));
            assert_eq!(bills[0].charge, cheapest, "at {used}");
            let committed = bills.iter().find(|bill| bill.charge == ChargeType::Monthly).unwrap();
            assert!((committed.break_even.unwrap().0 - 0.5).abs() < 1e-9);
            assert_eq!(committed.cost, money("CNY 7304.85"));
        }
    }

    #[test]
    fn a_job_of_five_weeks_pays_two_months() {
        let monthly = price(ChargeType::Monthly, "CNY 1000", Period::Month);
        let weeks = Interval::exact(Seconds::from_hours(5.0 * 7.0 * 24.0));
        let bills = bills(&[&monthly], terms(1, Need::Once(weeks)));
        assert_eq!(bills[0].cost, money("CNY 2000"));
    }

    #[test]
    fn real_users_are_not_put_on_spot_machines_unless_nothing_else_is_allowed() {
        let hourly = price(ChargeType::PayAsYouGo, "CNY 10", Period::Hour);
        let spot = price(ChargeType::Spot, "CNY 2", Period::Hour);
        let always = Need::Always(Share(1.0));
        assert_eq!(bills(&[&spot, &hourly], terms(1, always))[0].charge, ChargeType::PayAsYouGo);
        assert_eq!(bills(&[&spot], terms(1, always))[0].charge, ChargeType::Spot);
        let dev = Terms { stage: Stage::Dev, ..terms(1, always) };
        assert_eq!(bills(&[&spot, &hourly], dev)[0].charge, ChargeType::Spot);
        let job = Need::Once(Interval::exact(Seconds::from_hours(1.0)));
        assert_eq!(bills(&[&spot, &hourly], terms(1, job))[0].charge, ChargeType::Spot);
    }

    #[test]
    fn amounts_are_converted_by_the_users_rate_only() {
        let hourly = price(ChargeType::PayAsYouGo, "USD 2", Period::Hour);
        let hour = Need::Once(Interval::exact(Seconds::from_hours(1.0)));
        assert_eq!(bills(&[&hourly], terms(3, hour))[0].cost, money("USD 6"));
        let rate = [Exchange { from: Currency::USD, to: Currency::CNY, rate: 7.1 }];
        let converted = bills(&[&hourly], Terms { exchange: &rate, ..terms(3, hour) });
        assert_eq!(converted[0].cost, money("CNY 42.6"));
        assert_eq!(converted[0].price.money, money("USD 6"));
    }

    #[test]
    fn cost_of_a_unit_is_the_bill_over_what_it_makes() {
        let hourly = price(ChargeType::PayAsYouGo, "CNY 10", Period::Hour);
        let made = [Output::new(Unit::ThousandImages, 4.0), Output::new(Unit::Epoch, 0.0)];
        let job = Need::Once(Interval::exact(Seconds::from_hours(2.0)));
        let bills = bills(&[&hourly], Terms { outputs: &made, ..terms(1, job) });
        assert_eq!(bills[0].units, vec![UnitCost { unit: Unit::ThousandImages, cost: money("CNY 5") }]);
    }
}
