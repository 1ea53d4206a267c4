//! The tools that the checks need, looked up first, so that a new machine learns at once what to install.

use std::process::Command;

use anyhow::Result;

use crate::steps::Outcome;
use crate::workspace::cargo;

struct Tool {
    name: &'static str,
    arguments: &'static [&'static str],
    install: &'static str,
}

const REQUIRED: &[Tool] = &[
    Tool { name: "rustfmt", arguments: &["fmt", "--version"], install: "rustup component add rustfmt" },
    Tool { name: "clippy", arguments: &["clippy", "--version"], install: "rustup component add clippy" },
];

/// Fails with the install command of each tool that is missing.
pub fn check() -> Result<Outcome> {
    let mut problems = Vec::new();
    for tool in REQUIRED {
        if !answers(tool.arguments) {
            problems.push(format!("{} is missing; install it with `{}`", tool.name, tool.install));
        }
    }
    let runner = if has_nextest() { "cargo nextest" } else { "cargo test (cargo-nextest is not installed)" };
    Ok(Outcome::new(problems, format!("tests run with {runner}")))
}

/// Whether `cargo nextest` is installed; `cargo test` does the same work without it.
pub fn has_nextest() -> bool {
    answers(&["nextest", "--version"])
}

fn answers(arguments: &[&str]) -> bool {
    Command::new(cargo()).args(arguments).output().is_ok_and(|output| output.status.success())
}
