//! `hob catalog import FILE...`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use hob_catalog::{Catalog, ImportReport, Overlay, WriteError, files, price_list};
use hob_text::Message;
use serde::Serialize;

use super::args::ImportArgs;
use super::document;
use crate::commands::catalogs::{left_out, refused};
use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::{Printer, printable};
use crate::table::{Column, render};

/// What one file gave.
#[derive(Serialize)]
struct Imported {
    file: String,
    #[serde(flatten)]
    report: ImportReport,
}

/// Reads every file, says what of it can be used, and writes that when asked.
pub fn run(args: &ImportArgs, catalog: &Catalog, printer: &Printer) -> Result<Code, Failure> {
    let mut known = catalog.clone();
    let mut all = Overlay::default();
    let mut imported = Vec::new();
    for path in &args.files {
        let file = path.display().to_string();
        let read = files::read_overlay(&known, path, args.cloud.as_deref());
        let (mut overlay, report) = read.map_err(|error| refused(&error, printer))?;
        if overlay.is_empty() {
            left_out(&file, &report, printer);
            let what = Message::new("catalog-import-nothing").with("file", &file);
            return Err(Failure::input("E-NOTHING", what).hint(Message::new("catalog-hint-form")));
        }
        if let Some(date) = &args.date {
            overlay = overlay.dated(date);
        }
        if args.out.is_some() {
            // Said of the file that is to blame, and before anything is written.
            price_list(catalog, &overlay).map_err(|error| own_form(error, &file))?;
        }
        known = known.with_overlay(overlay.clone());
        all = all.and(overlay);
        imported.push(Imported { file, report });
    }
    if let Some(out) = &args.out {
        let text = price_list(catalog, &all).map_err(|error| own_form(error, &out.display().to_string()))?;
        write_new(out, &text)?;
    }
    if printer.json_wanted() {
        #[derive(Serialize)]
        struct Body {
            files: Vec<Imported>,
            instances: usize,
            prices: usize,
            out: Option<String>,
        }
        let out = args.out.as_ref().map(|out| out.display().to_string());
        let body = Body { files: imported, instances: all.instances.len(), prices: all.prices.len(), out };
        document("import", &body, printer);
    } else {
        print(&imported, &all, args.out.as_deref(), printer);
    }
    Ok(Code::Done)
}

fn own_form(error: WriteError, file: &str) -> Failure {
    match error {
        WriteError::Gpu { gpu } => {
            let what = Message::new("catalog-import-own-form").with("file", file).with("gpu", gpu);
            Failure::input("E-OWN-FORM", what).hint(Message::new("catalog-hint-own-form"))
        }
        WriteError::Csv { why } => unwritable(file, why),
    }
}

fn unwritable(out: &str, why: impl std::fmt::Display) -> Failure {
    Failure::input("E-UNWRITABLE", Message::new("catalog-import-unwritable").with("out", out).with("why", why))
        .hint(Message::new("hint-check-path"))
}

/// Writes a file that is not there yet; one that is there stays as it is.
fn write_new(out: &Path, text: &str) -> Result<(), Failure> {
    let name = out.display().to_string();
    let file = OpenOptions::new().write(true).create_new(true).open(out);
    let mut file = file.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::input("E-EXISTS", Message::new("catalog-import-exists").with("out", &name))
                .hint(Message::new("catalog-hint-exists"))
        }
        _ => unwritable(&name, error),
    })?;
    file.write_all(text.as_bytes()).map_err(|error| unwritable(&name, error))
}

fn print(imported: &[Imported], all: &Overlay, out: Option<&Path>, printer: &Printer) {
    let figures = |id: &str| Column::Figures(printer.get(id));
    let columns = [
        Column::Words(printer.get("catalog-column-file")),
        figures("catalog-column-rows"),
        figures("catalog-column-types"),
        figures("catalog-column-prices"),
        figures("catalog-column-left-out"),
    ];
    let row = |each: &Imported| {
        let report = &each.report;
        let unknown: usize = report.unknown_accelerators.values().sum();
        let left_out = unknown + report.rows_without_gpu + report.rows_without_instance;
        let counts = [report.rows, report.instances, report.prices, left_out];
        [printable(&each.file)].into_iter().chain(counts.iter().map(usize::to_string)).collect()
    };
    printer.line(&render(&columns, imported.iter().map(row)));
    for each in imported {
        left_out(&each.file, &each.report, printer);
        if !each.report.regions_new.is_empty() {
            let names: Vec<&str> = each.report.regions_new.iter().map(String::as_str).collect();
            let message = Message::new("catalog-import-unknown-region").with("file", &each.file);
            printer.note(&printable(&printer.text(&message.with("names", names.join(", ")))));
        }
        if each.report.prices_zero > 0 {
            let message = Message::new("catalog-import-zero").with("file", &each.file);
            printer.note(&printable(&printer.text(&message.with("count", each.report.prices_zero))));
        }
    }
    printer.line("");
    let counted = |id: &str| Message::new(id).with("prices", all.prices.len()).with("types", all.instances.len());
    match out {
        Some(out) => {
            let out = out.display();
            printer.line(&printer.text(&counted("catalog-import-written").with("out", &out)));
            printer.line(&printer.text(&Message::new("catalog-import-next").with("out", &out)));
        }
        None => printer.line(&printer.text(&counted("catalog-import-checked"))),
    }
}
