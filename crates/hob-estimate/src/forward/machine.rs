//! Rates of one card under one engine and number format, looked up once for an estimate.

use hob_catalog::{ComputeType, Gpu, GpuArchitecture, Vendor};
use hob_model::{Certainty, Dtype, ModelKind};
use hob_units::Quantity;

use super::profile::ForwardProfile;
use super::shape::Item;
use super::strategy::{ForwardEngine, ForwardStrategy};
use super::work::{Class, Quantised};
use crate::efficiency::{Efficiencies, Scope};
use crate::hardware::Hardware;
use crate::refusal::{EstimateError, Fact, LayoutFault};
use crate::strategy::NumberFormat;

/// Generations that the efficiencies were fitted on.
const FITTED: [GpuArchitecture; 6] = [
    GpuArchitecture::Volta,
    GpuArchitecture::Turing,
    GpuArchitecture::Ampere,
    GpuArchitecture::Ada,
    GpuArchitecture::Hopper,
    GpuArchitecture::Blackwell,
];

/// How operators of one [`Quantised`] are stored and multiplied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane {
    pub(super) weight_bytes: f64,
    pub(super) activation_bytes: f64,
    /// Reachable FLOPs a second by class, in the order of [`Class::ALL`].
    pub(super) rates: [f64; 6],
}

/// Everything that is constant while the batch varies. Rates are of one GPU; times are seconds.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    never: Lane,
    eight: Lane,
    eight_and_four: Lane,
    pub(super) engine: ForwardEngine,
    /// Reachable bytes a second.
    pub(super) bandwidth: f64,
    pub(super) kernel_seconds: f64,
    pub(super) host_seconds: f64,
    pub(super) batch_seconds: f64,
    pub(super) ranks: f64,
    /// Seconds of one exchange between GPUs, and for each byte of it.
    pub(super) exchange_seconds: f64,
    pub(super) exchange_byte: f64,
    /// Half width of the band of a batch's time, as a factor.
    pub(super) factor: f64,
    pub(super) factor_tail: f64,
}

/// Spelling of a format in the table of efficiencies.
fn precision_id(format: NumberFormat) -> &'static str {
    match format {
        NumberFormat::Fp32 => "fp32",
        NumberFormat::Tf32 => "tf32",
        NumberFormat::Fp16 | NumberFormat::Bf16 => "16bit",
        NumberFormat::Fp8 => "fp8",
        NumberFormat::Int8 => "int8",
        NumberFormat::Int4 => "int4",
        NumberFormat::Fp4 => "fp4",
    }
}

/// The format in which the unquantised operators of a model run.
fn plain(format: NumberFormat) -> NumberFormat {
    match format {
        NumberFormat::Fp32 | NumberFormat::Tf32 | NumberFormat::Fp16 | NumberFormat::Bf16 => format,
        NumberFormat::Fp8 | NumberFormat::Int8 | NumberFormat::Int4 | NumberFormat::Fp4 => NumberFormat::Fp16,
    }
}

/// The peak that multiplies a format. Weight-only 4-bit integers are multiplied in 16 bits.
pub(super) fn compute(format: NumberFormat) -> ComputeType {
    match format {
        NumberFormat::Fp32 => ComputeType::Fp32,
        NumberFormat::Tf32 => ComputeType::Tf32,
        NumberFormat::Fp16 | NumberFormat::Int4 => ComputeType::Fp16,
        NumberFormat::Bf16 => ComputeType::Bf16,
        NumberFormat::Fp8 => ComputeType::Fp8,
        NumberFormat::Int8 => ComputeType::Int8,
        NumberFormat::Fp4 => ComputeType::Fp4,
    }
}

/// Bytes of a stored weight, group scales included.
pub(super) fn weight_bytes(format: NumberFormat) -> f64 {
    match format {
        NumberFormat::Fp32 | NumberFormat::Tf32 => 4.0,
        NumberFormat::Fp16 | NumberFormat::Bf16 => 2.0,
        NumberFormat::Fp8 | NumberFormat::Int8 => 1.0,
        NumberFormat::Int4 => Dtype::Int4Group(128).bits() / 8.0,
        NumberFormat::Fp4 => Dtype::Nvfp4.bits() / 8.0,
    }
}

