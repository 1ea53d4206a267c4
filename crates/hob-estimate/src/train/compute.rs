//! Seconds of computing in one micro-step of one rank.

use hob_catalog::{ComputeType, Gpu, GpuArchitecture};
use hob_units::Quantity;

use crate::efficiency::{Coefficient, Efficiencies, Scope};
use crate::hardware::Hardware;
use crate::outcome::EstimateError;
use crate::strategy::{AttentionKernel, NumberFormat, Recompute, TrainMethod, TrainStrategy};
use crate::train::profile::TrainProfile;
use crate::train::states::{Held, StateBytes};

/// Width at which matrix products reach half of their asymptote, before the split by tensor parallelism.
const HALF_WIDTH: f64 = 1000.0;
/// Tokens for each local expert at which its products reach a quarter of theirs.
const EXPERT_TOKENS: f64 = 300.0;

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
    /// Peak rate that utilisation is stated against.
    pub reference_peak: f64,
    /// Whether the efficiency was measured on this generation.
    pub measured_generation: bool,
}

impl Compute {
    /// All arithmetic and traffic of a micro-step, and launches, which overlap: p-norm 3.
    pub(crate) fn micro_step(&self) -> f64 {
        let busy = self.matrix_products + self.attention + self.elementwise + self.scores + self.dequantisation;
        norm(busy, self.launches, 3)
    }
}

/// Two overlapping times: between their maximum and their sum.
pub(crate) fn norm(a: f64, b: f64, p: i32) -> f64 {
    (a.powi(p) + b.powi(p)).powf(1.0 / f64::from(p))
}

fn unknown(gpu: &Gpu, what: &'static str) -> EstimateError {
    EstimateError::UnknownHardware { gpu: gpu.id.clone(), what }
}

/// Peak rate of matrix products in `precision`, and of the 16- or 32-bit arithmetic of everything else.
fn peaks(gpu: &Gpu, precision: NumberFormat) -> Result<(f64, f64), EstimateError> {
    let rate = |compute| gpu.peak(compute).map(Quantity::base).filter(|rate| *rate > 0.0);
    let plain = || rate(ComputeType::Fp32).ok_or_else(|| unknown(gpu, "fp32 rate"));
    let unsupported = |format| EstimateError::UnsupportedFormat { gpu: gpu.id.clone(), format };
    let old = gpu.architecture <= GpuArchitecture::Turing;
    let bf16 = || if old { None } else { rate(ComputeType::Bf16) };
    // Cards without matrix units store 16 bits and multiply in 32.
    let half = || rate(ComputeType::Fp16).map_or_else(plain, Ok);
    match precision {
        NumberFormat::Fp32 => plain().map(|peak| (peak, peak)),
        NumberFormat::Tf32 => rate(ComputeType::Tf32).map(|peak| (peak, peak)).ok_or_else(|| unsupported("tf32")),
        NumberFormat::Fp16 => {
            let peak = half()?;
            let peak = if gpu.architecture <= GpuArchitecture::Pascal { plain()? } else { peak };
            Ok((peak, peak))
        }
        NumberFormat::Bf16 => bf16().map(|peak| (peak, peak)).ok_or_else(|| unsupported("bf16")),
        NumberFormat::Fp8 | NumberFormat::Fp4 => {
            let (compute, format) =
                if precision == NumberFormat::Fp8 { (ComputeType::Fp8, "fp8") } else { (ComputeType::Fp4, "fp4") };
            let narrow = rate(compute).ok_or_else(|| unsupported(format))?;
            Ok((narrow, bf16().map_or_else(half, Ok)?))
        }
        NumberFormat::Int8 => Err(unsupported("int8 training")),
        NumberFormat::Int4 => Err(unsupported("int4 training")),
    }
}

fn precision_name(precision: NumberFormat) -> &'static str {
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

/// Asymptotic efficiency of matrix products on this card.
fn asymptote<'t>(gpu: &Gpu, table: &'t Efficiencies) -> Result<&'t Coefficient, EstimateError> {
    let stacked = gpu.memory_type.as_deref().is_some_and(|kind| kind.to_ascii_uppercase().starts_with("HBM"));
    let scope = Scope::any().architecture(gpu.architecture).class(if stacked { "hbm" } else { "gddr" });
    table.get("train.gemm_asymptote", &scope)
}

