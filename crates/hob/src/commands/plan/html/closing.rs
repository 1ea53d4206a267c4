//! What to watch, why not the others, the way on, and where the figures come from.

use std::collections::BTreeSet;

use hob_plan::{Explanation, Plan};
use hob_text::Message;
use maud::{Markup, html};

use super::super::{arithmetic, show};
use crate::printer::Printer;

/// What the reader should know before acting.
pub fn warnings(plan: &Plan, printer: &Printer) -> Markup {
    if plan.warnings.is_empty() {
        return html! {};
    }
    html! {
        section.warnings {
            h2 { (printer.get("plan-warnings-head")) }
            ul { @for warning in &plan.warnings { li { (printer.text(warning)) } } }
        }
    }
}

/// Losers by kind of reason.
pub fn rejected(plan: &Plan, printer: &Printer) -> Markup {
    if plan.rejected.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { (printer.text(&Message::new("plan-rejected").with("count", plan.rejected.len()))) }
            ul { @for sentence in show::losers(plan, printer) { li { (printer.text(&sentence)) } } }
        }
    }
}

/// The steps from here to production.
pub fn path(plan: &Plan, printer: &Printer) -> Markup {
    if plan.path.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { (printer.get("plan-path-head")) }
            ol {
                @for step in &plan.path {
                    li {
                        (printer.text(&step.what))
                        @if let Some(command) = &step.command { pre { code { (command) } } }
                        @for gate in &step.gates {
                            p.quiet { (printer.text(&Message::new("plan-gate").with("gate", printer.text(gate)))) }
                        }
                    }
                }
            }
        }
    }
}

/// Sources of the ranked prices, and the formulae of the first choice with theirs.
pub fn sources(plan: &Plan, explanation: Option<&Explanation>, printer: &Printer) -> Markup {
    let choices = plan.ranked.iter().flat_map(|group| &group.choices);
    let prices: BTreeSet<(&str, &str, &str)> = choices
        .flat_map(|choice| {
            choice.bills.iter().map(|bill| (choice.cloud.as_str(), bill.source.as_str(), bill.date.as_str()))
        })
        .collect();
    let blocks = explanation.map(|explanation| explanation.blocks.as_slice()).unwrap_or_default();
    let (blocks, notes) = arithmetic::words(blocks, printer);
    html! {
        section {
            h2 { (printer.get("report-sources")) }
            @if !prices.is_empty() {
                h3 { (printer.get("report-sources-prices")) }
                ul { @for (cloud, source, date) in &prices { li { (cloud) ": " (source) ", " (date) } } }
            }
            @for block in &blocks {
                details {
                    summary { (block.title) }
                    dl.formulae { @for line in &block.lines { dt { (line.result) } dd { (line.how) } } }
                }
            }
            @if !notes.is_empty() {
                h3 { (printer.get("plan-explain-sources")) }
                ol { @for note in &notes { li { (note) } } }
            }
        }
    }
}
