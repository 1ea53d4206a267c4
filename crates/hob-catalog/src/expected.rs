//! What a cell should have held. Each case has an id, so that the binary can say it in the user's language, and plain
//! English words for those who use this crate by itself.

use std::fmt;

use serde::Serialize;

/// What a cell should have held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// Values with commas between them.
    Csv,
    /// As many values as the header has.
    Cells(usize),
    /// A row that does not run over several lines.
    OneLine,
    /// A number from 0 to this.
    Number(u64),
    /// A number above 0, up to this.
    Positive(u64),
    /// A whole number between two ends.
    Whole(u32, u32),
    /// A price above 0, up to this.
    Amount(u64),
    /// A price from 0 to this; 0 stands for unknown, as in SkyPilot's files.
    AmountOrZero(u64),
    /// One price, or both ends of a range.
    OnePriceOrRange,
    /// Not more than this.
    AtMost(Box<str>),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A value of the kind of this example.
    Like(&'static str),
    /// A value that no earlier row has.
    Unique,
    /// A GPU's id.
    Id,
    /// A GPU of the catalog.
    KnownGpu,
    /// A whole GPU, to take a share of.
    WholeGpu,
    /// An instance type that the catalog has for this cloud, or its GPU beside it.
    KnownInstance(Box<str>),
    /// What an earlier row says of the same instance type.
    SameMachine,
    /// Given together with another column.
    With(&'static str),
    /// Left empty when another column is given.
    Without(&'static str),
    /// A share of compute that qGPU can cut.
    QgpuCompute,
    /// A share of memory that qGPU can cut from a card of this size.
    QgpuMemory(Box<str>),
    /// A card that qGPU can share.
    QgpuCard,
}

impl Expected {
    /// Id of its words in the message catalogue. They have one variable at most, `value` ([`Self::value`]), and
    /// `min` in the case of a whole number.
    #[must_use]
    pub fn text_id(&self) -> &'static str {
        match self {
            Self::Csv => "catalog-expected-csv",
            Self::Cells(_) => "catalog-expected-cells",
            Self::OneLine => "catalog-expected-one-line",
            Self::Number(_) => "catalog-expected-number",
            Self::Positive(_) => "catalog-expected-positive",
            Self::Whole(..) => "catalog-expected-whole",
            Self::Amount(_) => "catalog-expected-amount",
            Self::AmountOrZero(_) => "catalog-expected-amount-or-zero",
            Self::OnePriceOrRange => "catalog-expected-one-price",
            Self::AtMost(_) => "catalog-expected-at-most",
            Self::OneOf(_) => "catalog-expected-one-of",
            Self::Like(_) => "catalog-expected-like",
            Self::Unique => "catalog-expected-unique",
            Self::Id => "catalog-expected-id",
            Self::KnownGpu => "catalog-expected-gpu",
            Self::WholeGpu => "catalog-expected-whole-gpu",
            Self::KnownInstance(_) => "catalog-expected-instance",
            Self::SameMachine => "catalog-expected-same-machine",
            Self::With(_) => "catalog-expected-with",
            Self::Without(_) => "catalog-expected-without",
            Self::QgpuCompute => "catalog-expected-qgpu-compute",
            Self::QgpuMemory(_) => "catalog-expected-qgpu-memory",
            Self::QgpuCard => "catalog-expected-qgpu-card",
        }
    }

    /// The variable of its words; empty when they have none.
    #[must_use]
    pub fn value(&self) -> String {
        match self {
            Self::Cells(count) => count.to_string(),
            Self::Number(max) | Self::Positive(max) | Self::Amount(max) | Self::AmountOrZero(max) => max.to_string(),
            Self::Whole(_, max) => max.to_string(),
            Self::AtMost(text) | Self::KnownInstance(text) | Self::QgpuMemory(text) => text.to_string(),
            Self::OneOf(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
            Self::Like(text) | Self::With(text) | Self::Without(text) => format!("`{text}`"),
            _ => String::new(),
        }
    }

    /// The lower end of a whole number.
    #[must_use]
    pub fn min(&self) -> Option<u32> {
        match self {
            Self::Whole(min, _) => Some(*min),
            _ => None,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value();
        match self {
            Self::Csv => f.write_str("a row of comma-separated values"),
            Self::Cells(_) => write!(f, "a row of {value} values, as in the header"),
            Self::OneLine => f.write_str("a row on one line (is a quote left open?)"),
            Self::Number(_) => write!(f, "a number from 0 to {value}"),
            Self::Positive(_) => write!(f, "a number above 0, up to {value}"),
            Self::Whole(min, _) => write!(f, "a whole number from {min} to {value}"),
            Self::Amount(_) => write!(f, "an amount above 0, up to {value} (leave it empty when unknown)"),
            Self::AmountOrZero(_) => write!(f, "an amount from 0 to {value} (leave it empty when unknown)"),
            Self::OnePriceOrRange => f.write_str("one price, or both ends of a range, not a mix"),
            Self::AtMost(_) => write!(f, "at most {value}"),
            Self::OneOf(_) => write!(f, "one of {value}"),
            Self::Like(_) => write!(f, "a value such as {value}"),
            Self::Unique => f.write_str("a value that no earlier row has"),
            Self::Id => f.write_str("an id of small letters, digits, `-`, `.` and `_`, at most 64 characters"),
            Self::KnownGpu => f.write_str("a GPU of the catalog"),
            Self::WholeGpu => f.write_str("a whole GPU, not a fraction"),
            Self::KnownInstance(_) => {
                write!(f, "an instance type of `{value}` in the catalog (or give its `gpu` and `gpu_count`)")
            }
            Self::SameMachine => f.write_str("what an earlier row says of this instance type"),
            Self::With(_) => write!(f, "given together with {value}"),
            Self::Without(_) => write!(f, "left empty when {value} is given"),
            Self::QgpuCompute => f.write_str("a share that qGPU can cut: steps of 5%, from 5% to 100%"),
            Self::QgpuMemory(_) => write!(f, "whole GiB from 1 to the card's {value}"),
            Self::QgpuCard => f.write_str("a whole NVIDIA card, which qGPU can share"),
        }
    }
}
