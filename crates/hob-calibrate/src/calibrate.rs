//! The whole calibration: read the tables, fit, hold out, set bands, and write the file that ships.

use std::collections::{BTreeMap, BTreeSet};

use hob_catalog::Catalog;
use hob_estimate::{Coefficient, Efficiencies, Scope};
use serde::Serialize;

use crate::asked::{Asked, HoldOut};
use crate::cross::{HeldOut, Workers, held_out, with_bands};
use crate::fit::{Distrusted, FitResult, Fitted, fit, is_band};
use crate::library::Library;
use crate::question::Unanswered;
use crate::score::{Outcome, Score};
use crate::table::{MeasuredTable, TableError};
use crate::target::Target;

/// Parts that are held out in turn: fit on three, predict the fourth.
pub const PARTS: usize = 4;

/// Published measurements that ship with Hob: numbers with their sources, one table for each kind.
const MEASURED: [&str; 4] = [
    include_str!("../../../data/calibration/measured/train_memory.csv"),
    include_str!("../../../data/calibration/measured/train_throughput.csv"),
    include_str!("../../../data/calibration/measured/infer_memory.csv"),
    include_str!("../../../data/calibration/measured/infer_throughput.csv"),
];
/// Rows that a person distrusts, with the reason: `id,reason`.
const DISTRUSTED: &str = include_str!("../../../data/calibration/distrusted.csv");

/// The published tables.
///
/// # Errors
/// Never in a released binary: a test reads them.
pub fn published() -> Result<Vec<MeasuredTable>, TableError> {
    MEASURED.iter().map(|text| MeasuredTable::read(text)).collect()
}

/// Rows of the published tables that a person distrusts, with the reason.
#[must_use]
pub fn distrusted_by_hand() -> BTreeMap<String, String> {
    let mut reader = csv::Reader::from_reader(DISTRUSTED.as_bytes());
    let pair = |record: csv::StringRecord| Some((record.get(0)?.to_owned(), record.get(1)?.to_owned()));
    reader.records().filter_map(|record| pair(record.ok()?)).collect()
}

/// Rows to learn from.
pub struct Evidence {
    /// Every row that can be asked for.
    pub asked: Vec<Asked>,
    /// Whether the fit may learn from it; it is predicted in any case.
    pub trusted: Vec<bool>,
    /// Rows that cannot be asked for.
    pub unanswered: Vec<(String, Unanswered)>,
}

impl Evidence {
    /// Reads tables, each with the weight of its rows beside published ones. Rows that a person or physics distrusts are
    /// predicted, not learnt from.
    #[must_use]
    pub fn read<'t>(tables: impl IntoIterator<Item = (&'t MeasuredTable, f64)>, catalog: &Catalog) -> Self {
        let by_hand = distrusted_by_hand();
        let mut library = Library::new(catalog);
        let mut evidence = Self { asked: Vec::new(), trusted: Vec::new(), unanswered: Vec::new() };
        for (table, weight) in tables {
            for row in &table.rows {
                match Asked::read(table, row, &mut library) {
                    Ok(mut asked) => {
                        asked.weight = weight;
                        let by_physics = asked.question.beats_physics().next().is_none();
                        evidence.trusted.push(by_physics && !by_hand.contains_key(&asked.question.id));
                        evidence.asked.push(asked);
                    }
                    Err(reason) => evidence.unanswered.push((row.text("id").to_owned(), reason)),
                }
            }
        }
        evidence
    }

    fn learnt(&self) -> Vec<&Asked> {
        self.asked.iter().zip(&self.trusted).filter(|(_, trusted)| **trusted).map(|(asked, _)| asked).collect()
    }
}

/// Score of a target's held-out predictions, over all rows or one stratum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldOutScore {
    /// What.
    pub target: Target,
    /// `dense`, `moe`...; `None` over all.
    pub stratum: Option<&'static str>,
    /// Rows that were predicted.
    pub rows: usize,
    /// Errors.
    #[serde(flatten)]
    pub score: Score,
}

/// What a calibration finds.
pub struct Calibration {
    /// Fitted coefficients, sorted by name and scope.
    pub fitted: Vec<Fitted>,
    /// Rows that are bands, set from held-out errors.
    pub bands: Vec<Coefficient>,
    /// Rows far from everything else.
    pub distrusted: Vec<Distrusted>,
    /// The table to predict with.
    pub table: Efficiencies,
    /// Every row, predicted by a fit that never saw its group.
    pub held_out: Vec<HeldOut>,
}

