//! How long a row's samples are, and how many of them a second were measured.

use hob_estimate::TrainStrategy;
use hob_model::{ModelGraph, ModelKind, Shape};

use crate::question::Unanswered;
use crate::table::Row;

/// One sample: `4096` tokens, or a picture of `224x224`.
pub(super) fn shape(row: &Row, graph: &ModelGraph) -> Result<Shape, Unanswered> {
    let missing = Unanswered::Missing { column: "seq_len" };
    let stated = row.text("seq_len");
    let size = stated.split_whitespace().next().unwrap_or_default();
    if let Some((height, width)) = size.split_once('x') {
        let (Ok(height), Ok(width)) = (height.parse(), width.parse()) else { return Err(missing) };
        return Ok(Shape { height, width, frames: 1, ..graph.native_shape });
    }
    match size.parse() {
        Ok(tokens) => Ok(Shape { tokens, ..Shape::default() }),
        // Pictures have a size that the model was made for; texts have none.
        Err(_) if graph.kind != ModelKind::CausalLm && graph.native_shape.height > 0 => Ok(graph.native_shape),
        Err(_) => Err(missing),
    }
}

/// Samples a second of all GPUs: stated by tokens, by samples, or by the time of a step.
pub(super) fn rate(row: &Row, shape: &Shape, strategy: &TrainStrategy, gpus: u32) -> Option<f64> {
    if let Some(tokens) = row.positive("tokens_per_s_per_gpu") {
        return Some(tokens * f64::from(gpus) / shape.tokens.max(1) as f64);
    }
    // Lengths that nobody stated make of a step's time nothing that can be compared.
    let is_padded = row.says("shorter than seq_len");
    row.positive("samples_per_s").or_else(|| {
        let step = row.positive("step_time_s").filter(|_| !is_padded)?;
        let batch = f64::from(strategy.data) * f64::from(strategy.micro_batch) * f64::from(strategy.accumulation);
        Some(batch / step)
    })
}
