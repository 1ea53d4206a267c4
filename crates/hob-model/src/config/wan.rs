//! Wan 2.x (`WanTransformer3DModel`): self-attention over the clip's tokens and cross-attention to the text.

use crate::build::{activation, block, linear, parameter, part};
use crate::config::fields::Fields;
use crate::config::media::{
    AttentionLayer, Biases, clip, conv, elementwise, layer_norm, mlp, model, norm_of, picture, stored_dtype,
};
use crate::config::mmdit::{ONCE, modulation, vector_mlp};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Extent, KvCache, ModelGraph, ModelKind, NormKind, Operator, PartRole, Site, Span};

/// UMT5 tokens, always padded to this (`max_sequence_length` of `diffusers`' pipeline).
const TEXT_TOKENS: u64 = 512;
/// CLIP image tokens of the image-to-video variants (ViT-H/14 at 224 pixels and its class token).
const IMAGE_TOKENS: u64 = 257;
/// The VAE takes four frames to one, and halves each side three times; the one of Wan 2.2 5B, with 48 channels, four times.
const VAE_SCALE: u64 = 8;
const VAE_SCALE_48_CHANNELS: u64 = 16;
const VAE_FRAMES: u64 = 4;

/// Reads a `WanTransformer3DModel` config.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let heads = fields.size(&["num_attention_heads"])?;
    let head_width = fields.size(&["attention_head_dim"])?;
    let hidden = heads.saturating_mul(head_width);
    let layers = fields.count(&["num_layers"])?;
    let inner = fields.size(&["ffn_dim"])?;
    let channels = fields.size(&["in_channels"])?;
    let out_channels = fields.size_opt("out_channels")?.unwrap_or(channels);
    let text_width = fields.size(&["text_dim"])?;
    let frequencies = fields.size_opt("freq_dim")?.unwrap_or(256);
    let [patch_frames, patch_height, patch_width] = patch(fields)?;
    let patch_latents = patch_frames.saturating_mul(patch_height).saturating_mul(patch_width);
    let dtype = stored_dtype(fields, Dtype::Bf16);
    let scale = if out_channels == 48 { VAE_SCALE_48_CHANNELS } else { VAE_SCALE };
    let video = clip(
        patch_height.saturating_mul(patch_width).saturating_mul(scale * scale),
        patch_frames.saturating_mul(VAE_FRAMES),
        0,
    );
    let text = Extent::Sample { positions: TEXT_TOKENS };
    let mut embeddings = vec![conv("patch_embedding", dtype, channels, hidden, patch_latents, true, video)];
    embeddings.extend(vector_mlp("time_embedder", dtype, frequencies, hidden));
    embeddings.extend(modulation("time_proj", dtype, hidden, 6));
    embeddings.extend([
        linear("text_embedder.linear_1", Site::Embedding, dtype, text_width, hidden, true).over(text),
        activation(dtype, hidden, false).over(text),
        linear("text_embedder.linear_2", Site::Embedding, dtype, hidden, hidden, true).over(text),
    ]);
    if let Some(width) = fields.size_opt("image_dim")? {
        embeddings.extend(image_embedder(dtype, width, hidden, fields.size_opt("pos_embed_seq_len")?.unwrap_or(0)));
    }
    let own = AttentionLayer {
        dtype,
        hidden,
        heads,
        head_width,
        source: None,
        biases: Biases::ALL,
        extent: video,
        span: Span::Bidirectional,
        cache: KvCache::None,
    };
    let layer = layer(fields, &own, inner)?;
    let head = vec![
        parameter("scale_shift_table", Site::Modulation, dtype, hidden.saturating_mul(2)).over(ONCE),
        norm_of("norm_out", dtype, NormKind::Layer, hidden, 0, video),
        elementwise("modulate", dtype, hidden, video),
        linear("proj_out", Site::Head, dtype, hidden, out_channels.saturating_mul(patch_latents), true).over(video),
    ];
    let parts = vec![
        part("embeddings", PartRole::Embedding, vec![block("embeddings", 1, embeddings)]),
        part("denoiser", PartRole::Denoiser, vec![block("layer", layers, layer)]),
        part("head", PartRole::Head, vec![block("head", 1, head)]),
    ];
    // The 1.3B model was made for 480p, the larger ones for 720p (model cards); 81 frames both.
    let shape = if hidden < 2048 { picture(480, 832, 81) } else { picture(720, 1280, 81) };
    Ok(model(name, "WanTransformer3DModel", ModelKind::DiffusionVideo, hidden, shape, parts))
}

