//! Ids to words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fluent_bundle::{FluentArgs, FluentBundle, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

use crate::message::{Argument, Language, Message};

const EN: &[&str] = &[
    include_str!("../locales/en/catalog.ftl"),
    include_str!("../locales/en/cli.ftl"),
    include_str!("../locales/en/estimate.ftl"),
    include_str!("../locales/en/evaluate.ftl"),
    include_str!("../locales/en/explain.ftl"),
    include_str!("../locales/en/inspect.ftl"),
    include_str!("../locales/en/plan.ftl"),
    include_str!("../locales/en/probe.ftl"),
    include_str!("../locales/en/report.ftl"),
    include_str!("../locales/en/workload.ftl"),
    include_str!("../locales/en/new.ftl"),
];
const ZH: &[&str] = &[
    include_str!("../locales/zh/catalog.ftl"),
    include_str!("../locales/zh/cli.ftl"),
    include_str!("../locales/zh/estimate.ftl"),
    include_str!("../locales/zh/evaluate.ftl"),
    include_str!("../locales/zh/explain.ftl"),
    include_str!("../locales/zh/inspect.ftl"),
    include_str!("../locales/zh/plan.ftl"),
    include_str!("../locales/zh/probe.ftl"),
    include_str!("../locales/zh/report.ftl"),
    include_str!("../locales/zh/workload.ftl"),
    include_str!("../locales/zh/new.ftl"),
];

/// Tag of a language and its files.
fn files(language: Language) -> (&'static str, &'static [&'static str]) {
    match language {
        Language::En => ("en", EN),
        Language::Zh => ("zh-Hans", ZH),
    }
}

/// The sentences of one language.
pub struct Catalogue {
    language: Language,
    bundle: FluentBundle<FluentResource>,
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalogue").field("language", &self.language).finish_non_exhaustive()
    }
}

impl Catalogue {
    /// Loads one language. A file that does not parse keeps the sentences that do; the tests refuse such a file.
    #[must_use]
    pub fn new(language: Language) -> Self {
        let (tag, files) = files(language);
        let identifier: LanguageIdentifier = tag.parse().unwrap_or_default();
        let mut bundle = FluentBundle::new(vec![identifier]);
        // Without this, figures are wrapped in invisible direction marks that break alignment and copying.
        bundle.set_use_isolating(false);
        for text in files {
            let resource = FluentResource::try_new((*text).to_owned()).unwrap_or_else(|(partial, _)| partial);
            bundle.add_resource_overriding(resource);
        }
        Self { language, bundle }
    }

    /// The language of these sentences.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// Whether a sentence of this id exists.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.bundle.get_message(id).is_some_and(|message| message.value().is_some())
    }

    /// The words of a message. An id that the catalogue lacks is shown as `{id}`, which a test of every id prevents.
    #[must_use]
    pub fn text(&self, message: &Message) -> String {
        let mut args = FluentArgs::new();
        for (name, value) in &message.args {
            let value = match value {
                Argument::Text(text) => FluentValue::from(text.as_str()),
                Argument::Message(inner) => FluentValue::from(self.text(inner)),
            };
            args.set(name.as_str(), value);
        }
        let pattern = self.bundle.get_message(&message.id).and_then(|found| found.value());
        match pattern {
            Some(pattern) => self.bundle.format_pattern(pattern, Some(&args), &mut Vec::new()).into_owned(),
            None => format!("{{{}}}", message.id),
        }
    }

    /// Every id with the variables of its words, for the tests of rooms that name ids.
    #[must_use]
    pub fn sentences(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut current = String::new();
        for line in files(self.language).1.iter().flat_map(|text| text.lines()) {
            if let Some((id, _)) = line.split_once(" =")
                && line.starts_with(|c: char| c.is_ascii_lowercase())
            {
                current = id.to_owned();
            }
            let is_name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            let variables = line.split("{ $").skip(1).map(|piece| piece.chars().take_while(is_name).collect());
            all.entry(current.clone()).or_default().extend(variables);
        }
        all.remove("");
        all
    }

    /// The words of a sentence without variables.
    #[must_use]
    pub fn get(&self, id: &str) -> String {
        self.text(&Message::new(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_say_the_same_things() {
        let [en, zh] = Language::ALL.map(|language| Catalogue::new(language).sentences());
        assert!(!en.is_empty());
        for (id, variables) in &en {
            assert_eq!(zh.get(id), Some(variables), "`{id}` in zh");
        }
        assert_eq!(en.len(), zh.len());
    }

    #[test]
    fn no_id_is_there_twice() {
        for files in [EN, ZH] {
            let mut seen = BTreeSet::new();
            let is_id = |line: &&str| line.starts_with(|c: char| c.is_ascii_lowercase());
            for line in files.iter().flat_map(|text| text.lines()).filter(is_id) {
                let id = line.split(" =").next().unwrap();
                assert!(seen.insert(id), "`{id}` is there twice");
            }
        }
    }

    #[test]
    fn every_file_parses() {
        for text in EN.iter().chain(ZH) {
            assert!(FluentResource::try_new((*text).to_owned()).is_ok());
        }
    }

    #[test]
    fn variables_are_filled_and_missing_ids_show() {
        let catalogue = Catalogue::new(Language::En);
        let message = Message::new("inspect-unknown-count").with("count", 3);
        assert!(catalogue.text(&message).contains('3'));
        assert_eq!(catalogue.get("no-such-id"), "{no-such-id}");
    }
}
