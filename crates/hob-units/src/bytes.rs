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

/// Two sizes with as many digits as tell them apart: `7.3 GiB` and `7.1 GiB`, but `7.34 GiB` and `7.29 GiB`.
#[must_use]
pub fn apart(a: Bytes, b: Bytes) -> (String, String) {
    let shown = (a.to_string(), b.to_string());
    if a == b || shown.0 != shown.1 {
        return shown;
    }
    let (size, unit) = unit(a.0.max(b.0) as f64);
    let at = |bytes: Bytes, digits: usize| format!("{:.digits$} {unit}", bytes.0 as f64 / size);
    let digits = (1..=6).find(|digits| at(a, *digits) != at(b, *digits));
    match digits {
        Some(digits) => (at(a, digits), at(b, digits)),
        None => (format!("{} B", a.0), format!("{} B", b.0)),
    }
}

/// The unit in which a size is shown.
fn unit(bytes: f64) -> (f64, &'static str) {
    match bytes {
        v if v >= TIB => (TIB, "TiB"),
        v if v >= GIB => (GIB, "GiB"),
        v if v >= MIB => (MIB, "MiB"),
        v if v >= KIB => (KIB, "KiB"),
        _ => (1.0, "B"),
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
        let (size, unit) = unit(self.0 as f64);
        let scaled = self.0 as f64 / size;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sizes_are_shown_apart() {
        for (a, b, shown) in [
            (7.3, 7.1, ("7.3 GiB", "7.1 GiB")),
            (7.34, 7.29, ("7.34 GiB", "7.29 GiB")),
            (7.3, 7.3, ("7.3 GiB", "7.3 GiB")),
            (120.2, 120.1, ("120.2 GiB", "120.1 GiB")),
        ] {
            assert_eq!(apart(gib(a), gib(b)), (shown.0.to_owned(), shown.1.to_owned()));
        }
        assert_eq!(apart(Bytes(1 << 40), Bytes((1 << 40) + 1)).0, "1099511627776 B");
    }
}
