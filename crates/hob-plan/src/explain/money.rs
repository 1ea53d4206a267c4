//! The bills, from list price to the cost of a unit.

use hob_catalog::{ChargeType, Offer, Price};
use hob_estimate::Amount::{Money, Number, Share};
use hob_estimate::{ArithmeticBlock, ArithmeticStep, Source};
use hob_units::{HOURS_PER_MONTH, Period};

use crate::bill::{Bill, Need};
use crate::document::Choice;

/// A block for each billing mode, the advised one first.
pub(super) fn blocks(choice: &Choice, offer: &Offer<'_>, need: Need) -> Vec<ArithmeticBlock> {
    let price = |bill: &Bill| offer.prices.iter().find(|price| price.charge == bill.charge).copied();
    choice.bills.iter().filter_map(|bill| Some(block(choice, bill, price(bill)?, need))).collect()
}

fn title(charge: ChargeType) -> &'static str {
    match charge {
        ChargeType::PayAsYouGo => "money-on-demand",
        ChargeType::Monthly => "money-monthly",
        ChargeType::Spot => "money-spot",
        ChargeType::Owned => "money-owned",
        ChargeType::Reserved { .. } => "money-reserved",
    }
}

fn block(choice: &Choice, bill: &Bill, price: &Price, need: Need) -> ArithmeticBlock {
    let source = vec![Source { text: bill.source.clone(), date: Some(bill.date.clone()) }];
    let mut steps = hours(choice, bill, price, source);
    steps.extend(cost(bill, need));
    for unit in &bill.units {
        let output = choice.solution.outputs.iter().find(|output| output.unit == unit.unit);
        let Some(output) = output else { continue };
        steps.push(ArithmeticStep::new(
            unit.unit.text_id(),
            Money(unit.cost),
            "cost / made",
            &[("cost", Money(bill.cost)), ("made", Number(output.amount))],
        ));
    }
    ArithmeticBlock::new(title(bill.charge), steps)
}

/// The price of all machines for an hour and for a month, in the currency of the costs.
fn hours(choice: &Choice, bill: &Bill, price: &Price, source: Vec<Source>) -> Vec<ArithmeticStep> {
    let machines = ("machines", Number(f64::from(choice.solution.machines)));
    let list = price.amount.high();
    let rate = bill.exchange.map_or(1.0, |exchange| exchange.rate);
    let of = |period: Period| ("periods", Number(period.hours() / price.per.hours()));
    let step = |what, money, period| {
        let mut figures = vec![("price", Money(list)), of(period), machines];
        let mut expression = "price * periods * machines";
        if bill.exchange.is_some() {
            expression = "price * periods * machines * exchange";
            figures.push(("exchange", Number(rate)));
        }
        ArithmeticStep::new(what, Money(money), expression, &figures)
    };
    vec![
        ArithmeticStep::new(list_price(price.per), Money(list), "", &[]).by(source),
        step("machines-hour", bill.hour, Period::Hour),
        step("machines-month", bill.month, Period::Month),
    ]
}

fn list_price(per: Period) -> &'static str {
    match per {
        Period::Hour => "price-hour",
        Period::Day => "price-day",
        Period::Month => "price-month",
        Period::Year => "price-year",
    }
}

fn cost(bill: &Bill, need: Need) -> Vec<ArithmeticStep> {
    let committed = match bill.charge {
        ChargeType::Monthly => Some(1.0),
        ChargeType::Reserved { term_months } => Some(f64::from(term_months.max(1))),
        _ => None,
    };
    let (hour, month) = (("hour", Money(bill.hour)), ("month", Money(bill.month)));
    let mut steps = match (need, committed) {
        (Need::Always(_), Some(_)) => vec![ArithmeticStep::new("cost", Money(bill.cost), "month", &[month])],
        (Need::Always(_), None) if bill.charge == ChargeType::Owned => {
            vec![ArithmeticStep::new("cost", Money(bill.cost), "month", &[month])]
        }
        (Need::Always(used), None) => vec![
            ArithmeticStep::new("used", Share(used.0), "", &[]),
            ArithmeticStep::new("cost", Money(bill.cost), "month * used", &[month, ("used", Share(used.0))]),
        ],
        (Need::Once(time), None) => {
            let figures = [hour, ("hours", Number(time.mid.as_hours()))];
            vec![ArithmeticStep::new("cost", Money(bill.cost), "hour * hours", &figures)]
        }
        (Need::Once(time), Some(term)) => {
            let figures = [
                month,
                ("hours", Number(time.mid.as_hours())),
                ("month_hours", Number(HOURS_PER_MONTH)),
                ("term", Number(term)),
            ];
            let expression = "month * max(1, ceil(hours / month_hours / term)) * term";
            vec![ArithmeticStep::new("cost", Money(bill.cost), expression, &figures)]
        }
    };
    if bill.cost_low != bill.cost_high {
        steps.push(ArithmeticStep::new("cost-low", Money(bill.cost_low), "", &[]));
        steps.push(ArithmeticStep::new("cost-high", Money(bill.cost_high), "", &[]));
    }
    steps
}
