//! `hob plan FILE`.

use std::path::Path;

use hob_catalog::{Catalog, ChargeType};
use hob_estimate::Efficiencies;
use hob_model::{DiskFiles, ModelGraph, read_model, vision_preset};
use hob_plan::{Bill, Choice, Layout, Plan, PlanError, Speed, plan};
use hob_text::Message;
use hob_units::{Interval, Quantity, Share};
use hob_workload::{Work, Workload};

use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::table::{Column, render};

/// Ranked offers that are printed for each currency.
const OFFERS_SHOWN: usize = 8;
/// Unpriced offers that are printed.
const UNPRICED_SHOWN: usize = 5;
/// Reasons for rejection that are printed.
const REASONS_SHOWN: usize = 6;

/// Plans and prints.
pub fn run(file: &Path, explain: Option<usize>, printer: &Printer) -> Result<Code, Failure> {
    let workload = super::workload::read(file, printer)?;
    let graph = model(&workload, file)?;
    let table = Efficiencies::embedded()
        .map_err(|error| Failure::input("E-TABLE", Message::new("error-plain").with("why", error)))?;
    let today = hob_today();
    let plan = plan(&workload, &graph, Catalog::embedded(), &table, &today).map_err(failure)?;
    let feasible = plan.ranked.iter().any(|group| !group.choices.is_empty()) || !plan.unpriced.is_empty();
    if printer.json_wanted() {
        printer.json("hob.plan/1", &plan);
    } else if let Some(number) = explain {
        explain_one(&plan, number, printer)?;
    } else {
        print(&plan, file, printer);
    }
    Ok(if feasible { Code::Done } else { Code::NothingFeasible })
}

/// The model that the workload names; a path is relative to the workload file.
fn model(workload: &Workload, file: &Path) -> Result<ModelGraph, Failure> {
    let reference = match &workload.work {
        Work::Train(train) => &train.model,
        Work::Serve(serve) | Work::Batch { serve, .. } => &serve.model,
        Work::Transcode(_) => return Err(unplanned("transcode")),
        Work::Render(_) => return Err(unplanned("render")),
    };
    let beside = file.parent().unwrap_or(Path::new(".")).join(&reference.source);
    let source = if beside.exists() { beside.to_string_lossy().into_owned() } else { reference.source.clone() };
    match read_model(&source, &DiskFiles) {
        Err(hob_model::ModelError::NotFound { .. }) if vision_preset(&source).is_some() => {
            vision_preset(&source).ok_or_else(|| unplanned("model"))
        }
        other => Ok(other?),
    }
}

fn unplanned(kind: &str) -> Failure {
    Failure::input("E-KIND", Message::new("error-kind").with("kind", kind)).hint(Message::new("hint-kind"))
}

fn failure(error: PlanError) -> Failure {
    match error {
        PlanError::Unknown(unknown) => {
            let hint = unknown.hint();
            let failure = Failure::input("E-UNKNOWN-NAME", Message::new("error-plain").with("why", &unknown));
            match hint {
                Some(hint) => failure.hint(Message::new("hint-plain").with("action", hint)),
                None => failure,
            }
        }
        PlanError::Kind { kind } => unplanned(kind),
        other => Failure::input("E-PLAN", Message::new("error-plain").with("why", other)),
    }
}

/// Today, for facts that the user states now.
fn hob_today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

fn print(plan: &Plan, file: &Path, printer: &Printer) {
    for sentence in &plan.understood {
        printer.line(&printer.text(sentence));
    }
    for assumed in &plan.assumed {
        printer.line(
            &printer.text(
                &Message::new("plan-assumed")
                    .with("field", &assumed.field)
                    .with("value", &assumed.value)
                    .with("why", printer.get(assumed.why)),
            ),
        );
    }
    for group in &plan.ranked {
        printer.line("");
        printer.line(&render(&columns(printer), group.choices.iter().take(OFFERS_SHOWN).enumerate().map(row)));
        if group.choices.len() > OFFERS_SHOWN {
            let more = group.choices.len() - OFFERS_SHOWN;
            printer.line(
                &printer.text(&Message::new("plan-more-offers").with("count", more).with("currency", group.currency)),
            );
        }
        if let Some(best) = group.choices.first() {
            winner(best, printer);
        }
    }
    unpriced(plan, printer);
    rejected(plan, printer);
    printer.line("");
    if plan.ranked.is_empty() && plan.unpriced.is_empty() {
        printer.line(&printer.get("plan-nothing-fits"));
    } else {
        printer.line(&printer.text(&Message::new("plan-next").with("file", file.display())));
    }
}

fn columns(printer: &Printer) -> Vec<Column> {
    let words = |id: &str| Column::Words(printer.get(id));
    let figures = |id: &str| Column::Figures(printer.get(id));
    vec![
        Column::Figures("#".to_owned()),
        words("column-instance"),
        words("column-region"),
        figures("column-machines"),
        words("column-layout"),
        figures("column-memory"),
        figures("column-speed"),
        words("column-billing"),
        figures("column-cost"),
    ]
}

fn row((index, choice): (usize, &Choice)) -> Vec<String> {
    let bill = choice.bills.first();
    let share = choice.solution.memory.total.mid.base() / choice.solution.memory.usable.base().max(1.0);
    vec![
        (index + 1).to_string(),
        choice.instance.clone(),
        choice.region.clone(),
        choice.solution.machines.to_string(),
        layout(choice),
        Share(share).to_string(),
        speed(choice),
        bill.map_or_else(|| "-".to_owned(), |bill| charge(bill.charge)),
        bill.map_or_else(|| "-".to_owned(), |bill| bill.cost.rounded(0).to_string()),
    ]
}

