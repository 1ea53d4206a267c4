//! Seconds of computing in one micro-step of one rank.

use hob_catalog::{ComputeType, Gpu, GpuArchitecture};
use hob_units::Quantity;

use crate::refusal::{EstimateError, Fact};
use crate::strategy::{AttentionKernel, NumberFormat, Recompute, Sharding, TrainMethod, TrainStrategy};
use crate::train::profile::TrainProfile;
use crate::train::rates::TrainRates;
use crate::train::states::{Held, StateBytes};

/// Width at which matrix products reach half of their asymptote, before the split by tensor parallelism.
pub(crate) const HALF_WIDTH: f64 = 1000.0;
/// Tokens for each local expert at which its products reach a quarter of theirs.
const EXPERT_TOKENS: f64 = 300.0;
/// No wide product passes this share of the peak; on cards that were fitted above 1 only narrow models were measured.
pub(crate) const MOST: f64 = 0.95;
/// Bytes moved for each stored attention score, and those of computing it again (fitted on unfused runs of Megatron).
const SCORE_BYTES_MOVED: f64 = 27.0;
const SCORE_BYTES_AGAIN: f64 = 16.0;

/// Seconds by what takes them; before overlap.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Compute {
    pub matrix_products: f64,
    pub attention: f64,
    pub elementwise: f64,
    pub scores: f64,
    pub dequantisation: f64,
    pub launches: f64,
    /// Once in an optimizer step.
    pub optimizer: f64,
}

/// Two overlapping times: between their maximum and their sum.
pub(crate) fn norm(a: f64, b: f64, p: i32) -> f64 {
    (a.powi(p) + b.powi(p)).powf(1.0 / f64::from(p))
}

fn unknown(gpu: &Gpu, what: Fact) -> EstimateError {
    EstimateError::UnknownHardware { gpu: gpu.id.clone(), what }
}

/// Peak rates of one card in one number format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Peaks {
    /// Matrix products.
    pub products: f64,
    /// The 16- or 32-bit arithmetic of everything else, against which utilisation is stated.
    pub plain: f64,
}

impl Peaks {
    pub(crate) fn of(gpu: &Gpu, precision: NumberFormat) -> Result<Self, EstimateError> {
        let rate = |compute| gpu.peak(compute).map(Quantity::base).filter(|rate| *rate > 0.0);
        let single = || rate(ComputeType::Fp32).ok_or_else(|| unknown(gpu, Fact::SingleRate {}));
        let unsupported = |format| EstimateError::UnsupportedFormat { gpu: gpu.id.clone(), format };
        let old = gpu.architecture <= GpuArchitecture::Turing;
        let bf16 = || if old { None } else { rate(ComputeType::Bf16) };
        // Cards without matrix units store 16 bits and multiply in 32.
        let half = || rate(ComputeType::Fp16).map_or_else(single, Ok);
        let both = |peak| Self { products: peak, plain: peak };
        match precision {
            NumberFormat::Fp32 => single().map(both),
            NumberFormat::Tf32 => rate(ComputeType::Tf32).map(both).ok_or_else(|| unsupported("tf32")),
            NumberFormat::Fp16 if gpu.architecture <= GpuArchitecture::Pascal => single().map(both),
            NumberFormat::Fp16 => half().map(both),
            NumberFormat::Bf16 => bf16().map(both).ok_or_else(|| unsupported("bf16")),
            NumberFormat::Fp8 | NumberFormat::Fp4 => {
                let (compute, format) =
                    if precision == NumberFormat::Fp8 { (ComputeType::Fp8, "fp8") } else { (ComputeType::Fp4, "fp4") };
                let narrow = rate(compute).ok_or_else(|| unsupported(format))?;
                Ok(Self { products: narrow, plain: bf16().map_or_else(half, Ok)? })
            }
            NumberFormat::Int8 => Err(EstimateError::UnsupportedTraining { format: "int8" }),
            NumberFormat::Int4 => Err(EstimateError::UnsupportedTraining { format: "int4" }),
        }
    }
}

pub(crate) fn precision_name(precision: NumberFormat) -> &'static str {
    match precision {
        NumberFormat::Fp32 => "fp32",
        NumberFormat::Tf32 => "tf32",
        NumberFormat::Fp16 => "fp16",
        NumberFormat::Bf16 => "bf16",
        NumberFormat::Fp8 => "fp8",
        NumberFormat::Int8 => "int8",
        NumberFormat::Int4 => "int4",
        NumberFormat::Fp4 => "fp4",
    }
}

impl Compute {
    /// Computing time of one micro-step.
    pub(crate) fn of(profile: &TrainProfile, strategy: &TrainStrategy, rates: &TrainRates<'_>) -> Self {
        let [t, c, p] = [strategy.tensor, strategy.context, strategy.pipeline].map(f64::from);
        let share = f64::from(strategy.micro_batch) / c / t / p; // Of one sample's work, on one rank.
        let [passes, again] = passes(strategy, rates);
        let w = &profile.work;
        let attention_again = if strategy.recompute == Recompute::None { 0.0 } else { 1.0 };
        let attention_rate = rates.peaks.plain * rates.attention_efficiency.value * rates.gemm_asymptote.value.min(1.0);
        let wide = element_width(strategy.precision);
        let moved = (w.moved * rates.elementwise_factor.value + w.moved_convolutions) * (2.0 + again) / 2.0 * wide;
        let scores = if strategy.attention == AttentionKernel::Eager {
            (SCORE_BYTES_MOVED + attention_again * SCORE_BYTES_AGAIN) * wide * profile.saved.scores
        } else {
            0.0
        };
        let held = Held::of(profile, strategy);
        let dequantised = if matches!(strategy.method, TrainMethod::Qlora(_)) {
            rates.dequantise_bytes.value * held.total() * (2.0 + again)
        } else {
            0.0
        };
        Self {
            matrix_products: products(profile, strategy, rates, [passes, again]) * share,
            attention: w.attention * (3.5 + attention_again) / attention_rate * share,
            elementwise: moved / rates.bandwidth * share,
            scores: scores / rates.bandwidth * share,
            dequantisation: dequantised / rates.bandwidth,
            launches: launches(profile, strategy, rates),
            optimizer: optimizer(&held, strategy, rates),
        }
    }

