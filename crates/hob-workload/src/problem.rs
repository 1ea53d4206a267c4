//! What is wrong with a workload file: located, explained, with the way out.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use hob_text::{Argument, Catalogue, Message};
use serde::Serialize;

use crate::places::Places;
use crate::source::{Lines, inside};

/// More problems than this are counted, not listed: nobody reads them, and a hostile file could have millions.
pub const MAX_PROBLEMS: usize = 100;

/// Declares the kinds of problem: variant, stable code, message id.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $id:literal;)*) => {
        /// The kinds of problem. A code never changes its meaning, and a retired one is not given out again.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The stable code: `W004`.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code),* }
            }

            /// Id of the sentence that says what happened.
            #[must_use]
            pub fn message_id(self) -> &'static str {
                match self { $(Self::$name => $id),* }
            }
        }
    };
}

codes! {
    /// The file is larger than any workload file.
    TooLarge = "W001", "workload-too-large";
    /// The file is not UTF-8 text.
    NotUtf8 = "W002", "workload-not-utf8";
    /// The file says nothing.
    Empty = "W003", "workload-empty";
    /// The text is not TOML.
    Syntax = "W004", "workload-syntax";
    /// No table has such a key.
    UnknownKey = "W005", "workload-unknown-key";
    /// The key is for another kind of work.
    OtherKind = "W006", "workload-other-kind";
    /// The key is known, but in another table.
    Misplaced = "W007", "workload-misplaced";
    /// A table where a text belongs, and the like.
    WrongForm = "W008", "workload-wrong-form";
    /// The text is not the quantity that the field takes.
    BadQuantity = "W009", "workload-bad-quantity";
    /// The word is not one of those that the field takes.
    UnknownWord = "W010", "workload-unknown-word";
    /// The number is outside what the field takes.
    OutOfRange = "W011", "workload-out-of-range";
    /// A field that cannot be assumed is not there.
    Missing = "W012", "workload-missing";
    /// A service without traffic.
    NoTraffic = "W013", "workload-no-traffic";
    /// A deadline without an amount of work.
    NoAmount = "W014", "workload-no-amount";
    /// Two fields that exclude each other.
    Exclusive = "W015", "workload-exclusive";
    /// Two fields that contradict each other.
    Contradiction = "W016", "workload-contradiction";
    /// Hours of the day that overlap.
    WindowsOverlap = "W017", "workload-windows-overlap";
    /// Hours of the day without a rate.
    WindowsGap = "W018", "workload-windows-gap";
    /// The field has no meaning for the stated task or method.
    NotUsed = "W019", "workload-not-used";
    /// A list that is too long.
    TooMany = "W020", "workload-too-many";
    /// The same name twice.
    Twice = "W021", "workload-twice";
    /// More than the model can take.
    PastModel = "W022", "workload-past-model";
    /// A budget that no offer can be compared with.
    BudgetApart = "W023", "workload-budget-apart";
    /// A text with characters that steer a terminal.
    ControlCharacter = "W024", "workload-control-character";
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The kind.
    pub code: Code,
    /// Path of the field as the user would write it: `traffic.window[2].rate`; empty for the whole file.
    pub field: String,
    /// Bytes of the text that are meant.
    pub span: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What happened.
    pub what: Message,
    /// What was expected, with an example.
    pub expected: Option<Message>,
    /// What to do.
    pub hints: Vec<Message>,
}

impl Problem {
    pub(crate) fn new(code: Code, span: Range<usize>, field: impl Into<String>) -> Self {
        let field = field.into();
        let what = Message::new(code.message_id()).with("field", field.clone());
        Self { code, field, span, line: 1, column: 1, what, expected: None, hints: Vec::new() }
    }

    /// A problem with a field that is only found after the file was read; [`Problems::of_fields`] finds its place.
    #[must_use]
    pub fn of_field(code: Code, field: impl Into<String>) -> Self {
        Self::new(code, 0..0, field)
    }

    /// The same problem with one more variable of its sentence.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.what = self.what.with(name, value);
        self
    }

    /// The same problem with what was expected.
    #[must_use]
    pub fn expected(mut self, expected: Message) -> Self {
        self.expected = Some(expected);
        self
    }

    /// The same problem with one more thing to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Option<Message>>) -> Self {
        self.hints.extend(hint.into());
        self
    }

    /// Id of the sentence that says what happened.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.what.id
    }

    /// Arguments of that sentence.
    #[must_use]
    pub fn args(&self) -> &BTreeMap<String, Argument> {
        &self.what.args
    }
}

/// Everything that is wrong with one file, in the order of the text. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    file_name: String,
    text: String,
    lines: Lines,
    list: Vec<Problem>,
    left_off: usize,
}

impl Problems {
    pub(crate) fn new(file_name: &str, text: &str, mut list: Vec<Problem>) -> Self {
        let lines = Lines::new(text);
        for problem in &mut list {
            problem.span = inside(text, problem.span.clone());
            (problem.line, problem.column) = lines.position(text, problem.span.start);
        }
        list.sort_by(|a, b| {
            (a.span.start, a.code, &a.field, a.span.end).cmp(&(b.span.start, b.code, &b.field, b.span.end))
        });
        list.dedup();
        let left_off = list.len().saturating_sub(MAX_PROBLEMS);
        list.truncate(MAX_PROBLEMS);
        Self { file_name: file_name.to_owned(), text: text.to_owned(), lines, list, left_off }
    }

    /// Problems that were found after the file was read, each at the place of its field in the text.
    #[must_use]
    pub fn of_fields(file_name: &str, text: &str, mut list: Vec<Problem>) -> Self {
        let places = Places::of(text);
        for problem in &mut list {
            problem.span = places.of_field(&problem.field);
        }
        Self::new(file_name, text, list)
    }

    /// The problems, at most [`MAX_PROBLEMS`].
    #[must_use]
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// How many more there were.
    #[must_use]
    pub fn left_off(&self) -> usize {
        self.left_off
    }

    /// Name of the file, as it was given.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// The problems as data, for `--json`; sentences in the catalogue's language.
    #[must_use]
    pub fn to_json(&self, catalogue: &Catalogue) -> serde_json::Value {
        let rows = self.list.iter().map(|problem| {
            let say = |message: &Message| catalogue.text(message);
            Row {
                code: problem.code.code(),
                id: problem.id(),
                field: &problem.field,
                line: problem.line,
                column: problem.column,
                what: say(&problem.what),
                expected: problem.expected.as_ref().map(say),
                hints: problem.hints.iter().map(say).collect(),
            }
        });
        let rows: Vec<_> = rows.collect();
        serde_json::json!({ "file": self.file_name, "problems": rows, "left_off": self.left_off })
    }
}

/// One problem in JSON.
#[derive(Serialize)]
struct Row<'a> {
    code: &'a str,
    id: &'a str,
    field: &'a str,
    line: usize,
    column: usize,
    what: String,
    expected: Option<String>,
    hints: Vec<String>,
}

impl fmt::Display for Problems {
    /// Plain English, one line for each problem; [`Problems::render`] shows the source.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            let separator = if index > 0 { "\n" } else { "" };
            let place = format!("{}:{}:{}", self.file_name, problem.line, problem.column);
            write!(f, "{separator}{place}: [{}] {}", problem.code.code(), problem.what)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
