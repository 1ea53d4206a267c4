//! The plan as text: what was understood, the ranked table, the first choice, the losers, the way on.

use std::path::Path;

use hob_plan::{Bill, Change, Choice, Missed, Plan, PriceGroup, Reason, Rejected, Speed};
use hob_text::Message;

use super::words;
use crate::printer::{Printer, printable};
use crate::table::{Column, render};

/// Ranked offers that are printed for each currency.
const OFFERS_SHOWN: usize = 8;
/// Unpriced offers that are printed.
const UNPRICED_SHOWN: usize = 5;
/// Changes that are printed.
const CHANGES_SHOWN: usize = 6;

/// Prints the whole plan.
pub fn plan(plan: &Plan, file: &Path, printer: &Printer) {
    understood(plan, printer);
    for (index, group) in plan.ranked.iter().enumerate() {
        printer.line("");
        if index > 0 {
            printer.line(&printer.text(&Message::new("plan-other-currency").with("currency", group.currency)));
        }
        let before: usize = plan.ranked.iter().take(index).map(|group| group.choices.len()).sum();
        offers(group, before, printer);
        if index == 0
            && let Some(first) = group.choices.first()
        {
            winner(first, printer);
        }
    }
    unpriced(plan, printer);
    if plan.ranked.is_empty()
        && let Some(first) = plan.unpriced.first()
    {
        winner(first, printer);
    }
    variants(plan, printer);
    rejected(plan, printer);
    warnings(plan, printer);
    if !plan.is_feasible() {
        printer.line("");
        printer.line(&printer.get("plan-nothing-fits"));
        changes(&plan.changes, printer);
        return;
    }
    path(plan, printer);
    printer.line("");
    printer.line(&printer.text(&Message::new("plan-next").with("file", file.display())));
}

fn understood(plan: &Plan, printer: &Printer) {
    let head = Message::new("plan-head")
        .with("name", printable(&plan.workload))
        .with("kind", plan.kind)
        .with("stage", words::stage(plan.stage, printer));
    printer.line(&printer.text(&head));
    for sentence in &plan.understood {
        printer.line(&printer.text(sentence));
    }
    if !plan.assumed.is_empty() {
        printer.line(&printer.get("plan-assumed-head"));
    }
    for assumed in &plan.assumed {
        let sentence = Message::new("plan-assumed")
            .with("field", &assumed.field)
            .with("value", &assumed.value)
            .with("why", printer.get(assumed.why));
        printer.wrapped(&printer.text(&sentence), 2);
    }
}

/// The table of one currency; offers are numbered through all tables.
fn offers(group: &PriceGroup, before: usize, printer: &Printer) {
    let Some(first) = group.choices.first() else { return };
    let is_job = matches!(first.solution.speed, Speed::Job { .. });
    let words = |id: &str| Column::Words(printer.get(id));
    let figures = |id: &str| Column::Figures(printer.get(id));
    let cost = if is_job { "column-cost-job" } else { "column-cost-month" };
    let columns = [
        Column::Figures("#".to_owned()),
        words("column-instance"),
        Column::Names(printer.get("column-gpu")),
        words("column-region"),
        Column::Names(printer.get("column-layout")),
        figures("column-memory"),
        figures(if is_job { "column-time" } else { "column-speed" }),
        Column::Names(printer.get("column-billing")),
        Column::Figures(printer.text(&Message::new(cost).with("currency", group.currency))),
    ];
    let shown = first_regions(&group.choices);
    let row = |&(index, choice, regions): &(usize, &Choice, usize)| {
        let bill = choice.bills.first();
        let mark = if choice.is_pareto { "*" } else { "" };
        vec![
            format!("{mark}{}", before + index + 1),
            format!("{} x {}", choice.solution.machines, choice.instance),
            format!("{} x {}", choice.solution.gpus, choice.gpu),
            words::region(choice, regions, printer),
            words::layout(choice),
            words::memory_share(choice, printer),
            words::speed(choice),
            bill.map_or_else(|| "-".to_owned(), |bill| words::charge(bill.charge, printer)),
            bill.map_or_else(|| "-".to_owned(), |bill| amount(bill.cost)),
        ]
    };
    let rows: Vec<Vec<String>> = shown.iter().take(OFFERS_SHOWN).map(row).collect();
    printer.line(&without_what_does_not_fit(&columns, &rows, &DISPENSABLE));
    if shown.len() > OFFERS_SHOWN {
        let more =
            Message::new("plan-more-offers").with("count", shown.len() - OFFERS_SHOWN).with("currency", group.currency);
        printer.line(&printer.text(&more));
    }
}

