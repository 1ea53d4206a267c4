//! Gemma 1, 2 and 3, text alone or with a vision tower. From Gemma 2 on, each branch has a norm before and after it, and
//! some layers slide: every second (Gemma 2), or five of six (Gemma 3).

use crate::config::fields::Fields;
use crate::config::language::attention::{HeadDefaults, QueryKeyNorm, SelfAttention};
use crate::config::language::decoder::{Decoder, Defaults, size_or, stored_dtype};
use crate::config::language::feed_forward::Gated;
use crate::config::language::spans::{self, LayerType};
use crate::config::language::towers;
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Block, ModelGraph, Operator, Span};

/// Reads a `gemma` config. `GemmaConfig`: heads of 256.
pub(super) fn gemma(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "gemma", Defaults::TIED)?;
    let defaults = HeadDefaults { head_dim: Some(256), ..HeadDefaults::default() };
    let attention = SelfAttention::read(fields, &decoder, defaults)?.biased(fields.flag("attention_bias", false));
    let mlp = Gated::plain(fields.size(&["intermediate_size"])?);
    let blocks = decoder.blocks(
        fields,
        |_| (),
        |()| Ok(("layer".to_owned(), decoder.layer(attention.ops(), mlp.ops(&decoder)))),
    )?;
    Ok(decoder.graph(name, blocks))
}

/// Reads a `gemma2` config. `Gemma2Config`: 4 key/value heads of 256, a window of 4,096 in the even layers.
pub(super) fn gemma2(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let mut decoder = Decoder::read(fields, "gemma2", Defaults::TIED)?;
    let defaults = HeadDefaults { kv_heads: Some(4), head_dim: Some(256), heads: None };
    let attention = SelfAttention::read(fields, &decoder, defaults)?.biased(fields.flag("attention_bias", false));
    let mlp = Gated::plain(fields.size(&["intermediate_size"])?);
    let rule = |index: u32| if index.is_multiple_of(2) { LayerType::Sliding } else { LayerType::Full };
    let blocks = sliding(fields, &mut decoder, &attention, mlp, rule)?;
    Ok(decoder.graph(name, blocks))
}

/// Reads a `gemma3_text` config.
pub(super) fn gemma3_text(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let (decoder, blocks) = gemma3_body(fields, "gemma3_text", stored_dtype(fields, Dtype::Bf16))?;
    Ok(decoder.graph(name, blocks))
}

/// Reads a `gemma3` config: the text model, a SigLIP tower, and a projector that pools to `mm_tokens_per_image`.
pub(super) fn gemma3(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let text = fields.nested("text_config").ok_or_else(|| fields.bad("text_config", "is missing"))?;
    let (decoder, blocks) = gemma3_body(&text, "gemma3", stored_dtype(fields, Dtype::Bf16))?;
    let vision = fields.nested("vision_config");
    let tokens = size_or(fields, &["mm_tokens_per_image"], Some(256))?;
    let Some(vision) = vision else { return Ok(decoder.graph(name, blocks)) };
    let tower = towers::siglip(&vision, decoder.dtype)?;
    // The tower's square of patches is pooled to a square of tokens.
    let pool = tower.side / tokens.isqrt().max(1);
    let pixels = tower.patch.saturating_mul(pool.max(1)).saturating_pow(2);
    let projector = towers::projector("mm_input_projection_weight", &decoder, tower.hidden, Some(tower.hidden), pixels);
    let mut graph = decoder.graph(name, blocks);
    graph.parts.splice(0..0, [tower.part, projector]);
    Ok(graph)
}

/// Sizes and layers of Gemma 3's decoder. `Gemma3TextConfig`'s values stand for absent keys: composite files are written as
/// differences from them.
fn gemma3_body(fields: &Fields<'_>, family: &'static str, dtype: Dtype) -> Result<(Decoder, Vec<Block>), ModelError> {
    let sizes = Defaults { hidden: Some(2304), layers: Some(26), vocabulary: Some(262_208), tied: true, dtype };
    let mut decoder = Decoder::read(fields, family, sizes)?;
    decoder.context = decoder.context.or(Some(131_072));
    let heads = HeadDefaults { heads: Some(8), kv_heads: Some(4), head_dim: Some(256) };
    let mut attention = SelfAttention::read(fields, &decoder, heads)?.biased(fields.flag("attention_bias", false));
    attention.query_key_norm = QueryKeyNorm::Head;
    let mlp = Gated::plain(size_or(fields, &["intermediate_size"], Some(9216))?);
    let pattern = fields.count_any(&["sliding_window_pattern"])?.unwrap_or(6).max(1);
    let rule = |index: u32| if (index + 1).is_multiple_of(pattern) { LayerType::Full } else { LayerType::Sliding };
    let blocks = sliding(fields, &mut decoder, &attention, mlp, rule)?;
    Ok((decoder, blocks))
}

/// Layers with norms on both sides of each branch, with a window (4,096 in the config classes) where `rule` or the file
/// says so.
fn sliding(
    fields: &Fields<'_>,
    decoder: &mut Decoder,
    attention: &SelfAttention,
    mlp: Gated,
    rule: impl Fn(u32) -> LayerType,
) -> Result<Vec<Block>, ModelError> {
    let window = spans::window(fields, "sliding_window", Some(4096))?;
    let types = spans::types_or(fields, decoder, rule)?;
    decoder.blocks(
        fields,
        |index| spans::span(spans::at(&types, index), window, None),
        |span: &Span| {
            let ops = layer(decoder, attention.clone().over(*span).ops(), mlp.ops(decoder));
            Ok((spans::layer_name(*span).to_owned(), ops))
        },
    )
}

/// Norm, attention, norm, add, norm, feed-forward, norm, add.
pub(super) fn layer(decoder: &Decoder, attention: Vec<Operator>, feed_forward: Vec<Operator>) -> Vec<Operator> {
    let mut ops = vec![decoder.norm("input_layernorm")];
    ops.extend(attention);
    ops.extend([decoder.norm("post_attention_layernorm"), decoder.residual()]);
    ops.push(decoder.norm("pre_feedforward_layernorm"));
    ops.extend(feed_forward);
    ops.extend([decoder.norm("post_feedforward_layernorm"), decoder.residual()]);
    ops
}
