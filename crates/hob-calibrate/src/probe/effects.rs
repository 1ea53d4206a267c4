//! Factors of cards, engines and models as random effects, solved by Gauss and Newton.

use std::collections::{BTreeMap, BTreeSet};

use hob_estimate::{Coefficient, Efficiencies, Scope};
use nalgebra::{DMatrix, DVector};

use super::Place;
use super::knob::{Knob, WIDENS, band, scaled, scatter};
use crate::fit::{SDS_IN_BAND, rounded};
use crate::question::Question;
use crate::target::Target;

/// Rounds; the third changes nothing at four digits unless a load turns saturated on the way.
const ROUNDS: usize = 8;
/// Step of the numeric derivative, in log.
const STEP: f64 = 1e-3;
/// Residuals beyond this many of their spreads pull no harder (Huber 1964: 95 % efficient at 1.345; wider, since
/// measurements of one machine are few).
const HUBER: f64 = 2.0;

/// One measured value, its log error and how each knob moves its prediction.
struct Observation<'q> {
    question: &'q Question,
    /// Place among the places.
    place: usize,
    target: Target,
    measured: f64,
    /// `ln(measured / predicted)` at the current factors; `None` without a prediction.
    error: Option<f64>,
    slopes: Vec<f64>,
    /// Huber weight.
    weight: f64,
}

/// All factors.
pub(super) struct Effects<'q> {
    base: &'q Efficiencies,
    places: Vec<Place>,
    knobs: Vec<Knob>,
    /// The number of each factor.
    numbers: BTreeMap<(Knob, Place), usize>,
    logs: DVector<f64>,
    covariance: DMatrix<f64>,
    observations: Vec<Observation<'q>>,
}