/// Columns that a narrow table leaves out, by their place: the region, then the share of memory. `--explain` has both.
const DISPENSABLE: [usize; 2] = [3, 5];

/// The table with as many columns as fit without breaking a cell.
fn without_what_does_not_fit(columns: &[Column], rows: &[Vec<String>], dispensable: &[usize]) -> String {
    for left_out in 0..=dispensable.len() {
        let dropped = dispensable.get(..left_out).unwrap_or_default();
        let keeps = |place: usize| !dropped.contains(&place);
        let kept: Vec<&Column> =
            columns.iter().enumerate().filter(|(place, _)| keeps(*place)).map(|(_, c)| c).collect();
        let cells = rows.iter().map(|row| {
            row.iter().enumerate().filter(|(place, _)| keeps(*place)).map(|(_, cell)| cell.clone()).collect::<Vec<_>>()
        });
        let table = render(kept, cells);
        if table.lines().count() <= rows.len() + 1 || left_out == dispensable.len() {
            return table;
        }
    }
    String::new()
}

/// The best region of each instance type, its place in the group, and how many regions sell it.
pub(super) fn first_regions(choices: &[Choice]) -> Vec<(usize, &Choice, usize)> {
    let mut found: Vec<(usize, &Choice, usize)> = Vec::new();
    for (index, choice) in choices.iter().enumerate() {
        let same = |known: &Choice| known.cloud == choice.cloud && known.instance == choice.instance;
        match found.iter_mut().find(|(_, known, _)| same(known)) {
            Some((_, _, regions)) => *regions += 1,
            None => found.push((index, choice, 1)),
        }
    }
    found
}

/// An amount without its currency, which stands in the heading.
pub(super) fn amount(money: hob_units::Money) -> String {
    let text = money.to_string();
    text.split_once(' ').map_or(text.clone(), |(_, amount)| amount.to_owned())
}

/// The memory breakdown, the speed, the goals and the bills of the first choice.
fn winner(choice: &Choice, printer: &Printer) {
    printer.line("");
    let head = Message::new("plan-winner")
        .with("machines", choice.solution.machines)
        .with("instance", &choice.instance)
        .with("cloud", &choice.cloud)
        .with("layout", words::layout(choice));
    printer.line(&printer.text(&head));
    memory(choice, printer);
    for sentence in speed(choice) {
        printer.wrapped(&printer.text(&sentence), 2);
    }
    for goal in &choice.solution.goals {
        let sentence = Message::new("plan-goal")
            .with("goal", printer.text(&goal.what))
            .with("probability", words::probability(goal.probability));
        printer.wrapped(&printer.text(&sentence), 2);
    }
    for note in choice.solution.notes.iter().filter(|note| is_of_offer(&note.id)) {
        printer.wrapped(&printer.text(note), 2);
    }
    bills(choice, printer);
}

/// Notes that stand with the offer; the others are warnings.
fn is_of_offer(id: &str) -> bool {
    id.starts_with("quality-") || id.starts_with("measured-")
}

fn memory(choice: &Choice, printer: &Printer) {
    let Some(memory) = &choice.solution.memory else { return };
    printer.wrapped(&printer.get("plan-memory-head"), 2);
    let usable = printer.text(&Message::new("plan-memory-usable").with("usable", memory.usable));
    let mut rows: Vec<Vec<String>> = memory
        .terms
        .iter()
        .map(|term| {
            vec![format!("    {}", words::memory(term.kind, printer)), term.bytes.mid.to_string(), String::new()]
        })
        .collect();
    let total = printer.get("plan-memory-total");
    rows.push(vec![
        format!("    {total}"),
        memory.total.mid.to_string(),
        format!("({}) {usable}", words::band(memory.total)),
    ]);
    let columns = [Column::Words(String::new()), Column::Figures(String::new()), Column::Words(String::new())];
    let table = render(&columns, rows);
    // The columns need no heading.
    printer.line(table.split_once('\n').map_or(table.as_str(), |(_, rows)| rows));
}

