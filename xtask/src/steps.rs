//! The steps of `cargo xtask verify`, in the order in which they run: cheap ones first, the test runner last.

use anyhow::Result;

use crate::command::{cargo_passes, cargo_problems};
use crate::workspace::Workspace;
use crate::{arrows, decisions, examples, generated, leaks, lengths, links, purity, tools};

/// What a step found.
pub struct Outcome {
    /// One text per problem; none means that the step passed.
    pub problems: Vec<String>,
    /// A short remark for the step's line, such as a count.
    pub note: String,
}

impl Outcome {
    /// An outcome with its remark.
    pub fn new(problems: Vec<String>, note: impl Into<String>) -> Outcome {
        Outcome { problems, note: note.into() }
    }
}

/// One step: its name on the command line, what it checks, and the check.
pub struct Step {
    /// One word.
    pub name: &'static str,
    /// What is true when it passes.
    pub says: &'static str,
    /// The check; it changes no file of the workspace.
    pub check: fn(&Workspace) -> Result<Outcome>,
    /// Whether later steps make no sense after this one fails.
    pub is_needed_by_the_rest: bool,
}

/// The whole table.
pub const STEPS: &[Step] = &[
    Step { name: "tools", says: "the toolchain is complete", check: |_| tools::check(), is_needed_by_the_rest: true },
    Step { name: "fmt", says: "the code is formatted", check: format, is_needed_by_the_rest: false },
    Step {
        name: "arrows",
        says: "dependencies run downwards only",
        check: arrows::check,
        is_needed_by_the_rest: false,
    },
    Step { name: "purity", says: "pure crates stay pure", check: purity::check, is_needed_by_the_rest: false },
    Step {
        name: "lengths",
        says: "no file grows beyond its bound",
        check: lengths::check,
        is_needed_by_the_rest: false,
    },
    Step { name: "leaks", says: "no path or host of one machine", check: leaks::check, is_needed_by_the_rest: false },
    Step {
        name: "decisions",
        says: "decision records are in form",
        check: decisions::check,
        is_needed_by_the_rest: false,
    },
    Step { name: "links", says: "links in the docs lead somewhere", check: links::check, is_needed_by_the_rest: false },
    Step { name: "clippy", says: "no lint fires", check: clippy, is_needed_by_the_rest: false },
    Step { name: "build", says: "the binary builds", check: build, is_needed_by_the_rest: true },
    Step {
        name: "generated",
        says: "generated docs are up to date",
        check: generated::check,
        is_needed_by_the_rest: false,
    },
    Step { name: "examples", says: "every example plans", check: examples::check, is_needed_by_the_rest: false },
    Step { name: "doctests", says: "code in the docs runs", check: doc_tests, is_needed_by_the_rest: false },
    Step { name: "tests", says: "all tests pass", check: tests, is_needed_by_the_rest: false },
];

fn format(workspace: &Workspace) -> Result<Outcome> {
    let problems = cargo_problems(workspace, &["fmt", "--all", "--check", "--", "--color", "never"])?;
    Ok(Outcome::new(problems, ""))
}

fn clippy(workspace: &Workspace) -> Result<Outcome> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--", "-D", "warnings"];
    Ok(Outcome::new(cargo_problems(workspace, &arguments)?, ""))
}

fn build(workspace: &Workspace) -> Result<Outcome> {
    let problems = cargo_problems(workspace, &["build", "--package", "hob", "--locked", "--quiet"])?;
    Ok(Outcome::new(problems, ""))
}

/// Snapshot tests compare and never write: `verify` changes nothing.
const TEST_ENVIRONMENT: &[(&str, &str)] = &[("INSTA_UPDATE", "no")];

fn doc_tests(workspace: &Workspace) -> Result<Outcome> {
    let problems = cargo_problems(workspace, &["test", "--workspace", "--doc", "--locked", "--quiet"])?;
    Ok(Outcome::new(problems, ""))
}

fn tests(workspace: &Workspace) -> Result<Outcome> {
    let arguments: &[&str] = if tools::has_nextest() {
        &["nextest", "run", "--workspace", "--locked", "--cargo-quiet"]
    } else {
        &["test", "--workspace", "--lib", "--bins", "--tests", "--locked", "--quiet", "--no-fail-fast"]
    };
    let mut problems = Vec::new();
    if !cargo_passes(workspace, arguments, TEST_ENVIRONMENT)? {
        problems.push(format!("`cargo {}` failed; its output is above", arguments.join(" ")));
    }
    Ok(Outcome::new(problems, ""))
}
