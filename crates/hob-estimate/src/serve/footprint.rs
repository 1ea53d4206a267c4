//! Memory that an engine shows while it serves: its weights, its KV room, and what the GPUs report as used.
//!
//! Engines with a paged cache fill the share of memory that they may take, less what they keep back for the activations
//! of their largest step (which short prompts never use). Plain generation loops hold weights, the cache of what they
//! have read, and the widest activations of the prompt.

use hob_units::{Bytes, Interval, Quantity};

use super::load::ServeLoad;
use super::profile::ServeProfile;
use crate::efficiency::{Efficiencies, Scope};
use crate::hardware::Hardware;
use crate::refusal::EstimateError;
use crate::strategy::ServeStrategy;

/// Memory of a replica as its engine and its GPUs report it. Intervals are 80 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServeFootprint {
    /// Weights on the fullest GPU.
    pub weights: Interval<Bytes>,
    /// KV cache room on the fullest GPU; `None` for engines that grow their cache with the context.
    pub kv_room: Option<Interval<Bytes>>,
    /// Tokens that the KV room holds.
    pub kv_tokens: Option<f64>,
    /// All GPUs together under the load.
    pub total: Interval<Bytes>,
}

impl ServeProfile {
    /// Bytes of weights on the fullest GPU.
    #[must_use]
    pub fn weights_on_gpu(&self, ranks: u32, stages: u32) -> Bytes {
        let (tensor, pipeline) = (f64::from(ranks.max(1)), f64::from(stages.max(1)));
        // The fullest stage holds the rounded-up share of layers and one of the two edges.
        let stage = (self.layers / pipeline).ceil() / self.layers;
        Bytes::from_base((self.layer_bytes * stage + self.edge_on_gpu(stages)) / tensor)
    }

    /// Bytes of embedding or head on the fullest stage: both, or the larger one.
    pub(super) fn edge_on_gpu(&self, stages: u32) -> f64 {
        if stages > 1 { self.edge_largest } else { self.edge_bytes }
    }

    /// Bytes of embedding tables and head together.
    #[must_use]
    pub fn edge_weights(&self) -> Bytes {
        Bytes::from_base(self.edge_bytes)
    }

    /// What engine and GPUs report under `load`, with one sequence of `load.context_max` for engines without a paged
    /// cache.
    ///
    /// # Errors
    /// When the table lacks a coefficient.
    pub fn footprint(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ServeStrategy,
        load: &ServeLoad,
        table: &Efficiencies,
    ) -> Result<ServeFootprint, EstimateError> {
        let load = load.bounded();
        let here = Scope::any().engine(strategy.engine.serving_id().unwrap_or_default());
        let value = |name, class: &str| table.get(name, &here.clone().class(class)).map(|row| row.value);
        let gpus = f64::from(strategy.tensor.max(1)) * f64::from(strategy.pipeline.max(1));
        let weights = self.weights_on_gpu(strategy.tensor, strategy.pipeline);
        let weights = Interval::within_factor(weights, value("serve.half_width", "weights")?);
        let total = |bytes: f64, factor| Interval::within_factor(Bytes::from_base(bytes), factor);
        let total_band = value("serve.half_width", "memory")?;
        if strategy.engine.splits_layers() {
            let cache = self.kv_bytes_stored(load.context_max, 1.0);
            let activations = value("serve.eager_activation", "")? * load.prompt * self.widest * 2.0;
            let extra = value("serve.eager_gpu_bytes", "")? * (gpus - 1.0);
            let held = self.layer_bytes + self.edge_bytes + cache + activations + extra;
            return Ok(ServeFootprint { weights, kv_room: None, kv_tokens: None, total: total(held, total_band) });
        }
        let room = self.room(hardware, strategy, &load, table)?;
        let tokens = f64::from(strategy.tokens_max.max(1));
        let unused = (1.0 - load.prompt / tokens).max(0.0);
        let kept_back = value("serve.kept_back_bytes", if gpus > 1.0 { "many_gpus" } else { "one_gpu" })? * unused;
        let driver = hardware.gpu.memory_total().base() / f64::from(hardware.gpu.gpus_on_board.max(1));
        let used = (driver * strategy.memory_utilization.clamp(0.0, 1.0) - kept_back).max(0.0);
        let one = self.kv_bytes_stored(load.context_max, f64::from(strategy.tensor.max(1)))
            / (load.context_max * f64::from(strategy.pipeline.max(1)));
        Ok(ServeFootprint {
            weights,
            kv_room: Some(total(room.bytes, value("serve.half_width", "kv_room")?)),
            kv_tokens: (one > 0.0).then(|| room.bytes / one),
            total: total(used * gpus, total_band),
        })
    }
}
