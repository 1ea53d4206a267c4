//! MLPerf inference results: all GPUs busy, under a latency limit, or one query at a time.
//!
//! Results state no batch and no number format. What their authors submit is the format that the card multiplies
//! fastest and the accuracy target allows, in batches that fill the card; both are set here for each model.

use hob_catalog::{ComputeType, Gpu};
use hob_estimate::{ForwardEngine, ForwardProfile, ForwardShape, ForwardStrategy, NumberFormat};
use hob_model::{ModelGraph, ModelKind, companions};
use hob_units::Seconds;

use super::ask::{Batches, Run, UnderLimit};
use super::{engine, family, model};
use crate::library::Library;
use crate::machine::Machine;
use crate::question::{Ask, Question, Unanswered, Unsayable};
use crate::table::Row;
use crate::target::Target;

/// Tokens of a question with its context in SQuAD 1.1, padding removed: on average and at the 90th percentile.
const SQUAD: (u64, u64) = (180, 280);
/// Denoising steps of the SDXL task (MLPerf inference rules 4.0, 2024).
const STEPS: u32 = 20;

/// What the rules (MLPerf inference 0.7 to 5.1) and usual submissions say of a task.
struct Task {
    model: &'static str,
    /// A batch that fills any card.
    batch: u32,
    /// The server scenario's limit on the 99th percentile.
    limit: Option<Seconds>,
}

const fn task(model: &'static str, batch: u32, limit_ms: f64) -> Task {
    Task { model, batch, limit: Some(Seconds(limit_ms / 1000.0)) }
}

const TASKS: [Task; 6] = [
    task("resnet50", 256, 15.0),
    task("bert-large", 256, 130.0),
    task("retinanet", 16, 100.0),
    task("ssd-resnet34", 16, 100.0),
    task("stable-diffusion-xl", 4, 20_000.0),
    Task { model: "whisper", batch: 64, limit: None },
];

/// `MLPerf-offline`, `MLPerf-server` or `MLPerf-singlestream`.
pub(super) fn question(row: &Row, library: &mut Library<'_>) -> Result<Question, Unanswered> {
    let graph = model(row, library)?;
    if graph.kind == ModelKind::CausalLm {
        return Err(Unanswered::Outside { what: Unsayable::UnstatedLoad {} });
    }
    let task = TASKS.iter().find(|task| task.model == row.text("model"));
    let task = task.ok_or(Unanswered::UnknownModel { name: row.text("model").to_owned() })?;
    let machine = Machine::of(row, library.catalog)?;
    let engine = engine(row)?;
    let alone = row.text("scenario") == "MLPerf-singlestream";
    let strategy =
        ForwardStrategy::one_gpu(engine, precision(&graph, &machine.gpu, engine), if alone { 1 } else { task.batch });
    let profile = ForwardProfile::new(&graph, &companions(&graph), shape(&graph, alone))?;
    let run = Run { profile, machine, strategy };
    let rate = || row.positive("samples_per_s").ok_or(Unanswered::Missing { column: "samples_per_s" });
    let batches = |run| -> Box<dyn Ask> { Box::new(Batches { run, latency: Target::VisionLatency }) };
    let (stratum, measured, ask) = match row.text("scenario") {
        "MLPerf-offline" => ("offline", (Target::VisionThroughput, rate()?), batches(run)),
        "MLPerf-singlestream" => {
            let latency = row.positive("latency_ms_p50").or_else(|| row.positive("latency_ms_p90"));
            let latency = latency.ok_or(Unanswered::Missing { column: "latency_ms_p90" })?;
            ("singlestream", (Target::VisionLatency, latency / 1000.0), batches(run))
        }
        "MLPerf-server" => {
            let at_most = task.limit.ok_or(Unanswered::Missing { column: "scenario" })?;
            let ask: Box<dyn Ask> = Box::new(UnderLimit { run, at_most });
            ("server", (Target::VisionThroughput, rate()?), ask)
        }
        other => return Err(Unanswered::Outside { what: Unsayable::Scenario { name: other.to_owned() } }),
    };
    Ok(Question {
        id: row.text("id").to_owned(),
        line: row.line,
        engine: family(engine).to_owned(),
        stratum,
        measured: vec![measured],
        ran_out: None,
        ask,
    })
}

fn shape(graph: &ModelGraph, alone: bool) -> ForwardShape {
    let native = ForwardShape::native(graph);
    match graph.kind {
        ModelKind::TextEncoder => ForwardShape { sequence: if alone { SQUAD.1 } else { SQUAD.0 }, ..native },
        ModelKind::DiffusionImage => ForwardShape { steps: STEPS, ..native },
        _ => native,
    }
}

/// 8 bits where the accuracy target allows it: integers for convolutions and encoders unless the card has hardly any of
/// them (B300), floats for denoisers where the card has them.
fn precision(graph: &ModelGraph, gpu: &Gpu, engine: ForwardEngine) -> NumberFormat {
    let has = |compute, at_least: ComputeType| {
        let rate = |compute| gpu.peak(compute).map_or(0.0, |rate| rate.0);
        rate(compute) > rate(at_least)
    };
    let float = has(ComputeType::Fp8, ComputeType::Fp16);
    match graph.kind {
        _ if engine != ForwardEngine::Tensorrt => NumberFormat::Fp16,
        ModelKind::Speech => NumberFormat::Fp16,
        ModelKind::DiffusionImage if float => NumberFormat::Fp8,
        _ if has(ComputeType::Int8, ComputeType::Fp16) => NumberFormat::Int8,
        _ if float => NumberFormat::Fp8,
        _ => NumberFormat::Fp16,
    }
}
