//! CLIP: an image tower and a text tower that meet in one embedding space. Absent keys take the values of
//! `transformers`' `CLIPTextConfig` and `CLIPVisionConfig`, as published files leave some out.

use crate::build::{block, embedding, linear, parameter, part};
use crate::config::fields::Fields;
use crate::config::media::{
    AttentionLayer, Biases, conv, elementwise, encoder_layer, grid, head_width, layer_norm, model, stored_dtype,
};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Extent, KvCache, ModelGraph, ModelKind, Part, PartRole, Shape, Site, Span};

/// Reads a `clip` config with its `text_config` and `vision_config`.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let dtype = stored_dtype(fields, Dtype::F32);
    let joint = fields.size_opt("projection_dim")?.unwrap_or(512);
    let text = fields.nested("text_config").ok_or_else(|| fields.bad("text_config", "is missing"))?;
    let vision = fields.nested("vision_config").ok_or_else(|| fields.bad("vision_config", "is missing"))?;
    let (text_part, context, vocabulary) = text_tower(&text, dtype, joint)?;
    let (vision_part, image, hidden) = vision_tower(&vision, dtype, joint)?;
    let scale = parameter("logit_scale", Site::Other, dtype, 1).over(Extent::Sample { positions: 1 });
    let parts =
        vec![vision_part, text_part, part("logit scale", PartRole::Other, vec![block("logit scale", 1, vec![scale])])];
    let shape = Shape { tokens: context, past: 0, outputs: 0, height: image, width: image, frames: 1 };
    let mut graph = model(name, "clip", ModelKind::ImageText, hidden, shape, parts);
    graph.vocabulary = Some(vocabulary);
    graph.context_max = Some(context);
    Ok(graph)
}

fn tower(
    fields: &Fields<'_>,
    dtype: Dtype,
    defaults: [u64; 3],
    extent: Extent,
    span: Span,
) -> Result<(AttentionLayer, u64, u32), ModelError> {
    let [hidden, inner, heads] = defaults;
    let hidden = fields.size_opt("hidden_size")?.unwrap_or(hidden);
    let inner = fields.size_opt("intermediate_size")?.unwrap_or(inner);
    let heads = fields.size_opt("num_attention_heads")?.unwrap_or(heads);
    let layers = if fields.raw("num_hidden_layers").is_some() { fields.count(&["num_hidden_layers"])? } else { 12 };
    let layer = AttentionLayer {
        dtype,
        hidden,
        heads,
        head_width: head_width(fields, "num_attention_heads", hidden, heads)?,
        source: None,
        biases: Biases::ALL,
        extent,
        span,
        cache: KvCache::None,
    };
    Ok((layer, inner, layers))
}

/// Returns the part, its context and its vocabulary.
fn text_tower(fields: &Fields<'_>, dtype: Dtype, joint: u64) -> Result<(Part, u64, u64), ModelError> {
    let (layer, inner, layers) = tower(fields, dtype, [512, 2048, 8], Extent::Tokens, Span::Causal)?;
    let hidden = layer.hidden;
    let vocabulary = fields.size_opt("vocab_size")?.unwrap_or(49_408);
    let context = fields.size_opt("max_position_embeddings")?.unwrap_or(77);
    let blocks = vec![
        block(
            "embeddings",
            1,
            vec![
                embedding("token_embedding", Site::Embedding, dtype, vocabulary, hidden),
                embedding("position_embedding", Site::PositionEmbedding, dtype, context, hidden),
                elementwise("sum", dtype, hidden, Extent::Tokens),
            ],
        ),
        block("layer", layers, encoder_layer(&layer, inner)),
        block(
            "projection",
            1,
            vec![
                layer_norm("final_layer_norm", dtype, hidden, Extent::Tokens),
                linear("text_projection", Site::Head, dtype, hidden, joint, false)
                    .over(Extent::Sample { positions: 1 }),
            ],
        ),
    ];
    Ok((part("text tower", PartRole::TextEncoder, blocks), context, vocabulary))
}

/// Returns the part, the side of its picture and its width.
fn vision_tower(fields: &Fields<'_>, dtype: Dtype, joint: u64) -> Result<(Part, u64, u64), ModelError> {
    let image = fields.size_opt("image_size")?.unwrap_or(224);
    let patch = fields.size_opt("patch_size")?.unwrap_or(32);
    if patch == 0 {
        return Err(fields.bad("patch_size", "is 0; at least 1 was expected"));
    }
    let channels = fields.size_opt("num_channels")?.unwrap_or(3);
    let pixels = patch.saturating_mul(patch);
    let tokens = grid(pixels, 1);
    let (layer, inner, layers) = tower(fields, dtype, [768, 3072, 12], tokens, Span::Bidirectional)?;
    let hidden = layer.hidden;
    let side = image / patch;
    let table = side.saturating_mul(side).saturating_add(1).saturating_mul(hidden);
    let pooled = Extent::Sample { positions: 1 };
    let blocks = vec![
        block(
            "embeddings",
            1,
            vec![
                conv("patch_embedding", dtype, channels, hidden, pixels, false, grid(pixels, 0)),
                parameter("class_embedding", Site::Embedding, dtype, hidden).over(pooled),
                parameter("position_embedding", Site::PositionEmbedding, dtype, table).over(tokens),
                elementwise("sum", dtype, hidden, tokens),
                layer_norm("pre_layernorm", dtype, hidden, tokens),
            ],
        ),
        block("layer", layers, encoder_layer(&layer, inner)),
        block(
            "projection",
            1,
            vec![
                layer_norm("post_layernorm", dtype, hidden, pooled),
                linear("visual_projection", Site::Head, dtype, hidden, joint, false).over(pooled),
            ],
        ),
    ];
    Ok((part("vision tower", PartRole::VisionTower, blocks), image, hidden))
}
