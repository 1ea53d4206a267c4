//! One file for each verb.

mod calibrate;
pub mod catalog;
mod catalogs;
mod evaluate;
mod generate;
mod inspect;
mod learnt;
mod measured;
mod model;
mod new;
mod plan;
pub mod probe;
mod workload;

use std::path::PathBuf;

use clap::CommandFactory;

use crate::cli::{Cli, Command};
use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::Printer;

/// Does what was asked, with `catalogs` laid over the built-in catalog.
pub fn run(command: Command, catalogs: &[PathBuf], printer: &Printer) -> Result<Code, Failure> {
    match command {
        Command::Inspect { model } => inspect::run(&model, printer),
        Command::Plan { file, explain, html, measured } => {
            let shown = plan::Shown { explain, html: html.as_ref().map(Option::as_deref) };
            plan::run(&file, &shown, &measured, catalogs, printer)
        }
        Command::Probe { command } => probe::run(command, catalogs, printer),
        Command::New(flags) => new::run(&flags, printer),
        Command::Evaluate { table, by, held_out, filters } => {
            evaluate::run(&table, by, held_out, &filters, catalogs, printer)
        }
        Command::Calibrate { with, weight, out } => calibrate::run(&with, weight, out.as_deref(), catalogs, printer),
        Command::Catalog { command } => catalog::run(&command, catalogs, printer),
        Command::Schema { keys } => {
            generate::schema(keys, printer);
            Ok(Code::Done)
        }
        Command::Reference => {
            generate::reference(printer);
            Ok(Code::Done)
        }
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "hob", &mut std::io::stdout());
            Ok(Code::Done)
        }
    }
}
