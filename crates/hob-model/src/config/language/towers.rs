//! Vision towers in front of language models: SigLIP (Gemma 3), and those of Llama 4 and Gemma 4. Their positions grow with
//! the picture, so a request without one costs nothing here.

use crate::build::{block, linear, norm, parameter, part};
use crate::config::fields::Fields;
use crate::config::language::attention::{HeadDefaults, QueryKeyNorm, SelfAttention};
use crate::config::language::decoder::{Decoder, Defaults, size_or};
use crate::config::language::feed_forward::Gated;
use crate::config::media::{AttentionLayer, Biases, conv, elementwise, encoder_layer, grid, head_width, layer_norm};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Extent, KvCache, NormKind, Part, PartRole, Site, Span};

/// A tower and what its projector needs to know of it.
pub(super) struct Tower {
    pub(super) part: Part,
    pub(super) hidden: u64,
    /// Pixels of a patch's side.
    pub(super) patch: u64,
    /// Patches along a side of the picture that the tower was made for.
    pub(super) side: u64,
}

/// Sizes that a tower's config class takes when the file leaves them out.
struct TowerDefaults {
    hidden: u64,
    inner: u64,
    layers: u64,
    heads: u64,
    image: u64,
    patch: u64,
}

/// `SiglipVisionConfig`.
const SIGLIP: TowerDefaults = TowerDefaults { hidden: 768, inner: 3072, layers: 12, heads: 12, image: 224, patch: 16 };
/// `Llama4VisionConfig`.
const LLAMA4: TowerDefaults = TowerDefaults { hidden: 768, inner: 5632, layers: 34, heads: 16, image: 448, patch: 14 };

/// The sizes of a tower with layer norms and biases throughout.
struct Sizes {
    layer: AttentionLayer,
    inner: u64,
    layers: u32,
    channels: u64,
    patch: u64,
    side: u64,
}

impl Sizes {
    /// `class_tokens` stand beside the patches.
    fn read(
        fields: &Fields<'_>,
        dtype: Dtype,
        defaults: &TowerDefaults,
        class_tokens: u64,
    ) -> Result<Self, ModelError> {
        let hidden = size_or(fields, &["hidden_size"], Some(defaults.hidden))?;
        let heads = size_or(fields, &["num_attention_heads"], Some(defaults.heads))?;
        let patch = size_or(fields, &["patch_size"], Some(defaults.patch))?;
        let image = size_or(fields, &["image_size"], Some(defaults.image))?;
        let layer = AttentionLayer {
            dtype,
            hidden,
            heads,
            head_width: head_width(fields, "num_attention_heads", hidden, heads)?,
            source: None,
            biases: Biases::ALL,
            extent: grid(patch.saturating_mul(patch), class_tokens),
            span: Span::Bidirectional,
            cache: KvCache::None,
        };
        Ok(Self {
            layer,
            inner: size_or(fields, &["intermediate_size"], Some(defaults.inner))?,
            layers: layers(fields, defaults.layers)?,
            channels: size_or(fields, &["num_channels"], Some(3))?,
            patch,
            side: image / patch,
        })
    }

    /// Elements of a table with one row for each patch of the native picture and `more` rows.
    fn table(&self, more: u64) -> u64 {
        self.side.saturating_mul(self.side).saturating_add(more).saturating_mul(self.layer.hidden)
    }
}

fn layers(fields: &Fields<'_>, default: u64) -> Result<u32, ModelError> {
    let layers = fields.count_any(&["num_hidden_layers"])?;
    Ok(layers.unwrap_or_else(|| u32::try_from(default).unwrap_or(u32::MAX)))
}

/// SigLIP without the pooling head, which language models do not use.
pub(super) fn siglip(fields: &Fields<'_>, dtype: Dtype) -> Result<Tower, ModelError> {
    let sizes = Sizes::read(fields, dtype, &SIGLIP, 0)?;
    let AttentionLayer { hidden, extent, .. } = sizes.layer;
    let pixels = sizes.patch.saturating_mul(sizes.patch);
    let stem = vec![
        conv("patch_embedding", dtype, sizes.channels, hidden, pixels, true, extent),
        parameter("position_embedding", Site::PositionEmbedding, dtype, sizes.table(0)).over(extent),
        elementwise("sum", dtype, hidden, extent),
    ];
    let blocks = vec![
        block("embeddings", 1, stem),
        block("layer", sizes.layers, encoder_layer(&sizes.layer, sizes.inner)),
        block("norm", 1, vec![layer_norm("post_layernorm", dtype, hidden, extent)]),
    ];
    let part = part("vision tower", PartRole::VisionTower, blocks);
    Ok(Tower { part, hidden, patch: sizes.patch, side: sizes.side })
}

