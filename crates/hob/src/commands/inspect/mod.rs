//! `hob inspect MODEL`.

mod text;

use hob_model::{
    Certainty, Companion, DiskFiles, ModelGraph, ModelKind, ModelSummary, Origin, Quantization, Shape, Unknown,
    companions, read_model,
};
use serde::Serialize;

use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::Printer;

/// The document of `hob inspect --json`, `hob.inspect/1`.
#[derive(Serialize)]
struct Report<'a> {
    name: &'a str,
    family: &'a str,
    kind: ModelKind,
    origin: Origin,
    certainty: Certainty,
    context_max: Option<u64>,
    quantization: &'a Option<Quantization>,
    native_shape: Shape,
    layers: u32,
    #[serde(flatten)]
    summary: ModelSummary,
    companions: Vec<Companion>,
    unknowns: &'a [Unknown],
}

/// Reads the model and shows it.
pub fn run(source: &str, printer: &Printer) -> Result<Code, Failure> {
    let graph = read_model(source, &DiskFiles)?;
    let summary = graph.summary();
    if printer.json_wanted() {
        printer.json("hob.inspect/1", &report(&graph, summary));
    } else {
        text::print(&graph, &summary, printer);
    }
    Ok(Code::Done)
}

fn report(graph: &ModelGraph, summary: ModelSummary) -> Report<'_> {
    Report {
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
        companions: companions(graph),
        unknowns: &graph.unknowns,
    }
}
