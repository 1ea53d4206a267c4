//! What all language-model families share: the sizes at the head of a config, and the frame of embedding, layers, final
//! norm and head around them. Knows no family.

use crate::build::{block, embedding, linear, norm, op, part};
use crate::config::fields::{Fields, SIZE_MAX};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{
    Block, Certainty, Extent, ModelGraph, ModelKind, NormKind, OpKind, Operator, Origin, Part, PartRole, Shape, Site,
    Unknown,
};

/// Sequence length that speed is quoted at when the user states none and the model allows more; most published training
/// and prefill figures use 2,048 or 4,096.
const NATIVE_TOKENS_MAX: u64 = 4096;

/// Layers of one shape, counted. No published model has more than a handful of shapes (DeepSeek V4 has five); a file that
/// makes every layer different is broken, and would make grouping quadratic.
const LAYER_SHAPES_MAX: usize = 64;

/// Norm family of a decoder, and whether its norms carry a bias.
#[derive(Debug, Clone, Copy)]
pub(super) struct NormStyle {
    pub(super) kind: NormKind,
    pub(super) bias: bool,
}

impl NormStyle {
    /// RMS norm, one learned vector.
    pub(super) const RMS: Self = Self { kind: NormKind::Rms, bias: false };
    /// Layer norm with weight and bias.
    pub(super) const LAYER: Self = Self { kind: NormKind::Layer, bias: true };
}

/// The sizes that every decoder has.
#[derive(Debug, Clone)]
pub(super) struct Decoder {
    pub(super) family: &'static str,
    pub(super) hidden: u64,
    pub(super) layers: u32,
    pub(super) vocabulary: u64,
    pub(super) dtype: Dtype,
    pub(super) norm: NormStyle,
    /// The head's weights are the embedding's.
    pub(super) tied: bool,
    pub(super) context: Option<u64>,
    pub(super) notes: Vec<Unknown>,
}

/// Values that a family's config class takes for sizes that the file leaves out. Composite configs are written as
/// differences from these; files of plain decoders always carry their sizes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Defaults {
    pub(super) hidden: Option<u64>,
    pub(super) layers: Option<u64>,
    pub(super) vocabulary: Option<u64>,
    pub(super) tied: bool,
    /// Type in which the family is published, for files that name none.
    pub(super) dtype: Dtype,
}

impl Defaults {
    /// All sizes must be in the file; the head has weights of its own; 16-bit weights.
    pub(super) const PLAIN: Self =
        Self { hidden: None, layers: None, vocabulary: None, tied: false, dtype: Dtype::Bf16 };
    /// As [`Defaults::PLAIN`], with the embedding as head (the base default of transformers' configs).
    pub(super) const TIED: Self = Self { tied: true, ..Self::PLAIN };
}

/// A size that a default stands in for; 0 is an error, as everywhere.
pub(super) fn size_or(fields: &Fields<'_>, keys: &[&str], default: Option<u64>) -> Result<u64, ModelError> {
    match (fields.size_any(keys)?, default) {
        (None, Some(default)) => Ok(default),
        _ => fields.size(keys),
    }
}

/// The product of two sizes of one config, refused when it is no plausible width.
pub(super) fn width(fields: &Fields<'_>, key: &str, left: u64, right: u64) -> Result<u64, ModelError> {
    left.checked_mul(right)
        .filter(|product| *product <= SIZE_MAX)
        .ok_or_else(|| fields.bad(key, format!("makes a width of {left} x {right}; at most {SIZE_MAX} was expected")))
}

/// Storage type that the config names, else `published`.
pub(super) fn stored_dtype(fields: &Fields<'_>, published: Dtype) -> Dtype {
    match fields.text("dtype").or_else(|| fields.text("torch_dtype")) {
        Some("float32") => Dtype::F32,
        Some("float16") => Dtype::F16,
        Some("bfloat16") => Dtype::Bf16,
        _ => published,
    }
}

impl Decoder {
    /// Reads the sizes under the spellings that families use.
    pub(super) fn read(fields: &Fields<'_>, family: &'static str, defaults: Defaults) -> Result<Self, ModelError> {
        let layer_keys = ["num_hidden_layers", "n_layer", "num_layers", "n_layers"];
        let layers = size_or(fields, &layer_keys, defaults.layers)?;
        let layers = match fields.count_any(&layer_keys)? {
            Some(layers) => layers,
            None => u32::try_from(layers).unwrap_or(u32::MAX),
        };
        let context_keys = [
            "max_position_embeddings",
            "n_positions",
            "max_sequence_length",
            "seq_length",
            "model_max_length",
            "n_ctx",
        ];
        Ok(Self {
            family,
            hidden: size_or(fields, &["hidden_size", "n_embd", "d_model"], defaults.hidden)?,
            layers,
            vocabulary: size_or(fields, &["vocab_size", "padded_vocab_size"], defaults.vocabulary)?,
            dtype: stored_dtype(fields, defaults.dtype),
            norm: NormStyle::RMS,
            tied: fields.flag("tie_word_embeddings", defaults.tied),
            context: scaled(fields, fields.size_any(&context_keys)?.filter(|context| *context > 0))?,
            notes: Vec::new(),
        })
    }

    /// The same decoder with another norm.
    pub(super) fn with_norm(mut self, norm: NormStyle) -> Self {
        self.norm = norm;
        self
    }

    /// One norm over the residual stream.
    pub(super) fn norm(&self, name: &str) -> Operator {
        norm(name, self.dtype, self.norm.kind, self.hidden, self.norm.bias)
    }

