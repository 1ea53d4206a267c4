//! Gemma 4: windows in five of six layers, wide heads with few keys in the others, experts beside a dense MLP, embeddings
//! for each layer, key/value caches shared by the last layers, and a vision tower.

use crate::build::{activation, block, embedding, linear, op, parameter};
use crate::config::fields::Fields;
use crate::config::language::attention::{HeadDefaults, Projections, QueryKeyNorm, SelfAttention, rms};
use crate::config::language::decoder::{Decoder, Defaults, size_or, stored_dtype};
use crate::config::language::feed_forward::{ExpertNames, Experts, Gated};
use crate::config::language::spans::{self, LayerType};
use crate::config::language::{gemma, towers};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Block, Extent, KvCache, ModelGraph, NormKind, OpKind, Operator, Site, Span};

const NAMES: ExpertNames = ExpertNames {
    router: "router.proj",
    experts: ["", "experts.gate_up_proj", "experts.down_proj"],
    shared: ExpertNames::USUAL.shared,
};

/// Reads a `gemma4_text` config.
pub(super) fn text(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    Body::read(fields, "gemma4_text", Dtype::Bf16)?.graph(fields, name)
}

/// Reads a `gemma4` config. The tower for sound of the small models is left out, with a note.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let text = fields.nested("text_config").ok_or_else(|| fields.bad("text_config", "is missing"))?;
    let mut body = Body::read(&text, "gemma4", stored_dtype(fields, Dtype::Bf16))?;
    body.decoder.tied = fields.flag("tie_word_embeddings", body.decoder.tied);
    if fields.nested("audio_config").is_some() {
        body.decoder.notes.push(fields.unknown("audio_config", "the tower for sound is left out"));
    }
    let front = match fields.nested("vision_config") {
        Some(vision) => {
            let tower = towers::gemma4(&vision, body.decoder.dtype)?;
            let pool = size_or(&vision, &["pooling_kernel_size"], Some(3))?;
            let pixels = tower.patch.saturating_mul(pool).saturating_pow(2);
            // The norm before the projection has no learned numbers.
            let projector = towers::projector("embedding_projection", &body.decoder, tower.hidden, Some(0), pixels);
            vec![tower.part, projector]
        }
        None => Vec::new(),
    };
    let mut graph = body.graph(&text, name)?;
    graph.parts.splice(0..0, front);
    Ok(graph)
}

/// What differs between layers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shape {
    span: Span,
    is_sliding: bool,
    /// Reads the cache of an earlier layer.
    shares_cache: bool,
}

struct Body {
    decoder: Decoder,
    sliding: SelfAttention,
    full: SelfAttention,
    mlp: Gated,
    wide_shared_mlp: bool,
    experts: Option<Experts>,
    /// Width of the embedding that each layer has of its own, and the rows of its table; 0 when there is none.
    per_layer: u64,
    per_layer_rows: u64,
    window: Option<u64>,
    first_shared: u32,
}

impl Body {
    /// `Gemma4TextConfig`'s values stand for absent keys.
    fn read(fields: &Fields<'_>, family: &'static str, dtype: Dtype) -> Result<Self, ModelError> {
        let sizes = Defaults { hidden: Some(2304), layers: Some(30), vocabulary: Some(262_144), tied: true, dtype };
        let mut decoder = Decoder::read(fields, family, sizes)?;
        decoder.context = decoder.context.or(Some(131_072));
        let heads = HeadDefaults { heads: Some(8), kv_heads: Some(4), head_dim: Some(256) };
        let mut sliding = SelfAttention::read(fields, &decoder, heads)?.biased(fields.flag("attention_bias", false));
        sliding.query_key_norm = QueryKeyNorm::Head;
        let full = full_attention(fields, &sliding)?;
        let experts = match fields.flag("enable_moe_block", false) {
            true => Some(Experts {
                names: NAMES,
                ..Experts::read(fields, &["num_experts"], &["top_k_experts"], &["moe_intermediate_size"])?
            }),
            false => None,
        };
        let shared = fields.count_any(&["num_kv_shared_layers"])?.unwrap_or(0);
        Ok(Self {
            first_shared: decoder.layers.saturating_sub(shared),
            sliding,
            full,
            mlp: Gated::plain(size_or(fields, &["intermediate_size"], Some(9216))?),
            wide_shared_mlp: fields.flag("use_double_wide_mlp", false),
            experts,
            per_layer: fields.size_opt("hidden_size_per_layer_input")?.unwrap_or(256),
            per_layer_rows: size_or(fields, &["vocab_size_per_layer_input"], Some(262_144))?,
            window: spans::window(fields, "sliding_window", Some(512))?,
            decoder,
        })
    }

