//! The kinds of work, and which keys belong to which.

use std::fmt;

/// The kind that a file states in `kind = "..."`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // The names say it.
pub enum Kind {
    Train,
    Serve,
    Batch,
    Transcode,
    Render,
}

impl Kind {
    /// All of them, in the order in which they are offered.
    pub const ALL: &'static [Self] = &[Self::Train, Self::Serve, Self::Batch, Self::Transcode, Self::Render];

    /// The word in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Serve => "serve",
            Self::Batch => "batch",
            Self::Transcode => "transcode",
            Self::Render => "render",
        }
    }

    /// The kind of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

use Kind::{Batch, Render, Serve, Train, Transcode};

const WITH_MODEL: &[Kind] = &[Train, Serve, Batch];
const INFERENCE: &[Kind] = &[Serve, Batch];
const ENDS: &[Kind] = &[Train, Batch, Transcode, Render];
const ONLINE: &[Kind] = &[Serve];

/// Keys that are not for every kind: path, the kinds that take it.
const LIMITED: &[(&str, &[Kind])] = &[
    ("model", WITH_MODEL),
    ("task", WITH_MODEL),
    ("train", &[Train]),
    ("data", &[Train]),
    ("serve", &[Serve]),
    ("batch", &[Batch]),
    ("traffic", INFERENCE),
    ("traffic.rate", ONLINE),
    ("traffic.concurrency", ONLINE),
    ("traffic.window", ONLINE),
    ("transcode", &[Transcode]),
    ("video", &[Transcode]),
    ("rendition", &[Transcode]),
    ("render", &[Render]),
    ("objective.deadline", ENDS),
    ("constraints.min_replicas", ONLINE),
];

/// The kinds that take the key at this path; `None`: every kind.
pub(crate) fn kinds_of(path: &str) -> Option<&'static [Kind]> {
    let is_latency = path
        .strip_prefix("objective.")
        .is_some_and(|key| ["ttft_", "tpot_", "e2e_"].iter().any(|prefix| key.starts_with(prefix)));
    if is_latency {
        return Some(ONLINE);
    }
    LIMITED.iter().find(|(limited, _)| *limited == path).map(|(_, kinds)| *kinds)
}

/// What a kind takes in place of a key that it does not take.
pub(crate) fn instead(path: &str, kind: Kind) -> Option<&'static str> {
    let is_latency = kinds_of(path) == Some(ONLINE) && path.starts_with("objective.");
    Some(match (path, kind) {
        ("traffic", Train) => "data",
        ("traffic" | "data", Transcode) => "video",
        ("traffic" | "data" | "model", Render) => "render",
        ("model", Transcode) => "video",
        ("data", Serve) => "traffic",
        ("data", Batch) => "batch.amount",
        ("train", Serve) => "serve",
        ("train" | "serve", Batch) => "batch",
        ("batch", Serve) => "serve",
        ("serve" | "batch", Train) => "train",
        ("serve" | "batch" | "train", Transcode) => "transcode",
        ("serve" | "batch" | "train", Render) => "render",
        ("traffic.rate" | "traffic.concurrency" | "traffic.window", Batch) => "batch.amount",
        ("objective.deadline", Serve) => "objective.e2e_p95",
        (_, Train | Batch | Transcode | Render) if is_latency => "objective.deadline",
        _ => return None,
    })
}

/// The kind that a file most likely means, told from a table that only one kind has.
pub(crate) fn kind_with_table(key: &str) -> Option<Kind> {
    match key {
        "train" | "data" => Some(Train),
        "serve" | "traffic" => Some(Serve),
        "batch" => Some(Batch),
        "transcode" | "video" | "rendition" => Some(Transcode),
        "render" => Some(Render),
        _ => None,
    }
}
