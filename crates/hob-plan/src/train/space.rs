//! The layouts that are worth estimating on some GPUs, simple ones first.

use hob_estimate::{
    AttentionKernel, Hardware, Link, NumberFormat, OptimizerKind, Recompute, Sharding, TrainMethod, TrainProfile,
    TrainStrategy,
};

/// How the GPUs are divided between the kinds of parallelism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Split {
    pub data: u32,
    pub tensor: u32,
    pub pipeline: u32,
    pub interleave: u32,
    pub context: u32,
    pub expert: u32,
}

/// Largest number of ranks in each kind of parallelism. Published runs use no more, but for the largest models.
const TENSOR_MOST: u32 = 8;
const PIPELINE_MOST: u32 = 64;
const CONTEXT_MOST: u32 = 16;
const EXPERT_MOST: u32 = 64;
/// Model chunks of an interleaved schedule: more make the messages small.
const INTERLEAVE_MOST: u32 = 4;
/// Positions that a context-parallel rank keeps at least; below, passing keys and values costs more than it saves.
const CONTEXT_POSITIONS_LEAST: f64 = 4096.0;

/// What a layout is made of beside its split.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fixed {
    pub method: TrainMethod,
    pub precision: NumberFormat,
    pub optimizer: OptimizerKind,
    /// Samples of one optimizer step over all ranks.
    pub global_batch: u64,
}

impl Fixed {
    /// A layout of `split`.
    pub(super) fn strategy(
        &self,
        split: Split,
        sharding: Sharding,
        recompute: Recompute,
        micro_batch: u32,
    ) -> TrainStrategy {
        let in_flight = u64::from(split.data) * u64::from(micro_batch);
        TrainStrategy {
            data: split.data,
            tensor: split.tensor,
            pipeline: split.pipeline,
            interleave: split.interleave,
            context: split.context,
            expert: split.expert,
            sequence_parallel: split.tensor > 1,
            sharding,
            micro_batch,
            accumulation: u32::try_from(self.global_batch.div_ceil(in_flight.max(1))).unwrap_or(u32::MAX),
            precision: self.precision,
            optimizer: self.optimizer,
            recompute,
            attention: AttentionKernel::Fused,
            method: self.method,
        }
    }
}

impl Split {
    /// Kinds of parallelism beside data parallelism: each is one more thing to set up and to go wrong.
    pub(super) fn complexity(&self) -> u32 {
        [self.tensor, self.pipeline, self.context, self.expert].iter().map(|size| u32::from(*size > 1)).sum()
    }
}

/// Every split of the GPUs that divides the model, simple ones first. Tensor parallelism stays inside a machine with NVLink;
/// `over_pcie` lets it use a machine without.
pub(super) fn splits(profile: &TrainProfile, hardware: &Hardware<'_>, over_pcie: bool) -> Vec<Split> {
    let gpus = hardware.gpus();
    let fast = hardware.inside().0 == Link::Nvlink;
    let tensor_most = match (profile.has_heads(), fast || over_pcie) {
        (true, true) => hardware.instance.gpu_count.min(TENSOR_MOST),
        _ => 1,
    };
    let pipeline_most = if profile.has_heads() { profile.layers().min(PIPELINE_MOST) } else { 1 };
    let context_most = (profile.positions() / CONTEXT_POSITIONS_LEAST) as u32;
    let context_most = if profile.has_heads() { context_most.clamp(1, CONTEXT_MOST) } else { 1 };
    let experts = profile.experts();
    let mut found = Vec::new();
    for tensor in sizes(tensor_most) {
        for pipeline in sizes(pipeline_most) {
            for context in sizes(context_most) {
                let model = tensor * pipeline * context;
                if model > gpus || !gpus.is_multiple_of(model) {
                    continue;
                }
                let data = gpus / model;
                let expert_most = if experts.is_empty() { 1 } else { EXPERT_MOST };
                for expert in sizes(expert_most) {
                    let divides = (data * context).is_multiple_of(expert)
                        && experts.iter().all(|count| count.is_multiple_of(expert));
                    if divides {
                        let split = Split { data, tensor, pipeline, interleave: 1, context, expert };
                        found.push(split);
                        found.extend(interleaved(split, profile.layers()));
                    }
                }
            }
        }
    }
    found.sort_by_key(Split::complexity);
    found
}

/// The same split with as many chunks on each stage as divide the layers.
fn interleaved(split: Split, layers: u32) -> Option<Split> {
    let divides = |chunks: &u32| layers.is_multiple_of(split.pipeline * chunks);
    let chunks = (2..=INTERLEAVE_MOST).rev().find(divides)?;
    (split.pipeline > 1).then_some(Split { interleave: chunks, ..split })
}

/// Powers of two up to `most`.
fn sizes(most: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS).map(|power| 1_u32 << power).take_while(move |size| *size <= most)
}

/// Who may hold which share, simple ones first; alone there is nothing to share.
pub(super) fn shardings(method: TrainMethod, split: Split) -> &'static [Sharding] {
    if split.data * split.context == 1 {
        return &[Sharding::None];
    }
    match method {
        // A pipeline stage keeps whole gradients and weights over its micro-batches: sharding them frees nothing.
        TrainMethod::Full if split.pipeline > 1 => &[Sharding::None, Sharding::Zero1],
        TrainMethod::Full => &[Sharding::None, Sharding::Zero1, Sharding::Zero2, Sharding::Zero3],
        // Adapters have next to no gradients and states.
        TrainMethod::Lora(_) | TrainMethod::Qlora(_) => &[Sharding::None, Sharding::Zero3],
    }
}

/// Samples of one forward pass, largest first: powers of two that the step's samples fill.
pub(super) fn micro_batches(global_batch: u64, data: u32) -> impl Iterator<Item = u32> {
    let most = (global_batch / u64::from(data.max(1))).clamp(1, MICRO_BATCH_MOST);
    (0..=MICRO_BATCH_MOST.ilog2())
        .rev()
        .map(|power| 1_u64 << power)
        .filter(move |size| *size <= most)
        .map(|size| size as u32)
}

/// Larger micro-batches than this (of a recommender's rows) fill no card better.
const MICRO_BATCH_MOST: u64 = 65_536;
