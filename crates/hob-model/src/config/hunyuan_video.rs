//! HunyuanVideo (`HunyuanVideoTransformer3DModel`).

use crate::build::{block, linear, part};
use crate::config::fields::Fields;
use crate::config::media::{
    AttentionLayer, Biases, clip, conv, elementwise, layer_norm, mlp, model, picture, stored_dtype,
};
use crate::config::mmdit::{Joint, PictureAttention, TextStream, modulation, time_embedder, vector_mlp};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Block, Extent, KvCache, ModelGraph, ModelKind, PartRole, Site, Span};

/// Tokens of the language model that conditions the denoiser (`max_sequence_length` of `diffusers`' pipeline).
const TEXT_TOKENS: u64 = 256;
/// The VAE halves each side three times and takes four frames to one.
const VAE_SCALE: u64 = 8;
const VAE_FRAMES: u64 = 4;

/// Reads a `HunyuanVideoTransformer3DModel` config.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let heads = fields.size(&["num_attention_heads"])?;
    let head_width = fields.size(&["attention_head_dim"])?;
    let hidden = heads.saturating_mul(head_width);
    let two_stream = fields.count(&["num_layers"])?;
    let one_stream = fields.count(&["num_single_layers"])?;
    let channels = fields.size(&["in_channels"])?;
    let out_channels = fields.size_opt("out_channels")?.unwrap_or(channels);
    let patch = fields.size_opt("patch_size")?.unwrap_or(2).max(1);
    let patch_frames = fields.size_opt("patch_size_t")?.unwrap_or(1).max(1);
    let pooled = fields.size(&["pooled_projection_dim"])?;
    let ratio = fields.number("mlp_ratio").unwrap_or(4.0);
    if !(ratio > 0.0 && ratio <= 64.0) {
        return Err(fields.bad("mlp_ratio", format!("is {ratio}; a number above 0 and at most 64 was expected")));
    }
    let inner = (hidden as f64 * ratio) as u64;
    let dtype = stored_dtype(fields, Dtype::Bf16);
    let patch_latents = patch.saturating_mul(patch).saturating_mul(patch_frames);
    let pixels = patch.saturating_mul(patch).saturating_mul(VAE_SCALE * VAE_SCALE);
    let frames = patch_frames.saturating_mul(VAE_FRAMES);
    let image = clip(pixels, frames, 0);
    let text = Extent::Sample { positions: TEXT_TOKENS };
    let joint = Joint {
        dtype,
        hidden,
        heads,
        head_width,
        inner,
        query_key_norm: true,
        rotary: true,
        image,
        text,
        both: clip(pixels, frames, TEXT_TOKENS),
    };
    let mut embeddings = vec![conv("x_embedder.proj", dtype, channels, hidden, patch_latents, true, image)];
    embeddings.extend(time_embedder("timestep_embedder", dtype, hidden));
    if fields.flag("guidance_embeds", true) {
        embeddings.extend(time_embedder("guidance_embedder", dtype, hidden));
    }
    embeddings.extend(vector_mlp("text_embedder", dtype, pooled, hidden));
    let parts = vec![
        part("embeddings", PartRole::Embedding, vec![block("embeddings", 1, embeddings)]),
        part("text refiner", PartRole::Projector, refiner(fields, &joint)?),
        part(
            "denoiser",
            PartRole::Denoiser,
            vec![
                block("joint block", two_stream, joint.two_stream(TextStream::Full, PictureAttention::Joint)),
                block("single block", one_stream, joint.one_stream()),
            ],
        ),
        part("head", PartRole::Head, vec![block("head", 1, joint.head(out_channels.saturating_mul(patch_latents)))]),
    ];
    let shape = picture(720, 1280, 129);
    Ok(model(name, "HunyuanVideoTransformer3DModel", ModelKind::DiffusionVideo, hidden, shape, parts))
}

/// A small bidirectional encoder that turns the language model's causal states into conditioning tokens.
fn refiner(fields: &Fields<'_>, joint: &Joint) -> Result<Vec<Block>, ModelError> {
    let Joint { dtype, hidden, heads, head_width, inner, text, .. } = *joint;
    let width = fields.size(&["text_embed_dim"])?;
    let layer = AttentionLayer {
        dtype,
        hidden,
        heads,
        head_width,
        source: None,
        biases: Biases::ALL,
        extent: text,
        span: Span::Bidirectional,
        cache: KvCache::None,
    };
    let mut input = time_embedder("timestep_embedder", dtype, hidden);
    input.extend(vector_mlp("text_embedder", dtype, width, hidden));
    input.push(linear("proj_in", Site::Embedding, dtype, width, hidden, true).over(text));
    let mut ops = modulation("norm_out", dtype, hidden, 2);
    ops.push(layer_norm("norm1", dtype, hidden, text));
    ops.extend(layer.ops("attn"));
    ops.push(elementwise("gate", dtype, hidden, text));
    ops.push(elementwise("residual", dtype, hidden, text));
    ops.push(layer_norm("norm2", dtype, hidden, text));
    ops.extend(mlp("ff", dtype, hidden, inner, text));
    ops.push(elementwise("gate", dtype, hidden, text));
    ops.push(elementwise("residual", dtype, hidden, text));
    Ok(vec![block("input", 1, input), block("refiner layer", fields.count(&["num_refiner_layers"])?, ops)])
}
