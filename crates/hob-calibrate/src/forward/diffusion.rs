//! Denoisers: whole pipelines, one step, or one pass.

use hob_estimate::{ForwardProfile, ForwardShape, ForwardStrategy, Guidance};
use hob_model::{ModelKind, companions};

use super::ask::{Batches, Run};
use super::{engine, family, model, picture, precision};
use crate::library::Library;
use crate::machine::Machine;
use crate::question::{Question, Unanswered, Unsayable};
use crate::table::Row;
use crate::target::Target;

/// `text-to-video 832x480 steps=50 frames=81`, `text-to-image 512x512 per UNet step`, `one denoiser forward`, or
/// `full pipeline 50 steps`.
pub(super) fn question(row: &Row, library: &mut Library<'_>) -> Result<Question, Unanswered> {
    for word in ["controlnet", "adapter", "offload", "layerwise"] {
        if row.text("model").contains(word) {
            return Err(Unanswered::Outside { what: Unsayable::Option { name: word } });
        }
    }
    let graph = model(row, library)?;
    let machine = Machine::of(row, library.catalog)?;
    let engine = engine(row)?;
    let native = ForwardShape::native(&graph);
    let scenario = row.text("scenario");
    let pass = scenario == "one denoiser forward";
    let steps = stated(scenario, "steps").or_else(|| scenario.strip_suffix(" steps")?.rsplit(' ').next()?.parse().ok());
    let shape = ForwardShape {
        resolution: picture(row).or(native.resolution),
        frames: stated(scenario, "frames").map_or(native.frames, u64::from),
        steps: if pass || scenario.ends_with("per UNet step") { 1 } else { steps.unwrap_or(native.steps) },
        guidance: if pass { Guidance::Single } else { native.guidance },
        ..native
    };
    let whole = scenario.starts_with("full pipeline") || steps.is_some();
    let around = if whole { companions(&graph) } else { Vec::new() };
    let strategy = ForwardStrategy {
        sequence_parallel: machine.gpus(),
        ..ForwardStrategy::one_gpu(engine, precision(row, &machine)?, row.count("batch").unwrap_or(1))
    };
    let latency = row.positive("latency_ms_p50").map(|ms| ms / 1000.0);
    let latency = latency.or_else(|| row.positive("samples_per_s").map(|rate| f64::from(strategy.batch) / rate));
    let latency = latency.ok_or(Unanswered::Missing { column: "latency_ms_p50" })?;
    let stratum = if graph.kind == ModelKind::DiffusionVideo { "video" } else { "image" };
    let run = Run { profile: ForwardProfile::new(&graph, &around, shape)?, machine, strategy };
    Ok(Question {
        id: row.text("id").to_owned(),
        line: row.line,
        engine: family(engine).to_owned(),
        stratum,
        measured: vec![(Target::DiffusionLatency, latency)],
        ran_out: None,
        ask: Box::new(Batches { run, latency: Target::DiffusionLatency }),
    })
}

/// `steps=50` of a scenario.
fn stated(scenario: &str, key: &str) -> Option<u32> {
    scenario.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
}
