//! Percentiles of a latency, each with its band.
//!
//! Time per token is log-normal. Waits are exponential with an atom at zero (exact for M/M/1); the rest of a time to
//! first token is constant. A request's tail joins both in quadrature, as independent.

use hob_units::{Interval, Seconds};
use serde::Serialize;

/// Which percentile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The names say it.
pub enum Percentile4 {
    P50,
    P90,
    P95,
    P99,
}

/// Four percentiles of a latency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[allow(missing_docs)] // The names say it.
pub struct Percentiles {
    pub p50: Interval<Seconds>,
    pub p90: Interval<Seconds>,
    pub p95: Interval<Seconds>,
    pub p99: Interval<Seconds>,
}

impl Percentiles {
    /// One of the four.
    #[must_use]
    pub fn at(&self, percentile: Percentile4) -> Interval<Seconds> {
        match percentile {
            Percentile4::P50 => self.p50,
            Percentile4::P90 => self.p90,
            Percentile4::P95 => self.p95,
            Percentile4::P99 => self.p99,
        }
    }

    /// Bands around the four values; the two far tails are wider by `tail`.
    pub(crate) fn around(value: impl Fn(Percentile4) -> f64, factor: f64, tail: f64) -> Self {
        let band = |p: Percentile4, factor: f64| Interval::within_factor(Seconds(value(p)), factor);
        Self {
            p50: band(Percentile4::P50, factor),
            p90: band(Percentile4::P90, factor),
            p95: band(Percentile4::P95, factor * tail),
            p99: band(Percentile4::P99, factor * tail),
        }
    }
}

impl Percentile4 {
    /// Share of requests above it.
    pub(crate) fn above(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P90 => 0.1,
            Self::P95 => 0.05,
            Self::P99 => 0.01,
        }
    }

    /// The point of the standard normal distribution.
    pub(crate) fn z(self) -> f64 {
        match self {
            Self::P50 => 0.0,
            Self::P90 => 1.281_552,
            Self::P95 => 1.644_854,
            Self::P99 => 2.326_348,
        }
    }
}

/// A wait that is zero with probability `1 - chance` and else exponential with mean `mean`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wait {
    pub(crate) chance: f64,
    pub(crate) mean: f64,
}

impl Wait {
    /// The wait's percentile: `P(W > t) = chance * exp(-t / mean)`.
    pub(crate) fn at(self, percentile: Percentile4) -> f64 {
        if self.chance <= 0.0 {
            return 0.0;
        }
        (self.mean * (self.chance / percentile.above()).ln()).max(0.0)
    }
}
