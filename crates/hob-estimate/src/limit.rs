//! Limits on latency that a capacity must keep.

use hob_units::Seconds;
use serde::Serialize;

use crate::percentile::Percentile4;

/// A queue with more than this share of its capacity used has waits that no estimate can stand behind.
pub(crate) const UTILISATION_MAX: f64 = 0.85;

/// Which latency is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyKind {
    /// Time to first token.
    Ttft,
    /// Time for each output token after the first.
    Tpot,
    /// The whole request.
    EndToEnd,
}

/// A latency that must hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limit {
    /// Which latency.
    pub what: LatencyKind,
    /// At which percentile of requests.
    pub percentile: Percentile4,
    /// The most it may be.
    pub at_most: Seconds,
    /// With which probability (0 to 1) the estimate must say so: 0.5 takes the middle, 0.9 the band's upper end.
    pub confidence: f64,
}