/// Llama 4's tower with its adapter, which joins neighbouring patches into one position.
pub(super) fn llama4(fields: &Fields<'_>, dtype: Dtype) -> Result<Tower, ModelError> {
    let sizes = Sizes::read(fields, dtype, &LLAMA4, 1)?;
    let AttentionLayer { hidden, extent, .. } = sizes.layer;
    let pixels = sizes.patch.saturating_mul(sizes.patch);
    let one = Extent::Sample { positions: 1 };
    let patches = sizes.channels.saturating_mul(pixels);
    let stem = vec![
        linear("patch_embedding.linear", Site::Other, dtype, patches, hidden, false).over(grid(pixels, 0)),
        parameter("class_embedding", Site::Embedding, dtype, hidden).over(one),
        parameter("positional_embedding_vlm", Site::PositionEmbedding, dtype, sizes.table(1)).over(extent),
        elementwise("sum", dtype, hidden, extent),
        layer_norm("layernorm_pre", dtype, hidden, extent),
    ];
    let joined = grid(pixels.saturating_mul(llama4_patches(fields)?), 0);
    let middle = size_or(fields, &["projector_input_dim"], Some(4096))?;
    let last = size_or(fields, &["projector_output_dim"], Some(4096))?;
    let adapter = vec![
        layer_norm("layernorm_post", dtype, hidden, extent),
        linear("vision_adapter.mlp.fc1", Site::MlpInput, dtype, sizes.inner, middle, false).over(joined),
        linear("vision_adapter.mlp.fc2", Site::MlpOutput, dtype, last, last, false).over(joined),
    ];
    let blocks = vec![
        block("embeddings", 1, stem),
        block("layer", sizes.layers, encoder_layer(&sizes.layer, sizes.inner)),
        block("adapter", 1, adapter),
    ];
    let part = part("vision tower", PartRole::VisionTower, blocks);
    Ok(Tower { part, hidden, patch: sizes.patch, side: sizes.side })
}

/// Patches behind one position of Llama 4's decoder: the ratio by which a side shrinks, squared and turned over.
pub(super) fn llama4_patches(fields: &Fields<'_>) -> Result<u64, ModelError> {
    let key = "pixel_shuffle_ratio";
    if !fields.written(key) {
        return Ok(4);
    }
    let ratio = fields.number(key).filter(|ratio| (0.01..=1.0).contains(ratio));
    let ratio = ratio.ok_or_else(|| fields.bad(key, "is no share between 0.01 and 1"))?;
    Ok(ratio.powi(-2).round() as u64)
}

/// Gemma 4's tower: four RMS norms a layer, norms on the heads, gated MLPs, and one table of positions for each axis.
/// Defaults of `Gemma4VisionConfig`.
pub(super) fn gemma4(fields: &Fields<'_>, dtype: Dtype) -> Result<Tower, ModelError> {
    let sizes = Defaults {
        hidden: Some(768),
        layers: Some(16),
        // A tower has no vocabulary; the reader wants one.
        vocabulary: Some(1),
        dtype,
        ..Defaults::PLAIN
    };
    let tower = Decoder::read(fields, "gemma4", sizes)?;
    let heads = HeadDefaults { heads: Some(12), kv_heads: Some(12), head_dim: Some(64) };
    let mut attention = SelfAttention::read(fields, &tower, heads)?
        .biased(fields.flag("attention_bias", false))
        .over(Span::Bidirectional);
    attention.query_key_norm = QueryKeyNorm::Head;
    attention.cache = KvCache::None;
    let mlp = Gated::plain(size_or(fields, &["intermediate_size"], Some(3072))?);
    let patch = size_or(fields, &["patch_size"], Some(16))?;
    let pixels = patch.saturating_mul(patch);
    let extent = grid(pixels, 0);
    let rows = size_or(fields, &["position_embedding_size"], Some(10_240))?;
    let table = rows.saturating_mul(2).saturating_mul(tower.hidden);
    let stem = vec![
        linear("patch_embedder.input_proj", Site::Other, dtype, pixels.saturating_mul(3), tower.hidden, false),
        parameter("patch_embedder.position_embedding_table", Site::PositionEmbedding, dtype, table),
        tower.residual(),
    ];
    let mut layer = vec![tower.norm("input_layernorm")];
    layer.extend(attention.ops());
    layer.extend([tower.norm("post_attention_layernorm"), tower.residual(), tower.norm("pre_feedforward_layernorm")]);
    layer.extend(mlp.ops(&tower));
    layer.extend([tower.norm("post_feedforward_layernorm"), tower.residual()]);
    let over = |ops: Vec<crate::graph::Operator>| ops.into_iter().map(|op| op.over(extent)).collect::<Vec<_>>();
    let blocks = vec![block("embeddings", 1, over(stem)), block("layer", tower.layers, over(layer))];
    let part = part("vision tower", PartRole::VisionTower, blocks);
    Ok(Tower { part, hidden: tower.hidden, patch, side: 0 })
}

/// The one matrix from a tower's width to the decoder's, at every `patches` x `patches` patches, with `norm_parameters`
/// of the norm before it.
pub(super) fn projector(
    name: &str,
    decoder: &Decoder,
    inputs: u64,
    norm_parameters: Option<u64>,
    pixels_per_position: u64,
) -> Part {
    let extent = grid(pixels_per_position, 0);
    let mut ops = Vec::new();
    if let Some(parameters) = norm_parameters {
        let mut before = norm("norm", decoder.dtype, NormKind::Rms, inputs, false);
        before.kind = crate::graph::OpKind::Norm { norm: NormKind::Rms, width: inputs, parameters };
        ops.push(before.over(extent));
    }
    ops.push(linear(name, Site::Other, decoder.dtype, inputs, decoder.hidden, false).over(extent));
    part("projector", PartRole::Projector, vec![block("projector", 1, ops)])
}
