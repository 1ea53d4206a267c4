//! Layouts of a training job: which fits on a number of equal machines, which is done first, and how many machines.

mod fleet;
mod space;
#[cfg(test)]
mod tests;

use hob_catalog::{ComputeType, GpuArchitecture};
use hob_estimate::{
    ArithmeticBlock, Efficiencies, EstimateError, Hardware, NumberFormat, OptimizerKind, Recompute, Sharding,
    TrainEstimate, TrainMethod, TrainProfile, TrainRates, TrainStrategy,
};
use hob_model::{ModelGraph, ModelKind, Shape};
use hob_text::Message;
use hob_units::{Interval, Seconds};
use hob_workload::{Method, Optimizer, Precision, Train, TrainLength, Workload};

use self::space::{Fixed, Split, micro_batches, shardings, splits};
use crate::document::{Goal, Layout, Speed};
use crate::reason::{Reason, further};
use crate::search::number_format;

/// A layout that works, before it is priced.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Machines.
    pub machines: u32,
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

/// Samples of one optimizer step when the user states none: common practice for fine-tuning and for vision. With more
/// GPUs, one for each.
const GLOBAL_BATCH_DEFAULT: u64 = 64;
/// Framework that the efficiency table is asked for: the one that all methods here run on.
pub(crate) const FRAMEWORK: &str = "pytorch";
/// A layout that fits less surely than the workload asks must be this much faster to be preferred: a run that dies is a run
/// that is done twice.
const UNSURE_FACTOR: f64 = 2.0;
/// And one with one more kind of parallelism this much: less is within the error of the estimate.
const COMPLEX_FACTOR: f64 = 1.08;
/// And one with sharded weights this much.
const SHARDED_FACTOR: f64 = 1.02;

/// The search for one workload; the model is folded once.
pub(crate) struct TrainSearch<'a> {
    workload: &'a Workload,
    train: &'a Train,
    profile: TrainProfile,
    table: &'a Efficiencies,
    samples: Samples,
}

/// How many samples the job sees.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Samples {
    Fixed(f64),
    /// So many optimizer steps, of whatever size a step has.
    Steps(f64),
}

/// The best layout so far.
struct Best {
    strategy: TrainStrategy,
    /// Expected time of a step, with the handicaps of unsure and complex layouts.
    score: f64,
}

impl<'a> TrainSearch<'a> {
    /// Folds the model at the workload's sample size.
    pub(crate) fn new(workload: &'a Workload, train: &'a Train, graph: &ModelGraph, table: &'a Efficiencies) -> Self {
        let shape = sample_shape(train, graph);
        let samples = match train.length {
            TrainLength::Epochs { epochs } => Samples::Fixed(epochs * train.data.samples.unwrap_or(0.0)),
            TrainLength::Tokens { tokens } => Samples::Fixed(tokens.0 as f64 / shape.tokens.max(1) as f64),
            TrainLength::Steps { steps } => Samples::Steps(steps as f64),
        };
        Self { workload, train, profile: TrainProfile::new(graph, &shape), table, samples }
    }

    /// The fastest layout that fits on this hardware.
    ///
    /// # Errors
    /// Why none does.
    pub(crate) fn best(&self, hardware: &Hardware<'_>) -> Result<Found, Reason> {
        let precision = precision(self.train.precision, hardware);
        let fixed = Fixed {
            method: method(self.train.method),
            precision,
            optimizer: optimizer(self.train.optimizer),
            global_batch: self.global_batch(hardware),
        };
        let rates = TrainRates::new(&self.profile, hardware, precision, fixed.method, FRAMEWORK, self.table)?;
        let mut best = None;
        let mut lacks = None;
        for over_pcie in [false, true] {
            let mut floors: Vec<(f64, Split)> = splits(&self.profile, hardware, over_pcie)
                .into_iter()
                .map(|split| (self.floor(&fixed, &rates, split), split))
                .collect();
            floors.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            for (floor, split) in floors {
                // What is not even good without any waiting cannot win, nor can all that follow.
                if best.as_ref().is_some_and(|best: &Best| best.score <= floor) {
                    break;
                }
                self.search(hardware, &fixed, &rates, split, &mut best, &mut lacks);
            }
            if best.is_some() {
                break;
            }
        }
        let Some(Best { strategy, .. }) = best else {
            return Err(lacks.unwrap_or(Reason::unsupported("reject-no-layout")));
        };
        let estimate = self.profile.estimate(hardware, &strategy, FRAMEWORK, self.table)?;
        Ok(self.found(hardware.nodes, strategy, estimate, fixed.global_batch))
    }

    /// The arithmetic of one step of a layout that was found.
    ///
    /// # Errors
    /// As the estimate.
    pub(crate) fn arithmetic(
        &self,
        hardware: &Hardware<'_>,
        strategy: &TrainStrategy,
    ) -> Result<Vec<ArithmeticBlock>, EstimateError> {
        self.profile.arithmetic(hardware, strategy, FRAMEWORK, self.table)
    }

