//! Spans of time. Instants do not live here: time enters the pure crates as a value.

use std::fmt;
use std::str::FromStr;

use crate::parse::{ParseQuantityError, parse_with_units};
use crate::quantity::{float_quantity, three_digits};

/// Hours in the average month (365.2425 days / 12), used whenever an hourly price is compared with a monthly one.
pub const HOURS_PER_MONTH: f64 = 730.485;

float_quantity!(
    /// A span of time in seconds.
    Seconds,
    "seconds"
);

const UNITS: &[(&str, f64)] = &[
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("sec", 1.0),
    ("second", 1.0),
    ("seconds", 1.0),
    ("min", 60.0),
    ("minute", 60.0),
    ("minutes", 60.0),
    ("h", 3600.0),
    ("hour", 3600.0),
    ("hours", 3600.0),
    ("d", 86_400.0),
    ("day", 86_400.0),
    ("days", 86_400.0),
    ("week", 604_800.0),
    ("weeks", 604_800.0),
    ("month", HOURS_PER_MONTH * 3600.0),
    ("months", HOURS_PER_MONTH * 3600.0),
    ("year", HOURS_PER_MONTH * 12.0 * 3600.0),
    ("years", HOURS_PER_MONTH * 12.0 * 3600.0),
];

/// Seconds in one named unit of time (`s`, `min`, `hour`, `day`...).
pub(crate) fn unit_seconds(unit: &str) -> Option<f64> {
    UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, seconds)| *seconds)
}

impl Seconds {
    /// From milliseconds.
    #[must_use]
    pub fn from_ms(ms: f64) -> Self {
        Self(ms / 1e3)
    }
    /// From hours.
    #[must_use]
    pub fn from_hours(hours: f64) -> Self {
        Self(hours * 3600.0)
    }
    /// In milliseconds.
    #[must_use]
    pub fn as_ms(self) -> f64 {
        self.0 * 1e3
    }
    /// In hours.
    #[must_use]
    pub fn as_hours(self) -> f64 {
        self.0 / 3600.0
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            s if !s.is_finite() => "forever".to_owned(),
            s if s >= 172_800.0 => format!("{} days", three_digits(s / 86_400.0)),
            s if s >= 7_200.0 => format!("{} h", three_digits(s / 3600.0)),
            s if s >= 120.0 => format!("{} min", three_digits(s / 60.0)),
            s if s >= 1.0 => format!("{} s", three_digits(s)),
            s if s >= 1e-3 || s == 0.0 => format!("{} ms", three_digits(s * 1e3)),
            s => format!("{} us", three_digits(s * 1e6)),
        };
        f.pad(&text)
    }
}

impl FromStr for Seconds {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_with_units(text, UNITS, "a span of time with its unit, such as `300 ms`, `2 hours` or `5 days`").map(Self)
    }
}
