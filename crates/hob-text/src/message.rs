//! A sentence that is not yet words: an id and its figures.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::catalogue::Catalogue;

/// A language of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, serde::Serialize)]
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

/// What stands in the place of a variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(untagged)]
pub enum Argument {
    /// A figure or a name, already printed: units and figures read the same in every language.
    Text(String),
    /// Words of their own.
    Message(Message),
}

impl Argument {
    /// The figure or name; `None` for words.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Message(_) => None,
        }
    }
}

/// A sentence by id, with its variables.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// Id in the catalogue, stable: `reject-memory`.
    pub id: String,
    /// Variables by name.
    pub args: BTreeMap<String, Argument>,
}

impl Message {
    /// A sentence without variables.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), args: BTreeMap::new() }
    }

    /// The same sentence with one more variable.
    #[must_use]
    pub fn with(self, name: &str, value: impl Display) -> Self {
        self.argument(name, Argument::Text(value.to_string()))
    }

    /// The same sentence with words of their own in it.
    #[must_use]
    pub fn with_message(self, name: &str, words: Message) -> Self {
        self.argument(name, Argument::Message(words))
    }

    fn argument(mut self, name: &str, value: Argument) -> Self {
        self.args.insert(name.to_owned(), value);
        self
    }
}

thread_local! {
    /// The English words, loaded once: a plan has hundreds of sentences, and a catalogue cannot be shared by threads.
    static ENGLISH: Catalogue = Catalogue::new(Language::En);
}

impl Display for Message {
    /// In English, for documents and logs; the printer says it in the user's language.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&ENGLISH.with(|english| english.text(self)))
    }
}

impl Serialize for Message {
    /// As a document: the id, the variables, and the English words.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Message", 3)?;
        fields.serialize_field("id", &self.id)?;
        fields.serialize_field("args", &self.args)?;
        fields.serialize_field("text", &self.to_string())?;
        fields.end()
    }
}
