//! Which model, and what it does.

use hob_text::Message;

use crate::problem::{Code, Problem};
use crate::raw;
use crate::read::{Either, Located, parse_count};
use crate::work::ModelRef;

use super::Check;

/// The model of the file; reports when there is none.
pub(crate) fn model(root: &raw::Root, check: &mut Check<'_>) -> Option<ModelRef> {
    let Some(model) = &root.model else {
        check.missing("model", Message::new("workload-expected-model"));
        return None;
    };
    match &model.value {
        Either::Short(source) => Some(ModelRef { source: source.0.clone(), params: params_of_name(&source.0) }),
        Either::Long(table) => long(model, table, check),
    }
}

fn long<T>(model: &Located<T>, table: &raw::Model, check: &mut Check<'_>) -> Option<ModelRef> {
    let params = table.params.as_ref().map(|params| params.value.value);
    match (&table.source, params) {
        (Some(source), stated) => Some(ModelRef {
            source: source.value.0.clone(),
            params: stated.or_else(|| params_of_name(&source.value.0)),
        }),
        (None, Some(count)) => Some(ModelRef { source: billions(count), params: Some(count) }),
        (None, None) => {
            let problem = Problem::new(Code::Missing, model.span.clone(), "model.source").with("kind", check.kind);
            check.reader.report(problem.expected(Message::new("workload-expected-model")));
            None
        }
    }
}

/// The source of a file's model as it is written, before anything is checked; for guesses only.
pub(crate) fn source(root: &raw::Root) -> Option<&str> {
    match &root.model.as_ref()?.value {
        Either::Short(source) => Some(&source.0),
        Either::Long(table) => table.source.as_ref().map(|source| source.value.0.as_str()),
    }
}

/// `7B` as a model is a parameter count; a name that merely begins with digits is not.
fn params_of_name(name: &str) -> Option<f64> {
    let is_count = name.ends_with(['k', 'K', 'M', 'B', 'T', '万', '亿']) && !name.contains(char::is_whitespace);
    parse_count(name).filter(|count| is_count && *count > 0.0)
}

/// A count as `hob inspect` takes it.
fn billions(count: f64) -> String {
    if count >= 1e9 { format!("{}B", count / 1e9) } else { format!("{}M", count / 1e6) }
}
