//! GGUF files of several architectures, with the tensor names that llama.cpp writes: each becomes the graph of its family's
//! config, with exactly the parameters that the file holds.

use hob_model::{Certainty, MemoryFiles, ModelGraph, OpKind, Site, read_model};

use crate::writers::Gguf;

const HIDDEN: u64 = 64;
const INNER: u64 = 128;
const HEADS: u64 = 4;
const KV_HEADS: u64 = 2;
const HEAD: u64 = 16;
const VOCABULARY: u64 = 100;
const EXPERTS: u64 = 8;
const LAYERS: u64 = 2;

/// A tensor's name and sizes, innermost first as GGUF has them.
type Tensor = (&'static str, Vec<u64>);

/// What stands in a layer of an architecture, and what stands outside of the layers.
struct Architecture {
    name: &'static str,
    keys: &'static [(&'static str, u64)],
    outside: Vec<Tensor>,
    layer: Vec<Tensor>,
}

fn table() -> Tensor {
    ("token_embd.weight", vec![HIDDEN, VOCABULARY])
}

fn head() -> Tensor {
    ("output.weight", vec![HIDDEN, VOCABULARY])
}

fn norm(name: &'static str) -> Tensor {
    (name, vec![HIDDEN])
}

/// Separate projections of grouped-query attention.
fn attention() -> Vec<Tensor> {
    vec![
        norm("attn_norm.weight"),
        ("attn_q.weight", vec![HIDDEN, HEADS * HEAD]),
        ("attn_k.weight", vec![HIDDEN, KV_HEADS * HEAD]),
        ("attn_v.weight", vec![HIDDEN, KV_HEADS * HEAD]),
        ("attn_output.weight", vec![HEADS * HEAD, HIDDEN]),
    ]
}

fn head_norms() -> Vec<Tensor> {
    vec![("attn_q_norm.weight", vec![HEAD]), ("attn_k_norm.weight", vec![HEAD])]
}

fn gated_mlp() -> Vec<Tensor> {
    vec![
        norm("ffn_norm.weight"),
        ("ffn_gate.weight", vec![HIDDEN, INNER]),
        ("ffn_up.weight", vec![HIDDEN, INNER]),
        ("ffn_down.weight", vec![INNER, HIDDEN]),
    ]
}

fn experts() -> Vec<Tensor> {
    vec![
        norm("ffn_norm.weight"),
        ("ffn_gate_inp.weight", vec![HIDDEN, EXPERTS]),
        ("ffn_gate_exps.weight", vec![HIDDEN, INNER, EXPERTS]),
        ("ffn_up_exps.weight", vec![HIDDEN, INNER, EXPERTS]),
        ("ffn_down_exps.weight", vec![INNER, HIDDEN, EXPERTS]),
    ]
}

