//! Folds over the operator graph: parameters, bytes, FLOPs, KV cache. Each quantity has its one formula here.

use std::collections::BTreeMap;

use hob_units::{Bytes, Flops, Quantity};
use serde::Serialize;

use crate::dtype::Dtype;
use crate::graph::{
    Attention, Block, Extent, KvCache, ModelGraph, ModelKind, NormKind, OpKind, Operator, Part, PartRole, Shape, Site,
    Span,
};

impl Extent {
    /// Positions in one sample of `shape`.
    #[must_use]
    pub fn positions(&self, shape: &Shape) -> f64 {
        match *self {
            Self::Tokens => shape.tokens as f64,
            Self::OutputTokens => shape.outputs as f64,
            Self::Sample { positions } => positions as f64,
            Self::Grid { pixels_per_position, frames_per_position, fixed } => {
                let pixels = shape.height as f64 * shape.width as f64;
                let steps = (shape.frames.max(1) as f64 / frames_per_position.max(1.0)).ceil();
                (pixels / pixels_per_position.max(f64::MIN_POSITIVE)) * steps + fixed as f64
            }
        }
    }
}

impl Attention {
    /// Mean number of positions that one of `queries` positions attends to, with `past` positions before them.
    #[must_use]
    pub fn mean_span(&self, queries: f64, past: f64) -> f64 {
        // With a cap of w, query i (1-based) sees min(past + i, w); the mean over i = 1..n in closed form.
        let capped = |window: f64| {
            if queries <= 0.0 {
                return 0.0;
            }
            let rising = (window - past).clamp(0.0, queries);
            let rising_sum = rising * past + rising * (rising + 1.0) / 2.0;
            (rising_sum + (queries - rising) * window) / queries
        };
        match self.span {
            Span::Causal => past + (queries + 1.0) / 2.0,
            Span::Bidirectional => past + queries,
            Span::Sliding { window } => capped(window as f64),
            Span::Chunked { chunk } => capped(chunk as f64).min(chunk as f64 / 2.0).max(1.0),
            Span::Cross { positions } => positions as f64,
            Span::Sparse { window, compression, top_k } => {
                // The i-th query sees min(i / c, k) entries, which is min(i, k c) / c.
                let compression = compression.max(1) as f64;
                let seen = match top_k {
                    Some(top_k) => capped(top_k as f64 * compression),
                    None => past + (queries + 1.0) / 2.0,
                };
                capped(window as f64) + seen / compression
            }
        }
    }

    /// Positions kept in the cache once `context` tokens have passed.
    #[must_use]
    pub fn cached_positions(&self, context: f64) -> f64 {
        match self.span {
            Span::Causal | Span::Bidirectional => context,
            Span::Sliding { window } => context.min(window as f64),
            Span::Chunked { chunk } => context.min(chunk as f64),
            Span::Cross { positions } => positions as f64,
            Span::Sparse { window, compression, .. } => {
                context.min(window as f64) + context / compression.max(1) as f64
            }
        }
    }

    /// Cache elements for each kept position.
    #[must_use]
    pub fn cache_width(&self) -> u64 {
        match self.cache {
            KvCache::KeyValue => self.kv_heads.saturating_mul(self.qk_dim.saturating_add(self.v_dim)),
            KvCache::Latent { width } => width,
            KvCache::Shared | KvCache::None => 0,
        }
    }
}

impl Operator {
    /// Learned parameters of all copies, also when tied.
    #[must_use]
    pub fn weights(&self) -> u64 {
        let one = match &self.kind {
            OpKind::Linear { inputs, outputs, bias } => {
                inputs.saturating_mul(*outputs).saturating_add(if *bias { *outputs } else { 0 })
            }
            OpKind::Embedding { rows, width } => rows.saturating_mul(*width),
            OpKind::Norm { parameters, .. } | OpKind::LinearAttention { parameters, .. } => *parameters,
            OpKind::Conv { inputs, outputs, kernel_elements, groups, bias } => (inputs / (*groups).max(1))
                .saturating_mul(*outputs)
                .saturating_mul(*kernel_elements)
                .saturating_add(if *bias { *outputs } else { 0 }),
            OpKind::Parameter { elements } => *elements,
            OpKind::Attention(_)
            | OpKind::Activation { .. }
            | OpKind::Elementwise { .. }
            | OpKind::MatMul { .. }
            | OpKind::Opaque => 0,
        };
        one.saturating_mul(u64::from(self.copies))
    }

    /// Parameters counted in the model's total: zero when the weights are another operator's.
    #[must_use]
    pub fn parameters(&self) -> u64 {
        if self.tied { 0 } else { self.weights() }
    }

