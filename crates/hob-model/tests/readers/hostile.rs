//! Broken and hostile files: an error that names the file. That time and memory are bounded is shown where the binary is
//! tested, under limits of the operating system; here the test runner ends what hangs.

use std::io::{Seek, SeekFrom, Write};

use hob_model::{DiskFiles, MemoryFiles, ModelError, ModelGraph, read_model};

use crate::samples::{
    LLAMA_CONFIG, classifier_onnx, cyclic_onnx, deep_onnx, encoder_onnx, llama_gguf, llama_safetensors,
    tiny_safetensors,
};
use crate::writers::{Gguf, Message, graph, model, node, safetensors, safetensors_raw, tensor, weight};

fn read(name: &str, bytes: Vec<u8>) -> Result<ModelGraph, ModelError> {
    read_model(name, &MemoryFiles::new().with(name, bytes))
}

/// The file is refused with words that say why.
fn check(name: &str, bytes: impl Into<Vec<u8>>, expected: &str) {
    match read(name, bytes.into()) {
        Ok(graph) => panic!("{name}: accepted ({expected}): {:?}", graph.unknowns),
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains(name) && text.contains(expected), "`{text}` lacks `{expected}` or the path");
            assert!(text.len() < 2_000, "an error of {} bytes", text.len());
        }
    }
}

#[test]
fn empty_files() {
    for name in ["a.safetensors", "a.gguf", "a.onnx", "config.json", "a"] {
        check(name, [], "empty");
    }
    check("blank.json", "{", "EOF");
    check("blank.json", " \n ", "empty");
}

/// A cut file is an error or, where the format allows it, another model; never a panic.
fn check_cut(name: &str, bytes: &[u8]) {
    for length in 0..bytes.len() {
        let result = read(name, bytes[..length].to_vec());
        if name.ends_with("safetensors") || name.ends_with("gguf") {
            assert!(result.is_err(), "{name} cut to {length} of {} bytes is accepted", bytes.len());
        }
    }
}

#[test]
fn files_cut_at_every_byte() {
    check_cut("tiny.safetensors", &tiny_safetensors());
    // Eight floats fill the last block, so that no byte is padding that a reader may do without.
    check_cut("tiny.gguf", &Gguf::new("x").number("x.a", 1).tensor("b", &[8], 0, 32).finish());
    check_cut("net.onnx", &classifier_onnx());
    check_cut("enc.onnx", &encoder_onnx()[..2_000]);
    check_cut("config.json", LLAMA_CONFIG.as_bytes());
}

