//! Families that Hob does not know: what has the usual keys is read as a decoder like Llama, with its experts or latent
//! attention where the usual keys state them, with notes and less certainty.

use crate::config::fields::Fields;
use crate::config::language::attention::{HeadDefaults, QueryKeyNorm, SelfAttention};
use crate::config::language::decoder::{Decoder, Defaults};
use crate::config::language::feed_forward::{Experts, FeedForward, Gated, layer_prefix, plain};
use crate::config::language::latent::LatentAttention;
use crate::config::language::spans::{self, LayerType};
use crate::config::language::{deepseek, reader};
use crate::error::ModelError;
use crate::graph::{Certainty, ModelGraph, Operator, Span, Unknown};

/// Without one of each, nothing can be said about a decoder.
const NEEDED: [&[&str]; 4] = [
    &["hidden_size", "n_embd", "d_model"],
    &["num_hidden_layers", "n_layer", "num_layers", "n_layers"],
    &["num_attention_heads", "n_head", "n_heads"],
    &["vocab_size", "padded_vocab_size"],
];
const EXPERTS: [&str; 4] = ["n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"];
const ACTIVE: [&str; 4] = ["num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k"];
const EXPERT_WIDTHS: [&str; 3] = ["moe_intermediate_size", "expert_hidden_size", "intermediate_size"];
const INNER: [&str; 4] = ["intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim"];
/// Names of families are short; what a file says is shown to people.
const NAME_MAX: usize = 60;

/// Reads a config whose `model_type` has no reader.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let family: String = fields.text("model_type").unwrap_or("unnamed").chars().take(NAME_MAX).collect();
    let text = fields.nested("text_config").filter(is_decoder);
    let (mut graph, note) = match text {
        Some(text) => {
            let read = text.text("model_type").and_then(reader).unwrap_or(decoder);
            let note = "is not known; its text model is read, and its other parts are left out";
            (read(&text, name)?, note)
        }
        None if is_decoder(fields) => (decoder(fields, name)?, "is not known; read as a decoder like Llama"),
        None => return Err(fields.bad("model_type", format!("is `{family}`, which is not known"))),
    };
    graph.unknowns.insert(0, Unknown { what: format!("model_type `{family}`"), consequence: note.to_owned() });
    graph.family = family;
    graph.certainty = Certainty::Inferred;
    Ok(graph)
}

/// Whether a config has what a decoder needs, and says nothing to the contrary.
fn is_decoder(fields: &Fields<'_>) -> bool {
    let has_sizes = NEEDED.iter().all(|keys| keys.iter().any(|key| fields.raw(key).is_some()));
    let generates = ["CausalLM", "LMHead", "ConditionalGeneration"];
    let is_generator = fields.texts("architectures").is_none_or(|names| {
        names.is_empty() || names.iter().any(|name| generates.iter().any(|word| name.contains(word)))
    });
    has_sizes && is_generator && !fields.flag("is_encoder_decoder", false)
}

/// Attention of one kind for all layers but for its span.
enum Attention {
    Heads(SelfAttention),
    Latent(LatentAttention),
}

impl Attention {
    fn ops(&self, span: Span) -> Vec<Operator> {
        match self {
            Self::Heads(attention) => attention.clone().over(span).ops(),
            Self::Latent(attention) => attention.ops(true),
        }
    }
}

