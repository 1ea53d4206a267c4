//! The charts that are labelled bars: memory, bills of a job, intervals of time.

use hob_plan::{Choice, Speed};
use hob_text::Message;
use hob_units::{Interval, Seconds};
use hob_workload::{Goal, Percentile, Workload};
use maud::Markup;

use super::super::super::words as plan_words;
use super::canvas::{DrawError, Words};
use super::rows::{Mark, Row, Rows};
use super::scale::{TimeUnit, money, plain};
use crate::printer::Printer;

/// Past this many times the longest time, a goal would flatten everything else and is left to the words.
const GOAL_TIMES_MAX: f64 = 3.0;

/// What the memory of the fullest GPU is spent on, each part beginning where the one above it ends.
pub fn memory(choice: &Choice, printer: &Printer) -> Result<Option<Markup>, DrawError> {
    let Some(memory) = &choice.solution.memory else { return Ok(None) };
    let mut rows = Vec::new();
    let mut filled = 0.0;
    for term in &memory.terms {
        let from = filled;
        filled += term.bytes.mid.as_gib();
        rows.push(Row {
            name: plan_words::memory(term.kind, printer),
            from,
            to: filled,
            band: None,
            value: term.bytes.mid.to_string(),
            mark: Mark::Part,
        });
    }
    rows.push(Row {
        name: printer.get("plan-memory-total"),
        from: 0.0,
        to: memory.total.mid.as_gib(),
        band: Some((memory.total.low.as_gib(), memory.total.high.as_gib())),
        value: memory.total.mid.to_string(),
        mark: Mark::Whole,
    });
    let usable = printer.text(&Message::new("report-usable").with("usable", memory.usable));
    let chart =
        Rows { rows, limit: Some((memory.usable.as_gib(), usable)), label: &|gib| format!("{} GiB", plain(gib)) };
    let words = Words {
        id: "memory",
        title: printer.get("plan-memory-head"),
        description: printer.text(
            &Message::new("report-memory-text")
                .with("gpu", &choice.gpu)
                .with("total", plan_words::band(memory.total))
                .with("usable", memory.usable),
        ),
    };
    chart.figure(&words).map(Some)
}

/// What a job costs under each billing mode.
pub fn job_bills(choice: &Choice, printer: &Printer) -> Result<Option<Markup>, DrawError> {
    let Some(first) = choice.bills.first() else { return Ok(None) };
    let currency = first.cost.currency;
    let bills = choice.bills.iter().filter(|bill| bill.cost.currency == currency);
    let rows = bills.enumerate().map(|(index, bill)| Row {
        name: plan_words::charge(bill.charge, printer),
        from: 0.0,
        to: bill.cost.as_f64_for_score(),
        band: Some((bill.cost_low.as_f64_for_score(), bill.cost_high.as_f64_for_score())),
        value: bill.cost.to_string(),
        mark: if index == 0 { Mark::Whole } else { Mark::Part },
    });
    let chart = Rows { rows: rows.collect(), limit: None, label: &|value| money(value, currency) };
    let words =
        Words { id: "bills", title: printer.get("report-bills-title"), description: printer.get("report-bills-text") };
    chart.figure(&words).map(Some)
}

/// One time that offers are compared in.
struct Measure {
    id: &'static str,
    title: &'static str,
    of: fn(&Speed) -> Option<Interval<Seconds>>,
    goal: Option<Seconds>,
}

/// The intervals of the offers' times, one chart for each time that has a goal, else one for the whole.
pub fn intervals(
    offers: &[(usize, &Choice)],
    workload: &Workload,
    printer: &Printer,
) -> Result<Vec<Markup>, DrawError> {
    let Some((_, first)) = offers.first() else { return Ok(Vec::new()) };
    let goal = |kind: Goal| {
        let mut goals = workload.objective.slo.iter();
        // The plan keeps the 95th percentile; another one cannot be compared with its bars.
        goals.find(|slo| slo.goal == kind && slo.percentile == Percentile::P95).map(|slo| slo.at_most)
    };
    let (id, title, whole_goal) = match first.solution.speed {
        Speed::Service { .. } => ("request", "report-time-request", goal(Goal::EndToEnd)),
        // What arrives in an hour is done within an hour, or the queue grows.
        Speed::Stream { .. } => ("stream", "report-time-stream", Some(Seconds::from_hours(1.0))),
        Speed::Job { .. } => ("job", "report-time-job", workload.objective.deadline),
    };
    let whole = Measure { id, title, of: |speed| Some(speed.time()), goal: whole_goal };
    let ttft = Measure { id: "ttft", title: "report-time-ttft", of: ttft, goal: goal(Goal::Ttft) };
    let tpot = Measure { id: "tpot", title: "report-time-tpot", of: tpot, goal: goal(Goal::Tpot) };
    let tokens = [ttft, tpot].into_iter().filter(|measure| measure.goal.is_some());
    let mut measures: Vec<Measure> = tokens.collect();
    if whole.goal.is_some() || measures.is_empty() {
        measures.push(whole);
    }
    let charts = measures.iter().map(|measure| interval(offers, measure, printer));
    charts.filter_map(Result::transpose).collect()
}

fn ttft(speed: &Speed) -> Option<Interval<Seconds>> {
    if let Speed::Service { ttft_p95, .. } = speed { *ttft_p95 } else { None }
}

fn tpot(speed: &Speed) -> Option<Interval<Seconds>> {
    if let Speed::Service { tpot_p95, .. } = speed { *tpot_p95 } else { None }
}

fn interval(offers: &[(usize, &Choice)], measure: &Measure, printer: &Printer) -> Result<Option<Markup>, DrawError> {
    let times: Vec<_> = offers
        .iter()
        .filter_map(|(number, choice)| Some((number, choice, (measure.of)(&choice.solution.speed)?)))
        .collect();
    let longest = times.iter().map(|(_, _, time)| time.high.0).fold(0.0, f64::max);
    if times.is_empty() || !longest.is_finite() {
        return Ok(None);
    }
    let limit = measure.goal.filter(|goal| goal.0 <= GOAL_TIMES_MAX * longest);
    let unit = TimeUnit::of(Seconds(limit.map_or(longest, |goal| goal.0.max(longest))));
    let rows = times.iter().map(|(number, choice, time)| Row {
        name: format!("{number}. {} x {}", choice.solution.machines, choice.instance),
        from: 0.0,
        to: unit.count(time.mid),
        band: Some((unit.count(time.low), unit.count(time.high))),
        value: time.mid.to_string(),
        mark: Mark::Dot,
    });
    let named = |goal: Seconds| printer.text(&Message::new("report-goal").with("limit", goal));
    let chart = Rows {
        rows: rows.collect(),
        limit: limit.map(|goal| (unit.count(goal), named(goal))),
        label: &|value| unit.label(value),
    };
    let description = match measure.goal {
        Some(goal) => printer.text(&Message::new("report-time-text-goal").with("limit", goal)),
        None => printer.get("report-time-text"),
    };
    chart.figure(&Words { id: measure.id, title: printer.get(measure.title), description }).map(Some)
}
