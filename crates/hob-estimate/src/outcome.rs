//! What an estimate says.

use hob_units::{Bytes, Interval, Quantity, Seconds};
use serde::Serialize;

use crate::arithmetic::{Amount, ArithmeticStep, Source};

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
    /// How the middle comes about.
    pub formula: ArithmeticStep,
}

impl MemoryTerm {
    /// A term of this arithmetic; see [`ArithmeticStep`].
    #[must_use]
    pub fn new(
        kind: MemoryKind,
        bytes: Interval<Bytes>,
        expression: &str,
        figures: &[(&'static str, Amount)],
        sources: Vec<Source>,
    ) -> Self {
        let formula = ArithmeticStep::new(kind.id(), Amount::Bytes(bytes.mid.base()), expression, figures).by(sources);
        Self { kind, bytes, formula }
    }
}

impl MemoryKind {
    /// Stable id, as the words for it are called.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Weights => "memory-weights",
            Self::Gradients => "memory-gradients",
            Self::OptimizerState => "memory-optimizer-state",
            Self::Adapters => "memory-adapters",
            Self::Activations => "memory-activations",
            Self::AttentionScores => "memory-attention-scores",
            Self::Logits => "memory-logits",
            Self::GatheredShards => "memory-gathered-shards",
            Self::KvCache => "memory-kv-cache",
            Self::CudaContext => "memory-cuda-context",
            Self::Workspaces => "memory-workspaces",
            Self::Communication => "memory-communication",
            Self::AllocatorSlack => "memory-allocator-slack",
            Self::Companions => "memory-companions",
            Self::Scene => "memory-scene",
        }
    }
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
    /// The arithmetic with its figures put in, where a table of rates states it so.
    pub formula: Option<String>,
}