fn decoder(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    // Where the key is absent, the file was written by a class with transformers' base default.
    let mut decoder = Decoder::read(fields, "unknown", Defaults::TIED)?;
    let attention = match fields.size_opt("kv_lora_rank")? {
        Some(_) => Attention::Latent(LatentAttention::read(fields, &decoder, None, None)?),
        None => Attention::Heads(heads(fields, &decoder)?),
    };
    let is_gated = is_gated(fields);
    let inner = inner(fields, &mut decoder)?;
    let feed_forward = feed_forward(fields, &decoder, inner)?;
    let (types, window) = layer_types(fields, &mut decoder)?;
    let blocks = decoder.blocks(
        fields,
        |index| (spans::span(spans::at(&types, index), window, None), feed_forward.has_experts(index)),
        |(span, has_experts)| {
            let ops = if *has_experts || is_gated {
                feed_forward.ops(*has_experts, &decoder)
            } else {
                plain(&decoder, ["mlp.up_proj", "mlp.down_proj"], inner, fields.flag("mlp_bias", false))
            };
            let name = format!("{}{}", layer_prefix(*has_experts), spans::layer_name(*span));
            Ok((name, decoder.layer(attention.ops(*span), ops)))
        },
    )?;
    Ok(decoder.graph(name, blocks))
}

fn heads(fields: &Fields<'_>, decoder: &Decoder) -> Result<SelfAttention, ModelError> {
    let bias = fields.flag("attention_bias", false) || fields.flag("use_bias", false);
    let mut attention = SelfAttention::read(fields, decoder, HeadDefaults::default())?.biased(bias);
    attention.input_bias |= fields.flag("qkv_bias", false) || fields.flag("use_qkv_bias", false);
    if ["use_qk_norm", "qk_norm", "qk_layernorm"].iter().any(|key| fields.flag(key, false)) {
        attention.query_key_norm = QueryKeyNorm::Head;
    }
    Ok(attention)
}

/// Whether an MLP has a gate; the activation's name is all that files say about it.
fn is_gated(fields: &Fields<'_>) -> bool {
    let name = ["hidden_act", "hidden_activation", "activation_function"].iter().find_map(|key| fields.text(key));
    !matches!(name, Some("relu" | "relu2" | "gelu" | "gelu_new" | "gelu_fast"))
}

/// Width of the dense MLP; four times the hidden width, the oldest custom, when the file has none.
fn inner(fields: &Fields<'_>, decoder: &mut Decoder) -> Result<u64, ModelError> {
    if let Some(inner) = fields.size_any(&INNER)?.filter(|inner| *inner > 0) {
        return Ok(inner);
    }
    decoder.notes.push(fields.unknown("intermediate_size", "is absent; four times the hidden size is taken"));
    Ok(decoder.hidden.saturating_mul(4))
}

fn feed_forward(fields: &Fields<'_>, decoder: &Decoder, inner: u64) -> Result<FeedForward, ModelError> {
    if fields.size_any(&EXPERTS)?.unwrap_or(0) < 2 {
        return Ok(FeedForward::dense(Gated::plain(inner)));
    }
    let mut experts = Experts::read(fields, &EXPERTS, &ACTIVE, &EXPERT_WIDTHS)?;
    let shared = fields.count_any(&["n_shared_experts", "num_shared_experts"])?.unwrap_or(0);
    let shared_width = fields.size_any(&["shared_expert_intermediate_size", "shared_intermediate_size"])?;
    experts.shared_width = shared_width.unwrap_or_else(|| experts.width.saturating_mul(u64::from(shared)));
    let holds = deepseek::mixtures(fields, decoder.layers, 0)?;
    FeedForward::mixed(fields, experts, holds)
}

/// The file's `layer_types`; else every layer counts as full attention, which costs most. Layers with a state of constant
/// size are counted as full attention too, for their shape is the family's own.
fn layer_types(fields: &Fields<'_>, decoder: &mut Decoder) -> Result<(Vec<LayerType>, Option<u64>), ModelError> {
    let window = spans::window(fields, "sliding_window", None)?.filter(|_| fields.flag("use_sliding_window", true));
    let written = spans::written(fields, decoder)?;
    if written.is_none() && window.is_some() {
        let consequence = "does not say for which layers; all count as full attention, which costs most";
        decoder.notes.push(fields.unknown("sliding_window", consequence));
    }
    let types = written.unwrap_or_default();
    if types.contains(&LayerType::Linear) {
        decoder.notes.push(fields.unknown("layer_types", "layers of linear attention are taken as full attention"));
    }
    Ok((types, window))
}
