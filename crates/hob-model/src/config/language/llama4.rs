//! Llama 4: experts beside a shared one, in every layer or every second; chunked attention except where positions are left
//! out; a vision tower.

use crate::config::fields::Fields;
use crate::config::language::attention::{HeadDefaults, QueryKeyNorm, SelfAttention};
use crate::config::language::decoder::{Decoder, Defaults, size_or, stored_dtype};
use crate::config::language::feed_forward::{ExpertNames, Experts, Gated};
use crate::config::language::spans::{self, LayerType};
use crate::config::language::towers;
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Block, ModelGraph, Span};

const NAMES: ExpertNames = ExpertNames {
    router: "feed_forward.router",
    experts: ["", "feed_forward.experts.gate_up_proj", "feed_forward.experts.down_proj"],
    shared: [
        "feed_forward.shared_expert.gate_proj",
        "feed_forward.shared_expert.up_proj",
        "feed_forward.shared_expert.down_proj",
    ],
};
const DENSE: [&str; 3] = ["feed_forward.gate_proj", "feed_forward.up_proj", "feed_forward.down_proj"];

/// Reads a `llama4_text` config.
pub(super) fn text(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let (decoder, blocks) = body(fields, "llama4_text", Dtype::Bf16)?;
    Ok(decoder.graph(name, blocks))
}

/// Reads a `llama4` config. A file without `vision_config` means a tower of `Llama4VisionConfig`'s own sizes.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let text = fields.nested("text_config").ok_or_else(|| fields.bad("text_config", "is missing"))?;
    let (mut decoder, blocks) = body(&text, "llama4", stored_dtype(fields, Dtype::Bf16))?;
    let absent = serde_json::Map::new();
    let vision = match fields.nested("vision_config") {
        Some(vision) => vision,
        None => {
            let consequence = "is absent; the vision tower has the sizes of transformers' default";
            decoder.notes.push(fields.unknown("vision_config", consequence));
            fields.empty("vision_config", &absent)
        }
    };
    let tower = towers::llama4(&vision, decoder.dtype)?;
    let inputs = size_or(&vision, &["vision_output_dim"], Some(7680))?;
    let pixels = tower.patch.saturating_pow(2).saturating_mul(towers::llama4_patches(&vision)?);
    let projector = towers::projector("multi_modal_projector.linear_1", &decoder, inputs, None, pixels);
    let mut graph = decoder.graph(name, blocks);
    graph.parts.splice(0..0, [tower.part, projector]);
    Ok(graph)
}

/// What a layer is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shape {
    span: Span,
    is_rotary: bool,
    has_experts: bool,
}

/// Sizes and layers; `Llama4TextConfig`'s values stand for absent keys.
fn body(fields: &Fields<'_>, family: &'static str, dtype: Dtype) -> Result<(Decoder, Vec<Block>), ModelError> {
    let sizes = Defaults { hidden: Some(5120), layers: Some(48), vocabulary: Some(202_048), tied: false, dtype };
    let mut decoder = Decoder::read(fields, family, sizes)?;
    let heads = HeadDefaults { heads: Some(40), kv_heads: Some(8), head_dim: Some(128) };
    let attention = SelfAttention::read(fields, &decoder, heads)?.biased(fields.flag("attention_bias", false));
    let width = size_or(fields, &["intermediate_size"], Some(8192))?;
    let dense = Gated { names: DENSE, ..Gated::plain(size_or(fields, &["intermediate_size_mlp"], Some(16_384))?) };
    let count = fields.count_any(&["num_local_experts"])?.unwrap_or(16).max(1);
    let active = fields.count_any(&["num_experts_per_tok"])?.unwrap_or(1);
    let experts = Experts { shared_width: width, names: NAMES, ..Experts::known(fields, count, active, width)? };
    let has_norm = fields.flag("use_qk_norm", true);
    let chunk = spans::window(fields, "attention_chunk_size", Some(8192))?;
    let rotary = rotary_layers(fields, decoder.layers)?;
    let is_rotary = |index: u32| rotary.get(index as usize).copied().unwrap_or(true);
    let types =
        spans::types_or(
            fields,
            &mut decoder,
            |index| {
                if is_rotary(index) { LayerType::Chunked } else { LayerType::Full }
            },
        )?;
    let mixtures = mixture_layers(fields)?;
    let blocks = decoder.blocks(
        fields,
        |index| Shape {
            span: spans::span(spans::at(&types, index), None, chunk),
            is_rotary: is_rotary(index),
            has_experts: mixtures.hold(index),
        },
        |shape| {
            let mut attention = attention.clone().over(shape.span);
            if has_norm && shape.is_rotary {
                attention.query_key_norm = QueryKeyNorm::Unweighted;
            }
            let feed_forward = if shape.has_experts { experts.ops(&decoder) } else { dense.ops(&decoder) };
            let kind = if shape.has_experts { "moe" } else { "dense" };
            let name = format!("{kind} {}", spans::layer_name(shape.span));
            Ok((name, decoder.layer(attention.ops(), feed_forward)))
        },
    )?;
    Ok((decoder, blocks))
}

/// Which layers rotate positions: `no_rope_layers` has a 1 for those that do; else every fourth does not.
fn rotary_layers(fields: &Fields<'_>, layers: u32) -> Result<Vec<bool>, ModelError> {
    if let Some(flags) = fields.sizes("no_rope_layers").filter(|flags| !flags.is_empty()) {
        return Ok(flags.iter().map(|flag| *flag != 0).collect());
    }
    let interval = fields.count_any(&["no_rope_layer_interval"])?.unwrap_or(4).max(1);
    Ok((1..=layers).map(|number| !number.is_multiple_of(interval)).collect())
}

/// Which layers hold experts.
enum Mixtures {
    Listed(Vec<u64>),
    Every(u32),
}

impl Mixtures {
    fn hold(&self, index: u32) -> bool {
        match self {
            Self::Listed(layers) => layers.contains(&u64::from(index)),
            Self::Every(step) => index.saturating_add(1).is_multiple_of(*step),
        }
    }
}

fn mixture_layers(fields: &Fields<'_>) -> Result<Mixtures, ModelError> {
    if let Some(layers) = fields.sizes("moe_layers") {
        return Ok(Mixtures::Listed(layers));
    }
    Ok(Mixtures::Every(fields.count_any(&["interleave_moe_layer_step"])?.unwrap_or(1).max(1)))
}
