//! Mixtures of experts, latent, sparse and linear attention: the folds against what papers, cards and engines state; and
//! families that are not known.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use hob_model::{Certainty, Dtype, ModelGraph, ModelKind, PartRole, Shape, graph_from_config, preset};
use hob_units::{Bytes, Quantity};
use serde_json::{Value, json};

fn graph(name: &str) -> ModelGraph {
    preset(name).unwrap().graph().unwrap()
}

/// A preset's graph with other keys.
fn changed(name: &str, keys: Value) -> ModelGraph {
    let mut config: Value = serde_json::from_str(preset(name).unwrap().config).unwrap();
    config.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    graph_from_config("config.json", name, &config).unwrap()
}

#[test]
fn every_config_is_wholly_understood() {
    for name in [
        "Mixtral-8x7B-v0.1",
        "Qwen2-57B-A14B",
        "Qwen3-235B-A22B",
        "Qwen3.5-27B",
        "DeepSeek-V2-Lite",
        "DeepSeek-V3",
        "DeepSeek-V3.2",
        "DeepSeek-V4-Flash",
        "Kimi-K2-Instruct",
        "MiniMax-M2.5",
        "GLM-5",
    ] {
        let graph = graph(name);
        assert_eq!(graph.unknowns, [], "{name}");
        assert_eq!(graph.certainty, Certainty::Exact, "{name}");
    }
}

#[test]
fn active_parameters_are_those_of_the_cards() {
    // Billions on the model's card; makers count the table of embeddings, which is looked up and not multiplied, or not.
    let rows = [
        ("Mixtral-8x7B-v0.1", true, 12.9),
        ("Mixtral-8x22B-v0.1", true, 39.0),
        ("Qwen2-57B-A14B", true, 14.0),
        ("Qwen3-30B-A3B", true, 3.3),
        ("Qwen3-235B-A22B", true, 22.0),
        ("Qwen3-Coder-480B-A35B-Instruct", true, 35.0),
        ("DeepSeek-V2", false, 21.0),
        ("DeepSeek-V2-Lite", false, 2.4),
        ("DeepSeek-V3", false, 37.0),
        ("DeepSeek-V4-Flash", false, 13.0),
        ("Kimi-K2-Instruct", false, 32.0),
        ("MiniMax-M2.5", false, 10.0),
        ("GLM-5", false, 40.0),
    ];
    for (name, has_table, wanted) in rows {
        let graph = graph(name);
        let table = if has_table { 0 } else { graph.hidden.unwrap() * graph.vocabulary.unwrap() };
        let active = (graph.active_parameters() - table) as f64 / 1e9;
        assert!((active / wanted - 1.0).abs() < 0.05, "{name}: {active} instead of {wanted}");
    }
}

#[test]
fn caches_are_those_of_the_papers() {
    // Bytes for one more token at 16 bits. Latent attention: 512 of the latent and 64 of the rotated key for each layer
    // (DeepSeek V2, arXiv 2405.04434, section 2.1.4); an indexer adds a key of 128 (DeepSeek V3.2). Qwen 3.5: 16 of 64
    // layers, 4 heads of 256.
    let rows = [
        ("Mixtral-8x7B-v0.1", 32 * 8 * 128 * 4),
        ("Qwen3-30B-A3B", 48 * 4 * 128 * 4),
        ("DeepSeek-V2", 60 * 576 * 2),
        ("DeepSeek-V2-Lite", 27 * 576 * 2),
        ("DeepSeek-V3", 70_272),
        ("DeepSeek-R1", 70_272),
        ("Kimi-K2-Instruct", 70_272),
        ("DeepSeek-V3.2", 61 * (576 + 128) * 2),
        ("GLM-5", 78 * (576 + 128) * 2),
        ("MiniMax-M2.5", 62 * 8 * 128 * 4),
        ("Qwen3.5-27B", 16 * 4 * 256 * 4),
    ];
    for (name, wanted) in rows {
        assert_eq!(graph(name).summary().kv_bytes_per_token, Bytes(wanted), "{name}");
    }
}

