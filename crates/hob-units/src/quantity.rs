//! The trait that all quantities share, and the plain ones.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::parse::{ParseQuantityError, parse_with_units, split_number};

/// A measurable amount with one base unit.
pub trait Quantity: Copy + PartialOrd + fmt::Display {
    /// Name of the base unit, as it appears in JSON: `bytes`, `seconds`, `flops_per_second`...
    const UNIT: &'static str;
    /// The amount in the base unit.
    fn base(self) -> f64;
    /// From an amount in the base unit.
    fn from_base(value: f64) -> Self;
}

/// Declares a quantity that is one `f64` in its base unit, with the arithmetic that keeps the unit.
macro_rules! float_quantity {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl $crate::Quantity for $name {
            const UNIT: &'static str = $unit;
            fn base(self) -> f64 {
                self.0
            }
            fn from_base(value: f64) -> Self {
                Self(value)
            }
        }
        impl std::ops::Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl std::ops::Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl std::ops::Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }
        impl std::ops::Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }
        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self(0.0), |a, b| a + b)
            }
        }
    };
}
pub(crate) use float_quantity;

float_quantity!(
    /// A count of floating-point operations (a multiply-add is two).
    Flops,
    "flops"
);
float_quantity!(
    /// Floating-point operations per second.
    FlopsPerSec,
    "flops_per_second"
);
float_quantity!(
    /// Events (requests, tokens, images, frames) per second.
    PerSecond,
    "per_second"
);
float_quantity!(
    /// Electric power in watts.
    Watts,
    "watts"
);
float_quantity!(
    /// A number of things that need not be whole: streams at a time, engines at work, hours of video in an hour.
    Count,
    "count"
);
float_quantity!(
    /// A share of a whole: 0.25 is a quarter, printed as `25%`.
    Share,
    "share"
);

fn si(value: f64) -> (f64, &'static str) {
    match value.abs() {
        v if v >= 1e15 => (value / 1e15, "P"),
        v if v >= 1e12 => (value / 1e12, "T"),
        v if v >= 1e9 => (value / 1e9, "G"),
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    }
}

/// Decimals of the smallest figure that is still written out; smaller ones read as zero.
const DECIMALS_MAX: i32 = 12;

/// Decimals that show three significant digits of a value, however small it is.
pub(crate) fn decimals(value: f64) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let magnitude = value.abs().log10().floor().clamp(-f64::from(DECIMALS_MAX), f64::from(DECIMALS_MAX));
    // In range by the clamp.
    (2 - magnitude as i32).clamp(0, DECIMALS_MAX) as usize
}

/// Three significant digits without an exponent: `0.00123`, `0.0123`, `1.23`, `12.3`, `123`.
pub(crate) fn three_digits(value: f64) -> String {
    format!("{value:.*}", decimals(value))
}

impl fmt::Display for Flops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scaled, prefix) = si(self.0);
        f.pad(&format!("{} {prefix}FLOP", three_digits(scaled)))
    }
}

impl fmt::Display for FlopsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scaled, prefix) = si(self.0);
        f.pad(&format!("{} {prefix}FLOP/s", three_digits(scaled)))
    }
}

impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scaled, prefix) = if self.0 >= 1e5 { si(self.0) } else { (self.0, "") };
        // Rare events are counted over the span in which at least one comes.
        let (scaled, per) = match scaled {
            v if v >= 0.1 || v <= 0.0 => (v, "s"),
            v if v >= 1.0 / 60.0 => (v * 60.0, "min"),
            v if v >= 1.0 / 3600.0 => (v * 3600.0, "h"),
            v => (v * 86_400.0, "day"),
        };
        f.pad(&format!("{}{prefix}/{per}", three_digits(scaled)))
    }
}

