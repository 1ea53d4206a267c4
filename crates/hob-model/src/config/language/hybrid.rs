//! Qwen3-Next and Qwen 3.5, dense and with experts: three of four layers are gated delta networks (arXiv 2412.06464), which
//! keep a state of constant size; the fourth is full attention with a gate on its output.

use crate::build::{linear, op};
use crate::config::fields::Fields;
use crate::config::language::attention::{HeadDefaults, QueryKeyNorm, SelfAttention};
use crate::config::language::decoder::{Decoder, Defaults, size_or, stored_dtype, width};
use crate::config::language::feed_forward::layer_prefix;
use crate::config::language::mixture;
use crate::config::language::spans::{self, LayerType};
use crate::config::language::tower_qwen;
use crate::config::language::towers::Tower;
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Block, ModelGraph, NormKind, OpKind, Operator, Site};

/// Reads a `qwen3_5_text` config.
pub(super) fn qwen3_5_text(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let (decoder, blocks) = body(fields, "qwen3_5_text", Dtype::Bf16, SPLIT)?;
    Ok(decoder.graph(name, blocks))
}

/// Reads a `qwen3_5_moe_text` config.
pub(super) fn qwen3_5_moe_text(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let (decoder, blocks) = body(fields, "qwen3_5_moe_text", Dtype::Bf16, SPLIT)?;
    Ok(decoder.graph(name, blocks))
}

/// Reads a `qwen3_next` config.
pub(super) fn qwen3_next(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let (decoder, blocks) = body(fields, "qwen3_next", Dtype::Bf16, FUSED)?;
    Ok(decoder.graph(name, blocks))
}

/// Reads a `qwen3_5` config.
pub(super) fn qwen3_5(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    with_tower(fields, name, "qwen3_5")
}

/// Reads a `qwen3_5_moe` config.
pub(super) fn qwen3_5_moe(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    with_tower(fields, name, "qwen3_5_moe")
}

/// A file without `vision_config` means a tower of `Qwen3_5VisionConfig`'s own sizes.
fn with_tower(fields: &Fields<'_>, name: &str, family: &'static str) -> Result<ModelGraph, ModelError> {
    let text = fields.nested("text_config").ok_or_else(|| fields.bad("text_config", "is missing"))?;
    let (mut decoder, blocks) = body(&text, family, stored_dtype(fields, Dtype::Bf16), SPLIT)?;
    decoder.tied = fields.flag("tie_word_embeddings", decoder.tied);
    let absent = serde_json::Map::new();
    let vision = match fields.nested("vision_config") {
        Some(vision) => vision,
        None => {
            let consequence = "is absent; the vision tower has the sizes of transformers' default";
            decoder.notes.push(fields.unknown("vision_config", consequence));
            fields.empty("vision_config", &absent)
        }
    };
    let Tower { part: tower, hidden, patch, .. } = tower_qwen::tower(&vision, decoder.dtype)?;
    let merger = tower_qwen::merger(&vision, decoder.dtype, hidden, patch, decoder.hidden)?;
    let mut graph = decoder.graph(name, blocks);
    graph.parts.splice(0..0, [tower, merger]);
    Ok(graph)
}

/// Sizes and layers; what `Qwen3_5TextConfig` takes stands for absent keys of the attention.
fn body(
    fields: &Fields<'_>,
    family: &'static str,
    dtype: Dtype,
    names: &'static [&'static str],
) -> Result<(Decoder, Vec<Block>), ModelError> {
    let mut decoder = Decoder::read(fields, family, Defaults { dtype, ..Defaults::PLAIN })?;
    let heads = HeadDefaults { head_dim: Some(256), ..HeadDefaults::default() };
    let mut attention = SelfAttention::read(fields, &decoder, heads)?.biased(fields.flag("attention_bias", false));
    attention.query_key_norm = QueryKeyNorm::Head;
    attention.gate = fields.flag("attn_output_gate", true);
    let delta = DeltaNetwork::read(fields, &decoder, names)?;
    let feed_forward = mixture::qwen(fields, decoder.layers)?;
    let interval = fields.count_any(&["full_attention_interval"])?.unwrap_or(4).max(1);
    let types = spans::types_or(fields, &mut decoder, |index| {
        if (index + 1).is_multiple_of(interval) { LayerType::Full } else { LayerType::Linear }
    })?;
    let blocks = decoder.blocks(
        fields,
        |index| (spans::at(&types, index) == LayerType::Linear, feed_forward.has_experts(index)),
        |(is_linear, has_experts)| {
            let mixing = if *is_linear { delta.ops() } else { attention.ops() };
            let kind = if *is_linear { "linear-attention layer" } else { "full-attention layer" };
            let name = format!("{}{kind}", layer_prefix(*has_experts));
            Ok((name, decoder.layer(mixing, feed_forward.ops(*has_experts, &decoder))))
        },
    )?;
    Ok((decoder, blocks))
}

