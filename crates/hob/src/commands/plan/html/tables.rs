//! Ranked offers, bills and variants as tables.

use hob_plan::{Bill, Plan, PriceGroup, Speed};
use hob_text::Message;
use maud::{Markup, html};

use super::super::{show, words};
use crate::printer::Printer;

/// Ranked offers that are shown for each currency.
const OFFERS_SHOWN: usize = 12;
/// Unpriced offers that are shown.
const UNPRICED_SHOWN: usize = 8;

/// The ranked offers of each currency.
pub fn offers(plan: &Plan, printer: &Printer) -> Markup {
    let feasible = plan.ranked.iter().map(|group| group.choices.len()).sum::<usize>() + plan.unpriced.len();
    if feasible == 0 {
        return html! {};
    }
    let count = Message::new("plan-offers").with("feasible", feasible).with("considered", plan.offers_considered);
    let before = |index: usize| plan.ranked.iter().take(index).map(|group| group.choices.len()).sum::<usize>();
    html! {
        section {
            h2 { (printer.get("report-offers")) }
            p { (printer.text(&count)) " " (printer.get("report-under-cost")) }
            @for (index, group) in plan.ranked.iter().enumerate() {
                @if index > 0 {
                    p { (printer.text(&Message::new("plan-other-currency").with("currency", group.currency))) }
                }
                (offers_of(group, before(index), printer))
            }
        }
    }
}

fn offers_of(group: &PriceGroup, before: usize, printer: &Printer) -> Markup {
    let Some(first) = group.choices.first() else { return html! {} };
    let is_job = matches!(first.solution.speed, Speed::Job { .. });
    let cost = if is_job { "column-cost-job" } else { "column-cost-month" };
    let cost = printer.text(&Message::new(cost).with("currency", group.currency));
    let shown = show::first_regions(&group.choices);
    let more = shown.len().saturating_sub(OFFERS_SHOWN);
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th.number scope="col" { "#" }
                        th scope="col" { (printer.get("column-instance")) }
                        th scope="col" { (printer.get("column-gpu")) }
                        th.number scope="col" { (printer.get("column-memory")) }
                        th.number scope="col" { (printer.get(if is_job { "column-time" } else { "column-speed" })) }
                        th scope="col" { (printer.get("column-billing")) }
                        th.number scope="col" { (cost) }
                    }
                }
                tbody {
                    @for (index, choice, regions) in shown.into_iter().take(OFFERS_SHOWN) {
                        @let bill = choice.bills.first();
                        tr.front[choice.is_pareto] {
                            td.number { @if choice.is_pareto { "*" } (before + index + 1) }
                            td {
                                (choice.solution.machines) " × " (choice.instance) br;
                                span.quiet { (choice.cloud) ", " (words::region(choice, regions, printer)) }
                            }
                            td {
                                (choice.solution.gpus) " × " (choice.gpu) br;
                                code.quiet { (words::layout(choice)) }
                            }
                            td.number { (words::memory_share(choice, printer)) }
                            td.number { (words::speed(choice)) }
                            td.name { @if let Some(bill) = bill { (words::charge(bill.charge, printer)) } }
                            td.number {
                                @if let Some(bill) = bill { (show::amount(bill.cost)) br; span.quiet { (band(bill)) } }
                            }
                        }
                    }
                }
            }
        }
        @if more > 0 {
            p.quiet {
                (printer.text(&Message::new("plan-more-offers").with("count", more).with("currency", group.currency)))
            }
        }
    }
}

/// The 80 % band of the cost; nothing when it is exact.
fn band(bill: &Bill) -> String {
    if bill.cost_low == bill.cost_high {
        return String::new();
    }
    format!("{} .. {}", show::amount(bill.cost_low), show::amount(bill.cost_high))
}

/// Feasible offers without a price, with the way to it.
pub fn unpriced(plan: &Plan, printer: &Printer) -> Markup {
    if plan.unpriced.is_empty() {
        return html! {};
    }
    let more = plan.unpriced.len().saturating_sub(UNPRICED_SHOWN);
    html! {
        section {
            p { (printer.text(&Message::new("plan-unpriced").with("count", plan.unpriced.len()))) }
            ul {
                @for choice in plan.unpriced.iter().take(UNPRICED_SHOWN) {
                    li {
                        (choice.cloud) " · " (choice.solution.machines) " × " (choice.instance)
                        @if let Some(how) = choice.how_to_get_price { ": " (printer.get(how.text_id())) }
                    }
                }
            }
            @if more > 0 { p.quiet { (printer.text(&Message::new("plan-unpriced-more").with("count", more))) } }
        }
    }
}

/// Every billing mode of the first choice, with what a unit of work costs, and where each price comes from.
pub fn bills(plan: &Plan, printer: &Printer) -> Markup {
    let Some(choice) = plan.first_choice() else { return html! {} };
    let Some(first) = choice.bills.first() else { return html! {} };
    let (head, cost) = if first.for_whole_job {
        ("plan-bills-head-job", "column-cost-job")
    } else {
        ("plan-bills-head-month", "column-cost-month")
    };
    html! {
        section {
            h2 { (printer.get(head)) }
            div.scroll tabindex="0" {
                table {
                    thead {
                        tr {
                            th scope="col" { (printer.get("column-mode")) }
                            th.number scope="col" { (printer.get("column-price-hour")) }
                            th.number scope="col" { (printer.get("column-price-month")) }
                            th.number scope="col" {
                                (printer.text(&Message::new(cost).with("currency", first.cost.currency)))
                            }
                            @for unit in &first.units {
                                @let name = printer.get(unit.unit.text_id());
                                th.number scope="col" {
                                    (printer.text(&Message::new("column-unit-cost").with("unit", name)))
                                }
                            }
                            th.number scope="col" { (printer.get("column-from")) }
                        }
                    }
                    tbody { @for bill in &choice.bills { (bill_row(bill, printer)) } }
                }
            }
            h3 { (printer.get("report-list-prices")) }
            ul.quiet {
                @for bill in &choice.bills {
                    li { (words::charge(bill.charge, printer)) ": " (bill.price) ", " (bill.date) ", " (bill.source) }
                }
            }
            @if let Some(exchange) = first.exchange {
                @let sentence = Message::new("plan-exchange")
                    .with("rate", exchange.rate)
                    .with("from", exchange.from)
                    .with("to", exchange.to);
                p { (printer.text(&sentence)) }
            }
        }
    }
}

fn bill_row(bill: &Bill, printer: &Printer) -> Markup {
    html! {
        tr {
            td.name {
                (words::charge(bill.charge, printer))
                @if let Some(caveat) = &bill.caveat { div.quiet { (printer.text(caveat)) } }
            }
            td.number { (show::amount(bill.hour)) }
            td.number { (show::amount(bill.month)) }
            td.number { (show::amount(bill.cost)) }
            @for unit in &bill.units { td.number { (show::amount(unit.cost)) } }
            td.number { (bill.break_even.map_or_else(|| "-".to_owned(), |share| share.to_string())) }
        }
    }
}

/// The first choice for a try-out and for real users.
pub fn variants(plan: &Plan, printer: &Printer) -> Markup {
    if !plan.variants.iter().any(|variant| variant.choice.is_some()) {
        return html! {};
    }
    html! {
        section {
            h2 { (printer.get("plan-variants-head")) }
            dl {
                @for variant in &plan.variants {
                    dt { (words::stage(variant.stage, printer)) }
                    dd { (words::variant(variant, printer)) }
                }
            }
        }
    }
}
