//! Recommenders in the form of DLRM (Naumov et al. 2019, arXiv 1906.00091), built from their sizes: embedding tables for
//! the categorical features, an MLP for the dense ones, pairwise products, and an MLP to one score.

use serde::Serialize;

use crate::build::{activation, block, embedding, linear, op, part};
use crate::config::media::{elementwise, model};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Extent, ModelGraph, ModelKind, OpKind, Operator, Origin, PartRole, Shape, Site};

/// Tables, and layers of one MLP; published models have 26 tables and 5 layers.
const PIECES_MAX: usize = 100_000;
/// Rows of a table and widths of a layer; the largest published tables have some 10^9 rows.
const SIZE_MAX: u64 = 1 << 40;

/// Sizes of a DLRM-style recommender. One sample is one row of features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecommenderSizes {
    /// Rows of each embedding table.
    pub table_rows: Vec<u64>,
    /// Width of an embedding.
    pub width: u64,
    /// Dense features of a sample.
    pub dense_features: u64,
    /// Outputs of the layers of the MLP over dense features; the last equals `width`.
    pub bottom: Vec<u64>,
    /// Outputs of the layers of the MLP that scores; the last is usually 1.
    pub top: Vec<u64>,
    /// Rows looked up in each table for a sample (1 for a plain category, more for a history).
    pub lookups_per_table: u64,
}

/// The operator graph of a recommender of these sizes.
///
/// # Errors
/// A size is 0 or absurd, or the bottom MLP does not end at the embedding width.
pub fn recommender_graph(name: &str, sizes: &RecommenderSizes) -> Result<ModelGraph, ModelError> {
    check(name, sizes)?;
    // Embeddings and MLPs are published and trained in 32 bits; 16-bit work is the estimator's choice.
    let dtype = Dtype::F32;
    let once = Extent::Sample { positions: 1 };
    let width = sizes.width;
    let tables = sizes.table_rows.len() as u64;
    let lookups = Extent::Sample { positions: sizes.lookups_per_table };
    let mut lookup: Vec<Operator> = Vec::with_capacity(sizes.table_rows.len());
    for (index, rows) in sizes.table_rows.iter().enumerate() {
        lookup.push(embedding(&format!("table {index}"), Site::Embedding, dtype, *rows, width).over(lookups));
    }
    if sizes.lookups_per_table > 1 {
        lookup.push(elementwise("sum of lookups", dtype, width.saturating_mul(tables), lookups));
    }
    // Every vector with every other: the batched product computes the whole square, the lower triangle is kept.
    let vectors = tables.saturating_add(1);
    let square = vectors.saturating_mul(vectors);
    let pairs = square.saturating_sub(vectors) / 2;
    let product = OpKind::MatMul { multiply_adds: square.saturating_mul(width) };
    let interaction = vec![
        op("pairwise products", Site::Other, dtype, product).over(once),
        elementwise("concat", dtype, width.saturating_add(pairs), once),
    ];
    let bottom = mlp("bottom", dtype, sizes.dense_features, &sizes.bottom);
    let top = mlp("top", dtype, width.saturating_add(pairs), &sizes.top);
    let parts = vec![
        part("embedding tables", PartRole::Embedding, vec![block("lookup", 1, lookup)]),
        part("bottom MLP", PartRole::Encoder, vec![block("bottom MLP", 1, bottom)]),
        part("interaction", PartRole::Other, vec![block("interaction", 1, interaction)]),
        part("top MLP", PartRole::Head, vec![block("top MLP", 1, top)]),
    ];
    let mut graph = model(name, "dlrm", ModelKind::Recommender, width, Shape::default(), parts);
    graph.origin = Origin::Preset;
    Ok(graph)
}

