//! Memory and step time of training, as intervals.
//!
//! States by optimizer and sharding, activations folded over the operator graph, arithmetic over peak rates, bytes over
//! links. The few fitted numbers are rows of `data/calibration/training.csv`. Nothing here reads a file, guesses a price
//! or ranks layouts.

mod activations;
mod arithmetic;
mod compute;
mod layout;
mod memory;
mod network;
mod profile;
mod rates;
mod states;
mod step;
#[cfg(test)]
mod tests;

use hob_model::{Certainty, ModelGraph, Shape};
use hob_units::{Bytes, Interval, PerSecond, Quantity, Seconds, Share};
use serde::Serialize;

pub use profile::TrainProfile;
pub use rates::TrainRates;

use crate::efficiency::{Coefficient, Efficiencies};
use crate::hardware::Hardware;
use crate::outcome::{MemoryEstimate, TimeTerm};
use crate::refusal::EstimateError;
use crate::strategy::TrainStrategy;

/// What is trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TrainJob {
    /// One sample: tokens for text and for a speech decoder; height, width and frames for pictures and video.
    pub shape: Shape,
    /// Framework, as the efficiency table names it: `pytorch`, `megatron`, `torchtitan`, `deepspeed`, `torchtune`,
    /// `litgpt`, `llm-foundry`, `nemo`. Any other is taken as PyTorch, with a wider interval.
    pub framework: &'static str,
}

/// What one training layout needs and how fast it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrainEstimate {
    /// Memory of the fullest GPU.
    pub memory: MemoryEstimate,
    /// One optimizer step.
    pub step: Interval<Seconds>,
    /// What the step is spent on, before overlap.
    pub terms: Vec<TimeTerm>,
    /// Samples of all ranks in a second.
    pub samples_per_second: Interval<PerSecond>,
    /// Arithmetic that the model needs (without recompute) over the peak of all GPUs.
    pub mfu: Interval<Share>,
    /// Share of the step in which the GPUs wait for the network.
    pub waits_for_network: Share,
}

/// Estimates one layout. Over many layouts, build one [`TrainProfile`] and call [`TrainProfile::estimate`].
///
/// # Errors
/// When the layout divides neither model nor machines, the card lacks the number format, or the catalog lacks a rate.
pub fn estimate_train(
    graph: &ModelGraph,
    hardware: &Hardware<'_>,
    strategy: &TrainStrategy,
    job: &TrainJob,
    table: &Efficiencies,
) -> Result<TrainEstimate, EstimateError> {
    TrainProfile::new(graph, &job.shape).estimate(hardware, strategy, job.framework, table)
}

impl TrainProfile {
    /// Estimates one layout of this model at this sample size.
    ///
    /// # Errors
    /// As [`estimate_train`].
    pub fn estimate(
        &self,
        hardware: &Hardware<'_>,
        strategy: &TrainStrategy,
        framework: &str,
        table: &Efficiencies,
    ) -> Result<TrainEstimate, EstimateError> {
        layout::check(self, hardware, strategy)?;
        let rates = TrainRates::new(self, hardware, strategy.precision, strategy.method, framework, table)?;
        let memory = memory::Sum::of(self, strategy, &rates).explain(self, hardware, strategy, &rates);
        Ok(step::Step::of(self, hardware, strategy, &rates).explain(self, hardware, strategy, &rates, memory))
    }

    /// The middle of one optimizer step alone, at rates that were looked up before for this precision and method.
    ///
    /// # Errors
    /// When the layout divides neither model nor machines.
    pub fn step(
        &self,
        hardware: &Hardware<'_>,
        strategy: &TrainStrategy,
        rates: &TrainRates<'_>,
    ) -> Result<Seconds, EstimateError> {
        layout::check(self, hardware, strategy)?;
        Ok(Seconds(step::Step::of(self, hardware, strategy, rates).seconds))
    }

    /// Memory of the fullest GPU alone; the layout is taken as it is.
    #[must_use]
    pub fn memory(&self, strategy: &TrainStrategy, rates: &TrainRates<'_>) -> Interval<Bytes> {
        let total = memory::Sum::of(self, strategy, rates).total(rates);
        Interval::within_factor(Bytes::from_base(total), memory::band(self, rates))
    }

    /// Weights, adapters and optimizer state of the fullest GPU: what a run cannot do without.
    #[must_use]
    pub fn states(&self, strategy: &TrainStrategy, framework: &str) -> Bytes {
        let states = states::States::of(self, strategy, framework);
        Bytes::from_base(states.weights + states.optimizer + states.adapters)
    }

    /// One step of computing alone: what the layout would take if it never waited for a link, a stage or the optimizer.
    #[must_use]
    pub fn computing(&self, strategy: &TrainStrategy, rates: &TrainRates<'_>) -> Seconds {
        Seconds(step::computing(self, strategy, rates))
    }

    /// Share of a step's micro-steps in which pipeline stages are idle.
    #[must_use]
    pub fn bubble(strategy: &TrainStrategy, rates: &TrainRates<'_>) -> f64 {
        step::bubble(strategy, rates)
    }

    /// Positions of the residual stream in one sample: what context parallelism splits.
    #[must_use]
    pub fn positions(&self) -> f64 {
        self.positions
    }

    /// Whether tensor and context parallelism can split it: it has attention heads.
    #[must_use]
    pub fn has_heads(&self) -> bool {
        !self.heads.is_empty()
    }

    /// Numbers of experts that expert parallelism can spread (empty: dense).
    #[must_use]
    pub fn experts(&self) -> &[u32] {
        &self.experts
    }

    /// Whether convolutions are most of its work.
    #[must_use]
    pub fn is_convolutional(&self) -> bool {
        self.convolutional
    }

    /// Layers that pipeline stages can share.
    #[must_use]
    pub fn layers(&self) -> u32 {
        self.layers
    }
}

/// Widening by how well the model is known.
pub(crate) fn certainty_factor(certainty: Certainty) -> f64 {
    match certainty {
        Certainty::Exact => 1.0,
        Certainty::Inferred => 1.3,
        Certainty::Rough => 1.6,
    }
}

/// `times` a coefficient, with its band, in bytes.
fn spread(times: f64, row: &Coefficient) -> Interval<Bytes> {
    let at = |value: f64| Bytes::from_base(value * times);
    Interval { low: at(row.low), mid: at(row.value), high: at(row.high) }
}
