//! What is asked of a replica, and what it answers.

use hob_units::{Interval, PerSecond};
use serde::Serialize;

use crate::outcome::{MemoryEstimate, TimeTerm};
use crate::percentile::Percentiles;

/// How requests reach one replica.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// At random moments, this many a second, whatever the replica does.
    Open(PerSecond),
    /// This many are in flight at all times.
    Closed(u32),
}

/// The traffic of one replica.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ServeLoad {
    /// Mean prompt tokens.
    pub prompt: f64,
    /// Mean output tokens.
    pub output: f64,
    /// Longest context of one request, in tokens: the replica must hold at least one of these.
    pub context_max: f64,
    /// Share (0 to 1) of prompt tokens found in the prefix cache.
    pub prefix_hit: f64,
    /// Arrivals.
    pub arrival: Arrival,
}

impl ServeLoad {
    /// The same load with every number inside sane bounds, so that nothing below divides by zero or overflows.
    pub(super) fn bounded(self) -> Self {
        let tokens = |value: f64| within(value, 1.0, 1e9);
        let prompt = tokens(self.prompt);
        let output = tokens(self.output);
        Self {
            prompt,
            output,
            context_max: tokens(self.context_max).max(prompt + output),
            prefix_hit: within(self.prefix_hit, 0.0, 1.0 - 1.0 / prompt),
            arrival: self.arrival,
        }
    }
}

/// `value` inside the bounds; not a number counts as the lower one.
pub(super) fn within(value: f64, low: f64, high: f64) -> f64 {
    if value > low { value.min(high) } else { low }
}

/// What one replica does under a load. Intervals are 80 %.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServeEstimate {
    /// Memory of the fullest GPU, with the KV cache of one request of the longest context.
    pub memory: MemoryEstimate,
    /// Sequences of this load whose KV cache fits; 0 when the model does not fit.
    pub kv_slots: u64,
    /// Mean number of sequences decoding at once.
    pub running: f64,
    /// More is asked than the replica can do: requests queue, time to first token is a lower bound, and only
    /// throughput is firm.
    pub saturated: bool,
    /// Time to first token.
    pub ttft: Percentiles,
    /// Time for each output token after the first.
    pub tpot: Percentiles,
    /// Whole request of the mean lengths. The spread of lengths is not in it.
    pub end_to_end: Percentiles,
    /// Requests finished each second by this replica.
    pub requests_per_second: Interval<PerSecond>,
    /// Output tokens each second by this replica.
    pub output_tokens_per_second: Interval<PerSecond>,
    /// One decode step with `running` sequences.
    pub decode_step: Vec<TimeTerm>,
    /// The prefill of one prompt.
    pub prefill: Vec<TimeTerm>,
    /// Message id of what the weight format does to answers.
    pub quality_note: Option<&'static str>,
}
