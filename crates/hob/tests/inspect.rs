//! `hob inspect` through the built binary: samples of what it prints, and every preset in both languages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests read samples and start the binary")]

use std::path::Path;
use std::process::Command;

use hob_model::{VISION_PRESETS, preset_names};
use serde_json::Value;
use textwrap::core::display_width;

/// Columns that every table and sentence fits.
const WIDTH_MAX: usize = 100;

fn inspect(model: &str, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_hob")).args(["inspect", model]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{model}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Compares what is printed with the sample; `HOB_BLESS=1` writes the sample.
fn check(name: &str, model: &str) {
    for language in ["en", "zh"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/inspect-{name}-{language}.txt"));
        let printed = inspect(model, &["--lang", language]);
        if std::env::var_os("HOB_BLESS").is_some() {
            std::fs::write(&path, &printed).unwrap();
        }
        assert_eq!(printed, std::fs::read_to_string(&path).unwrap(), "{model} in {language}\n{printed}");
    }
}

#[test]
fn samples_are_as_before() {
    check("dense", "Qwen/Qwen2.5-7B");
    check("mixture", "openai/gpt-oss-20b");
    check("tower", "google/gemma-3-4b-it");
    check("diffusion", "sdxl");
    check("count", "7B");
}

#[test]
fn every_preset_fits_in_both_languages() {
    for model in preset_names().chain(VISION_PRESETS) {
        for language in ["en", "zh"] {
            let printed = inspect(model, &["--lang", language]);
            for line in printed.lines() {
                assert!(display_width(line) <= WIDTH_MAX, "{model} in {language}: {line}");
                assert!(!line.contains("{inspect") && line == line.trim_end(), "{model} in {language}: {line:?}");
            }
        }
    }
}

#[test]
fn json_holds_the_same_figures() {
    let document: Value = serde_json::from_str(&inspect("openai/gpt-oss-20b", &["--json"])).unwrap();
    assert_eq!(document["schema"], "hob.inspect/1");
    assert_eq!(document["parameters"], 20_914_757_184_u64);
    assert_eq!(document["kv_bytes_per_token"], 24 * 8 * 64 * 2 * 2);
    assert_eq!(document["quantization"]["dtype"], "mxfp4");
    let of_parts: u64 =
        document["parts"].as_array().unwrap().iter().map(|part| part["parameters"].as_u64().unwrap()).sum();
    assert_eq!(of_parts, 20_914_757_184);
    let names: Vec<String> = document.as_object().unwrap().keys().cloned().collect();
    assert!(names.contains(&"unknowns".to_owned()) && names.contains(&"companions".to_owned()), "{names:?}");
}
