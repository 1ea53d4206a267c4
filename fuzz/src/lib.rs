//! One entry for each reader of model files: any bytes go in, and nothing may come out but an answer.
//!
//! The fuzz targets call these with what libFuzzer finds; the tests of `hob-model` call the same entries with mutated valid
//! files, so that they run on every change and without a fuzzer.

use hob_model::{MemoryFiles, ModelGraph, read_config_bytes, read_model};

/// A safetensors file.
pub fn safetensors(bytes: &[u8]) {
    file("a.safetensors", bytes);
}

/// The index of a sharded checkpoint, beside one real shard.
pub fn safetensors_index(bytes: &[u8]) {
    let header = br#"{"a.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let shard = [(header.len() as u64).to_le_bytes().as_slice(), header, &[0; 8]].concat();
    let files = MemoryFiles::new()
        .with("m/model-00001-of-00002.safetensors", shard)
        .with("m/model.safetensors.index.json", bytes);
    if let Ok(graph) = read_model("m", &files) {
        check_bounded(&graph, bytes.len());
    }
}

/// A GGUF file.
pub fn gguf(bytes: &[u8]) {
    file("a.gguf", bytes);
}

/// An ONNX file.
pub fn onnx(bytes: &[u8]) {
    file("a.onnx", bytes);
}

/// A `config.json`.
pub fn config(bytes: &[u8]) {
    if let Ok(graph) = read_config_bytes("config.json", "m", bytes) {
        check_bounded(&graph, bytes.len());
    }
}

fn file(name: &str, bytes: &[u8]) {
    if let Ok(graph) = read_model(name, &MemoryFiles::new().with(name, bytes)) {
        check_bounded(&graph, bytes.len());
    }
}

/// What a reader made of the bytes can be folded and printed, and is no larger than the bytes deserve.
fn check_bounded(graph: &ModelGraph, bytes: usize) {
    let text = serde_json::to_string(&graph.summary()).unwrap_or_default();
    assert!(!text.is_empty(), "the summary cannot be printed");
    assert!(text.len() < 100_000 + 100 * bytes, "{} bytes of summary for {bytes} bytes of file", text.len());
    assert!(graph.unknowns.len() < 1_000 + bytes, "{} notes for {bytes} bytes of file", graph.unknowns.len());
    let figures = [graph.flops(&graph.native_shape).0, graph.kv_bytes(1_000, 16.0).0 as f64];
    assert!(figures.iter().all(|figure| *figure >= 0.0), "negative or no numbers: {figures:?}");
    let _ = (graph.layers(), graph.active_parameters());
}
