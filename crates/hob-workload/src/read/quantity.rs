//! Amounts with their unit written out.

use std::marker::PhantomData;

use hob_units::{Bytes, BytesPerSec, Money, MoneyPer, Seconds, Share, Tokens};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::de::DeValue;

use crate::problem::Code;
use crate::work::Budget;
use hob_text::Message;

use super::number::bare_number;
use super::{At, Read, Reader, trouble};

/// A kind of amount: how it is read, explained and described.
pub(crate) trait Quantity {
    type Value: Clone + std::fmt::Debug;
    /// Message id of "a size with its unit, such as ...".
    const EXPECTED: &'static str;
    /// As people write it; the first is used in explanations.
    const EXAMPLES: &'static [&'static str];
    /// Regular expression for editors; no stricter than the reader.
    const PATTERN: &'static str;
    /// What follows a bare number to make it an amount, when a bare number shows what was meant.
    const UNIT: Option<&'static str>;
    /// Whether a bare number is enough, because the key already names the unit.
    const BARE: bool = false;

    fn parse(text: &str) -> Option<Self::Value>;

    fn trouble(text: &str) -> Message {
        trouble::of_quantity(text)
    }

    /// Units of the kind of amount, for "did you mean".
    const UNITS: &'static [&'static str] = &[];

    /// The largest amount that makes sense; far above what exists, so that beyond it something is miswritten, and low
    /// enough that arithmetic on it stays finite.
    const MOST: f64;

    /// The smallest amount above zero that makes sense. Less than a nanosecond or a billionth of a request per second is a
    /// slip, and dividing by it overflows.
    const LEAST: f64 = 1e-9;

    /// The amount as a number in its base unit, to compare with the bounds; 1 where there is nothing to compare.
    fn base(value: &Self::Value) -> f64;
}

/// An amount as it stands in the file; zero is allowed.
pub(crate) struct Written<Q: Quantity> {
    pub value: Q::Value,
    quantity: PhantomData<Q>,
}

/// An amount above zero.
pub(crate) struct Positive<Q: Quantity> {
    pub value: Q::Value,
    quantity: PhantomData<Q>,
}

/// Implements what both forms share.
macro_rules! forms {
    ($($form:ident),*) => {$(
        impl<Q: Quantity> Clone for $form<Q> {
            fn clone(&self) -> Self {
                Self { value: self.value.clone(), quantity: PhantomData }
            }
        }
        impl<Q: Quantity> std::fmt::Debug for $form<Q> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.value.fmt(f)
            }
        }
        impl<Q: Quantity> JsonSchema for $form<Q> {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($form).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schema_of::<Q>()
            }
        }
    )*};
}
forms!(Written, Positive);

fn schema_of<Q: Quantity>() -> Schema {
    let text = json_schema!({ "type": "string", "pattern": Q::PATTERN, "examples": Q::EXAMPLES });
    if !Q::BARE {
        return text;
    }
    json_schema!({ "anyOf": [text, { "type": "number", "exclusiveMinimum": 0 }], "examples": Q::EXAMPLES })
}

fn read_value<Q: Quantity>(at: &At<'_, '_>, reader: &mut Reader) -> Option<Q::Value> {
    let example = Q::EXAMPLES.first().copied().unwrap_or("");
    let expected = Message::new(Q::EXPECTED).with("example", example);
    if let DeValue::String(text) = at.value {
        if let Some(value) = Q::parse(text) {
            return within_reason::<Q>(value, text, at, reader);
        }
        let shown: String = text.chars().take(60).collect();
        let problem = at.problem(Code::BadQuantity).with("got", shown).expected(expected);
        reader.report(problem.hint(Q::trouble(text)).hint(trouble::near::<Q>(text)));
        return None;
    }
    let Some((number, got)) = bare_number(at.value) else { return reader.wrong_form(at, expected) };
    if Q::BARE
        && number > 0.0
        && let Some(value) = Q::parse(&number.to_string())
    {
        return within_reason::<Q>(value, &got, at, reader);
    }
    let sound = number.is_finite() && number >= 0.0;
    let why = if sound { "workload-why-no-unit" } else { "workload-why-not-positive" };
    let hint = Q::UNIT.filter(|_| sound).map(|unit| {
        // A share is written `0.4` by programmers and means 40 %.
        let amount = if unit == "%" && number <= 1.0 { (number * 100.0).to_string() } else { got.clone() };
        let space = if unit == "%" { "" } else { " " };
        Message::new("workload-hint-write").with("text", format!("\"{amount}{space}{unit}\""))
    });
    let problem = at.problem(Code::BadQuantity).with("got", got).expected(expected);
    reader.report(problem.hint(Message::new(why)).hint(hint));
    None
}

/// The amount, unless it is beyond all reason.
fn within_reason<Q: Quantity>(value: Q::Value, got: &str, at: &At<'_, '_>, reader: &mut Reader) -> Option<Q::Value> {
    if Q::base(&value) <= Q::MOST {
        return Some(value);
    }
    out_of_range::<Q, Q::Value>(got, "workload-why-too-large", at, reader)
}

fn out_of_range<Q: Quantity, T>(got: &str, why: &str, at: &At<'_, '_>, reader: &mut Reader) -> Option<T> {
    let expected = Message::new(Q::EXPECTED).with("example", Q::EXAMPLES.first().copied().unwrap_or(""));
    let shown: String = got.chars().take(60).collect();
    reader.report(at.problem(Code::OutOfRange).with("got", shown).expected(expected).hint(Message::new(why)));
    None
}

impl<Q: Quantity> Read for Written<Q> {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self> {
        read_value::<Q>(at, reader).map(|value| Self { value, quantity: PhantomData })
    }
}

