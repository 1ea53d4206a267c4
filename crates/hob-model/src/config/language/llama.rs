//! Llama and what is built like it: Mistral, Yi, Baichuan 2, InternLM 2, Phi-3, Qwen 2 and 3, GLM-4, ChatGLM. A layer is
//! norm, attention, norm, gated MLP; the families differ in biases, query and key norms, fused matrices and windows.

use crate::config::fields::Fields;
use crate::config::language::attention::{HeadDefaults, Projections, QueryKeyNorm, SelfAttention};
use crate::config::language::decoder::{Decoder, Defaults};
use crate::config::language::feed_forward::{GATED_FUSED, Gated};
use crate::config::language::spans::{self, LayerType};
use crate::error::ModelError;
use crate::graph::{ModelGraph, NormKind};

use super::decoder::NormStyle;

/// Reads a `llama` config. Absent keys as in transformers' `LlamaConfig`: as many key/value heads as heads, no biases, an
/// untied head.
pub(super) fn llama(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "llama", Defaults::PLAIN)?;
    let attention =
        SelfAttention::read(fields, &decoder, HeadDefaults::default())?.biased(fields.flag("attention_bias", false));
    let mlp = Gated { bias: fields.flag("mlp_bias", false), ..Gated::plain(fields.size(&["intermediate_size"])?) };
    windowed(fields, name, decoder, &attention, mlp, |_| LayerType::Full, None)
}

/// Reads a `mistral` config. `MistralConfig` takes 8 key/value heads and a window of 4,096 when the keys are absent; null
/// means no window.
pub(super) fn mistral(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "mistral", Defaults::PLAIN)?;
    let defaults = HeadDefaults { kv_heads: Some(8), ..HeadDefaults::default() };
    let attention = SelfAttention::read(fields, &decoder, defaults)?;
    let mlp = Gated::plain(fields.size(&["intermediate_size"])?);
    windowed(fields, name, decoder, &attention, mlp, |_| LayerType::Sliding, Some(4096))
}

/// Reads a `qwen2` config: biases on query, key and value, whatever the file says. Windows only with
/// `use_sliding_window`, then from layer `max_window_layers` (`Qwen2Config`: 28) on.
pub(super) fn qwen2(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "qwen2", Defaults::PLAIN)?;
    // `Qwen2Config` takes 32 key/value heads; files always state them.
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?;
    attention.input_bias = true;
    qwen(fields, name, decoder, &attention)
}

/// Reads a `qwen3` config: norms on the heads of query and key; `head_dim` is 128 when absent (`Qwen3Config`).
pub(super) fn qwen3(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "qwen3", Defaults::PLAIN)?;
    let defaults = HeadDefaults { head_dim: Some(128), ..HeadDefaults::default() };
    let mut attention = SelfAttention::read(fields, &decoder, defaults)?.biased(fields.flag("attention_bias", false));
    attention.query_key_norm = QueryKeyNorm::Head;
    qwen(fields, name, decoder, &attention)
}

fn qwen(
    fields: &Fields<'_>,
    name: &str,
    decoder: Decoder,
    attention: &SelfAttention,
) -> Result<ModelGraph, ModelError> {
    let mlp = Gated::plain(fields.size(&["intermediate_size"])?);
    let first = qwen_first_window_layer(fields)?;
    let rule = |index| if index >= first { LayerType::Sliding } else { LayerType::Full };
    windowed(fields, name, decoder, attention, mlp, rule, Some(4096))
}

/// The first layer that slides, or none: `use_sliding_window` is off unless the file says otherwise.
pub(super) fn qwen_first_window_layer(fields: &Fields<'_>) -> Result<u32, ModelError> {
    let first = fields.count_any(&["max_window_layers"])?.unwrap_or(28);
    Ok(if fields.flag("use_sliding_window", false) { first } else { u32::MAX })
}

/// Reads a `phi3` config: fused projections; a window when the file states one.
pub(super) fn phi3(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "phi3", Defaults::PLAIN)?;
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?;
    attention.projections = Projections::Fused("self_attn.qkv_proj");
    let mlp = Gated { names: GATED_FUSED, ..Gated::plain(fields.size(&["intermediate_size"])?) };
    windowed(fields, name, decoder, &attention, mlp, |_| LayerType::Sliding, None)
}

