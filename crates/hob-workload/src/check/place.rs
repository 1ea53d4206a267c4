//! Where the work may run.

use std::collections::BTreeSet;

use hob_text::Message;
use hob_units::Seconds;

use crate::problem::{Code, Problem};
use crate::raw;
use crate::read::{List, Located, Text};
use crate::work::{Machine, MachineCost, Place};

use super::Check;

/// Two rates of one pair of currencies agree when their product is this near to one; banks' spreads are smaller.
const EXCHANGE_SLACK: f64 = 0.05;

pub(crate) fn place(raw: Option<&Located<raw::Place>>, check: &mut Check<'_>) -> Place {
    let empty = raw::Place::default();
    let raw = raw.map_or(&empty, |raw| &raw.value);
    let mut billing: Vec<_> =
        raw.billing.iter().flat_map(|list| list.value.0.iter().map(|mode| mode.value.value)).collect();
    billing.sort();
    billing.dedup();
    Place {
        clouds: texts(raw.clouds.as_ref()),
        regions: texts(raw.regions.as_ref()),
        billing,
        machines: machines(raw, check),
        exchange: exchange(raw, check),
        allow_invitation_only: raw.allow_invitation_only.as_ref().is_some_and(|flag| flag.value.0),
        catalogs: texts(raw.catalogs.as_ref()),
    }
}

/// The texts of a list; empty when it is not there.
pub(crate) fn texts(list: Option<&Located<List<Text>>>) -> Vec<String> {
    list.iter().flat_map(|list| list.value.0.iter().map(|text| text.value.0.clone())).collect()
}

fn exchange(raw: &raw::Place, check: &mut Check<'_>) -> Vec<(hob_units::Currency, hob_units::Currency, f64)> {
    let Some(stated) = &raw.exchange else { return Vec::new() };
    let rates = &stated.value.0;
    for (index, rate) in rates.iter().enumerate() {
        let (from, to, amount) = rate.value;
        let earlier = rates.iter().take(index);
        let back = earlier.clone().find(|other| other.value.0 == to && other.value.1 == from);
        if let Some(back) = back
            && (back.value.2 * amount - 1.0).abs() > EXCHANGE_SLACK
        {
            check.contradiction(rate, &back.field, Message::new("workload-why-exchange"));
        }
    }
    rates.iter().map(|rate| rate.value).collect()
}

fn machines(raw: &raw::Place, check: &mut Check<'_>) -> Vec<Machine> {
    let Some(list) = &raw.machines else { return Vec::new() };
    let mut names = BTreeSet::new();
    let mut machines = Vec::new();
    for item in &list.value.0 {
        let machine = &item.value;
        let Some(gpu) = &machine.gpu else {
            let field = format!("{}.gpu", item.field);
            let was_reported = check.reader.problems.iter().any(|problem| problem.field == field);
            if !was_reported {
                let problem = Problem::new(Code::Missing, item.span.clone(), field).with("kind", check.kind);
                check.absent(problem.expected(Message::new("workload-expected-machine")));
            }
            continue;
        };
        let gpus = machine.gpus.as_ref().map(|count| count.value.as_u32());
        let count = machine.count.as_ref().map(|count| count.value.as_u32());
        let gpus = check.or(gpus, &format!("{}.gpus", item.field), 1, "1", "assumed-one");
        let count = check.or(count, &format!("{}.count", item.field), 1, "1", "assumed-one");
        let named = machine.name.as_ref().map(|name| name.value.0.clone());
        let name = named.unwrap_or_else(|| format!("{gpus}x{}", gpu.value.0));
        if !names.insert(name.to_lowercase()) {
            let span = machine.name.as_ref().map_or(item.span.clone(), |name| name.span.clone());
            let problem = Problem::new(Code::Twice, span, format!("{}.name", item.field)).with("got", &name);
            check.reader.report(problem);
        }
        machines.push(Machine {
            name,
            gpu: gpu.value.0.clone(),
            gpus,
            count,
            vcpus: machine.vcpus.as_ref().map(|count| count.value.as_u32()),
            memory: machine.memory.as_ref().map(|size| size.value.value),
            network: machine.network.as_ref().map(|rate| rate.value.value),
            cost: cost(item, check),
        });
    }
    machines
}

fn cost(item: &Located<raw::Machine>, check: &mut Check<'_>) -> Option<MachineCost> {
    /// Straight-line lifetime of servers in the books of most firms (and in China's tax rules: at least 3 years).
    const LIFETIME_YEARS: f64 = 5.0;
    const YEAR: f64 = hob_units::HOURS_PER_MONTH * 12.0 * 3600.0;
    let machine = &item.value;
    if let (Some(rate), Some(price)) = (&machine.cost, &machine.price) {
        check.exclusive(rate, price);
    }
    if let (Some(lifetime), None) = (&machine.lifetime, &machine.price) {
        check.contradiction(lifetime, &format!("{}.price", item.field), Message::new("workload-why-lifetime"));
    }
    if let Some(rate) = &machine.cost {
        return Some(MachineCost::Rate(rate.value.value));
    }
    let price = machine.price.as_ref()?.value.value;
    let lifetime = machine.lifetime.as_ref().map(|time| time.value.value);
    let field = format!("{}.lifetime", item.field);
    let lifetime = check.or(lifetime, &field, Seconds(LIFETIME_YEARS * YEAR), "5 years", "assumed-lifetime");
    Some(MachineCost::Purchase { price, years: lifetime.0 / YEAR })
}
