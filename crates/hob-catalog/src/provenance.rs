//! Where a fact comes from.

use serde::Serialize;

/// The date of a row that states none.
pub(crate) const DATE_NOT_STATED: &str = "not stated";

/// How far a fact is to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Seen once, or inferred.
    Low,
    /// One source, or sources that differ.
    Medium,
    /// A datasheet or price page that agrees with a second source.
    High,
}

/// Source, date and confidence of one row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Page, file or datasheet; for a user's row, the file and line.
    pub source: String,
    /// Date of the source as the source states it (not always a calendar date: `2022 (undated page)`).
    pub date: String,
    /// How far to believe it.
    pub confidence: Confidence,
    /// Anything a reader should know beside the value.
    pub note: Option<String>,
}