impl<Q: Quantity> Read for Positive<Q> {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self> {
        let value = read_value::<Q>(at, reader)?;
        let base = Q::base(&value);
        if base >= Q::LEAST {
            return Some(Self { value, quantity: PhantomData });
        }
        let got = if let DeValue::String(text) = at.value { text.as_ref() } else { "0" };
        let why = if base > 0.0 { "workload-why-too-small" } else { "workload-why-not-positive" };
        out_of_range::<Q, Self>(got, why, at, reader)
    }
}

/// An amount of hob-units: parses by its own `FromStr`.
macro_rules! unit_quantity {
    ($type:ty, $expected:literal, $pattern:literal, $unit:literal, $units:expr, $most:expr, $examples:expr) => {
        impl Quantity for $type {
            type Value = Self;
            const EXPECTED: &'static str = $expected;
            const EXAMPLES: &'static [&'static str] = &$examples;
            const PATTERN: &'static str = $pattern;
            const UNIT: Option<&'static str> = Some($unit);
            const UNITS: &'static [&'static str] = &$units;
            const MOST: f64 = $most;
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }
            fn base(value: &Self) -> f64 {
                hob_units::Quantity::base(*value)
            }
        }
    };
}

unit_quantity!(
    Seconds,
    "workload-expected-time",
    r"^\s*[+]?[0-9.][0-9_,.eE+]*\s*(ns|us|ms|s|sec|seconds?|min|minutes?|h|hours?|d|days?|weeks?|months?|years?)\s*$",
    "days",
    ["s", "ms", "min", "h", "days", "weeks", "seconds", "minutes", "hours", "months", "years"],
    1e10, // three hundred years: longer than any archive of video
    ["5 days", "2 hours", "300 ms"]
);
unit_quantity!(
    Bytes,
    "workload-expected-size",
    r"^\s*[+]?[0-9.][0-9_,.eE+]*\s*([KMGTP]i|[kKMGTP])?[Bb]\s*$",
    "GiB",
    ["GiB", "GB", "MiB", "MB", "TiB", "TB", "KiB", "kB", "B"],
    1e15,
    ["80 GiB", "300 kB"]
);
unit_quantity!(
    BytesPerSec,
    "workload-expected-transfer",
    r"^\s*[+]?[0-9.][0-9_,.eE+]*\s*[A-Za-z]+(/s)?\s*$",
    "Gbit/s",
    ["Gbit/s", "GB/s", "Mbit/s", "MB/s", "Gbps", "Mbps"],
    1e15,
    ["25 Gbit/s", "2 GB/s"]
);
unit_quantity!(
    Share,
    "workload-expected-share",
    r"^\s*[+]?[0-9.]+\s*%\s*$",
    "%",
    ["%"],
    1e6, // above the whole, which each field judges with its own words
    ["40%", "80%"]
);
unit_quantity!(
    Tokens,
    "workload-expected-tokens",
    r"^\s*[+]?[0-9.][0-9_,.eE+]*\s*[kMBT]?\s*tokens?\s*$",
    "tokens",
    ["tokens", "k tokens", "M tokens", "B tokens", "T tokens"],
    1e16, // the largest training runs read 1e14
    ["500 tokens", "2B tokens"]
);

/// Most money of any currency: above the price of all computers.
const MONEY_MOST: f64 = 1e15;

fn amount(money: &Money) -> f64 {
    money.as_f64_for_score()
}

impl Quantity for Money {
    type Value = Self;
    const EXPECTED: &'static str = "workload-expected-money";
    const EXAMPLES: &'static [&'static str] = &["CNY 50000"];
    const PATTERN: &'static str = r"^\s*[A-Z]{3}\s+[0-9][0-9_,.]*\s*$";
    const UNIT: Option<&'static str> = None;
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn trouble(text: &str) -> Message {
        trouble::of_money(text)
    }
    const MOST: f64 = MONEY_MOST;
    fn base(value: &Self) -> f64 {
        amount(value)
    }
}

impl Quantity for MoneyPer {
    type Value = Self;
    const EXPECTED: &'static str = "workload-expected-money-per";
    const EXAMPLES: &'static [&'static str] = &["CNY 20000/month", "CNY 5000/day"];
    const PATTERN: &'static str = r"^\s*[A-Z]{3}\s+[0-9][0-9_,.]*\s*/\s*[A-Za-z]+\s*$";
    const UNIT: Option<&'static str> = None;
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn trouble(text: &str) -> Message {
        trouble::of_money(text)
    }
    const MOST: f64 = MONEY_MOST;
    fn base(value: &Self) -> f64 {
        amount(&value.money)
    }
}

/// A budget: an amount for a period, or in all.
#[derive(Debug, Clone)]
pub(crate) struct BudgetText;

impl Quantity for BudgetText {
    type Value = Budget;
    const EXPECTED: &'static str = "workload-expected-budget";
    const EXAMPLES: &'static [&'static str] = &["CNY 20000/month", "CNY 50000"];
    const PATTERN: &'static str = r"^\s*[A-Z]{3}\s+[0-9][0-9_,.]*\s*(/\s*[A-Za-z]+)?\s*$";
    const UNIT: Option<&'static str> = None;
    fn parse(text: &str) -> Option<Budget> {
        if text.contains('/') { text.parse().ok().map(Budget::Rate) } else { text.parse().ok().map(Budget::Total) }
    }
    fn trouble(text: &str) -> Message {
        trouble::of_money(text)
    }
    const MOST: f64 = MONEY_MOST;
    fn base(value: &Budget) -> f64 {
        match value {
            Budget::Rate(rate) => amount(&rate.money),
            Budget::Total(money) => amount(money),
        }
    }
}
