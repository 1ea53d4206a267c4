//! Small valid files: seeds for the checks, the mutations and the fuzz targets' entries.

use crate::writers::{Gguf, Message, graph, int, ints, model, node, numbers, safetensors, value, weight};

/// Names, shapes and bytes of a small Llama in 16 bits.
pub const LLAMA: &[(&str, &[u64])] = &[
    ("model.embed_tokens.weight", &[100, 64]),
    ("model.layers.0.self_attn.q_proj.weight", &[64, 64]),
    ("model.layers.0.self_attn.k_proj.weight", &[32, 64]),
    ("model.layers.0.self_attn.v_proj.weight", &[32, 64]),
    ("model.layers.0.self_attn.o_proj.weight", &[64, 64]),
    ("model.layers.0.mlp.gate_proj.weight", &[128, 64]),
    ("model.layers.0.mlp.up_proj.weight", &[128, 64]),
    ("model.layers.0.mlp.down_proj.weight", &[64, 128]),
    ("model.layers.0.input_layernorm.weight", &[64]),
    ("model.layers.0.post_attention_layernorm.weight", &[64]),
    ("model.layers.1.self_attn.q_proj.weight", &[64, 64]),
    ("model.layers.1.self_attn.k_proj.weight", &[32, 64]),
    ("model.layers.1.self_attn.v_proj.weight", &[32, 64]),
    ("model.layers.1.self_attn.o_proj.weight", &[64, 64]),
    ("model.layers.1.mlp.gate_proj.weight", &[128, 64]),
    ("model.layers.1.mlp.up_proj.weight", &[128, 64]),
    ("model.layers.1.mlp.down_proj.weight", &[64, 128]),
    ("model.layers.1.input_layernorm.weight", &[64]),
    ("model.layers.1.post_attention_layernorm.weight", &[64]),
    ("model.norm.weight", &[64]),
    ("lm_head.weight", &[100, 64]),
];

/// The config of the same model.
pub const LLAMA_CONFIG: &str = r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":64,
"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100,
"max_position_embeddings":512,"rms_norm_eps":1e-5,"tie_word_embeddings":false,"torch_dtype":"bfloat16"}"#;

/// Parameters of the same model: 2 x 6,400 + 2 x (12,288 + 24,576 + 128) + 64.
pub const LLAMA_PARAMETERS: u64 = 2 * 6_400 + 2 * (64 * 64 * 2 + 32 * 64 * 2 + 3 * 64 * 128 + 128) + 64;

pub fn llama_safetensors() -> Vec<u8> {
    let tensors: Vec<(&str, &str, &[u64], u64)> =
        LLAMA.iter().map(|(name, shape)| (*name, "BF16", *shape, 2 * shape.iter().product::<u64>())).collect();
    safetensors(&tensors)
}

/// A tiny safetensors file for cutting at every byte.
pub fn tiny_safetensors() -> Vec<u8> {
    safetensors(&[("a.weight", "F32", &[2, 3], 24), ("b.bias", "I8", &[4], 4)])
}

/// The same Llama as GGUF, in a mix of types.
pub fn llama_gguf() -> Vec<u8> {
    llama_keys(Gguf::new("llama")).finish()
}

pub fn llama_gguf_big_endian() -> Vec<u8> {
    llama_keys(Gguf::big_endian("llama")).finish()
}

fn llama_keys(file: Gguf) -> Gguf {
    let mut file = file
        .number("llama.block_count", 2)
        .number("llama.embedding_length", 64)
        .number("llama.feed_forward_length", 128)
        .number("llama.attention.head_count", 4)
        .number("llama.attention.head_count_kv", 2)
        .number("llama.context_length", 512)
        .texts("tokenizer.ggml.tokens", &["a", "b", "c"])
        .tensor("token_embd.weight", &[64, 100], 8, 100 * 68)
        .tensor("output.weight", &[64, 100], 1, 100 * 128)
        .tensor("output_norm.weight", &[64], 0, 256);
    for layer in 0..2 {
        for (name, sizes) in [
            ("attn_q", [64_u64, 64]),
            ("attn_k", [64, 32]),
            ("attn_v", [64, 32]),
            ("attn_output", [64, 64]),
            ("ffn_gate", [64, 128]),
            ("ffn_up", [64, 128]),
            ("ffn_down", [128, 64]),
        ] {
            let bytes = sizes[0] * sizes[1] / 32 * 18;
            file = file.tensor(&format!("blk.{layer}.{name}.weight"), &sizes, 2, bytes);
        }
        for name in ["attn_norm", "ffn_norm"] {
            file = file.tensor(&format!("blk.{layer}.{name}.weight"), &[64], 0, 256);
        }
    }
    file
}

