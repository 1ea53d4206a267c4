//! `cargo xtask verify`: runs the steps, prints one line for each, and ends with the plain count. Changes nothing.

use std::io::Write;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::steps::{Outcome, STEPS, Step};
use crate::workspace::Workspace;

/// Runs the named steps, or all of them. `Ok(false)` when one failed.
pub fn run(arguments: &[String]) -> Result<bool> {
    if arguments.iter().any(|argument| argument == "--list") {
        for step in STEPS {
            println!("{:<10} {}", step.name, step.says);
        }
        return Ok(true);
    }
    let steps = chosen(arguments)?;
    let workspace = Workspace::find()?;
    let mut passed = 0;
    let mut failed = Vec::new();
    for step in &steps {
        let start = Instant::now();
        let outcome = (step.check)(&workspace)
            .unwrap_or_else(|error| Outcome::new(vec![format!("{error:#}")], "could not be checked"));
        print_step(step, &outcome, start.elapsed().as_secs_f64());
        if outcome.problems.is_empty() {
            passed += 1;
            continue;
        }
        failed.push(step.name);
        if step.is_needed_by_the_rest {
            println!("the other steps need `{}`; stopped here", step.name);
            break;
        }
    }
    if !failed.is_empty() {
        println!("\nfailed: {}; run one alone with `cargo xtask verify NAME`", failed.join(", "));
        println!("`cargo xtask fix` rewrites what can be rewritten");
    }
    println!("\n{passed} passed, {} failed", failed.len());
    Ok(failed.is_empty())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Step>> {
    if names.is_empty() {
        return Ok(STEPS.iter().collect());
    }
    for name in names {
        if !STEPS.iter().any(|step| step.name == name) {
            bail!("no step `{name}`; `cargo xtask verify --list` names them");
        }
    }
    Ok(STEPS.iter().filter(|step| names.iter().any(|name| name == step.name)).collect())
}

fn print_step(step: &Step, outcome: &Outcome, seconds: f64) {
    let mark = if outcome.problems.is_empty() { "ok  " } else { "FAIL" };
    let note = if outcome.note.is_empty() { String::new() } else { format!(" ({})", outcome.note) };
    println!("{mark} {:<10} {seconds:>6.1} s  {}{note}", step.name, step.says);
    for problem in &outcome.problems {
        for line in problem.lines() {
            println!("       {line}");
        }
    }
    // Lines must come before what the next step's programs print; a closed pipe shows itself at the next print.
    let _ = std::io::stdout().flush();
}