#[test]
fn compressed_caches_are_those_of_the_engines() {
    // DeepSeek V4 Pro at 1M tokens and 16 bits: 9.62 GiB, 8.7 times less than the 83.9 GiB of V3.2's 61 layers (vLLM's
    // announcement of its support, 2026-04; read in public copies 2026-11). Its attention has Flash's widths in 61 layers, the first two of them compressed by 128.
    let ratios: Vec<u64> = (0..61).map(|index| if index < 2 || index % 2 == 1 { 128 } else { 4 }).collect();
    let keys = json!({"num_hidden_layers": 61, "compress_ratios": ratios});
    let pro = changed("DeepSeek-V4-Flash", keys).kv_bytes(1 << 20, 16.0).base() / (1_u64 << 30) as f64;
    assert!((pro - 9.62).abs() < 0.015, "{pro} GiB");
    let v32 = graph("DeepSeek-V3.2").kv_bytes(1 << 20, 16.0).base() / (1_u64 << 30) as f64;
    assert!((v32 / pro - 8.7).abs() < 0.05, "{} times", v32 / pro);
}

#[test]
fn a_recurrent_state_does_not_grow() {
    // Qwen 3.5: 48 layers of 48 heads with 128 x 128 numbers in float32, and three columns of the 10,240 wide convolution.
    let graph = graph("Qwen3.5-27B");
    let state = 48 * (48 * 128 * 128 * 4 + 3 * 10_240 * 2);
    assert_eq!(graph.summary().state_bytes_per_sequence, Bytes(state));
    assert_eq!(graph.kv_bytes(1000, 16.0), Bytes(state + 1000 * 16 * 4 * 256 * 4));
}

#[test]
fn work_is_that_of_the_active_matrices_and_of_what_is_looked_at() {
    // FLOPs of the next token after `past`: two for each active matrix parameter in billions (the card's figure, or the
    // published total of a dense model, without the table), and for each position looked at two for each number of scores
    // and weighted sum: layers x heads x (key + value width), and of the indexer layers x heads x width for all positions.
    let rows = [
        ("Mixtral-8x7B-v0.1", 12.75, 8192_u64, 8192_u64 * 32 * 32 * 256, 0_u64),
        ("DeepSeek-V3", 36.6, 8192, 8192 * 61 * 128 * 320, 0),
        ("DeepSeek-V3.2", 36.6 + 0.85, 8192, 2048 * 61 * 128 * 320, 8192 * 61 * 64 * 128),
        ("GLM-5", 40.8, 65_536, 2048 * 78 * 64 * 512, 65_536 * 78 * 32 * 128),
        ("Qwen3.5-27B", 25.6, 8192, 8192 * 16 * 24 * 512, 0),
    ];
    for (name, billions, past, scored, indexed) in rows {
        let shape = Shape { tokens: 1, past, outputs: 1, ..Shape::default() };
        let wanted = 2.0 * billions * 1e9 + 2.0 * (scored as f64 + indexed as f64);
        let got = graph(name).flops(&shape).base();
        assert!((got / wanted - 1.0).abs() < 0.015, "{name}: {got} instead of {wanted}");
    }
}

#[test]
fn sparse_attention_costs_less_only_beyond_its_choice() {
    let dense = |past| Shape { tokens: 1, past, outputs: 1, ..Shape::default() };
    let sparse = graph("DeepSeek-V3.2");
    let more = |from: u64, to: u64| sparse.flops(&dense(to)).base() - sparse.flops(&dense(from)).base();
    // 61 layers; 128 heads of 192 + 128 until 2,048 positions are chosen, and 64 indexer heads of 128 throughout.
    let of_core = 2.0 * 1000.0 * 61.0 * 128.0 * 320.0;
    let of_indexer = 2.0 * 1000.0 * 61.0 * 64.0 * 128.0;
    assert!((more(1000, 2000) / (of_core + of_indexer) - 1.0).abs() < 1e-9);
    assert!((more(10_000, 11_000) / of_indexer - 1.0).abs() < 1e-9);
}

#[test]
fn layers_may_share_an_indexer() {
    let whole = graph("GLM-5").parameters();
    let one = 2048 * 32 * 128 + 6144 * 128 + 2 * 128 + 6144 * 32;
    let rows = [
        (json!({"index_topk_freq": 4}), 78 - 21),
        (json!({"index_topk_pattern": format!("{}{}", "F".repeat(70), "S".repeat(8))}), 8),
        (json!({"indexer_types": vec!["shared"; 78]}), 78),
    ];
    for (keys, without) in rows {
        assert_eq!(changed("GLM-5", keys.clone()).parameters(), whole - without * one, "{keys}");
    }
}

