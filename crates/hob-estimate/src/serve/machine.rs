//! Rates of one card, its links and one engine's overheads, looked up once for an estimate.

use hob_catalog::{ComputeType, Gpu, GpuArchitecture};
use hob_model::Certainty;
use hob_units::Quantity;

use super::format::Class;
use super::profile::{KERNELS_QUANTISE, ServeProfile};
use crate::efficiency::{Efficiencies, Scope};
use crate::hardware::{Hardware, Link};
use crate::refusal::{EstimateError, Fact, LayoutFault};
use crate::strategy::{KvFormat, ServeStrategy};

/// A matrix group's rates on this card.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatrixRate {
    /// Bytes a second that weights are read with.
    pub(super) bandwidth: f64,
    /// Peak FLOPs a second.
    pub(super) peak: f64,
    /// Rows of the smallest tile: a step of fewer sequences multiplies as many.
    pub(super) tile: f64,
}

/// Everything that is constant while the load varies. Rates are of one GPU; times are seconds.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) tensor: f64,
    pub(super) pipeline: f64,
    /// In the order of the profile's matrices.
    pub(super) matrices: Vec<MatrixRate>,
    pub(super) bandwidth: f64,
    /// Exponent of the norm that joins memory and arithmetic: the higher, the more they overlap.
    pub(super) overlap: f64,
    /// The same for the launches: 1 adds them, higher hides them behind the work (eager engines launch ahead).
    pub(super) launch_overlap: f64,
    /// Exponent on the batch in the experts touched.
    pub(super) expert_spread: f64,
    pub(super) half_peak: f64,
    pub(super) kv_bandwidth: f64,
    pub(super) decode_gemm: f64,
    pub(super) prefill_gemm: f64,
    pub(super) prefill_moe: f64,
    pub(super) prefill_attention: f64,
    pub(super) prefill_passes: f64,
    /// Launches of one step, and of one kernel.
    pub(super) launches: f64,
    pub(super) kernel_seconds: f64,
    pub(super) host_seconds: f64,
    pub(super) step_seconds: f64,
    /// Latency of one all-reduce, and seconds for each byte of its vector.
    pub(super) allreduce_latency: f64,
    pub(super) allreduce_byte: f64,
    /// Latency of all stage boundaries, and seconds for each byte sent over all of them.
    pub(super) send_latency: f64,
    pub(super) send_byte: f64,
    pub(super) request_seconds: f64,
    /// Steps of the running batch that pass between a prefill and its first token.
    pub(super) first_steps: f64,
    /// Share of a batch of prompts that a first token waits for beside its own.
    pub(super) prompt_batch: f64,
    pub(super) wait_weight: f64,
    pub(super) wait_exponent: f64,
    pub(super) spread_idle: f64,
    pub(super) spread_busy: f64,
    pub(super) factor_tpot: f64,
    pub(super) factor_ttft: f64,
    pub(super) factor_end_to_end: f64,
    pub(super) factor_tail: f64,
    pub(super) batch_max: f64,
    pub(super) tokens_max: f64,
}

/// Generations that the efficiencies were fitted on.
const FITTED: [GpuArchitecture; 5] = [
    GpuArchitecture::Volta,
    GpuArchitecture::Ampere,
    GpuArchitecture::Ada,
    GpuArchitecture::Hopper,
    GpuArchitecture::Blackwell,
];

fn peak(gpu: &Gpu, types: &[ComputeType]) -> Option<f64> {
    types.iter().find_map(|kind| gpu.peak(*kind)).map(|rate| rate.base()).filter(|rate| *rate > 0.0)
}

/// Peak rate for a class. Formats that the card cannot multiply are stored packed and multiplied in 16 bits where
/// engines have kernels for that: 8- and 4-bit floats from compute capability 8.0, 4-bit integers from 7.0.
fn class_peak(gpu: &Gpu, class: Class, half: f64) -> Result<f64, EstimateError> {
    let native = match class {
        Class::Fp8 => peak(gpu, &[ComputeType::Fp8]),
        Class::Int8 => peak(gpu, &[ComputeType::Int8]),
        Class::Fp4 => peak(gpu, &[ComputeType::Fp4]),
        Class::Half | Class::Int4 | Class::Packed => Some(half),
    };
    let capability = gpu.compute_capability.unwrap_or((0, 0));
    let weight_only = match class {
        Class::Fp8 | Class::Fp4 => capability >= (8, 0),
        Class::Int8 => false,
        _ => true,
    };
    let too_old = class == Class::Int4 && gpu.compute_capability.is_some_and(|capability| capability < (7, 0));
    match native {
        Some(rate) if !too_old => Ok(rate),
        None if weight_only => Ok(half),
        _ => Err(EstimateError::UnsupportedFormat { gpu: gpu.id.clone(), format: class.id() }),
    }
}

