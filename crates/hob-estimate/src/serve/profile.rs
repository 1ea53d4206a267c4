//! The folds over a model graph that serving needs, computed once for a weight format.

use hob_model::{Attention, Certainty, KvCache, ModelGraph, ModelKind, OpKind, Operator, Part, PartRole, Site};
use hob_units::Quantity;

use super::format::{Class, stored_as};
use crate::refusal::EstimateError;
use crate::strategy::{KvFormat, WeightFormat};

/// Matrices of one class and one expert pattern.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MatrixGroup {
    pub(super) class: Class,
    /// Copies of the weights and how many a token passes through.
    pub(super) copies: u32,
    pub(super) active: u32,
    /// Bytes of all copies.
    pub(super) bytes: f64,
    /// FLOPs of one token.
    pub(super) flops: f64,
    /// Whether only the last position of a prompt passes through it.
    pub(super) output_only: bool,
}

/// Attention layers of one shape.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttentionGroup {
    pub(super) attention: Attention,
    pub(super) layers: f64,
}

/// What serving needs to know of a model in one weight and KV format: a few sums instead of the whole graph.
#[derive(Debug, Clone, PartialEq)]
pub struct ServeProfile {
    pub(super) model: String,
    pub(super) weights: WeightFormat,
    pub(super) certainty: Certainty,
    pub(super) matrices: Vec<MatrixGroup>,
    pub(super) attention: Vec<AttentionGroup>,
    /// Linear attention: FLOPs of one token, and state bytes of one sequence (16 bits).
    pub(super) linear_flops: f64,
    pub(super) state_bytes: f64,
    /// Weight bytes of all layers, and of embedding tables and head together.
    pub(super) layer_bytes: f64,
    pub(super) edge_bytes: f64,
    /// The larger of the two alone: a tied table lies on the first and on the last pipeline stage.
    pub(super) edge_largest: f64,
    pub(super) kv_bits: f64,
    pub(super) layers: f64,
    /// Kernels of one step, all layers, without on-the-fly quantisation.
    pub(super) kernels: f64,
    /// Whether activations are quantised when the card can.
    pub(super) quantised_activations: bool,
    pub(super) hidden: f64,
    pub(super) vocabulary: f64,
    /// Widest intermediate of one layer, elements a token.
    pub(super) widest: f64,
}

/// Kernels that a plain layer launches in decode (two norms, query-key-value, rotary and cache write, attention,
/// output, gate-up, activation, down), and what each further mechanism adds.
const KERNELS_BASE: f64 = 9.0;
const KERNELS_QK_NORM: f64 = 2.0;
const KERNELS_MOE: f64 = 8.0;
const KERNELS_LATENT: f64 = 6.0;
const KERNELS_INDEXER: f64 = 8.0;
const KERNELS_LINEAR: f64 = 8.0;
/// Added to each layer when activations are quantised on the fly.
pub(super) const KERNELS_QUANTISE: f64 = 4.0;

impl ServeProfile {
    /// The model's name, by which measurements of it are looked up.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Folds `graph` once.
    ///
    /// # Errors
    /// When the graph is no language model with layers.
    pub fn new(graph: &ModelGraph, weights: WeightFormat, kv: KvFormat) -> Result<Self, EstimateError> {
        let wrong = || EstimateError::NotALanguageModel { model: graph.name.clone() };
        if graph.kind != ModelKind::CausalLm {
            return Err(wrong());
        }
        let mut profile = Self {
            model: graph.name.clone(),
            weights,
            certainty: graph.certainty,
            matrices: Vec::new(),
            attention: Vec::new(),
            linear_flops: 0.0,
            state_bytes: 0.0,
            layer_bytes: 0.0,
            edge_bytes: 0.0,
            edge_largest: 0.0,
            kv_bits: if kv == KvFormat::Half { 16.0 } else { 8.0 },
            layers: 0.0,
            kernels: 0.0,
            quantised_activations: match weights {
                WeightFormat::AsStored => graph.quantization.as_ref().is_some_and(|q| q.quantised_activations),
                WeightFormat::Half | WeightFormat::Int4 => false,
                WeightFormat::Fp8 | WeightFormat::Int8 | WeightFormat::Fp4 => true,
            },
            hidden: graph.hidden.unwrap_or(0) as f64,
            vocabulary: graph.vocabulary.unwrap_or(0) as f64,
            widest: 0.0,
        };
        for part in graph.parts.iter().filter(|part| part.role != PartRole::MultiTokenPrediction) {
            profile.add(part);
        }
        if let (WeightFormat::AsStored, Some(stored)) = (weights, &graph.stored) {
            // The headers' own sum; the split between layers and edges stays the graph's.
            let total: f64 = stored.bytes.values().map(|bytes| bytes.base()).sum();
            let graph_total = profile.layer_bytes + profile.edge_bytes;
            if graph_total > 0.0 {
                profile.layer_bytes *= total / graph_total;
                profile.edge_bytes *= total / graph_total;
            }
        }
        if profile.layers < 1.0 || profile.matrices.is_empty() || profile.hidden <= 0.0 {
            return Err(wrong());
        }
        Ok(profile)
    }