/// Fits `priors` to the evidence and sets the bands.
#[must_use]
pub fn calibrate(priors: &Efficiencies, evidence: &Evidence, workers: Workers) -> Calibration {
    let FitResult { table, fitted, distrusted } = fit(priors, &evidence.learnt());
    let held_out = held_out(priors, &evidence.asked, &evidence.trusted, HoldOut::Group, PARTS, workers);
    let table = with_bands(&table, &evidence.asked, &trusted_only(&held_out, evidence), None);
    let bands = table.rows().iter().filter(|row| is_band(row)).cloned().collect();
    Calibration { fitted, bands, distrusted, table, held_out: widened(priors, evidence, held_out) }
}

fn trusted_only(held_out: &[HeldOut], evidence: &Evidence) -> Vec<HeldOut> {
    let trusted = |prediction: &&HeldOut| evidence.trusted.get(prediction.row).copied().unwrap_or(false);
    held_out.iter().filter(trusted).cloned().collect()
}

/// Predicts every row by a fit that never saw what is held out with it, with bands from the other parts' errors.
#[must_use]
pub fn cross_validate(priors: &Efficiencies, evidence: &Evidence, by: HoldOut, workers: Workers) -> Vec<HeldOut> {
    widened(priors, evidence, held_out(priors, &evidence.asked, &evidence.trusted, by, PARTS, workers))
}

fn widened(priors: &Efficiencies, evidence: &Evidence, mut held_out: Vec<HeldOut>) -> Vec<HeldOut> {
    let trusted = trusted_only(&held_out, evidence);
    for part in 0..PARTS {
        let table = with_bands(priors, &evidence.asked, &trusted, Some(part));
        for prediction in held_out.iter_mut().filter(|prediction| prediction.part == part) {
            prediction.widen(priors, &table);
        }
    }
    held_out
}

/// Scores of held-out predictions of trusted rows, by target and stratum.
#[must_use]
pub fn held_out_scores(held_out: &[HeldOut], evidence: &Evidence) -> Vec<HeldOutScore> {
    let mut groups: BTreeMap<(Target, Option<&'static str>), Vec<&Outcome>> = BTreeMap::new();
    for prediction in held_out {
        let Some(asked) = evidence.asked.get(prediction.row) else { continue };
        if evidence.trusted.get(prediction.row) == Some(&true) {
            groups.entry((prediction.target, None)).or_default().push(&prediction.outcome);
            groups.entry((prediction.target, Some(asked.question.stratum))).or_default().push(&prediction.outcome);
        }
    }
    let score = |((target, stratum), outcomes): ((Target, Option<&'static str>), Vec<&Outcome>)| {
        Some(HeldOutScore { target, stratum, rows: outcomes.len(), score: Score::of(outcomes)? })
    };
    groups.into_iter().filter_map(score).collect()
}

impl Calibration {
    /// The fitted rows as a table of efficiencies: sorted, four digits, each with its prior and the number of measured
    /// values that it bears on.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let moved = self.fitted.iter().filter(|fitted| fitted.rows > 0).map(|fitted| {
            let Fitted { coefficient, prior, rows } = fitted;
            (coefficient, format!("fitted to {rows} measured values; prior {prior}"))
        });
        let bands = self.bands.iter().map(|band| (band, "80 % of errors of groups held out".to_owned()));
        let lines: BTreeSet<[String; 13]> = moved.chain(bands).map(|(row, source)| cells(row, source)).collect();
        let mut writer = csv::Writer::from_writer(Vec::new());
        // A vector takes every write.
        let _ = writer.write_record(HEADER);
        for line in lines {
            let _ = writer.write_record(line);
        }
        writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

const HEADER: [&str; 13] = [
    "name",
    "engine",
    "architecture",
    "precision",
    "class",
    "card",
    "model",
    "low",
    "value",
    "high",
    "unit",
    "source",
    "source_date",
];

fn cells(row: &Coefficient, source: String) -> [String; 13] {
    let Coefficient { name, scope, low, value, high, unit, source_date, .. } = row;
    let Scope { engine, architecture, precision, class, card, model } = scope;
    let texts = [name, engine, architecture, precision, class, card, model].map(Clone::clone);
    let [name, engine, architecture, precision, class, card, model] = texts;
    let [low, value, high] = [low, value, high].map(f64::to_string);
    let (unit, date) = (unit.clone(), source_date.clone());
    [name, engine, architecture, precision, class, card, model, low, value, high, unit, source, date]
}
