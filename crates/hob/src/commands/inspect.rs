//! `hob inspect MODEL`.

use hob_model::{Certainty, DiskFiles, ModelGraph, ModelKind, ModelSummary, Unknown, read_model};
use hob_text::Message;
use hob_units::Bytes;
use serde::Serialize;

use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::{Printer, printable};
use crate::table::{Column, render};

/// Entries of the list of unknowns that are printed; `--json` holds all.
const UNKNOWNS_SHOWN: usize = 12;

/// The document of `hob inspect --json`, `hob.inspect/1`.
#[derive(Serialize)]
struct Report<'a> {
    name: &'a str,
    family: &'a str,
    kind: ModelKind,
    origin: hob_model::Origin,
    certainty: Certainty,
    context_max: Option<u64>,
    quantization: &'a Option<hob_model::Quantization>,
    native_shape: hob_model::Shape,
    layers: u32,
    #[serde(flatten)]
    summary: ModelSummary,
    unknowns: &'a [Unknown],
}

/// Reads the model and shows it.
pub fn run(source: &str, printer: &Printer) -> Result<Code, Failure> {
    let graph = read_model(source, &DiskFiles)?;
    let summary = graph.summary();
    if printer.json_wanted() {
        printer.json(
            "hob.inspect/1",
            &Report {
                name: &graph.name,
                family: &graph.family,
                kind: graph.kind,
                origin: graph.origin,
                certainty: graph.certainty,
                context_max: graph.context_max,
                quantization: &graph.quantization,
                native_shape: graph.native_shape,
                layers: graph.layers(),
                summary,
                unknowns: &graph.unknowns,
            },
        );
    } else {
        print(&graph, &summary, printer);
    }
    Ok(Code::Done)
}

/// `7,615,616,512`.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn print(graph: &ModelGraph, summary: &ModelSummary, printer: &Printer) {
    let words = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    printer.line(
        &printer.text(
            &Message::new("inspect-head")
                .with("name", printable(&graph.name))
                .with("family", printable(&graph.family))
                .with("layers", graph.layers()),
        ),
    );
    printer.line(&printer.get(&format!("inspect-certainty-{}", words(&graph.certainty))));
    printer.line("");

    let heading = |id: &str| printer.get(id);
    let mut rows: Vec<Vec<String>> =
        summary.parts.iter().map(|part| vec![printable(&part.name), grouped(part.parameters)]).collect();
    rows.push(vec![heading("inspect-total"), grouped(summary.parameters)]);
    if summary.active_parameters != summary.parameters {
        rows.push(vec![heading("inspect-active"), grouped(summary.active_parameters)]);
    }
    printer
        .line(&render(&[Column::Words(heading("column-part")), Column::Figures(heading("column-parameters"))], rows));
    printer.line("");

    let mut rows: Vec<Vec<String>> =
        summary.bytes_by_dtype.iter().map(|(dtype, bytes)| vec![dtype.to_string(), bytes.to_string()]).collect();
    if rows.len() > 1 {
        rows.push(vec![heading("inspect-total"), summary.weight_bytes.to_string()]);
    }
    printer.line(&render(&[Column::Words(heading("column-dtype")), Column::Figures(heading("column-weights"))], rows));
    printer.line("");
    figures(graph, summary, printer);
    unknowns(&graph.unknowns, printer);
}

/// FLOPs and cache.
fn figures(graph: &ModelGraph, summary: &ModelSummary, printer: &Printer) {
    if graph.kind == ModelKind::CausalLm {
        let one = hob_model::Shape { tokens: 1, outputs: 1, ..hob_model::Shape::default() };
        printer.line(&printer.text(&Message::new("inspect-flops-token").with("flops", graph.flops(&one))));
        printer.line(&printer.text(&Message::new("inspect-kv").with("bytes", summary.kv_bytes_per_token)));
    } else {
        let shape = graph.native_shape;
        let size = match (shape.height, shape.frames, shape.tokens) {
            (0, _, tokens) => format!("{tokens} tokens"),
            (height, 0 | 1, _) => format!("{}x{height}", shape.width),
            (height, frames, _) => format!("{}x{height}, {frames} frames", shape.width),
        };
        printer
            .line(&printer.text(&Message::new("inspect-flops-sample").with("flops", summary.flops).with("size", size)));
        if summary.kv_bytes_per_token > Bytes(0) {
            printer.line(&printer.text(&Message::new("inspect-kv").with("bytes", summary.kv_bytes_per_token)));
        }
    }
    if summary.state_bytes_per_sequence > Bytes(0) {
        printer.line(&printer.text(&Message::new("inspect-state").with("bytes", summary.state_bytes_per_sequence)));
    }
}

fn unknowns(unknowns: &[Unknown], printer: &Printer) {
    if unknowns.is_empty() {
        return;
    }
    printer.line("");
    printer.line(&printer.text(&Message::new("inspect-unknown-count").with("count", unknowns.len())));
    for unknown in unknowns.iter().take(UNKNOWNS_SHOWN) {
        printer.line(&printable(&format!("  {}: {}", unknown.what, unknown.consequence)));
    }
    if unknowns.len() > UNKNOWNS_SHOWN {
        let more = unknowns.len() - UNKNOWNS_SHOWN;
        printer.line(&printer.text(&Message::new("inspect-unknown-more").with("count", more)));
    }
}