impl fmt::Display for Watts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.0} W", self.0))
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scaled, prefix) = if self.0 >= 1e5 { si(self.0) } else { (self.0, "") };
        f.pad(&format!("{}{prefix}", three_digits(scaled)))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        let text = match percent.abs() {
            v if v > 0.0 && v < 0.1 => format!("{}%", three_digits(percent)),
            v if v > 0.0 && v < 10.0 => format!("{percent:.1}%"),
            _ => format!("{percent:.0}%"),
        };
        f.pad(&text)
    }
}

impl FromStr for Share {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_with_units(text, &[("%", 0.01)], "a share in percent, such as `70%`").map(Self)
    }
}

impl FromStr for PerSecond {
    type Err = ParseQuantityError;
    /// Reads `12 req/s`, `300 images/min`, `1e6 tokens/day`. The thing that is counted may be any word.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "a rate with its unit, such as `12 req/s` or `3000 images/hour`";
        let fail = || ParseQuantityError::new(text, expected);
        let (number, unit) = split_number(text).ok_or_else(|| fail().because("it does not begin with a number"))?;
        if number < 0.0 {
            return Err(fail().because("it is negative"));
        }
        let (_, per) = unit.split_once('/').ok_or_else(|| fail().because("it has no `/` before a unit of time"))?;
        let seconds = crate::time::unit_seconds(per.trim())
            .ok_or_else(|| fail().because(format!("`{per}` is not a unit of time")))?;
        Ok(Self(number / seconds))
    }
}

/// A count of tokens. Parses `500`, `500 tokens`, `15T tokens`, `2.5B tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tokens(pub u64);

impl Quantity for Tokens {
    const UNIT: &'static str = "tokens";
    fn base(self) -> f64 {
        self.0 as f64
    }
    fn from_base(value: f64) -> Self {
        Self(value.round() as u64)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0 as f64;
        let text = match value {
            v if v >= 1e12 => format!("{}T tokens", three_digits(v / 1e12)),
            v if v >= 1e9 => format!("{}B tokens", three_digits(v / 1e9)),
            v if v >= 1e6 => format!("{}M tokens", three_digits(v / 1e6)),
            v => format!("{v:.0} tokens"),
        };
        f.pad(&text)
    }
}

impl FromStr for Tokens {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let units = &[
            ("tokens", 1.0),
            ("token", 1.0),
            ("k tokens", 1e3),
            ("M tokens", 1e6),
            ("B tokens", 1e9),
            ("T tokens", 1e12),
        ];
        parse_with_units(text, units, "a count of tokens, such as `500 tokens` or `2 B tokens`")
            .or_else(|error| {
                let compact = text.trim().replacen("k ", " k ", 1).replacen("M ", " M ", 1);
                let compact = compact.replacen("B ", " B ", 1).replacen("T ", " T ", 1);
                let compact = compact.split_whitespace().collect::<Vec<_>>().join(" ");
                parse_with_units(&compact, units, error.expected).map_err(|_| error)
            })
            .map(Self::from_base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_figures_keep_their_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.234_56, "1.23"),
            (123.4, "123"),
            (0.012_34, "0.0123"),
            (0.000_001_234, "0.00000123"),
            (-0.5, "-0.500"),
        ] {
            assert_eq!(three_digits(value), text);
        }
    }

    #[test]
    fn rates_are_shown_in_the_span_in_which_something_happens() {
        for text in ["0/s", "12.0/s", "0.500/s", "1.80/min", "3.60/h", "1.00/day", "0.0100/day", "250k/s"] {
            let rate = match text.split_once('/') {
                Some((number, unit)) => format!("{} req/{unit}", number.replace('k', "e3")),
                None => String::new(),
            };
            assert_eq!(rate.parse::<PerSecond>().map(|rate| rate.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn a_small_share_is_not_zero() {
        for (share, text) in [(0.0, "0%"), (0.000_12, "0.0120%"), (0.012, "1.2%"), (0.5, "50%")] {
            assert_eq!(Share(share).to_string(), text);
        }
    }
}