/// Frames, height and width of a patch, in latents.
fn patch(fields: &Fields<'_>) -> Result<[u64; 3], ModelError> {
    let sizes = fields.sizes("patch_size").unwrap_or_else(|| vec![1, 2, 2]);
    match sizes.as_slice() {
        [frames, height, width] if *frames > 0 && *height > 0 && *width > 0 => Ok([*frames, *height, *width]),
        _ => Err(fields.bad("patch_size", "is not a list of three whole numbers of at least 1")),
    }
}

fn layer(fields: &Fields<'_>, own: &AttentionLayer, inner: u64) -> Result<Vec<Operator>, ModelError> {
    let AttentionLayer { dtype, hidden, extent: video, .. } = *own;
    let text_span = Span::Cross { positions: TEXT_TOKENS };
    let cross = AttentionLayer { source: Some((hidden, TEXT_TOKENS)), span: text_span, ..*own };
    let plain_norm = |name: &str| norm_of(name, dtype, NormKind::Layer, hidden, 0, video);
    let across_heads = |name: &str, extent: Extent| norm_of(name, dtype, NormKind::Rms, hidden, hidden, extent);
    let normalised = fields.text("qk_norm").is_some();
    let text = Extent::Sample { positions: TEXT_TOKENS };
    let mut ops = vec![
        parameter("scale_shift_table", Site::Modulation, dtype, hidden.saturating_mul(6)).over(ONCE),
        plain_norm("norm1"),
        elementwise("modulate", dtype, hidden, video),
    ];
    ops.extend(own.ops("attn1"));
    if normalised {
        ops.extend([across_heads("attn1.norm_q", video), across_heads("attn1.norm_k", video)]);
    }
    ops.extend([
        elementwise("rotary", dtype, hidden.saturating_mul(2), video),
        elementwise("gate", dtype, hidden, video),
        elementwise("residual", dtype, hidden, video),
    ]);
    if fields.flag("cross_attn_norm", true) {
        ops.push(layer_norm("norm2", dtype, hidden, video));
    }
    ops.extend(cross.ops("attn2"));
    if normalised {
        ops.extend([across_heads("attn2.norm_q", video), across_heads("attn2.norm_k", text)]);
    }
    if let Some(width) = fields.size_opt("added_kv_proj_dim")? {
        ops.extend(image_attention(&cross, width));
    }
    ops.push(elementwise("residual", dtype, hidden, video));
    ops.extend([plain_norm("norm3"), elementwise("modulate", dtype, hidden, video)]);
    ops.extend(mlp("ffn", dtype, hidden, inner, video));
    ops.extend([elementwise("gate", dtype, hidden, video), elementwise("residual", dtype, hidden, video)]);
    Ok(ops)
}

/// The attention to image tokens that shares the text attention's queries and output (image-to-video).
fn image_attention(cross: &AttentionLayer, width: u64) -> Vec<Operator> {
    let AttentionLayer { dtype, hidden, extent: video, .. } = *cross;
    let tokens = Extent::Sample { positions: IMAGE_TOKENS };
    let span = Span::Cross { positions: IMAGE_TOKENS };
    let core =
        AttentionLayer { span, ..*cross }.ops("attn2.add").into_iter().filter(|op| op.site == Site::AttentionCore);
    let mut ops = vec![
        linear("attn2.add_k_proj", Site::AttentionInput, dtype, width, hidden, true).over(tokens),
        linear("attn2.add_v_proj", Site::AttentionInput, dtype, width, hidden, true).over(tokens),
        norm_of("attn2.norm_added_k", dtype, NormKind::Rms, hidden, hidden, tokens),
    ];
    ops.extend(core);
    ops.push(elementwise("sum", dtype, hidden, video));
    ops
}

fn image_embedder(dtype: Dtype, width: u64, hidden: u64, positions: u64) -> Vec<Operator> {
    let tokens = Extent::Sample { positions: IMAGE_TOKENS };
    vec![
        layer_norm("image_embedder.norm1", dtype, width, tokens),
        linear("image_embedder.ff.1", Site::Embedding, dtype, width, width, true).over(tokens),
        activation(dtype, width, false).over(tokens),
        linear("image_embedder.ff.2", Site::Embedding, dtype, width, hidden, true).over(tokens),
        layer_norm("image_embedder.norm2", dtype, hidden, tokens),
        parameter("image_embedder.pos_embed", Site::PositionEmbedding, dtype, positions.saturating_mul(width))
            .over(tokens),
    ]
}
