//! From one replica or one job to the machines: how many, how long, how surely.

use hob_estimate::Amount::{Number, PerSecond, Seconds, Share};
use hob_estimate::{ArithmeticBlock, ArithmeticStep};
use hob_units::{Interval, Quantity};
use hob_workload::{Work, Workload};

use crate::document::{Choice, Layout, Speed};
use crate::plan::Inputs;
use crate::search::{Asked, is_llm};

/// The block that ends in the number of machines, or in the time of a job.
pub(super) fn block(workload: &Workload, inputs: &Inputs<'_>, choice: &Choice) -> Option<ArithmeticBlock> {
    let solution = &choice.solution;
    let mut steps = match (&workload.work, &solution.layout) {
        (
            Work::Serve(serve) | Work::Batch { serve, .. },
            Layout::Serve { replicas, .. } | Layout::Forward { replicas, .. },
        ) => {
            let amount = match &workload.work {
                Work::Batch { amount, .. } => Some(*amount),
                _ => None,
            };
            let asked = Asked::of(&serve.traffic, amount);
            let least = workload.constraints.min_replicas.unwrap_or(1).max(1);
            service(choice, asked, *replicas, least, is_llm(serve, inputs))
        }
        (Work::Train(_), _) => training(choice),
        _ => farm(choice),
    };
    steps.extend(goals(workload, choice));
    (!steps.is_empty()).then(|| ArithmeticBlock::new("machines", steps))
}

fn service(choice: &Choice, asked: Asked, replicas: u32, least: u32, is_llm: bool) -> Vec<ArithmeticStep> {
    let count = f64::from(replicas.max(1));
    match (asked, choice.solution.speed) {
        (Asked::Rate(peak), Speed::Service { capacity, .. }) => {
            let one = capacity.0 / count;
            let wanted = (peak.0 / one).ceil().max(f64::from(least));
            vec![
                ArithmeticStep::new("capacity-one", PerSecond(one), "", &[]),
                ArithmeticStep::new(
                    "replicas-wanted",
                    Number(wanted),
                    "max(ceil(peak / capacity), least)",
                    &[("peak", PerSecond(peak.0)), ("capacity", PerSecond(one)), ("least", Number(f64::from(least)))],
                ),
                ArithmeticStep::new("replicas", Number(count), "", &[]),
                ArithmeticStep::new(
                    "rate-one",
                    PerSecond(peak.0 / count),
                    "peak / replicas",
                    &[("peak", PerSecond(peak.0)), ("replicas", Number(count))],
                ),
                ArithmeticStep::new(
                    "capacity",
                    PerSecond(capacity.0),
                    "capacity * replicas",
                    &[("capacity", PerSecond(one)), ("replicas", Number(count))],
                ),
            ]
        }
        (Asked::InFlight(all), Speed::Service { .. }) => {
            let all = all as f64;
            vec![
                ArithmeticStep::new("replicas", Number(count), "", &[]),
                ArithmeticStep::new(
                    "in-flight-one",
                    Number((all / count).ceil()),
                    "ceil(in_flight / replicas)",
                    &[("in_flight", Number(all)), ("replicas", Number(count))],
                ),
            ]
        }
        (Asked::Amount(amount), Speed::Job { duration, items_per_second, .. }) => {
            let rate = items_per_second.mid.0;
            let alone = amount / rate;
            if !is_llm {
                return vec![ArithmeticStep::new(
                    "duration",
                    Seconds(duration.mid.0),
                    "amount / rate",
                    &[("amount", Number(amount)), ("rate", PerSecond(rate))],
                )];
            }
            // The last ones take their whole time, while the others keep the pace.
            let last = duration.mid.0 - alone;
            vec![ArithmeticStep::new(
                "duration",
                Seconds(duration.mid.0),
                "amount / rate + last",
                &[("amount", Number(amount)), ("rate", PerSecond(rate)), ("last", Seconds(last))],
            )]
        }
        _ => Vec::new(),
    }
}

fn training(choice: &Choice) -> Vec<ArithmeticStep> {
    let Speed::Job { duration, step: Some(step), .. } = choice.solution.speed else { return Vec::new() };
    let Layout::Train { strategy } = &choice.solution.layout else { return Vec::new() };
    let batch = f64::from(strategy.data) * f64::from(strategy.micro_batch) * f64::from(strategy.accumulation);
    let waits = choice.solution.waits_for_data.unwrap_or(1.0);
    let steps = duration.mid.0 / waits / step.mid.0;
    vec![
        ArithmeticStep::new(
            "steps",
            Number(steps),
            "samples / batch",
            &[("samples", Number(steps * batch)), ("batch", Number(batch))],
        ),
        ArithmeticStep::new(
            "duration",
            Seconds(duration.mid.0),
            "steps * optimizer_step * waiting",
            &[("steps", Number(steps)), ("optimizer_step", Seconds(step.mid.0)), ("waiting", Number(waits))],
        ),
    ]
}

fn farm(choice: &Choice) -> Vec<ArithmeticStep> {
    let machines = ("machines", Number(f64::from(choice.solution.machines)));
    match choice.solution.speed {
        Speed::Job { duration, items_per_second, .. } => {
            let all = items_per_second.mid.0;
            let one = all / f64::from(choice.solution.machines.max(1));
            let rate = ("rate", PerSecond(one));
            vec![ArithmeticStep::new(
                "duration",
                Seconds(duration.mid.0),
                "amount / (rate * machines)",
                &[("amount", Number(duration.mid.0 * all)), rate, machines],
            )]
        }
        Speed::Stream { video_hours_per_hour, hour_takes } => {
            let all = video_hours_per_hour.mid.0;
            let one = all / f64::from(choice.solution.machines.max(1));
            vec![
                ArithmeticStep::new(
                    "capacity",
                    Number(all),
                    "capacity * machines",
                    &[("capacity", Number(one)), machines],
                ),
                ArithmeticStep::new(
                    "hour-takes",
                    Seconds(hour_takes.mid.0),
                    "arriving * 3600 / capacity",
                    &[("arriving", Number(all * hour_takes.mid.0 / 3600.0)), ("capacity", Number(all))],
                ),
            ]
        }
        Speed::Service { .. } => Vec::new(),
    }
}

/// How surely a deadline is kept. Those of percentiles stand in the plan.
fn goals(workload: &Workload, choice: &Choice) -> Option<ArithmeticStep> {
    let Speed::Job { duration, .. } = choice.solution.speed else { return None };
    Some(sure(duration, workload.objective.deadline?))
}

/// The probability that a time of this band is at most `limit`.
fn sure(band: Interval<hob_units::Seconds>, limit: hob_units::Seconds) -> ArithmeticStep {
    let is_above = limit.base() >= band.mid.base();
    let expression = if is_above {
        "normal(1.2816 * ln(limit / middle) / ln(end / middle))"
    } else {
        "normal(1.2816 * ln(limit / middle) / ln(middle / end))"
    };
    let end = if is_above { band.high } else { band.low };
    let figures = [("limit", Seconds(limit.0)), ("middle", Seconds(band.mid.0)), ("end", Seconds(end.0))];
    ArithmeticStep::new("sure", Share(band.probability_at_most(limit)), expression, &figures)
}
