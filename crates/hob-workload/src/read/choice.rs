//! One word out of a list.

use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::de::DeValue;

use crate::closest::closest;
use crate::problem::Code;
use hob_text::Message;

use super::{At, Read, Reader};

/// A list of words that a field takes.
pub(crate) trait Choices {
    type Value: Clone + std::fmt::Debug + 'static;
    /// Words as they are offered, with what they mean.
    const WORDS: &'static [(&'static str, Self::Value)];
    /// Other spellings that are read too.
    const ALIASES: &'static [(&'static str, &'static str)] = &[];

    /// What a word means, in any letter case.
    fn of_word(word: &str) -> Option<Self::Value> {
        let word = word.trim().to_lowercase();
        let alias = Self::ALIASES.iter().find(|(alias, _)| *alias == word).map(|(_, word)| *word);
        let word = alias.unwrap_or(&word);
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| value.clone())
    }

    /// What to do for a word that is known and yet wrong here.
    fn instead(_: &str) -> Option<Message> {
        None
    }

    /// The words, as a sentence shows them.
    fn listed() -> String {
        Self::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
    }
}

/// A chosen word's meaning.
pub(crate) struct Choice<C: Choices> {
    pub value: C::Value,
    list: PhantomData<C>,
}

impl<C: Choices> Clone for Choice<C> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), list: PhantomData }
    }
}

impl<C: Choices> std::fmt::Debug for Choice<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}

impl<C: Choices> JsonSchema for Choice<C> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Choice".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // Aliases are read, but an editor and the book offer one word for one meaning.
        let offered: Vec<_> = C::WORDS.iter().map(|(word, _)| *word).collect();
        let aliases = C::ALIASES.iter().map(|(alias, _)| *alias);
        let taken: Vec<_> = offered.iter().copied().chain(aliases).collect();
        json_schema!({ "type": "string", "enum": taken, "examples": offered })
    }
}

impl<C: Choices> Read for Choice<C> {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self> {
        let expected = Message::new("workload-expected-word").with("words", C::listed());
        let DeValue::String(text) = at.value else { return reader.wrong_form(at, expected) };
        if let Some(value) = C::of_word(text) {
            return Some(Self { value, list: PhantomData });
        }
        let known = C::WORDS.iter().map(|(word, _)| *word).chain(C::ALIASES.iter().map(|(alias, _)| *alias));
        let near = closest(text, known);
        let hint = C::instead(text);
        let hint =
            hint.or_else(|| near.map(|near| Message::new("workload-hint-did-you-mean").with("suggestion", near)));
        reader.report(at.problem(Code::UnknownWord).with("got", text.as_ref()).expected(expected).hint(hint));
        None
    }
}
