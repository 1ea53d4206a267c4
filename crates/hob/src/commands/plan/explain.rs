//! `hob plan FILE --explain N`: one offer's whole arithmetic, with its sources.

use hob_plan::{Choice, Explanation, Plan};
use hob_text::Message;

use super::{arithmetic, words};
use crate::failure::Failure;
use crate::printer::Printer;

/// Offer `number`, counted from 1 through the ranked groups as printed.
pub fn choice(plan: &Plan, number: usize) -> Result<&Choice, Failure> {
    let count: usize = plan.ranked.iter().map(|group| group.choices.len()).sum();
    let chosen = number.checked_sub(1).and_then(|index| plan.ranked.iter().flat_map(|group| &group.choices).nth(index));
    // Where nothing has a price, the first choice is one without.
    let first = || plan.first_choice().filter(|_| number == 1 && count == 0);
    chosen.or_else(first).ok_or_else(|| {
        let what = Message::new("error-no-offer").with("number", number).with("count", count);
        Failure::input("E-NO-OFFER", what).hint(Message::new("hint-no-offer"))
    })
}

/// Prints it.
pub fn show(explanation: &Explanation, printer: &Printer) {
    let choice = &explanation.choice;
    let head = Message::new("plan-explain-head")
        .with("machines", choice.solution.machines)
        .with("cloud", &choice.cloud)
        .with("instance", &choice.instance)
        .with("gpu", &choice.gpu)
        .with("layout", words::layout(choice));
    printer.line(&printer.text(&head));
    printer.wrapped(&printer.get("plan-explain-how"), 0);
    let (blocks, sources) = arithmetic::words(&explanation.blocks, printer);
    for block in blocks {
        printer.line("");
        printer.line(&block.title);
        for line in block.lines {
            printer.wrapped(&line.result, 2);
            if !line.how.is_empty() {
                printer.wrapped(&line.how, 6);
            }
        }
    }
    if sources.is_empty() {
        return;
    }
    printer.line("");
    printer.line(&printer.get("plan-explain-sources"));
    for (index, source) in sources.iter().enumerate() {
        printer.wrapped(&format!("[{}] {source}", index + 1), 2);
    }
}
