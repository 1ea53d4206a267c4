//! Tables of measured rows, as text with a header that tells what was measured.

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

/// More rows than any table of measurements has; a longer file is refused, not read for minutes.
const ROWS_MAX: usize = 200_000;

/// What a table measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// Peak memory of training runs.
    TrainMemory,
    /// Speed of training runs.
    TrainThroughput,
    /// Speed and latency of inference.
    InferThroughput,
    /// Memory of inference.
    InferMemory,
}

impl std::fmt::Display for TableKind {
    /// `train_memory`, as the table's file is called.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TrainMemory => "train_memory",
            Self::TrainThroughput => "train_throughput",
            Self::InferThroughput => "infer_throughput",
            Self::InferMemory => "infer_memory",
        })
    }
}

impl TableKind {
    /// Every kind with a column that only it has.
    const MARKS: [(Self, &'static str); 4] = [
        (Self::TrainMemory, "peak_gib"),
        (Self::TrainThroughput, "tokens_per_s_per_gpu"),
        (Self::InferThroughput, "tpot_ms_p50"),
        (Self::InferMemory, "weights_gib"),
    ];
}

/// Why a table cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TableError {
    /// No column tells the kind.
    #[error("no column tells what was measured; a table of measurements has one of {known}", known = marks())]
    UnknownKind,
    /// A column without which no row can be asked for.
    #[error("the header has no column `{0}`")]
    MissingColumn(&'static str),
    /// Broken quoting, a row of another length, or text that is not UTF-8.
    #[error("line {line}: {why}")]
    Malformed {
        /// Line in the file, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Too long.
    #[error("more than {ROWS_MAX} rows")]
    TooLong,
}

fn marks() -> String {
    TableKind::MARKS.map(|(_, column)| format!("`{column}`")).join(", ")
}

/// Columns that every kind needs.
const REQUIRED: [&str; 3] = ["id", "gpu_class", "model"];

/// A table of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredTable {
    /// What it measures.
    pub kind: TableKind,
    /// Its columns, in the file's order.
    pub columns: Vec<String>,
    /// Its rows, in the file's order.
    pub rows: Vec<Row>,
}

/// One measured row. A column that is absent reads as empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// Line in the file, from 1.
    pub line: u64,
    cells: BTreeMap<String, String>,
}

impl MeasuredTable {
    /// Reads CSV text with a header.
    ///
    /// # Errors
    /// When the header names no kind or lacks a column, or a row is malformed.
    pub fn read(text: &str) -> Result<Self, TableError> {
        let mut reader = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        let columns: Vec<String> =
            reader.headers().map_err(|error| malformed(&error, 1))?.iter().map(|name| name.trim().to_owned()).collect();
        let has = |column: &str| columns.iter().any(|name| name == column);
        let kind = TableKind::MARKS
            .iter()
            .find(|(_, column)| has(column))
            .map(|(kind, _)| *kind)
            .ok_or(TableError::UnknownKind)?;
        if let Some(missing) = REQUIRED.into_iter().find(|column| !has(column)) {
            return Err(TableError::MissingColumn(missing));
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| malformed(&error, 0))?;
            if rows.len() == ROWS_MAX {
                return Err(TableError::TooLong);
            }
            let line = record.position().map_or(0, csv::Position::line);
            let cells = columns.iter().zip(&record).filter(|(_, cell)| !cell.trim().is_empty());
            let cells = cells.map(|(column, cell)| (column.clone(), cell.trim().to_owned())).collect();
            rows.push(Row { line, cells });
        }
        Ok(Self { kind, columns, rows })
    }
}

fn malformed(error: &csv::Error, line: u64) -> TableError {
    TableError::Malformed { line: error.position().map_or(line, csv::Position::line), why: error.to_string() }
}

impl Row {
    /// The cell of `column`; empty when absent.
    #[must_use]
    pub fn text(&self, column: &str) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }

    /// The cell as a number; `None` when it is empty, no number, or not finite.
    #[must_use]
    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// The cell as a number above zero: a measurement of nothing says nothing.
    #[must_use]
    pub fn positive(&self, column: &str) -> Option<f64> {
        self.number(column).filter(|value| *value > 0.0)
    }

    /// The cell as a count of at least one.
    #[must_use]
    pub fn count(&self, column: &str) -> Option<u32> {
        self.text(column).parse().ok().filter(|count| *count > 0)
    }

    /// Whether the note holds `word`.
    #[must_use]
    pub fn says(&self, word: &str) -> bool {
        self.text("note").contains(word)
    }

    /// The count after `name=` in the note.
    #[must_use]
    pub fn noted(&self, name: &str) -> Option<u32> {
        let (_, rest) = self.text("note").split_once(&format!("{name}="))?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }
}
