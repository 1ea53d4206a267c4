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

#[test]
fn what_the_user_names_is_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("named.toml");
    let text = std::fs::read_to_string(example("essay-grader")).unwrap();
    let name = "<script>alert(1)</script>";
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("name =")).collect();
    std::fs::write(&file, format!("name = \"{name}\"\n{}", lines.join("\n"))).unwrap();
    let page = page(&file, "en");
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
