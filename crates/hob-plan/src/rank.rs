//! Order among feasible choices, inside one currency.

use hob_workload::Minimise;

use crate::document::{Choice, Speed};

/// What one choice costs and how long it takes, as plain numbers for a score.
fn cost_and_time(choice: &Choice) -> (f64, f64) {
    let cost = choice.bills.first().map_or(f64::INFINITY, |bill| bill.cost.as_f64_for_score());
    let time = match choice.solution.speed {
        Speed::Service { end_to_end_p95, .. } => end_to_end_p95.mid.0,
        Speed::Job { duration, .. } => duration.mid.0,
    };
    (cost, time)
}

/// Sorts by the user's objective. A balance weighs the logarithms, so that neither unit matters. Ties go to the smaller
/// name, so that the order is the same on every run.
pub(crate) fn sort(choices: &mut [Choice], minimise: Minimise) {
    let score = |choice: &Choice| {
        let (cost, time) = cost_and_time(choice);
        match minimise {
            Minimise::Cost => cost,
            Minimise::Time => time,
            Minimise::Balance(balance) => {
                let weight = balance.cost_weight.clamp(0.0, 1.0);
                weight * cost.max(f64::MIN_POSITIVE).ln() + (1.0 - weight) * time.max(f64::MIN_POSITIVE).ln()
            }
        }
    };
    choices.sort_by(|a, b| {
        score(a)
            .total_cmp(&score(b))
            .then_with(|| a.solution.gpus.cmp(&b.solution.gpus))
            .then_with(|| (&a.cloud, &a.instance, &a.region).cmp(&(&b.cloud, &b.instance, &b.region)))
    });
}
