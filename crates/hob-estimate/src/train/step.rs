//! One optimizer step: computing, communication, bubble and what they overlap.

use hob_units::{Interval, Quantity, Seconds, Share};

use crate::hardware::Hardware;
use crate::outcome::{MemoryEstimate, TimeTerm};
use crate::strategy::{TrainMethod, TrainStrategy};
use crate::train::compute::{Compute, norm};
use crate::train::network::{self, Network};
use crate::train::profile::TrainProfile;
use crate::train::rates::TrainRates;
use crate::train::{TrainEstimate, certainty_factor};

/// Widening on GPU generations that no published training run of the fit was made on.
const UNMEASURED_FACTOR: f64 = 1.3;

/// Seconds of one optimizer step, by what takes them.
pub(crate) struct Step {
    pub compute: Compute,
    pub network: Network,
    /// One micro-step, with what of the network it does not hide.
    pub micro: f64,
    /// Share of the micro-steps' time in which pipeline stages are idle.
    pub bubble: f64,
    /// What is left of the exchange at the end of the step.
    pub end: f64,
    /// All of it.
    pub seconds: f64,
}

/// Seconds of one step of computing alone.
pub(crate) fn computing(profile: &TrainProfile, strategy: &TrainStrategy, rates: &TrainRates<'_>) -> f64 {
    Compute::of(profile, strategy, rates).micro_step() * f64::from(strategy.accumulation) / rates.family_speed.value
}

/// Share of the micro-steps' time in which pipeline stages are idle (arXiv 2104.04473).
pub(crate) fn bubble(strategy: &TrainStrategy, rates: &TrainRates<'_>) -> f64 {
    let chunks = f64::from(strategy.interleave) * f64::from(strategy.accumulation);
    rates.bubble_factor.value * f64::from(strategy.pipeline.saturating_sub(1)) / chunks.max(1.0)
}

/// Factor between the middle of a step and the ends of its interval. A row without a generation stands for all that no run
/// of the fit was made on.
pub(crate) fn band(profile: &TrainProfile, rates: &TrainRates<'_>) -> f64 {
    let unmeasured = if rates.gemm_asymptote.scope.architecture.is_empty() { UNMEASURED_FACTOR } else { 1.0 };
    rates.time_band.value * unmeasured * certainty_factor(profile.certainty)
}

impl Step {
    pub(crate) fn of(
        profile: &TrainProfile,
        hardware: &Hardware<'_>,
        strategy: &TrainStrategy,
        rates: &TrainRates<'_>,
    ) -> Self {
        let compute = Compute::of(profile, strategy, rates);
        let network = network::estimate(profile, hardware, strategy, rates);
        let micro_steps = f64::from(strategy.accumulation);
        let micro = norm(compute.micro_step(), network.hidden_in_step, 4) + network.exposed_in_step;
        let bubble = bubble(strategy, rates);
        let end = norm(micro, network.at_end, 4) - micro;
        let seconds = (micro * micro_steps * (1.0 + bubble) + end) / rates.family_speed.value + compute.optimizer;
        Self { compute, network, micro, bubble, end, seconds }
    }

    /// The estimate with its terms; `memory` is carried into it.
    pub(crate) fn explain(
        &self,
        profile: &TrainProfile,
        hardware: &Hardware<'_>,
        strategy: &TrainStrategy,
        rates: &TrainRates<'_>,
        memory: MemoryEstimate,
    ) -> TrainEstimate {
        let factor = band(profile, rates);
        let step = Interval::within_factor(Seconds(self.seconds), factor);
        let micro_steps = f64::from(strategy.accumulation);
        let samples = f64::from(strategy.data) * f64::from(strategy.micro_batch) * micro_steps;
        let passes = if strategy.method == TrainMethod::Full { 3.0 } else { 2.0 };
        let useful = profile.forward_flops() * passes * samples;
        let mfu: Interval<Share> = step.inverted(useful / (f64::from(hardware.gpus()) * rates.peaks.plain));
        let cap = |share: Share| Share(share.0.min(1.0));
        let waiting = (self.micro - self.compute.micro_step()) * micro_steps + self.end;
        let waiting = waiting / rates.family_speed.value / self.seconds.max(f64::MIN_POSITIVE);
        TrainEstimate {
            memory,
            step,
            terms: self.terms(micro_steps, factor),
            samples_per_second: step.inverted(samples),
            mfu: Interval { low: cap(mfu.low), mid: cap(mfu.mid), high: cap(mfu.high) },
            waits_for_network: cap(Share(waiting)),
        }
    }

    fn terms(&self, micro_steps: f64, factor: f64) -> Vec<TimeTerm> {
        let term = |what, seconds: f64| TimeTerm {
            what,
            time: Interval::within_factor(Seconds(seconds), factor),
            formula: None,
        };
        let (compute, network) = (&self.compute, &self.network);
        let communication = (network.hidden_in_step + network.exposed_in_step) * micro_steps + network.at_end;
        let mut terms = vec![
            term("matrix_products", compute.matrix_products * micro_steps),
            term("attention", (compute.attention + compute.scores) * micro_steps),
            term("elementwise", compute.elementwise * micro_steps),
            term("launches", compute.launches * micro_steps),
            term("communication", communication),
            term("bubble", self.micro * micro_steps * self.bubble),
            term("dequantisation", compute.dequantisation * micro_steps),
            term("optimizer", compute.optimizer),
        ];
        terms.retain(|term| term.time.mid.base() > 0.0);
        terms.sort_by(|a, b| b.time.mid.base().total_cmp(&a.time.mid.base()));
        terms
    }
}
