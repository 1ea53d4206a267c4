//! SD3 and SD3.5 (`SD3Transformer2DModel`).

use crate::build::{block, collapse, linear, part};
use crate::config::fields::Fields;
use crate::config::media::{conv, elementwise, grid, model, picture, stored_dtype};
use crate::config::mmdit::{Joint, PictureAttention, TextStream, time_embedder, vector_mlp};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Extent, ModelGraph, ModelKind, PartRole, Site};

/// Text tokens: 77 of the CLIP encoders beside 256 of T5, the default of `diffusers`' pipeline.
const TEXT_TOKENS: u64 = 77 + 256;
/// Pixels behind one latent in each direction: the VAE halves three times.
const VAE_SCALE: u64 = 8;

/// Reads an `SD3Transformer2DModel` config.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let heads = fields.size(&["num_attention_heads"])?;
    let head_width = fields.size(&["attention_head_dim"])?;
    let hidden = heads.saturating_mul(head_width);
    let layers = fields.count(&["num_layers"])?;
    let patch = fields.size(&["patch_size"])?;
    let channels = fields.size(&["in_channels"])?;
    let out_channels = fields.size_opt("out_channels")?.unwrap_or(channels);
    let text_width = fields.size(&["joint_attention_dim"])?;
    let caption = fields.size_opt("caption_projection_dim")?.unwrap_or(hidden);
    let pooled = fields.size(&["pooled_projection_dim"])?;
    let sample = fields.size_opt("sample_size")?.unwrap_or(128);
    let dual: Vec<u64> = fields.sizes("dual_attention_layers").unwrap_or_default();
    let dtype = stored_dtype(fields, Dtype::F16);
    let patch_latents = patch.saturating_mul(patch);
    let pixels = patch_latents.saturating_mul(VAE_SCALE * VAE_SCALE);
    let image = grid(pixels, 0);
    let text = Extent::Sample { positions: TEXT_TOKENS };
    let joint = Joint {
        dtype,
        hidden,
        heads,
        head_width,
        inner: hidden.saturating_mul(4),
        query_key_norm: fields.text("qk_norm").is_some(),
        rotary: false,
        image,
        text,
        both: grid(pixels, TEXT_TOKENS),
    };
    let mut embeddings = vec![
        conv("pos_embed.proj", dtype, channels, hidden, patch_latents, true, image),
        elementwise("pos_embed", dtype, hidden, image),
        linear("context_embedder", Site::Embedding, dtype, text_width, caption, true).over(text),
    ];
    embeddings.extend(time_embedder("timestep_embedder", dtype, hidden));
    embeddings.extend(vector_mlp("text_embedder", dtype, pooled, hidden));
    let blocks = (0..layers).map(|layer| {
        let text = if layer + 1 == layers { TextStream::AttentionOnly } else { TextStream::Full };
        let picture =
            if dual.contains(&u64::from(layer)) { PictureAttention::JointAndOwn } else { PictureAttention::Joint };
        ("joint block".to_owned(), joint.two_stream(text, picture))
    });
    let parts = vec![
        part("embeddings", PartRole::Embedding, vec![block("embeddings", 1, embeddings)]),
        part("denoiser", PartRole::Denoiser, collapse(blocks)),
        part("head", PartRole::Head, vec![block("head", 1, joint.head(out_channels.saturating_mul(patch_latents)))]),
    ];
    let side = sample.saturating_mul(VAE_SCALE);
    Ok(model(name, "SD3Transformer2DModel", ModelKind::DiffusionImage, hidden, picture(side, side, 1), parts))
}
