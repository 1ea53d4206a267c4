//! `hob evaluate TABLE.csv`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hob_calibrate::{
    Evaluation, Evidence, Filter, Grouping, HeldOutScore, HoldOut, Library, MeasuredTable, PARTS, TableKind,
    TargetScore, UnknownColumn, Unscored, VerdictScore, cross_validate, evaluate, held_out_scores,
};
use hob_catalog::Catalog;
use hob_estimate::Efficiencies;
use hob_text::Message;
use serde::Serialize;

use super::measured;
use crate::cli::{By, HeldOutBy};
use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::{Printer, printable};
use crate::table::{Column, render};

/// Rows that are named for each reason; the document names all.
const NAMED_MAX: usize = 5;

/// The document of `hob evaluate --json`.
#[derive(Serialize)]
struct Document<'e> {
    table: String,
    kind: TableKind,
    #[serde(flatten)]
    evaluation: &'e Evaluation,
}

/// The document of `hob evaluate --held-out ... --json`.
#[derive(Serialize)]
struct HeldOutDocument<'e> {
    table: &'e str,
    kind: TableKind,
    held_out: &'e [HeldOutScore],
}

/// Scores and prints.
pub fn run(
    file: &Path,
    by: Option<By>,
    held_out: Option<HeldOutBy>,
    filters: &[String],
    catalogs: &[PathBuf],
    printer: &Printer,
) -> Result<Code, Failure> {
    let name = file.display().to_string();
    let filters =
        filters.iter().map(|filter| filter.parse()).collect::<Result<Vec<Filter>, _>>().map_err(|error| {
            Failure::input("E-FILTER", Message::new("evaluate-error-filter").with("filter", error.0))
        })?;
    let mut table = measured::read(file, printer)?;
    table.keep(&filters).map_err(|error| unknown_column(&name, error))?;
    let catalog = super::catalogs::layered(catalogs, printer)?;
    if let Some(by) = held_out {
        return unseen(&table, &name, by, &catalog, printer);
    }
    let efficiencies = Efficiencies::embedded()
        .map_err(|error| Failure::input("E-TABLE", Message::new("error-plain").with("why", error)))?;
    let evaluation = evaluate(&table, &mut Library::new(&catalog), &efficiencies, by.map(grouping));
    if printer.json_wanted() {
        printer.json("hob.evaluation/1", &Document { table: name, kind: table.kind, evaluation: &evaluation });
    } else {
        show(&evaluation, by, printer);
    }
    Ok(Code::Done)
}

/// Scores every row by a fit that never saw its group.
fn unseen(
    table: &MeasuredTable,
    name: &str,
    by: HeldOutBy,
    catalog: &Catalog,
    printer: &Printer,
) -> Result<Code, Failure> {
    let priors = Efficiencies::priors()
        .map_err(|error| Failure::input("E-TABLE", Message::new("error-plain").with("why", error)))?;
    let evidence = Evidence::read([(table, 1.0)], catalog);
    printer.note(&printer.text(&Message::new("evaluate-held-out").with("parts", PARTS)));
    let by = match by {
        HeldOutBy::Group => HoldOut::Group,
        HeldOutBy::Model => HoldOut::Model,
        HeldOutBy::GpuClass => HoldOut::GpuClass,
        HeldOutBy::Engine => HoldOut::Engine,
    };
    let scores = held_out_scores(&cross_validate(&priors, &evidence, by, measured::threads), &evidence);
    if printer.json_wanted() {
        printer.json("hob.evaluation/1", &HeldOutDocument { table: name, kind: table.kind, held_out: &scores });
    } else {
        printer.line(&super::calibrate::held_out(&scores, printer));
    }
    Ok(Code::Done)
}

fn grouping(by: By) -> Grouping {
    match by {
        By::GpuClass => Grouping::GpuClass,
        By::Model => Grouping::Model,
        By::Engine => Grouping::Engine,
        By::Scenario => Grouping::Scenario,
    }
}

fn unknown_column(name: &str, error: UnknownColumn) -> Failure {
    let what = Message::new("evaluate-error-where").with("path", name).with("column", error.column);
    let failure = Failure::input("E-FILTER", what);
    match error.similar.as_slice() {
        [] => failure,
        similar => failure.hint(Message::new("hint-did-you-mean").with("names", similar.join(", "))),
    }
}

fn show(evaluation: &Evaluation, by: Option<By>, printer: &Printer) {
    let summary =
        Message::new("evaluate-summary").with("asked", evaluation.asked).with("answered", evaluation.answered);
    printer.line(&printer.text(&summary));
    if !evaluation.targets.is_empty() {
        printer.line("");
        printer.line(&scores(&evaluation.targets, by.is_some(), printer));
    }
    if let Some(verdicts) = &evaluation.train_oom {
        printer.line("");
        printer.wrapped(&printer.text(&verdict(verdicts, printer)), 0);
    }
    if !evaluation.beyond_physics.is_empty() {
        printer.line("");
        let rows: Vec<String> =
            evaluation.beyond_physics.iter().map(|(id, target)| format!("{} ({target})", printable(id))).collect();
        printer.wrapped(&printer.text(&Message::new("evaluate-beyond-physics").with("rows", rows.join(", "))), 0);
    }
    if !evaluation.unanswered.is_empty() {
        printer.line("");
        printer.line(&printer.get("evaluate-unanswered"));
        unanswered(&evaluation.unanswered, printer);
    }
}

fn scores(targets: &[TargetScore], grouped: bool, printer: &Printer) -> String {
    let heading = |id: &str| printer.get(&format!("evaluate-column-{id}"));
    let mut columns = vec![Column::Names(heading("target"))];
    if grouped {
        columns.push(Column::LongNames(heading("group")));
    }
    columns.extend(["rows", "answered", "median", "p90", "bias", "inside"].map(|id| Column::Figures(heading(id))));
    let rows = targets.iter().map(|line| {
        let mut cells = vec![line.target.to_string()];
        if grouped {
            let all = printer.get("evaluate-all");
            cells.push(line.group.as_deref().map_or(all, printable));
        }
        cells.extend([line.rows.to_string(), line.answered.to_string()]);
        match &line.score {
            Some(score) => cells.extend([
                format!("{:.1}", score.median_abs_pct),
                format!("{:.1}", score.p90_abs_pct),
                format!("{:+.1}", score.bias_pct),
                format!("{:.0}", score.inside80_pct),
            ]),
            None => cells.extend(["-", "-", "-", "-"].map(str::to_owned)),
        }
        cells
    });
    render(&columns, rows)
}

fn verdict(verdicts: &VerdictScore, printer: &Printer) -> Message {
    let percent = |share: Option<f64>| share.map_or_else(|| printer.get("no-data"), |share| format!("{share:.1} %"));
    Message::new("evaluate-verdicts")
        .with("rows", verdicts.rows)
        .with("caught", percent(verdicts.caught_pct))
        .with("false", percent(verdicts.false_alarm_pct))
        .with("near", percent(verdicts.right_near_limit_pct))
}

/// One line for each reason, most rows first.
fn unanswered(rows: &[Unscored], printer: &Printer) {
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for row in rows {
        reasons.entry(printable(&printer.text(&hob_plan::message(&row.reason.sentence())))).or_default().push(&row.id);
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    for (reason, ids) in reasons {
        let named: Vec<String> = ids.iter().take(NAMED_MAX).map(|id| printable(id)).collect();
        let more = if ids.len() > NAMED_MAX { ", ..." } else { "" };
        printer.wrapped(&format!("{}  {reason}: {}{more}", ids.len(), named.join(", ")), 2);
    }
}
