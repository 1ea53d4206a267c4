//! What the readers say about valid files.

use hob_model::{
    Certainty, Dtype, Extent, MemoryFiles, ModelError, ModelGraph, ModelKind, ModelSource, OpKind, Operator, Origin,
    Shape, Site, read_model,
};

use crate::samples::{
    LLAMA_CONFIG, LLAMA_PARAMETERS, classifier_onnx, encoder_onnx, llama_gguf, llama_gguf_big_endian, llama_safetensors,
};
use crate::writers::{Gguf, Message, graph, ints, model, node, numbers, safetensors, shard_index, value, weight};

fn read(files: &MemoryFiles, source: &str) -> ModelGraph {
    read_model(source, files).unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn stored_bytes(graph: &ModelGraph) -> u64 {
    graph.stored.as_ref().unwrap().bytes.values().map(|bytes| bytes.0).sum()
}

fn operator(graph: &ModelGraph, site: Site) -> &Operator {
    graph.operators().map(|(_, op)| op).find(|op| op.site == site).unwrap_or_else(|| panic!("no {site:?}"))
}

#[test]
fn a_folder_takes_its_shapes_from_the_config_and_its_bytes_from_the_headers() {
    let files = MemoryFiles::new()
        .with("m/llama/config.json", LLAMA_CONFIG.as_bytes())
        .with("m/llama/model.safetensors", llama_safetensors());
    let graph = read(&files, "m/llama");
    assert_eq!((graph.name.as_str(), graph.origin, graph.certainty), ("llama", Origin::Safetensors, Certainty::Exact));
    assert_eq!(graph.parameters(), LLAMA_PARAMETERS);
    assert_eq!(stored_bytes(&graph), 2 * LLAMA_PARAMETERS);
    assert_eq!(graph.unknowns, []);
    assert_eq!(read(&files, "m/llama/").parameters(), LLAMA_PARAMETERS);
    assert_eq!(read(&files, "m/llama/model.safetensors").parameters(), LLAMA_PARAMETERS);
}

#[test]
fn stored_types_win_over_the_configs() {
    let tensors: Vec<_> = crate::samples::LLAMA
        .iter()
        .map(|(name, shape)| (*name, "F32", *shape, 4 * shape.iter().product::<u64>()))
        .collect();
    let files = MemoryFiles::new()
        .with("m/config.json", LLAMA_CONFIG.as_bytes())
        .with("m/a.safetensors", safetensors(&tensors));
    let graph = read(&files, "m");
    assert!(graph.operators().all(|(_, op)| op.dtype == Dtype::F32), "{graph:#?}");
}

#[test]
fn tensors_alone_give_the_exact_count_and_an_inferred_graph() {
    let files = MemoryFiles::new().with("llama.safetensors", llama_safetensors());
    let graph = read(&files, "llama.safetensors");
    assert_eq!((graph.kind, graph.certainty), (ModelKind::CausalLm, Certainty::Inferred));
    assert_eq!(graph.parameters(), LLAMA_PARAMETERS);
    assert_eq!((graph.hidden, graph.vocabulary, graph.layers()), (Some(64), Some(100), 2));
    assert!(graph.unknowns.iter().any(|note| note.what == "number of attention heads"), "{:?}", graph.unknowns);
    assert!(graph.summary().kv_bytes_per_token.0 == 2 * 2 * 2 * 32, "{:?}", graph.summary());
}

#[test]
fn a_count_that_differs_is_listed() {
    let config = LLAMA_CONFIG.replace("\"intermediate_size\":128", "\"intermediate_size\":256");
    let files =
        MemoryFiles::new().with("m/config.json", config.as_bytes()).with("m/model.safetensors", llama_safetensors());
    let graph = read(&files, "m");
    assert_eq!(graph.certainty, Certainty::Inferred);
    assert!(graph.unknowns.iter().any(|note| note.what.starts_with("parameter count")), "{:?}", graph.unknowns);
}

#[test]
fn the_tensors_of_a_family_that_is_not_known_win_over_a_guess_that_differs() {
    let config = LLAMA_CONFIG.replace("\"llama\"", "\"brandnew\"");
    let widened = config.replace("\"intermediate_size\":128", "\"intermediate_size\":256");
    assert_ne!(config, LLAMA_CONFIG);
    for (config, note) in [(config, "model_type `brandnew`"), (widened, "architecture `brandnew`")] {
        let files = MemoryFiles::new()
            .with("m/config.json", config.as_bytes())
            .with("m/model.safetensors", llama_safetensors());
        let graph = read(&files, "m");
        assert_eq!(graph.parameters(), LLAMA_PARAMETERS, "{note}");
        assert_eq!((graph.certainty, graph.family.as_str()), (Certainty::Inferred, "brandnew"));
        assert!(graph.unknowns.iter().any(|unknown| unknown.what == note), "{:?}", graph.unknowns);
        // The config's heads are used either way.
        assert!(graph.unknowns.iter().all(|unknown| unknown.what != "number of attention heads"), "{note}");
    }
}

#[test]
fn shards_are_read_where_they_are_and_taken_from_the_index_where_not() {
    let first = safetensors(&[("a.weight", "BF16", &[10, 10], 200)]);
    let text = shard_index(500, &[("a.weight", "model-1.safetensors"), ("b.weight", "model-2.safetensors")]);
    let files = MemoryFiles::new()
        .with("m/config.json", LLAMA_CONFIG.as_bytes())
        .with("m/model.safetensors.index.json", text.as_bytes())
        .with("m/model-1.safetensors", first);
    let graph = read(&files, "m");
    assert_eq!(stored_bytes(&graph), 500);
    assert_eq!(graph.parameters(), LLAMA_PARAMETERS);
    assert!(graph.unknowns.iter().any(|note| note.what.contains("1 of 2 shards")), "{:?}", graph.unknowns);
    let outside = shard_index(1, &[("a", "../../secret")]);
    let files = MemoryFiles::new().with("m/model.safetensors.index.json", outside.as_bytes());
    assert!(matches!(read_model("m", &files), Err(ModelError::Malformed { .. })));
}

/// Parameters and the type of the one packed weight.
fn check_packed(tensors: &[(&str, &str, &[u64], u64)], parameters: u64, method: &str, dtype: Dtype) {
    let files = MemoryFiles::new().with("q.safetensors", safetensors(tensors));
    let graph = read(&files, "q.safetensors");
    assert_eq!(graph.parameters(), parameters, "{method}");
    let quantization = graph.quantization.as_ref().unwrap_or_else(|| panic!("{method} not seen"));
    assert_eq!((quantization.method.as_str(), quantization.dtype), (method, dtype));
    assert_eq!(stored_bytes(&graph), tensors.iter().map(|(.., bytes)| bytes).sum::<u64>(), "{method}");
}

#[test]
fn packed_weights_count_as_what_they_stand_for() {
    // 256 inputs, 128 outputs, groups of 128.
    check_packed(
        &[
            ("l.qweight", "I32", &[32, 128], 16_384),
            ("l.qzeros", "I32", &[2, 16], 128),
            ("l.scales", "F16", &[2, 128], 512),
            ("l.g_idx", "I32", &[256], 1_024),
        ],
        256 * 128,
        "gptq",
        Dtype::Int4Group(128),
    );
    check_packed(
        &[
            ("l.qweight", "I32", &[256, 16], 16_384),
            ("l.qzeros", "I32", &[2, 16], 128),
            ("l.scales", "F16", &[2, 128], 512),
        ],
        256 * 128,
        "awq",
        Dtype::Int4Group(128),
    );
    check_packed(
        &[("l.weight", "F8_E4M3", &[128, 256], 32_768), ("l.weight_scale_inv", "F32", &[1, 2], 8)],
        256 * 128,
        "fp8",
        Dtype::F8E4m3,
    );
    check_packed(
        &[
            ("l.experts.gate_up_proj_blocks", "U8", &[4, 128, 8, 16], 65_536),
            ("l.experts.gate_up_proj_scales", "U8", &[4, 128, 8], 4_096),
        ],
        4 * 128 * 256,
        "mxfp4",
        Dtype::Mxfp4,
    );
    check_packed(
        &[
            ("l.weight", "U8", &[16_384, 1], 16_384),
            ("l.weight.absmax", "U8", &[512], 512),
            ("l.weight.quant_map", "F32", &[16], 64),
            ("l.weight.nested_absmax", "F32", &[2], 8),
            ("l.weight.nested_quant_map", "F32", &[256], 1_024),
            ("l.weight.quant_state.bitsandbytes__nf4", "U8", &[82], 82),
        ],
        256 * 128,
        "bitsandbytes",
        Dtype::Nf4,
    );
    check_packed(
        &[
            ("l.weight_packed", "I32", &[128, 32], 16_384),
            ("l.weight_scale", "BF16", &[128, 2], 512),
            ("l.weight_shape", "I64", &[2], 16),
        ],
        256 * 128,
        "compressed-tensors",
        Dtype::Int4Group(128),
    );
    check_packed(
        &[
            ("l.weight", "U8", &[128, 128], 16_384),
            ("l.weight_scale", "F8_E4M3", &[128, 16], 2_048),
            ("l.weight_scale_2", "F32", &[], 4),
            ("l.input_scale", "F32", &[], 4),
        ],
        256 * 128,
        "nvfp4",
        Dtype::Nvfp4,
    );
    check_packed(
        &[
            ("l.weight", "U32", &[128, 32], 16_384),
            ("l.scales", "F16", &[128, 4], 1_024),
            ("l.biases", "F16", &[128, 4], 1_024),
        ],
        256 * 128,
        "mlx",
        Dtype::Int4Group(64),
    );
}

#[test]
fn experts_of_one_layer_are_one_operator() {
    let mut tensors: Vec<(String, Vec<u64>)> = vec![("model.embed_tokens.weight".to_owned(), vec![100, 32])];
    for layer in 0..2 {
        tensors.push((format!("model.layers.{layer}.mlp.gate.weight"), vec![8, 32]));
        for expert in 0..8 {
            for (name, shape) in [("gate_proj", [64, 32]), ("up_proj", [64, 32]), ("down_proj", [32, 64])] {
                tensors.push((format!("model.layers.{layer}.mlp.experts.{expert}.{name}.weight"), shape.to_vec()));
            }
        }
    }
    let declared: Vec<_> = tensors
        .iter()
        .map(|(name, shape)| (name.as_str(), "BF16", shape.as_slice(), 2 * shape.iter().product::<u64>()))
        .collect();
    let files = MemoryFiles::new().with("moe.safetensors", safetensors(&declared));
    let graph = read(&files, "moe.safetensors");
    assert_eq!(graph.parameters(), tensors.iter().map(|(_, shape)| shape.iter().product::<u64>()).sum::<u64>());
    let down = operator(&graph, Site::MlpOutput);
    assert_eq!((down.copies, down.active), (8, 2));
    assert!(graph.active_parameters() < graph.parameters());
}

#[test]
fn gguf_of_a_known_architecture() {
    for file in [llama_gguf(), llama_gguf_big_endian()] {
        let files = MemoryFiles::new().with("llama-q4.gguf", file);
        let graph = read(&files, "llama-q4.gguf");
        assert_eq!((graph.name.as_str(), graph.family.as_str(), graph.origin), ("llama-q4", "llama", Origin::Gguf));
        assert_eq!(graph.parameters(), LLAMA_PARAMETERS, "{:?}", graph.unknowns);
        assert_eq!(graph.certainty, Certainty::Exact);
        assert_eq!((graph.context_max, graph.layers()), (Some(512), 2));
        let layer = 2 * (64 * 64 * 2 + 32 * 64 * 2 + 3 * 64 * 128) / 32 * 18;
        assert_eq!(stored_bytes(&graph), 6_800 + 12_800 + 256 + layer + 4 * 256);
        assert_eq!(operator(&graph, Site::MlpOutput).dtype, Dtype::Q4_0);
        assert_eq!(operator(&graph, Site::Embedding).dtype, Dtype::Q8_0);
        assert_eq!(graph.quantization.as_ref().unwrap().dtype, Dtype::Q4_0);
    }
}

#[test]
fn gguf_of_an_unknown_architecture_is_read_from_its_tensors() {
    let file = Gguf::new("brandnew")
        .number("brandnew.attention.head_count", 2)
        .tensor("token_embd.weight", &[64, 10], 1, 1_280)
        .tensor("blk.0.attn_q.weight", &[64, 64], 1, 8_192)
        .tensor("blk.0.attn_k.weight", &[64, 64], 1, 8_192)
        .tensor("blk.0.attn_output.weight", &[64, 64], 1, 8_192)
        .finish();
    let graph = read(&MemoryFiles::new().with("x.gguf", file), "x.gguf");
    assert_eq!((graph.family.as_str(), graph.certainty), ("brandnew", Certainty::Inferred));
    assert_eq!(graph.parameters(), 640 + 3 * 4_096);
    let OpKind::Attention(core) = &operator(&graph, Site::AttentionCore).kind else { panic!("no attention") };
    assert_eq!((core.heads, core.qk_dim), (2, 32));
}

#[test]
fn gguf_parts_are_read_together() {
    let first = Gguf::new("x").tensor("token_embd.weight", &[4, 10], 0, 160).finish();
    let second = Gguf::new("x").tensor("output.weight", &[4, 10], 0, 160).finish();
    let files = MemoryFiles::new().with("m/x-00001-of-00002.gguf", first).with("m/x-00002-of-00002.gguf", second);
    assert_eq!(read(&files, "m").parameters(), 80);
    assert_eq!(read(&files, "m/x-00001-of-00002.gguf").parameters(), 80);
}

#[test]
fn an_onnx_classifier_scales_with_the_picture() {
    let graph = read(&MemoryFiles::new().with("net.onnx", classifier_onnx()), "net.onnx");
    assert_eq!((graph.kind, graph.certainty, graph.origin), (ModelKind::Vision, Certainty::Exact, Origin::Onnx));
    // Running statistics of the norm are not parameters.
    assert_eq!(graph.parameters(), 8 * 27 + 8 + 16 + 90);
    assert_eq!((graph.native_shape.height, graph.native_shape.width), (224, 224));
    let conv = 2.0 * 112.0 * 112.0 * 8.0 * 27.0;
    let head = 2.0 * 80.0;
    assert_eq!(graph.flops(&graph.native_shape).0, conv + head);
    let double = Shape { height: 448, width: 448, ..graph.native_shape };
    assert_eq!(graph.flops(&double).0, 4.0 * conv + head);
    assert_eq!(stored_bytes(&graph), 4 * (216 + 8 + 4 * 8 + 90));
}

#[test]
fn a_computed_kernel_costs_time_and_its_bias_is_a_parameter() {
    let nodes = [
        node("ConstantOfShape", "fill", &["sizes"], &["kernel"]),
        node("Conv", "conv", &["image", "kernel", "bias"], &["map"]).message(5, &ints("pads", &[1, 1, 1, 1])),
    ];
    let tensors = [numbers("sizes", &[8, 3, 3, 3]), weight("bias", &[8])];
    let inputs = [value("image", 1, &[1, 3, 32, 32])];
    let file = model(&graph(&nodes, &tensors, &inputs, &[value("map", 1, &[1, 8, 32, 32])]));
    let graph = read(&MemoryFiles::new().with("net.onnx", file), "net.onnx");
    assert_eq!(graph.parameters(), 8);
    assert_eq!(graph.flops(&graph.native_shape).0, 2.0 * 32.0 * 32.0 * 8.0 * 27.0);
}

#[test]
fn weights_of_subgraphs_count_as_parameters() {
    let constant = node("Constant", "w", &[], &["w"])
        .message(5, &Message::new().text(1, "value").message(5, &weight("", &[16, 16])));
    let branch = graph(&[constant], &[weight("b", &[16])], &[], &[]);
    let branches = node("If", "if", &["condition"], &["out"])
        .message(5, &Message::new().text(1, "then_branch").message(6, &branch));
    let file = model(&graph(&[branches], &[], &[], &[]));
    let graph = read(&MemoryFiles::new().with("net.onnx", file), "net.onnx");
    assert_eq!(graph.parameters(), 16 * 16 + 16);
    assert_eq!(stored_bytes(&graph), 4 * 272);
    assert!(graph.unknowns.iter().any(|note| note.what.contains("operator If")), "{:?}", graph.unknowns);
    let summary = graph.summary();
    assert_eq!((summary.flops, summary.opaque_operators), (None, 1), "work that is not known is not zero");
}

#[test]
fn work_beside_a_loop_is_a_floor() {
    let body = graph(&[node("MatMul", "inner", &["x", "w"], &["y"])], &[weight("w", &[4, 4])], &[], &[]);
    let nodes = [
        node("MatMul", "m", &["rows", "v"], &["state"]),
        node("Loop", "loop", &["trips", "", "state"], &["out"])
            .message(5, &Message::new().text(1, "body").message(6, &body)),
    ];
    let file = model(&graph(&nodes, &[weight("v", &[4, 4])], &[value("rows", 1, &[1, 4])], &[]));
    let summary = read(&MemoryFiles::new().with("net.onnx", file), "net.onnx").summary();
    assert_eq!((summary.flops.map(|flops| flops.0), summary.opaque_operators), (Some(2.0 * 16.0), 1));
}

#[test]
fn onnx_attention_is_recognised_and_scales_with_the_sequence() {
    let graph = read(&MemoryFiles::new().with("enc.onnx", encoder_onnx()), "enc.onnx");
    assert_eq!(graph.kind, ModelKind::TextEncoder);
    assert_eq!(graph.certainty, Certainty::Exact, "{:?}", graph.unknowns);
    assert_eq!(graph.parameters(), 50 * 64 + 4 * 64 * 64 + 3 * 64 + 128);
    assert_eq!((graph.vocabulary, graph.hidden, graph.layers()), (Some(50), Some(64), 1));
    let OpKind::Attention(core) = &operator(&graph, Site::AttentionCore).kind else { panic!("no attention") };
    assert_eq!((core.heads, core.qk_dim, core.v_dim), (4, 16, 16));
    assert_eq!(operator(&graph, Site::AttentionInput).extent, Extent::Tokens);
    let shape = Shape { tokens: 10, outputs: 1, ..Shape::default() };
    assert_eq!(graph.flops(&shape).0, 2.0 * 10.0 * 4.0 * 64.0 * 64.0 + 4.0 * 10.0 * 10.0 * 64.0);
}

#[test]
fn a_path_wins_over_a_preset_and_a_count_is_a_count() {
    let files = MemoryFiles::new().with("gpt2/config.json", LLAMA_CONFIG.as_bytes());
    assert_eq!(ModelSource::parse("gpt2", &files), Ok(ModelSource::Path("gpt2".to_owned())));
    let none = MemoryFiles::new();
    assert_eq!(ModelSource::parse("gpt2", &none), Ok(ModelSource::Preset("gpt2".to_owned())));
    assert_eq!(ModelSource::parse("resnet50", &none), Ok(ModelSource::Preset("resnet50".to_owned())));
    assert_eq!(ModelSource::parse("7B", &none), Ok(ModelSource::ParameterCount { parameters: 7_000_000_000 }));
    assert_eq!(read(&none, "7B").parameters(), 7_000_000_000);
    assert!(matches!(ModelSource::parse("./absent", &none), Err(ModelError::Unreadable { .. })));
    match ModelSource::parse("Qwen2.5-7BB", &none) {
        Err(ModelError::NotFound { similar, .. }) => assert!(!similar.is_empty()),
        other => panic!("{other:?}"),
    }
}
