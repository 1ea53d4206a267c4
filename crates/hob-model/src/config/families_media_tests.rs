//! Every published parameter count of these families, and hostile variants of each config.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;

use serde_json::Value;

use super::graph;
use crate::config::fields::Fields;
use crate::graph::ModelGraph;

/// The folder of public configs, or `None` (with a message) when it is not here.
fn configs() -> Option<PathBuf> {
    let shared = std::env::var_os("HOB_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let folder = shared.join("facts/model_configs");
    if !folder.is_dir() {
        eprintln!("skipped: {} is not here; set HOB_SHARED", folder.display());
        return None;
    }
    Some(folder)
}

fn read(text: &str, name: &str) -> Option<ModelGraph> {
    let value: Value = serde_json::from_str(text).unwrap();
    let fields = Fields::new(name, &value).unwrap();
    graph(&fields, name).map(|graph| graph.unwrap())
}

#[test]
fn published_counts_are_met_exactly() {
    let Some(folder) = configs() else { return };
    let mut checked = 0;
    let mut wrong = Vec::new();
    for line in std::fs::read_to_string(folder.join("index.csv")).unwrap().lines().skip(1) {
        // No quoted field stands before the published count except the source, which is cut off by its file name.
        let file = line.split(',').next().unwrap();
        let Some(graph) = read(&std::fs::read_to_string(folder.join(file)).unwrap(), file) else { continue };
        if !line.contains(",exact,") {
            continue;
        }
        let published: u64 =
            line.split(',').find_map(|field| field.parse().ok().filter(|count| *count > 1_000_000)).unwrap();
        checked += 1;
        if graph.parameters() != published {
            wrong.push(format!("{file}: {} instead of {published}", graph.parameters()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked >= 13, "only {checked} configs of these families were found");
}
