//! An estimate is an interval: the middle that is reported and the 80 % band around it.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::quantity::Quantity;

/// An 80 % interval: one time in ten the truth lies below `low`, one time in ten above `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval<Q> {
    /// Lower end.
    pub low: Q,
    /// The reported value (median).
    pub mid: Q,
    /// Upper end.
    pub high: Q,
}

/// The three values are not `0 <= low <= mid <= high`, or one is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("not an interval: low {low}, mid {mid}, high {high}")]
pub struct IntervalError {
    low: f64,
    mid: f64,
    high: f64,
}

impl<Q: Quantity> Interval<Q> {
    /// An interval from its three values, which must be finite, not negative and in order.
    ///
    /// # Errors
    /// When they are not.
    pub fn new(low: Q, mid: Q, high: Q) -> Result<Self, IntervalError> {
        let (l, m, h) = (low.base(), mid.base(), high.base());
        if l.is_finite() && m.is_finite() && h.is_finite() && 0.0 <= l && l <= m && m <= h {
            Ok(Self { low, mid, high })
        } else {
            Err(IntervalError { low: l, mid: m, high: h })
        }
    }

    /// Something known exactly, such as a parameter count.
    #[must_use]
    pub fn exact(value: Q) -> Self {
        Self { low: value, mid: value, high: value }
    }

    /// A multiplicative band: `mid / factor ..= mid * factor`. `factor` below 1 counts as 1.
    #[must_use]
    pub fn within_factor(mid: Q, factor: f64) -> Self {
        let factor = factor.max(1.0);
        Self { low: Q::from_base(mid.base() / factor), mid, high: Q::from_base(mid.base() * factor) }
    }

    /// Half the width in log terms, as a factor: 1.0 is exact, 1.3 means about ±30 %. Infinite when `low` is zero.
    #[must_use]
    pub fn factor(&self) -> f64 {
        if self.high.base() == self.low.base() { 1.0 } else { (self.high.base() / self.low.base()).sqrt() }
    }

    /// The same band widened by a factor on both sides.
    #[must_use]
    pub fn widened(self, factor: f64) -> Self {
        let factor = factor.max(1.0);
        Self {
            low: Q::from_base(self.low.base() / factor),
            mid: self.mid,
            high: Q::from_base(self.high.base() * factor),
        }
    }

    /// Each end scaled by a certain factor (which keeps the order), possibly into another quantity.
    #[must_use]
    pub fn scaled<R: Quantity>(self, factor: f64) -> Interval<R> {
        let at = |q: Q| R::from_base(q.base() * factor);
        Interval { low: at(self.low), mid: at(self.mid), high: at(self.high) }
    }

    /// `numerator / self`, so that the ends swap: a time per item becomes a rate.
    #[must_use]
    pub fn inverted<R: Quantity>(self, numerator: f64) -> Interval<R> {
        let at = |q: Q| R::from_base(numerator / q.base());
        Interval { low: at(self.high), mid: at(self.mid), high: at(self.low) }
    }

    /// The sum of two estimates whose errors are taken as independent: middles add, half-widths add in quadrature.
    #[must_use]
    pub fn plus_independent(self, other: Self) -> Self {
        let mid = self.mid.base() + other.mid.base();
        let down = (self.mid.base() - self.low.base()).hypot(other.mid.base() - other.low.base());
        let up = (self.high.base() - self.mid.base()).hypot(other.high.base() - other.mid.base());
        Self { low: Q::from_base((mid - down).max(0.0)), mid: Q::from_base(mid), high: Q::from_base(mid + up) }
    }

    /// Probability (0 to 1) that the truth is at most `limit`, reading the band as a log-normal on each side of the
    /// middle (z = 1.2816 at the 10 % and 90 % points). An exact value answers 0 or 1.
    #[must_use]
    pub fn probability_at_most(&self, limit: Q) -> f64 {
        let (low, mid, high, limit) = (self.low.base(), self.mid.base(), self.high.base(), limit.base());
        if low == high {
            return if mid <= limit { 1.0 } else { 0.0 };
        }
        if limit <= 0.0 || mid <= 0.0 {
            return if mid <= limit { 1.0 } else { 0.0 };
        }
        let distance = (limit / mid).ln();
        let half = if distance >= 0.0 { (high / mid).ln() } else { (mid / low.max(f64::MIN_POSITIVE)).ln() };
        if half <= 0.0 {
            return if distance >= 0.0 { 1.0 } else { 0.0 };
        }
        normal_cdf(distance / (half / Z_90))
    }
}

/// The 90 % point of the standard normal distribution.
const Z_90: f64 = 1.281_551_565_544_6;

/// Standard normal distribution function. Abramowitz & Stegun 26.2.17, absolute error below 7.5e-8.
fn normal_cdf(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let poly =
        t * (0.319_381_530 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * poly;
    if z >= 0.0 { 1.0 - tail } else { tail }
}

impl<Q: Quantity> fmt::Display for Interval<Q> {
    /// `12.3 GiB (11.0 GiB .. 13.9 GiB)`, or the value alone when it is exact.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.low.base() == self.high.base() {
            self.mid.to_string()
        } else {
            format!("{} ({} .. {})", self.mid, self.low, self.high)
        };
        f.pad(&text)
    }
}

impl<Q: Quantity> Serialize for Interval<Q> {
    /// `{"low": .., "mid": .., "high": .., "unit": ".."}` in the base unit.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Interval", 4)?;
        out.serialize_field("low", &self.low.base())?;
        out.serialize_field("mid", &self.mid.base())?;
        out.serialize_field("high", &self.high.base())?;
        out.serialize_field("unit", Q::UNIT)?;
        out.end()
    }
}
