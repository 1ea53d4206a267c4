//! Decoders with ordinary attention and a mixture of experts: Mixtral, MiniMax M2, Qwen 2 and 3 MoE, GLM-4.5.

use crate::config::fields::Fields;
use crate::config::language::attention::{HeadDefaults, QueryKeyNorm, SelfAttention};
use crate::config::language::decoder::{Decoder, Defaults};
use crate::config::language::deepseek;
use crate::config::language::feed_forward::{ExpertNames, Experts, FeedForward, Gated, layer_prefix};
use crate::config::language::spans::{self, LayerType};
use crate::error::ModelError;
use crate::graph::ModelGraph;

/// Qwen's shared expert.
pub(super) const QWEN_NAMES: ExpertNames = ExpertNames {
    shared: ["mlp.shared_expert.gate_proj", "mlp.shared_expert.up_proj", "mlp.shared_expert.down_proj"],
    ..ExpertNames::USUAL
};

/// Reads a `mixtral` config: Mistral's attention, experts in every layer; a window only when the file states one.
pub(super) fn mixtral(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "mixtral", Defaults::PLAIN)?;
    let defaults = HeadDefaults { kv_heads: Some(8), ..HeadDefaults::default() };
    let attention = SelfAttention::read(fields, &decoder, defaults)?;
    let experts = Experts { names: ExpertNames::MIXTRAL, ..local_experts(fields)? };
    layers(fields, name, decoder, &attention, &FeedForward::experts(experts), |_| LayerType::Sliding)
}

/// Reads a `minimax_m2` config: norms over all heads of query and key together, and experts in every layer.
pub(super) fn minimax_m2(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "minimax_m2", Defaults::PLAIN)?;
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?;
    attention.query_key_norm = match (fields.flag("use_qk_norm", true), fields.text("qk_norm_type")) {
        (false, _) => QueryKeyNorm::None,
        (true, Some("per_head")) => QueryKeyNorm::Head,
        (true, _) => QueryKeyNorm::All,
    };
    let shared_width = fields.size_opt("shared_intermediate_size")?.unwrap_or(0);
    let experts = Experts { names: ExpertNames::MIXTRAL, shared_width, ..local_experts(fields)? };
    layers(fields, name, decoder, &attention, &FeedForward::experts(experts), |_| LayerType::Full)
}

fn local_experts(fields: &Fields<'_>) -> Result<Experts, ModelError> {
    Experts::read(fields, &["num_local_experts"], &["num_experts_per_tok"], &["intermediate_size"])
}

/// Reads a `qwen2_moe` config: Qwen 2's attention, and a shared expert behind a gate.
pub(super) fn qwen2_moe(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "qwen2_moe", Defaults::PLAIN)?;
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?;
    attention.input_bias = fields.flag("qkv_bias", true);
    let feed_forward = qwen(fields, decoder.layers)?;
    // `Qwen2MoeConfig`: in contrast to dense Qwen 2, every second of the first layers.
    let is_windowed = fields.flag("use_sliding_window", false);
    let last = if is_windowed { fields.count_any(&["max_window_layers"])?.unwrap_or(28) } else { 0 };
    let rule = |index: u32| if index.is_multiple_of(2) && index < last { LayerType::Sliding } else { LayerType::Full };
    layers(fields, name, decoder, &attention, &feed_forward, rule)
}

/// Reads a `qwen3_moe` config: Qwen 3's attention, no shared expert.
pub(super) fn qwen3_moe(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "qwen3_moe", Defaults::PLAIN)?;
    let mut attention =
        SelfAttention::read(fields, &decoder, HeadDefaults::default())?.biased(fields.flag("attention_bias", false));
    attention.query_key_norm = QueryKeyNorm::Head;
    let feed_forward = qwen(fields, decoder.layers)?;
    let is_windowed = fields.flag("use_sliding_window", false);
    let rule = |_| if is_windowed { LayerType::Sliding } else { LayerType::Full };
    layers(fields, name, decoder, &attention, &feed_forward, rule)
}

/// Reads a `glm4_moe` config (GLM-4.5 to 4.7): biases on query, key and value, and DeepSeek's experts after the first layer
/// (`Glm4MoeConfig`).
pub(super) fn glm4_moe(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "glm4_moe", Defaults::PLAIN)?;
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?;
    attention.input_bias = fields.flag("attention_bias", false);
    if fields.flag("use_qk_norm", false) {
        attention.query_key_norm = QueryKeyNorm::Head;
    }
    let holds = deepseek::mixtures(fields, decoder.layers, 1)?;
    let feed_forward = FeedForward::mixed(fields, deepseek::experts(fields)?, holds)?;
    layers(fields, name, decoder, &attention, &feed_forward, |_| LayerType::Full)
}

/// Qwen's experts, in every `decoder_sparse_step`-th layer that `mlp_only_layers` does not name; a dense MLP when the file
/// has no experts.
pub(super) fn qwen(fields: &Fields<'_>, layers: u32) -> Result<FeedForward, ModelError> {
    let step = fields.count_any(&["decoder_sparse_step"])?.unwrap_or(1).max(1);
    let dense_layers = fields.sizes("mlp_only_layers").unwrap_or_default();
    let count = ["num_experts", "num_local_experts"];
    if fields.size_any(&count)?.unwrap_or(0) == 0 {
        return Ok(FeedForward::dense(Gated::plain(fields.size(&["intermediate_size"])?)));
    }
    let experts = Experts::read(fields, &count, &["num_experts_per_tok"], &["moe_intermediate_size"])?;
    let shared_width = fields.size_opt("shared_expert_intermediate_size")?.unwrap_or(0);
    let experts = Experts { shared_width, shared_gate: shared_width > 0, names: QWEN_NAMES, ..experts };
    let holds = (0..layers)
        .map(|index| (index + 1).is_multiple_of(step) && !dense_layers.contains(&u64::from(index)))
        .collect();
    FeedForward::mixed(fields, experts, holds)
}

/// The layers, with a window where the file's `layer_types`, or else `rule`, says that they slide.
fn layers(
    fields: &Fields<'_>,
    name: &str,
    mut decoder: Decoder,
    attention: &SelfAttention,
    feed_forward: &FeedForward,
    rule: impl Fn(u32) -> LayerType,
) -> Result<ModelGraph, ModelError> {
    let window = spans::window(fields, "sliding_window", None)?;
    let types = spans::types_or(fields, &mut decoder, rule)?;
    let blocks = decoder.blocks(
        fields,
        |index| (spans::span(spans::at(&types, index), window, None), feed_forward.has_experts(index)),
        |(span, has_experts)| {
            let name = format!("{}{}", layer_prefix(*has_experts), spans::layer_name(*span));
            let ops = feed_forward.ops(*has_experts, &decoder);
            Ok((name, decoder.layer(attention.clone().over(*span).ops(), ops)))
        },
    )?;
    Ok(decoder.graph(name, blocks))
}