/// Computing time of one micro-step.
pub(crate) fn estimate(
    profile: &TrainProfile,
    hardware: &Hardware<'_>,
    strategy: &TrainStrategy,
    framework: &str,
    table: &Efficiencies,
) -> Result<Compute, EstimateError> {
    let gpu = hardware.gpu;
    let scope = Scope::any().engine(framework);
    let (peak, reference_peak) = peaks(gpu, strategy.precision)?;
    let bandwidth = gpu.memory_bandwidth.map(Quantity::base).filter(|rate| *rate > 0.0);
    let bandwidth = bandwidth.ok_or_else(|| unknown(gpu, "memory bandwidth"))?;
    let [t, c, p] = [strategy.tensor, strategy.context, strategy.pipeline].map(f64::from);
    let share = f64::from(strategy.micro_batch) / c / t / p; // Of one sample's work, on one rank.

    let row = asymptote(gpu, table)?;
    let format = table.get("train.format_efficiency", &scope.clone().precision(precision_name(strategy.precision)))?;
    // On cards fitted above 1 only narrow models were measured; no wide product can pass this.
    let at_width = |width: f64| (row.value * format.value / (1.0 + HALF_WIDTH * t.sqrt() / width.max(1.0))).min(0.95);
    let selective_recompute = table.get("train.selective_recompute", &scope)?.value;
    let again = match strategy.recompute {
        Recompute::None => 0.0,
        Recompute::Selective => selective_recompute,
        Recompute::Full => 1.0,
    };
    let frozen = strategy.method != TrainMethod::Full;
    // Forward, input gradients, weight gradients (only adapters have any in LoRA), recompute.
    let passes = 2.0 + if frozen { 0.0 } else { 1.0 };
    let w = &profile.work;
    let dense = (w.dense * (passes + again) + w.outside * passes) / (peak * at_width(profile.hidden));
    let convolutions = w.convolutions * (passes + again) / (peak * row.value.min(0.95) * format.value);
    let experts = if w.experts > 0.0 {
        let expert = table.get("train.expert_efficiency", &scope)?;
        let count = profile.experts.iter().copied().max().unwrap_or(1);
        let tokens =
            f64::from(strategy.micro_batch) * profile.positions / c * w.active_experts * f64::from(strategy.expert)
                / f64::from(count.max(1));
        let efficiency = at_width(w.expert_width) * expert.value / (1.0 + EXPERT_TOKENS / tokens.max(1.0));
        w.experts * (passes + again) / (peak * efficiency)
    } else {
        0.0
    };

    let attention_row = table.get("train.attention_efficiency", &scope)?;
    let attention_again = if strategy.recompute == Recompute::None { 0.0 } else { 1.0 };
    let attention = w.attention * (3.5 + attention_again) / (reference_peak * attention_row.value * row.value.min(1.0));

    let wide = if matches!(strategy.precision, NumberFormat::Fp32 | NumberFormat::Tf32) { 2.0 } else { 1.0 };
    let traffic = table.get("train.elementwise_factor", &scope)?;
    let moved = (w.moved * traffic.value + w.moved_convolutions) * (2.0 + again) / 2.0 * wide / bandwidth;
    let scores = if strategy.attention == AttentionKernel::Eager {
        let bytes = if strategy.recompute == Recompute::None { 27.0 } else { 27.0 + 16.0 };
        bytes * wide * profile.saved.scores / bandwidth
    } else {
        0.0
    };
    let held = Held::of(profile, strategy);
    let dequantisation = if matches!(strategy.method, TrainMethod::Qlora(_)) {
        let per_pass = table.get("train.dequantise_bytes", &scope)?;
        per_pass.value * held.total() * (2.0 + again) / bandwidth
    } else {
        0.0
    };

    let launch_passes = if strategy.recompute == Recompute::Full { 3.0 } else { 2.0 };
    let launches = if profile.convolutional {
        table.get("train.operator_seconds", &scope)?.value * w.operators / p * launch_passes
    } else {
        let each = table.get("train.layer_seconds", &scope)?;
        let lora = if frozen { 0.7 } else { 1.0 };
        each.value * f64::from(profile.layers.max(1)) / p * launch_passes * lora
    };

    let optimizer = if frozen {
        0.0
    } else {
        let bytes = StateBytes::of(framework, strategy.precision, strategy.optimizer);
        let ranks = if strategy.sharding == crate::strategy::Sharding::None { 1.0 } else { held.group };
        // Each state is read and written once, gradients read.
        (2.0 * bytes.optimizer + 2.0 * bytes.weight + bytes.gradient) * held.total() / ranks / bandwidth
    };
    Ok(Compute {
        matrix_products: (dense + experts + convolutions) * share,
        attention: attention * share,
        elementwise: moved * share,
        scores: scores * share,
        dequantisation,
        launches,
        optimizer,
        reference_peak,
        measured_generation: !row.scope.architecture.is_empty(),
    })
}
