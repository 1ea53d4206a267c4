//! What a hurried reader takes along: what was asked, what comes first, what it costs, how sure that is.

use hob_plan::{Choice, Plan};
use hob_text::Message;
use maud::{Markup, html};

use super::super::{show, words};
use crate::printer::Printer;

/// The name of the workload and what was understood of it.
pub fn head(plan: &Plan, printer: &Printer) -> Markup {
    html! {
        header {
            p.kind { (printer.get("report-kind")) " · " (plan.kind) " · " (words::stage(plan.stage, printer)) }
            h1 { (plan.workload) }
            @for sentence in &plan.understood { p { (printer.text(sentence)) } }
        }
    }
}

/// Defaults that were filled in.
pub fn assumed(plan: &Plan, printer: &Printer) -> Markup {
    if plan.assumed.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { (printer.get("plan-assumed-head").trim_end_matches([':', '：'])) }
            ul {
                @for assumed in &plan.assumed {
                    li { code { (assumed.field) " = " (assumed.value) } " " span.quiet { (printer.get(assumed.why)) } }
                }
            }
        }
    }
}

/// The first choice, or that there is none and what would help.
pub fn verdict(plan: &Plan, printer: &Printer) -> Markup {
    let Some(choice) = plan.first_choice() else { return nothing(plan, printer) };
    html! {
        section.verdict {
            p.label { (printer.get("report-first-choice")) }
            h2 { (choice.solution.machines) " × " (choice.instance) }
            p {
                (choice.cloud) ", " (words::region(choice, 1, printer)) " · " (choice.solution.gpus) " × " (choice.gpu) " · "
                code { (words::layout(choice)) }
            }
            (cost(choice, printer))
            @if !choice.solution.goals.is_empty() {
                ul.goals {
                    @for goal in &choice.solution.goals {
                        li {
                            strong { (words::probability(goal.probability)) }
                            span { (printer.text(&Message::new("report-goal-sure").with("goal", printer.text(&goal.what)))) }
                        }
                    }
                }
            }
            @for sentence in show::speed(choice) { p { (printer.text(&sentence)) } }
            // What is to be measured, and by which command, is a step of the path.
            @for note in choice.solution.notes.iter().filter(|note| !note.args.contains_key("command")) {
                p.quiet { (printer.text(note)) }
            }
        }
    }
}

fn cost(choice: &Choice, printer: &Printer) -> Markup {
    let Some(bill) = choice.bills.first() else {
        let how = choice.how_to_get_price.map_or_else(String::new, |how| printer.get(how.text_id()));
        return html! { p.figure { (printer.get("report-no-price")) } p { (how) } };
    };
    let each = if bill.for_whole_job { "report-each-job" } else { "report-each-month" };
    let band = Message::new("report-band").with("low", bill.cost_low).with("high", bill.cost_high);
    html! {
        p.figure { strong { (bill.cost) } " " (printer.get(each)) " · " (words::charge(bill.charge, printer)) }
        @if bill.cost_low != bill.cost_high { p { (printer.text(&band)) } }
        @if let Some(delay) = choice.delay_cost {
            p { (printer.text(&Message::new("plan-delay").with("cost", delay))) }
        }
    }
}

fn nothing(plan: &Plan, printer: &Printer) -> Markup {
    html! {
        section.verdict {
            h2 { (printer.get("plan-nothing-fits")) }
            @if !plan.changes.is_empty() {
                p { (printer.get("plan-changes-head")) }
                ul { @for change in &plan.changes { li { (words::change(change, printer)) } } }
            }
        }
    }
}