/// Reads a `glm` config (GLM-4): biases on query, key and value (`GlmConfig`: `attention_bias` false when absent),
/// 128 wide heads, gate and up in one matrix.
pub(super) fn glm(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "glm", Defaults::PLAIN)?;
    let defaults = HeadDefaults { kv_heads: Some(2), head_dim: Some(128), heads: None };
    let mut attention = SelfAttention::read(fields, &decoder, defaults)?;
    attention.input_bias = fields.flag("attention_bias", false);
    let mlp = Gated { names: GATED_FUSED, ..Gated::plain(fields.size(&["intermediate_size"])?) };
    windowed(fields, name, decoder, &attention, mlp, |_| LayerType::Full, None)
}

/// Reads a `baichuan` config (the model's own code): one matrix for query, key and value, as many key/value heads as heads.
pub(super) fn baichuan(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "baichuan", Defaults::PLAIN)?;
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?;
    attention.projections = Projections::Fused("self_attn.W_pack");
    let mlp = Gated::plain(fields.size(&["intermediate_size"])?);
    windowed(fields, name, decoder, &attention, mlp, |_| LayerType::Full, None)
}

/// Reads an `internlm2` config (the model's own code): `wqkv` and `wo` in attention, `w1`, `w3`, `w2` in the MLP.
pub(super) fn internlm2(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "internlm2", Defaults::PLAIN)?;
    let mut attention =
        SelfAttention::read(fields, &decoder, HeadDefaults::default())?.biased(fields.flag("bias", true));
    attention.projections = Projections::Fused("attention.wqkv");
    attention.output = "attention.wo";
    let names = ["feed_forward.w1", "feed_forward.w3", "feed_forward.w2"];
    let mlp = Gated { names, ..Gated::plain(fields.size(&["intermediate_size"])?) };
    let blocks = decoder.blocks(
        fields,
        |_| (),
        |()| {
            let ops = decoder.layer_named(["attention_norm", "ffn_norm"], attention.ops(), mlp.ops(&decoder));
            Ok(("layer".to_owned(), ops))
        },
    )?;
    let parts = vec![
        decoder.embedding("tok_embeddings", Vec::new()),
        decoder.body(blocks, "norm"),
        decoder.head("output", false),
    ];
    Ok(decoder.finish(name, parts))
}

/// Reads a `chatglm` config (the model's own code, ChatGLM 2 and 3): own key names, and biases on query, key and value.
pub(super) fn chatglm(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let norm =
        if fields.flag("rmsnorm", true) { NormStyle::RMS } else { NormStyle { kind: NormKind::Layer, bias: true } };
    let decoder = Decoder::read(fields, "chatglm", Defaults::PLAIN)?.with_norm(norm);
    let bias = fields.flag("add_bias_linear", false);
    let groups = fields.flag("multi_query_attention", false).then(|| fields.size(&["multi_query_group_num"]));
    let defaults = HeadDefaults { kv_heads: groups.transpose()?, ..HeadDefaults::default() };
    let mut attention = SelfAttention::read(fields, &decoder, defaults)?.biased(bias);
    attention.input_bias = bias || fields.flag("add_qkv_bias", false);
    attention.projections = Projections::Fused("self_attention.query_key_value");
    attention.output = "self_attention.dense";
    let names = ["", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h"];
    let mlp = Gated { names, bias, width: fields.size(&["ffn_hidden_size"])? };
    let blocks = decoder.blocks(
        fields,
        |_| (),
        |()| Ok(("layer".to_owned(), decoder.layer(attention.ops(), mlp.ops(&decoder)))),
    )?;
    let parts = vec![
        decoder.embedding("word_embeddings", Vec::new()),
        decoder.body(blocks, "final_layernorm"),
        decoder.head("output_layer", false),
    ];
    Ok(decoder.finish(name, parts))
}

/// Layers with a window where the file's `layer_types`, or else `rule`, says that they slide.
fn windowed(
    fields: &Fields<'_>,
    name: &str,
    mut decoder: Decoder,
    attention: &SelfAttention,
    mlp: Gated,
    rule: impl Fn(u32) -> LayerType,
    default_window: Option<u64>,
) -> Result<ModelGraph, ModelError> {
    let window = spans::window(fields, "sliding_window", default_window)?;
    let types = spans::types_or(fields, &mut decoder, rule)?;
    let blocks = decoder.blocks(
        fields,
        |index| spans::span(spans::at(&types, index), window, None),
        |span| {
            let ops = decoder.layer(attention.clone().over(*span).ops(), mlp.ops(&decoder));
            Ok((spans::layer_name(*span).to_owned(), ops))
        },
    )?;
    Ok(decoder.graph(name, blocks))
}
