//! A stand-in for a model of which only the parameter count is known: a dense decoder of common proportions.
//!
//! The total is exact; everything else is a guess, says so, and widens every estimate.

use crate::build::{activation, attention, block, embedding, linear, norm, part};
use crate::dtype::Dtype;
use crate::graph::{
    Certainty, Extent, KvCache, ModelGraph, ModelKind, NormKind, OpKind, Origin, PartRole, Shape, Site, Span, Unknown,
};

/// Width of one head in nearly all published decoders.
const HEAD: u64 = 128;
/// Vocabulary of the Llama 2 family; larger ones are common, and at a given total they only make the layers smaller.
const VOCABULARY: u64 = 32_000;
/// Context assumed when nobody states one.
const CONTEXT: u64 = 4_096;
/// Counts outside one thousand to ten trillion are no model's.
const PARAMETERS_MAX: u64 = 10_000_000_000_000;

/// A decoder with `count` parameters. Width over depth is 128, as in Llama 2 7B (4096 over 32, arXiv 2307.09288); the
/// feed-forward width takes up what is left, and a bare remainder makes the total exact.
#[must_use]
pub fn graph_from_parameter_count(count: u64) -> ModelGraph {
    let total = count.clamp(1_000, PARAMETERS_MAX);
    let vocabulary = VOCABULARY.min((total / 8).max(1));
    let width = width(total);
    let layers = (width / HEAD).max(1);
    let dtype = Dtype::Bf16;

    let attention_weights = 4 * width * width + 2 * width;
    let fixed = vocabulary * width * 2 + layers * attention_weights + width;
    let inner = total.saturating_sub(fixed) / (3 * width * layers);
    let counted = fixed.saturating_add(3 * width * inner * layers);
    // Below a few million parameters even the tables alone may be more than the total: nothing but the count is kept.
    let (blocks, remainder) = if counted <= total && inner > 0 {
        let repeat = u32::try_from(layers).unwrap_or(u32::MAX);
        (vec![block("layer", repeat, layer(width, inner, dtype))], total - counted)
    } else {
        (Vec::new(), total)
    };
    let mut parts = Vec::new();
    if !blocks.is_empty() {
        let table = embedding("embed_tokens", Site::Embedding, dtype, vocabulary, width);
        parts.push(part("embedding", PartRole::Embedding, vec![block("embedding", 1, vec![table])]));
        parts.push(part("decoder", PartRole::Decoder, blocks));
        let head = linear("lm_head", Site::Head, dtype, width, vocabulary, false).over(Extent::OutputTokens);
        let last = norm("norm", dtype, NormKind::Rms, width, false);
        parts.push(part("head", PartRole::Head, vec![block("head", 1, vec![last, head])]));
    }
    if remainder > 0 {
        let rest = crate::build::op("remainder", Site::Other, dtype, OpKind::Parameter { elements: remainder });
        parts.push(part("remainder", PartRole::Other, vec![block("remainder", 1, vec![rest])]));
    }
    ModelGraph {
        name: size_name(total),
        family: "unknown".to_owned(),
        kind: ModelKind::CausalLm,
        origin: Origin::ParameterCount,
        certainty: Certainty::Rough,
        hidden: Some(width),
        vocabulary: Some(vocabulary),
        context_max: None,
        quantization: None,
        stored: None,
        parts,
        unknowns: vec![Unknown {
            what: "everything but the parameter count".to_owned(),
            consequence: "taken as a dense decoder of common proportions; intervals are wide".to_owned(),
        }],
        native_shape: Shape { tokens: CONTEXT, outputs: 1, ..Shape::default() },
    }
}

/// Width `h`, a multiple of a head, for which 12 h^2 in each of h / 128 layers and two tables come nearest below `total`.
fn width(total: u64) -> u64 {
    let parameters = |heads: u64| {
        let h = (heads * HEAD) as f64;
        12.0 * h * h * heads as f64 + 2.0 * VOCABULARY as f64 * h
    };
    let mut heads = 1;
    while parameters(heads + 1) <= total as f64 {
        heads += 1;
    }
    heads * HEAD
}

fn layer(width: u64, inner: u64, dtype: Dtype) -> Vec<crate::graph::Operator> {
    let heads = (width / HEAD).max(1);
    vec![
        norm("input_layernorm", dtype, NormKind::Rms, width, false),
        linear("self_attn.q_proj", Site::AttentionInput, dtype, width, width, false),
        linear("self_attn.k_proj", Site::AttentionInput, dtype, width, width, false),
        linear("self_attn.v_proj", Site::AttentionInput, dtype, width, width, false),
        attention(dtype, heads, heads, HEAD, Span::Causal, KvCache::KeyValue),
        linear("self_attn.o_proj", Site::AttentionOutput, dtype, width, width, false),
        norm("post_attention_layernorm", dtype, NormKind::Rms, width, false),
        linear("mlp.gate_proj", Site::MlpInput, dtype, width, inner, false),
        linear("mlp.up_proj", Site::MlpInput, dtype, width, inner, false),
        activation(dtype, inner, true),
        linear("mlp.down_proj", Site::MlpOutput, dtype, inner, width, false),
    ]
}

/// How people call a model of so many parameters: `7B`, `1.5B`, `350M`.
fn size_name(parameters: u64) -> String {
    let (scale, letter) = match parameters {
        1_000_000_000_000.. => (1e12, "T"),
        1_000_000_000.. => (1e9, "B"),
        1_000_000.. => (1e6, "M"),
        _ => return parameters.to_string(),
    };
    let digits = format!("{:.2}", parameters as f64 / scale);
    format!("{}{letter}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_exact_and_the_proportions_are_common() {
        for (count, layers) in [
            (500, 0..=0),
            (1_000_000, 0..=4),
            (124_000_000, 4..=16),
            (7_000_000_000, 28..=40),
            (70_000_000_000, 60..=90),
            (PARAMETERS_MAX, 300..=500),
        ] {
            let graph = graph_from_parameter_count(count);
            assert_eq!(graph.parameters(), count.max(1_000), "{count}");
            assert!(layers.contains(&graph.layers()), "{count}: {} layers", graph.layers());
        }
    }

    #[test]
    fn a_bare_count_is_named_as_people_call_it() {
        for (count, name) in
            [(405_000_000_000, "405B"), (1_540_000_000, "1.54B"), (350_000_000, "350M"), (7_000, "7000")]
        {
            assert_eq!(graph_from_parameter_count(count).name, name);
        }
    }
}
