//! DeepSeek V2, V3 and V3.2, and what is built like them: Kimi K2, GLM-5. Latent attention; dense layers first, then layers
//! of many small experts beside shared ones.

use crate::config::fields::Fields;
use crate::config::language::decoder::{Decoder, Defaults};
use crate::config::language::feed_forward::{Experts, FeedForward, layer_prefix};
use crate::config::language::latent::{Indexer, LatentAttention};
use crate::error::ModelError;
use crate::graph::ModelGraph;

/// What the config classes of the families take for absent keys.
struct Family {
    name: &'static str,
    query_rank: u64,
    dense_layers: u32,
    has_indexer: bool,
}

/// Reads a `deepseek_v2` config.
pub(super) fn v2(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    graph(fields, name, &Family { name: "deepseek_v2", query_rank: 1536, dense_layers: 0, has_indexer: false })
}

/// Reads a `deepseek_v3` config (V3, R1 and what was trained from them).
pub(super) fn v3(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    graph(fields, name, &Family { name: "deepseek_v3", query_rank: 1536, dense_layers: 3, has_indexer: false })
}

/// Reads a `kimi_k2` config: DeepSeek V3's layers in other numbers.
pub(super) fn kimi_k2(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    graph(fields, name, &Family { name: "kimi_k2", query_rank: 1536, dense_layers: 3, has_indexer: false })
}

/// Reads a `deepseek_v32` config: V3 with an indexer in every layer.
pub(super) fn v32(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    graph(fields, name, &Family { name: "deepseek_v32", query_rank: 1536, dense_layers: 3, has_indexer: true })
}

/// Reads a `glm_moe_dsa` config (GLM-5): V3.2 whose layers may share an indexer.
pub(super) fn glm_moe_dsa(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    graph(fields, name, &Family { name: "glm_moe_dsa", query_rank: 2048, dense_layers: 3, has_indexer: true })
}

/// What differs between layers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shape {
    has_experts: bool,
    has_indexer: bool,
}

fn graph(fields: &Fields<'_>, name: &str, family: &Family) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, family.name, Defaults::PLAIN)?;
    let indexer = family.has_indexer.then(|| Indexer::read(fields)).transpose()?;
    let attention = LatentAttention::read(fields, &decoder, Some(family.query_rank), indexer)?;
    let holds = mixtures(fields, decoder.layers, family.dense_layers)?;
    let feed_forward = FeedForward::mixed(fields, experts(fields)?, holds)?;
    let indexers = indexers(fields, decoder.layers)?;
    let blocks = decoder.blocks(
        fields,
        |index| Shape {
            has_experts: feed_forward.has_experts(index),
            has_indexer: indexers.get(index as usize).copied().unwrap_or(true),
        },
        |shape| {
            let ops = feed_forward.ops(shape.has_experts, &decoder);
            let shared = if shape.has_indexer || indexer.is_none() { "" } else { " with a shared indexer" };
            let name = format!("{}layer{shared}", layer_prefix(shape.has_experts));
            Ok((name, decoder.layer(attention.ops(shape.has_indexer), ops)))
        },
    )?;
    Ok(decoder.graph(name, blocks))
}

/// Routed experts, and the shared ones as one MLP of their summed width.
pub(super) fn experts(fields: &Fields<'_>) -> Result<Experts, ModelError> {
    let count = ["n_routed_experts", "num_experts", "num_local_experts"];
    let experts = Experts::read(fields, &count, &["num_experts_per_tok"], &["moe_intermediate_size"])?;
    let shared = fields.count_any(&["n_shared_experts"])?.unwrap_or(0);
    Ok(Experts { shared_width: experts.width.saturating_mul(u64::from(shared)), ..experts })
}

/// Which layers hold experts: as `mlp_layer_types` says, else every `moe_layer_freq`-th after the first dense ones.
pub(super) fn mixtures(fields: &Fields<'_>, layers: u32, dense_layers: u32) -> Result<Vec<bool>, ModelError> {
    let first = fields.count_any(&["first_k_dense_replace"])?.unwrap_or(dense_layers);
    let step = fields.count_any(&["moe_layer_freq"])?.unwrap_or(1).max(1);
    if let Some(words) = fields.texts("mlp_layer_types") {
        return Ok(words.into_iter().map(|word| word != "dense").collect());
    }
    Ok((0..layers).map(|index| index >= first && index.is_multiple_of(step)).collect())
}

/// Which layers have an indexer of their own (`GlmMoeDsaConfig`): as listed, as a pattern of F and S says, or one in
/// `index_topk_freq`.
fn indexers(fields: &Fields<'_>, layers: u32) -> Result<Vec<bool>, ModelError> {
    if let Some(words) = fields.texts("indexer_types") {
        return Ok(words.into_iter().map(|word| word != "shared").collect());
    }
    if let Some(pattern) = fields.text("index_topk_pattern") {
        return Ok(pattern.chars().map(|letter| letter != 'S').collect());
    }
    let step = fields.count_any(&["index_topk_freq"])?.unwrap_or(1).max(1);
    let offset = fields.count_any(&["index_skip_topk_offset"])?.unwrap_or(2);
    Ok((0..layers).map(|index| (index + 1).saturating_sub(offset).is_multiple_of(step)).collect())
}
