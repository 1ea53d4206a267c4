//! `hob plan` as a user runs it: every example, both languages, text and JSON, and what it says when nothing works.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn hob(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hob")).args(arguments).env_remove("HOB_LANG").env("LC_ALL", "C").output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    found.sort();
    found
}

/// Columns that a line takes: Chinese characters take two.
fn columns(line: &str) -> usize {
    line.chars().map(|character| if u32::from(character) >= 0x1100 { 2 } else { 1 }).sum()
}

/// Prefixes of message ids: one that shows means that a sentence is missing.
const ID_PREFIXES: [&str; 10] =
    ["plan-", "note-", "path-", "warning-", "change-", "goal-", "reject-", "unit-", "column-", "charge-"];

#[test]
fn every_example_plans_in_both_languages() {
    for file in examples() {
        let file = file.to_str().unwrap();
        for language in ["en", "zh"] {
            let output = hob(&["plan", file, "--lang", language]);
            let text = text(&output);
            assert_eq!(output.status.code(), Some(0), "{file}: {}", String::from_utf8_lossy(&output.stderr));
            for line in text.lines() {
                // Commands are copied as they are, so they are never broken.
                let is_command = line.starts_with("       ") || line.contains("hob plan");
                assert!(is_command || columns(line) <= 100, "{file} {language}: {line}");
                let is_id = |word: &str| ID_PREFIXES.iter().any(|prefix| word.starts_with(prefix));
                assert!(is_command || !line.split_whitespace().any(is_id), "{file} {language}: {line}");
            }
        }
    }
}

#[test]
fn the_same_input_gives_the_same_document() {
    for file in examples() {
        let file = file.to_str().unwrap();
        let first = hob(&["plan", file, "--json"]);
        let document: serde_json::Value = serde_json::from_slice(&first.stdout).unwrap();
        assert_eq!(document["schema"], "hob.plan/1", "{file}");
        let priced = document["ranked"].as_array().unwrap().len();
        let unpriced = document["unpriced"].as_array().unwrap().len();
        assert!(priced + unpriced > 0, "{file}");
        assert_eq!(first.stdout, hob(&["plan", file, "--json"]).stdout, "{file}");
    }
}

/// Plans a workload file of this text.
fn plan(workload: &str, flags: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hob.toml");
    std::fs::write(&file, workload).unwrap();
    hob(&[&["plan", file.to_str().unwrap()], flags].concat())
}

const TOO_LARGE: &str = r#"
kind = "serve"
model = "meta-llama/Meta-Llama-3.1-405B"
[traffic]
rate = "1 req/s"
prompt = "500 tokens"
output = "100 tokens"
[where]
clouds = ["tencent"]
[constraints]
gpus = ["T4"]
max_gpus = 2
"#;

#[test]
fn when_nothing_fits_the_nearest_changes_are_named() {
    let output = plan(TOO_LARGE, &[]);
    assert_eq!(output.status.code(), Some(3));
    let text = text(&output);
    assert!(text.contains("Nothing that is allowed can do this work."), "{text}");
    assert!(text.contains("int4 weights: "), "{text}");
    assert!(text.contains("any GPU and instance type: "), "{text}");
    let document: serde_json::Value = serde_json::from_slice(&plan(TOO_LARGE, &["--json"]).stdout).unwrap();
    assert!(!document["changes"].as_array().unwrap().is_empty());
}

#[test]
fn explain_shows_the_arithmetic_of_one_offer() {
    let file = examples().into_iter().find(|path| path.ends_with("essay-grader.toml")).unwrap();
    let file = file.to_str().unwrap();
    let shown = text(&hob(&["plan", file, "--explain", "1"]));
    for wanted in ["weights = ", "Latency", "all machines for an hour"] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    for number in ["0", "99999"] {
        let output = hob(&["plan", file, "--explain", number]);
        assert_eq!(output.status.code(), Some(2), "{number}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("E-NO-OFFER"), "{number}");
    }
}

#[test]
fn an_error_is_a_document_too() {
    let output = plan("kind = \"serve\"\nmodel = \"no-such-model\"\n[traffic]\nrate = \"1 req/s\"\n", &["--json"]);
    assert_eq!(output.status.code(), Some(2));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "hob.error/1");
    assert_eq!(document["code"], "E-MODEL-NOT-FOUND");
    assert_eq!(document["exit_code"], 2);
}

/// A flagship card for a small model is told, with what another card would cost.
#[test]
fn a_dear_restriction_is_told() {
    let workload = r#"
kind = "serve"
stage = "dev"
model = "Qwen/Qwen2.5-0.5B"
[traffic]
rate = "1 req/s"
prompt = "200 tokens"
output = "50 tokens"
[constraints]
gpus = ["H100"]
[where]
clouds = ["gcp"]
"#;
    let shown = text(&plan(workload, &[]));
    assert!(shown.contains("meets the same goals for"), "{shown}");
}

/// Three requests on machines of eight GPUs: five of them would stand idle.
#[test]
fn a_small_offline_job_has_no_idle_replicas() {
    let workload = r#"
kind = "batch"
task = "llm"
stage = "dev"
model = "Qwen/Qwen2.5-0.5B"
[batch]
amount = "3 items"
[traffic]
prompt = "200 tokens"
output = "50 tokens"
[where]
clouds = ["aws", "gcp"]
"#;
    for deadline in ["", "[objective]\ndeadline = \"20 s\"\n"] {
        let output = plan(&format!("{workload}{deadline}"), &["--json"]);
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let ranked = document["ranked"].as_array().unwrap().iter();
        let choices: Vec<&serde_json::Value> = ranked.flat_map(|group| group["choices"].as_array().unwrap()).collect();
        assert!(!choices.is_empty(), "{document}");
        for choice in choices {
            let replicas = choice["layout"]["replicas"].as_u64().unwrap();
            assert!((1..=3).contains(&replicas), "{choice}");
        }
    }
}