    fn add(&mut self, part: &Part) {
        let decodes = matches!(part.role, PartRole::Decoder | PartRole::Head | PartRole::Embedding | PartRole::Other);
        for block in &part.blocks {
            let repeat = f64::from(block.repeat);
            for op in &block.ops {
                let (class, bits) = stored_as(op, part.role, self.weights);
                let bytes = op.parameters() as f64 * bits / 8.0 * repeat;
                if matches!(op.site, Site::Embedding | Site::PositionEmbedding | Site::Head) {
                    self.edge_bytes += bytes;
                    self.edge_largest = self.edge_largest.max(op.weights() as f64 * bits / 8.0 * repeat);
                } else {
                    self.layer_bytes += bytes;
                }
                if decodes {
                    self.add_operator(op, class, bits, repeat);
                }
            }
            if decodes && let Some(kernels) = kernels(&block.ops) {
                self.layers += repeat;
                self.kernels += repeat * kernels;
            }
        }
    }

    fn add_operator(&mut self, op: &Operator, class: Class, bits: f64, repeat: f64) {
        match &op.kind {
            OpKind::Linear { inputs, outputs, .. } => {
                let output_only = op.site == Site::Head;
                if !output_only {
                    let width = *outputs as f64 * f64::from(op.active);
                    self.widest = self.widest.max(width + *inputs as f64);
                }
                let bytes = op.weights() as f64 * bits / 8.0 * repeat;
                let flops = 2.0 * f64::from(op.active) * *inputs as f64 * *outputs as f64 * repeat;
                let same = |group: &&mut MatrixGroup| {
                    (group.class, group.copies, group.active, group.output_only)
                        == (class, op.copies, op.active, output_only)
                };
                match self.matrices.iter_mut().find(same) {
                    Some(group) => {
                        group.bytes += bytes;
                        group.flops += flops;
                    }
                    None => self.matrices.push(MatrixGroup {
                        class,
                        copies: op.copies,
                        active: op.active,
                        bytes,
                        flops,
                        output_only,
                    }),
                }
            }
            OpKind::Attention(attention) => {
                match self.attention.iter_mut().find(|group| group.attention == *attention) {
                    Some(group) => group.layers += repeat,
                    None => {
                        self.attention.push(AttentionGroup { attention: attention.clone(), layers: repeat });
                    }
                }
            }
            OpKind::LinearAttention { heads, key_dim, value_dim, state_elements, .. } => {
                self.linear_flops += 4.0 * *heads as f64 * *key_dim as f64 * *value_dim as f64 * repeat;
                self.state_bytes += *state_elements as f64 * 2.0 * repeat;
            }
            _ => {}
        }
    }

    /// KV bytes of one sequence of `context` tokens on one of `tensor` ranks, all layers. Heads are replicated when
    /// there are fewer than ranks; a latent is never split.
    pub(super) fn kv_bytes_stored(&self, context: f64, tensor: f64) -> f64 {
        let caches: f64 = self
            .attention
            .iter()
            .map(|group| {
                let width = group.attention.cache_width() as f64;
                group.layers * group.attention.cached_positions(context) * width / split(&group.attention, tensor)
            })
            .sum();
        caches * self.kv_bits / 8.0 + self.state_bytes / tensor
    }