#[test]
fn bytes_are_those_of_the_published_files() {
    // Gigabytes of the published weight files. DeepSeek V3's hold 688.586727753 (sum of the hub's files, as quoted by public
    // tables, read 2026-11), of which the module for multi-token prediction takes 15.4: of its 11.5 B own parameters
    // (deepseek-ai/DeepSeek-V3 `README_WEIGHTS.md`) a joining matrix is in 16 bits, as are its copies of two tables of 0.93 B.
    // Kimi K2's hold 1,029 (the hub's sum, as quoted, read 2026-11).
    let rows = [("DeepSeek-V3", Dtype::F8E4m3, 688.59 - 15.4), ("Kimi-K2-Instruct", Dtype::F8E4m3, 1029.0)];
    for (name, dtype, wanted) in rows {
        let summary = graph(name).summary();
        let got = summary.weight_bytes.base() / 1e9;
        assert!((got / wanted - 1.0).abs() < 0.002, "{name}: {got} GB instead of {wanted}");
        assert!(summary.bytes_by_dtype[&dtype].base() / summary.weight_bytes.base() > 0.99, "{name}");
    }
    // DeepSeek V4's experts are in four bits, the other matrices in eight, tables and norms in sixteen, and what mixes the
    // streams in 32.
    let summary = graph("DeepSeek-V4-Flash").summary();
    let types: Vec<Dtype> = summary.bytes_by_dtype.keys().copied().collect();
    assert_eq!(types, [Dtype::F32, Dtype::Bf16, Dtype::F8E4m3, Dtype::Mxfp4]);
    let experts = 43.0 * 256.0 * 3.0 * 4096.0 * 2048.0;
    assert!((summary.bytes_by_dtype[&Dtype::Mxfp4].base() / (experts * 4.25 / 8.0) - 1.0).abs() < 1e-9);
}

#[test]
fn dense_layers_are_where_the_config_says() {
    // Parameters of one layer more that is dense: its MLP in place of experts, shared ones, and router.
    let qwen_experts = 128 * 3 * 2048 * 768 + 128 * 2048;
    let qwen_dense = 3 * 2048 * 6144;
    let deepseek_experts: u64 = 257 * 3 * 7168 * 2048 + 256 * 7168;
    let deepseek_dense = 3 * 7168 * 18_432;
    let rows = [
        ("Qwen3-30B-A3B", json!({"mlp_only_layers": [0, 5]}), 2, qwen_experts - qwen_dense),
        ("Qwen3-30B-A3B", json!({"decoder_sparse_step": 2}), 24, qwen_experts - qwen_dense),
        ("DeepSeek-V3", json!({"first_k_dense_replace": 5}), 2, deepseek_experts - deepseek_dense),
        ("DeepSeek-V3", json!({"moe_layer_freq": 2}), 29, deepseek_experts - deepseek_dense),
    ];
    for (name, keys, layers, less) in rows {
        let got = changed(name, keys.clone()).parameters();
        assert_eq!(got, graph(name).parameters() - layers * less, "{name}: {keys}");
    }
}

#[test]
fn families_without_a_preset_are_counted() {
    // Billions in total and for each token, on the cards of Qwen3-Next-80B-A3B, Qwen3.5-35B-A3B (without and with its
    // vision tower) and GLM-4.5-Air; the sizes are those that transformers' config classes take.
    let next = json!({
        "model_type": "qwen3_next", "vocab_size": 151_936, "hidden_size": 2048, "num_hidden_layers": 48,
        "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "full_attention_interval": 4,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32, "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512, "num_experts": 512, "num_experts_per_tok": 10,
        "decoder_sparse_step": 1, "mlp_only_layers": [], "tie_word_embeddings": false, "intermediate_size": 5120,
    });
    let text = json!({
        "model_type": "qwen3_5_moe_text", "vocab_size": 248_320, "hidden_size": 2048, "num_hidden_layers": 40,
        "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512, "num_experts": 256, "num_experts_per_tok": 8,
    });
    let with_tower = json!({
        "model_type": "qwen3_5_moe", "text_config": text, "tie_word_embeddings": false,
        "vision_config": {"out_hidden_size": 2048},
    });
    let air = json!({
        "model_type": "glm4_moe", "vocab_size": 151_552, "hidden_size": 4096, "num_hidden_layers": 46,
        "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 10_944,
        "moe_intermediate_size": 1408, "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8,
        "first_k_dense_replace": 1, "attention_bias": true, "use_qk_norm": false, "num_nextn_predict_layers": 1,
    });
    for (config, total, active) in [(next, 80.0, 3.0), (text, 35.0, 3.0), (with_tower, 35.6, 3.0), (air, 106.0, 12.0)] {
        let graph = graph_from_config("config.json", "it", &config).unwrap();
        let table = graph.hidden.unwrap() * graph.vocabulary.unwrap();
        let got = graph.parameters() as f64 / 1e9;
        let got_active = (graph.active_parameters() - table) as f64 / 1e9;
        assert!((got / total - 1.0).abs() < 0.02, "{}: {got} instead of {total}", graph.family);
        // Cards give the active ones in whole billions.
        assert!((got_active / active - 1.0).abs() < 0.2, "{}: {got_active} instead of {active}", graph.family);
        assert_eq!(graph.unknowns, [], "{}", graph.family);
    }
}

