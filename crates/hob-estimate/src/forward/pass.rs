//! Seconds of one batch: the sum over its passes, each the sum over its operators.
//!
//! An operator takes `(compute^3 + memory^3)^(1/3)`: the longer of the two, rounded off where they are near. A pass takes
//! the longer of what the GPU computes and what the host launches, rounded off the same way, and its exchanges.

use hob_units::{Interval, Seconds};

use super::machine::{Machine, compute, format_of, weight_bytes};
use super::phases::{Phase, PhaseKind};
use super::profile::ForwardProfile;
use super::strategy::ForwardStrategy;
use super::work::Class;
use crate::hardware::Hardware;
use crate::outcome::TimeTerm;

/// Seconds of one pass by cause.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pass {
    /// In the order of [`Class::ALL`].
    pub(super) classes: [f64; 6],
    /// Kernels that start and drain on the GPU.
    pub(super) kernels: f64,
    /// Launches by the host, hidden behind the GPU where that is longer.
    pub(super) host: f64,
    pub(super) exchange: f64,
}

fn norm3(a: f64, b: f64) -> f64 {
    (a * a * a + b * b * b).cbrt()
}

impl Pass {
    pub(super) fn of(phase: &Phase, machine: &Machine, batch: f64) -> Self {
        let samples = batch * phase.samples;
        // Text encoders and the autoencoder run whole on each GPU.
        let ranks = if phase.kind == PhaseKind::Denoise { machine.ranks } else { 1.0 };
        let mut pass = Self::default();
        for work in phase.works.iter().filter(|work| !machine.engine.fuses(work.fusion)) {
            let lane = machine.lane(work.quantised);
            let class = work.class as usize;
            let rate = lane.rates.get(class).copied().unwrap_or(f64::INFINITY);
            let compute = work.flops * samples / ranks / rate;
            let bytes = work.elements * samples / ranks * lane.activation_bytes
                + work.touched(samples / ranks) * lane.weight_bytes;
            let seconds = norm3(compute, bytes / machine.bandwidth) * work.repeat;
            if let Some(sum) = pass.classes.get_mut(class) {
                *sum += seconds;
            }
            let kernels = work.kernels * work.repeat;
            pass.kernels += kernels * machine.kernel_seconds;
            pass.host += kernels * machine.host_seconds;
            if ranks > 1.0 && work.exchanged > 0.0 {
                let bytes = work.exchanged * samples * lane.activation_bytes;
                pass.exchange += work.repeat * (4.0 * machine.exchange_seconds + bytes * machine.exchange_byte);
            }
        }
        pass
    }

    pub(super) fn total(&self) -> f64 {
        norm3(self.classes.iter().sum::<f64>() + self.kernels + self.exchange, self.host)
    }
}

impl ForwardProfile {
    /// Seconds of one batch at the card's whole peak or, where reading the weights once in each pass takes longer, at its
    /// whole bandwidth: no hardware is faster. Activations may never leave the caches. `None` when the catalog lacks a rate.
    #[must_use]
    pub fn floor_seconds(&self, hardware: &Hardware<'_>, strategy: &ForwardStrategy) -> Option<Seconds> {
        let on_board = f64::from(hardware.gpu.gpus_on_board.max(1));
        let bandwidth = hardware.gpu.memory_bandwidth?.0;
        let batch = f64::from(strategy.batch);
        let mut floor = 0.0;
        for phase in &self.phases {
            let ranks =
                if phase.kind == PhaseKind::Denoise { f64::from(strategy.sequence_parallel.max(1)) } else { 1.0 };
            let (mut seconds, mut bytes) = (0.0, 0.0);
            for work in &phase.works {
                let format = format_of(work.quantised, strategy.precision);
                let flops = work.flops * work.repeat * batch * phase.samples / ranks;
                seconds += flops / hardware.gpu.peak(compute(format))?.0;
                bytes += work.touched(batch * phase.samples / ranks) * work.repeat * weight_bytes(format);
            }
            floor += phase.runs * on_board * seconds.max(bytes / bandwidth);
        }
        Some(Seconds(floor))
    }

    /// Seconds from a batch's start to its end.
    pub(super) fn batch_seconds(&self, machine: &Machine, batch: f64) -> f64 {
        let passes: f64 = self.phases.iter().map(|phase| phase.runs * Pass::of(phase, machine, batch).total()).sum();
        passes + machine.batch_seconds
    }

    /// The same by cause.
    pub(super) fn terms(&self, machine: &Machine, batch: f64) -> Vec<TimeTerm> {
        let term = |what, seconds: f64| TimeTerm {
            what,
            time: Interval::within_factor(Seconds(seconds), machine.factor),
            formula: None,
        };
        let mut terms = Vec::new();
        let (mut classes, mut kernels, mut host, mut exchange) = ([0.0; 6], 0.0, 0.0, 0.0);
        for phase in &self.phases {
            let pass = Pass::of(phase, machine, batch);
            let whole = match phase.kind {
                PhaseKind::TextEncoders => Some("text_encoders"),
                PhaseKind::Autoencoder => Some("autoencoder"),
                PhaseKind::Decode => Some("decode_steps"),
                PhaseKind::Forward | PhaseKind::Denoise | PhaseKind::Encode => None,
            };
            if let Some(what) = whole {
                terms.push(term(what, phase.runs * pass.total()));
                continue;
            }
            for (sum, seconds) in classes.iter_mut().zip(pass.classes) {
                *sum += phase.runs * seconds;
            }
            kernels += phase.runs * pass.kernels;
            host += phase.runs * pass.host;
            exchange += phase.runs * pass.exchange;
        }
        for (class, seconds) in Class::ALL.into_iter().zip(classes).filter(|(_, seconds)| *seconds > 0.0) {
            terms.push(term(class.time(), seconds));
        }
        terms.push(term("kernels", kernels));
        terms.push(term("launches", host));
        if exchange > 0.0 {
            terms.push(term("communication", exchange));
        }
        terms.push(term("host", machine.batch_seconds));
        terms
    }
}
