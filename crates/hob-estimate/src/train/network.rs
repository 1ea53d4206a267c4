//! Seconds that the ranks of a layout spend moving bytes to each other.

use hob_units::Quantity;

use crate::hardware::{Hardware, Link};
use crate::strategy::{Recompute, Sharding, TrainMethod, TrainStrategy};
use crate::train::profile::TrainProfile;
use crate::train::rates::TrainRates;
use crate::train::states::{Held, adapters, frozen_bytes};

/// Bytes of a 16-bit element.
const HALF: f64 = 2.0;
/// Bytes of an element of an embedding table's row.
const ROW_ELEMENT: f64 = 4.0;

/// Network time of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Network {
    /// In one micro-step, overlappable with computing (gathering shards, passing keys and values).
    pub hidden_in_step: f64,
    /// In one micro-step, on the critical path (tensor all-reduces, expert exchange, pipeline hand-over).
    pub exposed_in_step: f64,
    /// Once in an optimizer step, overlappable with the last micro-step's backward pass.
    pub at_end: f64,
}

/// What carries a group of `size` ranks that lie `stride` apart, and its bytes per second for one rank, one way.
fn link(hardware: &Hardware<'_>, size: f64, stride: f64) -> (Link, f64) {
    let in_machine = f64::from(hardware.instance.gpu_count.max(1));
    let (inside, rate) = hardware.inside();
    if size * stride <= in_machine || hardware.nodes <= 1 {
        return (inside, rate.base());
    }
    // The machine's cards carry one ring for each rank of the machine that is in a group of its own; all ranks of one
    // machine in the same group share one ring, which then has the whole machine's cards.
    let rings = stride.min(in_machine);
    let (between, machine) = hardware.between();
    (between, (machine.base() / rings).min(rate.base()))
}

/// One exchange of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Exchange {
    /// Stable id.
    pub what: &'static str,
    /// What of it waits, and when.
    pub when: When,
    /// Bytes that one rank has to see, over all passes.
    pub bytes: f64,
    /// Ranks of the ring; 1 for a hand-over from one rank to the next.
    pub ranks: f64,
    /// Bytes a second of the slowest link, for one rank.
    pub rate: f64,
    /// Share of the time that counts.
    pub exposure: f64,
}

/// When an exchange happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// In each micro-step, overlapped with computing.
    Hidden,
    /// In each micro-step, on the critical path.
    Exposed,
    /// Once in an optimizer step, overlapped with the last micro-step.
    AtEnd,
}

impl Exchange {
    /// Ring time of a gather or scatter: (n - 1) / n of the bytes pass each link. A hand-over passes all.
    pub(crate) fn seconds(&self) -> f64 {
        let share = if self.ranks > 1.0 { (self.ranks - 1.0) / self.ranks } else { 1.0 };
        self.exposure * self.bytes * share / self.rate
    }
}

/// Network time of `strategy`.
pub(crate) fn estimate(
    profile: &TrainProfile,
    hardware: &Hardware<'_>,
    strategy: &TrainStrategy,
    rates: &TrainRates<'_>,
) -> Network {
    let mut network = Network::default();
    exchanges(profile, hardware, strategy, rates, |exchange| {
        let sum = match exchange.when {
            When::Hidden => &mut network.hidden_in_step,
            When::Exposed => &mut network.exposed_in_step,
            When::AtEnd => &mut network.at_end,
        };
        *sum += exchange.seconds();
    });
    network
}

