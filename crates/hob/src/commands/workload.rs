//! Reading a workload file for any command that takes one.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use hob_text::Message;
use hob_workload::{FILE_BYTES_MAX, Problem, Problems, Workload, parse_bytes};

use crate::failure::Failure;
use crate::printer::Printer;

/// A workload file as it lies on the disk.
pub struct Source {
    name: String,
    bytes: Vec<u8>,
}

impl Source {
    /// Its text; empty where the bytes are none, which reading reports.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap_or_default()
    }
}

/// Fetches a file, and no more of it than a workload file has.
pub fn source(file: &Path) -> Result<Source, Failure> {
    let name = file.display().to_string();
    let unreadable = |why: std::io::Error| {
        Failure::input("E-UNREADABLE", Message::new("error-unreadable").with("path", &name).with("why", why))
            .hint(Message::new("hint-workload-file"))
    };
    let mut bytes = Vec::new();
    File::open(file)
        .map_err(unreadable)?
        .take(FILE_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(Source { name, bytes })
}

/// Reads and checks; all problems are printed with line and caret before the failure is returned.
pub fn parse(source: &Source, printer: &Printer) -> Result<Workload, Failure> {
    parse_bytes(&source.name, &source.bytes).map_err(|problems| refusal(source, &problems, printer))
}

/// The failure of a file in which something was found wrong after it was read; the problems are printed as those of
/// reading are.
pub fn refuse(source: &Source, problems: Vec<Problem>, printer: &Printer) -> Failure {
    refusal(source, &Problems::of_fields(&source.name, source.text(), problems), printer)
}

fn refusal(source: &Source, problems: &Problems, printer: &Printer) -> Failure {
    printer.note(&problems.render(printer.problem_colour(), printer.catalogue()));
    let count = problems.list().len() + problems.left_off();
    Failure::input("E-WORKLOAD", Message::new("error-workload").with("path", &source.name).with("count", count))
}
