//! The one entry for configs: finds the family, reads the graph, applies the checkpoint's quantisation, and names what was
//! left over.

use serde_json::Value;

use crate::config::fields::{Fields, Reads};
use crate::config::{families_media, language, quantization};
use crate::error::ModelError;
use crate::graph::{Certainty, ModelGraph, Unknown};

/// Names of keys that could bear on the size of a model, by their ends.
const SIZE_ENDINGS: [&str; 12] = [
    "_layers", "_layer", "_dim", "_size", "_rank", "_heads", "_experts", "_width", "_depth", "_blocks", "_modules",
    "_types",
];
/// Keys with such an end that bear on training, decoding or numerics alone. Modules for multi-token prediction are
/// read from the weights, where there are any: configs announce modules that were never published.
const HARMLESS: [&str; 21] = [
    "chunk_size_feed_forward",
    "ep_size",
    "pretraining_tp",
    "max_window_layers",
    "no_rope_layers",
    "no_rope_layer_interval",
    "rotary_dim",
    "qk_rope_head_dim",
    "qk_head_dim",
    "type_vocab_size",
    "batch_size",
    "moe_router_chunk_size",
    "target_modules",
    "num_nextn_predict_layers",
    "num_mtp_modules",
    "mtp_transformer_layers",
    "mtp_num_hidden_layers",
    "mtp_num_layers",
    "num_hidden_layers",
    "vocab_size",
    "hidden_size",
];
/// A file can hold any number of keys; the list is for a person to read.
const LISTED_MAX: usize = 20;

/// Reads the value of a `config.json` (transformers or diffusers) at `path` into a graph called `name`.
///
/// A family that Hob does not know falls back to what its keys say, with notes and a lower certainty.
///
/// # Errors
/// [`ModelError::BadField`] names the key that is absent, of the wrong type or out of bounds.
pub fn graph_from_config(path: &str, name: &str, value: &Value) -> Result<ModelGraph, ModelError> {
    let reads = Reads::default();
    let fields = Fields::new(path, value)?.noting(&reads);
    if let Some(graph) = families_media::graph(&fields, name) {
        let mut graph = graph?;
        quantization::apply(&fields, &mut graph);
        return Ok(graph);
    }
    let mut graph = language::graph(&fields, name)?;
    quantization::apply(&fields, &mut graph);
    graph.unknowns.extend(left_over(&fields));
    if !graph.unknowns.is_empty() {
        graph.certainty = graph.certainty.max(Certainty::Inferred);
    }
    Ok(graph)
}

/// Keys that no family looked at and that could bear on the size, of the file and of its `text_config`.
fn left_over(fields: &Fields<'_>) -> Vec<Unknown> {
    let text = fields.nested("text_config");
    let objects = [Some(*fields), text];
    objects
        .iter()
        .flatten()
        .flat_map(|object| object.unread().into_iter().map(|key| (*object, key)))
        .filter(|(object, key)| bears_on_size(*object, key))
        .take(LISTED_MAX)
        .map(|(object, key)| object.unknown(key, "not understood by this family; left out"))
        .collect()
}

fn bears_on_size(object: Fields<'_>, key: &str) -> bool {
    if HARMLESS.contains(&key) || key.ends_with("_note") {
        return false;
    }
    let is_named_so = SIZE_ENDINGS.iter().any(|end| key.ends_with(end)) || key.contains("expert");
    let has_size = match object.raw(key) {
        Some(Value::Number(number)) => number.as_f64().is_some_and(|number| number > 1.0),
        Some(Value::Array(items)) => !items.is_empty(),
        _ => false,
    };
    is_named_so && has_size
}