impl Machine {
    pub(super) fn new(
        profile: &ServeProfile,
        hardware: &Hardware<'_>,
        strategy: &ServeStrategy,
        table: &Efficiencies,
    ) -> Result<Self, EstimateError> {
        let gpu = hardware.gpu;
        let engine = strategy
            .engine
            .serving_id()
            .ok_or_else(|| EstimateError::UnmeasuredEngine { model: profile.model.clone() })?;
        check_layout(profile, hardware, strategy)?;
        let unknown = |what| EstimateError::UnknownHardware { gpu: gpu.id.clone(), what };
        let on_board = f64::from(gpu.gpus_on_board.max(1));
        let bandwidth = gpu.memory_bandwidth.map(|rate| rate.base()).filter(|rate| *rate > 0.0);
        let bandwidth = bandwidth.ok_or_else(|| unknown(Fact::MemoryBandwidth {}))? / on_board;
        let half_peak = peak(gpu, &[ComputeType::Bf16, ComputeType::Fp16, ComputeType::Fp32]);
        let half_board = half_peak.ok_or_else(|| unknown(Fact::HalfRate {}))?;
        if strategy.kv == KvFormat::Fp8 && gpu.compute_capability.is_some_and(|capability| capability < (8, 0)) {
            return Err(EstimateError::UnsupportedKv { gpu: gpu.id.clone(), format: "fp8" });
        }

        let here = Scope::any().engine(engine).architecture(gpu.architecture).card(&gpu.id).model(&profile.model);
        let value = |name: &'static str| table.get(name, &here).map(|row| row.value);
        let class_value =
            |name: &'static str, class: &str| table.get(name, &here.clone().class(class)).map(|row| row.value);
        let memory = if gpu.memory_type.as_deref().is_some_and(|kind| kind.to_lowercase().starts_with("gddr")) {
            "gddr"
        } else {
            "hbm"
        };
        let matrices = profile
            .matrices
            .iter()
            .map(|group| {
                let stored = here.clone().precision(group.class.id());
                let share = table.get("serve.weight_bandwidth", &stored.clone().class(memory))?.value;
                let peak = class_peak(gpu, group.class, half_board)? / on_board;
                let of = if group.active < group.copies { "moe" } else { "dense" };
                let tile = table.get("serve.tile_rows", &stored.class(of))?.value;
                Ok(MatrixRate { bandwidth: bandwidth * share, peak, tile })
            })
            .collect::<Result<Vec<_>, EstimateError>>()?;
        // The format of most bytes decides which kernels an eager engine launches.
        let most =
            profile.matrices.iter().max_by(|a, b| a.bytes.total_cmp(&b.bytes)).map_or("", |group| group.class.id());
        let kernel_seconds = table.get("serve.kernel_seconds", &here.clone().precision(most))?.value;
        let native_quantised = profile.quantised_activations
            && profile.matrices.iter().any(|group| match group.class {
                Class::Fp8 => gpu.peak(ComputeType::Fp8).is_some(),
                Class::Int8 => true,
                Class::Fp4 => gpu.peak(ComputeType::Fp4).is_some(),
                _ => false,
            });
        let kernels = profile.kernels + if native_quantised { profile.layers * KERNELS_QUANTISE } else { 0.0 };

        let tensor = f64::from(strategy.tensor);
        let pipeline = f64::from(strategy.pipeline);
        let (link, link_rate) = hardware.inside();
        let link_class = if link == Link::Nvlink { "nvlink" } else { "pcie" };
        let link_share = value("serve.link_bandwidth")?;
        let (allreduce_latency, allreduce_byte) = if strategy.tensor > 1 {
            let wire = 2.0 * (tensor - 1.0) / tensor / (link_rate.base().max(1.0) * link_share);
            (class_value("serve.allreduce_seconds", link_class)? * tensor.log2(), wire)
        } else {
            (0.0, 0.0)
        };
        let (send_latency, send_byte) = if strategy.pipeline > 1 {
            let crosses = strategy.tensor.saturating_mul(strategy.pipeline) > hardware.instance.gpu_count;
            let rate = if crosses { hardware.between().1 } else { link_rate };
            let hops = pipeline - 1.0;
            (value("serve.send_seconds")? * hops, hops / (rate.base().max(1.0) * link_share))
        } else {
            (0.0, 0.0)
        };

        let width = |class: &str| class_value("serve.half_width", class);
        let mut wider = 1.0;
        if !FITTED.contains(&gpu.architecture) {
            wider *= width("no_rows")?;
        }
        match profile.certainty {
            Certainty::Exact => {}
            Certainty::Inferred => wider *= width("inferred")?,
            Certainty::Rough => wider *= width("rough")?,
        }
        Ok(Self {
            tensor,
            pipeline,
            matrices,
            bandwidth,
            overlap: value("serve.overlap")?.max(1.0),
            launch_overlap: value("serve.launch_overlap")?.max(1.0),
            expert_spread: value("serve.expert_spread")?,
            half_peak: half_board / on_board,
            kv_bandwidth: bandwidth * value("serve.kv_bandwidth")?,
            decode_gemm: value("serve.decode_gemm")?,
            prefill_gemm: value("serve.prefill_gemm")?,
            prefill_moe: value("serve.prefill_moe")?,
            prefill_attention: value("serve.prefill_attention")?,
            prefill_passes: value("serve.prefill_passes")?,
            launches: kernels * kernel_seconds,
            kernel_seconds,
            host_seconds: value("serve.host_seconds")?,
            step_seconds: value("serve.step_seconds")?,
            allreduce_latency,
            allreduce_byte,
            send_latency,
            send_byte,
            request_seconds: value("serve.request_seconds")?,
            first_steps: value("serve.first_steps")?,
            prompt_batch: value("serve.prompt_batch")?,
            wait_weight: value("serve.wait_weight")?,
            wait_exponent: value("serve.wait_exponent")?,
            spread_idle: class_value("serve.tpot_spread", "idle")?,
            spread_busy: class_value("serve.tpot_spread", "busy")?,
            factor_tpot: width("tpot")? * wider,
            factor_ttft: width("ttft")? * wider,
            factor_end_to_end: width("end_to_end")? * wider,
            factor_tail: width("tail")?,
            batch_max: f64::from(strategy.batch_max.max(1)),
            tokens_max: f64::from(strategy.tokens_max.max(1)),
        })
    }
}

