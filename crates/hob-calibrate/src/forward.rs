//! Vision, speech and diffusion as questions.

use crate::library::Library;
use crate::question::{Question, Unanswered};
use crate::table::Row;

/// Whether the row is of a model that answers in one pass or a fixed number of passes.
pub(crate) fn is_forward(row: &Row) -> bool {
    let scenario = row.text("scenario");
    ["MLPerf", "vision", "text-to-", "one denoiser", "full pipeline"].iter().any(|word| scenario.starts_with(word))
}

/// The row as a question.
pub(crate) fn question(row: &Row, library: &mut Library<'_>) -> Result<Question, Unanswered> {
    library.preset(row.text("model"))?;
    Err(Unanswered::Outside { what: "this kind of row".to_owned() })
}