    fn graph(mut self, fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
        let layers = self.decoder.layers;
        let types = spans::types_or(fields, &mut self.decoder, |index| {
            // The last layer is never a sliding one.
            let is_full = (index + 1).is_multiple_of(6) || index + 1 == layers;
            if is_full { LayerType::Full } else { LayerType::Sliding }
        })?;
        let blocks = self.decoder.blocks(
            fields,
            |index| {
                let layer = spans::at(&types, index);
                Shape {
                    span: spans::span(layer, self.window, None),
                    is_sliding: layer == LayerType::Sliding,
                    shares_cache: index >= self.first_shared,
                }
            },
            |shape| Ok((spans::layer_name(shape.span).to_owned(), self.layer(*shape))),
        )?;
        Ok(self.finish(name, blocks))
    }

    fn finish(self, name: &str, blocks: Vec<Block>) -> ModelGraph {
        let extra = self.per_layer_embedding();
        let mut graph = self.decoder.graph(name, blocks);
        if let Some(first) = graph.parts.first_mut().filter(|_| !extra.is_empty()) {
            first.blocks.push(block("per-layer embedding", 1, extra));
        }
        graph
    }

    fn layer(&self, shape: Shape) -> Vec<Operator> {
        let mut attention = if shape.is_sliding { self.sliding.clone() } else { self.full.clone() }.over(shape.span);
        let mut mlp = self.mlp;
        if shape.shares_cache {
            attention.projections = Projections::QueryOnly("self_attn.q_proj");
            attention.cache = KvCache::Shared;
            if self.wide_shared_mlp {
                mlp.width = mlp.width.saturating_mul(2);
            }
        }
        let mut feed_forward = mlp.ops(&self.decoder);
        if let Some(experts) = self.experts {
            feed_forward.extend(self.mixture(experts));
        }
        let mut ops = gemma::layer(&self.decoder, attention.ops(), feed_forward);
        if self.per_layer > 0 {
            ops.extend(self.per_layer_branch());
        }
        ops
    }

    /// Router with its scales, experts, and the norms around them and after the dense MLP.
    fn mixture(&self, experts: Experts) -> Vec<Operator> {
        let Decoder { dtype, hidden, .. } = self.decoder;
        let unweighted = OpKind::Norm { norm: NormKind::Rms, width: hidden, parameters: 0 };
        let once = Extent::Sample { positions: 1 };
        let mut ops = vec![
            self.decoder.norm("post_feedforward_layernorm_1"),
            op("router.norm", Site::Norm, dtype, unweighted),
            parameter("router.scale", Site::Router, dtype, hidden).over(once),
            parameter("router.per_expert_scale", Site::Router, dtype, u64::from(experts.count)).over(once),
            self.decoder.norm("pre_feedforward_layernorm_2"),
        ];
        ops.extend(experts.ops(&self.decoder));
        ops.extend([self.decoder.norm("post_feedforward_layernorm_2"), self.decoder.residual()]);
        ops
    }

    /// What a layer does with its own embedding of the token.
    fn per_layer_branch(&self) -> Vec<Operator> {
        let Decoder { dtype, hidden, .. } = self.decoder;
        vec![
            linear("per_layer_input_gate", Site::Other, dtype, hidden, self.per_layer, false),
            activation(dtype, self.per_layer, true),
            linear("per_layer_projection", Site::Other, dtype, self.per_layer, hidden, false),
            self.decoder.norm("post_per_layer_input_norm"),
            self.decoder.residual(),
        ]
    }

    fn per_layer_embedding(&self) -> Vec<Operator> {
        if self.per_layer == 0 {
            return Vec::new();
        }
        let Decoder { dtype, hidden, layers, .. } = self.decoder;
        let all = self.per_layer.saturating_mul(u64::from(layers));
        let mut norm = rms("per_layer_projection_norm", dtype, all);
        norm.kind = OpKind::Norm { norm: NormKind::Rms, width: all, parameters: self.per_layer };
        vec![
            embedding("embed_tokens_per_layer", Site::Embedding, dtype, self.per_layer_rows, all),
            linear("per_layer_model_projection", Site::Other, dtype, hidden, all, false),
            norm,
        ]
    }
}

/// The attention of layers without a window: wider heads, and with `attention_k_eq_v` fewer of them, whose key is also the
/// value.
fn full_attention(fields: &Fields<'_>, sliding: &SelfAttention) -> Result<SelfAttention, ModelError> {
    let head_dim = size_or(fields, &["global_head_dim"], Some(512))?;
    let is_shared = fields.flag("attention_k_eq_v", false);
    let global_kv_heads = fields.size_opt("num_global_key_value_heads")?.filter(|_| is_shared);
    let mut full = sliding.clone().reshaped(fields, global_kv_heads.unwrap_or(sliding.kv_heads), head_dim)?;
    if is_shared {
        full.projections = Projections::KeyIsValue(["self_attn.q_proj", "self_attn.k_proj"]);
    }
    Ok(full)
}