fn layout(choice: &Choice) -> String {
    match choice.solution.layout {
        Layout::Serve { replicas, strategy } => {
            format!("{replicas} x tp{} {}", strategy.tensor, format!("{:?}", strategy.weights).to_lowercase())
        }
        Layout::Train { strategy } => {
            let sharding = format!("{:?}", strategy.sharding).to_lowercase();
            format!("dp{} tp{} {sharding} mb{}", strategy.data, strategy.tensor, strategy.micro_batch)
        }
    }
}

fn band<Q: Quantity>(interval: Interval<Q>) -> String {
    format!("{}..{}", interval.low, interval.high)
}

fn speed(choice: &Choice) -> String {
    match choice.solution.speed {
        Speed::Service { capacity, .. } => capacity.to_string(),
        Speed::Job { duration, .. } => band(duration),
    }
}

fn charge(charge: ChargeType) -> String {
    hob_catalog::charge_word(charge)
}

/// The memory breakdown, the latencies and the bills of the best offer.
fn winner(choice: &Choice, printer: &Printer) {
    printer.line("");
    printer.line(&printer.text(&Message::new("plan-winner").with("instance", &choice.instance)));
    let memory = &choice.solution.memory;
    for term in &memory.terms {
        let name = format!("{:?}", term.kind);
        printer.line(&format!("  {name:<16} {:>10}", term.bytes.mid));
    }
    printer.line(
        &printer.text(&Message::new("plan-memory-total").with("total", memory.total).with("usable", memory.usable)),
    );
    match choice.solution.speed {
        Speed::Service { ttft_p95, tpot_p95, end_to_end_p95, .. } => printer.line(&printer.text(
            &Message::new("plan-latency").with("ttft", ttft_p95).with("tpot", tpot_p95).with("e2e", end_to_end_p95),
        )),
        Speed::Job { duration, step, mfu, .. } => printer.line(
            &printer.text(&Message::new("plan-job").with("duration", duration).with("step", step).with("mfu", mfu.mid)),
        ),
    }
    for goal in &choice.solution.goals {
        let sure = Share(goal.probability);
        printer.line(
            &printer.text(&Message::new("plan-goal").with("goal", printer.text(&goal.what)).with("probability", sure)),
        );
    }
    for note in &choice.solution.notes {
        printer.line(&printer.text(note));
    }
    for bill in &choice.bills {
        printer.line(&bill_line(bill, printer));
    }
}

fn bill_line(bill: &Bill, printer: &Printer) -> String {
    let period = if bill.for_whole_job { "plan-bill-job" } else { "plan-bill-month" };
    let mut text = printer.text(
        &Message::new(period)
            .with("mode", charge(bill.charge))
            .with("cost", bill.cost.rounded(2))
            .with("price", bill.price)
            .with("date", &bill.date),
    );
    if let Some(share) = bill.break_even {
        text.push_str(&printer.text(&Message::new("plan-break-even").with("share", share)));
    }
    text
}

fn unpriced(plan: &Plan, printer: &Printer) {
    if plan.unpriced.is_empty() {
        return;
    }
    printer.line("");
    printer.line(&printer.text(&Message::new("plan-unpriced").with("count", plan.unpriced.len())));
    for choice in plan.unpriced.iter().take(UNPRICED_SHOWN) {
        let how = choice.how_to_get_price.map_or_else(String::new, |how| printer.get(how.text_id()));
        printer.line(&format!("  {} {} x {}: {how}", choice.cloud, choice.solution.machines, choice.instance));
    }
}

/// Losers with their reason, shortened to a count for each kind of reason.
fn rejected(plan: &Plan, printer: &Printer) {
    if plan.rejected.is_empty() {
        return;
    }
    printer.line("");
    printer.line(&printer.text(&Message::new("plan-rejected").with("count", plan.rejected.len())));
    for loser in plan.rejected.iter().take(REASONS_SHOWN) {
        printer.line(&format!("  {} {}: {}", loser.cloud, loser.instance, printer.text(&loser.reason.message())));
    }
    if plan.rejected.len() > REASONS_SHOWN {
        let more = plan.rejected.len() - REASONS_SHOWN;
        printer.line(&printer.text(&Message::new("plan-rejected-more").with("count", more)));
    }
}

/// The whole arithmetic of offer `number`, counted through the ranked groups as printed.
fn explain_one(plan: &Plan, number: usize, printer: &Printer) -> Result<(), Failure> {
    let count: usize = plan.ranked.iter().map(|group| group.choices.len()).sum();
    let chosen = plan.ranked.iter().flat_map(|group| &group.choices).nth(number.wrapping_sub(1));
    let Some(choice) = chosen else {
        return Err(Failure::input(
            "E-NO-OFFER",
            Message::new("error-no-offer").with("number", number).with("count", count),
        ));
    };
    printer.line(&format!("{} {} ({}), {}", choice.cloud, choice.instance, choice.gpu, layout(choice)));
    for term in &choice.solution.memory.terms {
        printer.line(&format!("  {:?}: {}\n      {}", term.kind, term.bytes, term.formula));
    }
    for term in &choice.solution.time {
        printer.line(&format!("  {}: {}\n      {}", term.what, term.time, term.formula));
    }
    for bill in &choice.bills {
        printer.line(&bill_line(bill, printer));
        printer.line(&format!("      {}", bill.source));
    }
    Ok(())
}