/// The format of one operator's weights under the strategy's.
pub(super) fn format_of(quantised: Quantised, format: NumberFormat) -> NumberFormat {
    let four = matches!(format, NumberFormat::Int4 | NumberFormat::Fp4);
    match quantised {
        Quantised::EightAndFour => format,
        Quantised::Eight if !four => format,
        Quantised::Eight | Quantised::Never => plain(format),
    }
}

struct Lookup<'a> {
    gpu: &'a Gpu,
    table: &'a Efficiencies,
    here: Scope,
}

impl Lookup<'_> {
    fn get(&self, name: &'static str, class: &str) -> Result<f64, EstimateError> {
        self.table.get(name, &self.here.clone().class(class)).map(|row| row.value)
    }

    fn peak(&self, format: NumberFormat) -> Result<f64, EstimateError> {
        let rate = self.gpu.peak(compute(format)).map(|rate| rate.base()).filter(|rate| *rate > 0.0);
        let on_board = f64::from(self.gpu.gpus_on_board.max(1));
        rate.map(|rate| rate / on_board)
            .ok_or_else(|| EstimateError::UnsupportedFormat { gpu: self.gpu.id.clone(), format: precision_id(format) })
    }

    /// What a card reaches whose matrix units are fewer for its other units than those of its generation's measured cards
    /// (H20): only the matrix units' own part of the time grows with their scarcity, so that a larger share is reached.
    fn share(&self, measured: f64) -> Result<f64, EstimateError> {
        let ceiling = self.get("media.compute_ceiling", "")?;
        let usual = self.table.find("media.peak_ratio", &self.here);
        let (half, single) = (self.gpu.peak(ComputeType::Fp16), self.gpu.peak(ComputeType::Fp32));
        let (Some(usual), Some(half), Some(single)) = (usual, half, single) else { return Ok(measured) };
        if measured >= ceiling || single.base() <= 0.0 {
            return Ok(measured);
        }
        let scarcity = (half.base() / single.base() / usual.value).min(1.0);
        Ok(1.0 / (1.0 / ceiling + (1.0 / measured - 1.0 / ceiling) * scarcity))
    }

    fn lane(&self, format: NumberFormat) -> Result<Lane, EstimateError> {
        let peak = self.peak(format)?;
        let here = self.here.clone().precision(precision_id(format));
        let mut rates = [f64::INFINITY; 6];
        for (rate, class) in rates.iter_mut().zip(Class::ALL) {
            if class != Class::Elementwise {
                *rate = peak * self.share(self.table.get("media.compute", &here.clone().class(class.id()))?.value)?;
            }
        }
        // Activations of weight-only formats stay at 16 bits.
        let activation_bytes = if format == NumberFormat::Int4 { 2.0 } else { weight_bytes(format).max(1.0) };
        Ok(Lane { weight_bytes: weight_bytes(format), activation_bytes, rates })
    }
}

