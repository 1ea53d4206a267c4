//! Extra modules for multi-token prediction: a part of their own, outside of every count.

use hob_model::{Certainty, MemoryFiles, ModelGraph, PartRole, read_model};

use crate::samples::{LLAMA, LLAMA_CONFIG, LLAMA_PARAMETERS};
use crate::writers::{Gguf, safetensors};

const HIDDEN: u64 = 64;
const VOCABULARY: u64 = 100;
const INNER: u64 = 32;
const EXPERTS: u64 = 4;

type Tensor = (String, Vec<u64>);

/// DeepSeek V3 in small: one dense layer and one with experts.
const DEEPSEEK: &str = r#"{"model_type":"deepseek_v3","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,
    "num_attention_heads":4,"vocab_size":100,"q_lora_rank":24,"kv_lora_rank":16,"qk_nope_head_dim":16,"qk_rope_head_dim":8,
    "v_head_dim":16,"n_routed_experts":4,"n_shared_experts":1,"num_experts_per_tok":2,"moe_intermediate_size":32,
    "first_k_dense_replace":1,"num_nextn_predict_layers":1,"torch_dtype":"bfloat16"}"#;

fn attention(layer: u64) -> Vec<Tensor> {
    let sizes: [(&str, Vec<u64>); 9] = [
        ("input_layernorm", vec![HIDDEN]),
        ("post_attention_layernorm", vec![HIDDEN]),
        ("self_attn.q_a_proj", vec![24, HIDDEN]),
        ("self_attn.q_a_layernorm", vec![24]),
        ("self_attn.q_b_proj", vec![4 * 24, 24]),
        ("self_attn.kv_a_proj_with_mqa", vec![24, HIDDEN]),
        ("self_attn.kv_a_layernorm", vec![16]),
        ("self_attn.kv_b_proj", vec![4 * 32, 16]),
        ("self_attn.o_proj", vec![HIDDEN, 64]),
    ];
    sizes.into_iter().map(|(name, shape)| (format!("model.layers.{layer}.{name}.weight"), shape)).collect()
}

fn mlp(at: &str, inner: u64) -> Vec<Tensor> {
    let wide = |name: &str| (format!("{at}.{name}_proj.weight"), vec![inner, HIDDEN]);
    vec![wide("gate"), wide("up"), (format!("{at}.down_proj.weight"), vec![HIDDEN, inner])]
}

fn experts(layer: u64) -> Vec<Tensor> {
    let at = format!("model.layers.{layer}.mlp");
    let mut tensors = vec![
        (format!("{at}.gate.weight"), vec![EXPERTS, HIDDEN]),
        (format!("{at}.gate.e_score_correction_bias"), vec![EXPERTS]),
    ];
    tensors.extend(mlp(&format!("{at}.shared_experts"), INNER));
    tensors.extend((0..EXPERTS).flat_map(|expert| mlp(&format!("{at}.experts.{expert}"), INNER)));
    tensors
}

/// The layers that the config counts, and the module behind them with its own embedding and head.
fn deepseek() -> (Vec<Tensor>, Vec<Tensor>) {
    let outside = [
        ("model.embed_tokens", vec![VOCABULARY, HIDDEN]),
        ("model.norm", vec![HIDDEN]),
        ("lm_head", vec![VOCABULARY, HIDDEN]),
    ];
    let mut counted: Vec<Tensor> = outside.into_iter().map(|(name, shape)| (format!("{name}.weight"), shape)).collect();
    counted.extend(attention(0));
    counted.extend(mlp("model.layers.0.mlp", 128));
    counted.extend(attention(1));
    counted.extend(experts(1));
    let joining = [
        ("embed_tokens", vec![VOCABULARY, HIDDEN]),
        ("enorm", vec![HIDDEN]),
        ("hnorm", vec![HIDDEN]),
        ("eh_proj", vec![HIDDEN, 2 * HIDDEN]),
        ("shared_head.norm", vec![HIDDEN]),
        ("shared_head.head", vec![VOCABULARY, HIDDEN]),
    ];
    let mut extra: Vec<Tensor> =
        joining.into_iter().map(|(name, shape)| (format!("model.layers.2.{name}.weight"), shape)).collect();
    extra.extend(attention(2));
    extra.extend(experts(2));
    (counted, extra)
}

/// Learned numbers: the correction of a router is a buffer.
fn parameters(tensors: &[Tensor]) -> u64 {
    let learned = tensors.iter().filter(|(name, _)| !name.ends_with("e_score_correction_bias"));
    learned.map(|(_, shape)| shape.iter().product::<u64>()).sum()
}

fn bytes(tensors: &[Tensor]) -> u64 {
    tensors.iter().map(|(_, shape)| 2 * shape.iter().product::<u64>()).sum()
}

fn folder(config: &str, tensors: &[Tensor]) -> ModelGraph {
    let entries: Vec<(&str, &str, &[u64], u64)> = tensors
        .iter()
        .map(|(name, shape)| (name.as_str(), "BF16", shape.as_slice(), 2 * shape.iter().product::<u64>()))
        .collect();
    let files =
        MemoryFiles::new().with("m/config.json", config.as_bytes()).with("m/model.safetensors", safetensors(&entries));
    read_model("m", &files).unwrap()
}

