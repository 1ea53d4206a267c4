//! `hob calibrate`.

use std::path::{Path, PathBuf};

use hob_calibrate::{
    Calibration, Distrusted, Evidence, Fitted, HeldOutScore, MeasuredTable, calibrate, distrusted_by_hand,
    held_out_scores, published,
};
use hob_estimate::{Coefficient, Efficiencies};
use hob_text::Message;
use serde::Serialize;

use super::measured;
use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::{Printer, printable};
use crate::table::{Column, render};

/// Coefficients that are shown, those that moved most first; the file holds all.
const SHOWN_MAX: usize = 15;

/// The document of `hob calibrate --json`.
#[derive(Serialize)]
struct Document<'c> {
    tables: &'c [Table],
    fitted: &'c [Fitted],
    bands: &'c [Coefficient],
    distrusted: &'c [Distrusted],
    /// Rows that a person distrusts, with the reason.
    distrusted_by_hand: Vec<(String, String)>,
    held_out: &'c [HeldOutScore],
}

/// A table that went in.
#[derive(Serialize)]
struct Table {
    name: String,
    rows: usize,
    /// Beside 1 for published rows.
    weight: f64,
}

/// Fits, and writes the file.
pub fn run(
    with: &[PathBuf],
    weight: f64,
    out: Option<&Path>,
    catalogs: &[PathBuf],
    printer: &Printer,
) -> Result<Code, Failure> {
    let plain = |why: String| Failure::input("E-TABLE", Message::new("error-plain").with("why", why));
    let priors = Efficiencies::priors().map_err(|error| plain(error.to_string()))?;
    let catalog = super::catalogs::layered(catalogs, printer)?;
    let mut tables: Vec<(MeasuredTable, f64)> = Vec::new();
    let mut named = Vec::new();
    for table in published().map_err(|error| plain(error.to_string()))? {
        named.push(Table { name: table.kind.to_string(), rows: table.rows.len(), weight: 1.0 });
        tables.push((table, 1.0));
    }
    for file in with {
        let table = measured::read(file, printer)?;
        named.push(Table { name: file.display().to_string(), rows: table.rows.len(), weight });
        tables.push((table, weight));
    }
    let evidence = Evidence::read(tables.iter().map(|(table, weight)| (table, *weight)), &catalog);
    printer.note(&printer.text(&Message::new("calibrate-fitting").with("rows", evidence.asked.len())));
    let calibration = calibrate(&priors, &evidence, measured::threads);
    let scores = held_out_scores(&calibration.held_out, &evidence);
    if let Some(out) = out {
        std::fs::write(out, calibration.to_csv()).map_err(|error| {
            let what = Message::new("catalog-import-unwritable").with("out", out.display().to_string());
            Failure::input("E-UNWRITABLE", what.with("why", error.to_string()))
        })?;
    }
    if printer.json_wanted() {
        let document = Document {
            tables: &named,
            fitted: &calibration.fitted,
            bands: &calibration.bands,
            distrusted: &calibration.distrusted,
            distrusted_by_hand: distrusted_by_hand().into_iter().collect(),
            held_out: &scores,
        };
        printer.json("hob.calibration/1", &document);
    } else {
        show(&named, &evidence, &calibration, &scores, printer);
        let written = out.map(|out| Message::new("calibrate-written").with("path", out.display().to_string()));
        printer.line(&printer.text(&written.unwrap_or_else(|| Message::new("calibrate-not-written"))));
    }
    Ok(Code::Done)
}

fn show(tables: &[Table], evidence: &Evidence, calibration: &Calibration, scores: &[HeldOutScore], printer: &Printer) {
    for Table { name, rows, weight } in tables {
        let message = Message::new("calibrate-table").with("name", printable(name)).with("rows", *rows);
        printer.line(&printer.text(&message.with("weight", format!("{weight}"))));
    }
    let trusted = evidence.trusted.iter().filter(|trusted| **trusted).count();
    let summary = Message::new("calibrate-summary")
        .with("answered", evidence.asked.len())
        .with("learnt", trusted)
        .with("refused", evidence.unanswered.len());
    printer.wrapped(&printer.text(&summary), 0);
    printer.line("");
    printer.line(&moved(&calibration.fitted, printer));
    printer.line("");
    printer.line(&held_out(scores, printer));
    if !calibration.distrusted.is_empty() {
        printer.line("");
        let far = calibration.distrusted.iter();
        let far: Vec<String> =
            far.map(|row| format!("{} ({} x {})", printable(&row.id), row.target, row.ratio)).collect();
        printer.wrapped(&printer.text(&Message::new("calibrate-distrusted").with("rows", far.join(", "))), 0);
    }
    printer.line("");
}

fn moved(fitted: &[Fitted], printer: &Printer) -> String {
    let mut fitted: Vec<&Fitted> = fitted.iter().filter(|fitted| fitted.rows > 0).collect();
    let distance = |fitted: &Fitted| (fitted.coefficient.value / fitted.prior).ln().abs();
    fitted.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
    let heading = |id: &str| printer.get(&format!("calibrate-column-{id}"));
    let columns = [
        Column::Names(heading("coefficient")),
        Column::LongNames(heading("scope")),
        Column::Figures(heading("prior")),
        Column::Figures(heading("value")),
        Column::Figures(heading("rows")),
    ];
    let rows = fitted.into_iter().take(SHOWN_MAX).map(|Fitted { coefficient, prior, rows }| {
        let scope = &coefficient.scope;
        let parts = [&scope.engine, &scope.architecture, &scope.precision, &scope.class, &scope.card, &scope.model];
        let parts: Vec<&str> = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let figure = |value: f64| format!("{value:.3e}");
        vec![coefficient.name.clone(), parts.join(" "), figure(*prior), figure(coefficient.value), rows.to_string()]
    });
    render(&columns, rows)
}

/// Scores of predictions whose group the fit never saw.
pub fn held_out(scores: &[HeldOutScore], printer: &Printer) -> String {
    let heading = |id: &str| printer.get(&format!("evaluate-column-{id}"));
    let mut columns = vec![Column::Names(heading("target")), Column::LongNames(heading("group"))];
    columns.extend(["rows", "median", "p90", "bias", "inside"].map(|id| Column::Figures(heading(id))));
    let rows = scores.iter().map(|HeldOutScore { target, stratum, rows, score }| {
        vec![
            target.to_string(),
            stratum.map_or_else(|| printer.get("evaluate-all"), str::to_owned),
            rows.to_string(),
            format!("{:.1}", score.median_abs_pct),
            format!("{:.1}", score.p90_abs_pct),
            format!("{:+.1}", score.bias_pct),
            format!("{:.0}", score.inside80_pct),
        ]
    });
    render(&columns, rows)
}
