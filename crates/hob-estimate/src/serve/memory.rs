//! Memory of the fullest GPU of a replica, and how many sequences its KV cache holds.
//!
//! KV room = utilisation x driver total - weights - activation peak - workspaces - what lies outside the allocator
//! (vLLM's start-up accounting).

use hob_units::{Bytes, Interval, Quantity};

use super::load::{ServeLoad, within};
use super::profile::ServeProfile;
use crate::arithmetic::{Amount, Source};
use crate::efficiency::{Coefficient, Efficiencies, Scope};
use crate::hardware::Hardware;
use crate::outcome::{MemoryEstimate, MemoryKind, MemoryTerm};
use crate::refusal::EstimateError;
use crate::strategy::ServeStrategy;

/// The verdict and the sequences of the load that fit.
pub(super) struct Room {
    pub(super) memory: MemoryEstimate,
    pub(super) slots: u64,
    /// Bytes that are left for KV caches, and what one sequence of the load takes of them.
    pub(super) bytes: f64,
    pub(super) sequence: f64,
}

/// More sequences than any engine schedules.
const SLOTS_MAX: f64 = 1e9;

impl ServeProfile {
    pub(super) fn room(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ServeStrategy,
        load: &ServeLoad,
        table: &Efficiencies,
    ) -> Result<Room, EstimateError> {
        let (tensor, pipeline) = (f64::from(strategy.tensor), f64::from(strategy.pipeline));
        let any = Scope::any();
        let many = strategy.tensor.saturating_mul(strategy.pipeline) > 1;
        let non_torch =
            table.get("serve.non_torch_bytes", &any.clone().class(if many { "many_gpus" } else { "one_gpu" }))?;
        let workspace = table.get("serve.workspace_bytes", &any)?;
        let activation = table.get("serve.activation_factor", &any)?;
        let sampler = table.get("serve.sampler_copies", &any)?;

        let stage = (self.layers / pipeline).ceil() / self.layers;
        let edge = self.edge_on_gpu(strategy.pipeline);
        let weights = self.weights_on_gpu(strategy.tensor, strategy.pipeline).base();
        let tokens = f64::from(strategy.tokens_max.max(1)).min(load.context_max.max(2048.0));
        let sequences = f64::from(strategy.batch_max.max(1)).min(tokens);
        // Engines rehearse their largest step: the widest layer, then the sampler with its copies of the logits.
        let layer = tokens * (self.widest / tensor + 4.0 * self.hidden) * 2.0;
        let logits = sequences * self.vocabulary * 4.0;
        let (peak, by) =
            if activation.value * layer > sampler.value * logits { (layer, activation) } else { (logits, sampler) };
        let longest = self.kv_bytes_stored(load.context_max, tensor) * stage;
        let driver = hardware.gpu.memory_total().base() / f64::from(hardware.gpu.gpus_on_board.max(1));
        let usable = driver * within(strategy.memory_utilization, 0.0, 1.0);

        let replicated = if strategy.tensor > 1 { 1.03 } else { 1.01 };
        let ranks = ("ranks", Amount::Number(tensor));
        let memory = MemoryEstimate::of(
            vec![
                MemoryTerm::new(
                    MemoryKind::Weights,
                    Interval::within_factor(Bytes::from_base(weights), replicated),
                    "(layers_weights * stage + edge) / ranks",
                    &[
                        ("layers_weights", Amount::Bytes(self.layer_bytes)),
                        ("stage", Amount::Number(stage)),
                        ("edge", Amount::Bytes(edge)),
                        ranks,
                    ],
                    Vec::new(),
                ),
                MemoryTerm::new(
                    MemoryKind::Activations,
                    scaled(by, peak),
                    "max(factor * tokens * (widest / ranks + 4 * hidden) * 2, copies * sequences * vocabulary * 4)",
                    &[
                        ("factor", Amount::Number(activation.value)),
                        ("tokens", Amount::Number(tokens)),
                        ("widest", Amount::Number(self.widest)),
                        ranks,
                        ("hidden", Amount::Number(self.hidden)),
                        ("copies", Amount::Number(sampler.value)),
                        ("sequences", Amount::Number(sequences)),
                        ("vocabulary", Amount::Number(self.vocabulary)),
                    ],
                    vec![Source::from(activation), Source::from(sampler)],
                ),
                MemoryTerm::new(MemoryKind::Workspaces, scaled(workspace, 1.0), "", &[], vec![Source::from(workspace)]),
                MemoryTerm::new(
                    MemoryKind::CudaContext,
                    scaled(non_torch, 1.0),
                    "",
                    &[],
                    vec![Source::from(non_torch)],
                ),
                MemoryTerm::new(
                    MemoryKind::KvCache,
                    Interval::exact(Bytes::from_base(longest)),
                    "context * token",
                    &[
                        ("context", Amount::Number(load.context_max)),
                        ("token", Amount::Bytes(longest / load.context_max.max(1.0))),
                    ],
                    Vec::new(),
                ),
            ],
            Bytes::from_base(usable),
        );

        let fixed = weights + by.value * peak + workspace.value + non_torch.value;
        let room = (usable - fixed).max(0.0);
        // Half of the output is there on average.
        let one = self.kv_bytes_stored(load.prompt + load.output / 2.0, tensor) * stage;
        let fits_one = room >= longest;
        let slots = match (fits_one, one > 0.0) {
            (false, _) => 0.0,
            (true, true) => (room / one).floor().min(SLOTS_MAX),
            (true, false) => SLOTS_MAX,
        };
        Ok(Room { memory, slots: slots as u64, bytes: room, sequence: one })
    }
}

fn scaled(row: &Coefficient, by: f64) -> Interval<Bytes> {
    let at = |value: f64| Bytes::from_base(value * by);
    Interval { low: at(row.low), mid: at(row.value), high: at(row.high) }
}
