//! What training needs to know of a model at one sample size, folded once over the operator graph.

use hob_model::{
    Certainty, Extent, KvCache, ModelGraph, ModelKind, NormKind, OpKind, Operator, PartRole, Shape, Site, Span,
};

/// Bytes that an element-wise kernel chain moves for each element of a norm's width, forward and backward: 40 x hidden
/// for a layer of two norms (least-squares fit on published training measurements).
const MOVED_PER_NORM_ELEMENT: f64 = 20.0;
/// Bytes moved for each element that a convolution writes, forward and backward: 1.06 GB an image for ResNet-50, whose
/// convolutions write 11.1 M elements (same fit; V100, A100 and H100 follow their bandwidth).
const MOVED_PER_CONVOLUTION_ELEMENT: f64 = 95.0;
/// Bytes moved for each element of a looked-up row: read, its gradient written and read, weight and two moments read and
/// written in 32 bits.
const MOVED_PER_ROW_ELEMENT: f64 = 36.0;
/// Head width behind a bare contraction of an ONNX graph, whose score matrix is its multiply-adds over this.
const BARE_HEAD_WIDTH: f64 = 64.0;

/// A model at one sample size. Building it walks the graph once; estimates over many layouts then share it.
///
/// Byte figures are for one sample at 16 bits; FLOPs are of the forward pass.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainProfile {
    pub(crate) name: String,
    pub(crate) certainty: Certainty,
    pub(crate) layers: u32,
    /// Width of the residual stream, or of the widest matrix when the graph names none.
    pub(crate) hidden: f64,
    /// Positions of the residual stream in one sample.
    pub(crate) positions: f64,
    /// Distinct query-head counts.
    pub(crate) heads: Vec<u64>,
    /// Distinct expert counts (empty: dense).
    pub(crate) experts: Vec<u32>,
    pub(crate) convolutional: bool,
    pub(crate) parameters: Parameters,
    pub(crate) saved: Saved,
    pub(crate) work: Work,
}

/// Learned numbers, by where they live.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Parameters {
    /// Repeated layers without experts.
    pub layers: f64,
    /// Experts.
    pub experts: f64,
    /// Largest single layer, experts included.
    pub largest_layer: f64,
    /// Embedding tables of a recommender, spread over the ranks by rows (arXiv 1906.00091).
    pub tables: f64,
    /// Before the layers.
    pub first: f64,
    /// After the layers; zero when tied.
    pub last: f64,
    /// After the layers, tied or not (a pipeline's last stage holds a copy).
    pub last_held: f64,
    /// Matrices that four-bit storage applies to.
    pub linear: f64,
    /// Adapter parameters for rank one: inputs + outputs of each attention input projection.
    pub adapters_per_rank: f64,
}

/// What the forward pass keeps for the backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Saved {
    /// Around norms: split by tensor parallelism only with sequence parallelism.
    pub norms: f64,
    /// What an eager RMS norm keeps beside that: its input in 32 bits.
    pub upcast_norms: f64,
    /// In attention and MLP: always split.
    pub split: f64,
    /// Inputs of the layers: all that full recompute keeps.
    pub inputs: f64,
    /// Largest single layer (norms and split).
    pub largest_layer: f64,
    /// Outside the layers, never recomputed.
    pub outside: f64,
    /// Inputs of adapters, for LoRA.
    pub adapter_inputs: f64,
    /// Score-matrix elements over all layers, when attention is not fused.
    pub scores: f64,
    /// Score-matrix elements of one layer.
    pub scores_of_layer: f64,
    /// Logits: positions x vocabulary.
    pub logits: f64,
}

/// Arithmetic and traffic of one sample.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Work {
    /// Matrix products inside layers, without experts.
    pub dense: f64,
    /// Matrix products of experts.
    pub experts: f64,
    /// Width of one expert.
    pub expert_width: f64,
    /// Expert visits of one sample over all layers, each carrying a hidden vector.
    pub expert_visits: f64,
    /// Experts that one position visits in one layer.
    pub active_experts: f64,
    /// Head and other products outside the layers.
    pub outside: f64,
    pub attention: f64,
    /// Convolutions, whose efficiency does not follow a hidden width.
    pub convolutions: f64,
    /// Bytes that element-wise kernels move, forward and backward.
    pub moved: f64,
    /// Bytes that convolutional nets move, forward and backward.
    pub moved_convolutions: f64,
    /// Key and value elements that context parallelism passes around.
    pub key_values: f64,
    /// Elements of the rows of spread tables that a sample looks up.
    pub looked_up: f64,
    /// Operators.
    pub operators: f64,
}

