//! What an estimate says.

use hob_units::{Bytes, Interval, Seconds};
use serde::Serialize;
use thiserror::Error;

/// What a share of memory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names say it.
pub enum MemoryKind {
    Weights,
    Gradients,
    OptimizerState,
    Adapters,
    Activations,
    AttentionScores,
    Logits,
    GatheredShards,
    KvCache,
    CudaContext,
    Workspaces,
    Communication,
    AllocatorSlack,
    Companions,
    Scene,
}

/// One line of the memory breakdown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryTerm {
    /// What for.
    pub kind: MemoryKind,
    /// How much, on the fullest GPU.
    pub bytes: Interval<Bytes>,
    /// The formula with its source: `2 bytes x 7.6 B parameters / tensor 2 [arXiv 1910.02054]`.
    pub formula: String,
}

/// Whether it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// The upper end of the interval fits.
    Fits,
    /// The middle fits, the upper end does not.
    Tight,
    /// The middle does not fit.
    DoesNot,
}

/// Memory of the fullest GPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryEstimate {
    /// Breakdown, largest first.
    pub terms: Vec<MemoryTerm>,
    /// Total.
    pub total: Interval<Bytes>,
    /// What the card has for it.
    pub usable: Bytes,
    /// Verdict.
    pub fit: Fit,
}

impl MemoryEstimate {
    /// Sums the terms and reaches the verdict. Errors of the terms are taken as independent.
    #[must_use]
    pub fn of(mut terms: Vec<MemoryTerm>, usable: Bytes) -> Self {
        terms.sort_by(|a, b| b.bytes.mid.cmp(&a.bytes.mid).then(a.kind.cmp(&b.kind)));
        let total = terms.iter().fold(Interval::exact(Bytes(0)), |sum, term| sum.plus_independent(term.bytes));
        let fit = if total.high <= usable {
            Fit::Fits
        } else if total.mid <= usable {
            Fit::Tight
        } else {
            Fit::DoesNot
        };
        Self { terms, total, usable, fit }
    }
}

/// One line of a time breakdown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimeTerm {
    /// Stable id of what takes the time: `matrix_products`, `attention`, `weights_read`, `kv_read`, `launches`,
    /// `communication`, `bubble`, `queue`...
    pub what: &'static str,
    /// How long, before overlap with the other terms.
    pub time: Interval<Seconds>,
    /// The formula with its source.
    pub formula: String,
}

/// Why no estimate can be given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EstimateError {
    /// The card has no peak rate or bandwidth in the catalog.
    #[error("the catalog does not know the {what} of {gpu}")]
    UnknownHardware {
        /// GPU id.
        gpu: String,
        /// `memory bandwidth`, `bf16 rate`...
        what: &'static str,
    },
    /// The card cannot do this number format.
    #[error("{gpu} has no {format} arithmetic")]
    UnsupportedFormat {
        /// GPU id.
        gpu: String,
        /// Format.
        format: &'static str,
    },
    /// The layout does not divide the model or the machines.
    #[error("{why}")]
    BadLayout {
        /// What does not divide what.
        why: String,
    },
    /// The efficiency table has no row for this, at any scope.
    #[error("the efficiency table has no `{name}`")]
    MissingCoefficient {
        /// Coefficient name.
        name: &'static str,
    },
    /// The model is of another kind than this estimate is for.
    #[error("{model} cannot be estimated as {kind}")]
    WrongKind {
        /// Model name.
        model: String,
        /// What was asked for.
        kind: &'static str,
    },
    /// A codec, preset, renderer, format or card that no table has.
    #[error("{what} `{name}` is not known; known: {known}{}", did_you_mean.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownWord {
        /// `codec`, `renderer`...
        what: &'static str,
        /// As given, cut to a bounded length.
        name: String,
        /// What is known, separated by commas.
        known: String,
        /// The nearest known word.
        did_you_mean: Option<String>,
    },
    /// A size or rate that no work has.
    #[error("{field} = {value} is not {expected}")]
    OutOfRange {
        /// Field in the caller's words.
        field: &'static str,
        /// As given.
        value: String,
        /// The bounds in words.
        expected: &'static str,
    },
    /// The card has no engine for it.
    #[error("{gpu} has no engine for {what}")]
    NoEngine {
        /// GPU id.
        gpu: String,
        /// `encoding h264`...
        what: String,
    },
    /// Possible, but nobody has published how fast.
    #[error("no public rate is known for {what}; measure it with `{measurement}`")]
    NoRate {
        /// `decoding vp9 on t4`...
        what: String,
        /// The command that gives it.
        measurement: String,
    },
}
