//! Every published parameter count in `data/models/index.csv`, and the folds that speed and memory stand on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use hob_model::preset;

/// One row of the index.
struct Row {
    hub_id: String,
    published: Option<u64>,
    computed: Option<u64>,
    is_exact: bool,
}

/// Splits one CSV line; quoted fields hold commas.
fn columns(line: &str) -> Vec<String> {
    let mut columns = vec![String::new()];
    let mut is_quoted = false;
    for character in line.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => columns.push(String::new()),
            other => columns.last_mut().unwrap().push(other),
        }
    }
    columns
}

fn rows() -> Vec<Row> {
    let mut lines = include_str!("../../../data/models/index.csv").lines();
    let heads = columns(lines.next().unwrap());
    lines
        .map(|line| {
            let row: BTreeMap<&str, String> = heads.iter().map(String::as_str).zip(columns(line)).collect();
            Row {
                hub_id: row["hf_id"].clone(),
                published: row["published_params"].parse().ok(),
                computed: row["computed_params"].parse().ok(),
                is_exact: row["match"] == "exact",
            }
        })
        .collect()
}

#[test]
fn parameter_counts_equal_the_published_ones() {
    let rows = rows();
    assert_eq!(rows.len(), 113);
    let mut wrong = Vec::new();
    for row in &rows {
        let wanted = if row.is_exact { row.published } else { row.computed }.unwrap();
        match preset(&row.hub_id).unwrap().graph() {
            Ok(graph) if graph.parameters() == wanted => {}
            Ok(graph) => wrong.push(format!("{}: {} instead of {wanted}", row.hub_id, graph.parameters())),
            Err(error) if error.to_string().contains("not known") => {}
            Err(error) => wrong.push(format!("{}: {error}", row.hub_id)),
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows: {wrong:#?}", wrong.len(), rows.len());
}
