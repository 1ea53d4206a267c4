//! Tables of measured runs, as files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use hob_calibrate::{HeldOut, MeasuredTable, TableError};
use hob_text::Message;

use crate::failure::Failure;
use crate::printer::Printer;

/// A table of measurements has some thousand lines; a file beyond this is another kind of file.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Reads a table; what is wrong with it is said with its line.
pub fn read(file: &Path, printer: &Printer) -> Result<MeasuredTable, Failure> {
    let name = file.display().to_string();
    MeasuredTable::read(&text(file, &name)?).map_err(|error| malformed(&name, error, printer))
}

fn text(file: &Path, name: &str) -> Result<String, Failure> {
    let unreadable = |why: String| {
        Failure::input("E-UNREADABLE", Message::new("error-unreadable").with("path", name).with("why", why))
            .hint(Message::new("evaluate-hint-table"))
    };
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    opened.map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(unreadable(format!("> {} MiB", FILE_BYTES_MAX >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))
}

/// Says what is wrong with a table.
pub fn malformed(name: &str, error: TableError, printer: &Printer) -> Failure {
    let why = match error {
        TableError::UnknownKind => printer.get("evaluate-error-kind"),
        TableError::MissingColumn(column) => {
            printer.text(&Message::new("evaluate-error-column").with("column", column))
        }
        TableError::Malformed { line, why } => {
            printer.text(&Message::new("evaluate-error-line").with("line", line).with("why", why))
        }
        TableError::TooLong => printer.get("evaluate-error-long"),
    };
    Failure::input("E-TABLE", Message::new("evaluate-error-table").with("path", name).with("why", why))
        .hint(Message::new("evaluate-hint-table"))
}

/// One thread for each part of a cross-validation.
pub fn threads(parts: usize, task: &(dyn Fn(usize) -> Vec<HeldOut> + Sync)) -> Vec<Vec<HeldOut>> {
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..parts).map(|part| scope.spawn(move || task(part))).collect();
        parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
