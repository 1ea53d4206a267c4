//! Layouts of a training job on a number of equal machines: which fits, and which is done first.

use hob_estimate::{
    AttentionKernel, Efficiencies, EstimateError, Fit, Hardware, NumberFormat, OptimizerKind, Recompute, Sharding,
    TrainEstimate, TrainMethod, TrainProfile, TrainStrategy,
};
use hob_model::{ModelGraph, ModelKind, Shape};
use hob_text::Message;
use hob_units::{Interval, Seconds};
use hob_workload::{Method, Optimizer, Precision, Train, TrainLength, Workload};

use crate::document::{Goal, Layout, Speed};
use crate::reason::Reason;

/// A layout that works, before it is priced.
pub(crate) struct Found {
    /// Layout.
    pub layout: Layout,
    /// Its estimate.
    pub estimate: TrainEstimate,
    /// Speed.
    pub speed: Speed,
    /// Start to end.
    pub duration: Interval<Seconds>,
    /// Goals.
    pub goals: Vec<Goal>,
}

/// Samples of one optimizer step when the user states none: common practice for fine-tuning and for vision.
const GLOBAL_BATCH_DEFAULT: u64 = 64;
/// Micro-batches that are tried.
const MICRO_BATCHES: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Framework that the efficiency table is asked for: the one that all methods here run on.
const FRAMEWORK: &str = "pytorch";

/// The search for one workload; the model is folded once.
pub(crate) struct TrainSearch<'a> {
    workload: &'a Workload,
    train: &'a Train,
    profile: TrainProfile,
    table: &'a Efficiencies,
    samples: f64,
    global_batch: u64,
}

impl<'a> TrainSearch<'a> {
    /// Folds the model at the workload's sample size.
    pub(crate) fn new(workload: &'a Workload, train: &'a Train, graph: &ModelGraph, table: &'a Efficiencies) -> Self {
        let shape = sample_shape(train, graph);
        let global_batch = train.global_batch.unwrap_or(GLOBAL_BATCH_DEFAULT).max(1);
        let samples = match train.length {
            TrainLength::Epochs { epochs } => epochs * train.data.samples.unwrap_or(0.0),
            TrainLength::Tokens { tokens } => tokens.0 as f64 / shape.tokens.max(1) as f64,
            TrainLength::Steps { steps } => steps as f64 * global_batch as f64,
        };
        Self { workload, train, profile: TrainProfile::new(graph, &shape), table, samples, global_batch }
    }

    /// The fastest layout that fits on this hardware.
    ///
    /// # Errors
    /// Why none does.
    pub(crate) fn best(&self, hardware: &Hardware<'_>) -> Result<Found, Reason> {
        let mut best: Option<(TrainStrategy, TrainEstimate)> = None;
        let mut smallest: Option<Reason> = None;
        for strategy in self.strategies(hardware) {
            match self.profile.estimate(hardware, &strategy, FRAMEWORK, self.table) {
                Ok(estimate) if estimate.memory.fit == Fit::DoesNot => {
                    let needed = estimate.memory.total.mid;
                    let is_smaller = match &smallest {
                        Some(Reason::Memory { needed: previous, .. }) => needed < *previous,
                        _ => true,
                    };
                    if is_smaller {
                        smallest = Some(Reason::Memory { needed, usable: estimate.memory.usable });
                    }
                }
                Ok(estimate) => {
                    if best.as_ref().is_none_or(|(_, previous)| score(&estimate) < score(previous)) {
                        best = Some((strategy, estimate));
                    }
                }
                // A layout that does not divide the model says nothing about the card.
                Err(EstimateError::BadLayout { .. }) => {}
                Err(error) => smallest = smallest.or(Some(Reason::Unsupported { why: error.to_string() })),
            }
        }
        let Some((strategy, estimate)) = best else {
            return Err(smallest.unwrap_or(Reason::Unsupported { why: "no layout divides the GPUs".to_owned() }));
        };
        let steps = (self.samples / self.global_batch as f64).max(1.0);
        let duration: Interval<Seconds> = estimate.step.scaled(steps);
        let mut goals = Vec::new();
        if let Some(deadline) = self.workload.objective.deadline {
            let probability = duration.probability_at_most(deadline);
            goals.push(Goal { what: Message::new("goal-deadline").with("limit", deadline), probability });
        }
        let speed = Speed::Job {
            duration,
            step: Some(estimate.step),
            items_per_second: estimate.samples_per_second,
            mfu: Some(estimate.mfu),
        };
        Ok(Found { layout: Layout::Train { strategy }, estimate, speed, duration, goals })
    }

