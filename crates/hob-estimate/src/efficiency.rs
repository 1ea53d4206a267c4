//! The small table of efficiencies and overheads: `data/calibration/*.csv`.
//!
//! One row is one coefficient in one scope. A lookup takes the most specific row that matches; a missing scope inherits
//! from its parent instead of failing, with the parent's wider band.

use std::collections::BTreeMap;

use hob_catalog::GpuArchitecture;
use hob_units::Quantity;
use serde::Serialize;
use thiserror::Error;

use crate::refusal::EstimateError;

/// Where a coefficient holds. Empty means everywhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
pub struct Scope {
    /// Engine or framework family (`vllm`, `megatron`).
    pub engine: String,
    /// GPU generation in lower case (`hopper`).
    pub architecture: String,
    /// Number format (`fp8`).
    pub precision: String,
    /// Operator class or anything narrower (`moe`, `attention`).
    pub class: String,
    /// Card id (`h20`): measurements of one card.
    pub card: String,
    /// Model name: measurements of one model on one card.
    pub model: String,
}

impl Scope {
    /// Everywhere.
    #[must_use]
    pub fn any() -> Self {
        Self::default()
    }
    /// Narrowed to an engine family.
    #[must_use]
    pub fn engine(mut self, engine: &str) -> Self {
        self.engine = engine.to_owned();
        self
    }
    /// Narrowed to a GPU generation.
    #[must_use]
    pub fn architecture(mut self, architecture: GpuArchitecture) -> Self {
        self.architecture = format!("{architecture:?}").to_lowercase();
        self
    }
    /// Narrowed to a number format.
    #[must_use]
    pub fn precision(mut self, precision: &str) -> Self {
        self.precision = precision.to_owned();
        self
    }
    /// Narrowed to an operator class.
    #[must_use]
    pub fn class(mut self, class: &str) -> Self {
        self.class = class.to_owned();
        self
    }

    /// Narrowed to a card.
    #[must_use]
    pub fn card(mut self, card: &str) -> Self {
        self.card = card.to_owned();
        self
    }
    /// Narrowed to a model.
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        self.model = model.to_owned();
        self
    }

    /// How many fields of this row match `asked`, or `None` when one contradicts it.
    #[must_use]
    pub fn matches(&self, asked: &Self) -> Option<u32> {
        let fields = [
            (&self.engine, &asked.engine),
            (&self.architecture, &asked.architecture),
            (&self.precision, &asked.precision),
            (&self.class, &asked.class),
            (&self.card, &asked.card),
            (&self.model, &asked.model),
        ];
        fields.iter().try_fold(0, |score, (row, asked)| match (row.is_empty(), row == asked) {
            (true, _) => Some(score),
            (false, true) => Some(score + 1),
            (false, false) => None,
        })
    }
}

/// One coefficient with its 80 % band and source.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coefficient {
    /// Name: `train.gemm_efficiency`, `serve.kernel_seconds`.
    pub name: String,
    /// Where it holds.
    pub scope: Scope,
    /// Lower end of the 80 % band.
    pub low: f64,
    /// Value.
    pub value: f64,
    /// Upper end.
    pub high: f64,
    /// Unit in words.
    pub unit: String,
    /// Paper, page or derivation.
    pub source: String,
    /// Date of the source.
    pub source_date: String,
}

/// Why the table cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("efficiency table, line {line}: {why}")]
pub struct EfficiencyError {
    line: u64,
    why: String,
}

/// The whole table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Efficiencies {
    rows: Vec<Coefficient>,
    /// Where the rows of one name lie: a search looks up the same names thousands of times.
    #[serde(skip)]
    by_name: BTreeMap<String, Vec<usize>>,
}

/// What is known before any fit, one file for each kind of estimate, each with the same header.
const PRIORS: [&str; 3] = [
    include_str!("../../../data/calibration/training.csv"),
    include_str!("../../../data/calibration/serving.csv"),
    include_str!("../../../data/calibration/media.csv"),
];

/// What `hob calibrate` moved, written by it.
const FITTED: &str = include_str!("../../../data/calibration/fitted.csv");

impl Efficiencies {
    /// What is published or derived, with the bands within which a fit may move it.
    ///
    /// # Errors
    /// Never in a released binary: a test reads the embedded tables.
    pub fn priors() -> Result<Self, EfficiencyError> {
        let mut rows = Vec::new();
        for text in PRIORS {
            rows.extend(Self::parse(text)?.rows);
        }
        Ok(Self::of(rows))
    }