    /// A score that no layout of this split undercuts: computing alone in the largest micro-batches, and the bubble of the
    /// smallest.
    fn floor(&self, fixed: &Fixed, rates: &TrainRates<'_>, split: Split) -> f64 {
        let largest = micro_batches(fixed.global_batch, split.data).next().unwrap_or(1);
        let layout = |micro_batch| fixed.strategy(split, Sharding::None, Recompute::None, micro_batch);
        let bubble = TrainProfile::bubble(&layout(1), rates);
        self.profile.computing(&layout(largest), rates).0 * (1.0 + bubble) * handicap(split)
    }

    /// Looks through the layouts of one split. Memory is looked at before time, and no further than can still win.
    fn search(
        &self,
        hardware: &Hardware<'_>,
        fixed: &Fixed,
        rates: &TrainRates<'_>,
        split: Split,
        best: &mut Option<Best>,
        lacks: &mut Option<Reason>,
    ) {
        let (usable, confidence) = (hardware.gpu.memory_total(), self.workload.objective.confidence.0);
        let complexity = handicap(split);
        let largest = micro_batches(fixed.global_batch, split.data).next().unwrap_or(1);
        let shardings = shardings(fixed.method, split);
        // Sharding everything or nothing needs least: gathering can cost more than it saves.
        let least = [shardings.first(), shardings.last()]
            .into_iter()
            .flatten()
            .map(|sharding| fixed.strategy(split, *sharding, Recompute::Full, 1))
            .map(|strategy| self.profile.memory(&strategy, rates).mid)
            .min();
        if let Some(needed) = least.filter(|needed| *needed > usable) {
            *lacks = further(lacks.take(), Reason::Memory { needed, usable });
            return;
        }
        for sharding in shardings {
            let handicap = if *sharding == Sharding::Zero3 { complexity * SHARDED_FACTOR } else { complexity };
            for recompute in [Recompute::None, Recompute::Selective, Recompute::Full] {
                let layout = |micro_batch| fixed.strategy(split, *sharding, recompute, micro_batch);
                if self.profile.memory(&layout(1), rates).mid > usable {
                    continue;
                }
                let mut fits_whole = false;
                for micro_batch in micro_batches(fixed.global_batch, split.data) {
                    let strategy = layout(micro_batch);
                    // Interleaved schedules go through the stages in whole rounds.
                    if split.interleave > 1 && !strategy.accumulation.is_multiple_of(split.pipeline) {
                        continue;
                    }
                    let memory = self.profile.memory(&strategy, rates);
                    if memory.mid > usable {
                        continue;
                    }
                    // A layout that does not divide the model says nothing about the card.
                    let Ok(step) = self.profile.step(hardware, &strategy, rates) else { return };
                    let sure = memory.probability_at_most(usable) >= confidence;
                    let score = step.0 * if sure { handicap } else { handicap * UNSURE_FACTOR };
                    if best.as_ref().is_none_or(|best| score < best.score) {
                        *best = Some(Best { strategy, score });
                    }
                    fits_whole |= sure && micro_batch == largest;
                    // Smaller micro-batches only start more kernels, but for the bubble of a pipeline.
                    if sure && split.pipeline == 1 {
                        break;
                    }
                }
                if fits_whole {
                    return; // More sharding or recompute frees memory that is not needed.
                }
            }
        }
    }

    fn found(&self, machines: u32, strategy: TrainStrategy, estimate: TrainEstimate, global_batch: u64) -> Found {
        let steps = match self.samples {
            Samples::Fixed(samples) => (samples / global_batch as f64).max(1.0),
            Samples::Steps(steps) => steps,
        };
        let duration: Interval<Seconds> = estimate.step.scaled(steps);
        let goals = self.workload.objective.deadline.map(|deadline| Goal {
            what: Message::new("goal-deadline").with("limit", deadline),
            probability: duration.probability_at_most(deadline),
        });
        let speed = Speed::Job {
            duration,
            step: Some(estimate.step),
            items_per_second: estimate.samples_per_second,
            mfu: Some(estimate.mfu),
        };
        let layout = Layout::Train { strategy };
        Found { machines, layout, estimate, speed, duration, goals: goals.into_iter().collect() }
    }

    /// The user's, else the usual one, or a sample for each GPU where they are more.
    fn global_batch(&self, hardware: &Hardware<'_>) -> u64 {
        self.train.global_batch.unwrap_or(GLOBAL_BATCH_DEFAULT.max(u64::from(hardware.gpus()))).max(1)
    }
}

/// What a split costs in setting up and in what can go wrong, as a factor on its time.
fn handicap(split: Split) -> f64 {
    COMPLEX_FACTOR.powi(split.complexity() as i32)
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

/// The user's format, else bf16 where the card computes in it, else fp16, else fp32.
fn precision(wish: Option<Precision>, hardware: &Hardware<'_>) -> NumberFormat {
    let gpu = hardware.gpu;
    let has = |compute| gpu.peak(compute).is_some();
    match wish {
        Some(precision) => number_format(precision),
        None if gpu.architecture > GpuArchitecture::Turing && has(ComputeType::Bf16) => NumberFormat::Bf16,
        None if has(ComputeType::Fp16) => NumberFormat::Fp16,
        None => NumberFormat::Fp32,
    }
}

fn method(method: Method) -> TrainMethod {
    match method {
        Method::Pretrain | Method::Full => TrainMethod::Full,
        Method::Lora { rank } => TrainMethod::Lora(rank),
        Method::Qlora { rank } => TrainMethod::Qlora(rank),
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