impl TrainProfile {
    /// The model's name, by which measurements of it are looked up.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.name
    }

    /// Folds `graph` at one sample of `shape`. In training every position has a next token, so `outputs` is `tokens`,
    /// and there is no past.
    #[must_use]
    pub fn new(graph: &ModelGraph, shape: &Shape) -> Self {
        let shape = Shape { outputs: shape.tokens, past: 0, ..*shape };
        let mut profile = Self {
            name: graph.name.clone(),
            certainty: graph.certainty,
            layers: 0,
            hidden: 0.0,
            positions: 0.0,
            heads: Vec::new(),
            experts: Vec::new(),
            convolutional: false,
            parameters: Parameters::default(),
            saved: Saved::default(),
            work: Work::default(),
        };
        let mut widest = 0_u64;
        for part in graph.parts.iter().filter(|part| part.role != PartRole::MultiTokenPrediction) {
            for block in &part.blocks {
                let core = block.ops.iter().any(|op| matches!(op.site, Site::AttentionCore | Site::Convolution));
                if core {
                    profile.layers = profile.layers.saturating_add(block.repeat);
                    profile.add_layer(&block.ops, f64::from(block.repeat), &shape);
                } else {
                    let recommends = graph.kind == ModelKind::Recommender;
                    profile.add_outside(&block.ops, f64::from(block.repeat), &shape, recommends);
                }
                for op in &block.ops {
                    if let OpKind::Linear { inputs, outputs, .. } = op.kind {
                        widest = widest.max(inputs.min(outputs));
                    }
                }
            }
        }
        profile.hidden = graph.hidden.unwrap_or(widest).max(1) as f64;
        // A transformer with a convolution in front stays a transformer.
        profile.convolutional = profile.work.convolutions > 0.5 * profile.forward_flops();
        profile
    }

    fn add_layer(&mut self, ops: &[Operator], repeat: f64, shape: &Shape) {
        let (mut norms, mut split, mut scores, mut plain, mut experts) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let mut after_batch_norm = false;
        for op in ops {
            let positions = op.extent.positions(shape);
            self.positions = self.positions.max(positions);
            let kept = positions * kept_bytes(op, after_batch_norm);
            after_batch_norm = matches!(op.kind, OpKind::Norm { norm: NormKind::Batch, .. });
            if op.site == Site::Norm {
                norms += kept;
                if matches!(op.kind, OpKind::Norm { norm: NormKind::Rms, .. }) {
                    self.saved.upcast_norms += repeat * kept;
                }
            } else {
                split += kept
            }
            scores += positions * score_elements(op, positions);
            if op.copies > 1 {
                experts += op.parameters() as f64
            } else {
                plain += op.parameters() as f64
            }
            self.add_work(op, repeat, positions, shape);
        }
        self.parameters.layers += repeat * plain;
        self.parameters.experts += repeat * experts;
        self.parameters.largest_layer = self.parameters.largest_layer.max(plain + experts);
        self.saved.norms += repeat * norms;
        self.saved.split += repeat * split;
        // A checkpointed layer never keeps more than the layer itself would.
        self.saved.inputs += repeat * ops.first().map_or(0.0, |op| input_bytes(op, shape)).min(norms + split);
        self.saved.largest_layer = self.saved.largest_layer.max(norms + split);
        self.saved.scores += repeat * scores;
        self.saved.scores_of_layer = self.saved.scores_of_layer.max(scores);
        self.work.operators += repeat * ops.len() as f64;
    }

    fn add_work(&mut self, op: &Operator, repeat: f64, positions: f64, shape: &Shape) {
        let flops = repeat * op.flops(shape);
        match &op.kind {
            OpKind::Attention(attention) => {
                self.work.attention += flops;
                if !self.heads.contains(&attention.heads) {
                    self.heads.push(attention.heads);
                }
                self.work.key_values +=
                    repeat * positions * (attention.kv_heads * (attention.qk_dim + attention.v_dim)) as f64;
            }
            OpKind::LinearAttention { .. } | OpKind::MatMul { .. } => self.work.attention += flops,
            OpKind::Conv { outputs, .. } => {
                self.work.convolutions += flops;
                self.work.moved_convolutions += repeat * positions * *outputs as f64 * MOVED_PER_CONVOLUTION_ELEMENT;
            }
            OpKind::Norm { width, norm: NormKind::Layer | NormKind::Rms, .. } => {
                self.work.moved += repeat * positions * *width as f64 * MOVED_PER_NORM_ELEMENT;
            }
            OpKind::Linear { inputs, outputs, .. } => {
                self.parameters.linear += repeat * op.parameters() as f64;
                if op.copies > 1 {
                    self.work.experts += flops;
                    if !self.experts.contains(&op.copies) {
                        self.experts.push(op.copies);
                    }
                    self.work.active_experts = self.work.active_experts.max(f64::from(op.active));
                    if op.site == Site::MlpOutput {
                        self.work.expert_width = self.work.expert_width.max(*inputs as f64);
                        self.work.expert_visits += repeat * positions * f64::from(op.active);
                    }
                } else {
                    self.work.dense += flops;
                }
                if op.site == Site::AttentionInput {
                    self.parameters.adapters_per_rank += repeat * (*inputs + *outputs) as f64;
                    self.saved.adapter_inputs += repeat * positions * 2.0 * *inputs as f64;
                }
            }
            _ => {}
        }
    }

    fn add_outside(&mut self, ops: &[Operator], repeat: f64, shape: &Shape, recommends: bool) {
        self.work.operators += repeat * ops.len() as f64;
        for op in ops {
            let positions = op.extent.positions(shape);
            if let OpKind::Embedding { width, .. } = op.kind
                && recommends
            {
                let elements = repeat * positions * width as f64;
                self.parameters.tables += repeat * op.parameters() as f64;
                self.work.looked_up += elements;
                self.work.moved += elements * MOVED_PER_ROW_ELEMENT;
                continue;
            }
            let is_last = matches!(op.site, Site::Head);
            if is_last {
                self.parameters.last += repeat * op.parameters() as f64;
                self.parameters.last_held += repeat * op.weights() as f64;
            } else {
                self.parameters.first += repeat * op.parameters() as f64;
            }
            match op.kind {
                OpKind::Linear { outputs, .. } if is_last => {
                    self.saved.logits += repeat * positions * outputs as f64;
                }
                _ => self.saved.outside += repeat * positions * kept_bytes(op, false),
            }
            self.work.outside += repeat * op.flops(shape);
        }
    }

    /// All parameters, tied weights counted once.
    pub(crate) fn total_parameters(&self) -> f64 {
        let p = &self.parameters;
        p.layers + p.experts + p.tables + p.first + p.last
    }

    /// Stratum of the fitted errors.
    pub(crate) fn class(&self) -> &'static str {
        if self.convolutional {
            "convolution"
        } else if self.experts.is_empty() {
            "dense"
        } else {
            "moe"
        }
    }

    /// FLOPs of one forward pass of one sample.
    pub(crate) fn forward_flops(&self) -> f64 {
        let w = &self.work;
        w.dense + w.experts + w.outside + w.attention + w.convolutions
    }
}

