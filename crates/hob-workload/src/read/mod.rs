//! From the syntax tree to the raw layer, collecting every problem on the way.
//!
//! serde stops at the first error; a person who made three mistakes wants to hear of three. So the raw structs read
//! themselves from the spanned tree. A value that cannot be read is reported once and then absent.

mod amount;
mod choice;
mod compound;
mod number;
mod quantity;
mod table;
mod trouble;

use std::ops::Range;

use schemars::JsonSchema;
use toml::de::DeValue;

pub(crate) use amount::{Count, Fps, Hours, MeasuredFps, PerHour, RateText, Resolution, parse_count};
pub(crate) use choice::{Choice, Choices};
pub(crate) use compound::{Either, Exchange, List};
pub(crate) use number::{Decimal, Flag, Text, Weight, Whole};
pub(crate) use quantity::{BudgetText, Positive, Written};
pub(crate) use table::{KnownKeys, tables};
pub(crate) use trouble::half_width;

use crate::problem::{Code, Problem};
use hob_text::Message;

/// A value with the place where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Located<T> {
    pub value: T,
    pub span: Range<usize>,
    /// Path as the user would write it.
    pub field: String,
}

/// A value's place in the schema is the value's own.
impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

/// A value of the tree, its place and its path.
pub(crate) struct At<'a, 'i> {
    pub value: &'a DeValue<'i>,
    pub span: Range<usize>,
    pub field: String,
}

impl At<'_, '_> {
    /// A problem with this very value.
    pub(crate) fn problem(&self, code: Code) -> Problem {
        Problem::new(code, self.span.clone(), self.field.clone())
    }
}

/// What reads itself from the tree. `None` means that a problem was reported.
pub(crate) trait Read: Sized {
    fn read(at: &At<'_, '_>, reader: &mut Reader) -> Option<Self>;
}

/// Collects problems.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pub problems: Vec<Problem>,
}

impl Reader {
    pub(crate) fn report(&mut self, problem: Problem) {
        /// Beyond this nothing is kept, so that a hostile file costs bounded memory.
        const KEPT: usize = 10_000;
        if self.problems.len() < KEPT {
            self.problems.push(problem);
        }
    }

    /// Reports a value of the wrong form and gives nothing.
    pub(crate) fn wrong_form<T>(&mut self, at: &At<'_, '_>, expected: Message) -> Option<T> {
        self.report(at.problem(Code::WrongForm).expected(expected));
        None
    }

    pub(crate) fn locate<T: Read>(&mut self, at: At<'_, '_>) -> Option<Located<T>> {
        let value = T::read(&at, self)?;
        Some(Located { value, span: at.span, field: at.field })
    }
}

/// A key below a table, as the user would write it; shortened where a key is no name but a document.
pub(crate) fn join(table: &str, key: &str) -> String {
    /// The longest key of Hob has 22 letters.
    const KEY_MAX: usize = 60;
    let key: String = key.chars().take(KEY_MAX).collect();
    if table.is_empty() { key } else { format!("{table}.{key}") }
}
