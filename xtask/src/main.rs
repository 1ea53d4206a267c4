//! Developer commands for this workspace: `cargo xtask verify`, `fix` and `bench`.
//!
//! `verify` changes nothing and is what CI runs; `fix` rewrites what can be rewritten; `bench` times the release binary.
//! This crate must stay light: it is compiled before anything can be checked.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool prints its findings itself")]

mod arrows;
mod bench;
mod command;
mod decisions;
mod examples;
mod fix;
mod generated;
mod leaks;
mod lengths;
mod links;
mod purity;
mod steps;
mod tools;
mod verify;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  verify [STEP...]                       check everything, change nothing; with names, only those steps
  verify --list                          name the steps
  fix                                    format, apply clippy's suggestions, write the generated docs again
  bench [NAME...] [--json] [--runs N]    time the release binary; without a name, every bench
  bench --list                           name the benches
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs one command; `Ok(false)` means that it ran and found problems.
fn run(arguments: &[String]) -> Result<bool> {
    let (command, rest) = match arguments.split_first() {
        None => ("help", arguments),
        Some((command, rest)) => (command.as_str(), rest),
    };
    match command {
        "verify" => verify::run(rest),
        "fix" => {
            if let Some(unknown) = rest.first() {
                bail!("`fix` takes no argument, found `{unknown}`\n\n{USAGE}");
            }
            fix::run(&Workspace::find()?)
        }
        "bench" => bench::run(&Workspace::find()?, rest),
        "help" | "-h" | "--help" => {
            print!("{USAGE}");
            Ok(true)
        }
        unknown => bail!("no command `{unknown}`\n\n{USAGE}"),
    }
}
