//! `hob new`: writes a workload file, by asking on a terminal or from flags.

mod ask;
mod file;

use std::io::IsTerminal;
use std::path::Path;

use hob_model::ModelKind;
use hob_text::Message;
use hob_workload::{Draft, Problem, parse};

use self::file::Target;
use crate::cli::NewFlags;
use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::Printer;

/// Asks or takes the flags, and writes the file.
pub fn run(flags: &NewFlags, printer: &Printer) -> Result<Code, Failure> {
    let target = Target::new(&flags.out, flags.force)?;
    let mut draft = Draft::default();
    for (path, text) in answers(flags)? {
        draft.answer(&path, &text);
    }
    match unsaid(&draft) {
        Some(_) if can_ask() => ask::all(&mut draft, target.folder(), printer)?,
        Some(flag) => {
            let what = Message::new("new-error-unsaid").with("flag", flag);
            return Err(Failure::input("E-NEW-UNSAID", what).hint(Message::new("new-hint-flags")));
        }
        None => {
            learn_task(&mut draft, target.folder())?;
            draft.take_suggestions();
        }
    }
    let text = draft.to_toml(Some((printer.catalogue(), target.name())));
    // The same judge as for any file: what is written here can be planned.
    if let Err(problems) = parse(target.name(), &text) {
        problems.list().iter().for_each(|problem| show(problem, printer));
        let count = problems.list().len() + problems.left_off();
        return Err(Failure::input("E-NEW-ANSWERS", Message::new("new-error-answers").with("count", count)));
    }
    target.write(&text, printer)?;
    Ok(Code::Done)
}

/// What the flags say, by field.
fn answers(flags: &NewFlags) -> Result<Vec<(String, String)>, Failure> {
    let named = [
        ("kind", &flags.kind),
        ("model", &flags.model),
        ("task", &flags.task),
        ("stage", &flags.stage),
        ("traffic.rate", &flags.rate),
        ("train.method", &flags.method),
        ("data.samples", &flags.samples),
        ("batch.amount", &flags.amount),
        ("objective.deadline", &flags.deadline),
        ("budget", &flags.budget),
    ];
    let mut answers: Vec<(String, String)> =
        named.into_iter().filter_map(|(path, text)| Some((path.to_owned(), text.clone()?))).collect();
    if !flags.cloud.is_empty() {
        answers.push(("where.clouds".to_owned(), flags.cloud.join(",")));
    }
    for pair in &flags.set {
        let Some((path, text)) = pair.split_once('=').filter(|(path, _)| !path.trim().is_empty()) else {
            let what = Message::new("new-error-set").with("got", pair);
            return Err(Failure::input("E-NEW-SET", what).hint(Message::new("new-hint-set")));
        };
        answers.push((path.trim().to_owned(), text.to_owned()));
    }
    Ok(answers)
}

/// The flag that says what cannot be suggested, when it is missing: everything else has an ordinary value.
fn unsaid(draft: &Draft) -> Option<&'static str> {
    let next = draft.next().map(|question| question.path);
    match next {
        Some("kind") => Some("kind"),
        Some("model") => Some("model"),
        _ => None,
    }
}

fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Reads the model that was named, so that its task is known; a model that cannot be read would not run.
fn learn_task(draft: &mut Draft, folder: &Path) -> Result<(), Failure> {
    let Some(model) = draft.get("model") else { return Ok(()) };
    let graph = super::model::named(model, folder)?;
    let task = match graph.kind {
        ModelKind::CausalLm => "llm",
        ModelKind::TextEncoder => "embedding",
        ModelKind::Vision | ModelKind::ImageText => "vision",
        ModelKind::Speech => "speech",
        ModelKind::DiffusionImage => "diffusion-image",
        ModelKind::DiffusionVideo => "diffusion-video",
        ModelKind::Recommender | ModelKind::Unknown => return Ok(()),
    };
    if draft.get("task").is_none() {
        draft.answer("task", task);
    }
    Ok(())
}

/// One thing that is wrong with an answer; without a line, since the user wrote none.
fn show(problem: &Problem, printer: &Printer) {
    let words = |id: &str| printer.get(id);
    printer.note(&format!("{}[{}]: {}", words("word-error"), problem.code.code(), printer.text(&problem.what)));
    if let Some(expected) = &problem.expected {
        printer.note(&format!("  {}: {}", words("workload-word-expected"), printer.text(expected)));
    }
    for hint in &problem.hints {
        printer.note(&format!("  {}: {}", words("word-hint"), printer.text(hint)));
    }
}