    /// Layouts worth estimating: tensor parallelism inside a machine, data parallelism with each sharding outside it.
    fn strategies(&self, hardware: &Hardware<'_>) -> Vec<TrainStrategy> {
        let gpus = hardware.gpus();
        let (method, shardings): (_, &[Sharding]) = match self.train.method {
            Method::Pretrain | Method::Full => (TrainMethod::Full, &[Sharding::None, Sharding::Zero1, Sharding::Zero3]),
            Method::Lora { rank } => (TrainMethod::Lora(rank), &[Sharding::None, Sharding::Zero3]),
            Method::Qlora { rank } => (TrainMethod::Qlora(rank), &[Sharding::None]),
        };
        let mut found = Vec::new();
        for tensor in [1, 2, 4, 8] {
            if tensor > hardware.instance.gpu_count || !gpus.is_multiple_of(tensor) {
                continue;
            }
            let data = gpus / tensor;
            for &sharding in if data == 1 { &shardings[..1] } else { shardings } {
                for recompute in [Recompute::None, Recompute::Full] {
                    for micro_batch in MICRO_BATCHES {
                        let per_pass = u64::from(data) * u64::from(micro_batch);
                        if per_pass > self.global_batch && micro_batch > 1 {
                            continue;
                        }
                        let accumulation = u32::try_from(self.global_batch.div_ceil(per_pass)).unwrap_or(u32::MAX);
                        found.push(TrainStrategy {
                            data,
                            tensor,
                            pipeline: 1,
                            interleave: 1,
                            context: 1,
                            expert: 1,
                            sequence_parallel: tensor > 1,
                            sharding,
                            micro_batch,
                            accumulation,
                            precision: precision(self.train.precision, hardware),
                            optimizer: optimizer(self.train.optimizer),
                            recompute,
                            attention: AttentionKernel::Fused,
                            method,
                        });
                    }
                }
            }
        }
        found
    }
}

/// Expected step time; a layout whose memory is tight must be 10 % faster to be preferred over one that surely fits.
fn score(estimate: &TrainEstimate) -> f64 {
    let tight = if estimate.memory.fit == Fit::Tight { 1.1 } else { 1.0 };
    estimate.step.mid.0 * tight
}

/// One sample as the model sees it: the user's sizes, else the model's own.
fn sample_shape(train: &Train, graph: &ModelGraph) -> Shape {
    let native = graph.native_shape;
    let tokens = train.data.sequence.map_or(native.tokens, |tokens| tokens.0);
    let (height, width) = train.data.resolution.unwrap_or((native.height, native.width));
    let frames = train.data.frames.unwrap_or(native.frames);
    let outputs = if graph.kind == ModelKind::CausalLm { tokens } else { native.outputs.max(1) };
    Shape { tokens, past: 0, outputs, height, width, frames }
}

/// The user's format, else bf16 where the card has it, else fp16, else fp32.
fn precision(wish: Option<Precision>, hardware: &Hardware<'_>) -> NumberFormat {
    use hob_catalog::ComputeType;
    let has = |compute| hardware.gpu.peak(compute).is_some();
    match wish {
        Some(Precision::Fp32) => NumberFormat::Fp32,
        Some(Precision::Tf32) => NumberFormat::Tf32,
        Some(Precision::Fp16) => NumberFormat::Fp16,
        Some(Precision::Fp8) => NumberFormat::Fp8,
        Some(Precision::Bf16) => NumberFormat::Bf16,
        _ if has(ComputeType::Bf16) => NumberFormat::Bf16,
        _ if has(ComputeType::Fp16) => NumberFormat::Fp16,
        _ => NumberFormat::Fp32,
    }
}

fn optimizer(optimizer: Optimizer) -> OptimizerKind {
    match optimizer {
        Optimizer::AdamW => OptimizerKind::AdamW,
        Optimizer::AdamW8bit => OptimizerKind::AdamW8bit,
        Optimizer::Sgd => OptimizerKind::Sgd,
        Optimizer::Adafactor => OptimizerKind::Adafactor,
        Optimizer::Lion => OptimizerKind::Lion,
        Optimizer::Muon => OptimizerKind::Muon,
    }
}
