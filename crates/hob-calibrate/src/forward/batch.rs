//! Image classifiers in a framework, with batches of a stated size.

use hob_estimate::{ForwardProfile, ForwardShape, ForwardStrategy};

use super::ask::{Batches, Run};
use super::{engine, family, model, picture, precision};
use crate::library::Library;
use crate::machine::Machine;
use crate::question::{Question, Unanswered};
use crate::table::Row;
use crate::target::Target;

/// `vision batch inference 224x224`.
pub(super) fn question(row: &Row, library: &mut Library<'_>) -> Result<Question, Unanswered> {
    let graph = model(row, library)?;
    let machine = Machine::of(row, library.catalog)?;
    let batch = row.count("batch").ok_or(Unanswered::Missing { column: "batch" })?;
    let engine = engine(row)?;
    let resolution = picture(row).ok_or(Unanswered::Missing { column: "scenario" })?;
    let shape = ForwardShape { resolution: Some(resolution), ..ForwardShape::native(&graph) };
    let strategy = ForwardStrategy::one_gpu(engine, precision(row, &machine)?, batch);
    let latency = row.positive("latency_ms_p50").map(|ms| (Target::VisionLatency, ms / 1000.0));
    let rate = row.positive("samples_per_s").map(|rate| (Target::VisionThroughput, rate));
    let run = Run { profile: ForwardProfile::new(&graph, &[], shape)?, machine, strategy };
    Ok(Question {
        id: row.text("id").to_owned(),
        line: row.line,
        engine: family(engine).to_owned(),
        stratum: "framework",
        measured: latency.into_iter().chain(rate).collect(),
        ran_out: None,
        ask: Box::new(Batches { run, latency: Target::VisionLatency }),
    })
}
