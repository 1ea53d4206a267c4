//! ViT image classifier. Its positions grow with the picture; the position table stays as trained and is interpolated.

use crate::build::{block, linear, parameter, part};
use crate::config::bert::labels;
use crate::config::fields::Fields;
use crate::config::media::{
    AttentionLayer, Biases, conv, elementwise, encoder_layer, grid, head_width, layer_norm, model, picture,
    stored_dtype,
};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Extent, KvCache, ModelGraph, ModelKind, PartRole, Site, Span};

/// Reads a `vit` config.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let hidden = fields.size(&["hidden_size"])?;
    let heads = fields.size(&["num_attention_heads"])?;
    let inner = fields.size(&["intermediate_size"])?;
    let layers = fields.count(&["num_hidden_layers"])?;
    let image = fields.size(&["image_size"])?;
    let patch = fields.size(&["patch_size"])?;
    let channels = fields.size_opt("num_channels")?.unwrap_or(3);
    let bias = fields.flag("qkv_bias", true);
    let dtype = stored_dtype(fields, Dtype::F32);
    let patch_pixels = patch.saturating_mul(patch);
    let side = image / patch;
    let tokens = grid(patch_pixels, 1);
    let layer = AttentionLayer {
        dtype,
        hidden,
        heads,
        head_width: head_width(fields, "num_attention_heads", hidden, heads)?,
        source: None,
        biases: Biases { query: bias, key: bias, value: bias, output: true },
        extent: tokens,
        span: Span::Bidirectional,
        cache: KvCache::None,
    };
    let table = side.saturating_mul(side).saturating_add(1).saturating_mul(hidden);
    let embeddings = vec![
        conv("patch_embeddings", dtype, channels, hidden, patch_pixels, true, grid(patch_pixels, 0)),
        parameter("cls_token", Site::Embedding, dtype, hidden).over(Extent::Sample { positions: 1 }),
        parameter("position_embeddings", Site::PositionEmbedding, dtype, table).over(tokens),
        elementwise("sum", dtype, hidden, tokens),
    ];
    let pooled = Extent::Sample { positions: 1 };
    let classifies =
        fields.texts("architectures").is_none_or(|names| names.iter().any(|name| name.contains("Classification")));
    let last = if classifies {
        linear("classifier", Site::Head, dtype, hidden, labels(fields, 2)?, true).over(pooled)
    } else {
        linear("pooler", Site::Head, dtype, hidden, hidden, true).over(pooled)
    };
    let parts = vec![
        part("embeddings", PartRole::Embedding, vec![block("embeddings", 1, embeddings)]),
        part("encoder", PartRole::Encoder, vec![block("layer", layers, encoder_layer(&layer, inner))]),
        part("head", PartRole::Head, vec![block("head", 1, vec![layer_norm("norm", dtype, hidden, tokens), last])]),
    ];
    Ok(model(name, "vit", ModelKind::Vision, hidden, picture(image, image, 1), parts))
}