impl Machine {
    pub(super) fn new(
        profile: &ForwardProfile,
        hardware: &Hardware<'_>,
        strategy: &ForwardStrategy,
        table: &Efficiencies,
    ) -> Result<Self, EstimateError> {
        let gpu = hardware.gpu;
        check(profile, hardware, strategy)?;
        let here = Scope::any().engine(strategy.engine.id()).architecture(gpu.architecture);
        let here = here.card(&gpu.id).model(&profile.model);
        let look = Lookup { gpu, table, here };
        let on_board = f64::from(gpu.gpus_on_board.max(1));
        let bandwidth = gpu.memory_bandwidth.map(|rate| rate.base()).filter(|rate| *rate > 0.0);
        let bandwidth = bandwidth
            .ok_or_else(|| EstimateError::UnknownHardware { gpu: gpu.id.clone(), what: Fact::MemoryBandwidth {} })?
            / on_board;
        let lane = |quantised| look.lane(format_of(quantised, strategy.precision));
        let ranks = f64::from(strategy.sequence_parallel);
        let (_, link) = hardware.inside();
        let link_share = look.get("media.link_bandwidth", "")?;
        Ok(Self {
            never: lane(Quantised::Never)?,
            eight: lane(Quantised::Eight)?,
            eight_and_four: lane(Quantised::EightAndFour)?,
            engine: strategy.engine,
            bandwidth: bandwidth * look.get("media.bandwidth", "")?,
            kernel_seconds: look.get("media.kernel_seconds", "")?,
            host_seconds: look.get("media.host_seconds", if ranks > 1.0 { "many_gpus" } else { "one_gpu" })?,
            batch_seconds: look.get("media.batch_seconds", "")?,
            ranks,
            exchange_seconds: look.get("media.exchange_seconds", "")?,
            exchange_byte: (ranks - 1.0) / (ranks * ranks) / (link.base().max(1.0) * link_share),
            factor: factor(profile, &look, strategy)?,
            factor_tail: look.get("media.half_width", "tail")?,
        })
    }

    pub(super) fn lane(&self, quantised: Quantised) -> &Lane {
        match quantised {
            Quantised::Never => &self.never,
            Quantised::Eight => &self.eight,
            Quantised::EightAndFour => &self.eight_and_four,
        }
    }
}

/// Half width of the band: by kind of model, wider beyond what was fitted.
fn factor(profile: &ForwardProfile, look: &Lookup<'_>, strategy: &ForwardStrategy) -> Result<f64, EstimateError> {
    let class = match profile.item {
        _ if profile.kind == ModelKind::DiffusionImage => "diffusion_image",
        Item::VideoClip => "diffusion_video",
        Item::AudioClip => "speech",
        Item::Image => "vision",
        Item::Sequence | Item::ImageTextPair => "text",
        Item::Row => "recommender",
    };
    let mut factor = look.get("media.half_width", class)?;
    if !FITTED.contains(&look.gpu.architecture) {
        factor *= look.get("media.half_width", "no_rows")?;
    }
    if strategy.engine == ForwardEngine::Onnxruntime {
        factor *= look.get("media.half_width", "no_engine_rows")?;
    }
    let quantised = plain(strategy.precision) != strategy.precision;
    if quantised && strategy.engine != ForwardEngine::Tensorrt {
        factor *= look.get("media.half_width", "no_format_rows")?;
    }
    match profile.certainty {
        Certainty::Exact => {}
        Certainty::Inferred => factor *= look.get("media.half_width", "inferred")?,
        Certainty::Rough => factor *= look.get("media.half_width", "rough")?,
    }
    Ok(factor)
}

fn check(profile: &ForwardProfile, hardware: &Hardware<'_>, strategy: &ForwardStrategy) -> Result<(), EstimateError> {
    let bad = |why| Err(EstimateError::BadLayout { why });
    let ranks = strategy.sequence_parallel;
    if strategy.batch == 0 || ranks == 0 {
        return bad(LayoutFault::NoItem {});
    }
    if strategy.engine == ForwardEngine::Tensorrt && hardware.gpu.vendor != Vendor::Nvidia {
        return bad(LayoutFault::TensorrtElsewhere { gpu: hardware.gpu.name.clone() });
    }
    if ranks > hardware.instance.gpu_count {
        return bad(LayoutFault::SequenceOverMachine { ranks, gpus: hardware.instance.gpu_count });
    }
    if ranks == 1 {
        return Ok(());
    }
    match profile.heads {
        None => bad(LayoutFault::NotSplit { model: profile.model.clone() }),
        // Heads that do not divide go round a ring of GPUs instead, which needs pictures cut in halves.
        Some(heads) if heads % u64::from(ranks) != 0 && !ranks.is_power_of_two() => {
            bad(LayoutFault::HeadsBySequence { heads, ranks })
        }
        Some(_) => Ok(()),
    }
}
