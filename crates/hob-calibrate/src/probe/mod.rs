//! A user's own measurements: what they say about a card, an engine on it, and a model under both.
//!
//! Each [`Knob`] has one factor for a card, one for an engine on that card and one for a model under both, normal in log
//! around 1 with known spreads. Measurements pull them by Gauss and Newton on log errors, with Huber weights so that one
//! mistyped row does not carry all. What comes out is a table of efficiencies with rows that narrow: a plan for that card
//! and engine looks them up by itself, other cards keep what they had. The posterior spread narrows the bands.

mod effects;
mod knob;

use std::collections::BTreeMap;

use hob_estimate::Efficiencies;
use hob_units::Interval;
use serde::Serialize;

use crate::question::Question;
use crate::target::Target;
use effects::Effects;

/// A card, an engine on it, and a model under both. Empty: all of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
pub struct Place {
    /// Card id.
    pub card: String,
    /// Engine family as the table of efficiencies spells it.
    pub engine: String,
    /// The model's own name.
    pub model: String,
}

impl Place {
    /// All three.
    #[must_use]
    pub fn new(card: &str, engine: &str, model: &str) -> Self {
        Self { card: card.to_owned(), engine: engine.to_owned(), model: model.to_owned() }
    }

    /// The card; the engine on it; the model under both.
    pub(crate) fn levels(&self) -> [Self; 3] {
        let Self { card, engine, .. } = self;
        [Self::new(card, "", ""), Self::new(card, engine, ""), self.clone()]
    }
}

/// One measured value before and after all of them were taken in.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The row's id.
    pub id: String,
    /// Where it was measured.
    pub place: Place,
    /// What.
    pub target: Target,
    /// In base units.
    pub measured: f64,
    /// Predicted without any measurement.
    pub before: Interval<f64>,
    /// Predicted with all of them.
    pub after: Interval<f64>,
}

/// Measured rows that bear on a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counted {
    /// Of this model under this engine on this card.
    pub same_model: usize,
    /// Of any model under this engine on this card.
    pub same_engine: usize,
    /// Of this card.
    pub same_card: usize,
}

/// What measurements say.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The table that was started from, with rows for the measured places.
    pub table: Efficiencies,
    /// Every measured value that was taken in.
    pub points: Vec<Point>,
    /// Rows that no hardware can have measured: they are not learnt from.
    pub beyond_physics: Vec<(String, Target)>,
    counts: BTreeMap<Place, usize>,
}

/// Takes measurements in. Without any that bear on a coefficient the table stays as it is.
#[must_use]
pub fn probe<'q>(base: &Efficiencies, questions: impl IntoIterator<Item = &'q Question>) -> Probe {
    let mut learnt = Vec::new();
    let mut beyond_physics = Vec::new();
    for question in questions {
        let beyond: Vec<Target> = question.beats_physics().collect();
        if beyond.is_empty() {
            learnt.extend(question.ask.place().map(|place| (question, place)));
        }
        beyond_physics.extend(beyond.into_iter().map(|target| (question.id.clone(), target)));
    }
    let effects = Effects::new(base, &learnt);
    let table = effects.solved().overlay(base);
    let mut counts: BTreeMap<Place, usize> = BTreeMap::new();
    let mut points = Vec::new();
    for (question, place) in learnt {
        *counts.entry(place.clone()).or_default() += 1;
        points.extend(compared(question, &place, base, &table));
    }
    Probe { table, points, beyond_physics, counts }
}

fn compared(question: &Question, place: &Place, base: &Efficiencies, table: &Efficiencies) -> Vec<Point> {
    let (Ok(before), Ok(after)) = (question.ask.answer(base), question.ask.answer(table)) else { return Vec::new() };
    let value = |values: &[(Target, Interval<f64>)], target: Target| {
        values.iter().find(|(of, _)| *of == target).map(|(_, value)| *value)
    };
    let point = |(target, measured): &(Target, f64)| {
        let (before, after) = (value(&before.values, *target)?, value(&after.values, *target)?);
        let (id, place) = (question.id.clone(), place.clone());
        Some(Point { id, place, target: *target, measured: *measured, before, after })
    };
    question.measured.iter().filter_map(point).collect()
}

impl Probe {
    /// Measured rows that were taken in.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.counts.values().sum()
    }

    /// Measured rows that bear on a place.
    #[must_use]
    pub fn counted(&self, place: &Place) -> Counted {
        let count = |bears: &dyn Fn(&Place) -> bool| {
            self.counts.iter().filter(|(of, _)| bears(of)).map(|(_, count)| *count).sum()
        };
        Counted {
            same_model: count(&|of| of == place),
            same_engine: count(&|of| of.card == place.card && of.engine == place.engine),
            same_card: count(&|of| of.card == place.card),
        }
    }
}
