//! The catalog that a command works on: the built-in one with the user's files over it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use hob_catalog::{
    Catalog, CatalogError, FractionError, ImportReport, NameKind, OwnMachineError, RowError, UnknownName, files,
};
use hob_text::Message;
use hob_workload::Workload;

use crate::failure::Failure;
use crate::printer::{Printer, printable};

/// Unknown accelerators that are named; the rest are in the count.
const NAMES_SHOWN: usize = 6;

/// The built-in catalog with these files over it, in this order.
pub fn layered(paths: &[PathBuf], printer: &Printer) -> Result<Cow<'static, Catalog>, Failure> {
    let mut catalog = Cow::Borrowed(Catalog::embedded());
    for path in paths {
        let (overlay, report) = files::read_overlay(&catalog, path, None).map_err(|error| refused(&error, printer))?;
        left_out(&path.display().to_string(), &report, printer);
        catalog = Cow::Owned(catalog.into_owned().with_overlay(overlay));
    }
    Ok(catalog)
}

/// As [`layered`], with the files of `where.catalogs` first; their paths are relative to the workload file.
pub fn of_workload(
    workload: &Workload,
    file: &Path,
    paths: &[PathBuf],
    printer: &Printer,
) -> Result<Cow<'static, Catalog>, Failure> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let named = workload.place.catalogs.iter().map(|path| folder.join(path));
    layered(&named.chain(paths.iter().cloned()).collect::<Vec<_>>(), printer)
}

/// Says what a file holds that the catalog cannot take.
pub fn left_out(file: &str, report: &ImportReport, printer: &Printer) {
    let count: usize = report.unknown_accelerators.values().sum();
    if count > 0 {
        let names: Vec<&str> = report.unknown_accelerators.keys().take(NAMES_SHOWN).map(String::as_str).collect();
        let more = if report.unknown_accelerators.len() > NAMES_SHOWN { "..." } else { "" };
        let message = Message::new("catalog-left-out-rows").with("file", file).with("count", count);
        printer.note(&printable(&printer.text(&message.with("names", names.join(", ") + more))));
    }
}

/// A refused file: its wrong rows are printed, each with its line, and the failure counts them.
pub fn refused(error: &CatalogError, printer: &Printer) -> Failure {
    if let CatalogError::Rows { errors, .. } = error {
        for row in errors {
            printer.note(&printable(&row_text(row, printer)));
        }
    }
    let (what, hint) = match error {
        CatalogError::Rows { file, count, .. } => {
            (Message::new("catalog-rows").with("file", file).with("count", count), "catalog-hint-rows")
        }
        CatalogError::MissingColumn { file, column, found } => (
            Message::new("catalog-missing-column").with("file", file).with("column", column).with("found", found),
            "catalog-hint-form",
        ),
        CatalogError::UnknownForm { file, found } => {
            (Message::new("catalog-unknown-form").with("file", file).with("found", found), "catalog-hint-form")
        }
        CatalogError::Empty { file } => (Message::new("catalog-empty").with("file", file), "catalog-hint-form"),
        CatalogError::TooLarge { file, limit_mib } => {
            (Message::new("catalog-too-large").with("file", file).with("limit", limit_mib), "catalog-hint-form")
        }
        CatalogError::TooManyRows { file, limit } => {
            (Message::new("catalog-too-many-rows").with("file", file).with("limit", limit), "catalog-hint-form")
        }
        CatalogError::NotText { file, line } => {
            (Message::new("catalog-not-text").with("file", file).with("line", line), "catalog-hint-utf8")
        }
        CatalogError::Io { path, why } => {
            (Message::new("error-unreadable").with("path", path).with("why", why), "hint-check-path")
        }
    };
    Failure::input("E-CATALOG", what).hint(Message::new(hint))
}

fn row_text(error: &RowError, printer: &Printer) -> String {
    let expected = Message::new(error.expected.text_id()).with("value", error.expected.value());
    let expected = expected.with("min", error.expected.min().unwrap_or_default());
    let id = if error.got.is_empty() { "catalog-row-empty" } else { "catalog-row" };
    let message = Message::new(id).with("file", &error.file).with("line", error.line).with("column", &error.column);
    let mut text = printer.text(&message.with("got", &error.got).with("expected", printer.text(&expected)));
    if !error.did_you_mean.is_empty() {
        let meant = Message::new("hint-did-you-mean").with("names", error.did_you_mean.join(", "));
        text.push_str(&format!(" ({})", printer.text(&meant)));
    }
    text
}

/// An own machine on which nothing can be planned.
pub fn own_machine(error: &OwnMachineError) -> Failure {
    let (machine, why) = match error {
        OwnMachineError::Gpu { machine, unknown: name } => {
            let failure = unknown(name);
            let what =
                Message::new("catalog-own-machine").with("machine", machine).with_message("why", failure.what.clone());
            return Failure { what, ..failure };
        }
        OwnMachineError::Share { machine, why } => (machine, share(why)),
        OwnMachineError::Count { machine, got } => (machine, Message::new("catalog-own-machine-gpus").with("got", got)),
    };
    let what = Message::new("catalog-own-machine").with("machine", machine).with_message("why", why);
    Failure::input("E-OWN-MACHINE", what)
}

fn share(error: &FractionError) -> Message {
    match error {
        FractionError::ComputeStep { got } => Message::new("catalog-share-compute").with("got", got),
        FractionError::MemoryStep { got, whole } => {
            Message::new("catalog-share-memory").with("got", got).with("whole", whole)
        }
        FractionError::NotWhole { gpu } => Message::new("catalog-share-not-whole").with("gpu", gpu),
    }
}

/// A name that the catalog does not know, with its neighbours.
pub fn unknown(error: &UnknownName) -> Failure {
    let kind = match error.kind {
        NameKind::Gpu => "catalog-kind-gpu",
        NameKind::Instance => "catalog-kind-instance",
        NameKind::Cloud => "catalog-kind-cloud",
        NameKind::Region => "catalog-kind-region",
    };
    let what = Message::new("catalog-unknown-name").with_message("kind", Message::new(kind)).with("name", &error.name);
    let hint = match error.did_you_mean.as_slice() {
        [] => Message::new("catalog-hint-list"),
        names => Message::new("hint-did-you-mean").with("names", names.join(", ")),
    };
    Failure::input("E-UNKNOWN-NAME", what).hint(hint)
}