fn check_layout(
    profile: &ServeProfile,
    hardware: &Hardware<'_>,
    strategy: &ServeStrategy,
) -> Result<(), EstimateError> {
    let bad = |why| Err(EstimateError::BadLayout { why });
    let (tensor, pipeline) = (strategy.tensor, strategy.pipeline);
    if tensor == 0 || pipeline == 0 {
        return bad(LayoutFault::NoRank {});
    }
    if tensor > 1 && strategy.engine.splits_layers() {
        return bad(LayoutFault::LayersInTurn {});
    }
    if tensor > hardware.instance.gpu_count {
        return bad(LayoutFault::TensorOverMachine { ranks: tensor, gpus: hardware.instance.gpu_count });
    }
    if tensor.saturating_mul(pipeline) > hardware.gpus() {
        return bad(LayoutFault::RanksOverGpus { tensor, pipeline, gpus: hardware.gpus() });
    }
    if f64::from(pipeline) > profile.layers {
        return bad(LayoutFault::StagesOverLayers { stages: u64::from(pipeline), layers: profile.layers.to_string() });
    }
    for group in &profile.attention {
        let (heads, kv_heads) = (group.attention.heads, group.attention.kv_heads.max(1));
        let ranks = u64::from(tensor);
        if heads % ranks != 0 {
            return bad(LayoutFault::HeadsByTensor { heads, ranks });
        }
        if kv_heads % ranks != 0 && ranks % kv_heads != 0 {
            return bad(LayoutFault::KvHeadsByTensor { heads: kv_heads, ranks });
        }
    }
    Ok(())
}