    /// KV bytes that one decode step reads for one sequence, on one rank; the recurrent state is read and written.
    pub(super) fn kv_bytes_read(&self, context: f64, tensor: f64) -> f64 {
        let caches: f64 = self
            .attention
            .iter()
            .map(|group| {
                let attention = &group.attention;
                let width = match attention.cache {
                    KvCache::Shared => attention.kv_heads.saturating_mul(attention.qk_dim + attention.v_dim),
                    _ => attention.cache_width(),
                };
                group.layers * attention.mean_span(1.0, context) * width as f64 / split(attention, tensor)
            })
            .sum();
        caches * self.kv_bits / 8.0 + 2.0 * self.state_bytes / tensor
    }

    /// FLOPs of scores and weighted sums of one token in decode. A latent cache is multiplied in its own width.
    pub(super) fn decode_attention_flops(&self, context: f64) -> f64 {
        let scores: f64 = self
            .attention
            .iter()
            .map(|group| {
                let attention = &group.attention;
                let width = match attention.cache {
                    KvCache::Latent { width } => 2.0 * width as f64,
                    _ => attention.qk_dim as f64 + attention.v_dim as f64,
                };
                2.0 * group.layers * attention.mean_span(1.0, context) * attention.heads as f64 * width
            })
            .sum();
        scores + self.linear_flops
    }

    /// FLOPs of scores and weighted sums of a whole prompt of `tokens` after `past` cached ones.
    pub(super) fn prefill_attention_flops(&self, tokens: f64, past: f64) -> f64 {
        let scores: f64 = self
            .attention
            .iter()
            .map(|group| {
                let a = &group.attention;
                let width = a.heads as f64 * (a.qk_dim as f64 + a.v_dim as f64);
                2.0 * group.layers * tokens * a.mean_span(tokens, past) * width
            })
            .sum();
        scores + self.linear_flops * tokens
    }

    /// Weight bytes touched by `batch` tokens of one step: all dense weights and the experts that some token chose,
    /// `E * (1 - (1 - k/E)^(B^spread))`: tokens of one step choose alike, so `spread` is below 1.
    pub(super) fn touched(&self, group: &MatrixGroup, batch: f64, spread: f64) -> f64 {
        if group.active >= group.copies {
            return group.bytes;
        }
        let share = f64::from(group.active) / f64::from(group.copies.max(1));
        group.bytes * (1.0 - (1.0 - share).powf(batch.max(1.0).powf(spread)))
    }
}

/// Ranks over which one layer's cache is split.
fn split(attention: &Attention, tensor: f64) -> f64 {
    match attention.cache {
        KvCache::Latent { .. } => 1.0,
        _ => tensor.min(attention.kv_heads.max(1) as f64).max(1.0),
    }
}

/// Kernels that one layer launches, or `None` when the block is no layer.
fn kernels(ops: &[Operator]) -> Option<f64> {
    let attention = ops.iter().find_map(|op| match &op.kind {
        // An indexer scores as attention does, and is counted apart.
        OpKind::Attention(attention) if op.site != Site::Indexer => Some(attention),
        _ => None,
    });
    let linear = ops.iter().any(|op| matches!(op.kind, OpKind::LinearAttention { .. }));
    if attention.is_none() && !linear {
        return None;
    }
    let latent = attention.is_some_and(|a| matches!(a.cache, KvCache::Latent { .. }));
    let qk_norm = !latent
        && attention.is_some_and(|a| {
            ops.iter().any(|op| match op.kind {
                OpKind::Norm { width, .. } => {
                    op.site == Site::Norm && (width == a.qk_dim || op.name.contains("q_norm"))
                }
                _ => false,
            })
        });
    let adds = [
        (qk_norm, KERNELS_QK_NORM),
        (ops.iter().any(|op| op.active < op.copies), KERNELS_MOE),
        (latent, KERNELS_LATENT),
        (ops.iter().any(|op| op.site == Site::Indexer), KERNELS_INDEXER),
        (linear, KERNELS_LINEAR),
    ];
    Some(KERNELS_BASE + adds.iter().filter(|(has, _)| *has).map(|(_, n)| n).sum::<f64>())
}
