//! Broken and hostile model files, through the built binary: exit code 2, an error that names the file, a hint, and bounded
//! time and memory. `ulimit` ends a process that takes more, so that no clock is read here.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests write files and start the binary")]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

/// Seconds of processor time: real files take milliseconds, and test builds are slow.
const CPU_SECONDS_MAX: u32 = 20;
/// Address space. A tenth of the largest file fed here.
const MEMORY_KIB_MAX: u32 = 1 << 20;
/// An error is read by a person.
const ERROR_BYTES_MAX: usize = 2_000;
/// The file whose header claims more than any file holds.
const HUGE_BYTES: u64 = 10_000_000_000;

fn inspect(path: &Path, language: &str) -> Output {
    Command::new("sh")
        .args(["-c", "ulimit -t \"$1\" && ulimit -v \"$2\" && shift 2 && exec \"$@\"", "sh"])
        .args([CPU_SECONDS_MAX.to_string(), MEMORY_KIB_MAX.to_string()])
        .args([env!("CARGO_BIN_EXE_hob"), "--lang", language, "inspect"])
        .arg(path)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap()
}

/// Both languages refuse the file at `path` in the same manner.
fn check_path(path: &Path) {
    let name = path.file_name().unwrap().to_str().unwrap();
    for (language, heading, hint) in [("en", "error[E-", "hint: "), ("zh", "错误[E-", "提示: ")] {
        let output = inspect(path, language);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name} in {language}: {stderr}");
        assert!(output.stdout.is_empty(), "{name}: {:?}", String::from_utf8_lossy(&output.stdout));
        assert!(stderr.starts_with(heading) && stderr.contains(name), "{name} in {language}: {stderr}");
        assert!(stderr.lines().any(|line| line.starts_with(hint)), "{name} in {language} has no hint: {stderr}");
        assert!(!stderr.contains("panicked"), "{name}: {stderr}");
        assert!(stderr.len() < ERROR_BYTES_MAX, "{name}: an error of {} bytes", stderr.len());
        let is_plain = |letter: char| letter == '\n' || !letter.is_control();
        assert!(stderr.chars().all(is_plain), "{name}: control characters reach the terminal: {stderr:?}");
    }
}

fn check(name: &str, bytes: impl AsRef<[u8]>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    check_path(&path);
}

/// The same start, and a hole up to ten gigabytes behind it.
fn check_huge(name: &str, start: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut file = File::create(&path).unwrap();
    file.write_all(start).unwrap();
    file.set_len(HUGE_BYTES).unwrap();
    check_path(&path);
}

fn safetensors(header: &str) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
}

fn gguf(tensors: u64, keys: u64) -> Vec<u8> {
    [b"GGUF".as_slice(), &3_u32.to_le_bytes(), &tensors.to_le_bytes(), &keys.to_le_bytes()].concat()
}

/// A protobuf field of bytes, shorter than 128.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

/// An ONNX node with one input and one output.
fn relu(input: &str, output: &str) -> Vec<u8> {
    field(1, &[field(1, input.as_bytes()), field(2, output.as_bytes()), field(4, b"Relu")].concat())
}

#[test]
fn empty_files() {
    for name in ["a.safetensors", "a.gguf", "a.onnx", "config.json", "model.safetensors.index.json", "a.bin"] {
        check(name, []);
    }
}

#[test]
fn truncated_files() {
    check("a.safetensors", &safetensors(r#"{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}"#)[..30]);
    check("b.safetensors", safetensors(r#"{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}"#));
    check("a.gguf", &gguf(1, 1)[..20]);
    check("b.gguf", gguf(1, 0));
    check("a.onnx", [&[0x08, 0x09, 0x3a, 0x7f], field(1, b"").as_slice()].concat());
    check("config.json", r#"{"model_type":"llama","hidden_size":40"#);
    check("model.safetensors.index.json", r#"{"weight_map":{"a":"#);
}

#[test]
fn huge_files_whose_header_claims_more() {
    check_huge("zeros.safetensors", &[]);
    check_huge("header.safetensors", &[&u64::MAX.to_le_bytes(), b"{".as_slice()].concat());
    check_huge("longest.safetensors", &[&100_000_000_u64.to_le_bytes(), b"{".as_slice()].concat());
    check_huge("tensors.gguf", &gguf(1 << 63, 0));
    check_huge("keys.gguf", &gguf(0, 1 << 63));
    check_huge("most.gguf", &gguf(500_000, 0));
    check_huge("zeros.onnx", &[]);
    check_huge("graph.onnx", &[0x08, 0x09, 0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    check_huge("inside.onnx", &[0x08, 0x09, 0x3a, 0x80, 0xc0, 0xaf, 0xa0, 0x25]);
    check_huge("config.json", b"{");
}

#[test]
fn hostile_weights() {
    let one = |tensor: &str| safetensors(&format!(r#"{{"a":{tensor}}}"#));
    check("deep.safetensors", one(&"[".repeat(200_000)));
    check("nan.safetensors", one(r#"{"dtype":"F32","shape":[NaN],"data_offsets":[0,0]}"#));
    check("negative.safetensors", one(r#"{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}"#));
    check("product.safetensors", one(r#"{"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,0]}"#));
    check("text.safetensors", [&3_u64.to_le_bytes(), b"{\"\xff".as_slice()].concat());
    let long = format!("{}\\u001b[31m", "n".repeat(10_000));
    check(
        "name.safetensors",
        safetensors(&format!(r#"{{"{long}":{{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}}}"#)),
    );
    check("key.gguf", [gguf(0, 1), 1_u64.to_le_bytes().to_vec(), vec![0xff; 40]].concat());
    check("cycle.onnx", field(7, &[relu("b", "a"), relu("a", "b")].concat()));
    check("length.onnx", [0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    check("group.onnx", [0x0b, 0x0b]);
}

#[test]
fn hostile_configs() {
    check("deep.json", "{\"a\":".repeat(200_000));
    check("text.json", b"{\"model_type\":\"\xff\"}");
    check("list.json", "[1,2]");
    let llama = |layers: &str| {
        format!(
            r#"{{"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":{layers},
                "num_attention_heads":4,"vocab_size":100}}"#
        )
    };
    for layers in ["1000000000000", "-2", "1e300", "\"many\"", "null", "[[[[]]]]", "NaN"] {
        check("layers.json", llama(layers));
    }
    check("long.json", llama(&format!("{:?}", [1; 5_000])));
    check("kind.json", r#"{"model_type":"\u001b[31mred"}"#);
    check("model.safetensors.index.json", r#"{"weight_map":{"a":"../../secret"}}"#);
}

/// A valid file whose names carry escape sequences.
#[test]
fn names_from_a_file_do_not_steer_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    let tensor = r#"{"\u001b[31mlayers.0.\u001b[2J":{"dtype":"\u0007","shape":[1],"data_offsets":[0,0]}}"#;
    std::fs::write(&path, safetensors(tensor)).unwrap();
    let output = inspect(&path, "en");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("layers"), "{stdout}");
    assert!(stdout.chars().all(|letter| letter == '\n' || !letter.is_control()), "{stdout:?}");
}

#[test]
fn what_is_no_file() {
    check_path(Path::new("/dev/zero"));
    check_path(Path::new("/absent/model.gguf"));
    check_path(tempfile::tempdir().unwrap().path());
}