    /// All arithmetic and traffic of a micro-step, and launches, which overlap: p-norm 3.
    pub(crate) fn micro_step(&self) -> f64 {
        let busy = self.matrix_products + self.attention + self.elementwise + self.scores + self.dequantisation;
        norm(busy, self.launches, 3)
    }
}

/// Matrix products and convolutions of one sample on one card: FLOPs of a forward pass, how often, and the share of the
/// peak that they reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Product {
    /// Stable id.
    pub what: &'static str,
    pub flops: f64,
    pub passes: f64,
    pub reached: f64,
    /// Width that `reached` follows; 0 where it follows none.
    pub width: f64,
    /// Of the share, what few tokens for each expert leave.
    pub filled: f64,
}

/// All kinds of products; those that a model has none of have no FLOPs.
pub(crate) fn kinds(
    profile: &TrainProfile,
    strategy: &TrainStrategy,
    rates: &TrainRates<'_>,
    [passes, again]: [f64; 2],
) -> [Product; 4] {
    let w = &profile.work;
    let t = f64::from(strategy.tensor);
    let (asymptote, format) = (rates.gemm_asymptote.value, rates.format_efficiency.value);
    let at_width = |width: f64| (asymptote * format / (1.0 + HALF_WIDTH * t.sqrt() / width.max(1.0))).min(MOST);
    let count = profile.experts.iter().copied().max().unwrap_or(1);
    let tokens = f64::from(strategy.micro_batch) * profile.positions / f64::from(strategy.context)
        * w.active_experts
        * f64::from(strategy.expert)
        / f64::from(count.max(1));
    let filled = rates.expert_efficiency.value / (1.0 + EXPERT_TOKENS / tokens.max(1.0));
    let of = |what, flops, passes, width: f64| Product {
        what,
        flops,
        passes,
        reached: at_width(width),
        width: width.max(1.0),
        filled: 1.0,
    };
    [
        of("matrix-products", w.dense, passes + again, profile.hidden),
        of("head", w.outside, passes, profile.hidden),
        Product {
            what: "convolutions",
            flops: w.convolutions,
            passes: passes + again,
            reached: asymptote.min(MOST) * format,
            width: 0.0,
            filled: 1.0,
        },
        Product { filled, ..of("experts", w.experts, passes + again, w.expert_width) },
    ]
}

/// Seconds of the matrix products and convolutions of one sample.
fn products(profile: &TrainProfile, strategy: &TrainStrategy, rates: &TrainRates<'_>, passes: [f64; 2]) -> f64 {
    let kinds = kinds(profile, strategy, rates, passes);
    let some = kinds.iter().filter(|kind| kind.flops > 0.0);
    some.map(|kind| kind.flops * kind.passes / (rates.peaks.products * kind.reached * kind.filled)).sum()
}

/// Passes of the layers' work in a micro-step: forward, input gradients, weight gradients (only adapters have any in
/// LoRA); and what is computed again.
pub(crate) fn passes(strategy: &TrainStrategy, rates: &TrainRates<'_>) -> [f64; 2] {
    let again = match strategy.recompute {
        Recompute::None => 0.0,
        Recompute::Selective => rates.selective_recompute.value,
        Recompute::Full => 1.0,
    };
    [2.0 + if strategy.method == TrainMethod::Full { 1.0 } else { 0.0 }, again]
}

/// Seconds in which the host starts the kernels of one micro-step.
fn launches(profile: &TrainProfile, strategy: &TrainStrategy, rates: &TrainRates<'_>) -> f64 {
    let passes = if strategy.recompute == Recompute::Full { 3.0 } else { 2.0 };
    let stages = f64::from(strategy.pipeline);
    if profile.convolutional || profile.layers == 0 {
        return rates.operator_seconds.value * profile.work.operators / stages * passes;
    }
    let adapters = if strategy.method == TrainMethod::Full { 1.0 } else { 0.7 };
    rates.layer_seconds.value * f64::from(profile.layers) / stages * passes * adapters
}

/// Seconds of the optimizer: each state is read and written once, gradients are read. Of an embedding table only the rows
/// that a batch touched.
fn optimizer(held: &Held, strategy: &TrainStrategy, rates: &TrainRates<'_>) -> f64 {
    if strategy.method != TrainMethod::Full {
        return 0.0;
    }
    let bytes = StateBytes::of(rates.framework, strategy.precision, strategy.optimizer);
    let ranks = if strategy.sharding == Sharding::None { 1.0 } else { held.group };
    (2.0 * bytes.optimizer + 2.0 * bytes.weight + bytes.gradient) * held.total() / ranks / rates.bandwidth
}

/// Bytes of an activation against 16 bits.
pub(crate) fn element_width(precision: NumberFormat) -> f64 {
    if matches!(precision, NumberFormat::Fp32 | NumberFormat::Tf32) { 2.0 } else { 1.0 }
}