/// How fast a choice is, one sentence for each figure.
pub(super) fn speed(choice: &Choice) -> Vec<Message> {
    match choice.solution.speed {
        Speed::Service { ttft_p95, tpot_p95, end_to_end_p95, capacity } => {
            let latency = match (ttft_p95, tpot_p95) {
                (Some(ttft), Some(tpot)) => Message::new("plan-latency").with("ttft", ttft).with("tpot", tpot),
                _ => Message::new("plan-latency-request"),
            };
            vec![latency.with("e2e", end_to_end_p95), Message::new("plan-capacity").with("capacity", capacity)]
        }
        Speed::Stream { video_hours_per_hour, hour_takes } => {
            vec![Message::new("plan-stream").with("hours", video_hours_per_hour).with("time", hour_takes)]
        }
        Speed::Job { duration, step, mfu, items_per_second } => {
            let mut sentences = vec![Message::new("plan-job").with("duration", duration)];
            sentences.extend(step.map(|step| Message::new("plan-step").with("step", step)));
            sentences.push(Message::new("plan-throughput").with("rate", items_per_second));
            sentences.extend(mfu.map(|mfu| Message::new("plan-mfu").with("mfu", mfu)));
            sentences
        }
    }
}

/// Every billing mode of the first choice: per hour, per month, for the work, per unit, and from which use on it wins.
fn bills(choice: &Choice, printer: &Printer) {
    let Some(first) = choice.bills.first() else { return };
    printer.line("");
    printer.line(&printer.get(if first.for_whole_job { "plan-bills-head-job" } else { "plan-bills-head-month" }));
    let cost = if first.for_whole_job { "column-cost-job" } else { "column-cost-month" };
    let mut columns = vec![
        Column::Names(printer.get("column-mode")),
        Column::Figures(printer.get("column-price-hour")),
        Column::Figures(printer.get("column-price-month")),
        Column::Figures(printer.text(&Message::new(cost).with("currency", first.cost.currency))),
    ];
    for unit in &first.units {
        let name = printer.get(unit.unit.text_id());
        columns.push(Column::Figures(printer.text(&Message::new("column-unit-cost").with("unit", name))));
    }
    columns.push(Column::Figures(printer.get("column-from")));
    let rows = choice.bills.iter().map(|bill| bill_row(bill, printer));
    printer.line(&render(&columns, rows));
    let band = Message::new("plan-band")
        .with("low", first.cost_low)
        .with("high", first.cost_high)
        .with("date", &first.date)
        .with("source", &first.source);
    printer.wrapped(&printer.text(&band), 2);
    if let Some(delay) = choice.delay_cost {
        printer.wrapped(&printer.text(&Message::new("plan-delay").with("cost", delay)), 2);
    }
    if let Some(exchange) = first.exchange {
        let sentence = Message::new("plan-exchange")
            .with("rate", exchange.rate)
            .with("from", exchange.from)
            .with("to", exchange.to);
        printer.wrapped(&printer.text(&sentence), 2);
    }
    for bill in &choice.bills {
        if let Some(caveat) = &bill.caveat {
            printer.line(&format!("  {}: {}", words::charge(bill.charge, printer), printer.text(caveat)));
        }
    }
}

fn bill_row(bill: &Bill, printer: &Printer) -> Vec<String> {
    let mut row = vec![words::charge(bill.charge, printer), amount(bill.hour), amount(bill.month), amount(bill.cost)];
    row.extend(bill.units.iter().map(|unit| amount(unit.cost)));
    row.push(bill.break_even.map_or_else(|| "-".to_owned(), |share| share.to_string()));
    row
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
    if plan.unpriced.len() > UNPRICED_SHOWN {
        let more = Message::new("plan-unpriced-more").with("count", plan.unpriced.len() - UNPRICED_SHOWN);
        printer.wrapped(&printer.text(&more), 2);
    }
}

