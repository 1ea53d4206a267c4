//! Prices every solution in every region, drops what the budget forbids, ranks the rest.

use std::collections::BTreeMap;

use hob_catalog::Offer;
use hob_units::{Currency, Money, Period};
use hob_workload::{Budget, Workload};

use crate::bill::{Bill, Exchange, Need, Terms, bills};
use crate::document::{Choice, PriceGroup, Rejected};
use crate::limits::OWN;
use crate::rank;
use crate::reason::Reason;
use crate::search::{Found, Outcome};

/// Offers after pricing.
pub(crate) struct Priced {
    pub ranked: Vec<PriceGroup>,
    pub unpriced: Vec<Choice>,
    pub rejected: Vec<Rejected>,
}

/// Prices and ranks.
pub(crate) fn price(workload: &Workload, outcomes: Vec<(&Offer<'_>, Outcome)>) -> Priced {
    let exchange = exchange(workload);
    let mut priced: BTreeMap<Currency, Vec<Choice>> = BTreeMap::new();
    let mut unpriced = Vec::new();
    let mut rejected = Vec::new();
    for (offer, outcome) in outcomes {
        let reject = |reason: Reason| Rejected {
            cloud: offer.instance.cloud.clone(),
            instance: offer.instance.name.clone(),
            gpu: offer.gpu.id.clone(),
            reason,
        };
        let found = match outcome {
            Ok(found) => found,
            Err(reason) => {
                rejected.push(reject(reason));
                continue;
            }
        };
        let terms = Terms {
            machines: found.solution.machines,
            need: found.need,
            outputs: &found.solution.outputs,
            stage: workload.stage,
            exchange: &exchange,
        };
        let all = bills(&offer.prices, terms);
        if all.is_empty() {
            unpriced.push(choice(offer, &found, Vec::new(), workload));
            continue;
        }
        let mut by_currency: BTreeMap<Currency, Vec<Bill>> = BTreeMap::new();
        for bill in all {
            by_currency.entry(bill.cost.currency).or_default().push(bill);
        }
        for (currency, bills) in by_currency {
            let Some(cost) = bills.first().map(|bill| bill.cost) else { continue };
            match budget(workload, found.need) {
                Some(budget) if cost.compare(budget).is_some_and(std::cmp::Ordering::is_gt) => {
                    rejected.push(reject(Reason::OverBudget { cost, budget }));
                }
                _ => priced.entry(currency).or_default().push(choice(offer, &found, bills, workload)),
            }
        }
    }
    // What the user owns stands ready, so it comes before what must be asked for; the rest keeps the catalog's order.
    unpriced.sort_by_key(|choice: &Choice| choice.cloud != OWN);
    Priced { ranked: ranked(workload, priced), unpriced, rejected: one_each(rejected) }
}

fn choice(offer: &Offer<'_>, found: &Found, bills: Vec<Bill>, workload: &Workload) -> Choice {
    Choice {
        cloud: offer.instance.cloud.clone(),
        instance: offer.instance.name.clone(),
        gpu: offer.gpu.id.clone(),
        region: offer.region.clone(),
        solution: found.solution.clone(),
        bills,
        delay_cost: delay_cost(workload, found.need),
        is_pareto: false,
        how_to_get_price: offer.how_to_get_price,
    }
}

/// What the team's waiting for a job costs.
fn delay_cost(workload: &Workload, need: Need) -> Option<Money> {
    match (workload.cost_of_delay, need) {
        (Some(rate), Need::Once(time)) => rate.per(Period::Hour)?.money.times(time.mid.as_hours()),
        _ => None,
    }
}

/// The currency of the budget first, then by name.
fn ranked(workload: &Workload, priced: BTreeMap<Currency, Vec<Choice>>) -> Vec<PriceGroup> {
    let mut groups: Vec<PriceGroup> = priced
        .into_iter()
        .map(|(currency, mut choices)| {
            rank::mark_pareto(&mut choices);
            rank::sort(&mut choices, workload.objective.minimise);
            PriceGroup { currency, choices }
        })
        .collect();
    let home = home_currency(workload);
    groups.sort_by_key(|group| (Some(group.currency) != home, group.currency));
    groups
}

/// One instance type fails for one reason, whatever the region.
fn one_each(mut rejected: Vec<Rejected>) -> Vec<Rejected> {
    let came_furthest = |loser: &Rejected| std::cmp::Reverse(loser.reason.progress());
    rejected.sort_by(|a, b| (&a.cloud, &a.instance, came_furthest(a)).cmp(&(&b.cloud, &b.instance, came_furthest(b))));
    rejected.dedup_by(|a, b| a.cloud == b.cloud && a.instance == b.instance);
    rejected
}

/// The currency in which the user thinks: the budget's, else that of the cost of delay, else the target of the first rate.
fn home_currency(workload: &Workload) -> Option<Currency> {
    let budget = workload.budget.map(Budget::currency);
    let delay = workload.cost_of_delay.map(|rate| rate.money.currency);
    budget.or(delay).or_else(|| workload.place.exchange.first().map(|(_, to, _)| *to))
}

/// The user's rates into the home currency; a rate that is stated the other way round is turned.
fn exchange(workload: &Workload) -> Vec<Exchange> {
    let Some(home) = home_currency(workload) else { return Vec::new() };
    workload
        .place
        .exchange
        .iter()
        .filter_map(|&(one, other, rate)| match (one == home, other == home) {
            (false, true) => Some(Exchange { from: one, to: home, rate }),
            (true, false) => Some(Exchange { from: other, to: home, rate: 1.0 / rate }),
            _ => None,
        })
        .collect()
}

/// The budget in the terms of a bill: for a month of a service, for the whole of a job.
fn budget(workload: &Workload, need: Need) -> Option<Money> {
    match (workload.budget?, need) {
        (Budget::Rate(rate), Need::Always(_)) => rate.per(Period::Month).map(|rate| rate.money),
        // A job that is done within the period may spend all of it.
        (Budget::Rate(rate), Need::Once(time)) => rate.money.times((time.mid.as_hours() / rate.per.hours()).max(1.0)),
        (Budget::Total(money), Need::Once(_)) => Some(money),
        (Budget::Total(_), Need::Always(_)) => None,
    }
}
