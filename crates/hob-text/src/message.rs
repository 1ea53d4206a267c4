//! A sentence that is not yet words: an id and its figures.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Serialize;

/// A language of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Simplified Chinese.
    Zh,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::En, Self::Zh];

    /// From a locale name (`zh_CN.UTF-8`, `zh-Hans`, `en`); anything that is not Chinese is English.
    #[must_use]
    pub fn of_locale(locale: &str) -> Self {
        if locale.to_ascii_lowercase().starts_with("zh") { Self::Zh } else { Self::En }
    }
}

/// A sentence by id, with its variables already printed (units and figures read the same in every language).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Message {
    /// Id in the catalogue, stable: `reject-memory`.
    pub id: String,
    /// Variables by name.
    pub args: BTreeMap<String, String>,
}

impl Message {
    /// A sentence without variables.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), args: BTreeMap::new() }
    }

    /// The same sentence with one more variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Display) -> Self {
        self.args.insert(name.to_owned(), value.to_string());
        self
    }
}