/// Reads a config of a family that nobody knows.
fn unknown(config: &Value) -> ModelGraph {
    let graph = graph_from_config("config.json", "it", config).unwrap();
    assert_eq!(graph.certainty, Certainty::Inferred);
    assert_eq!(graph.kind, ModelKind::CausalLm);
    assert_eq!(graph.family, "brandnew");
    assert_eq!(graph.unknowns[0].what, "model_type `brandnew`");
    graph
}

/// A preset's config under the name of a family that nobody knows.
fn renamed(name: &str) -> Value {
    let mut config: Value = serde_json::from_str(preset(name).unwrap().config).unwrap();
    config["model_type"] = json!("brandnew");
    config
}

#[test]
fn a_family_that_is_not_known_is_read_by_its_usual_keys() {
    // Where the layers are like Llama's but for what the keys say, the count is that of the family's own reader.
    for name in [
        "Llama-3.1-8B",
        "Llama-3.2-1B",
        "Mistral-7B-v0.1",
        "Yi-34B",
        "Mixtral-8x7B-v0.1",
        "DeepSeek-V2-Lite",
        "DeepSeek-V3",
        "Kimi-K2-Instruct",
    ] {
        let guessed = unknown(&renamed(name));
        assert_eq!(guessed.parameters(), graph(name).parameters(), "{name}");
        assert_eq!(guessed.active_parameters(), graph(name).active_parameters(), "{name}");
        assert_eq!(guessed.context_max, graph(name).context_max, "{name}");
    }
    assert_eq!(unknown(&renamed("DeepSeek-V3")).summary().kv_bytes_per_token, Bytes(70_272));
}

#[test]
fn what_was_not_understood_of_such_a_family_is_listed() {
    let rows = [
        (json!({"num_memory_layers": 5}), "num_memory_layers"),
        (json!({"intermediate_size": null}), "intermediate_size"),
        (json!({"sliding_window": 1024}), "sliding_window"),
        (json!({"layer_types": vec!["mamba"; 32]}), "layer_types"),
        (json!({"layer_types": vec!["linear_attention"; 32]}), "layer_types"),
        (json!({"kv_sharing_dim": 64}), "kv_sharing_dim"),
    ];
    for (keys, wanted) in rows {
        let mut config = renamed("Llama-3.1-8B");
        config.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        let graph = unknown(&config);
        assert!(graph.unknowns.iter().any(|note| note.what == wanted), "{keys}: {:?}", graph.unknowns);
        assert!(graph.parameters() > 5_000_000_000, "{keys}");
    }
}

#[test]
fn the_text_model_of_such_a_family_is_read_by_its_own_reader() {
    let mut text: Value = serde_json::from_str(preset("DeepSeek-V3").unwrap().config).unwrap();
    text.as_object_mut().unwrap().remove("architectures");
    let config = json!({
        "model_type": "brandnew", "architectures": ["BrandNewForConditionalGeneration"], "text_config": text,
        "vision_config": {"hidden_size": 1152},
    });
    let graph = unknown(&config);
    assert_eq!(graph.parameters(), 671_026_404_352);
    assert!(graph.parts.iter().all(|part| part.role != PartRole::VisionTower));
    assert_eq!(graph.quantization.as_ref().unwrap().method, "fp8");
}

#[test]
fn what_is_no_decoder_is_refused() {
    let llama: Value = serde_json::from_str(preset("Llama-3.1-8B").unwrap().config).unwrap();
    let mut rows = vec![
        json!({"model_type": "brandnew"}),
        json!({"model_type": "convnextv2", "hidden_sizes": [40, 80, 160, 320], "depths": [2, 2, 6, 2]}),
    ];
    for (key, value) in [
        ("architectures", json!(["BrandNewForMaskedLM"])),
        ("is_encoder_decoder", json!(true)),
        ("hidden_size", Value::Null),
        ("vocab_size", Value::Null),
        ("num_hidden_layers", Value::Null),
    ] {
        let mut config = llama.clone();
        config["model_type"] = json!("brandnew");
        config[key] = value;
        rows.push(config);
    }
    for config in rows {
        let error = graph_from_config("config.json", "it", &config).unwrap_err().to_string();
        assert!(error.contains("which is not known"), "{error}: {config}");
    }
}
