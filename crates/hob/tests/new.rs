//! `hob new` without a terminal: what it writes runs at once, and it never writes over a file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests write files and start the binary")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn hob(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hob"))
        .args(["--lang", "en"])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The file that the flags give is planned.
#[track_caller]
fn check_plans(flags: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let written = hob(folder.path(), &[&["new"], flags].concat());
    assert_eq!(written.status.code(), Some(0), "{flags:?}: {}", said(&written));
    assert!(said(&written).contains("hob plan hob.toml"), "it says the next command");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["hob.toml"]);
    let planned = hob(folder.path(), &["plan", "hob.toml"]);
    let text = std::fs::read_to_string(folder.path().join("hob.toml")).unwrap();
    assert_eq!(planned.status.code(), Some(0), "{flags:?}: {}\n{text}", said(&planned));
}

#[test]
fn every_kind_of_work_plans() {
    let named = [
        ("serve", "bert-base-uncased"),
        ("serve", "yolo11m"),
        ("serve", "sdxl"),
        ("batch", "Qwen/Qwen3-8B"),
        ("batch", "whisper-small"),
        ("batch", "Wan-AI/Wan2.1-T2V-1.3B-Diffusers"),
        ("train", "bert-base-uncased"),
        ("train", "resnet50"),
        ("train", "whisper-small"),
    ];
    for (kind, model) in named {
        check_plans(&["--kind", kind, "--model", model]);
    }
    check_plans(&["--kind", "transcode"]);
    check_plans(&["--kind", "render"]);
    let tables = "model.recommender.tables=[\"20M users\", \"4M products\"]";
    check_plans(&["--kind", "train", "--task", "recommend", "--set", tables]);
}

#[test]
fn what_the_flags_say_plans() {
    check_plans(&["--kind", "serve", "--model", "Qwen/Qwen2.5-7B", "--rate", "2 req/s"]);
    check_plans(&["--kind", "serve", "--model", "7B", "--stage", "production", "--set", "traffic.prompt=900 tokens"]);
    check_plans(&["--kind", "train", "--model", "Qwen/Qwen2.5-7B", "--samples", "5000 sequences"]);
    check_plans(&["--kind", "train", "--model", "Qwen/Qwen2.5-0.5B", "--method", "full", "--set", "train.epochs=1"]);
}

/// The flags are refused with exit code 2 and these words, and nothing is written.
#[track_caller]
fn check_refused(flags: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let refused = hob(folder.path(), &[&["new"], flags].concat());
    let said = said(&refused);
    assert_eq!(refused.status.code(), Some(2), "{flags:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{flags:?} without `{word}`: {said}");
    }
    assert!(refused.stdout.is_empty());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{flags:?}");
}

#[test]
fn wrong_answers_write_nothing() {
    check_refused(&[], &["--kind", "hint: "]);
    check_refused(&["--kind", "serve"], &["--model", "hint: "]);
    check_refused(&["--kind", "srve", "--model", "7B"], &["W010", "did you mean `serve`?"]);
    check_refused(&["--kind", "serve", "--model", "Qwen/Qwen2.5-7C"], &["E-MODEL-NOT-FOUND", "Qwen/Qwen2.5-7B"]);
    check_refused(&["--kind", "serve", "--model", "7B", "--rate", "2"], &["W009", "traffic.rate", "2 req/s"]);
    check_refused(&["--kind", "serve", "--model", "7B", "--set", "traffic.promt=5 tokens"], &["`prompt`"]);
    check_refused(&["--kind", "serve", "--model", "7B", "--set", "x"], &["KEY=VALUE"]);
    check_refused(&["--kind", "serve", "--model", "7B", "--deadline", "5 days"], &["W006", "objective.e2e_p95"]);
    check_refused(&["--kind", "render", "--out", "no/such/folder/hob.toml"], &["E-NEW-UNWRITABLE", "--out"]);
}

#[test]
fn a_file_that_is_there_stays_unless_forced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, "precious").unwrap();
    let flags = ["new", "--kind", "render", "--out", "mine.toml"];
    let refused = hob(folder.path(), &flags);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("--force"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(hob(folder.path(), &[&flags[..], &["--force"]].concat()).status.code(), Some(0));
    assert!(std::fs::read_to_string(&path).unwrap().contains("kind = \"render\""));
}

#[test]
fn standard_output_holds_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let written = hob(folder.path(), &["new", "--kind", "transcode", "--out", "-"]);
    assert_eq!(written.status.code(), Some(0), "{}", said(&written));
    let text = String::from_utf8(written.stdout).unwrap();
    assert!(text.starts_with("# Written by `hob new`") && text.contains("[[rendition]]"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
