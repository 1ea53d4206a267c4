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

use hob_plan::Plan;
use hob_text::Message;
use hob_workload::Workload;

use crate::failure::Failure;
use crate::printer::Printer;

/// Writes the page to `out`, to a file named after the workload file, or to standard output (`-`).
pub fn write(
    plan: &Plan,
    workload: &Workload,
    file: &Path,
    out: Option<&Path>,
    printer: &Printer,
) -> Result<(), Failure> {
    let target = output::Target::new(out, file)?;
    let page = page::page(plan, workload, file, printer)
        .map_err(|error| Failure::input("E-CHART", Message::new("error-plain").with("why", error)))?;
    target.write(&page.into_string(), printer)
}
