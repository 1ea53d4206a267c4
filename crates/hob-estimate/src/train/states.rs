//! Weights, gradients, optimizer state, adapters and gathered shards of one rank.

use hob_units::{Bytes, Interval, Quantity};

use crate::arithmetic::{Amount, Source};
use crate::outcome::{MemoryKind, MemoryTerm};
use crate::strategy::{NumberFormat, OptimizerKind, Sharding, TrainMethod, TrainStrategy};
use crate::train::compute::element_width;
use crate::train::profile::TrainProfile;
use crate::train::rates::TrainRates;

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
    /// DeepSpeed 2 + 2 + 4 + 8 = 16; PyTorch autocast and FSDP2 float32 weights and gradients (4 + 4 + 8 = 16); torchtune,
    /// LitGPT and ms-swift true 16-bit training (2 + 2 + 4 = 8) (Megatron `theoretical_memory_usage.py`, arXiv 1910.02054).
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

/// Frameworks that free gradients between steps (PyTorch's default since 2.0), so that they fill what the backward pass
/// frees of the activations.
pub(crate) fn frees_gradients(framework: &str) -> bool {
    !matches!(framework, "megatron" | "nemo" | "deepspeed" | "colossalai")
}

/// Frameworks whose recipes train in true 16 bits.
pub(crate) fn is_true_half(framework: &str) -> bool {
    matches!(framework, "torchtune" | "litgpt" | "ms-swift")
}

/// Bytes of one frozen parameter; `None` when all weights are trained.
pub(crate) fn frozen_bytes(profile: &TrainProfile, strategy: &TrainStrategy) -> Option<f64> {
    match strategy.method {
        TrainMethod::Full => None,
        TrainMethod::Qlora(_) => {
            let linear = profile.parameters.linear / profile.total_parameters().max(1.0);
            Some(NF4_BYTES * linear + 2.0 * (1.0 - linear))
        }
        TrainMethod::Lora(_) => Some(2.0 * element_width(strategy.precision)),
    }
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

/// Bytes of the states of the fullest rank.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct States {
    pub weights: f64,
    pub gradients: f64,
    pub optimizer: f64,
    pub adapters: f64,
    /// Weights that are gathered while a layer computes, before the table's factor.
    pub gathered: f64,
    /// Parameters behind `gathered`.
    pub gathered_parameters: f64,
}

impl States {
    pub(crate) fn of(profile: &TrainProfile, strategy: &TrainStrategy, framework: &str) -> Self {
        let held = Held::of(profile, strategy);
        let bytes = StateBytes::of(framework, strategy.precision, strategy.optimizer);
        let p = &profile.parameters;
        let [zero1, zero2, zero3] =
            [Sharding::Zero1, Sharding::Zero2, Sharding::Zero3].map(|least| strategy.sharding >= least);
        let mut states = Self::default();
        let frozen = frozen_bytes(profile, strategy);
        // A pipeline stage stays gathered over the micro-batches of a step, and so do its gradients (FSDP2).
        let whole_stage = zero3 && strategy.pipeline > 1;
        if let Some(each) = frozen {
            states.weights = each * held.shared(zero3);
            states.adapters = (bytes.weight + bytes.gradient + bytes.optimizer) * adapters(profile, strategy);
        } else {
            // Tables are spread over the ranks by rows, and only the rows of a batch have gradients.
            let tables = p.tables / held.group;
            states.weights = bytes.weight * (held.shared(zero3) + tables);
            states.gradients = bytes.gradient * held.shared(zero2 && !whole_stage);
            states.optimizer = bytes.optimizer * (held.shared(zero1) + tables);
        }
        if zero3 && held.group > 1.0 {
            let units = (3.0 * p.largest_layer + p.first.max(p.last_held)) / f64::from(strategy.tensor);
            let all = whole_stage || framework == "litgpt"; // LitGPT gathers the model as one unit.
            states.gathered_parameters = if all { held.total() } else { units.min(held.total()) };
            states.gathered = frozen.unwrap_or(2.0 * element_width(strategy.precision)) * states.gathered_parameters;
        }
        states
    }

    /// All of them.
    pub(crate) fn total(&self, rates: &TrainRates<'_>) -> f64 {
        self.weights + self.gradients + self.optimizer + self.adapters + self.gathered * rates.gather_factor.value
    }

    /// The terms, with their formulae.
    pub(crate) fn terms(
        &self,
        profile: &TrainProfile,
        strategy: &TrainStrategy,
        rates: &TrainRates<'_>,
    ) -> Vec<MemoryTerm> {
        let held = Held::of(profile, strategy);
        let bytes = StateBytes::of(rates.framework, strategy.precision, strategy.optimizer);
        let number = Amount::Number;
        let exact = |value: f64| Interval::exact(Bytes::from_base(value));
        let zero = || vec![Source::paper("arXiv 1910.02054")];
        let weight = frozen_bytes(profile, strategy).unwrap_or(bytes.weight);
        // The parameters behind a term are read back from it: sharded parts and spread tables are shared by different groups.
        let state = |kind, value: f64, each: f64, least: Sharding| {
            let ranks = if strategy.sharding >= least { held.group } else { 1.0 };
            let figures = [
                ("each", Amount::Bytes(each)),
                ("parameters", number(value * ranks / each.max(f64::MIN_POSITIVE))),
                ("ranks", number(ranks)),
            ];
            MemoryTerm::new(kind, exact(value), "each * parameters / ranks", &figures, zero())
        };
        let trained = bytes.weight + bytes.gradient + bytes.optimizer;
        let adapter = [("each", Amount::Bytes(trained)), ("parameters", number(adapters(profile, strategy)))];
        let mut terms = vec![
            state(MemoryKind::Weights, self.weights, weight, Sharding::Zero3),
            state(MemoryKind::Gradients, self.gradients, bytes.gradient, Sharding::Zero2),
            state(MemoryKind::OptimizerState, self.optimizer, bytes.optimizer, Sharding::Zero1),
            MemoryTerm::new(
                MemoryKind::Adapters,
                exact(self.adapters),
                "each * parameters",
                &adapter,
                vec![Source::paper("arXiv 2106.09685")],
            ),
        ];
        terms.retain(|term| term.bytes.mid > Bytes(0));
        if self.gathered > 0.0 {
            let factor = rates.gather_factor;
            terms.push(MemoryTerm::new(
                MemoryKind::GatheredShards,
                super::spread(self.gathered, factor),
                "factor * each * parameters",
                &[
                    ("factor", number(factor.value)),
                    ("each", Amount::Bytes(self.gathered / self.gathered_parameters.max(1.0))),
                    ("parameters", number(self.gathered_parameters)),
                ],
                vec![Source::from(factor)],
            ));
        }
        terms
    }
}
