//! Where rows become questions: the catalog, and the models that rows name, each built once.

use std::collections::BTreeMap;
use std::sync::Arc;

use hob_catalog::Catalog;
use hob_model::ModelGraph;

use crate::question::{Question, Unanswered};
use crate::table::{Row, TableKind};
use crate::{forward, serving, serving_memory, training};

/// The catalog and the models read so far.
pub struct Library<'c> {
    /// Cards.
    pub catalog: &'c Catalog,
    models: BTreeMap<String, Option<Arc<ModelGraph>>>,
}

impl<'c> Library<'c> {
    /// With no model read yet.
    #[must_use]
    pub fn new(catalog: &'c Catalog) -> Self {
        Self { catalog, models: BTreeMap::new() }
    }

    /// The row as a question.
    ///
    /// # Errors
    /// When the row names an unknown card or model, or does not say enough.
    pub fn question(&mut self, kind: TableKind, row: &Row) -> Result<Question, Unanswered> {
        match kind {
            TableKind::TrainMemory | TableKind::TrainThroughput => training::question(row, self),
            TableKind::InferMemory => serving_memory::question(row, self),
            TableKind::InferThroughput if forward::is_forward(row) => forward::question(row, self),
            TableKind::InferThroughput => serving::question(row, self),
        }
    }

    /// The model of a key, built at most once by `build`.
    pub(crate) fn model(
        &mut self,
        key: &str,
        build: impl FnOnce() -> Option<ModelGraph>,
    ) -> Result<Arc<ModelGraph>, Unanswered> {
        let known = self.models.entry(key.to_owned()).or_insert_with(|| build().map(Arc::new));
        known.clone().ok_or_else(|| Unanswered::UnknownModel { name: key.to_owned() })
    }
}
