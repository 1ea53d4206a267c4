//! Order among feasible choices, inside one currency.

use hob_workload::Minimise;

use crate::document::Choice;

/// What one choice costs (with the team's waiting, when it is priced) and how long it takes, as plain numbers for a score.
fn cost_and_time(choice: &Choice) -> (f64, f64) {
    let bill = choice.bills.first().map_or(f64::INFINITY, |bill| bill.cost.as_f64_for_score());
    let delay = choice
        .delay_cost
        .filter(|delay| choice.bills.first().is_none_or(|bill| bill.cost.currency == delay.currency))
        .map_or(0.0, |delay| delay.as_f64_for_score());
    (bill + delay, choice.solution.speed.time().mid.0)
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

/// Marks the choices that no other one beats in both cost and time.
pub(crate) fn mark_pareto(choices: &mut [Choice]) {
    let mut points: Vec<(f64, f64, usize)> = choices
        .iter()
        .enumerate()
        .map(|(index, choice)| {
            let (cost, time) = cost_and_time(choice);
            (cost, time, index)
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut fastest = f64::INFINITY;
    for (_, time, index) in points {
        if time < fastest {
            fastest = time;
            if let Some(choice) = choices.get_mut(index) {
                choice.is_pareto = true;
            }
        }
    }
}
