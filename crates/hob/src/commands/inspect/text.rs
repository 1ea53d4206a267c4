//! What `hob inspect` says to a person: tables of parameters and bytes, a few sentences on work and memory, and the list
//! of what was not understood. Computes nothing of its own but shares.

use hob_model::{
    Certainty, Companion, Dtype, ModelGraph, ModelKind, ModelSummary, OpKind, Origin, PartRole, PartSummary, Shape,
    Unknown, companions,
};
use hob_text::Message;
use hob_units::{Bytes, Flops};

use crate::printer::{Printer, printable};
use crate::table::{Column, render};

/// Rows of one table or list that are printed; `--json` holds all.
const ROWS_SHOWN: usize = 12;

/// Prints all of it.
pub fn print(graph: &ModelGraph, summary: &ModelSummary, printer: &Printer) {
    heading(graph, summary, printer);
    printer.line("");
    parts(graph, summary, printer);
    printer.line("");
    bytes(summary, printer);
    printer.line("");
    beside(graph, printer);
    work(graph, printer);
    memory(graph, summary, printer);
    unknowns(&graph.unknowns, printer);
}

/// A unit variant as it stands in message ids.
fn word(value: &dyn std::fmt::Debug) -> String {
    format!("{value:?}").to_lowercase()
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

fn heading(graph: &ModelGraph, summary: &ModelSummary, printer: &Printer) {
    let head = if graph.origin == Origin::ParameterCount {
        Message::new("inspect-head-count").with("count", grouped(summary.parameters))
    } else {
        Message::new("inspect-head")
            .with("name", printable(&graph.name))
            .with("kind", printer.get(&format!("inspect-kind-{}", word(&graph.kind))))
            .with("family", printable(&graph.family))
    };
    let mut line = printer.text(&head.with("layers", graph.layers()));
    if let Some(context) = graph.context_max {
        line += &printer.text(&Message::new("inspect-head-context").with("tokens", grouped(context)));
    }
    printer.wrapped(&line, 0);
    let certainty = match graph.certainty {
        Certainty::Exact if !graph.unknowns.is_empty() => "inspect-certainty-exact-below".to_owned(),
        certainty => format!("inspect-certainty-{}", word(&certainty)),
    };
    printer.wrapped(&printer.get(&certainty), 0);
    if let Some(quantization) = &graph.quantization {
        let id = if quantization.quantised_activations { "inspect-quantised-both" } else { "inspect-quantised" };
        let message =
            Message::new(id).with("dtype", quantization.dtype).with("method", printable(&quantization.method));
        printer.wrapped(&printer.text(&message), 0);
    }
}

fn parts(graph: &ModelGraph, summary: &ModelSummary, printer: &Printer) {
    let share = |parameters: u64| match summary.parameters {
        0 => "-".to_owned(),
        all => format!("{:.1}", parameters as f64 / all as f64 * 100.0),
    };
    let row = |name: String, parameters: u64| vec![name, grouped(parameters), share(parameters)];
    let is_tied = |part: &PartSummary| {
        let operators = graph.parts.iter().filter(|own| own.name == part.name).flat_map(|own| &own.blocks);
        part.parameters == 0 && operators.flat_map(|block| &block.ops).any(|op| op.tied)
    };
    let mut rows = Vec::new();
    let (extra, counted): (Vec<&PartSummary>, Vec<&PartSummary>) =
        summary.parts.iter().partition(|part| part.role == PartRole::MultiTokenPrediction);
    for part in counted.iter().take(ROWS_SHOWN) {
        let name = name_of_part(&part.name, printer);
        rows.push(if is_tied(part) {
            vec![name, printer.get("inspect-tied"), "-".to_owned()]
        } else {
            row(name, part.parameters)
        });
    }
    if let Some(rest) = counted.get(ROWS_SHOWN..).filter(|rest| !rest.is_empty()) {
        let name = printer.text(&Message::new("inspect-more-parts").with("count", rest.len()));
        rows.push(row(name, rest.iter().map(|part| part.parameters).fold(0, u64::saturating_add)));
    }
    rows.push(row(printer.get("inspect-total"), summary.parameters));
    if summary.active_parameters != summary.parameters {
        rows.push(row(printer.get("inspect-active"), summary.active_parameters));
    }
    for part in extra {
        rows.push(vec![printer.get("inspect-beside-the-total"), grouped(part.parameters), "-".to_owned()]);
    }
    let columns = [
        Column::Words(printer.get("column-part")),
        Column::Figures(printer.get("column-parameters")),
        Column::Figures(printer.get("inspect-column-share")),
    ];
    printer.line(&render(&columns, rows));
}

/// Parts of Hob's own graphs have names in both languages; those of a file keep theirs.
fn name_of_part(name: &str, printer: &Printer) -> String {
    let id = format!("inspect-part-{}", name.to_lowercase().replace(' ', "-"));
    if printer.catalogue().knows(&id) { printer.get(&id) } else { printable(name) }
}

/// Sizes carry their units in the cells: a norm's kilobytes beside an expert's gigabytes would be 0.0 under one heading.
fn bytes(summary: &ModelSummary, printer: &Printer) {
    let mut rows: Vec<Vec<String>> = summary
        .bytes_by_dtype
        .iter()
        .map(|(dtype, bytes)| vec![dtype.to_string(), bits(*dtype), bytes.to_string()])
        .collect();
    if rows.len() > 1 {
        rows.push(vec![printer.get("inspect-total"), String::new(), summary.weight_bytes.to_string()]);
    }
    let columns = [
        Column::Words(printer.get("column-dtype")),
        Column::Figures(printer.get("inspect-column-bits")),
        Column::Figures(printer.get("column-weights")),
    ];
    printer.line(&render(&columns, rows));
}

/// Bits of one element with its share of the scales, to two decimals.
fn bits(dtype: Dtype) -> String {
    ((dtype.bits() * 100.0).round() / 100.0).to_string()
}

/// Text encoders and the autoencoder of a pipeline.
fn beside(graph: &ModelGraph, printer: &Printer) {
    let companions = companions(graph);
    if companions.is_empty() {
        return;
    }
    let work = |companion: &Companion| {
        let decoder = companion.decoder.map(|decoder| decoder.flops(&graph.native_shape));
        companion.text.map(|text| text.flops()).or(decoder).map_or_else(|| "-".to_owned(), |flops| flops.to_string())
    };
    let rows = companions
        .iter()
        .map(|companion| vec![companion.name.to_owned(), grouped(companion.parameters), work(companion)]);
    let columns = [
        Column::Words(printer.get("inspect-column-beside")),
        Column::Figures(printer.get("column-parameters")),
        Column::Figures(printer.get("inspect-column-forward")),
    ];
    printer.line(&render(&columns, rows));
    printer.line("");
}

/// FLOPs of one forward pass: for a token where there is a decoder to serve, else for one sample.
fn work(graph: &ModelGraph, printer: &Printer) {
    let say = |id: &str, flops: Flops, shape: Shape| {
        if flops.0 <= 0.0 {
            return printer.line(&printer.get("inspect-flops-no-data"));
        }
        let message = Message::new(id)
            .with("flops", flops)
            .with("tokens", grouped(shape.tokens.saturating_add(shape.past)))
            .with("width", shape.width)
            .with("height", shape.height)
            .with("frames", shape.frames);
        printer.wrapped(&printer.text(&message), 0);
    };
    if graph.kind != ModelKind::CausalLm {
        let id = format!("inspect-flops-{}", word(&graph.kind));
        say(&id, graph.flops(&graph.native_shape), graph.native_shape);
        return floor(graph, printer);
    }
    let one = Shape { tokens: 1, outputs: 1, ..Shape::default() };
    say("inspect-flops-token", graph.flops(&one), one);
    // How much the scores add depends on windows, chunks and latents, which the empty context does not show.
    if let Some(context) = graph.context_max.filter(|context| *context > 1) {
        let last = Shape { past: context - 1, ..one };
        say("inspect-flops-token-last", graph.flops(&last), last);
    }
    floor(graph, printer);
}

/// That what was said of the work is a floor, where some of it is not known.
fn floor(graph: &ModelGraph, printer: &Printer) {
    let count = graph.opaque_operators();
    if count > 0 {
        printer.wrapped(&printer.text(&Message::new("inspect-flops-floor").with("count", count)), 0);
    }
}

/// What a running sequence keeps.
fn memory(graph: &ModelGraph, summary: &ModelSummary, printer: &Printer) {
    if summary.kv_bytes_per_token > Bytes(0) {
        let id = if graph.context_max.is_some() { "inspect-kv-full" } else { "inspect-kv" };
        let context = graph.context_max.unwrap_or_default();
        let message = Message::new(id)
            .with("bytes", summary.kv_bytes_per_token)
            .with("full", graph.kv_bytes(context, 16.0))
            .with("tokens", grouped(context));
        printer.wrapped(&printer.text(&message), 0);
    }
    if summary.state_bytes_per_sequence > Bytes(0) {
        let is_recurrent = graph.operators().any(|(_, op)| matches!(op.kind, OpKind::LinearAttention { .. }));
        let id = if is_recurrent { "inspect-state-recurrent" } else { "inspect-state" };
        let message = Message::new(id).with("bytes", summary.state_bytes_per_sequence);
        printer.wrapped(&printer.text(&message), 0);
    }
}

fn unknowns(unknowns: &[Unknown], printer: &Printer) {
    if unknowns.is_empty() {
        return;
    }
    printer.line("");
    printer.line(&printer.text(&Message::new("inspect-unknown-count").with("count", unknowns.len())));
    for unknown in unknowns.iter().take(ROWS_SHOWN) {
        printer.wrapped(&printable(&format!("{}: {}", unknown.what, unknown.consequence)), 2);
    }
    if unknowns.len() > ROWS_SHOWN {
        let more = unknowns.len() - ROWS_SHOWN;
        printer.line(&printer.text(&Message::new("inspect-unknown-more").with("count", more)));
    }
}
