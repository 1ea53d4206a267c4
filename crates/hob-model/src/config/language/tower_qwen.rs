//! The vision tower of Qwen 3.5: patches of two frames, layer norms and biases throughout, and a merger that joins
//! neighbouring patches into one position of the decoder.

use crate::build::{activation, block, linear, parameter, part};
use crate::config::fields::Fields;
use crate::config::language::decoder::size_or;
use crate::config::language::towers::Tower;
use crate::config::media::{AttentionLayer, Biases, clip, conv, elementwise, encoder_layer, head_width, layer_norm};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{KvCache, Part, PartRole, Site, Span};

/// Defaults of `Qwen3_5VisionConfig`.
pub(super) fn tower(fields: &Fields<'_>, dtype: Dtype) -> Result<Tower, ModelError> {
    let hidden = size_or(fields, &["hidden_size"], Some(1152))?;
    let heads = size_or(fields, &["num_heads"], Some(16))?;
    let inner = size_or(fields, &["intermediate_size"], Some(4304))?;
    let layers = fields.count_any(&["depth"])?.unwrap_or(27);
    let channels = size_or(fields, &["in_channels"], Some(3))?;
    let patch = size_or(fields, &["patch_size"], Some(16))?;
    let frames = frames(fields)?;
    let positions = size_or(fields, &["num_position_embeddings"], Some(2304))?;
    let pixels = patch.saturating_mul(patch);
    let extent = clip(pixels, frames, 0);
    let layer = AttentionLayer {
        dtype,
        hidden,
        heads,
        head_width: head_width(fields, "num_heads", hidden, heads)?,
        source: None,
        biases: Biases::ALL,
        extent,
        span: Span::Bidirectional,
        cache: KvCache::None,
    };
    let stem = vec![
        conv("patch_embed.proj", dtype, channels, hidden, pixels.saturating_mul(frames), true, extent),
        parameter("pos_embed", Site::PositionEmbedding, dtype, positions.saturating_mul(hidden)).over(extent),
        elementwise("sum", dtype, hidden, extent),
    ];
    let blocks = vec![block("embeddings", 1, stem), block("layer", layers, encoder_layer(&layer, inner))];
    let part = part("vision tower", PartRole::VisionTower, blocks);
    Ok(Tower { part, hidden, patch, side: 0 })
}

/// Frames behind one patch.
fn frames(fields: &Fields<'_>) -> Result<u64, ModelError> {
    size_or(fields, &["temporal_patch_size"], Some(2))
}

/// The MLP from `hidden` wide patches, several at a time, to the decoder's width.
pub(super) fn merger(
    fields: &Fields<'_>,
    dtype: Dtype,
    hidden: u64,
    patch: u64,
    outputs: u64,
) -> Result<Part, ModelError> {
    let side = size_or(fields, &["spatial_merge_size"], Some(2))?;
    let outputs = size_or(fields, &["out_hidden_size"], Some(outputs))?;
    let frames = frames(fields)?;
    let pixels = patch.saturating_mul(patch);
    let joined = hidden.saturating_mul(side).saturating_mul(side);
    let extent = clip(pixels.saturating_mul(side).saturating_mul(side), frames, 0);
    let ops = vec![
        layer_norm("merger.norm", dtype, hidden, clip(pixels, frames, 0)),
        linear("merger.linear_fc1", Site::Other, dtype, joined, joined, true).over(extent),
        activation(dtype, joined, false).over(extent),
        linear("merger.linear_fc2", Site::Other, dtype, joined, outputs, true).over(extent),
    ];
    Ok(part("projector", PartRole::Projector, vec![block("merger", 1, ops)]))
}
