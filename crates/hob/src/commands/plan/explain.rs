//! `hob plan FILE --explain N`: one offer's whole arithmetic, with its sources.

use hob_plan::{Bill, Choice, Plan};
use hob_text::Message;

use super::words;
use crate::failure::Failure;
use crate::printer::Printer;

/// Offer `number`, counted from 1 through the ranked groups as printed.
pub fn offer(plan: &Plan, number: usize, printer: &Printer) -> Result<(), Failure> {
    let count: usize = plan.ranked.iter().map(|group| group.choices.len()).sum();
    let chosen = number.checked_sub(1).and_then(|index| plan.ranked.iter().flat_map(|group| &group.choices).nth(index));
    let Some(choice) = chosen else {
        let what = Message::new("error-no-offer").with("number", number).with("count", count);
        return Err(Failure::input("E-NO-OFFER", what).hint(Message::new("hint-no-offer")));
    };
    printer.line(
        &printer.text(
            &Message::new("plan-explain-head")
                .with("cloud", &choice.cloud)
                .with("instance", &choice.instance)
                .with("gpu", &choice.gpu)
                .with("layout", words::layout(choice)),
        ),
    );
    memory(choice, printer);
    time(choice, printer);
    for bill in &choice.bills {
        price(choice, bill, printer);
    }
    Ok(())
}

fn memory(choice: &Choice, printer: &Printer) {
    let Some(memory) = &choice.solution.memory else { return };
    let head = Message::new("plan-explain-memory").with("total", memory.total).with("usable", memory.usable);
    printer.line("");
    printer.line(&printer.text(&head));
    for term in &memory.terms {
        printer.line(&format!("  {}: {}", words::memory(term.kind, printer), term.bytes));
        printer.wrapped(&term.formula, 6);
    }
}

fn time(choice: &Choice, printer: &Printer) {
    if choice.solution.time.is_empty() {
        return;
    }
    printer.line("");
    printer.line(&printer.get("plan-explain-time"));
    for term in &choice.solution.time {
        printer.line(&format!("  {}: {}", words::time(term.what, printer), term.time));
        printer.wrapped(&term.formula, 6);
    }
}

fn price(choice: &Choice, bill: &Bill, printer: &Printer) {
    printer.line("");
    let head = Message::new("plan-explain-price")
        .with("mode", words::charge(bill.charge, printer))
        .with("price", bill.price)
        .with("date", &bill.date)
        .with("source", &bill.source);
    printer.wrapped(&printer.text(&head), 0);
    let cost = Message::new("plan-explain-cost")
        .with("machines", choice.solution.machines)
        .with("hour", bill.hour.rounded(2))
        .with("month", bill.month.rounded(2))
        .with("cost", bill.cost.rounded(2))
        .with("low", bill.cost_low.rounded(2))
        .with("high", bill.cost_high.rounded(2));
    printer.wrapped(&printer.text(&cost), 2);
    if let Some(caveat) = &bill.caveat {
        printer.line(&format!("  {}", printer.text(caveat)));
    }
}
