//! FLUX.1 (`FluxTransformer2DModel`).

use crate::build::{block, linear, part};
use crate::config::fields::Fields;
use crate::config::media::{grid, model, picture, stored_dtype};
use crate::config::mmdit::{Joint, PictureAttention, TextStream, time_embedder, vector_mlp};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Extent, ModelGraph, ModelKind, PartRole, Site};

/// Pixels of one latent (the VAE halves three times) times the 2 x 2 latents that the pipeline packs into one position.
const PIXELS_PER_PACKED_LATENT: u64 = 8 * 8 * 2 * 2;

/// Reads a `FluxTransformer2DModel` config.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let heads = fields.size(&["num_attention_heads"])?;
    let head_width = fields.size(&["attention_head_dim"])?;
    let hidden = heads.saturating_mul(head_width);
    let two_stream = fields.count(&["num_layers"])?;
    let one_stream = fields.count(&["num_single_layers"])?;
    let patch = fields.size_opt("patch_size")?.unwrap_or(1).max(1);
    let channels = fields.size(&["in_channels"])?;
    let out_channels = fields.size_opt("out_channels")?.unwrap_or(channels);
    let text_width = fields.size(&["joint_attention_dim"])?;
    let pooled = fields.size(&["pooled_projection_dim"])?;
    let guidance = fields.flag("guidance_embeds", false);
    // The guidance-distilled model is used with 512 T5 tokens, the timestep-distilled one allows at most 256
    // (`max_sequence_length` in their model cards).
    let text_tokens = if guidance { 512 } else { 256 };
    let dtype = stored_dtype(fields, Dtype::Bf16);
    let patch_latents = patch.saturating_mul(patch);
    let pixels = patch_latents.saturating_mul(PIXELS_PER_PACKED_LATENT);
    let image = grid(pixels, 0);
    let text = Extent::Sample { positions: text_tokens };
    let joint = Joint {
        dtype,
        hidden,
        heads,
        head_width,
        inner: hidden.saturating_mul(4),
        query_key_norm: true,
        rotary: true,
        image,
        text,
        both: grid(pixels, text_tokens),
    };
    let mut embeddings = vec![
        linear("x_embedder", Site::Embedding, dtype, channels, hidden, true).over(image),
        linear("context_embedder", Site::Embedding, dtype, text_width, hidden, true).over(text),
    ];
    embeddings.extend(time_embedder("timestep_embedder", dtype, hidden));
    if guidance {
        embeddings.extend(time_embedder("guidance_embedder", dtype, hidden));
    }
    embeddings.extend(vector_mlp("text_embedder", dtype, pooled, hidden));
    let parts = vec![
        part("embeddings", PartRole::Embedding, vec![block("embeddings", 1, embeddings)]),
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
    Ok(model(name, "FluxTransformer2DModel", ModelKind::DiffusionImage, hidden, picture(1024, 1024, 1), parts))
}