/// Every exchange of one rank. Ranks are laid out tensor first, then context, data, pipeline.
pub(crate) fn exchanges(
    profile: &TrainProfile,
    hardware: &Hardware<'_>,
    strategy: &TrainStrategy,
    rates: &TrainRates<'_>,
    mut see: impl FnMut(Exchange),
) {
    let [t, c, d, p, ep] =
        [strategy.tensor, strategy.context, strategy.data, strategy.pipeline, strategy.expert].map(f64::from);
    let held = Held::of(profile, strategy);
    let full = strategy.method == TrainMethod::Full;
    let passes = if strategy.recompute == Recompute::Full { 3.0 } else { 2.0 };
    let samples = f64::from(strategy.micro_batch) / c;
    let stage_tokens = samples * profile.positions;
    let layers = f64::from(profile.layers.max(1)) / p;
    let mut ring = |what, when, bytes: f64, ranks: f64, rate: f64, exposure: f64| {
        if ranks > 1.0 && bytes > 0.0 {
            see(Exchange { what, when, bytes, ranks, rate: rate.max(1.0), exposure });
        }
    };

    let group = d * c;
    let (_, group_rate) = link(hardware, group, t);
    if strategy.sharding == Sharding::Zero3 {
        // Gathered forward and backward, gradients scattered once (arXiv 1910.02054). A pipeline stage stays gathered
        // over the micro-batches of a step.
        let times = if full { 3.0 } else { 2.0 };
        let each = frozen_bytes(profile, strategy).unwrap_or(HALF);
        let (when, exposure) = if p > 1.0 { (When::AtEnd, 1.0) } else { (When::Hidden, rates.shard_exposure.value) };
        ring("gather-shards", when, each * held.dense * times, group, group_rate, exposure);
        ring("gather-experts", when, each * held.experts * times, held.expert_group, group_rate, exposure);
    } else {
        // All-reduce, or scatter of gradients and gather of weights: both move the bytes twice.
        let (dense, experts) = if full { (held.dense, held.experts) } else { (adapters(profile, strategy), 0.0) };
        ring("gradients", When::AtEnd, 2.0 * HALF * dense, group, group_rate, 1.0);
        ring("expert-gradients", When::AtEnd, 2.0 * HALF * experts, held.expert_group, group_rate, 1.0);
    }
    // Rows of spread tables go to the ranks that asked for them, and their gradients back.
    let rows = 2.0 * ROW_ELEMENT * samples * profile.work.looked_up;
    ring("table-rows", When::Exposed, rows, group, group_rate, 1.0);
    if t > 1.0 {
        // Two all-reduces in each pass of a layer (arXiv 1909.08053).
        let (kind, rate) = link(hardware, t, 1.0);
        let [inside, between] = rates.tensor_exposure;
        let exposed = if kind == hardware.inside().0 { inside } else { between };
        let bytes = 2.0 * passes * layers * HALF * stage_tokens * profile.hidden;
        ring("tensor", When::Exposed, 2.0 * bytes, t, rate, exposed.value);
    }
    if c > 1.0 {
        // Keys and values go round once forward, and with their gradients twice backward (arXiv 2310.01889).
        let (_, rate) = link(hardware, c, t);
        let bytes = HALF * samples * profile.work.key_values / p / t * 3.0 * c;
        ring("context-parallel", When::Hidden, bytes, c, rate, 1.0);
    }
    if ep > 1.0 {
        // Dispatch and combine, in each pass. Each rank has its share of the machine's cards.
        let in_machine = f64::from(hardware.instance.gpu_count.max(1));
        let (_, rate) = hardware.inside();
        let rate = if ep * t * c > in_machine && hardware.nodes > 1 {
            (hardware.between().1.base() / in_machine).min(rate.base())
        } else {
            rate.base()
        };
        let bytes = 2.0 * passes * HALF * samples * profile.work.expert_visits / p * profile.hidden / t;
        ring("expert", When::Exposed, bytes, ep, rate, 1.0);
    }
    if p > 1.0 {
        // Activations forward and their gradients backward at each chunk's border.
        let (_, rate) = link(hardware, p, t * c * d);
        let split = if strategy.sequence_parallel { t } else { 1.0 };
        let bytes = 2.0 * f64::from(strategy.interleave) * HALF * stage_tokens * profile.hidden / split;
        let (what, when) = ("pipeline", When::Exposed);
        see(Exchange { what, when, bytes, ranks: 1.0, rate: rate.max(1.0), exposure: 1.0 });
    }
}
