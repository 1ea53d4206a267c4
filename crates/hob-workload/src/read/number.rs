//! Bare values: text, whole numbers, decimals, true and false.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::de::DeValue;

use crate::problem::Code;
use hob_text::Message;

use super::{At, Read, Reader};

/// Longest text of one field: a path or a name, not a document.
const TEXT_MAX: usize = 4096;

/// A text that is not empty.
#[derive(Debug, Clone)]
pub(crate) struct Text(pub String);

impl JsonSchema for Text {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": TEXT_MAX })
    }
}

impl Read for Text {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self> {
        let expected = Message::new("workload-expected-text");
        match at.value {
            DeValue::String(text) if text.contains(steers) => {
                reader.report(at.problem(Code::ControlCharacter).expected(expected));
                None
            }
            DeValue::String(text) if !text.trim().is_empty() && text.len() <= TEXT_MAX => {
                Some(Self(text.trim().to_owned()))
            }
            _ => reader.wrong_form(at, expected),
        }
    }
}

/// Whether a character steers a terminal (escape sequences) or turns the direction of what follows. No name and no path
/// needs one, and a name is printed in tables.
fn steers(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A whole number from 1 to `MAX`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whole<const MAX: u64>(pub u64);

impl<const MAX: u64> Whole<MAX> {
    /// The number where the field is narrower; `MAX` is chosen so that nothing is lost.
    pub(crate) fn as_u32(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

impl<const MAX: u64> JsonSchema for Whole<MAX> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Whole".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": MAX })
    }
}

impl<const MAX: u64> Read for Whole<MAX> {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self> {
        let expected = Message::new("workload-expected-whole").with("max", MAX.to_string());
        let DeValue::Integer(integer) = at.value else { return reader.wrong_form(at, expected) };
        match u64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) if (1..=MAX).contains(&number) => Some(Self(number)),
            _ => {
                reader.report(at.problem(Code::OutOfRange).with("got", integer.to_string()).expected(expected));
                None
            }
        }
    }
}

/// A finite number above zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal(pub f64);

impl JsonSchema for Decimal {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Decimal".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1e12 })
    }
}

impl Read for Decimal {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self> {
        let expected = Message::new("workload-expected-number");
        let (number, got) = match bare_number(at.value) {
            Some(read) => read,
            None => return reader.wrong_form(at, expected),
        };
        if (1e-9..=1e12).contains(&number) {
            return Some(Self(number));
        }
        reader.report(at.problem(Code::OutOfRange).with("got", got).expected(expected));
        None
    }
}

/// A weight from 0 to 1, both included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weight(pub f64);

impl JsonSchema for Weight {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Weight".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}

impl Read for Weight {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self> {
        let expected = Message::new("workload-expected-weight");
        let Some((weight, got)) = bare_number(at.value) else { return reader.wrong_form(at, expected) };
        if (0.0..=1.0).contains(&weight) {
            return Some(Self(weight));
        }
        reader.report(at.problem(Code::OutOfRange).with("got", got).expected(expected));
        None
    }
}

/// A bare TOML number and how it was written; NaN when it is not in range of a float.
pub(crate) fn bare_number(value: &DeValue<'_>) -> Option<(f64, String)> {
    match value {
        DeValue::Integer(integer) => {
            let number =
                i64::from_str_radix(integer.as_str(), integer.radix()).map_or(f64::NAN, |number| number as f64);
            Some((number, integer.to_string()))
        }
        DeValue::Float(float) => Some((float.as_str().parse().unwrap_or(f64::NAN), float.to_string())),
        _ => None,
    }
}

/// True or false.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flag(pub bool);

impl JsonSchema for Flag {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Flag".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "boolean" })
    }
}

impl Read for Flag {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self> {
        match at.value {
            DeValue::Boolean(flag) => Some(Self(*flag)),
            _ => reader.wrong_form(at, Message::new("workload-expected-flag")),
        }
    }
}
