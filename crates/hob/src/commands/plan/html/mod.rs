//! `hob plan FILE --html`: the plan as one page that asks nothing of a network, to send to whoever decides.
//!
//! The same plan gives the same bytes: no clock, no random name. Everything from outside is escaped by the templates.

mod chart;
mod closing;
mod output;
mod page;
mod summary;
mod tables;

use std::path::Path;

use hob_plan::{Explanation, Plan};
use hob_text::Message;
use hob_workload::Workload;

use crate::failure::Failure;
use crate::printer::Printer;

/// What the page is made from.
pub struct Report<'a> {
    pub plan: &'a Plan,
    pub workload: &'a Workload,
    /// The arithmetic of the first choice, when there is one.
    pub explanation: Option<Explanation>,
    /// The workload file.
    pub file: &'a Path,
}

/// Writes the page to `out`, to a file named after the workload file, or to standard output (`-`).
pub fn write(report: &Report<'_>, out: Option<&Path>, printer: &Printer) -> Result<(), Failure> {
    let target = output::Target::new(out, report.file)?;
    let page = page::page(report, printer)
        .map_err(|error| Failure::input("E-CHART", Message::new("error-plain").with("why", error)))?;
    target.write(&page.into_string(), printer)
}
