//! Quantised checkpoints against the sizes of their published files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use hob_units::Quantity;
use serde_json::{Value, json};

use super::tail;
use crate::config::graph_from_config;
use crate::dtype::Dtype;
use crate::graph::ModelGraph;
use crate::preset::preset;

/// A preset's graph with another `quantization_config`.
fn quantised(name: &str, config: Value) -> ModelGraph {
    let mut value: Value = serde_json::from_str(preset(name).unwrap().config).unwrap();
    value["quantization_config"] = config;
    graph_from_config("config.json", name, &value).unwrap()
}

/// `gigabytes` is what the files of the published checkpoint hold, to three digits.
fn check(graph: &ModelGraph, dtype: Dtype, gigabytes: f64) {
    let quantization = graph.quantization.as_ref().unwrap();
    assert_eq!(quantization.dtype, dtype, "{}", graph.name);
    let summary = graph.summary();
    let got = summary.weight_bytes.base() / 1e9;
    assert!((got / gigabytes - 1.0).abs() < 0.005, "{}: {got} GB instead of {gigabytes}", graph.name);
    assert!(summary.bytes_by_dtype.len() >= 2, "embeddings and norms stay");
    assert!(graph.unknowns.is_empty(), "{:?}", graph.unknowns);
}

#[test]
fn bytes_are_those_of_the_published_files() {
    // Sums of the checkpoints' safetensors files, as generally published on their model pages.
    check(&preset("gpt-oss-20b").unwrap().graph().unwrap(), Dtype::Mxfp4, 13.76);
    check(&preset("gpt-oss-120b").unwrap().graph().unwrap(), Dtype::Mxfp4, 65.25);
    let awq = json!({"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": null});
    check(&quantised("Qwen2.5-7B", awq), Dtype::Int4Group(128), 5.57);
    let gptq = json!({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": false});
    check(&quantised("Llama-3.1-8B", gptq), Dtype::Int4Group(128), 5.73);
    let nf4 = json!({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_use_double_quant": true});
    check(&quantised("Llama-3.1-8B", nf4), Dtype::Nf4Double, 5.70);
    let fp8 = json!({
        "quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head"],
        "config_groups": {"group_0": {
            "targets": ["Linear"], "input_activations": {"num_bits": 8, "type": "float"},
            "weights": {"num_bits": 8, "type": "float", "strategy": "channel"},
        }},
    });
    check(&quantised("Llama-3.1-8B", fp8), Dtype::F8E4m3, 9.08);
}

#[test]
fn excluded_modules_stay() {
    let all = quantised("Llama-3.1-8B", json!({"quant_method": "fp8"})).summary();
    let rows = [
        (json!(["lm_head"]), 0),
        (json!(["re:.*self_attn.*"]), 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024)),
        (json!(["model.layers.*.self_attn.o_proj"]), 32 * 4096 * 4096),
        ((0..32).map(|layer| format!("model.layers.{layer}.mlp.down_proj")).collect(), 32 * 4096 * 14_336),
        (json!(["model.layers.3.mlp.down_proj"]), 0),
    ];
    for (patterns, parameters) in rows {
        let config = json!({"quant_method": "fp8", "modules_to_not_convert": patterns});
        let some = quantised("Llama-3.1-8B", config).summary();
        // What stays takes one byte more for each parameter.
        let more = some.weight_bytes.base() - all.weight_bytes.base();
        assert_eq!(more as i64, i64::from(parameters), "{patterns}");
    }
}

#[test]
fn patterns_are_cut_to_the_modules_name() {
    let rows = [
        ("lm_head", Some(("lm_head", None))),
        ("model.layers.*.mlp.router", Some(("mlp.router", None))),
        ("model.layers.12.self_attn", Some(("self_attn", Some(12)))),
        ("model.language_model.layers.12.mlp.gate", Some(("mlp.gate", Some(12)))),
        ("re:.*mlp\\.gate$", Some(("mlp.gate", None))),
        ("re:^model\\.layers\\.\\d+\\.self_attn\\..*", Some(("self_attn", None))),
        ("*self_attn*", Some(("self_attn", None))),
        ("re:.*(gate|up)_proj", None),
        ("", None),
    ];
    for (pattern, wanted) in rows {
        let wanted = wanted.map(|(name, layer)| (name.to_owned(), layer));
        assert_eq!(tail(pattern), wanted, "{pattern}");
    }
}

#[test]
fn an_unknown_method_is_named() {
    let graph = quantised("Llama-3.1-8B", json!({"quant_method": "hqq"}));
    assert!(graph.quantization.is_none());
    assert_eq!(graph.unknowns[0].what, "quantization_config.quant_method");
}
