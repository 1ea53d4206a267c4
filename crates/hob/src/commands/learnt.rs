//! What a user's own measurements say about the offers of a plan.

use std::path::PathBuf;

use hob_calibrate::{Counted, Library, Place, Probe, Question, probe};
use hob_catalog::Catalog;
use hob_estimate::Efficiencies;
use hob_plan::{Choice, Plan};
use hob_text::Message;

use super::measured;
use crate::failure::Failure;
use crate::printer::{Printer, printable};

/// Rows that are left out and named; the rest are counted.
const LEFT_OUT_SHOWN: usize = 5;

/// What tables of measurements say, starting from `base`. Rows that cannot be asked for are named on the side.
pub fn learn(files: &[PathBuf], catalog: &Catalog, base: &Efficiencies, printer: &Printer) -> Result<Probe, Failure> {
    let mut library = Library::new(catalog);
    let mut questions: Vec<Question> = Vec::new();
    for file in files {
        let table = measured::read(file, printer)?;
        let mut left_out = Vec::new();
        for row in &table.rows {
            match library.question(table.kind, row) {
                Ok(question) => questions.push(question),
                Err(reason) => left_out.push((row.text("id").to_owned(), reason)),
            }
        }
        for (id, reason) in left_out.iter().take(LEFT_OUT_SHOWN) {
            let reason = printer.text(&hob_plan::message(&reason.sentence()));
            let message = Message::new("measured-left-out").with("path", file.display()).with("row", id);
            printer.note(&printable(&printer.text(&message.with("why", reason))));
        }
        if left_out.len() > LEFT_OUT_SHOWN {
            let more = left_out.len() - LEFT_OUT_SHOWN;
            let message = Message::new("measured-left-out-more").with("path", file.display()).with("count", more);
            printer.note(&printable(&printer.text(&message)));
        }
    }
    let found = probe(base, &questions);
    for (id, target) in &found.beyond_physics {
        let message = Message::new("measured-beyond").with("row", id).with("target", target);
        printer.note(&printable(&printer.text(&message)));
    }
    Ok(found)
}

/// Says on each offer how many of the measurements bear on it.
pub fn mark(plan: &mut Plan, probe: &Probe, model: &str) {
    let ranked = plan.ranked.iter_mut().flat_map(|group| group.choices.iter_mut());
    for choice in ranked.chain(plan.unpriced.iter_mut()) {
        let note = note(choice, probe, model);
        choice.solution.notes.extend(note);
    }
    let mut cards: Vec<&str> = Vec::new();
    for point in &probe.points {
        if !cards.contains(&point.place.card.as_str()) {
            cards.push(&point.place.card);
        }
    }
    for card in cards {
        let count = probe.counted(&Place::new(card, "", "")).same_card;
        plan.understood.push(Message::new("plan-understood-measured").with("card", card).with("count", count));
    }
}

fn note(choice: &Choice, probe: &Probe, model: &str) -> Option<Message> {
    let engine = choice.solution.layout.engine()?;
    let Counted { same_model, same_engine, same_card } = probe.counted(&Place::new(&choice.gpu, engine, model));
    let (id, count) = match (same_model, same_engine, same_card) {
        (0, 0, 0) => return None,
        (0, 0, count) => ("measured-card", count),
        (0, count, _) => ("measured-engine", count),
        (count, _, _) => ("measured-model", count),
    };
    Some(Message::new(id).with("count", count).with("card", &choice.gpu).with("engine", engine))
}