    /// Parameters that one position passes through.
    #[must_use]
    pub fn active_weights(&self) -> u64 {
        self.weights() / u64::from(self.copies.max(1)) * u64::from(self.active)
    }

    /// Forward FLOPs over one sample of `shape`. Elementwise work counts as zero: it is bandwidth, not arithmetic. Work that
    /// is not known adds nothing; see [`ModelGraph::opaque_operators`].
    #[must_use]
    pub fn flops(&self, shape: &Shape) -> f64 {
        let positions = self.extent.positions(shape);
        let active = f64::from(self.active);
        match &self.kind {
            OpKind::Linear { inputs, outputs, .. } => 2.0 * positions * active * *inputs as f64 * *outputs as f64,
            OpKind::Conv { inputs, outputs, kernel_elements, groups, .. } => {
                2.0 * positions * (*inputs as f64 / (*groups).max(1) as f64) * *outputs as f64 * *kernel_elements as f64
            }
            OpKind::Attention(attention) => {
                let past = if matches!(self.extent, Extent::Tokens) { shape.past as f64 } else { 0.0 };
                let span = attention.mean_span(positions, past);
                2.0 * positions * span * attention.heads as f64 * (attention.qk_dim + attention.v_dim) as f64
            }
            OpKind::LinearAttention { heads, key_dim, value_dim, .. } => {
                // State update and read: two rank-one products over the key x value state, each a multiply-add.
                4.0 * positions * *heads as f64 * *key_dim as f64 * *value_dim as f64
            }
            OpKind::MatMul { multiply_adds } => 2.0 * positions * *multiply_adds as f64,
            OpKind::Embedding { .. }
            | OpKind::Norm { .. }
            | OpKind::Activation { .. }
            | OpKind::Elementwise { .. }
            | OpKind::Parameter { .. }
            | OpKind::Opaque => 0.0,
        }
    }
}

/// Parameters of one part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartSummary {
    /// Name for people.
    pub name: String,
    /// What it does.
    pub role: PartRole,
    /// Parameters, tied weights counted once.
    pub parameters: u64,
}

/// What `hob inspect` shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelSummary {
    /// All parameters, tied weights counted once.
    pub parameters: u64,
    /// Parameters that one token passes through (equals `parameters` for dense models without towers).
    pub active_parameters: u64,
    /// By part, in order.
    pub parts: Vec<PartSummary>,
    /// Weight bytes by storage type.
    pub bytes_by_dtype: BTreeMap<Dtype, Bytes>,
    /// Sum of the above.
    pub weight_bytes: Bytes,
    /// Forward FLOPs for one sample of the native shape; `None` when no operator that computes is known.
    pub flops: Option<Flops>,
    /// Operators whose work is not known: with any, `flops` is a floor.
    pub opaque_operators: u64,
    /// KV-cache bytes that one more token adds at 16 bits, before any window is full.
    pub kv_bytes_per_token: Bytes,
    /// Bytes of constant state for each sequence: of linear attention in its own types, of cross attention at 16 bits.
    pub state_bytes_per_sequence: Bytes,
}

impl ModelGraph {
    /// Every operator with its number of repetitions, in order. Extra modules for multi-token prediction are left out here,
    /// and so in every figure but their own part's: published counts leave them out, and plain decoding does not run them.
    pub fn operators(&self) -> impl Iterator<Item = (u32, &Operator)> {
        let parts = self.parts.iter().filter(|part| part.role != PartRole::MultiTokenPrediction);
        parts.flat_map(|part| &part.blocks).flat_map(|block| block.ops.iter().map(|op| (block.repeat, op)))
    }

    /// All parameters, tied weights counted once.
    #[must_use]
    pub fn parameters(&self) -> u64 {
        self.operators()
            .fold(0_u64, |sum, (repeat, op)| sum.saturating_add(op.parameters().saturating_mul(u64::from(repeat))))
    }

    /// Parameters that one token passes through: of an expert layer only the active experts, and of a language model no
    /// tower for pictures or sound.
    #[must_use]
    pub fn active_parameters(&self) -> u64 {
        let is_tower = |part: &Part| {
            self.kind == ModelKind::CausalLm
                && matches!(
                    part.role,
                    PartRole::VisionTower
                        | PartRole::AudioEncoder
                        | PartRole::Projector
                        | PartRole::MultiTokenPrediction
                )
        };
        self.parts
            .iter()
            .filter(|part| !is_tower(part))
            .flat_map(|part| &part.blocks)
            .flat_map(|block| block.ops.iter().map(|op| (block.repeat, op)))
            .filter(|(_, op)| !op.tied)
            .fold(0_u64, |sum, (repeat, op)| sum.saturating_add(op.active_weights().saturating_mul(u64::from(repeat))))
    }