fn mlp(prefix: &str, dtype: Dtype, inputs: u64, outputs: &[u64]) -> Vec<Operator> {
    let once = Extent::Sample { positions: 1 };
    let mut width = inputs;
    let mut ops = Vec::with_capacity(outputs.len().saturating_mul(2));
    for (index, next) in outputs.iter().enumerate() {
        let site = if index + 1 == outputs.len() { Site::MlpOutput } else { Site::MlpInput };
        ops.push(linear(&format!("{prefix}.{index}"), site, dtype, width, *next, true).over(once));
        ops.push(activation(dtype, *next, false).over(once));
        width = *next;
    }
    ops
}

fn check(name: &str, sizes: &RecommenderSizes) -> Result<(), ModelError> {
    let bad = |key: &str, why: String| ModelError::BadField { path: name.to_owned(), key: key.to_owned(), why };
    for (key, list) in [("table_rows", &sizes.table_rows), ("bottom", &sizes.bottom), ("top", &sizes.top)] {
        if list.is_empty() || list.len() > PIECES_MAX {
            return Err(bad(key, format!("has {} entries; 1 to {PIECES_MAX} were expected", list.len())));
        }
        if let Some(size) = list.iter().find(|size| **size == 0 || **size > SIZE_MAX) {
            return Err(bad(key, format!("holds {size}; 1 to {SIZE_MAX} was expected")));
        }
    }
    for (key, size) in [
        ("width", sizes.width),
        ("dense_features", sizes.dense_features),
        ("lookups_per_table", sizes.lookups_per_table),
    ] {
        if size == 0 || size > SIZE_MAX {
            return Err(bad(key, format!("is {size}; 1 to {SIZE_MAX} was expected")));
        }
    }
    match sizes.bottom.last() {
        Some(last) if *last != sizes.width => {
            Err(bad("bottom", format!("ends at {last}; the embedding width {} was expected", sizes.width)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::{RecommenderSizes, recommender_graph};

    /// MLPerf's DLRM on Criteo 1 TB, tables capped at 40 million rows (mlcommons/training `recommendation/dlrm`).
    fn mlperf() -> RecommenderSizes {
        RecommenderSizes {
            table_rows: vec![
                39_884_406, 39_043, 17_289, 7_420, 20_263, 3, 7_120, 1_543, 63, 38_532_951, 2_953_546, 403_346, 10,
                2_208, 11_938, 155, 4, 976, 14, 39_979_771, 25_641_295, 39_664_984, 585_935, 12_972, 108, 36,
            ],
            width: 128,
            dense_features: 13,
            bottom: vec![512, 256, 128],
            top: vec![1024, 1024, 512, 256, 1],
            lookups_per_table: 1,
        }
    }

    #[test]
    fn the_mlperf_model_is_counted() {
        let sizes = mlperf();
        let graph = recommender_graph("dlrm", &sizes).unwrap();
        let rows: u64 = sizes.table_rows.iter().sum();
        let bottom = 13 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128;
        let interaction = 128 + 27 * 26 / 2;
        let top = interaction * 1024 + 1024 + 1024 * 1024 + 1024 + 1024 * 512 + 512 + 512 * 256 + 256 + 256 + 1;
        assert_eq!(graph.parameters(), rows * 128 + bottom + top);
        // All but the tables is work: two FLOPs for each weight, and the pairwise products.
        let weights =
            (13 * 512 + 512 * 256 + 256 * 128 + interaction * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256) as f64;
        assert_eq!(graph.flops(&graph.native_shape).0, 2.0 * (weights + 27.0 * 27.0 * 128.0));
    }

    #[test]
    fn broken_sizes_are_named() {
        let check = |change: fn(&mut RecommenderSizes), key: &str| {
            let mut sizes = mlperf();
            change(&mut sizes);
            let error = recommender_graph("dlrm", &sizes).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
        };
        check(|sizes| sizes.table_rows.clear(), "table_rows");
        check(|sizes| sizes.table_rows.push(u64::MAX), "table_rows");
        check(|sizes| sizes.width = 0, "width");
        check(|sizes| sizes.bottom.push(7), "bottom");
        check(|sizes| sizes.top.push(0), "top");
        check(|sizes| sizes.lookups_per_table = 0, "lookups_per_table");
    }
}