    /// The add of a branch to the residual stream.
    pub(super) fn residual(&self) -> Operator {
        op("residual", Site::Other, self.dtype, OpKind::Elementwise { width: self.hidden })
    }

    /// The usual layer: norm, attention, add, norm, feed-forward, add.
    pub(super) fn layer(&self, attention: Vec<Operator>, feed_forward: Vec<Operator>) -> Vec<Operator> {
        self.layer_named(["input_layernorm", "post_attention_layernorm"], attention, feed_forward)
    }

    /// The usual layer, with the checkpoint's names of its two norms.
    pub(super) fn layer_named(
        &self,
        norms: [&str; 2],
        attention: Vec<Operator>,
        feed_forward: Vec<Operator>,
    ) -> Vec<Operator> {
        let [before_attention, before_feed_forward] = norms;
        let mut ops = vec![self.norm(before_attention)];
        ops.extend(attention);
        ops.extend([self.residual(), self.norm(before_feed_forward)]);
        ops.extend(feed_forward);
        ops.push(self.residual());
        ops
    }

    /// A layer whose attention and feed-forward read the same normed input (GPT-J, Falcon, Phi).
    pub(super) fn parallel_layer(
        &self,
        norms: &[&str],
        attention: Vec<Operator>,
        feed_forward: Vec<Operator>,
    ) -> Vec<Operator> {
        let mut ops: Vec<Operator> = norms.iter().map(|name| self.norm(name)).collect();
        ops.extend(attention);
        ops.extend(feed_forward);
        ops.push(self.residual());
        ops
    }

    /// The token embedding with what else is added before the first layer.
    pub(super) fn embedding(&self, name: &str, more: Vec<Operator>) -> Part {
        let mut ops = vec![embedding(name, Site::Embedding, self.dtype, self.vocabulary, self.hidden)];
        ops.extend(more);
        part("embedding", PartRole::Embedding, vec![block("embedding", 1, ops)])
    }

    /// The layers and the norm after them.
    pub(super) fn body(&self, mut blocks: Vec<Block>, final_norm: &str) -> Part {
        blocks.push(block("final norm", 1, vec![self.norm(final_norm)]));
        part("decoder", PartRole::Decoder, blocks)
    }

    /// The head over the vocabulary.
    pub(super) fn head(&self, name: &str, bias: bool) -> Part {
        let head = linear(name, Site::Head, self.dtype, self.hidden, self.vocabulary, bias)
            .over(Extent::OutputTokens)
            .tied(self.tied);
        part("head", PartRole::Head, vec![block("head", 1, vec![head])])
    }

    /// The graph of `parts`.
    pub(super) fn finish(self, name: &str, parts: Vec<Part>) -> ModelGraph {
        let tokens = self.context.unwrap_or(NATIVE_TOKENS_MAX).min(NATIVE_TOKENS_MAX);
        ModelGraph {
            name: name.to_owned(),
            family: self.family.to_owned(),
            kind: ModelKind::CausalLm,
            origin: Origin::HfConfig,
            certainty: Certainty::Exact,
            hidden: Some(self.hidden),
            vocabulary: Some(self.vocabulary),
            context_max: self.context,
            quantization: None,
            stored: None,
            parts,
            unknowns: self.notes,
            native_shape: Shape { tokens, past: 0, outputs: tokens, height: 0, width: 0, frames: 0 },
        }
    }

    /// The graph of a decoder in the names that most checkpoints use.
    pub(super) fn graph(self, name: &str, blocks: Vec<Block>) -> ModelGraph {
        let parts =
            vec![self.embedding("embed_tokens", Vec::new()), self.body(blocks, "norm"), self.head("lm_head", false)];
        self.finish(name, parts)
    }

    /// Groups the layers by `shape` and builds each shape once.
    pub(super) fn blocks<S: PartialEq>(
        &self,
        fields: &Fields<'_>,
        mut shape: impl FnMut(u32) -> S,
        mut build: impl FnMut(&S) -> Result<(String, Vec<Operator>), ModelError>,
    ) -> Result<Vec<Block>, ModelError> {
        let mut shapes: Vec<(S, u32)> = Vec::new();
        for index in 0..self.layers {
            let this = shape(index);
            if let Some((_, count)) = shapes.iter_mut().find(|(known, _)| *known == this) {
                *count = count.saturating_add(1);
                continue;
            }
            if shapes.len() >= LAYER_SHAPES_MAX {
                let why = format!("makes more than {LAYER_SHAPES_MAX} different kinds of layer");
                return Err(fields.bad("layer_types", why));
            }
            shapes.push((this, 1));
        }
        let mut blocks = Vec::with_capacity(shapes.len());
        for (shape, count) in &shapes {
            let (name, ops) = build(shape)?;
            blocks.push(block(name, *count, ops));
        }
        Ok(blocks)
    }
}

/// The context with the YaRN scaling that the config states: some models state the length before it (Qwen 2.5's guide),
/// some the length after it (DeepSeek), so that the longer one counts.
fn scaled(fields: &Fields<'_>, context: Option<u64>) -> Result<Option<u64>, ModelError> {
    let (Some(context), Some(scaling)) = (context, fields.nested("rope_scaling")) else { return Ok(context) };
    let is_yarn = ["rope_type", "type"].iter().any(|key| scaling.text(key) == Some("yarn"));
    let factor = scaling.number("factor").filter(|factor| is_yarn && (1.0..=1024.0).contains(factor));
    let original = scaling.size_opt("original_max_position_embeddings")?.unwrap_or(context);
    // Both are bounded by the reader, so the product fits.
    Ok(Some(context.max((original as f64 * factor.unwrap_or(0.0)) as u64)))
}
