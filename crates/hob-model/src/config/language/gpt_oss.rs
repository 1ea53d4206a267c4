//! gpt-oss: experts in every layer, biases throughout, a learned sink for each head, and a window in every second layer.

use crate::build::parameter;
use crate::config::fields::Fields;
use crate::config::language::attention::{HeadDefaults, SelfAttention};
use crate::config::language::decoder::{Decoder, Defaults};
use crate::config::language::feed_forward::{ExpertNames, Experts};
use crate::config::language::spans::{self, LayerType};
use crate::error::ModelError;
use crate::graph::{Extent, ModelGraph, Site};

const NAMES: ExpertNames = ExpertNames {
    router: "mlp.router",
    experts: ["", "mlp.experts.gate_up_proj", "mlp.experts.down_proj"],
    shared: ExpertNames::USUAL.shared,
};

/// Reads a `gpt_oss` config. `GptOssConfig`: a window of 128 in the even layers, 8 key/value heads of 64.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let mut decoder = Decoder::read(fields, "gpt_oss", Defaults::PLAIN)?;
    let defaults = HeadDefaults { heads: Some(64), kv_heads: Some(8), head_dim: Some(64) };
    let attention = SelfAttention::read(fields, &decoder, defaults)?.biased(fields.flag("attention_bias", true));
    let active = ["num_experts_per_tok", "experts_per_token"];
    // Published files say the same under both names.
    fields.written("experts_per_token");
    let experts = Experts::read(fields, &["num_local_experts"], &active, &["intermediate_size"])?;
    let experts = Experts { bias: true, names: NAMES, ..experts };
    let window = spans::window(fields, "sliding_window", Some(128))?;
    let types = spans::types_or(fields, &mut decoder, |index| {
        if index.is_multiple_of(2) { LayerType::Sliding } else { LayerType::Full }
    })?;
    let sinks =
        parameter("self_attn.sinks", Site::Other, decoder.dtype, attention.heads).over(Extent::Sample { positions: 1 });
    let blocks = decoder.blocks(
        fields,
        |index| spans::span(spans::at(&types, index), window, None),
        |span| {
            let mut ops = decoder.layer(attention.clone().over(*span).ops(), experts.ops(&decoder));
            ops.push(sinks.clone());
            Ok((spans::layer_name(*span).to_owned(), ops))
        },
    )?;
    Ok(decoder.graph(name, blocks))
}
