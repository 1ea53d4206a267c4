//! Asking on a terminal. Questions go to standard error, so that the file may go to standard output.

use std::fmt;
use std::path::Path;

use hob_model::{VISION_PRESETS, preset_names};
use hob_text::Message;
use hob_workload::{Draft, Form, Question};
use inquire::autocompletion::Replacement;
use inquire::{Autocomplete, CustomUserError, InquireError, Select, Text};

use super::{learn_task, show};
use crate::failure::Failure;
use crate::printer::Printer;

/// Lines of a list that are shown at a time.
const LIST_LINES: usize = 10;

/// Asks what is left to ask. A wrong answer is told, and asked again with the text at hand.
pub fn all(draft: &mut Draft, folder: &Path, printer: &Printer) -> Result<(), Failure> {
    learn_task(draft, folder)?;
    while let Some(question) = draft.next() {
        let mut earlier = String::new();
        loop {
            let answer = one(question, draft, &earlier, printer)?;
            let mut tried = draft.clone();
            tried.answer(question.path, &answer);
            if is_right(question, &mut tried, folder, printer) {
                *draft = tried;
                break;
            }
            earlier = answer;
        }
    }
    Ok(())
}

/// Whether the answer fits; else says why it does not. A model that is named is read, which may tell its task.
fn is_right(question: &Question, tried: &mut Draft, folder: &Path, printer: &Printer) -> bool {
    let problems = tried.problems_with(question.path);
    problems.iter().for_each(|problem| show(problem, printer));
    if !problems.is_empty() {
        return false;
    }
    if question.path != "model" {
        return true;
    }
    learn_task(tried, folder).inspect_err(|failure| printer.failure(failure)).is_ok()
}

fn one(question: &Question, draft: &Draft, earlier: &str, printer: &Printer) -> Result<String, Failure> {
    let ask = printer.get(question.ask);
    let suggestion = question.suggestion(draft);
    let answer = match question.form {
        Form::Word => word(question, &ask, suggestion, printer),
        Form::Text | Form::Amount | Form::List => text(question, &ask, suggestion, earlier, printer),
    };
    answer.map_err(|error| match error {
        InquireError::OperationCanceled | InquireError::OperationInterrupted => {
            Failure::input("E-NEW-STOPPED", Message::new("new-error-stopped"))
        }
        other => Failure::input("E-NEW-TERMINAL", Message::new("new-error-terminal").with("why", other))
            .hint(Message::new("new-hint-flags")),
    })
}

/// A word with what it means, as a line of a list.
struct Line {
    word: &'static str,
    meaning: Option<String>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.meaning {
            Some(meaning) => write!(f, "{:<10}  {meaning}", self.word),
            None => f.write_str(self.word),
        }
    }
}

fn word(question: &Question, ask: &str, suggestion: &str, printer: &Printer) -> Result<String, InquireError> {
    let line = |word: &'static str| {
        let id = format!("new-word-{word}");
        Line { word, meaning: printer.catalogue().knows(&id).then(|| printer.get(&id)) }
    };
    let lines: Vec<Line> = question.words().into_iter().map(line).collect();
    let suggested = lines.iter().position(|line| line.word == suggestion).unwrap_or(0);
    let keys = printer.get("new-keys-choose");
    let chosen = Select::new(ask, lines)
        .with_starting_cursor(suggested)
        .with_page_size(LIST_LINES)
        .with_help_message(&keys)
        .with_formatter(&|chosen| chosen.value.word.to_owned())
        .prompt()?;
    Ok(chosen.word.to_owned())
}

fn text(
    question: &Question,
    ask: &str,
    suggestion: &str,
    earlier: &str,
    printer: &Printer,
) -> Result<String, InquireError> {
    let (keys, left_out) = (printer.get("new-keys-model"), printer.get("new-left-out"));
    let mut text = Text::new(ask).with_initial_value(if earlier.is_empty() && question.may_be_empty {
        // What may be left out is left out by deleting it, so the suggestion stands in the line.
        suggestion
    } else {
        earlier
    });
    if !question.may_be_empty {
        text = text.with_default(suggestion);
    }
    if question.path == "model" {
        text = text.with_autocomplete(Models).with_help_message(&keys).with_page_size(LIST_LINES);
    }
    text.with_formatter(&|answer| if answer.is_empty() { left_out.clone() } else { answer.to_owned() }).prompt()
}

/// Completes the names of models that ship with Hob; any other name, path or count may be typed.
#[derive(Clone)]
struct Models;

impl Autocomplete for Models {
    fn get_suggestions(&mut self, input: &str) -> Result<Vec<String>, CustomUserError> {
        let wanted = input.trim().to_lowercase();
        let names = preset_names().chain(VISION_PRESETS);
        let fitting = names.filter(|name| !wanted.is_empty() && name.to_lowercase().contains(&wanted));
        Ok(fitting.map(str::to_owned).collect())
    }

    fn get_completion(&mut self, _: &str, highlighted: Option<String>) -> Result<Replacement, CustomUserError> {
        Ok(highlighted)
    }
}
