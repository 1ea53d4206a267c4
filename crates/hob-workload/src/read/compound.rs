//! Lists, either-or values, and exchange rates.

use hob_units::Currency;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::de::DeValue;

use crate::problem::{Code, Problem};
use hob_text::Message;

use super::number::{Decimal, bare_number};
use super::{At, Located, Read, Reader, join};

/// Longest list; the longest sensible one (own machines, instance types) is far shorter.
const ITEMS_MAX: usize = 500;

/// A list of values, or of tables.
#[derive(Debug, Clone)]
pub(crate) struct List<T>(pub Vec<Located<T>>);

impl<T: JsonSchema> JsonSchema for List<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "List".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "maxItems": ITEMS_MAX, "items": generator.subschema_for::<T>() })
    }
}

impl<T: Read> Read for List<T> {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self> {
        let array = match at.value {
            DeValue::Array(array) => array,
            DeValue::String(text) => {
                let expected = Message::new("workload-expected-list");
                let hint = Message::new("workload-hint-write").with("text", format!("[\"{text}\"]"));
                reader.report(at.problem(Code::WrongForm).expected(expected).hint(hint));
                return None;
            }
            DeValue::Table(_) => {
                let hint = Message::new("workload-hint-write").with("text", format!("[[{}]]", at.field));
                let expected = Message::new("workload-expected-tables");
                reader.report(at.problem(Code::WrongForm).expected(expected).hint(hint));
                return None;
            }
            _ => return reader.wrong_form(at, Message::new("workload-expected-list")),
        };
        if array.len() > ITEMS_MAX {
            let problem = at.problem(Code::TooMany).with("count", array.len().to_string());
            reader.report(problem.with("max", ITEMS_MAX.to_string()));
            return None;
        }
        let mut items = Vec::with_capacity(array.len());
        for (index, item) in array.iter().enumerate() {
            let field = format!("{}[{}]", at.field, index + 1);
            items.extend(reader.locate(At { value: item.get_ref(), span: item.span(), field }));
        }
        Some(Self(items))
    }
}

/// A short form, or a table that says more.
#[derive(Debug, Clone)]
pub(crate) enum Either<Short, Long> {
    Short(Short),
    Long(Long),
}

impl<Short: JsonSchema, Long: JsonSchema> JsonSchema for Either<Short, Long> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Either".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let short = generator.subschema_for::<Short>();
        let long = generator.subschema_for::<Long>();
        json_schema!({ "anyOf": [short, long] })
    }
}

impl<Short: Read, Long: Read> Read for Either<Short, Long> {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self> {
        match at.value {
            DeValue::Table(_) => Long::read(at, reader).map(Self::Long),
            _ => Short::read(at, reader).map(Self::Short),
        }
    }
}

/// `{ USD_CNY = 7.1 }`: one unit of the first costs this many of the second.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exchange(pub Vec<Located<(Currency, Currency, f64)>>);

impl JsonSchema for Exchange {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Exchange".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = generator.subschema_for::<Decimal>();
        json_schema!({
            "type": "object",
            "patternProperties": { "^[A-Z]{3}_[A-Z]{3}$": rate },
            "additionalProperties": false,
            "examples": [{ "USD_CNY": 7.1 }],
        })
    }
}

impl Read for Exchange {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self> {
        let expected = || Message::new("workload-expected-exchange");
        let DeValue::Table(table) = at.value else { return reader.wrong_form(at, expected()) };
        if table.len() > ITEMS_MAX {
            let problem = at.problem(Code::TooMany).with("count", table.len().to_string());
            reader.report(problem.with("max", ITEMS_MAX.to_string()));
            return None;
        }
        let mut rates = Vec::new();
        for (key, value) in table {
            let field = join(&at.field, key.get_ref());
            let Some(pair) = pair(key.get_ref()) else {
                let problem = Problem::new(Code::UnknownKey, key.span(), field).with("key", key.get_ref().as_ref());
                reader.report(problem.expected(expected()));
                continue;
            };
            let below = At { value: value.get_ref(), span: value.span(), field };
            if bare_number(below.value).is_none() {
                reader.report(below.problem(Code::WrongForm).expected(expected()));
                continue;
            }
            let Some(Decimal(rate)) = Decimal::read(&below, reader) else { continue };
            rates.push(Located { value: (pair.0, pair.1, rate), span: below.span, field: below.field });
        }
        Some(Self(rates))
    }
}

/// The two currencies of `USD_CNY`; a pair of one currency with itself is none.
fn pair(key: &str) -> Option<(Currency, Currency)> {
    let (from, to) = key.split_once('_')?;
    let pair: (Currency, Currency) = (from.parse().ok()?, to.parse().ok()?);
    (pair.0 != pair.1).then_some(pair)
}
