//! An estimate's arithmetic as data: what is computed, by which expression, from which figures, on whose word.
//!
//! An expression is written in the names of its figures, so that a program can compute it again and a person can read
//! it with the figures put in. Words for names and titles are the printer's matter.

use std::fmt;

use hob_units::{Bytes, BytesPerSec, Flops, FlopsPerSec, Money, PerSecond, Quantity, Seconds, Share};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::efficiency::{Coefficient, Efficiencies, Scope};
use crate::limit::Limit;
use crate::percentile::Percentile4;

/// A figure with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)] // The names say it.
pub enum Amount {
    Number(f64),
    Bytes(f64),
    BytesPerSecond(f64),
    Seconds(f64),
    Flops(f64),
    FlopsPerSecond(f64),
    PerSecond(f64),
    Share(f64),
    Money(Money),
}

impl Amount {
    /// The value in its base unit, for arithmetic and charts only.
    #[must_use]
    pub fn base(self) -> f64 {
        match self {
            Self::Number(value)
            | Self::Bytes(value)
            | Self::BytesPerSecond(value)
            | Self::Seconds(value)
            | Self::Flops(value)
            | Self::FlopsPerSecond(value)
            | Self::PerSecond(value)
            | Self::Share(value) => value,
            Self::Money(money) => money.as_f64_for_score(),
        }
    }

    fn unit(self) -> String {
        match self {
            Self::Number(_) => "one".to_owned(),
            Self::Bytes(_) => Bytes::UNIT.to_owned(),
            Self::BytesPerSecond(_) => BytesPerSec::UNIT.to_owned(),
            Self::Seconds(_) => Seconds::UNIT.to_owned(),
            Self::Flops(_) => Flops::UNIT.to_owned(),
            Self::FlopsPerSecond(_) => FlopsPerSec::UNIT.to_owned(),
            Self::PerSecond(_) => PerSecond::UNIT.to_owned(),
            Self::Share(_) => Share::UNIT.to_owned(),
            Self::Money(money) => money.currency.code().to_owned(),
        }
    }
}

/// From this number on, the magnitude is a suffix: `7.62 G`.
const SUFFIX_FROM: f64 = 1e6;

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Self::Number(value) if value.abs() < SUFFIX_FROM && value.fract() == 0.0 => format!("{value:.0}"),
            Self::Number(value) => hob_units::Count(value).to_string(),
            Self::Bytes(value) => Bytes::from_base(value).to_string(),
            Self::BytesPerSecond(value) => BytesPerSec(value).to_string(),
            Self::Seconds(value) => Seconds(value).to_string(),
            Self::Flops(value) => Flops(value).to_string(),
            Self::FlopsPerSecond(value) => FlopsPerSec(value).to_string(),
            Self::PerSecond(value) => PerSecond(value).to_string(),
            // With the digits that a product needs.
            Self::Share(value) => format!("{}%", hob_units::Count(value * 100.0)),
            Self::Money(money) => money.to_string(),
        };
        f.pad(&text)
    }
}

impl Serialize for Amount {
    /// `{"value": .., "unit": ".."}` in the base unit; money is a decimal text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Amount", 2)?;
        match self {
            Self::Money(money) => out.serialize_field("value", &money.amount)?,
            other => out.serialize_field("value", &other.base())?,
        }
        out.serialize_field("unit", &self.unit())?;
        out.end()
    }
}

/// On whose word a figure is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Source {
    /// Paper, page, table or derivation.
    pub text: String,
    /// Its date, when it has one.
    pub date: Option<String>,
}

impl Source {
    /// A paper, by its number.
    pub(crate) fn paper(text: &str) -> Self {
        Self { text: text.to_owned(), date: None }
    }
}

impl From<&Coefficient> for Source {
    fn from(row: &Coefficient) -> Self {
        Self { text: row.source.clone(), date: Some(row.source_date.clone()) }
    }
}

/// One line of arithmetic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArithmeticStep {
    /// Stable id of what is computed.
    pub what: &'static str,
    /// Which percentile of it, where it is one.
    pub percentile: Option<Percentile4>,
    /// What comes out.
    pub value: Amount,
    /// Over the names of `figures`: `+ - * / ^` with blanks around them, brackets, `min max ln exp sqrt ceil floor` and
    /// `normal`, the standard normal distribution. Empty for a given figure.
    pub expression: String,
    /// The arithmetic with its figures put in, where a table of rates states it so.
    pub stated: Option<String>,
    /// Names and their figures.
    pub figures: Vec<(&'static str, Amount)>,
    /// Sources of those that are not given by the user or the catalog.
    pub sources: Vec<Source>,
}

impl ArithmeticStep {
    /// A step without sources of its own.
    #[must_use]
    pub fn new(what: &'static str, value: Amount, expression: &str, figures: &[(&'static str, Amount)]) -> Self {
        let figures = figures.to_vec();
        let expression = expression.to_owned();
        Self { what, percentile: None, value, expression, stated: None, figures, sources: Vec::new() }
    }

    /// A step whose arithmetic a table of rates states, with the figures put in.
    #[must_use]
    pub fn stated(what: &'static str, value: Amount, formula: &str) -> Self {
        Self { stated: Some(formula.to_owned()), ..Self::new(what, value, "", &[]) }
    }

    /// The same with its sources.
    #[must_use]
    pub fn by(mut self, sources: Vec<Source>) -> Self {
        self.sources = sources;
        self
    }

    /// The same, of one percentile.
    pub(crate) fn at(mut self, percentile: Percentile4) -> Self {
        self.percentile = Some(percentile);
        self
    }
}

/// A titled part of the arithmetic, in reading order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArithmeticBlock {
    /// Stable id of the title.
    pub title: &'static str,
    /// Lines; the last one is what the block is for.
    pub steps: Vec<ArithmeticStep>,
}

impl ArithmeticBlock {
    /// A block of the steps that are worth a line: those that come to nothing are left out.
    #[must_use]
    pub fn new(title: &'static str, steps: Vec<ArithmeticStep>) -> Self {
        let steps = steps.into_iter().filter(|step| step.value.base() != 0.0).collect();
        Self { title, steps }
    }
}

/// The table's rows in one scope.
pub(crate) struct Rows<'t> {
    pub(crate) table: &'t Efficiencies,
    pub(crate) here: Scope,
}

impl<'t> Rows<'t> {
    /// The same, narrowed to a number format.
    pub(crate) fn of_format(&self, format: &str) -> Rows<'t> {
        Rows { table: self.table, here: self.here.clone().precision(format) }
    }

    /// Sources of the rows of these names and classes, each once.
    pub(crate) fn sources(&self, names: &[(&str, &str)]) -> Vec<Source> {
        let rows = names.iter().filter_map(|(name, class)| self.table.find(name, &self.here.clone().class(class)));
        let mut found: Vec<Source> = rows.map(Source::from).collect();
        found.dedup();
        found
    }
}

/// The percentiles that are explained: the middle, the one that is printed, and those of the goals.
pub(crate) fn explained(limits: &[Limit]) -> Vec<Percentile4> {
    let mut all: Vec<Percentile4> =
        [Percentile4::P50, Percentile4::P95].into_iter().chain(limits.iter().map(|limit| limit.percentile)).collect();
    all.sort();
    all.dedup();
    all
}
