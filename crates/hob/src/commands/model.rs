//! The model that a workload names.

use std::path::Path;

use hob_model::{DiskFiles, ModelError, ModelGraph, RecommenderSizes, read_model, recommender_graph, vision_preset};
use hob_workload::ModelRef;

use crate::failure::Failure;

/// Reads a model; a path is relative to `folder`, where the workload file lies.
pub fn read(reference: &ModelRef, folder: &Path) -> Result<ModelGraph, Failure> {
    if let Some(sizes) = &reference.recommender {
        let sizes = sizes.clone();
        let sizes = RecommenderSizes {
            table_rows: sizes.table_rows,
            width: sizes.width,
            dense_features: sizes.dense_features,
            bottom: sizes.bottom,
            top: sizes.top,
            lookups_per_table: sizes.lookups_per_table,
        };
        return Ok(recommender_graph(&reference.source, &sizes)?);
    }
    named(&reference.source, folder)
}

/// Reads a model by its name or path.
pub fn named(source: &str, folder: &Path) -> Result<ModelGraph, Failure> {
    let beside = folder.join(source);
    let found = if beside.exists() { beside.to_string_lossy().into_owned() } else { source.to_owned() };
    match read_model(&found, &DiskFiles) {
        Err(error @ ModelError::NotFound { .. }) => vision_preset(source).ok_or_else(|| error.into()),
        other => Ok(other?),
    }
}