    /// The table that ships with Hob: the priors under what `hob calibrate` fitted.
    ///
    /// # Errors
    /// As [`priors`](Self::priors).
    pub fn embedded() -> Result<Self, EfficiencyError> {
        Ok(Self::priors()?.overlaid(Self::parse(FITTED)?.rows))
    }

    fn of(rows: Vec<Coefficient>) -> Self {
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            by_name.entry(row.name.clone()).or_default().push(index);
        }
        Self { rows, by_name }
    }

    /// Reads a table with a header: `name,engine,architecture,precision,class,low,value,high,unit,source,source_date`, and
    /// `card` and `model` where rows are that narrow.
    ///
    /// # Errors
    /// When a row lacks a number, or its three numbers are not finite, positive and in order.
    pub fn parse(text: &str) -> Result<Self, EfficiencyError> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns: Vec<String> = match reader.headers() {
            Ok(header) => header.iter().map(str::to_owned).collect(),
            Err(error) => return Err(EfficiencyError { line: 1, why: error.to_string() }),
        };
        let mut rows = Vec::new();
        for (index, record) in reader.records().enumerate() {
            let line = index as u64 + 2;
            let fail = |why: String| EfficiencyError { line, why };
            let record = record.map_err(|error| fail(error.to_string()))?;
            let text = |name: &str| {
                let column = columns.iter().position(|column| column == name);
                column.and_then(|column| record.get(column)).map(str::to_owned).unwrap_or_default()
            };
            let number =
                |name: &str| text(name).parse::<f64>().map_err(|_| fail(format!("`{}` is not a number", text(name))));
            let (low, value, high) = (number("low")?, number("value")?, number("high")?);
            if !(low.is_finite() && high.is_finite() && 0.0 <= low && low <= value && value <= high) {
                return Err(fail(format!("{low} <= {value} <= {high} does not hold")));
            }
            let scope = Scope {
                engine: text("engine"),
                architecture: text("architecture"),
                precision: text("precision"),
                class: text("class"),
                card: text("card"),
                model: text("model"),
            };
            rows.push(Coefficient {
                name: text("name"),
                scope,
                low,
                value,
                high,
                unit: text("unit"),
                source: text("source"),
                source_date: text("source_date"),
            });
        }
        Ok(Self::of(rows))
    }

    /// With `rows` in place of those of the same name and scope, or beside them.
    #[must_use]
    pub fn overlaid(mut self, rows: impl IntoIterator<Item = Coefficient>) -> Self {
        for row in rows {
            match self.rows.iter_mut().find(|known| known.name == row.name && known.scope == row.scope) {
                Some(known) => *known = row,
                None => self.rows.push(row),
            }
        }
        Self::of(self.rows)
    }

    /// Sets the value of a row, by its place in [`rows`](Self::rows), and moves its band along.
    pub fn set(&mut self, index: usize, value: f64) {
        if let Some(row) = self.rows.get_mut(index) {
            let by = if row.value > 0.0 { value / row.value } else { 1.0 };
            (row.low, row.value, row.high) = (row.low * by, value, row.high * by);
        }
    }

    /// The most specific row of `name` that does not contradict `scope`; ties go to the first.
    #[must_use]
    pub fn find(&self, name: &str, scope: &Scope) -> Option<&Coefficient> {
        let mut best: Option<(u32, &Coefficient)> = None;
        let of_name = self.by_name.get(name).into_iter().flatten();
        for row in of_name.filter_map(|index| self.rows.get(*index)) {
            if let Some(score) = row.scope.matches(scope)
                && best.is_none_or(|(previous, _)| score > previous)
            {
                best = Some((score, row));
            }
        }
        best.map(|(_, row)| row)
    }

    /// The most specific row of `name`.
    ///
    /// # Errors
    /// When the table has no row of that name that covers `scope`: nothing is guessed.
    pub fn get(&self, name: &'static str, scope: &Scope) -> Result<&Coefficient, EstimateError> {
        self.find(name, scope).ok_or(EstimateError::MissingCoefficient { name })
    }

    /// All rows, in the file's order.
    #[must_use]
    pub fn rows(&self) -> &[Coefficient] {
        &self.rows
    }
}

impl Coefficient {
    /// The value in a unit of the caller's.
    #[must_use]
    pub fn quantity<Q: Quantity>(&self) -> Q {
        Q::from_base(self.value)
    }
}
