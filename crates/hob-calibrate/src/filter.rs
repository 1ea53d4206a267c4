//! Choosing rows: `COLUMN=GLOB`.

use std::str::FromStr;

use thiserror::Error;
use wildmatch::WildMatch;

use crate::table::{MeasuredTable, Row};

/// How like a column's name a word must be to be offered instead.
const SIMILAR_MIN: f64 = 0.75;

/// Rows whose cell of a column matches a pattern with `*` and `?`.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    column: String,
    pattern: WildMatch,
}

/// A filter that names no column.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not COLUMN=GLOB, such as `quality=A` or `scenario=aggregated*`")]
pub struct FilterError(
    /// As it was given.
    pub String,
);

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

/// A filter of a column that the table does not have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the table has no column `{column}`")]
pub struct UnknownColumn {
    /// As the filter writes it.
    pub column: String,
    /// Columns with a name like it, the nearest first.
    pub similar: Vec<String>,
}

impl MeasuredTable {
    /// The rows that every filter keeps.
    ///
    /// # Errors
    /// When a filter names a column that the table lacks.
    pub fn keep(&mut self, filters: &[Filter]) -> Result<(), UnknownColumn> {
        if let Some(filter) = filters.iter().find(|filter| !self.columns.contains(&filter.column)) {
            let near = |name: &String| strsim::jaro_winkler(name, &filter.column);
            let mut similar: Vec<String> =
                self.columns.iter().filter(|name| near(name) >= SIMILAR_MIN).cloned().collect();
            similar.sort_by(|a, b| near(b).total_cmp(&near(a)));
            similar.truncate(3);
            return Err(UnknownColumn { column: filter.column.clone(), similar });
        }
        self.rows.retain(|row| filters.iter().all(|filter| filter.keeps(row)));
        Ok(())
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
