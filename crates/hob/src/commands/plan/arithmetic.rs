//! The arithmetic of an offer in words: each expression with its figures put in, sources as numbered notes.

use hob_estimate::{ArithmeticBlock, ArithmeticStep, Source};
use hob_text::Message;

use crate::printer::Printer;

/// A block in words.
pub struct Block {
    pub title: String,
    pub lines: Vec<Line>,
}

/// A step in words.
pub struct Line {
    /// What is computed, and what comes out.
    pub result: String,
    /// The expression with its figures, and the numbers of its sources.
    pub how: String,
}

/// All blocks, and the sources in the order of their numbers.
pub fn words(blocks: &[ArithmeticBlock], printer: &Printer) -> (Vec<Block>, Vec<String>) {
    let mut sources: Vec<Source> = Vec::new();
    let blocks = blocks
        .iter()
        .map(|block| Block {
            title: printer.get(&format!("block-{}", block.title)),
            lines: block.steps.iter().map(|step| line(step, &mut sources, printer)).collect(),
        })
        .collect();
    let sources = sources.iter().map(|source| match &source.date {
        Some(date) => format!("{} ({date})", source.text),
        None => source.text.clone(),
    });
    (blocks, sources.collect())
}

fn line(step: &ArithmeticStep, known: &mut Vec<Source>, printer: &Printer) -> Line {
    let what = step.what.replace('_', "-");
    let mut name = first_known(&[&format!("step-{what}"), &format!("time-{what}"), &what], printer);
    if let Some(percentile) = step.percentile {
        name = format!("{name} {}", format!("{percentile:?}").to_lowercase());
    }
    let result = printer.text(&Message::new("plan-explain-result").with("name", name).with("value", step.value));
    let how = step.stated.clone().unwrap_or_else(|| expression(step, printer));
    let mut numbers: Vec<String> = step
        .sources
        .iter()
        .map(|source| {
            let place = known.iter().position(|other| other == source).unwrap_or_else(|| {
                known.push(source.clone());
                known.len() - 1
            });
            (place + 1).to_string()
        })
        .collect();
    numbers.dedup();
    let notes = if numbers.is_empty() { String::new() } else { format!("[{}]", numbers.join(", ")) };
    Line { result, how: [how, notes].join(" ").trim().to_owned() }
}

/// The expression with each name replaced by its figure and what that is.
fn expression(step: &ArithmeticStep, printer: &Printer) -> String {
    let mut text = String::new();
    let mut rest = step.expression.as_str();
    while let Some(first) = rest.chars().next() {
        let length = name_length(rest).unwrap_or(first.len_utf8());
        let (token, after) = rest.split_at(length);
        match step.figures.iter().find(|(name, _)| *name == token) {
            Some((name, value)) => {
                let of = first_known(&[&format!("figure-{}", name.replace('_', "-")), name], printer);
                text.push_str(
                    &printer.text(&Message::new("plan-explain-figure").with("name", of).with("value", value)),
                );
            }
            None if token == "*" => text.push('×'),
            None => text.push_str(token),
        }
        rest = after;
    }
    text
}

/// Bytes of the name that a text begins with. A hyphen between letters belongs to it; a minus has blanks around it.
fn name_length(text: &str) -> Option<usize> {
    if !text.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        return None;
    }
    let ends = |letter: char| !(letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter));
    Some(text.find(ends).unwrap_or(text.len()))
}

/// The words of the first id that the catalogue has; an id that it lacks altogether shows, which a test prevents.
fn first_known(ids: &[&str], printer: &Printer) -> String {
    let known = ids.iter().find(|id| printer.catalogue().knows(id)).or(ids.first());
    known.map_or_else(String::new, |id| printer.get(id))
}
