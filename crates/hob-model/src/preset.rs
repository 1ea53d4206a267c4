//! Models that ship with Hob, found by the names that people use for them. Reads no file.

use std::sync::LazyLock;

use serde_json::Value;

use crate::config::graph_from_config;
use crate::error::ModelError;
use crate::graph::{ModelGraph, Origin};

/// Hub id and config text, in the order of `data/models/index.csv`.
const CONFIGS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// Words of a name that do not change the architecture: fine-tunes keep their base's shapes.
const FILLERS: [&str; 14] = [
    "base",
    "instruct",
    "chat",
    "it",
    "hf",
    "meta",
    "v",
    "preview",
    "diffusers",
    "sft",
    "dpo",
    "rlhf",
    "thinking",
    "uncased",
];
/// Short names that share no word with the hub id.
const NICKNAMES: [(&str, &str); 6] = [
    ("sdxl", "stabilityai/stable-diffusion-xl-base-1.0"),
    ("sd1.5", "stable-diffusion-v1-5/stable-diffusion-v1-5"),
    ("sd15", "stable-diffusion-v1-5/stable-diffusion-v1-5"),
    ("sd3", "stabilityai/stable-diffusion-3-medium-diffusers"),
    ("sd3.5", "stabilityai/stable-diffusion-3.5-large"),
    ("kimi-k2", "moonshotai/Kimi-K2-Instruct"),
];
/// A name longer than this is no model's name, and is not compared.
const NAME_MAX: usize = 200;
/// Names this alike (Jaro-Winkler, 1 = equal) are suggested.
const SIMILAR_MIN: f64 = 0.75;
const SIMILAR_SHOWN: usize = 3;

/// A model that ships with Hob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Id on the Hugging Face hub.
    pub hub_id: &'static str,
    /// Its `config.json`, cut to the keys that bear on size.
    pub config: &'static str,
}

impl Preset {
    /// The operator graph.
    ///
    /// # Errors
    /// None in practice: a test reads every preset.
    pub fn graph(&self) -> Result<ModelGraph, ModelError> {
        let value: Value = serde_json::from_str(self.config).map_err(|error| ModelError::Malformed {
            path: self.hub_id.to_owned(),
            format: "config.json",
            why: error.to_string(),
        })?;
        let mut graph = graph_from_config(self.hub_id, self.hub_id, &value)?;
        graph.origin = Origin::Preset;
        Ok(graph)
    }
}

/// Hub ids of all presets.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    CONFIGS.iter().map(|(hub_id, _)| *hub_id)
}

/// The preset that `name` means: a hub id or its last part, in any case, with `-`, `_`, `:` or blanks, with or without
/// words such as `instruct`. `None` when nothing or several different models fit.
#[must_use]
pub fn preset(name: &str) -> Option<Preset> {
    if name.len() > NAME_MAX {
        return None;
    }
    let wanted = name.trim();
    if let Some((_, hub_id)) = NICKNAMES.iter().find(|(nickname, _)| nickname.eq_ignore_ascii_case(wanted)) {
        return find(|known| known.hub_id == *hub_id);
    }
    let words = words(wanted);
    let is_named = words.iter().any(|word| word.starts_with(char::is_alphabetic));
    if !is_named {
        return None;
    }
    let plain = without_fillers(&words);
    find(|known| known.hub_id.eq_ignore_ascii_case(wanted))
        .or_else(|| find(|known| known.words == words))
        .or_else(|| find(|known| known.plain == plain))
        .or_else(|| find(|known| is_version_of(&known.plain, &plain)))
        .or_else(|| only(|known| is_within(&plain, &known.plain)))
}

/// Presets whose names are near `name`, best first, for "did you mean".
#[must_use]
pub fn similar_presets(name: &str) -> Vec<String> {
    let wanted: String = basename(name).chars().take(NAME_MAX).collect::<String>().to_lowercase();
    let mut scored: Vec<(f64, &str)> = preset_names()
        .map(|hub_id| (strsim::jaro_winkler(&wanted, &basename(hub_id).to_lowercase()), hub_id))
        .filter(|(score, _)| *score >= SIMILAR_MIN)
        .collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
    scored.into_iter().take(SIMILAR_SHOWN).map(|(_, hub_id)| hub_id.to_owned()).collect()
}

/// A preset with its name in words.
struct Known {
    hub_id: &'static str,
    config: &'static str,
    words: Vec<String>,
    plain: Vec<String>,
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    CONFIGS
        .iter()
        .map(|(hub_id, config)| {
            let words = words(hub_id);
            Known { hub_id, config, plain: without_fillers(&words), words }
        })
        .collect()
});

impl Known {
    const fn preset(&self) -> Preset {
        Preset { hub_id: self.hub_id, config: self.config }
    }
}

fn find(fits: impl Fn(&Known) -> bool) -> Option<Preset> {
    // The shortest name is the base model of those that fit.
    KNOWN.iter().filter(|known| fits(known)).min_by_key(|known| known.words.len()).map(Known::preset)
}

fn only(fits: impl Fn(&Known) -> bool) -> Option<Preset> {
    let mut fitting = KNOWN.iter().filter(|known| fits(known));
    let first = fitting.next()?;
    fitting.next().is_none().then(|| first.preset())
}

fn basename(name: &str) -> &str {
    name.trim().trim_end_matches('/').rsplit('/').next().unwrap_or(name)
}

/// The words of a name: split at separators and between a family's letters and its version, in lower case.
/// `Llama-2-7b` and `llama2:7B` both give `llama 2 7b`; a size such as `a22b` or `8x7b` stays whole.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut characters = basename(name).chars().flat_map(char::to_lowercase).peekable();
    while let Some(character) = characters.next() {
        let next_is_digit = characters.peek().is_some_and(char::is_ascii_digit);
        let is_decimal_point = character == '.' && next_is_digit && word.ends_with(|c: char| c.is_ascii_digit());
        if !character.is_alphanumeric() && !is_decimal_point {
            words.push(std::mem::take(&mut word));
            continue;
        }
        let starts_version = character.is_ascii_digit() && !word.is_empty() && word.chars().all(char::is_alphabetic);
        if starts_version {
            words.push(std::mem::take(&mut word));
        }
        word.push(character);
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn without_fillers(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| !FILLERS.contains(&word.as_str())).cloned().collect()
}

/// Whether `known` is `wanted` with a version or date more or fewer at its end: `mistral-7b` for `Mistral-7B-v0.1`,
/// `deepseek-v3-0324` for `DeepSeek-V3`.
fn is_version_of(known: &[String], wanted: &[String]) -> bool {
    let rest = match (known.strip_prefix(wanted), wanted.strip_prefix(known)) {
        (Some(rest), _) => rest,
        // More at the end of what was asked for must be a date: `gemma-2` is not `gemma`.
        (None, Some(rest)) => return rest.iter().all(|word| word.len() == 4 && word.parse::<u32>().is_ok()),
        (None, None) => return false,
    };
    // `0.1` and `4k` are versions; `8b` is a size, and another model.
    wanted.len() > 1 && rest.iter().all(|word| word.strip_suffix('k').unwrap_or(word).parse::<f64>().is_ok())
}

/// Whether all words of `wanted` occur in `known` in the same order, the first one first.
fn is_within(wanted: &[String], known: &[String]) -> bool {
    if wanted.len() < 2 || wanted.first() != known.first() {
        return false;
    }
    let mut rest = known.iter();
    wanted.iter().all(|word| rest.any(|known| known == word))
}

#[cfg(test)]
#[path = "preset_tests.rs"]
mod tests;