fn biases(names: &[(&'static str, u64)]) -> Vec<Tensor> {
    names.iter().map(|(name, width)| (*name, vec![*width])).collect()
}

const EXPERT_KEYS: &[(&str, u64)] =
    &[("expert_count", EXPERTS), ("expert_used_count", 2), ("expert_feed_forward_length", INNER)];

fn read(architecture: &Architecture) -> (ModelGraph, u64) {
    let Architecture { name, keys, outside, layer } = architecture;
    let mut file = Gguf::new(name);
    let sizes = [
        ("block_count", LAYERS),
        ("embedding_length", HIDDEN),
        ("feed_forward_length", INNER),
        ("attention.head_count", HEADS),
        ("attention.head_count_kv", KV_HEADS),
        ("attention.key_length", HEAD),
        ("attention.value_length", HEAD),
        ("context_length", 512),
    ];
    let own: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
    for (key, size) in sizes.iter().filter(|(key, _)| !own.contains(key)).chain(*keys) {
        file = file.number(&format!("{name}.{key}"), u32::try_from(*size).unwrap());
    }
    let layers = (0..LAYERS)
        .flat_map(|number| layer.iter().map(move |(tensor, sizes)| (format!("blk.{number}.{tensor}"), sizes.clone())));
    let mut parameters = 0;
    for (tensor, sizes) in outside.iter().map(|(tensor, sizes)| ((*tensor).to_owned(), sizes.clone())).chain(layers) {
        let elements: u64 = sizes.iter().product();
        parameters += if tensor.starts_with("rope_") { 0 } else { elements };
        file = file.tensor(&tensor, &sizes, 1, 2 * elements);
    }
    let graph = read_model("m.gguf", &MemoryFiles::new().with("m.gguf", file.finish()));
    (graph.unwrap_or_else(|error| panic!("{name}: {error}")), parameters)
}

/// The family's config reader understands the file down to the last parameter.
fn check(architecture: &Architecture) -> ModelGraph {
    let (graph, parameters) = read(architecture);
    let name = architecture.name;
    assert_eq!(graph.parameters(), parameters, "{name}: {:?}", graph.unknowns);
    assert_eq!((graph.certainty, graph.layers()), (Certainty::Exact, 2), "{name}: {:?}", graph.unknowns);
    assert_eq!(graph.context_max, Some(512), "{name}");
    let core = graph.operators().map(|(_, op)| op).find(|op| op.site == Site::AttentionCore);
    let Some(OpKind::Attention(core)) = core.map(|op| &op.kind) else { panic!("{name}: no attention") };
    assert_eq!(core.heads, HEADS, "{name}");
    graph
}

#[test]
fn dense_decoders() {
    let outside = || vec![table(), head(), norm("output_norm.weight")];
    let qkv_biases =
        biases(&[("attn_q.bias", HEADS * HEAD), ("attn_k.bias", KV_HEADS * HEAD), ("attn_v.bias", KV_HEADS * HEAD)]);
    let plain = || [attention(), gated_mlp()].concat();
    check(&Architecture { name: "llama", keys: &[], outside: outside(), layer: plain() });
    check(&Architecture { name: "qwen2", keys: &[], outside: outside(), layer: [plain(), qkv_biases].concat() });
    check(&Architecture { name: "qwen3", keys: &[], outside: outside(), layer: [plain(), head_norms()].concat() });
    let fused = vec![
        norm("attn_norm.weight"),
        ("attn_qkv.weight", vec![HIDDEN, (HEADS + 2 * KV_HEADS) * HEAD]),
        ("attn_output.weight", vec![HEADS * HEAD, HIDDEN]),
        norm("ffn_norm.weight"),
        ("ffn_up.weight", vec![HIDDEN, 2 * INNER]),
        ("ffn_down.weight", vec![INNER, HIDDEN]),
    ];
    // Long-context files carry tables of rope factors, which are no parameters.
    let factors = vec![("rope_factors_long.weight", vec![HEAD / 2]), ("rope_factors_short.weight", vec![HEAD / 2])];
    check(&Architecture { name: "phi3", keys: &[], outside: [outside(), factors].concat(), layer: fused });
}

#[test]
fn decoders_with_a_tied_head() {
    let outside = || vec![table(), norm("output_norm.weight")];
    let post_norms = vec![norm("post_attention_norm.weight"), norm("post_ffw_norm.weight")];
    let gemma = [attention(), gated_mlp(), post_norms].concat();
    check(&Architecture { name: "gemma2", keys: &[], outside: outside(), layer: gemma.clone() });
    check(&Architecture { name: "gemma3", keys: &[], outside: outside(), layer: [gemma, head_norms()].concat() });
}

#[test]
fn a_decoder_with_learned_positions_and_biases() {
    let layer = vec![
        norm("attn_norm.weight"),
        norm("attn_norm.bias"),
        ("attn_qkv.weight", vec![HIDDEN, 3 * HIDDEN]),
        ("attn_qkv.bias", vec![3 * HIDDEN]),
        ("attn_output.weight", vec![HIDDEN, HIDDEN]),
        norm("attn_output.bias"),
        norm("ffn_norm.weight"),
        norm("ffn_norm.bias"),
        ("ffn_up.weight", vec![HIDDEN, INNER]),
        ("ffn_up.bias", vec![INNER]),
        ("ffn_down.weight", vec![INNER, HIDDEN]),
        norm("ffn_down.bias"),
    ];
    let outside = vec![
        table(),
        ("position_embd.weight", vec![HIDDEN, 512]),
        norm("output_norm.weight"),
        norm("output_norm.bias"),
    ];
    check(&Architecture { name: "gpt2", keys: &[("attention.head_count_kv", HEADS)], outside, layer });
}

#[test]
fn mixtures_of_experts() {
    let outside = || vec![table(), head(), norm("output_norm.weight")];
    let sparse = || [attention(), experts()].concat();
    let check_experts = |architecture: &Architecture| {
        let (graph, parameters) = read(architecture);
        assert_eq!(graph.parameters(), parameters, "{}: {:?}", architecture.name, graph.unknowns);
        let down = graph.operators().map(|(_, op)| op).find(|op| op.site == Site::MlpOutput).unwrap();
        assert_eq!((down.copies, down.active), (8, 2), "{}", architecture.name);
    };
    check_experts(&Architecture { name: "llama", keys: EXPERT_KEYS, outside: outside(), layer: sparse() });
    let layer = [sparse(), head_norms()].concat();
    check_experts(&Architecture { name: "qwen3moe", keys: EXPERT_KEYS, outside: outside(), layer });
    let mut layer = sparse();
    layer.retain(|(name, _)| *name != "ffn_norm.weight");
    layer.extend([
        norm("post_attention_norm.weight"),
        ("attn_sinks.weight", vec![HEADS]),
        ("ffn_gate_exps.bias", vec![INNER, EXPERTS]),
        ("ffn_up_exps.bias", vec![INNER, EXPERTS]),
        ("ffn_down_exps.bias", vec![HIDDEN, EXPERTS]),
    ]);
    layer.extend(biases(&[
        ("attn_q.bias", HEADS * HEAD),
        ("attn_k.bias", KV_HEADS * HEAD),
        ("attn_v.bias", KV_HEADS * HEAD),
        ("attn_output.bias", HIDDEN),
        ("ffn_gate_inp.bias", EXPERTS),
    ]));
    let gpt_oss = Architecture { name: "gpt-oss", keys: EXPERT_KEYS, outside: outside(), layer };
    check_experts(&gpt_oss);
    check(&gpt_oss);
}

#[test]
fn latent_attention_with_one_or_two_query_matrices() {
    const LATENT: u64 = 32;
    const RANK: u64 = 24;
    const ROTARY: u64 = 8;
    const KEYS: &[(&str, u64)] = &[
        ("expert_count", EXPERTS),
        ("expert_used_count", 2),
        ("expert_feed_forward_length", INNER),
        ("expert_shared_count", 1),
        ("leading_dense_block_count", 0),
        ("attention.kv_lora_rank", LATENT),
        ("rope.dimension_count", ROTARY),
    ];
    const KEYS_WITH_RANK: &[(&str, u64)] = &[
        ("expert_count", EXPERTS),
        ("expert_used_count", 2),
        ("expert_feed_forward_length", INNER),
        ("expert_shared_count", 1),
        ("leading_dense_block_count", 0),
        ("attention.kv_lora_rank", LATENT),
        ("attention.q_lora_rank", RANK),
        ("rope.dimension_count", ROTARY),
    ];
    let one = vec![("attn_q.weight", vec![HIDDEN, HEADS * HEAD])];
    let two = vec![
        ("attn_q_a.weight", vec![HIDDEN, RANK]),
        ("attn_q_a_norm.weight", vec![RANK]),
        ("attn_q_b.weight", vec![RANK, HEADS * HEAD]),
    ];
    for (keys, query) in [(KEYS, one), (KEYS_WITH_RANK, two)] {
        let rest = vec![
            norm("attn_norm.weight"),
            ("attn_kv_a_mqa.weight", vec![HIDDEN, LATENT + ROTARY]),
            ("attn_kv_a_norm.weight", vec![LATENT]),
            ("attn_kv_b.weight", vec![LATENT, HEADS * (HEAD - ROTARY + HEAD)]),
            ("attn_output.weight", vec![HEADS * HEAD, HIDDEN]),
            ("ffn_gate_shexp.weight", vec![HIDDEN, INNER]),
            ("ffn_up_shexp.weight", vec![HIDDEN, INNER]),
            ("ffn_down_shexp.weight", vec![INNER, HIDDEN]),
        ];
        let outside = vec![table(), head(), norm("output_norm.weight")];
        let graph = check(&Architecture { name: "deepseek2", keys, outside, layer: [query, rest, experts()].concat() });
        assert_eq!(graph.summary().kv_bytes_per_token.0, 2 * 2 * (LATENT + ROTARY));
    }
}
