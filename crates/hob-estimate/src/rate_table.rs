//! Reading the fact tables under `data/media/` and `data/pipeline/`, and finding words in them.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use hob_catalog::{Confidence, Provenance};
use hob_units::{Interval, Quantity};
use thiserror::Error;

use crate::refusal::EstimateError;

/// Why a table of rates cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {why}")]
pub struct RateTableError {
    file: &'static str,
    line: u64,
    why: String,
}

/// One line, addressed by column name.
pub(crate) struct Row<'t> {
    file: &'static str,
    line: u64,
    header: &'t csv::StringRecord,
    record: &'t csv::StringRecord,
}

impl Row<'_> {
    /// The cell, or nothing when the column is absent.
    pub(crate) fn text(&self, column: &str) -> &str {
        let place = self.header.iter().position(|name| name == column);
        place.and_then(|place| self.record.get(place)).unwrap_or("").trim()
    }

    /// The cell as a positive number; `None` when it is empty.
    pub(crate) fn number(&self, column: &str) -> Result<Option<f64>, RateTableError> {
        match self.text(column) {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(number) if number.is_finite() && number > 0.0 => Ok(Some(number)),
                _ => Err(self.error(format!("{column}: `{text}` is not a positive number"))),
            },
        }
    }

    /// Three cells as an 80 % interval.
    pub(crate) fn interval<Q: Quantity>(&self, [low, mid, high]: [&str; 3]) -> Result<Interval<Q>, RateTableError> {
        let cell = |column| self.number(column)?.ok_or_else(|| self.error(format!("{column} is empty")));
        let [low, mid, high] = [cell(low)?, cell(mid)?, cell(high)?].map(Q::from_base);
        Interval::new(low, mid, high).map_err(|error| self.error(error.to_string()))
    }

    /// Source, date, confidence and note.
    pub(crate) fn provenance(&self) -> Result<Provenance, RateTableError> {
        let confidence = match self.text("confidence") {
            "high" => Confidence::High,
            "medium" => Confidence::Medium,
            "low" => Confidence::Low,
            other => return Err(self.error(format!("confidence: `{other}` is not high, medium or low"))),
        };
        let source = self.text("source");
        if source.is_empty() {
            return Err(self.error("source is empty".to_owned()));
        }
        let note = Some(self.text("note").to_owned()).filter(|note| !note.is_empty());
        Ok(Provenance { source: source.to_owned(), date: self.text("source_date").to_owned(), confidence, note })
    }

    /// An error at this line.
    pub(crate) fn error(&self, why: String) -> RateTableError {
        RateTableError { file: self.file, line: self.line, why }
    }
}

/// All rows of a table with a header line.
pub(crate) fn read<T>(
    (file, text): (&'static str, &str),
    row: impl Fn(&Row<'_>) -> Result<T, RateTableError>,
) -> Result<Vec<T>, RateTableError> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let fail = |line, error: csv::Error| RateTableError { file, line, why: error.to_string() };
    let header = reader.headers().map_err(|error| fail(1, error))?.clone();
    let mut rows = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let line = index as u64 + 2;
        let record = record.map_err(|error| fail(line, error))?;
        rows.push(row(&Row { file, line, header: &header, record: &record })?);
    }
    Ok(rows)
}

/// Characters of an unknown word that are repeated to the user; longer ones are no slip of the hand.
const WORD_CHARS_MAX: usize = 64;

/// "Not known", with what is known and the nearest of it.
pub(crate) fn unknown_word<'k>(
    what: &'static str,
    name: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> EstimateError {
    let known: BTreeSet<&str> = known.into_iter().collect();
    let name: String = name.chars().take(WORD_CHARS_MAX).collect();
    let wanted = name.to_lowercase();
    let nearest = known.iter().map(|word| (strsim::damerau_levenshtein(&wanted, &word.to_lowercase()), *word)).min();
    let slip_max = (wanted.chars().count() / 3).max(1);
    let near = nearest.filter(|(distance, _)| *distance <= slip_max).map(|(_, word)| word.to_owned());
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    match near {
        Some(near) => EstimateError::MisspeltWord { what, name, known, near },
        None => EstimateError::UnknownWord { what, name, known },
    }
}

/// Checks that a number from outside lies in `bounds`.
pub(crate) fn in_range(field: &'static str, value: f64, bounds: RangeInclusive<f64>) -> Result<f64, EstimateError> {
    if bounds.contains(&value) {
        return Ok(value);
    }
    let [value, low, high] = [value, *bounds.start(), *bounds.end()].map(|number| number.to_string());
    Err(EstimateError::OutOfRange { field, value, low, high })
}

/// `source (date)` for a formula.
pub(crate) fn cite(provenance: &Provenance) -> String {
    if provenance.date.is_empty() {
        provenance.source.clone()
    } else {
        format!("{} ({})", provenance.source, provenance.date)
    }
}
