//! Blocks of denoisers that join picture and text tokens in one attention (MMDiT, Esser et al. 2024, arXiv 2403.03206):
//! two-stream blocks with weights for each modality, and one-stream blocks over both. Sequences and shapes follow
//! `diffusers` 0.35. Modulation (AdaLN) is computed once for each sample, not for each token.

use crate::build::{activation, attention, linear};
use crate::config::media::{elementwise, norm_of};
use crate::dtype::Dtype;
use crate::graph::{Extent, KvCache, NormKind, Operator, Site, Span};

/// Width of the sinusoid that a time step is turned into before its MLP (`diffusers` `Timesteps(num_channels=256)`).
const TIME_FEATURES: u64 = 256;

/// One sample, not its tokens.
pub(super) const ONCE: Extent = Extent::Sample { positions: 1 };

/// Sizes that all blocks of one denoiser share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Joint {
    pub(super) dtype: Dtype,
    pub(super) hidden: u64,
    pub(super) heads: u64,
    pub(super) head_width: u64,
    /// Inner width of the MLPs.
    pub(super) inner: u64,
    /// Whether queries and keys are normalised head by head.
    pub(super) query_key_norm: bool,
    /// Whether positions rotate queries and keys.
    pub(super) rotary: bool,
    /// Picture positions alone.
    pub(super) image: Extent,
    /// Text positions alone.
    pub(super) text: Extent,
    /// Both.
    pub(super) both: Extent,
}

/// What the text stream of a two-stream block still does after the attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextStream {
    /// Output projection and MLP.
    Full,
    /// Nothing: the last block of SD3 needs no text afterwards.
    AttentionOnly,
}

/// Whether the picture stream has a second attention of its own (SD3.5 medium).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PictureAttention {
    /// Joint attention only.
    Joint,
    /// Joint attention and one among picture tokens.
    JointAndOwn,
}

impl Joint {
    /// A block with weights for each modality.
    pub(super) fn two_stream(&self, text: TextStream, picture: PictureAttention) -> Vec<Operator> {
        let full = text == TextStream::Full;
        let dual = picture == PictureAttention::JointAndOwn;
        let mut ops = self.modulation("norm1", if dual { 9 } else { 6 });
        ops.extend(self.modulation("norm1_context", if full { 6 } else { 2 }));
        ops.extend(self.attention_inputs("attn", self.image));
        ops.extend(self.attention_inputs("attn.add", self.text));
        ops.push(self.core("attn.core", self.both));
        ops.extend(self.attention_output("attn.to_out", self.image));
        if dual {
            ops.extend(self.attention_inputs("attn2", self.image));
            ops.push(self.core("attn2.core", self.image));
            ops.extend(self.attention_output("attn2.to_out", self.image));
        }
        ops.extend(self.mlp("ff", self.image));
        if full {
            ops.extend(self.attention_output("attn.to_add_out", self.text));
            ops.extend(self.mlp("ff_context", self.text));
        }
        ops
    }

    /// A block whose attention and MLP run side by side over both modalities and share their output projection.
    pub(super) fn one_stream(&self) -> Vec<Operator> {
        let Self { dtype, hidden, inner, both, .. } = *self;
        let mut ops = self.modulation("norm", 3);
        ops.extend(self.attention_inputs("attn", both));
        ops.push(linear("proj_mlp", Site::MlpInput, dtype, hidden, inner, true).over(both));
        ops.push(activation(dtype, inner, false).over(both));
        ops.push(self.core("attn.core", both));
        ops.push(elementwise("concat", dtype, hidden.saturating_add(inner), both));
        ops.push(linear("proj_out", Site::MlpOutput, dtype, hidden.saturating_add(inner), hidden, true).over(both));
        ops.push(elementwise("gate", dtype, hidden, both));
        ops.push(elementwise("residual", dtype, hidden, both));
        ops
    }

