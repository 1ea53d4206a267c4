//! Predicted against measured, before and after the measurements were taken in.

use std::path::Path;

use hob_calibrate::{Point, Probe, Target};
use hob_text::Message;
use hob_units::{Bytes, Interval, PerSecond, Quantity, Seconds};
use serde::Serialize;

use crate::printer::{Printer, printable};
use crate::table::{Column, render};

#[derive(Serialize)]
struct Document<'p> {
    ledger: String,
    added: &'p [&'p str],
    points: Vec<PointDocument<'p>>,
    beyond_physics: &'p [(String, Target)],
}

#[derive(Serialize)]
struct PointDocument<'p> {
    id: &'p str,
    card: &'p str,
    engine: &'p str,
    model: &'p str,
    target: Target,
    measured: f64,
    before: Ends,
    after: Ends,
}

/// An interval in the base unit of its target.
#[derive(Serialize)]
struct Ends {
    low: f64,
    mid: f64,
    high: f64,
    unit: &'static str,
}

impl Ends {
    fn new(target: Target, interval: Interval<f64>) -> Self {
        let Interval { low, mid, high } = interval;
        let unit = match target {
            _ if is_memory(target) => Bytes::UNIT,
            _ if target.is_rate() => PerSecond::UNIT,
            _ => Seconds::UNIT,
        };
        Self { low, mid, high, unit }
    }
}

/// Prints the added rows; the document has all rows of the ledger.
pub fn probe(probe: &Probe, added: &[&str], ledger: &Path, printer: &Printer) {
    if printer.json_wanted() {
        let point = |point| {
            let Point { id, place, target, measured, before, after }: &Point = point;
            let (card, engine, model) = (&*place.card, &*place.engine, &*place.model);
            let (before, after) = (Ends::new(*target, *before), Ends::new(*target, *after));
            PointDocument { id, card, engine, model, target: *target, measured: *measured, before, after }
        };
        let points = probe.points.iter().map(point).collect();
        let ledger = ledger.display().to_string();
        printer.json("hob.probe/1", &Document { ledger, added, points, beyond_physics: &probe.beyond_physics });
        return;
    }
    let words = ["run", "target", "measured", "before", "off-before", "after", "off-after", "band"];
    let heading = |id: &str| printer.get(&format!("probe-column-{id}"));
    let columns = words.map(|id| {
        if matches!(id, "run" | "target") { Column::Names(heading(id)) } else { Column::Figures(heading(id)) }
    });
    let of_added = probe.points.iter().filter(|point| added.contains(&point.id.as_str()));
    let rows: Vec<Vec<String>> = of_added.map(row).collect();
    if !rows.is_empty() {
        printer.line(&render(&columns, rows));
        printer.line("");
    }
    let file = ledger.display();
    let count = Message::new("probe-summary").with("added", added.len()).with("rows", probe.rows()).with("file", file);
    printer.wrapped(&printer.text(&count), 0);
    printer.line(&printer.text(&Message::new("probe-next").with("file", ledger.display())));
}

fn row(point: &Point) -> Vec<String> {
    let off = |interval: Interval<f64>| format!("{:+.0} %", 100.0 * (interval.mid / point.measured - 1.0));
    let figure = |value: f64| figure(point.target, value);
    vec![
        printable(&point.id),
        point.target.to_string(),
        figure(point.measured),
        figure(point.before.mid),
        off(point.before),
        figure(point.after.mid),
        off(point.after),
        format!("{} .. {}", figure(point.after.low), figure(point.after.high)),
    ]
}

fn figure(target: Target, value: f64) -> String {
    match target {
        _ if is_memory(target) => Bytes::from_base(value).to_string(),
        _ if target.is_rate() => PerSecond(value).to_string(),
        _ => Seconds(value).to_string(),
    }
}

fn is_memory(target: Target) -> bool {
    matches!(target, Target::TrainMemory | Target::ServeWeights | Target::ServeKv | Target::ServeTotal)
}
