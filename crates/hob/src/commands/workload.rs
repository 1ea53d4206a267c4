//! Reading a workload file for any command that takes one.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use hob_text::Message;
use hob_workload::{FILE_BYTES_MAX, Workload, parse_bytes};

use crate::failure::Failure;
use crate::printer::Printer;

/// Reads and checks; all problems are printed with line and caret before the failure is returned.
pub fn read(file: &Path, printer: &Printer) -> Result<Workload, Failure> {
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
    parse_bytes(&name, &bytes).map_err(|problems| {
        printer.note(&problems.render(printer.problem_colour(), printer.catalogue()));
        let count = problems.list().len() + problems.left_off();
        Failure::input("E-WORKLOAD", Message::new("error-workload").with("path", &name).with("count", count))
    })
}
