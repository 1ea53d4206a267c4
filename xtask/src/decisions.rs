//! The decision records in `docs/adr`: their form, and their list in the book.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;

use crate::steps::Outcome;
use crate::workspace::Workspace;

const FOLDER: &str = "docs/adr";

/// The step: every record is named `NNNN-title.md`, begins with a heading, and has a number of its own.
pub fn check(workspace: &Workspace) -> Result<Outcome> {
    let mut problems = Vec::new();
    let mut by_number: BTreeMap<String, PathBuf> = BTreeMap::new();
    let records = records(workspace)?;
    for record in &records {
        let name = record.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.split('-').next().unwrap_or_default();
        if number.len() != 4 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            problems.push(format!("{}: name it NNNN-title.md", record.display()));
            continue;
        }
        if let Some(earlier) = by_number.insert(number.to_owned(), record.clone()) {
            problems.push(format!("{} and {} have the same number", earlier.display(), record.display()));
        }
        if title(&workspace.read(record)?).is_none() {
            problems.push(format!("{}: its first line is no heading", record.display()));
        }
    }
    Ok(Outcome::new(problems, format!("{} records", records.len())))
}

/// The list of all records as the book's table of contents shows it, one line each, by number.
pub fn contents(workspace: &Workspace) -> Result<String> {
    let mut lines = String::new();
    for record in records(workspace)? {
        let text = workspace.read(&record)?;
        let name = record.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.split('-').next().unwrap_or_default();
        let title = title(&text).unwrap_or(name);
        // The number stands once, however the record writes its own heading.
        let words = title.trim_start_matches("ADR").trim_start().trim_start_matches(number);
        let words = words.trim_start_matches([' ', '.', ':', '-', '\u{2013}', '\u{2014}']);
        lines.push_str(&format!("- [{number}: {words}](adr/{name})\n"));
    }
    Ok(lines)
}

fn records(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let mut records = workspace.files_with_extension(&["md"])?;
    records.retain(|file| file.starts_with(FOLDER));
    Ok(records)
}

fn title(text: &str) -> Option<&str> {
    text.lines().next().and_then(|line| line.strip_prefix("# "))
}
