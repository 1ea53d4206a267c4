//! Choosing rows: `COLUMN=GLOB`.

use std::str::FromStr;

use thiserror::Error;
use wildmatch::WildMatch;

use crate::table::Row;

/// Rows whose cell of a column matches a pattern with `*` and `?`.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    column: String,
    pattern: WildMatch,
}

/// A filter that names no column.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not COLUMN=GLOB, such as `quality=A` or `scenario=aggregated*`")]
pub struct FilterError(String);

impl Filter {
    /// The column that it reads.
    #[must_use]
    pub fn column(&self) -> &str {
        &self.column
    }

    /// Whether the row is kept.
    #[must_use]
    pub fn keeps(&self, row: &Row) -> bool {
        self.pattern.matches(row.text(&self.column))
    }
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (column, pattern) = text.split_once('=').ok_or_else(|| FilterError(text.to_owned()))?;
        match column.trim() {
            "" => Err(FilterError(text.to_owned())),
            column => Ok(Self { column: column.to_owned(), pattern: WildMatch::new(pattern.trim()) }),
        }
    }
}
