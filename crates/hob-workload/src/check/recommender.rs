//! Sizes of a recommender.

use hob_text::Message;

use crate::problem::{Code, Problem};
use crate::raw;
use crate::read::{List, Located};
use crate::work::Recommender;

use super::Check;

// What is left out is the DLRM of MLPerf Training (v0.7 to v2.1): embeddings of 128, 13 dense features, layers of
// 512-256-128 below and 1024-1024-512-256-1 above.
const WIDTH: u64 = 128;
const DENSE_FEATURES: u64 = 13;
const BOTTOM: [u64; 2] = [512, 256];
const TOP: [u64; 5] = [1024, 1024, 512, 256, 1];

pub(crate) fn sizes(table: &Located<raw::Recommender>, check: &mut Check<'_>) -> Option<Recommender> {
    const WHY: &str = "assumed-recommender";
    let raw = &table.value;
    let under = |key: &str| format!("{}.{key}", table.field);
    let width = raw.width.as_ref().map(|width| width.value.0);
    let width = check.or(width, &under("width"), WIDTH, &WIDTH.to_string(), WHY);
    let dense = raw.dense_features.as_ref().map(|count| count.value.0);
    let dense_features = check.or(dense, &under("dense_features"), DENSE_FEATURES, &DENSE_FEATURES.to_string(), WHY);
    let usual_bottom = [BOTTOM.as_slice(), &[width]].concat();
    let bottom =
        check.or(layers(raw.bottom.as_ref()), &under("bottom"), usual_bottom.clone(), &shown(&usual_bottom), WHY);
    let top = check.or(layers(raw.top.as_ref()), &under("top"), TOP.to_vec(), &shown(&TOP), WHY);
    let lookups = raw.lookups.as_ref().map(|count| count.value.0);
    let lookups_per_table = check.or(lookups, &under("lookups"), 1, "1", WHY);

    if let (Some(stated), true) = (&raw.bottom, bottom.last() != Some(&width)) {
        let why = Message::new("workload-why-bottom").with("width", width);
        check.contradiction(stated, &under("width"), why);
    }
    let tables = raw.tables.as_ref().filter(|tables| !tables.value.0.is_empty());
    let Some(tables) = tables else {
        let was_reported = check.reader.problems.iter().any(|problem| problem.field.starts_with(&under("tables")));
        if !was_reported {
            let problem = Problem::new(Code::Missing, table.span.clone(), under("tables")).with("kind", check.kind);
            check.absent(problem.expected(Message::new("workload-expected-recommender")));
        }
        return None;
    };
    // A count is above zero and below 1e16, so the cast loses a fraction at most.
    let table_rows = tables.value.0.iter().map(|rows| (rows.value.value.round() as u64).max(1)).collect();
    Some(Recommender { table_rows, width, dense_features, bottom, top, lookups_per_table })
}

fn layers(list: Option<&Located<List<raw::Small>>>) -> Option<Vec<u64>> {
    let layers: Vec<u64> = list?.value.0.iter().map(|outputs| outputs.value.0).collect();
    (!layers.is_empty()).then_some(layers)
}

/// A list as the user would write it.
fn shown(layers: &[u64]) -> String {
    format!("[{}]", layers.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}
