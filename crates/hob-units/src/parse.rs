//! The one way in which a person's `NUMBER UNIT` text is read.

use thiserror::Error;

/// Why a text is not the quantity that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{got}` is not {expected}")]
pub struct ParseQuantityError {
    /// The text as the user wrote it.
    pub got: String,
    /// What was expected, with an example: "a size with its unit, such as `80 GiB`".
    pub expected: &'static str,
    /// What is wrong with it, when that is known: "the unit is missing", "unknown unit `gb/s`".
    pub why: Option<String>,
}

impl ParseQuantityError {
    pub(crate) fn new(got: &str, expected: &'static str) -> Self {
        Self { got: got.to_owned(), expected, why: None }
    }

    pub(crate) fn because(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }
}

/// Splits `"12.5 req/s"` into `(12.5, "req/s")`. Accepts `_` and `,` between digits, a leading sign and an exponent.
/// Returns `None` when the text does not begin with a finite number.
#[must_use]
pub fn split_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let is_exponent = matches!(bytes[end], b'e' | b'E')
            && end > 0
            && bytes.get(end + 1).is_some_and(|next| {
                next.is_ascii_digit()
                    || (matches!(next, b'+' | b'-') && bytes.get(end + 2).is_some_and(u8::is_ascii_digit))
            });
        let is_sign = matches!(bytes[end], b'+' | b'-') && (end == 0 || matches!(bytes[end - 1], b'e' | b'E'));
        let is_digit = bytes[end].is_ascii_digit() || matches!(bytes[end], b'.' | b'_' | b',');
        if !(is_digit || is_exponent || is_sign) {
            break;
        }
        end += 1;
    }
    let digits: String = text[..end].chars().filter(|c| !matches!(c, '_' | ',')).collect();
    let number: f64 = digits.parse().ok()?;
    number.is_finite().then(|| (number, text[end..].trim()))
}

/// Reads a number followed by one of `units` (name, factor to the base unit). Names match without regard to case unless
/// two of them differ only by case. Negative numbers are refused.
pub(crate) fn parse_with_units(
    text: &str,
    units: &[(&str, f64)],
    expected: &'static str,
) -> Result<f64, ParseQuantityError> {
    let fail = || ParseQuantityError::new(text, expected);
    let (number, unit) = split_number(text).ok_or_else(|| fail().because("it does not begin with a number"))?;
    if number < 0.0 {
        return Err(fail().because("it is negative"));
    }
    if unit.is_empty() {
        return Err(fail().because("the unit is missing"));
    }
    let factor = units
        .iter()
        .find(|(name, _)| *name == unit)
        .or_else(|| units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)))
        .map(|(_, factor)| *factor)
        .ok_or_else(|| fail().because(format!("`{unit}` is not a known unit")))?;
    let value = number * factor;
    if value.is_finite() { Ok(value) } else { Err(fail().because("it is too large")) }
}
