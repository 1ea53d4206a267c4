//! Memory and step time of training, as intervals.
//!
//! States by optimizer and sharding, activations folded over the operator graph, arithmetic over peak rates, bytes over
//! links. The few fitted numbers are rows of `data/calibration/training.csv`. Nothing here reads a file, guesses a price
//! or ranks layouts.

mod activations;
mod compute;
mod layout;
mod memory;
mod network;
mod profile;
mod states;
#[cfg(test)]
mod tests;

use hob_model::{Certainty, ModelGraph, Shape};
use hob_units::{Bytes, Interval, PerSecond, Quantity, Seconds, Share};
use serde::Serialize;

pub use profile::TrainProfile;

use crate::efficiency::{Coefficient, Efficiencies, Scope};
use crate::hardware::Hardware;
use crate::outcome::{EstimateError, MemoryEstimate, TimeTerm};
use crate::strategy::{TrainMethod, TrainStrategy};

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
        let memory = memory::estimate(self, hardware, strategy, framework, table)?;
        let compute = compute::estimate(self, hardware, strategy, framework, table)?;
        let network = network::estimate(self, hardware, strategy, framework, table)?;
        let scope = Scope::any().engine(framework);

        let micro_steps = f64::from(strategy.accumulation);
        let busy = compute.micro_step();
        let micro = compute::norm(busy, network.hidden_in_step, 4) + network.exposed_in_step;
        let bubble_row = table.get("train.bubble_factor", &scope)?;
        let bubble =
            bubble_row.value * f64::from(strategy.pipeline - 1) / (f64::from(strategy.interleave) * micro_steps);
        let family = table.get("train.family_speed", &scope)?;
        let end = compute::norm(micro, network.at_end, 4) - micro;
        let step = (micro * micro_steps * (1.0 + bubble) + end) / family.value + compute.optimizer;

        let class = if strategy.method == TrainMethod::Full { class_of(self) } else { "adapters" };
        let class = if class_of(self) == "moe" { "moe" } else { class };
        let band = table.get("train.time_band", &scope.clone().class(class))?;
        let unmeasured = if compute.measured_generation { 1.0 } else { UNMEASURED_FACTOR };
        let factor = band.value * unmeasured * certainty_factor(self.certainty);
        let step = Interval::within_factor(Seconds(step), factor);

        let samples = f64::from(strategy.data) * f64::from(strategy.micro_batch) * micro_steps;
        let passes = if strategy.method == TrainMethod::Full { 3.0 } else { 2.0 };
        let useful = self.forward_flops() * passes * samples;
        let mfu: Interval<Share> = step.inverted(useful / (f64::from(hardware.gpus()) * compute.reference_peak));
        let cap = |share: Share| Share(share.0.min(1.0));
        let waiting = (micro - busy) * micro_steps + end;

        let term = |what, seconds: f64, formula: String| TimeTerm {
            what,
            time: Interval::within_factor(Seconds(seconds), factor),
            formula,
        };
        let source = &family.source;
        let communication = (network.hidden_in_step + network.exposed_in_step) * micro_steps + network.at_end;
        let mut terms = vec![
            term(
                "matrix_products",
                compute.matrix_products * micro_steps,
                format!("FLOPs / (peak x asymptote x format / (1 + 1000 sqrt(tensor) / width)) [{source}]"),
            ),
            term(
                "attention",
                (compute.attention + compute.scores) * micro_steps,
                format!("FLOPs x passes / (16-bit peak x 0.33 of the asymptote), stored scores / bandwidth [{source}]"),
            ),
            term(
                "elementwise",
                compute.elementwise * micro_steps,
                format!("bytes of norms, activations and convolutions / memory bandwidth [{source}]"),
            ),
            term("launches", compute.launches * micro_steps, format!("layers x passes x seconds each [{source}]")),
            term(
                "communication",
                communication,
                "ring time of sharded weights, gradients, tensor, context, pipeline and expert exchange \
                 [arXiv 1909.08053, 1910.02054]"
                    .to_owned(),
            ),
            term(
                "bubble",
                micro * micro_steps * bubble,
                format!("{:.2} x (stages - 1) / (chunks x micro-batches) [{}]", bubble_row.value, bubble_row.source),
            ),
            term(
                "dequantisation",
                compute.dequantisation * micro_steps,
                format!("bytes / memory bandwidth [{source}]"),
            ),
            term("optimizer", compute.optimizer, "states read and written / memory bandwidth".to_owned()),
        ];
        terms.retain(|term| term.time.mid.base() > 0.0);
        terms.sort_by(|a, b| b.time.mid.base().total_cmp(&a.time.mid.base()));
        Ok(TrainEstimate {
            memory,
            step,
            terms,
            samples_per_second: step.inverted(samples),
            mfu: Interval { low: cap(mfu.low), mid: cap(mfu.mid), high: cap(mfu.high) },
            waits_for_network: cap(Share(waiting / family.value / step.mid.base().max(f64::MIN_POSITIVE))),
        })
    }
}

/// Widening on GPU generations that no published training run of the fit was made on.
const UNMEASURED_FACTOR: f64 = 1.3;

/// Widening by how well the model is known.
pub(crate) fn certainty_factor(certainty: Certainty) -> f64 {
    match certainty {
        Certainty::Exact => 1.0,
        Certainty::Inferred => 1.3,
        Certainty::Rough => 1.6,
    }
}

/// Stratum of the fitted errors.
pub(crate) fn class_of(profile: &TrainProfile) -> &'static str {
    if profile.convolutional {
        "convolution"
    } else if profile.experts.is_empty() {
        "dense"
    } else {
        "moe"
    }
}

/// `times` a coefficient, with its band, in bytes.
fn spread(times: f64, row: &Coefficient) -> Interval<Bytes> {
    let at = |value: f64| Bytes::from_base(value * times);
    Interval { low: at(row.low), mid: at(row.value), high: at(row.high) }
}