/// A small image classifier: convolution, batch norm, ReLU, a pooled product, with free batch and picture axes.
pub fn classifier_onnx() -> Vec<u8> {
    let conv = node("Conv", "/stem/conv/Conv", &["image", "w", "b"], &["c"])
        .message(5, &ints("kernel_shape", &[3, 3]))
        .message(5, &ints("pads", &[1, 1, 1, 1]))
        .message(5, &ints("strides", &[2, 2]));
    let nodes = [
        conv,
        node("BatchNormalization", "/stem/bn", &["c", "scale", "shift", "mean", "variance"], &["n"]),
        node("Relu", "/stem/act", &["n"], &["r"]),
        node("GlobalAveragePool", "/pool", &["r"], &["p"]),
        node("Flatten", "/flatten", &["p"], &["f"]),
        node("Gemm", "/head/Gemm", &["f", "v", "u"], &["logits"]).message(5, &int("transB", 1)),
    ];
    let tensors = [
        weight("w", &[8, 3, 3, 3]),
        weight("b", &[8]),
        weight("scale", &[8]),
        weight("shift", &[8]),
        weight("mean", &[8]),
        weight("variance", &[8]),
        weight("v", &[10, 8]),
        weight("u", &[10]),
    ];
    let inputs = [value("image", 1, &[-1, 3, -1, -1])];
    model(&graph(&nodes, &tensors, &inputs, &[value("logits", 1, &[-1, 10])]))
}

/// One self-attention layer written out, with a token table and shape arithmetic for the heads.
pub fn encoder_onnx() -> Vec<u8> {
    let transpose = |name: &str, from: &str, to: &str, order: &[i64]| {
        node("Transpose", name, &[from], &[to]).message(5, &ints("perm", order))
    };
    let mut nodes = vec![
        node("Gather", "/embeddings/Gather", &["table", "ids"], &["x"]),
        node("Shape", "/Shape", &["x"], &["sizes"]),
        node("Gather", "/length", &["sizes", "one"], &["length"]),
        node("Concat", "/heads", &["minus", "length", "four", "sixteen"], &["split"]).message(5, &int("axis", 0)),
    ];
    let mut tensors = vec![
        weight("table", &[50, 64]),
        numbers("one", &[1]),
        numbers("minus", &[-1]),
        numbers("four", &[4]),
        numbers("sixteen", &[16]),
        numbers("whole", &[0, 0, 64]),
        weight("wo", &[64, 64]),
        weight("gamma", &[64]),
        weight("beta", &[64]),
    ];
    for part in ["q", "k", "v"] {
        let named = |what: &str| format!("{part}{what}");
        nodes.push(node("MatMul", &format!("/layer.0/{part}_proj/MatMul"), &["x", &named("w")], &[&named("m")]));
        nodes.push(node("Add", &format!("/layer.0/{part}_proj/Add"), &[&named("b"), &named("m")], &[&named("a")]));
        nodes.push(node("Reshape", &format!("/layer.0/{part}/Reshape"), &[&named("a"), "split"], &[&named("r")]));
        let order: &[i64] = if part == "k" { &[0, 2, 3, 1] } else { &[0, 2, 1, 3] };
        nodes.push(transpose(&format!("/layer.0/{part}/Transpose"), &named("r"), &named("t"), order));
        tensors.push(weight(&named("w"), &[64, 64]));
        tensors.push(weight(&named("b"), &[64]));
    }
    nodes.extend([
        node("MatMul", "/layer.0/MatMul", &["qt", "kt"], &["scores"]),
        node("Softmax", "/layer.0/Softmax", &["scores"], &["shares"]),
        node("MatMul", "/layer.0/MatMul_1", &["shares", "vt"], &["mixed"]),
        transpose("/layer.0/Transpose", "mixed", "back", &[0, 2, 1, 3]),
        node("Reshape", "/layer.0/Reshape", &["back", "whole"], &["joined"]),
        node("MatMul", "/layer.0/o_proj/MatMul", &["joined", "wo"], &["o"]),
        node("Add", "/layer.0/Add", &["o", "x"], &["y"]),
        node("LayerNormalization", "/layer.0/norm", &["y", "gamma", "beta"], &["z"]),
    ]);
    // The joined reshape keeps zero sizes by copying them, as exporters write it.
    let inputs = [value("ids", 7, &[-1, -1])];
    model(&graph(&nodes, &tensors, &inputs, &[value("z", 1, &[-1, -1, 64])]))
}

/// A graph whose two nodes wait for each other.
pub fn cyclic_onnx() -> Vec<u8> {
    let nodes = [node("Relu", "first", &["b"], &["a"]), node("Relu", "second", &["a"], &["b"])];
    model(&graph(&nodes, &[], &[], &[]))
}

/// Subgraphs inside subgraphs.
pub fn deep_onnx(depth: usize) -> Vec<u8> {
    let mut inner = graph(&[], &[weight("w", &[2, 2])], &[], &[]);
    for _ in 0..depth {
        let branch = Message::new().text(1, "then_branch").message(6, &inner);
        inner = graph(&[node("If", "if", &["condition"], &["out"]).message(5, &branch)], &[], &[], &[]);
    }
    model(&inner)
}
