//! `hob plan --html` through the built binary: what a page holds, what it never holds, and what it never overwrites.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests write files and start the binary")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}.toml"))
}

fn hob(folder: &Path, file: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hob"));
    command.current_dir(folder).arg("plan").arg(file).arg("--html").args(arguments).output().unwrap()
}

fn page(file: &Path, language: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = hob(folder.path(), file, &["-", "--lang", language]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A page has these charts, all words in the language, and nothing that a browser would fetch or run.
fn check(name: &str, charts: &[&str]) {
    for language in ["en", "zh"] {
        let page = page(&example(name), language);
        assert_eq!(page, self::page(&example(name), language), "{name} is the same on every run");
        for chart in charts {
            let labelled = format!("<title id=\"{chart}-title\">");
            assert!(page.contains(&labelled), "{name} in {language} lacks the chart {chart}");
        }
        assert_eq!(page.matches("<svg ").count(), charts.len(), "{name}");
        for foreign in ["<script", "<link", "<img", "@import", "url(", "src=", "href=", "{report-", "{plan-", "NaN"] {
            assert!(!page.contains(foreign), "{name} in {language} holds `{foreign}`");
        }
    }
}

#[test]
fn a_page_is_whole_and_self_contained() {
    check("essay-grader", &["memory", "utilisation", "pareto", "ttft", "request"]);
    check("transcode-farm", &["bills", "pareto", "job"]);
    check("lora-7b-one-gpu", &["memory", "bills", "pareto", "job"]);
}

/// An example with other lines in place of those that begin with a key.
fn changed(folder: &Path, name: &str, lines: &[(&str, &str)]) -> PathBuf {
    let text = std::fs::read_to_string(example(name)).unwrap();
    let line = |line: &str| match lines.iter().find(|(key, _)| line.starts_with(&format!("{key} ="))) {
        Some((_, other)) => format!("{other}\n"),
        None => format!("{line}\n"),
    };
    let file = folder.join("changed.toml");
    std::fs::write(&file, text.lines().map(line).collect::<String>()).unwrap();
    file
}

#[test]
fn a_stream_of_video_is_billed_by_the_month() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [("total", "arrives = \"40 hours/hour\""), ("deadline", ""), ("budget", "")];
    let page = page(&changed(folder.path(), "transcode-farm", &lines), "en");
    for chart in ["utilisation", "pareto", "stream"] {
        assert!(page.contains(&format!("<title id=\"{chart}-title\">")), "{chart}");
    }
}

#[test]
fn when_nothing_is_feasible_the_page_says_what_would_help() {
    let folder = tempfile::tempdir().unwrap();
    let file = changed(folder.path(), "finetune-70b-multi-node", &[("max_gpus", "max_gpus = 1")]);
    let output = hob(folder.path(), &file, &["-", "--lang", "en"]);
    assert_eq!(output.status.code(), Some(3));
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.contains("Nothing that is allowed can do this work.") && page.contains("works: "));
    assert!(!page.contains("<svg "));
}

#[test]
fn what_the_user_names_is_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let name = [("name", "name = \"<script>alert(1)</script>\"")];
    let page = page(&changed(folder.path(), "essay-grader", &name), "en");
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(!page.contains("<script"));
}

#[test]
fn only_our_own_pages_are_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let code = |arguments: &[&str]| hob(folder.path(), &example("essay-grader"), arguments).status.code();
    assert_eq!(code(&[]), Some(0));
    assert!(folder.path().join("essay-grader.html").is_file());
    assert_eq!(code(&[]), Some(0), "a page of ours");
    std::fs::write(folder.path().join("thesis.html"), "<html>my work</html>").unwrap();
    let refused = hob(folder.path(), &example("essay-grader"), &["thesis.html", "--lang", "en"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("E-REPORT-EXISTS"));
    assert_eq!(std::fs::read_to_string(folder.path().join("thesis.html")).unwrap(), "<html>my work</html>");
    assert_eq!(code(&["no-such-folder/page.html"]), Some(2));
}