/// Input projections of Qwen 3.5: query, key and value; output gate; decay; step.
const SPLIT: &[&str] = &["in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a"];
/// Those of Qwen3-Next, two and two in one matrix.
const FUSED: &[&str] = &["in_proj_qkvz", "in_proj_ba"];

/// A gated delta network.
#[derive(Debug, Clone, PartialEq)]
struct DeltaNetwork {
    dtype: Dtype,
    hidden: u64,
    value_heads: u64,
    key_dim: u64,
    value_dim: u64,
    /// Width of all keys (as of all queries) and of all values together.
    keys: u64,
    values: u64,
    /// Taps of the short convolution over query, key and value.
    kernel: u64,
    /// 16-bit elements that one number of the recurrent state takes.
    state_halves: u64,
    names: &'static [&'static str],
}

impl DeltaNetwork {
    fn read(fields: &Fields<'_>, decoder: &Decoder, names: &'static [&'static str]) -> Result<Self, ModelError> {
        let key_heads = size_or(fields, &["linear_num_key_heads"], Some(16))?;
        let value_heads = size_or(fields, &["linear_num_value_heads"], Some(32))?;
        let key_dim = size_or(fields, &["linear_key_head_dim"], Some(128))?;
        let value_dim = size_or(fields, &["linear_value_head_dim"], Some(128))?;
        Ok(Self {
            dtype: decoder.dtype,
            hidden: decoder.hidden,
            value_heads,
            key_dim,
            value_dim,
            keys: width(fields, "linear_key_head_dim", key_heads, key_dim)?,
            values: width(fields, "linear_value_head_dim", value_heads, value_dim)?,
            kernel: size_or(fields, &["linear_conv_kernel_dim"], Some(4))?,
            // Engines keep the recurrent state in the type that the file says, else in the model's own.
            state_halves: if fields.text("mamba_ssm_dtype") == Some("float32") { 2 } else { 1 },
            names,
        })
    }

    fn ops(&self) -> Vec<Operator> {
        let mixed = self.keys.saturating_mul(2).saturating_add(self.values);
        let widths = [mixed, self.values, self.value_heads, self.value_heads];
        let project = |name: &str, outputs: u64| {
            linear(&format!("linear_attn.{name}"), Site::AttentionInput, self.dtype, self.hidden, outputs, false)
        };
        let at_once = widths.len() / self.names.len().max(1);
        let mut ops: Vec<Operator> = self
            .names
            .iter()
            .zip(widths.chunks(at_once.max(1)))
            .map(|(name, widths)| project(name, widths.iter().fold(0, |sum, width| sum.saturating_add(*width))))
            .collect();
        let recurrent = self.value_heads.saturating_mul(self.key_dim).saturating_mul(self.value_dim);
        let convolution = mixed.saturating_mul(self.kernel.saturating_sub(1));
        let core = OpKind::LinearAttention {
            heads: self.value_heads,
            key_dim: self.key_dim,
            value_dim: self.value_dim,
            state_elements: recurrent.saturating_mul(self.state_halves).saturating_add(convolution),
            // The convolution's taps, and decay and step bias of each head.
            parameters: mixed.saturating_mul(self.kernel).saturating_add(self.value_heads.saturating_mul(2)),
        };
        let norm = OpKind::Norm { norm: NormKind::Rms, width: self.values, parameters: self.value_dim };
        ops.extend([
            op("linear_attn", Site::AttentionCore, self.dtype, core),
            op("linear_attn.norm", Site::Norm, self.dtype, norm),
            op("linear_attn.gate", Site::Other, self.dtype, OpKind::Elementwise { width: self.values }),
            linear("linear_attn.out_proj", Site::AttentionOutput, self.dtype, self.values, self.hidden, false),
        ]);
        ops
    }
}