/// Bytes kept at each position for the backward pass, at 16 bits. Sums to 8 h for the norms of a layer,
/// 4 h + 4 h kv / heads for attention, 8 f for a gated MLP and 4 f for a plain one; an expert MLP is counted once for each
/// active expert with 4 h for the exchange (arXiv 2205.05198, without dropout masks).
fn kept_bytes(op: &Operator, after_batch_norm: bool) -> f64 {
    let active = f64::from(op.active.max(1));
    match &op.kind {
        OpKind::Norm { norm: NormKind::Layer | NormKind::Rms, width, .. } => 4.0 * *width as f64,
        // The input is the convolution's output, which is counted there.
        OpKind::Norm { width, .. } => 2.0 * *width as f64,
        OpKind::Conv { outputs, .. } => 2.0 * *outputs as f64,
        OpKind::Attention(attention) => {
            let (kv_heads, latent) = match attention.cache {
                KvCache::Latent { width } => (attention.heads, width),
                _ => (attention.kv_heads, 0),
            };
            let head = (attention.qk_dim + attention.v_dim) as f64;
            2.0 * ((attention.heads as f64 + kv_heads as f64) * head + latent as f64)
        }
        OpKind::LinearAttention { heads, key_dim, value_dim, .. } => {
            4.0 * *heads as f64 * (*key_dim as f64 + *value_dim as f64)
        }
        OpKind::Activation { .. } if after_batch_norm => 0.0, // In place.
        OpKind::Activation { width, gated } => (if *gated { 4.0 } else { 2.0 }) * *width as f64 * active,
        OpKind::MatMul { multiply_adds } => 2.0 * *multiply_adds as f64 / BARE_HEAD_WIDTH,
        OpKind::Linear { outputs, .. } => match op.site {
            // Counted by the attention core, or added to the residual stream, which the next norm keeps.
            Site::AttentionInput | Site::AttentionOutput => 0.0,
            Site::MlpOutput if op.copies > 1 => 4.0 * *outputs as f64 * active,
            Site::MlpOutput => 0.0,
            _ => 2.0 * *outputs as f64 * active,
        },
        OpKind::Embedding { .. } | OpKind::Elementwise { .. } | OpKind::Parameter { .. } | OpKind::Opaque => 0.0,
    }
}

/// Score-matrix elements of one position.
fn score_elements(op: &Operator, positions: f64) -> f64 {
    match &op.kind {
        OpKind::Attention(attention) => {
            let keys = match attention.span {
                Span::Cross { positions } => positions as f64,
                // An eager kernel masks a full matrix, also for a window.
                _ => positions,
            };
            attention.heads as f64 * keys
        }
        _ => 0.0,
    }
}

/// Bytes of a layer's input.
fn input_bytes(first: &Operator, shape: &Shape) -> f64 {
    let width = match &first.kind {
        OpKind::Norm { width, .. } | OpKind::Elementwise { width } | OpKind::Activation { width, .. } => *width,
        OpKind::Linear { inputs, .. } => *inputs,
        OpKind::Conv { inputs, outputs, .. } => *inputs.max(outputs),
        OpKind::Embedding { width, .. } => *width,
        OpKind::Attention(attention) => attention.heads.saturating_mul(attention.v_dim),
        OpKind::LinearAttention { heads, value_dim, .. } => heads.saturating_mul(*value_dim),
        OpKind::MatMul { .. } | OpKind::Parameter { .. } | OpKind::Opaque => 0,
    };
    let extent: &Extent = &first.extent;
    2.0 * width as f64 * extent.positions(shape)
}