    /// Number of sequential layers: repeated blocks that hold attention, linear attention or a convolution. A language
    /// model's are its decoder's. Beside attention, a convolution without a norm over channels cuts the input into
    /// patches and is no layer.
    #[must_use]
    pub fn layers(&self) -> u32 {
        let holds = |block: &Block, site: Site| block.ops.iter().any(|op| op.site == site);
        let is_meant = |part: &&Part| match self.kind {
            ModelKind::CausalLm => part.role == PartRole::Decoder,
            _ => part.role != PartRole::MultiTokenPrediction,
        };
        let blocks = || self.parts.iter().filter(is_meant).flat_map(|part| &part.blocks);
        let attends = blocks().any(|block| holds(block, Site::AttentionCore));
        let is_channel_norm =
            |op: &Operator| matches!(op.kind, OpKind::Norm { norm: NormKind::Group | NormKind::Batch, .. });
        blocks()
            .filter(|block| {
                holds(block, Site::AttentionCore)
                    || holds(block, Site::Convolution) && (!attends || block.ops.iter().any(is_channel_norm))
            })
            .fold(0, |sum, block| sum.saturating_add(block.repeat))
    }

    /// Forward FLOPs for one sample.
    #[must_use]
    pub fn flops(&self, shape: &Shape) -> Flops {
        Flops(
            self.parts
                .iter()
                .filter(|part| part.role != PartRole::MultiTokenPrediction)
                .flat_map(|part| &part.blocks)
                .map(|block| f64::from(block.repeat) * block.ops.iter().map(|op| op.flops(shape)).sum::<f64>())
                // Not `sum`: that of nothing is -0.
                .fold(0.0, |sum, flops| sum + flops),
        )
    }

    /// Operators whose work is not known.
    #[must_use]
    pub fn opaque_operators(&self) -> u64 {
        self.operators().filter(|(_, op)| op.kind == OpKind::Opaque).map(|(repeat, _)| u64::from(repeat)).sum()
    }

    /// Weight bytes by storage type: the headers' own figures when they were read, else parameters times bits.
    #[must_use]
    pub fn bytes_by_dtype(&self) -> BTreeMap<Dtype, Bytes> {
        if let Some(stored) = &self.stored {
            return stored.bytes.clone();
        }
        let mut bits: BTreeMap<Dtype, f64> = BTreeMap::new();
        for (repeat, op) in self.operators() {
            let parameters = op.parameters();
            if parameters > 0 {
                *bits.entry(op.dtype).or_default() += parameters as f64 * f64::from(repeat) * op.dtype.bits();
            }
        }
        bits.into_iter().map(|(dtype, bits)| (dtype, Bytes::from_base(bits / 8.0))).collect()
    }

    /// KV-cache bytes of one sequence of `context` tokens at `bits` for each element, constant state included.
    #[must_use]
    pub fn kv_bytes(&self, context: u64, bits: f64) -> Bytes {
        let elements: f64 = self
            .operators()
            .map(|(repeat, op)| match &op.kind {
                OpKind::Attention(attention) => {
                    f64::from(repeat) * attention.cached_positions(context as f64) * attention.cache_width() as f64
                }
                _ => 0.0,
            })
            .sum();
        Bytes::from_base(elements * bits / 8.0 + self.state_elements() * 2.0)
    }

    /// Elements of recurrent state for each sequence; one of 32 bits counts as two.
    fn state_elements(&self) -> f64 {
        self.operators()
            .map(|(repeat, op)| match op.kind {
                OpKind::LinearAttention { state_elements, .. } => f64::from(repeat) * state_elements as f64,
                _ => 0.0,
            })
            .sum()
    }

    /// The figures that `hob inspect` shows.
    #[must_use]
    pub fn summary(&self) -> ModelSummary {
        let parts = self
            .parts
            .iter()
            .map(|part| PartSummary {
                name: part.name.clone(),
                role: part.role,
                parameters: part
                    .blocks
                    .iter()
                    .flat_map(|block| {
                        block.ops.iter().map(|op| op.parameters().saturating_mul(u64::from(block.repeat)))
                    })
                    .fold(0, u64::saturating_add),
            })
            .collect();
        let bytes_by_dtype = self.bytes_by_dtype();
        let no_context = self.kv_bytes(0, 16.0);
        ModelSummary {
            parameters: self.parameters(),
            active_parameters: self.active_parameters(),
            parts,
            weight_bytes: bytes_by_dtype.values().copied().sum(),
            bytes_by_dtype,
            flops: Some(self.flops(&self.native_shape)).filter(|flops| flops.0 > 0.0),
            opaque_operators: self.opaque_operators(),
            kv_bytes_per_token: self.kv_bytes(1, 16.0) - no_context,
            state_bytes_per_sequence: no_context,
        }
    }
}