impl<'q> Effects<'q> {
    pub(super) fn new(base: &'q Efficiencies, learnt: &[(&'q Question, Place)]) -> Self {
        let places: Vec<Place> =
            learnt.iter().map(|(_, place)| place.clone()).collect::<BTreeSet<_>>().into_iter().collect();
        let mut observations = Vec::new();
        for (question, place) in learnt {
            let place = places.binary_search(place).unwrap_or(0);
            for (target, measured) in question.measured.iter().filter(|(target, _)| band(*target).is_some()) {
                let (target, measured) = (*target, *measured);
                observations.push(Observation {
                    question,
                    place,
                    target,
                    measured,
                    error: None,
                    slopes: Vec::new(),
                    weight: 1.0,
                });
            }
        }
        let none = (DVector::zeros(0), DMatrix::zeros(0, 0));
        let mut effects = Self {
            base,
            places,
            knobs: Knob::ALL.to_vec(),
            numbers: BTreeMap::new(),
            logs: none.0,
            covariance: none.1,
            observations,
        };
        effects.linearise();
        effects.observations.retain(|observation| observation.error.is_some());
        // A knob that no measurement feels stays out of it.
        let felt = |at: usize| {
            effects
                .observations
                .iter()
                .any(|observation| observation.slopes.get(at).is_some_and(|slope| slope.abs() > 1e-6))
        };
        effects.knobs = (0..).zip(Knob::ALL).filter(|(at, _)| felt(*at)).map(|(_, knob)| knob).collect();
        let levels: BTreeSet<Place> = effects.places.iter().flat_map(Place::levels).collect();
        let keys = effects.knobs.iter().flat_map(|knob| levels.iter().map(|level| (*knob, level.clone())));
        effects.numbers = keys.zip(0..).collect();
        effects.logs = DVector::zeros(effects.numbers.len());
        effects
    }

    /// Factors of a knob that apply at a place, from the card down.
    fn applying(&self, knob: Knob, place: &Place) -> impl Iterator<Item = (usize, Option<usize>)> + use<'_, 'q> {
        let levels = place.levels();
        // A place that is itself a card or an engine has fewer levels.
        let depth = if place.engine.is_empty() {
            1
        } else if place.model.is_empty() {
            2
        } else {
            3
        };
        levels
            .into_iter()
            .take(depth)
            .enumerate()
            .map(move |(depth, level)| (depth, self.numbers.get(&(knob, level)).copied()))
    }

    fn log(&self, knob: Knob, place: &Place) -> f64 {
        self.applying(knob, place).filter_map(|(_, number)| self.logs.get(number?).copied()).sum()
    }

    /// Errors and slopes at the current factors. A place's tables are built once for all its rows.
    fn linearise(&mut self) {
        let mut tables: Vec<(Efficiencies, Vec<Efficiencies>)> = Vec::with_capacity(self.places.len());
        for place in &self.places {
            let logs: Vec<(Knob, f64)> = self.knobs.iter().map(|knob| (*knob, self.log(*knob, place))).collect();
            let here = scaled(self.base, &logs);
            let moved = self.knobs.iter().map(|knob| scaled(&here, &[(*knob, STEP)])).collect();
            tables.push((here, moved));
        }
        for observation in &mut self.observations {
            let Some((here, moved)) = tables.get(observation.place) else { continue };
            let predicted = |table: &Efficiencies| {
                let answer = observation.question.ask.answer(table).ok()?;
                let (_, value) = answer.values.iter().find(|(of, _)| *of == observation.target)?;
                Some(value.mid.ln()).filter(|log| log.is_finite())
            };
            let here = predicted(here);
            let slope = |table| here.zip(predicted(table)).map_or(0.0, |(here, moved)| (moved - here) / STEP);
            let slopes = moved.iter().map(slope).collect();
            observation.error = here.map(|here| observation.measured.ln() - here);
            observation.slopes = slopes;
        }
    }

    /// The factors at which measurements and priors agree best.
    pub(super) fn solved(mut self) -> Self {
        for _ in 0..ROUNDS {
            self.linearise();
            if self.step().is_none_or(|change| change < 1e-4) {
                break;
            }
        }
        self
    }

    /// One step; the largest change of a log. `None` when nothing was measured.
    fn step(&mut self) -> Option<f64> {
        let size = self.logs.len();
        if size == 0 {
            return None;
        }
        let mut normal = DMatrix::<f64>::zeros(size, size);
        let mut pull = DVector::<f64>::zeros(size);
        for ((knob, level), number) in &self.numbers {
            let depth = if level.engine.is_empty() { 0 } else { usize::from(!level.model.is_empty()) + 1 };
            let precision = knob.spreads().get(depth).map_or(0.0, |spread| spread.powi(-2));
            *normal.get_mut((*number, *number))? += precision;
        }
        for observation in &self.observations {
            let (Some(error), Some(place)) = (observation.error, self.places.get(observation.place)) else { continue };
            let mut slopes = Vec::new();
            for (knob, slope) in self.knobs.iter().zip(&observation.slopes) {
                slopes.extend(self.applying(*knob, place).filter_map(|(_, number)| Some((number?, *slope))));
            }
            // The error against the linear model at factors of 1, of which the prior speaks.
            let at_one: f64 =
                error + slopes.iter().filter_map(|(at, slope)| Some(self.logs.get(*at)? * slope)).sum::<f64>();
            let precision = observation.weight * scatter(observation.target).powi(-2);
            for (a, slope_a) in &slopes {
                *pull.get_mut(*a)? += precision * slope_a * at_one;
                for (b, slope_b) in &slopes {
                    *normal.get_mut((*a, *b))? += precision * slope_a * slope_b;
                }
            }
        }
        let covariance = normal.cholesky()?.inverse();
        let logs = &covariance * pull;
        let change = (&logs - &self.logs).amax();
        (self.logs, self.covariance) = (logs, covariance);
        for observation in &mut self.observations {
            let size = observation.error.unwrap_or(0.0).abs() / scatter(observation.target);
            observation.weight = if size > HUBER { HUBER / size } else { 1.0 };
        }
        Some(change)
    }

    /// Variance of a log prediction whose knobs have these slopes, at a place.
    fn variance(&self, place: &Place, slopes: &[f64]) -> f64 {
        let (mut known, mut unknown) = (Vec::new(), 0.0);
        for (knob, slope) in self.knobs.iter().zip(slopes) {
            let mut found = [None; 3];
            for (depth, number) in self.applying(*knob, place) {
                if let Some(cell) = found.get_mut(depth) {
                    *cell = number;
                }
            }
            for (number, spread) in found.into_iter().zip(knob.spreads()) {
                match number {
                    Some(number) => known.push((number, *slope)),
                    None => unknown += (slope * spread).powi(2),
                }
            }
        }
        let both = known.iter().flat_map(|a| known.iter().map(move |b| (a, b)));
        let both =
            both.filter_map(|((a, slope_a), (b, slope_b))| Some(self.covariance.get((*a, *b))? * slope_a * slope_b));
        (both.sum::<f64>() + unknown).max(0.0)
    }

    /// The table with rows for every measured card, engine on it, and model under both.
    pub(super) fn overlay(&self, base: &Efficiencies) -> Efficiencies {
        let levels: BTreeSet<&Place> = self.numbers.keys().map(|(_, level)| level).collect();
        let mut rows: BTreeMap<(String, Scope), Coefficient> = BTreeMap::new();
        for level in levels {
            let measured = self.observations.iter().filter(|observation| {
                self.places.get(observation.place).is_some_and(|place| place.levels().contains(level))
            });
            let measured: BTreeSet<&str> = measured.map(|observation| observation.question.id.as_str()).collect();
            let source = format!("{} of your measurements", measured.len());
            for row in base.rows() {
                let log = self.knobs.iter().filter_map(|knob| Some(knob.exponent(&row.name)? * self.log(*knob, level)));
                let log = log.fold(None, |sum: Option<f64>, log| Some(sum.unwrap_or(0.0) + log));
                let narrowed = || self.band_at(row, level).map(|band| rounded(band) / row.value);
                let Some(by) = log.map(f64::exp).or_else(narrowed) else { continue };
                let Some(scope) = narrower(&row.scope, level) else { continue };
                let mut own = row.clone();
                (own.low, own.value, own.high) = (row.low * by, rounded(row.value * by), row.high * by);
                (own.low, own.high) = (own.low.min(own.value), own.high.max(own.value));
                own.source = format!("{source}; before: {}", row.source);
                own.scope = scope.clone();
                // Of rows that become the same one the narrower holds, as a lookup would have chosen.
                let key = (row.name.clone(), scope);
                let was =
                    |known: &Scope| usize::from(!known.engine.is_empty()) + usize::from(!known.architecture.is_empty());
                let keeps = base.rows().iter().filter(|other| other.name == row.name);
                let keeps = keeps.filter(|other| narrower(&other.scope, level).as_ref() == Some(&key.1));
                if keeps.map(|other| was(&other.scope)).max() == Some(was(&row.scope)) {
                    rows.entry(key).or_insert(own);
                }
            }
        }
        base.clone().overlaid(rows.into_values())
    }

    /// The band of a row of bands at a place, when its target was measured on that card.
    fn band_at(&self, row: &Coefficient, level: &Place) -> Option<f64> {
        if WIDENS.contains(&row.scope.class.as_str()) {
            // What was measured on the card itself needs no allowance for a generation without rows.
            let is_measured = row.scope.class == "no_rows" && !level.engine.is_empty();
            return (is_measured && row.name.starts_with("serve.") && self.is_felt(Knob::Decode)).then_some(1.0);
        }
        let is_of = |target: Target| {
            band(target)
                .is_some_and(|(name, class)| name == row.name && class.is_none_or(|class| class == row.scope.class))
        };
        let on_card = |observation: &&Observation<'_>| {
            is_of(observation.target)
                && self.places.get(observation.place).is_some_and(|place| place.card == level.card)
        };
        let spreads = self
            .observations
            .iter()
            .filter(on_card)
            .map(|observation| self.variance(level, &observation.slopes) + scatter(observation.target).powi(2));
        let spreads: Vec<f64> = spreads.collect();
        if spreads.is_empty() {
            return None;
        }
        let mean = spreads.iter().sum::<f64>() / spreads.len() as f64;
        let found = (SDS_IN_BAND * mean.sqrt()).exp();
        (found < row.value).then_some(found)
    }

    fn is_felt(&self, knob: Knob) -> bool {
        self.knobs.contains(&knob)
    }
}

/// A row's scope narrowed to a place; `None` when it is of another engine.
fn narrower(scope: &Scope, place: &Place) -> Option<Scope> {
    if !scope.card.is_empty() || !scope.model.is_empty() {
        return None;
    }
    let mut own = scope.clone().card(&place.card).model(&place.model);
    if !place.engine.is_empty() {
        if !scope.engine.is_empty() && scope.engine != place.engine {
            return None;
        }
        own = own.engine(&place.engine);
    }
    Some(own)
}
