//! Weights, gradients, optimizer state, adapters and gathered shards of one rank.

use hob_units::{Bytes, Interval, Quantity};

use crate::efficiency::{Efficiencies, Scope};
use crate::outcome::{EstimateError, MemoryKind, MemoryTerm};
use crate::strategy::{NumberFormat, OptimizerKind, Sharding, TrainMethod, TrainStrategy};
use crate::train::profile::TrainProfile;

/// Bytes of 4-bit NF4 storage for each parameter: 4 bits and 0.127 bits of doubly quantised scales (arXiv 2305.14314).
const NF4_BYTES: f64 = (4.0 + 0.127) / 8.0;

/// Bytes for each trained parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StateBytes {
    pub weight: f64,
    pub gradient: f64,
    /// Master copy and moments.
    pub optimizer: f64,
}

impl StateBytes {
    /// By framework: Megatron keeps 16-bit weights, float32 gradients and float32 masters (2 + 4 + 4 + 8 = 18 with AdamW);
    /// DeepSpeed 2 + 2 + 4 + 8 = 16; PyTorch autocast and FSDP2 float32 weights and gradients (4 + 4 + 8 = 16); torchtune and
    /// LitGPT true 16-bit training (2 + 2 + 4 = 8) (Megatron `theoretical_memory_usage.py`, arXiv 1910.02054).
    pub(crate) fn of(framework: &str, precision: NumberFormat, optimizer: OptimizerKind) -> Self {
        let wide = matches!(precision, NumberFormat::Fp32 | NumberFormat::Tf32);
        let true_half = !wide && is_true_half(framework);
        let (weight, gradient, master) = match framework {
            _ if wide => (4.0, 4.0, 0.0),
            _ if true_half => (2.0, 2.0, 0.0),
            "megatron" | "nemo" => (2.0, 4.0, 4.0),
            "deepspeed" | "colossalai" => (2.0, 2.0, 4.0),
            _ => (4.0, 4.0, 0.0),
        };
        let moment = if true_half { 2.0 } else { 4.0 };
        let moments = match optimizer {
            OptimizerKind::AdamW => 2.0 * moment,
            OptimizerKind::AdamW8bit => 2.0 + 8.0 / 256.0, // One float32 scale for each block of 256, twice.
            OptimizerKind::Sgd | OptimizerKind::Lion | OptimizerKind::Muon => moment,
            OptimizerKind::Adafactor => 0.01, // A row and a column for each matrix.
        };
        Self { weight, gradient, optimizer: master + moments }
    }
}

/// Frameworks whose recipes train in true 16 bits and free gradients between steps.
pub(crate) fn is_true_half(framework: &str) -> bool {
    matches!(framework, "torchtune" | "litgpt")
}

/// Parameters that the fullest rank is responsible for, before sharding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Held {
    pub dense: f64,
    pub experts: f64,
    /// Ranks that share the dense part, and the experts.
    pub group: f64,
    pub expert_group: f64,
}

impl Held {
    pub(crate) fn of(profile: &TrainProfile, strategy: &TrainStrategy) -> Self {
        let p = &profile.parameters;
        let layers = f64::from(profile.layers.max(1));
        let stage = if strategy.pipeline > 1 { (layers / f64::from(strategy.pipeline)).ceil() / layers } else { 1.0 };
        let ends = if strategy.pipeline > 1 { p.first.max(p.last_held) } else { p.first + p.last };
        let tensor = f64::from(strategy.tensor);
        let group = f64::from(strategy.data) * f64::from(strategy.context);
        let expert = f64::from(strategy.expert);
        Self {
            dense: (p.layers * stage + ends) / tensor,
            experts: p.experts * stage / tensor / expert,
            group,
            expert_group: group / expert,
        }
    }

    /// Parameters of the rank.
    pub(crate) fn total(&self) -> f64 {
        self.dense + self.experts
    }

    fn shared(&self, sharded: bool) -> f64 {
        if sharded { self.dense / self.group + self.experts / self.expert_group } else { self.total() }
    }
}

/// Adapter parameters on one rank: rank x (inputs + outputs) of each attention input projection (arXiv 2106.09685).
pub(crate) fn adapters(profile: &TrainProfile, strategy: &TrainStrategy) -> f64 {
    let rank = match strategy.method {
        TrainMethod::Full => 0,
        TrainMethod::Lora(rank) | TrainMethod::Qlora(rank) => rank,
    };
    profile.parameters.adapters_per_rank * f64::from(rank) / f64::from(strategy.pipeline)
}

/// State terms of the fullest rank.
pub(crate) fn terms(
    profile: &TrainProfile,
    strategy: &TrainStrategy,
    framework: &str,
    table: &Efficiencies,
) -> Result<Vec<MemoryTerm>, EstimateError> {
    let held = Held::of(profile, strategy);
    let bytes = StateBytes::of(framework, strategy.precision, strategy.optimizer);
    let (zero1, zero2, zero3) = (
        strategy.sharding >= Sharding::Zero1,
        strategy.sharding >= Sharding::Zero2,
        strategy.sharding >= Sharding::Zero3,
    );
    let exact = |value: f64| Interval::exact(Bytes::from_base(value));
    let mut terms = Vec::new();
    let mut push = |kind, each: f64, sharded: bool, count: f64, source: &str| {
        let ranks = if sharded { held.group } else { 1.0 };
        terms.push(MemoryTerm {
            kind,
            bytes: exact(each * count),
            formula: format!(
                "{each:.2} bytes x {:.3} B parameters, shared by {ranks} ranks [{source}]",
                count * ranks / 1e9
            ),
        });
    };
    let source = "arXiv 1910.02054";
    match strategy.method {
        TrainMethod::Full => {
            push(MemoryKind::Weights, bytes.weight, zero3, held.shared(zero3), source);
            push(MemoryKind::Gradients, bytes.gradient, zero2, held.shared(zero2), source);
            push(MemoryKind::OptimizerState, bytes.optimizer, zero1, held.shared(zero1), source);
        }
        TrainMethod::Lora(_) | TrainMethod::Qlora(_) => {
            let frozen = if matches!(strategy.method, TrainMethod::Qlora(_)) {
                let linear = profile.parameters.linear / profile.total_parameters().max(1.0);
                NF4_BYTES * linear + 2.0 * (1.0 - linear)
            } else if matches!(strategy.precision, NumberFormat::Fp32 | NumberFormat::Tf32) {
                4.0
            } else {
                2.0
            };
            push(MemoryKind::Weights, frozen, zero3, held.shared(zero3), "arXiv 2106.09685, 2305.14314");
            let each = bytes.weight + bytes.gradient + bytes.optimizer;
            push(MemoryKind::Adapters, each, false, adapters(profile, strategy), "arXiv 2106.09685");
        }
    }
    if zero3 && held.group > 1.0 {
        let factor = table.get("train.gather_factor", &Scope::any().engine(framework))?;
        let p = &profile.parameters;
        let width = if matches!(strategy.precision, NumberFormat::Fp32 | NumberFormat::Tf32) { 4.0 } else { 2.0 };
        let units = (3.0 * p.largest_layer + p.first.max(p.last_held)) / f64::from(strategy.tensor);
        let gathered = width * units.min(held.total());
        terms.push(MemoryTerm {
            kind: MemoryKind::GatheredShards,
            bytes: super::spread(gathered, factor),
            formula: format!(
                "{:.2} x {width} bytes x {:.3} B parameters of three layers and the embedding [{}]",
                factor.value,
                gathered / width / 1e9,
                factor.source
            ),
        });
    }
    Ok(terms)
}