/// The graph is exact, counts the `counted` parameters, and holds the `extra` ones in a part of their own.
fn check(graph: &ModelGraph, counted: u64, extra: u64) {
    assert_eq!((graph.certainty, graph.unknowns.as_slice()), (Certainty::Exact, [].as_slice()));
    assert_eq!(graph.parameters(), counted);
    let parts = graph.summary().parts;
    let of_extra = parts.iter().filter(|part| part.role == PartRole::MultiTokenPrediction);
    assert_eq!(of_extra.map(|part| part.parameters).sum::<u64>(), extra);
}

#[test]
fn a_layer_behind_the_last_is_counted_apart() {
    let (counted, extra) = deepseek();
    let whole = folder(DEEPSEEK, &[counted.clone(), extra.clone()].concat());
    check(&whole, parameters(&counted), parameters(&extra));
    let without = folder(DEEPSEEK, &counted);
    check(&without, parameters(&counted), 0);
    assert_eq!(whole.layers(), 2);
    assert_eq!(whole.kv_bytes(100, 16.0), without.kv_bytes(100, 16.0));
    assert_eq!(whole.flops(&whole.native_shape), without.flops(&without.native_shape));
    assert_eq!(whole.summary().weight_bytes.0, bytes(&counted), "engines do not load it");
}

#[test]
fn a_layer_too_many_without_its_marks_is_a_difference() {
    let (mut tensors, _) = deepseek();
    tensors.extend(attention(2));
    tensors.extend(experts(2));
    let graph = folder(DEEPSEEK, &tensors);
    assert_eq!(graph.certainty, Certainty::Inferred);
    assert!(graph.parts.iter().all(|part| part.role != PartRole::MultiTokenPrediction));
}

#[test]
fn a_stack_that_is_named_so_is_counted_apart() {
    let mut tensors: Vec<Tensor> = LLAMA.iter().map(|(name, shape)| ((*name).to_owned(), shape.to_vec())).collect();
    tensors.push(("mtp.fc.weight".to_owned(), vec![64, 128]));
    tensors.push(("mtp.layers.0.mlp.gate_proj.weight".to_owned(), vec![128, 64]));
    check(&folder(LLAMA_CONFIG, &tensors), LLAMA_PARAMETERS, 2 * 64 * 128);
}

#[test]
fn gguf_counts_the_extra_layer_as_a_block() {
    let mut gguf = Gguf::new("glm4moe");
    for (key, value) in [
        ("block_count", 3),
        ("nextn_predict_layers", 1),
        ("embedding_length", 64),
        ("feed_forward_length", 128),
        ("attention.head_count", 4),
        ("attention.head_count_kv", 2),
        ("attention.key_length", 16),
        ("context_length", 512),
        ("expert_count", 4),
        ("expert_used_count", 2),
        ("expert_feed_forward_length", 32),
        ("expert_shared_count", 1),
        ("leading_dense_block_count", 1),
    ] {
        gguf = gguf.number(&format!("glm4moe.{key}"), value);
    }
    let block = |at: u64, is_dense: bool| -> Vec<Tensor> {
        let mut sizes: Vec<(&str, Vec<u64>)> = vec![
            ("attn_norm.weight", vec![64]),
            ("attn_q.weight", vec![64, 64]),
            ("attn_k.weight", vec![64, 32]),
            ("attn_v.weight", vec![64, 32]),
            ("attn_output.weight", vec![64, 64]),
            ("post_attention_norm.weight", vec![64]),
        ];
        if is_dense {
            sizes.extend([("ffn_gate.weight", vec![64, 128]), ("ffn_up.weight", vec![64, 128])]);
            sizes.push(("ffn_down.weight", vec![128, 64]));
        } else {
            sizes.extend([("ffn_gate_inp.weight", vec![64, 4]), ("exp_probs_b.bias", vec![4])]);
            sizes.extend([("ffn_gate_exps.weight", vec![64, 32, 4]), ("ffn_up_exps.weight", vec![64, 32, 4])]);
            sizes.extend([("ffn_down_exps.weight", vec![32, 64, 4]), ("ffn_gate_shexp.weight", vec![64, 32])]);
            sizes.extend([("ffn_up_shexp.weight", vec![64, 32]), ("ffn_down_shexp.weight", vec![32, 64])]);
        }
        sizes.into_iter().map(|(name, shape)| (format!("blk.{at}.{name}"), shape)).collect()
    };
    let outside: [(&str, Vec<u64>); 3] =
        [("token_embd.weight", vec![64, 100]), ("output_norm.weight", vec![64]), ("output.weight", vec![64, 100])];
    let mut counted: Vec<Tensor> = outside.into_iter().map(|(name, shape)| (name.to_owned(), shape)).collect();
    counted.extend(block(0, true));
    counted.extend(block(1, false));
    let mut extra = block(2, false);
    extra.push(("blk.2.nextn.eh_proj.weight".to_owned(), vec![128, 64]));
    extra.push(("blk.2.nextn.enorm.weight".to_owned(), vec![64]));
    for (name, shape) in counted.iter().chain(&extra) {
        gguf = gguf.tensor(name, shape, 0, 4 * shape.iter().product::<u64>());
    }
    let graph = read_model("x.gguf", &MemoryFiles::new().with("x.gguf", gguf.finish())).unwrap();
    let learned = |tensors: &[Tensor]| {
        let learned = tensors.iter().filter(|(name, _)| !name.contains("exp_probs_b"));
        learned.map(|(_, shape)| shape.iter().product::<u64>()).sum::<u64>()
    };
    check(&graph, learned(&counted), learned(&extra));
}
