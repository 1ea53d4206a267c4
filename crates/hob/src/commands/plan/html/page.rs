//! The page: its head, and its sections in the order in which they are read.

use hob_text::{Language, Message};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Report;
use super::chart::{self, DrawError};
use super::output::GENERATOR;
use super::{closing, summary, tables};
use crate::printer::Printer;

/// The whole page.
pub fn page(report: &Report<'_>, printer: &Printer) -> Result<Markup, DrawError> {
    let plan = report.plan;
    let language = match printer.catalogue().language() {
        Language::En => "en",
        Language::Zh => "zh-Hans",
    };
    let charts = chart::all(plan, report.workload, printer)?;
    let name = report.file.file_name().unwrap_or_default().to_string_lossy();
    let made = Message::new("report-made").with("version", env!("CARGO_PKG_VERSION")).with("file", name);
    Ok(html! {
        (DOCTYPE)
        html lang=(language) {
            head {
                meta charset="utf-8";
                meta name="generator" content=(GENERATOR);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (plan.workload) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                (summary::head(plan, printer))
                main {
                    (summary::verdict(plan, printer))
                    (closing::warnings(plan, printer))
                    @if plan.is_feasible() {
                        section { h2 { (printer.get("report-charts")) } div.charts { (charts) } }
                    }
                    (tables::offers(plan, printer))
                    (tables::unpriced(plan, printer))
                    (tables::bills(plan, printer))
                    (tables::variants(plan, printer))
                    (closing::rejected(plan, printer))
                    (closing::path(plan, printer))
                    (summary::assumed(plan, printer))
                    (closing::sources(plan, report.explanation.as_ref(), printer))
                }
                footer { p { (printer.text(&made)) } }
            }
        }
    })
}
