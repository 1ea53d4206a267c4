//! Which model, and what it does.

use hob_text::Message;

use crate::guess;
use crate::problem::{Code, Problem};
use crate::raw;
use crate::read::{Either, Located, parse_count};
use crate::work::{ModelRef, Task};

use super::{Check, recommender};

/// The model of the file; reports when there is none.
pub(crate) fn model(root: &raw::Root, check: &mut Check<'_>) -> Option<ModelRef> {
    let Some(model) = &root.model else {
        check.missing("model", Message::new("workload-expected-model"));
        return None;
    };
    match &model.value {
        Either::Short(source) => {
            Some(ModelRef { source: source.0.clone(), params: params_of_name(&source.0), recommender: None })
        }
        Either::Long(table) => long(root, model, table, check),
    }
}

fn long<T>(root: &raw::Root, model: &Located<T>, table: &raw::Model, check: &mut Check<'_>) -> Option<ModelRef> {
    let params = table.params.as_ref().map(|params| params.value.value);
    let source = table.source.as_ref().map(|source| source.value.0.clone());
    if let Some(sizes) = &table.recommender {
        if let Some(task) = root.task.as_ref().filter(|task| task.value.value != Task::Recommend) {
            check.contradiction(task, &sizes.field, Message::new("workload-why-recommender"));
        }
        let source = source.unwrap_or_else(|| "recommender".to_owned());
        return Some(ModelRef { source, params, recommender: Some(recommender::sizes(sizes, check)?) });
    }
    match (source, params) {
        (Some(source), stated) => {
            let params = stated.or_else(|| params_of_name(&source));
            Some(ModelRef { source, params, recommender: None })
        }
        (None, Some(count)) => Some(ModelRef { source: billions(count), params: Some(count), recommender: None }),
        (None, None) => {
            let problem = Problem::new(Code::Missing, model.span.clone(), "model.source").with("kind", check.kind);
            check.reader.report(problem.expected(Message::new("workload-expected-model")));
            None
        }
    }
}

/// What the model does, told from how it is written, before anything is checked; for defaults of sizes only.
pub(crate) fn likely_task(root: &raw::Root) -> Option<Task> {
    match &root.model.as_ref()?.value {
        Either::Short(source) => guess::task_of_model(&source.0),
        Either::Long(table) if table.recommender.is_some() => Some(Task::Recommend),
        Either::Long(table) => guess::task_of_model(&table.source.as_ref()?.value.0),
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
