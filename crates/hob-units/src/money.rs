//! Money is decimal with its currency, and is never silently converted.

use std::fmt;
use std::str::FromStr;

use rust_decimal::prelude::{FromPrimitive, ToPrimitive};
use rust_decimal::{Decimal, RoundingStrategy};
use serde::{Deserialize, Serialize};

use crate::parse::ParseQuantityError;
use crate::quantity::decimals;
use crate::time::HOURS_PER_MONTH;

/// An ISO 4217 code: three upper-case letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency([u8; 3]);

impl Currency {
    /// Chinese yuan.
    pub const CNY: Self = Self(*b"CNY");
    /// US dollar.
    pub const USD: Self = Self(*b"USD");

    /// The three letters.
    #[must_use]
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("XXX")
    }
}

impl FromStr for Currency {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        match trimmed.as_bytes() {
            &[a, b, c] if [a, b, c].iter().all(u8::is_ascii_uppercase) => Ok(Self([a, b, c])),
            _ => Err(ParseQuantityError::new(text, "a currency code of three capital letters, such as `CNY`")),
        }
    }
}

impl TryFrom<String> for Currency {
    type Error = ParseQuantityError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.code().to_owned()
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

/// An amount in one currency. Arithmetic between two currencies does not compile into an answer: it returns `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Money {
    /// The amount, exact.
    pub amount: Decimal,
    /// Its currency.
    pub currency: Currency,
}

impl Money {
    /// An exact amount.
    #[must_use]
    pub fn new(amount: Decimal, currency: Currency) -> Self {
        Self { amount, currency }
    }

    /// Zero in a currency.
    #[must_use]
    pub fn zero(currency: Currency) -> Self {
        Self { amount: Decimal::ZERO, currency }
    }

    /// The sum, when both are in one currency and it does not overflow.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        if self.currency != other.currency {
            return None;
        }
        Some(Self { amount: self.amount.checked_add(other.amount)?, currency: self.currency })
    }

    /// The difference, when both are in one currency and it does not overflow.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.checked_add(Self { amount: -other.amount, currency: other.currency })
    }

    /// This amount times a physical quantity (hours, share of a month, units made). The factor is turned into a decimal,
    /// so money itself never lives in a float. `None` when the factor is not finite or the product overflows.
    #[must_use]
    pub fn times(self, factor: f64) -> Option<Self> {
        let factor = Decimal::from_f64(factor)?;
        Some(Self { amount: self.amount.checked_mul(factor)?, currency: self.currency })
    }

    /// Rounded half-even to `digits` decimals.
    #[must_use]
    pub fn rounded(self, digits: u32) -> Self {
        let amount = self.amount.round_dp_with_strategy(digits, RoundingStrategy::MidpointNearestEven);
        Self { amount, currency: self.currency }
    }

    /// The amount as a float, for scores and charts only; never to be turned back into money.
    #[must_use]
    pub fn as_f64_for_score(self) -> f64 {
        self.amount.to_f64().unwrap_or(f64::INFINITY)
    }

    /// Compares within one currency; `None` across two.
    #[must_use]
    pub fn compare(self, other: Self) -> Option<std::cmp::Ordering> {
        (self.currency == other.currency).then(|| self.amount.cmp(&other.amount))
    }
}

fn grouped(amount: Decimal) -> String {
    let digits = match amount.abs().to_f64().unwrap_or(0.0) {
        v if v >= 1000.0 => 0,
        v if v >= 0.1 || v == 0.0 => 2,
        v => decimals(v),
    };
    let plain =
        format!("{:.*}", digits, amount.round_dp_with_strategy(digits as u32, RoundingStrategy::MidpointNearestEven));
    let (sign, rest) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(w, f)| (w, Some(f)));
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.currency, grouped(self.amount)))
    }
}

impl FromStr for Money {
    type Err = ParseQuantityError;
    /// Reads `CNY 20000`, `USD 1,250.50`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = || ParseQuantityError::new(text, "an amount with its currency, such as `CNY 20000`");
        let (currency, amount) =
            text.trim().split_once(char::is_whitespace).ok_or_else(|| fail().because("it has no currency"))?;
        let currency: Currency =
            currency.parse().map_err(|_| fail().because(format!("`{currency}` is not a currency code")))?;
        let digits: String = amount.trim().chars().filter(|c| !matches!(c, ',' | '_')).collect();
        let amount = Decimal::from_str(&digits).map_err(|_| fail().because(format!("`{amount}` is not an amount")))?;
        if amount.is_sign_negative() && !amount.is_zero() {
            return Err(fail().because("it is negative"));
        }
        Ok(Self { amount, currency })
    }
}

/// The span over which a price or a budget runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    /// One hour.
    Hour,
    /// One day of 24 hours.
    Day,
    /// One average month, [`HOURS_PER_MONTH`] hours.
    Month,
    /// Twelve average months.
    Year,
}

impl Period {
    /// Length in hours.
    #[must_use]
    pub fn hours(self) -> f64 {
        match self {
            Self::Hour => 1.0,
            Self::Day => 24.0,
            Self::Month => HOURS_PER_MONTH,
            Self::Year => HOURS_PER_MONTH * 12.0,
        }
    }

    /// The word in a price: `hour`, `day`, `month`, `year`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

/// Money for each period: a price or a budget, `CNY 20000/month`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MoneyPer {
    /// The amount for one period.
    pub money: Money,
    /// The period.
    pub per: Period,
}

impl MoneyPer {
    /// The same price expressed for another period (months are average months). `None` on overflow.
    #[must_use]
    pub fn per(self, period: Period) -> Option<Self> {
        if self.per == period {
            return Some(self);
        }
        let money = self.money.times(period.hours() / self.per.hours())?;
        Some(Self { money, per: period })
    }
}

impl fmt::Display for MoneyPer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.money, self.per.word()))
    }
}

impl FromStr for MoneyPer {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = || ParseQuantityError::new(text, "an amount for a period, such as `CNY 20000/month`");
        let (money, per) =
            text.rsplit_once('/').ok_or_else(|| fail().because("it has no `/hour`, `/day`, `/month` or `/year`"))?;
        let per = match per.trim().to_ascii_lowercase().as_str() {
            "hour" | "h" => Period::Hour,
            "day" | "d" => Period::Day,
            "month" => Period::Month,
            "year" => Period::Year,
            other => return Err(fail().because(format!("`{other}` is not hour, day, month or year"))),
        };
        let money =
            money.parse().map_err(|error: ParseQuantityError| ParseQuantityError { why: error.why, ..fail() })?;
        Ok(Self { money, per })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_above_zero_never_reads_as_zero() {
        for (text, shown) in [
            ("CNY 0", "CNY 0.00"),
            ("CNY 0.000012345", "CNY 0.0000123"),
            ("CNY 0.05", "CNY 0.0500"),
            ("CNY 0.5", "CNY 0.50"),
            ("CNY 1234567", "CNY 1,234,567"),
        ] {
            assert_eq!(text.parse::<Money>().map(|money| money.to_string()), Ok(shown.to_owned()));
        }
    }
}
