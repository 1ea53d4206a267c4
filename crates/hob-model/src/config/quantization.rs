//! The `quantization_config` of a checkpoint.

use crate::config::fields::Fields;
use crate::graph::ModelGraph;

pub(super) fn apply(_fields: &Fields<'_>, _graph: &mut ModelGraph) {}