fn variants(plan: &Plan, printer: &Printer) {
    if !plan.variants.iter().any(|variant| variant.choice.is_some()) {
        return;
    }
    printer.line("");
    printer.line(&printer.get("plan-variants-head"));
    let columns = [Column::Words(String::new()), Column::Words(String::new())];
    let rows = plan
        .variants
        .iter()
        .map(|variant| vec![format!("  {}", words::stage(variant.stage, printer)), words::variant(variant, printer)]);
    let table = render(&columns, rows);
    printer.line(table.split_once('\n').map_or(table.as_str(), |(_, rows)| rows));
}

/// Losers by kind of reason.
fn rejected(plan: &Plan, printer: &Printer) {
    if plan.rejected.is_empty() {
        return;
    }
    printer.line("");
    printer.line(&printer.text(&Message::new("plan-rejected").with("count", plan.rejected.len())));
    for sentence in losers(plan, printer) {
        printer.wrapped(&printer.text(&sentence), 2);
    }
}

/// One sentence for each kind of reason: how many offers it stops, and the one that came nearest.
pub(super) fn losers(plan: &Plan, printer: &Printer) -> Vec<Message> {
    let kinds = [
        "plan-rejected-budget",
        "plan-rejected-many",
        "plan-rejected-slow",
        "plan-rejected-memory",
        "plan-rejected-unsupported",
    ];
    let sentence = |kind: &'static str| {
        let losers: Vec<&Rejected> = plan.rejected.iter().filter(|loser| id_of(&loser.reason) == kind).collect();
        let nearest = losers.iter().min_by(|a, b| distance(&a.reason).total_cmp(&distance(&b.reason)))?;
        Some(
            Message::new(kind)
                .with("count", losers.len())
                .with("instance", &nearest.instance)
                .with("why", printer.text(&nearest.reason.message())),
        )
    };
    kinds.into_iter().filter_map(sentence).collect()
}

fn id_of(reason: &Reason) -> &'static str {
    match reason {
        Reason::Memory { .. } => "plan-rejected-memory",
        Reason::TooSlow { .. } => "plan-rejected-slow",
        Reason::TooMany { .. } => "plan-rejected-many",
        Reason::OverBudget { .. } => "plan-rejected-budget",
        Reason::Unsupported { .. } => "plan-rejected-unsupported",
    }
}

/// How far from working, among losers for one kind of reason.
fn distance(reason: &Reason) -> f64 {
    match reason {
        Reason::Memory { needed, usable } => needed.0 as f64 / (usable.0 as f64).max(1.0),
        Reason::TooSlow { missed, .. } => missed.as_ref().map_or(f64::INFINITY, Missed::factor),
        Reason::TooMany { gpus, .. } => f64::from(*gpus),
        Reason::OverBudget { cost, budget } => {
            cost.as_f64_for_score() / budget.as_f64_for_score().max(f64::MIN_POSITIVE)
        }
        Reason::Unsupported { .. } => 0.0,
    }
}

fn warnings(plan: &Plan, printer: &Printer) {
    if plan.warnings.is_empty() {
        return;
    }
    printer.line("");
    printer.line(&printer.get("plan-warnings-head"));
    for warning in &plan.warnings {
        printer.wrapped(&printer.text(warning), 2);
    }
}

fn changes(changes: &[Change], printer: &Printer) {
    if changes.is_empty() {
        return;
    }
    printer.line(&printer.get("plan-changes-head"));
    for change in changes.iter().take(CHANGES_SHOWN) {
        printer.wrapped(&words::change(change, printer), 2);
    }
}

fn path(plan: &Plan, printer: &Printer) {
    if plan.path.is_empty() {
        return;
    }
    printer.line("");
    printer.line(&printer.get("plan-path-head"));
    for (index, step) in plan.path.iter().enumerate() {
        printer.line(&format!("  {}. {}", index + 1, printer.text(&step.what)));
        if let Some(command) = &step.command {
            // A command is copied as it is, so it is never broken.
            printer.line(&format!("       {command}"));
        }
        for gate in &step.gates {
            let gate = printer.text(&Message::new("plan-gate").with("gate", printer.text(gate)));
            printer.wrapped(&gate, 5);
        }
    }
}
