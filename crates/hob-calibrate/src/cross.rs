//! Predictions of rows that the fit never saw, and bands from their errors.

use std::collections::BTreeMap;

use hob_estimate::Efficiencies;
use hob_units::Interval;

use crate::asked::{Asked, HoldOut, parts};
use crate::fit::{fit, is_band, rounded};
use crate::score::Outcome;
use crate::target::Target;

/// Errors over fewer groups than this lean on those of wider rows.
const GROUPS_ENOUGH: f64 = 8.0;
/// The share of held-out errors that a band shall hold.
const INSIDE: f64 = 0.8;

/// A prediction by a fit that never saw the row's group.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    /// Place in the rows that were asked.
    pub row: usize,
    /// The part that it was held out with.
    pub part: usize,
    /// Predicted against measured.
    pub target: Target,
    /// The prediction, with the band of the priors.
    pub outcome: Outcome,
    /// Band rows of the table that widen it.
    bands: Vec<usize>,
}

impl HeldOut {
    /// Takes the bands of `to` in place of those of `from`, under which it was predicted.
    pub(crate) fn widen(&mut self, from: &Efficiencies, to: &Efficiencies) {
        let Some(band) = self.bands.first() else { return };
        let (Some(from), Some(to)) = (from.rows().get(*band), to.rows().get(*band)) else { return };
        let scale = if from.value > 1.0 { to.value.ln() / from.value.ln() } else { 1.0 };
        let Interval { low, mid, high } = self.outcome.predicted;
        self.outcome.predicted =
            Interval { low: mid * (low / mid).powf(scale), mid, high: mid * (high / mid).powf(scale) };
    }
}

/// Runs a task for each part, at once or in turn, and gives back the results in the order of the parts: this room owns no
/// thread, its caller may.
pub type Workers = fn(usize, &(dyn Fn(usize) -> Vec<HeldOut> + Sync)) -> Vec<Vec<HeldOut>>;

/// One part after the other.
#[must_use]
pub fn in_turn(parts: usize, task: &(dyn Fn(usize) -> Vec<HeldOut> + Sync)) -> Vec<Vec<HeldOut>> {
    (0..parts).map(task).collect()
}

/// Fits on all parts but one and predicts that one, in turn.
#[must_use]
pub fn held_out(
    priors: &Efficiencies,
    asked: &[Asked],
    trusted: &[bool],
    by: HoldOut,
    count: usize,
    workers: Workers,
) -> Vec<HeldOut> {
    let part_of = parts(asked, by, count);
    let bands = band_rows(priors);
    let of_part = |part: usize| {
        let seen = |row: usize| part_of.get(row) != Some(&part) && trusted.get(row).copied().unwrap_or(true);
        let rows = asked.iter().enumerate();
        let seen: Vec<&Asked> = rows.clone().filter(|(row, _)| seen(*row)).map(|(_, asked)| asked).collect();
        let table = fit(priors, &seen).table;
        let widened: Vec<(usize, Efficiencies)> = bands.iter().map(|band| (*band, doubled(&table, *band))).collect();
        let unseen = rows.filter(|(row, _)| part_of.get(*row) == Some(&part));
        unseen.flat_map(|(row, asked)| predictions(asked, row, part, &table, &widened)).collect::<Vec<HeldOut>>()
    };
    workers(count, &of_part).into_iter().flatten().collect()
}

fn predictions(
    asked: &Asked,
    row: usize,
    part: usize,
    table: &Efficiencies,
    widened: &[(usize, Efficiencies)],
) -> Vec<HeldOut> {
    let Ok(answer) = asked.question.ask.answer(table) else { return Vec::new() };
    let prediction = |(target, measured): &(Target, f64)| {
        let predicted = value(&answer.values, *target)?;
        let moves = |(band, table): &(usize, Efficiencies)| {
            let wider = value(&asked.question.ask.answer(table).ok()?.values, *target)?;
            (wider.high > predicted.high * 1.000_001).then_some(*band)
        };
        let outcome = Outcome { id: asked.question.id.clone(), predicted, measured: *measured };
        let bands = widened.iter().filter_map(moves).collect();
        Some(HeldOut { row, part, target: *target, outcome, bands })
    };
    asked.question.measured.iter().filter_map(prediction).collect()
}

fn value(values: &[(Target, Interval<f64>)], target: Target) -> Option<Interval<f64>> {
    values.iter().find(|(of, _)| *of == target).map(|(_, value)| *value)
}

fn band_rows(table: &Efficiencies) -> Vec<usize> {
    (0..).zip(table.rows()).filter(|(_, row)| is_band(row)).map(|(index, _)| index).collect()
}

fn doubled(table: &Efficiencies, band: usize) -> Efficiencies {
    let mut table = table.clone();
    if let Some(value) = table.rows().get(band).map(|row| row.value) {
        table.set(band, value * 2.0);
    }
    table
}

/// `table` with its bands set so that four in five of the held-out errors outside `except` lie inside: split conformal on
/// log errors (Lei et al. 2018), every group counting once, with the `(n + 1) / n` of small samples over groups.
#[must_use]
pub fn with_bands(table: &Efficiencies, asked: &[Asked], held_out: &[HeldOut], except: Option<usize>) -> Efficiencies {
    let mut table = table.clone();
    for band in band_rows(&table) {
        let of_band = |prediction: &&HeldOut| Some(prediction.part) != except && prediction.bands.contains(&band);
        let Some(row) = table.rows().get(band).cloned() else { continue };
        let scores = held_out.iter().filter(of_band).filter_map(|prediction| {
            let Outcome { predicted, measured, .. } = &prediction.outcome;
            let width = (predicted.high / predicted.mid).ln();
            let error = (predicted.mid / measured).ln().abs();
            let group = asked.get(prediction.row).map_or("", |asked| asked.group.as_str());
            (width > 0.0).then_some((group, error / width))
        });
        if let Some(scale) = group_quantile(scores) {
            table.set(band, rounded(row.value.powf(scale)));
        }
    }
    table
}

/// The quantile of scores at which 80 % of the weight lies below, groups weighing alike; `None` without scores. Few groups
/// lean on the prior band (a score of 1) as if it were the groups that are missing.
fn group_quantile<'g>(scores: impl Iterator<Item = (&'g str, f64)>) -> Option<f64> {
    let mut by_group: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (group, score) in scores {
        by_group.entry(group).or_default().push(score);
    }
    let groups = by_group.len() as f64;
    let mut weighted: Vec<(f64, f64)> = Vec::new();
    for scores in by_group.values() {
        weighted.extend(scores.iter().map(|score| (*score, 1.0 / scores.len() as f64)));
    }
    weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let level = (INSIDE * (groups + 1.0) / groups).min(1.0) * groups;
    let mut below = 0.0;
    let found = weighted.iter().find(|(_, weight)| {
        below += weight;
        below >= level - 1e-9
    });
    let found = found.or(weighted.last()).map(|(score, _)| *score)?;
    let trust = (groups / GROUPS_ENOUGH).min(1.0);
    Some(found * trust + (1.0 - trust))
}
