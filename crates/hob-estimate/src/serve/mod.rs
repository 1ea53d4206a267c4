//! Serving a language model: memory, KV room, time to first token, time per token, throughput and capacity.
//!
//! One step model (bytes over bandwidth, FLOPs over peak, kernels times their launch) is shared by decode and prefill;
//! queueing on top of it is closed-form. This module never knows prices and never reads the clock.

mod arithmetic;
mod capacity;
mod footprint;
mod format;
mod load;
mod machine;
mod memory;
mod profile;
mod queue;
mod step;
#[cfg(test)]
mod tests;

use hob_model::ModelGraph;

use crate::efficiency::Efficiencies;
use crate::hardware::Hardware;
use crate::limit::Limit;
use crate::refusal::EstimateError;
use crate::strategy::ServeStrategy;

pub use footprint::ServeFootprint;
pub use load::{Arrival, ServeEstimate, ServeLoad};
pub use profile::ServeProfile;

/// Memory and speed of one replica of `graph` under `load`. For many layouts of one model build a [`ServeProfile`]
/// once and call [`ServeProfile::estimate`].
///
/// # Errors
/// When the model is no language model, the layout does not divide it, the card lacks the format or a rate, or the
/// table a coefficient.
pub fn estimate_llm(
    graph: &ModelGraph,
    hardware: &Hardware<'_>,
    strategy: &ServeStrategy,
    load: &ServeLoad,
    table: &Efficiencies,
) -> Result<ServeEstimate, EstimateError> {
    ServeProfile::new(graph, strategy.weights, strategy.kv)?.estimate(hardware, strategy, load, table)
}

/// Largest open-loop rate of one replica that keeps every limit; see [`ServeProfile::capacity`].
///
/// # Errors
/// As [`estimate_llm`].
pub fn capacity(
    graph: &ModelGraph,
    hardware: &Hardware<'_>,
    strategy: &ServeStrategy,
    load: &ServeLoad,
    limits: &[Limit],
    table: &Efficiencies,
) -> Result<Option<hob_units::PerSecond>, EstimateError> {
    ServeProfile::new(graph, strategy.weights, strategy.kv)?.capacity(hardware, strategy, load, limits, table)
}
