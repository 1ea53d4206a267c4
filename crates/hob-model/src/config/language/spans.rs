//! Which layers look at everything, at a window, at a chunk, or keep a recurrent state.

use crate::config::fields::Fields;
use crate::config::language::decoder::Decoder;
use crate::error::ModelError;
use crate::graph::Span;

/// What kind of mixing a layer does over the sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayerType {
    Full,
    Sliding,
    Chunked,
    Linear,
}

/// The type of every layer as the file's `layer_types` says; `None` when it says nothing. An unknown word counts as full
/// attention, which costs most, and is noted.
pub(super) fn written(fields: &Fields<'_>, decoder: &mut Decoder) -> Result<Option<Vec<LayerType>>, ModelError> {
    let Some(value) = fields.raw("layer_types") else { return Ok(None) };
    let Some(words) = fields.texts("layer_types") else {
        return Err(fields.bad("layer_types", format!("is `{}`; a list of names was expected", shortened(value))));
    };
    if words.len() < decoder.layers as usize {
        let why = format!("has {} entries; one for each of {} layers was expected", words.len(), decoder.layers);
        return Err(fields.bad("layer_types", why));
    }
    let mut types = Vec::with_capacity(decoder.layers as usize);
    let mut unknown: Option<&str> = None;
    for word in words.into_iter().take(decoder.layers as usize) {
        types.push(match word {
            "full_attention" | "attention" | "global_attention" => LayerType::Full,
            "sliding_attention" | "local_attention" => LayerType::Sliding,
            "chunked_attention" => LayerType::Chunked,
            "linear_attention" => LayerType::Linear,
            other => {
                unknown = Some(other);
                LayerType::Full
            }
        });
    }
    if let Some(word) = unknown {
        let word: String = word.chars().take(60).collect();
        decoder.notes.push(fields.unknown("layer_types", format!("`{word}` is taken as full attention")));
    }
    Ok(Some(types))
}

fn shortened(value: &serde_json::Value) -> String {
    value.to_string().chars().take(60).collect()
}

/// The types in the file, else those that the family's rule gives for each layer index.
pub(super) fn types_or(
    fields: &Fields<'_>,
    decoder: &mut Decoder,
    rule: impl Fn(u32) -> LayerType,
) -> Result<Vec<LayerType>, ModelError> {
    Ok(written(fields, decoder)?.unwrap_or_else(|| (0..decoder.layers).map(rule).collect()))
}

/// The type of layer `index`; full attention past the end of the list.
pub(super) fn at(types: &[LayerType], index: u32) -> LayerType {
    types.get(index as usize).copied().unwrap_or(LayerType::Full)
}

/// The window of `key`, or the family's default when the file does not have the key; null in the file means none.
pub(super) fn window(fields: &Fields<'_>, key: &str, default: Option<u64>) -> Result<Option<u64>, ModelError> {
    let window = if fields.written(key) { fields.size_opt(key)? } else { default };
    Ok(window.filter(|window| *window > 0))
}

/// The span of a layer: the window or chunk when the layer has one and the model states its size.
pub(super) fn span(layer: LayerType, window: Option<u64>, chunk: Option<u64>) -> Span {
    match (layer, window, chunk) {
        (LayerType::Sliding, Some(window), _) => Span::Sliding { window },
        (LayerType::Chunked, _, Some(chunk)) => Span::Chunked { chunk },
        _ => Span::Causal,
    }
}

/// Name of a layer with this span, for people.
pub(super) const fn layer_name(span: Span) -> &'static str {
    match span {
        Span::Sliding { .. } => "sliding-window layer",
        Span::Chunked { .. } => "chunked-attention layer",
        Span::Sparse { .. } => "sparse-attention layer",
        Span::Causal | Span::Bidirectional | Span::Cross { .. } => "layer",
    }
}
