//! Hidden commands that print generated documents; `cargo xtask fix` writes them into the book.

use clap::{Command, CommandFactory};

use crate::cli::Cli;
use crate::printer::Printer;

/// The JSON Schema of the workload file, or its keys as tables of the book.
pub fn schema(keys: bool, printer: &Printer) {
    let text = if keys { hob_workload::key_tables() } else { hob_workload::schema_text() };
    printer.line(text.trim_end());
}

/// The command line as a page of the book.
pub fn reference(printer: &Printer) {
    let mut root = Cli::command().term_width(100);
    root.build();
    let mut page = String::from("# Command line\n\nThis page is printed by the program itself.\n");
    section(&mut root, "hob", &mut page);
    printer.line(page.trim_end());
}

fn section(command: &mut Command, path: &str, page: &mut String) {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    page.push_str(&format!("\n## `{path}`\n\n```text\n{}\n```\n", lines.join("\n").trim()));
    for sub in command.get_subcommands_mut().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        let path = format!("{path} {}", sub.get_name());
        section(sub, &path, page);
    }
}
