//! Sizes and transfer rates.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::parse::{ParseQuantityError, parse_with_units};
use crate::quantity::{Quantity, float_quantity};

/// A size in bytes. Prints in binary units (`GiB`), which is what GPU drivers and allocators mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

const KIB: f64 = 1024.0;
const MIB: f64 = KIB * 1024.0;
const GIB: f64 = MIB * 1024.0;
const TIB: f64 = GIB * 1024.0;

const SIZE_UNITS: &[(&str, f64)] = &[
    ("B", 1.0),
    ("KiB", KIB),
    ("MiB", MIB),
    ("GiB", GIB),
    ("TiB", TIB),
    ("PiB", TIB * 1024.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("PB", 1e15),
];

/// `Bytes` from a number of GiB, rounded to the nearest byte. Negative and NaN become zero.
#[must_use]
pub fn gib(gib: f64) -> Bytes {
    Bytes::from_base(gib * GIB)
}

impl Bytes {
    /// The size in GiB.
    #[must_use]
    pub fn as_gib(self) -> f64 {
        self.0 as f64 / GIB
    }

    /// Subtraction that stops at zero.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Quantity for Bytes {
    const UNIT: &'static str = "bytes";
    fn base(self) -> f64 {
        self.0 as f64
    }
    fn from_base(value: f64) -> Self {
        // `as` saturates: NaN and negatives become 0, values past u64 become u64::MAX.
        Self(value.round() as u64)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl Mul<f64> for Bytes {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::from_base(self.base() * factor)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self(0), Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0 as f64;
        let (scaled, unit) = match value {
            v if v >= TIB => (v / TIB, "TiB"),
            v if v >= GIB => (v / GIB, "GiB"),
            v if v >= MIB => (v / MIB, "MiB"),
            v if v >= KIB => (v / KIB, "KiB"),
            v => (v, "B"),
        };
        let text =
            if unit == "B" || scaled >= 100.0 { format!("{scaled:.0} {unit}") } else { format!("{scaled:.1} {unit}") };
        f.pad(&text)
    }
}

impl FromStr for Bytes {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_with_units(text, SIZE_UNITS, "a size with its unit, such as `80 GiB`").map(Self::from_base)
    }
}

float_quantity!(
    /// A transfer rate in bytes per second (decimal prefixes: 1 GB/s = 1e9).
    BytesPerSec,
    "bytes_per_second"
);

const RATE_UNITS: &[(&str, f64)] = &[
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("TB/s", 1e12),
    ("MiB/s", MIB),
    ("GiB/s", GIB),
    ("Mbit/s", 1e6 / 8.0),
    ("Gbit/s", 1e9 / 8.0),
    ("Mbps", 1e6 / 8.0),
    ("Gbps", 1e9 / 8.0),
];

impl fmt::Display for BytesPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scaled, unit) = match self.0 {
            v if v >= 1e12 => (v / 1e12, "TB/s"),
            v if v >= 1e9 => (v / 1e9, "GB/s"),
            v if v >= 1e6 => (v / 1e6, "MB/s"),
            v => (v / 1e3, "kB/s"),
        };
        let text = if scaled >= 100.0 { format!("{scaled:.0} {unit}") } else { format!("{scaled:.1} {unit}") };
        f.pad(&text)
    }
}

impl FromStr for BytesPerSec {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_with_units(text, RATE_UNITS, "a transfer rate with its unit, such as `2 GB/s` or `25 Gbit/s`").map(Self)
    }
}
