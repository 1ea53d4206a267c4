//! Goals: deadline, latencies, what to make small, how sure.

use hob_text::Message;
use hob_units::{Seconds, Share};

use crate::kind::Kind;
use crate::problem::{Code, Problem};
use crate::raw;
use crate::read::{Either, Located, Positive};
use crate::words::MinimiseWord;
use crate::work::{Balance, Goal, Minimise, Objective, Percentile, Slo, Stage, Task};

use super::Check;

pub(crate) fn objective(root: &raw::Root, check: &mut Check<'_>) -> Objective {
    let empty = raw::Objective::default();
    let raw = root.objective.as_ref().map_or(&empty, |raw| &raw.value);
    let mut slo = goals(raw, check);
    if slo.is_empty() && check.kind == Kind::Serve && check.task == Some(Task::Llm) {
        slo = chat_goals(check);
    }
    let minimise = minimise(raw, check);
    let (usual, shown, why) = match check.stage {
        Stage::Dev => (Share(0.5), "50%", "assumed-confidence-dev"),
        Stage::Production => (Share(0.8), "80%", "assumed-confidence-production"),
    };
    let stated = raw.confidence.as_ref().map(|share| {
        at_most_all(share.value.value, share, check);
        share.value.value
    });
    let confidence = check.or(stated, "objective.confidence", usual, shown, why);
    Objective { deadline: raw.deadline.as_ref().map(|deadline| deadline.value.value), slo, minimise, confidence }
}

/// Goals of a chat service: those of MLPerf Inference's server scenario for Llama 2 70B (TTFT 2 s, TPOT 200 ms).
fn chat_goals(check: &mut Check<'_>) -> Vec<Slo> {
    check.assume("objective.ttft_p95", "2 s", "assumed-ttft");
    check.assume("objective.tpot_p95", "200 ms", "assumed-tpot");
    vec![
        Slo { goal: Goal::Ttft, percentile: Percentile::P95, at_most: Seconds(2.0) },
        Slo { goal: Goal::Tpot, percentile: Percentile::P95, at_most: Seconds(0.2) },
    ]
}

type Bound<'a> = (Percentile, &'a Located<Positive<Seconds>>);

fn goals(raw: &raw::Objective, check: &mut Check<'_>) -> Vec<Slo> {
    use Percentile::{P50, P90, P95, P99};
    let rows = [
        (Goal::Ttft, [(P50, &raw.ttft_p50), (P90, &raw.ttft_p90), (P95, &raw.ttft_p95), (P99, &raw.ttft_p99)]),
        (Goal::Tpot, [(P50, &raw.tpot_p50), (P90, &raw.tpot_p90), (P95, &raw.tpot_p95), (P99, &raw.tpot_p99)]),
        (Goal::EndToEnd, [(P50, &raw.e2e_p50), (P90, &raw.e2e_p90), (P95, &raw.e2e_p95), (P99, &raw.e2e_p99)]),
    ];
    let mut slo = Vec::new();
    for (goal, cells) in rows {
        let bounds: Vec<Bound<'_>> = cells.into_iter().filter_map(|(at, cell)| Some((at, cell.as_ref()?))).collect();
        rising(&bounds, check);
        slo.extend(bounds.iter().map(|(at, bound)| Slo { goal, percentile: *at, at_most: bound.value.value }));
    }
    let pairs = [
        (&raw.ttft_p50, &raw.e2e_p50),
        (&raw.ttft_p90, &raw.e2e_p90),
        (&raw.ttft_p95, &raw.e2e_p95),
        (&raw.ttft_p99, &raw.e2e_p99),
    ];
    for (first, whole) in pairs {
        if let (Some(first), Some(whole)) = (first, whole)
            && first.value.value.0 > whole.value.value.0
        {
            check.contradiction(first, &whole.field, Message::new("workload-why-first-after-whole"));
        }
    }
    slo
}

/// A bound for more requests cannot be tighter than one for fewer: the looser one would say nothing.
fn rising(bounds: &[Bound<'_>], check: &mut Check<'_>) {
    for pair in bounds.windows(2) {
        if let [(_, fewer), (_, more)] = pair
            && fewer.value.value.0 > more.value.value.0
        {
            check.contradiction(fewer, &more.field, Message::new("workload-why-percentiles"));
        }
    }
}

fn minimise(raw: &raw::Objective, check: &mut Check<'_>) -> Minimise {
    let Some(stated) = &raw.minimise else {
        check.assume("objective.minimise", "cost", "assumed-minimise");
        return Minimise::Cost;
    };
    match &stated.value {
        Either::Short(word) => match word.value {
            MinimiseWord::Cost => Minimise::Cost,
            MinimiseWord::Time => Minimise::Time,
            MinimiseWord::Balance => Minimise::Balance(Balance { cost_weight: 0.5 }),
        },
        Either::Long(weights) => match (&weights.cost, &weights.time) {
            (Some(cost), Some(time)) => {
                check.exclusive(cost, time);
                Minimise::Cost
            }
            (Some(cost), None) => weighed(cost.value.0),
            (None, Some(time)) => weighed(1.0 - time.value.0),
            (None, None) => {
                let was_reported = check.reader.problems.iter().any(|problem| problem.field.contains("minimise"));
                if !was_reported {
                    let problem = Problem::new(Code::Missing, stated.span.clone(), "objective.minimise.cost");
                    let problem = problem.with("kind", check.kind);
                    check.reader.report(problem.expected(Message::new("workload-expected-weight")));
                }
                Minimise::Cost
            }
        },
    }
}

/// At either end there is nothing to weigh.
fn weighed(cost_weight: f64) -> Minimise {
    if cost_weight <= 0.0 {
        Minimise::Time
    } else if cost_weight >= 1.0 {
        Minimise::Cost
    } else {
        Minimise::Balance(Balance { cost_weight })
    }
}

/// Reports a share above the whole.
pub(crate) fn at_most_all<T>(value: Share, at: &Located<T>, check: &mut Check<'_>) {
    if value.0 <= 1.0 {
        return;
    }
    let problem = Problem::new(Code::OutOfRange, at.span.clone(), at.field.clone()).with("got", value);
    check.reader.report(problem.expected(Message::new("workload-expected-share-at-most")));
}
