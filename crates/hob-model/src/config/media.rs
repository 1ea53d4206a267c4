//! Pieces that the image, audio and video families share. Knows layers, never a whole family.

use crate::build::{activation, attention, linear, norm, op};
use crate::config::fields::Fields;
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{
    Certainty, Extent, KvCache, ModelGraph, ModelKind, NormKind, OpKind, Operator, Origin, Part, Shape, Site, Span,
};

/// A graph read exactly from a config, without the fields that only language models have.
pub(crate) fn model(
    name: &str,
    family: &str,
    kind: ModelKind,
    hidden: u64,
    shape: Shape,
    parts: Vec<Part>,
) -> ModelGraph {
    ModelGraph {
        name: name.to_owned(),
        family: family.to_owned(),
        kind,
        origin: Origin::HfConfig,
        certainty: Certainty::Exact,
        hidden: Some(hidden),
        vocabulary: None,
        context_max: None,
        quantization: None,
        stored: None,
        parts,
        unknowns: Vec::new(),
        native_shape: shape,
    }
}

/// The shape of one picture of `height` x `width` pixels, or of a clip of `frames` of them.
pub(crate) const fn picture(height: u64, width: u64, frames: u64) -> Shape {
    Shape { tokens: 0, past: 0, outputs: 0, height, width, frames }
}

/// Storage type that the config names, else the type in which the family is published.
pub(crate) fn stored_dtype(fields: &Fields<'_>, published: Dtype) -> Dtype {
    match fields.text("torch_dtype").or_else(|| fields.text("dtype")) {
        Some("float32") => Dtype::F32,
        Some("float16") => Dtype::F16,
        Some("bfloat16") => Dtype::Bf16,
        _ => published,
    }
}

/// Width of a head; heads must divide the hidden width.
pub(crate) fn head_width(fields: &Fields<'_>, key: &str, hidden: u64, heads: u64) -> Result<u64, ModelError> {
    if heads == 0 || !hidden.is_multiple_of(heads) {
        return Err(fields.bad(key, format!("is {heads}; a divisor of the width {hidden} was expected")));
    }
    Ok(hidden / heads)
}

/// Which of the four projections of an attention carry a bias.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Biases {
    pub(crate) query: bool,
    pub(crate) key: bool,
    pub(crate) value: bool,
    pub(crate) output: bool,
}

impl Biases {
    pub(crate) const ALL: Self = Self { query: true, key: true, value: true, output: true };
    /// Stable Diffusion's transformer blocks.
    pub(crate) const OUTPUT_ONLY: Self = Self { query: false, key: false, value: false, output: true };
}

/// An ordinary multi-head attention over `extent`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttentionLayer {
    pub(crate) dtype: Dtype,
    pub(crate) hidden: u64,
    pub(crate) heads: u64,
    pub(crate) head_width: u64,
    /// Width of what keys and values are made from, and how many positions of it there are; `None` for self-attention.
    pub(crate) source: Option<(u64, u64)>,
    pub(crate) biases: Biases,
    pub(crate) extent: Extent,
    pub(crate) span: Span,
    pub(crate) cache: KvCache,
}

impl AttentionLayer {
    /// Projections, core and output, with names under `prefix`.
    pub(crate) fn ops(&self, prefix: &str) -> Vec<Operator> {
        let inner = self.heads.saturating_mul(self.head_width);
        let (source_width, source_extent) = match self.source {
            Some((width, positions)) => (width, Extent::Sample { positions }),
            None => (self.hidden, self.extent),
        };
        let input = |suffix: &str, width: u64, bias: bool, extent: Extent| {
            linear(&format!("{prefix}.{suffix}"), Site::AttentionInput, self.dtype, width, inner, bias).over(extent)
        };
        let mut core = attention(self.dtype, self.heads, self.heads, self.head_width, self.span, self.cache);
        core.name = format!("{prefix}.core");
        vec![
            input("q", self.hidden, self.biases.query, self.extent),
            input("k", source_width, self.biases.key, source_extent),
            input("v", source_width, self.biases.value, source_extent),
            core.over(self.extent),
            linear(&format!("{prefix}.out"), Site::AttentionOutput, self.dtype, inner, self.hidden, self.biases.output)
                .over(self.extent),
        ]
    }
}

/// Two linear layers with biases and a non-linearity between them.
pub(crate) fn mlp(prefix: &str, dtype: Dtype, hidden: u64, inner: u64, extent: Extent) -> Vec<Operator> {
    vec![
        linear(&format!("{prefix}.fc1"), Site::MlpInput, dtype, hidden, inner, true).over(extent),
        activation(dtype, inner, false).over(extent),
        linear(&format!("{prefix}.fc2"), Site::MlpOutput, dtype, inner, hidden, true).over(extent),
    ]
}

/// Layer norm with weight and bias.
pub(crate) fn layer_norm(name: &str, dtype: Dtype, width: u64, extent: Extent) -> Operator {
    norm(name, dtype, NormKind::Layer, width, true).over(extent)
}

/// A norm whose learned parameters differ from its width (none for adaptive norms, one head for query and key norms).
pub(crate) fn norm_of(
    name: &str,
    dtype: Dtype,
    kind: NormKind,
    width: u64,
    parameters: u64,
    extent: Extent,
) -> Operator {
    op(name, Site::Norm, dtype, OpKind::Norm { norm: kind, width, parameters }).over(extent)
}

/// The add of a residual branch, or other elementwise work over `width`.
pub(crate) fn elementwise(name: &str, dtype: Dtype, width: u64, extent: Extent) -> Operator {
    op(name, Site::Other, dtype, OpKind::Elementwise { width }).over(extent)
}

/// Norm, attention, residual, norm, MLP, residual: one encoder layer. Whether the norm stands before or after its branch
/// changes no count.
pub(crate) fn encoder_layer(layer: &AttentionLayer, inner: u64) -> Vec<Operator> {
    let AttentionLayer { dtype, hidden, extent, .. } = *layer;
    let mut ops = vec![layer_norm("norm1", dtype, hidden, extent)];
    ops.extend(layer.ops("attention"));
    ops.push(elementwise("residual", dtype, hidden, extent));
    ops.push(layer_norm("norm2", dtype, hidden, extent));
    ops.extend(mlp("mlp", dtype, hidden, inner, extent));
    ops.push(elementwise("residual", dtype, hidden, extent));
    ops
}

/// A convolution with a square, line or cube kernel of `kernel_elements`.
pub(crate) fn conv(
    name: &str,
    dtype: Dtype,
    inputs: u64,
    outputs: u64,
    kernel_elements: u64,
    bias: bool,
    extent: Extent,
) -> Operator {
    op(name, Site::Convolution, dtype, OpKind::Conv { inputs, outputs, kernel_elements, groups: 1, bias }).over(extent)
}

/// Positions of a picture, each standing for `pixels` pixels of one frame.
pub(crate) fn grid(pixels: u64, fixed: u64) -> Extent {
    Extent::Grid { pixels_per_position: pixels as f64, frames_per_position: 1.0, fixed }
}

/// Positions of a clip, each standing for `pixels` pixels and `frames` frames. With a causal VAE that keeps the first
/// frame alone, `(frames - 1) / n + 1` rounded down is `ceil(frames / n)`, which is what [`Extent::Grid`] counts.
pub(crate) fn clip(pixels: u64, frames: u64, fixed: u64) -> Extent {
    Extent::Grid { pixels_per_position: pixels as f64, frames_per_position: frames as f64, fixed }
}