    /// The adaptive norm and projection to `channels` outputs that end the denoiser.
    pub(super) fn head(&self, channels: u64) -> Vec<Operator> {
        let Self { dtype, hidden, image, .. } = *self;
        let mut ops = self.modulation("norm_out", 2);
        ops.push(self.plain_norm("norm_out.norm", image));
        ops.push(elementwise("modulate", dtype, hidden, image));
        ops.push(linear("proj_out", Site::Head, dtype, hidden, channels, true).over(image));
        ops
    }

    fn modulation(&self, name: &str, vectors: u64) -> Vec<Operator> {
        modulation(name, self.dtype, self.hidden, vectors)
    }

    fn plain_norm(&self, name: &str, extent: Extent) -> Operator {
        norm_of(name, self.dtype, NormKind::Layer, self.hidden, 0, extent)
    }

    /// Adaptive norm, the three projections with their norms and rotation.
    fn attention_inputs(&self, prefix: &str, extent: Extent) -> Vec<Operator> {
        let Self { dtype, hidden, .. } = *self;
        let mut ops =
            vec![self.plain_norm(&format!("{prefix}.norm"), extent), elementwise("modulate", dtype, hidden, extent)];
        for name in ["q", "k", "v"] {
            let name = format!("{prefix}.{name}_proj");
            ops.push(linear(&name, Site::AttentionInput, dtype, hidden, hidden, true).over(extent));
        }
        if self.query_key_norm {
            for name in ["norm_q", "norm_k"] {
                let name = format!("{prefix}.{name}");
                ops.push(norm_of(&name, dtype, NormKind::Rms, hidden, self.head_width, extent));
            }
        }
        if self.rotary {
            ops.push(elementwise("rotary", dtype, hidden.saturating_mul(2), extent));
        }
        ops
    }

    fn core(&self, name: &str, extent: Extent) -> Operator {
        let mut core =
            attention(self.dtype, self.heads, self.heads, self.head_width, Span::Bidirectional, KvCache::None);
        name.clone_into(&mut core.name);
        core.over(extent)
    }

    fn attention_output(&self, name: &str, extent: Extent) -> Vec<Operator> {
        let Self { dtype, hidden, .. } = *self;
        vec![
            linear(name, Site::AttentionOutput, dtype, hidden, hidden, true).over(extent),
            elementwise("gate", dtype, hidden, extent),
            elementwise("residual", dtype, hidden, extent),
        ]
    }

    fn mlp(&self, prefix: &str, extent: Extent) -> Vec<Operator> {
        let Self { dtype, hidden, inner, .. } = *self;
        let mut ops =
            vec![self.plain_norm(&format!("{prefix}.norm"), extent), elementwise("modulate", dtype, hidden, extent)];
        ops.extend(crate::config::media::mlp(prefix, dtype, hidden, inner, extent));
        ops.push(elementwise("gate", dtype, hidden, extent));
        ops.push(elementwise("residual", dtype, hidden, extent));
        ops
    }
}

/// The projection of the conditioning vector to `vectors` scales, shifts and gates.
pub(super) fn modulation(name: &str, dtype: Dtype, hidden: u64, vectors: u64) -> Vec<Operator> {
    vec![
        activation(dtype, hidden, false).over(ONCE),
        linear(&format!("{name}.linear"), Site::Modulation, dtype, hidden, hidden.saturating_mul(vectors), true)
            .over(ONCE),
    ]
}

/// Two linear layers on one vector for each sample: the embedding of a time step, a guidance scale or a pooled text.
pub(super) fn vector_mlp(name: &str, dtype: Dtype, inputs: u64, hidden: u64) -> Vec<Operator> {
    vec![
        linear(&format!("{name}.linear_1"), Site::Modulation, dtype, inputs, hidden, true).over(ONCE),
        activation(dtype, hidden, false).over(ONCE),
        linear(&format!("{name}.linear_2"), Site::Modulation, dtype, hidden, hidden, true).over(ONCE),
    ]
}

/// The embedding of a time step (or of a guidance scale).
pub(super) fn time_embedder(name: &str, dtype: Dtype, hidden: u64) -> Vec<Operator> {
    vector_mlp(name, dtype, TIME_FEATURES, hidden)
}