#[test]
fn safetensors_claims() {
    let claim = |length: u64, rest: &[u8]| [length.to_le_bytes().as_slice(), rest].concat();
    check("a.safetensors", claim(u64::MAX, b"{}"), "more than the limit");
    check("a.safetensors", claim(1_000, b"{}"), "claims 1000 bytes");
    check("a.safetensors", claim(2, b"[]"), "does not begin");
    check("a.safetensors", claim(0, b""), "ends inside");
    check("a.safetensors", claim(2, b"{}"), "no tensor");
    check("a.safetensors", claim(4, b"{\"\xff\""), "UTF-8");
    let one = |body: &str| safetensors_raw(&format!("{{\"a\":{body}}}"));
    check("a.safetensors", one(r#"{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,0]}"#), "need");
    check("a.safetensors", one(r#"{"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,0]}"#), "2^64");
    check("a.safetensors", one(r#"{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}"#), "not as it should be");
    check("a.safetensors", one(r#"{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}"#), "not as it should be");
    check("a.safetensors", one(r#"{"dtype":"F32","shape":[1],"data_offsets":[4,0]}"#), "before it begins");
    check("a.safetensors", one(r#"{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#), "cut short");
    check("a.safetensors", one(r#"{"dtype":"F32","shape":[1]}"#), "no `data_offsets`");
    check(
        "a.safetensors",
        one(&format!(r#"{{"dtype":"F32","shape":{:?},"data_offsets":[0,4]}}"#, [1; 40])),
        "more than 32",
    );
    check("a.safetensors", safetensors_raw("{\"a\":1}"), "not as it should be");
    let twice =
        r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#;
    check("a.safetensors", safetensors_raw(twice), "stands twice");
    check("a.safetensors", safetensors_raw(&("{\"__metadata__\":".to_owned() + &"[".repeat(200_000))), "EOF");
    check("a.safetensors", one(&"[".repeat(100_000)), "not as it should be");
}

#[test]
fn odd_safetensors_are_read_with_notes() {
    let unknown = safetensors(&[("a.weight", "F3_E1M1", &[8], 3)]);
    let graph = read("a.safetensors", unknown).unwrap();
    assert!(graph.unknowns.iter().any(|note| note.what.contains("F3_E1M1")), "{:?}", graph.unknowns);
    let mut hole = safetensors(&[("a.weight", "U8", &[8], 8)]);
    hole.extend([0; 5]);
    let graph = read("a.safetensors", hole).unwrap();
    assert!(
        graph.unknowns.iter().any(|note| note.what.contains("5 bytes belong to no tensor")),
        "{:?}",
        graph.unknowns
    );
}

#[test]
fn many_distinct_layers_are_read() {
    let names: Vec<String> = (0..20_000).map(|layer| format!("layers.{layer}.mlp.up_proj.weight")).collect();
    let shapes: Vec<[u64; 2]> = (0..20_000).map(|layer| [layer % 1_000, 0]).collect();
    let tensors: Vec<_> =
        names.iter().zip(&shapes).map(|(name, shape)| (name.as_str(), "F32", shape.as_slice(), 0)).collect();
    assert!(read("a.safetensors", safetensors(&tensors)).is_ok());
}

#[test]
fn gguf_claims() {
    let head = |version: u32, tensors: u64, keys: u64| {
        [b"GGUF".as_slice(), &version.to_le_bytes(), &tensors.to_le_bytes(), &keys.to_le_bytes()].concat()
    };
    check("a.gguf", head(9, 0, 0), "version 9");
    check("a.gguf", head(3, 1 << 63, 0), "more than the limit");
    check("a.gguf", head(3, 0, 1 << 63), "more than the limit");
    check("a.gguf", head(3, 500_000, 0), "bytes are left");
    check("a.gguf", head(3, 0, 0), "no tensor");
    check("a.gguf", b"GGXX", "does not begin with `GGUF`");
    let array = |kind: u32, count: u64| [kind.to_le_bytes().as_slice(), &count.to_le_bytes()].concat();
    check("a.gguf", Gguf::new("x").raw("k", 9, &array(4, 1 << 62)).finish(), "bytes are left");
    check("a.gguf", Gguf::new("x").raw("k", 9, &array(8, 1 << 40)).finish(), "bytes are left");
    check("a.gguf", Gguf::new("x").raw("k", 99, &[]).finish(), "metadata type 99");
    let nested: Vec<u8> = (0..50).flat_map(|_| array(9, 1)).collect();
    check("a.gguf", Gguf::new("x").raw("k", 9, &nested).finish(), "nested deeper");
    check("a.gguf", Gguf::new("x").number("k", 1).number("k", 2).finish(), "stands twice");
    check("a.gguf", Gguf::new("x").number("general.alignment", 0).finish(), "alignment");
    check("a.gguf", Gguf::new("x").tensor("t", &[u64::MAX, 2], 0, 0).finish(), "2^64");
    check("a.gguf", Gguf::new("x").tensor("t", &[1 << 40], 0, 0).finish(), "cut short");
    check("a.gguf", Gguf::new("x").tensor("t", &[33], 2, 0).finish(), "multiple of 32");
    check("a.gguf", Gguf::new("x").tensor("t", &[1; 9], 0, 0).finish(), "tensor rank");
    check("a.gguf", Gguf::new("x").tensor("t", &[1], 0, 4).tensor("t", &[1], 0, 4).finish(), "stands twice");
    let key_bytes = [1_u64.to_le_bytes().as_slice(), b"\xff"].concat();
    check("a.gguf", [head(3, 0, 1), key_bytes, vec![0; 16]].concat(), "UTF-8");
}

#[test]
fn onnx_claims() {
    check("a.onnx", cyclic_onnx(), "cycle");
    let twice = [node("Relu", "a", &["x"], &["y"]), node("Relu", "b", &["x"], &["y"])];
    check("a.onnx", model(&graph(&twice, &[], &[], &[])), "made by two");
    let itself = [node("Relu", "a", &["y"], &["y"])];
    check("a.onnx", model(&graph(&itself, &[], &[], &[])), "cycle");
    check("a.onnx", deep_onnx(30), "nested deeper");
    assert!(read("a.onnx", deep_onnx(5)).is_ok());
    check("a.onnx", Message::new().int(1, 9).0, "no graph");
    check("a.onnx", b"\x08\x09\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "claims");
    check("a.onnx", [0x08; 1], "ends inside");
    check("a.onnx", [0x0b, 0x0b], "wire type 3");
    check("a.onnx", [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], "64 bits");
    let negative = tensor("w", 1, &[-5], &[]);
    check("a.onnx", model(&graph(&[], &[negative], &[], &[])), "negative");
    let huge = tensor("w", 1, &[1 << 40, 1 << 40], &[]);
    check("a.onnx", model(&graph(&[], &[huge], &[], &[])), "2^64");
    let short = tensor("w", 1, &[10], &[0; 8]);
    check("a.onnx", model(&graph(&[], &[short], &[], &[])), "need 40");
    let name = Message::new().bytes(8, b"\xff\xfe").int(2, 1);
    check("a.onnx", model(&graph(&[], &[name], &[], &[])), "UTF-8");
}

#[test]
fn unknown_onnx_operators_are_listed() {
    let nodes = [node("Teleport", "t", &["x", "w"], &["y"]), node("MatMul", "m", &["y", "v"], &["z"])];
    let tensors = [weight("w", &[3, 4]), weight("v", &[4, 5])];
    let graph = read("a.onnx", model(&graph(&nodes, &tensors, &[], &[]))).unwrap();
    assert!(graph.unknowns.iter().any(|note| note.what.contains("Teleport")), "{:?}", graph.unknowns);
    assert_eq!(graph.parameters(), 32);
    let alone =
        read("a.onnx", model(&crate::writers::graph(&[node("Relu", "r", &["x"], &["y"])], &[], &[], &[]))).unwrap();
    assert!(alone.flops(&alone.native_shape).0.is_sign_positive(), "minus nothing");
}

#[test]
fn hostile_configs() {
    check("config.json", "[1,2]", "not an object");
    check("deep.json", "{\"a\":".repeat(100_000), "recursion");
    check("a.json", b"{\"model_type\":\"\xff\"}".as_slice(), "UTF-8");
    check("a.json", LLAMA_CONFIG.replace("\"hidden_size\":64", "\"hidden_size\":-5"), "hidden_size");
    let nan = LLAMA_CONFIG.replace("1e-5", "NaN");
    let graph = read("a.json", nan.into_bytes()).unwrap();
    assert!(graph.unknowns.iter().any(|note| note.what.contains("NaN")), "{:?}", graph.unknowns);
}

#[test]
fn files_of_other_kinds_are_named() {
    check("a.bin", b"PK\x03\x04rest".as_slice(), "PyTorch pickle");
    check(
        "model.safetensors",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n".as_slice(),
        "git lfs pull",
    );
    check("a.h5", b"\x89HDF\r\n".as_slice(), "HDF5");
}

/// Ten gigabytes of nothing behind a header that claims everything.
fn check_sparse(name: &str, head: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(head).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    if file.set_len(10_000_000_000).is_err() {
        println!("skipped: the file system holds no sparse file of 10 GB");
        return;
    }
    let result = read_model(path.to_str().unwrap(), &DiskFiles);
    assert!(result.is_err(), "{name}: {result:?}");
}

#[test]
fn sparse_files_of_ten_gigabytes() {
    check_sparse("zero.safetensors", &[]);
    check_sparse("most.safetensors", &[100_000_000_u64.to_le_bytes().as_slice(), b"{"].concat());
    let head = |tensors: u64, keys: u64| {
        [b"GGUF".as_slice(), &3_u32.to_le_bytes(), &tensors.to_le_bytes(), &keys.to_le_bytes()].concat()
    };
    check_sparse("tensors.gguf", &head(1 << 63, 0));
    check_sparse("most.gguf", &head(500_000, 0));
    check_sparse("keys.gguf", &head(0, 100_000));
    let key = [1_u64.to_le_bytes().as_slice(), b"k", &9_u32.to_le_bytes(), &8_u32.to_le_bytes()].concat();
    check_sparse("texts.gguf", &[head(0, 1), key.clone(), (1_u64 << 30).to_le_bytes().to_vec()].concat());
    check_sparse("walk.gguf", &[head(0, 2), key, 8_000_000_u64.to_le_bytes().to_vec()].concat());
    check_sparse("zero.onnx", &[]);
    // A graph of nearly the whole file, then zeros where fields should be.
    check_sparse("graph.onnx", &[0x08, 0x09, 0x3a, 0x80, 0xc0, 0xaf, 0xa0, 0x25]);
    check_sparse("config.json", b"{");
}

#[test]
fn valid_files_survive_beside_garbage() {
    let files = MemoryFiles::new()
        .with("m/config.json", LLAMA_CONFIG.as_bytes())
        .with("m/model.safetensors", llama_safetensors())
        .with("m/notes.gguf", b"garbage".as_slice())
        .with("m/x.onnx", llama_gguf());
    assert!(read_model("m", &files).is_ok());
}
