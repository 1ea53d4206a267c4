//! What can be wrong with a catalog file or with a name, in words that say where and what was expected.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

use crate::expected::Expected;

/// Row errors that are kept per file; the rest are counted. Twenty show the pattern of a broken file.
pub const ROW_ERRORS_KEPT_MAX: usize = 20;

/// Characters of a wrong value that are repeated to the user.
const GOT_CHARS_MAX: usize = 80;

/// One cell that is not what its column holds.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize)]
#[error("{file}:{line}: {column}: `{got}` is not {expected}")]
pub struct RowError {
    /// File as the user named it, or the embedded file's path in `data/catalog/`.
    pub file: String,
    /// Line in that file, counted from 1.
    pub line: u64,
    /// Column name.
    pub column: String,
    /// The value, cut to a bounded length.
    pub got: String,
    /// What was expected.
    pub expected: Expected,
    /// Names that may have been meant, best first; at most three.
    pub did_you_mean: Box<[String]>,
}

impl RowError {
    pub(crate) fn new(file: &str, line: u64, column: &str, got: &str, expected: Expected) -> Self {
        let got = if got.chars().count() > GOT_CHARS_MAX {
            got.chars().take(GOT_CHARS_MAX).chain("...".chars()).collect()
        } else {
            got.to_owned()
        };
        Self { file: file.to_owned(), line, column: column.to_owned(), got, expected, did_you_mean: Box::default() }
    }

    pub(crate) fn meant(mut self, names: Vec<String>) -> Self {
        self.did_you_mean = names.into_boxed_slice();
        self
    }
}

/// What a name was looked up as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NameKind {
    /// A GPU or a fraction of one.
    Gpu,
    /// An instance type.
    Instance,
    /// A cloud.
    Cloud,
    /// A region.
    Region,
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Gpu => "GPU",
            Self::Instance => "instance type",
            Self::Cloud => "cloud",
            Self::Region => "region",
        })
    }
}

/// A name that the catalog does not know.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize)]
#[error("the catalog knows no {kind} `{name}`")]
pub struct UnknownName {
    /// What it was looked up as.
    pub kind: NameKind,
    /// The name as given, cut to a bounded length.
    pub name: String,
    /// Nearest known names, best first; at most three.
    pub did_you_mean: Vec<String>,
}

impl UnknownName {
    pub(crate) fn new(kind: NameKind, name: &str, did_you_mean: Vec<String>) -> Self {
        Self { kind, name: name.chars().take(GOT_CHARS_MAX).collect(), did_you_mean }
    }

    /// "did you mean `a10` or `a100-sxm-40`?", or `None` when nothing is near.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        did_you_mean(&self.did_you_mean)
    }
}

fn did_you_mean(names: &[String]) -> Option<String> {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

/// Why a catalog file was refused. Nothing of a refused file is used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CatalogError {
    /// Cells that are not what their columns hold.
    #[error("{file}: {count} wrong value(s)\n{}", joined(.errors))]
    Rows {
        /// The file.
        file: String,
        /// How many in all.
        count: usize,
        /// The first of them, at most [`ROW_ERRORS_KEPT_MAX`].
        errors: Vec<RowError>,
    },
    /// A column that the form needs is absent.
    #[error("{file}:1: there is no column `{column}`; found: {found}")]
    MissingColumn {
        /// The file.
        file: String,
        /// The column (alternatives joined by `|`).
        column: String,
        /// The header as it is.
        found: String,
    },
    /// Nothing but white space, or a header without rows.
    #[error("{file}: there are no rows")]
    Empty {
        /// The file.
        file: String,
    },
    /// Larger than the bound.
    #[error("{file}: larger than {limit_mib} MiB")]
    TooLarge {
        /// The file.
        file: String,
        /// The bound in MiB.
        limit_mib: u64,
    },
    /// More rows than the bound.
    #[error("{file}: more than {limit} rows")]
    TooManyRows {
        /// The file.
        file: String,
        /// The bound.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("{file}:{line}: not UTF-8 text")]
    NotText {
        /// The file.
        file: String,
        /// Line of the first wrong byte.
        line: u64,
    },
    /// The file's form cannot be told from its columns.
    #[error("{file}:1: no known form has these columns: {found}")]
    UnknownForm {
        /// The file.
        file: String,
        /// The header as it is.
        found: String,
    },
    /// The operating system refused.
    #[error("{path}: {why}")]
    Io {
        /// The path.
        path: String,
        /// The system's words.
        why: String,
    },
}

fn joined(errors: &[RowError]) -> String {
    let lines: Vec<String> = errors
        .iter()
        .map(|error| match did_you_mean(&error.did_you_mean) {
            Some(hint) => format!("  {error} ({hint})"),
            None => format!("  {error}"),
        })
        .collect();
    lines.join("\n")
}

impl CatalogError {
    /// Stable code for scripts and the book.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Rows { .. } => "catalog-rows",
            Self::MissingColumn { .. } => "catalog-missing-column",
            Self::Empty { .. } => "catalog-empty",
            Self::TooLarge { .. } => "catalog-too-large",
            Self::TooManyRows { .. } => "catalog-too-many-rows",
            Self::NotText { .. } => "catalog-not-text",
            Self::UnknownForm { .. } => "catalog-unknown-form",
            Self::Io { .. } => "catalog-io",
        }
    }
}

/// Row errors of one file while it is read.
#[derive(Debug, Default)]
pub(crate) struct RowErrors {
    kept: Vec<RowError>,
    count: usize,
}

impl RowErrors {
    pub(crate) fn push(&mut self, error: RowError) {
        self.count += 1;
        if self.kept.len() < ROW_ERRORS_KEPT_MAX {
            self.kept.push(error);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Keeps a good value; notes a bad one.
    pub(crate) fn take<T>(&mut self, result: Result<T, RowError>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn finish<T>(self, file: &str, value: T) -> Result<T, CatalogError> {
        if self.count == 0 {
            Ok(value)
        } else {
            Err(CatalogError::Rows { file: file.to_owned(), count: self.count, errors: self.kept })
        }
    }
}
