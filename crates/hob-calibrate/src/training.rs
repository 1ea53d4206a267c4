//! Training runs as questions: memory and speed.

use crate::library::Library;
use crate::question::{Question, Unanswered};
use crate::table::Row;

/// The row as a question.
pub(crate) fn question(row: &Row, library: &mut Library<'_>) -> Result<Question, Unanswered> {
    library.preset(row.text("model"))?;
    Err(Unanswered::Outside { what: "this kind of row".to_owned() })
}
