//! The layout of a training row, with a stated default where a column is empty.

use hob_estimate::{
    AttentionKernel, MemoryKind, NumberFormat, OptimizerKind, Recompute, Sharding, TrainMethod, TrainStrategy,
};

use crate::question::{Unanswered, Unsayable};
use crate::table::Row;

/// Kinds of memory that offloading moves to the host.
pub(super) const ON_HOST: [MemoryKind; 2] = [MemoryKind::OptimizerState, MemoryKind::Gradients];
/// Adapters' rank where the row states none: the usual example's.
const RANK: u32 = 8;

fn outside(what: Unsayable) -> Unanswered {
    Unanswered::Outside { what }
}

/// Whether the framework splits optimizer state, sequence and recompute as NVIDIA's do unless told otherwise.
fn is_nvidia(framework: &str) -> bool {
    matches!(framework, "megatron" | "nemo")
}

/// What the row's counter does not see, and what lies in the host's memory. PyTorch's counters see neither the context nor
/// communication buffers, and only `reserved` sees what the allocator holds back.
pub(super) fn elsewhere(row: &Row) -> Vec<MemoryKind> {
    let counter = row.text("mem_kind");
    let mut kinds: Vec<MemoryKind> = match counter {
        "" => Vec::new(),
        _ if counter.starts_with("torch max reserved") => vec![MemoryKind::CudaContext, MemoryKind::Communication],
        _ if counter.starts_with("torch") => {
            vec![MemoryKind::CudaContext, MemoryKind::Communication, MemoryKind::AllocatorSlack]
        }
        _ => Vec::new(),
    };
    if row.text("sharding").contains("offload") {
        kinds.extend(ON_HOST);
    }
    kinds
}

/// The layout, checked against the number of GPUs and the batch.
pub(super) fn strategy(row: &Row, framework: &str, gpus: u32) -> Result<TrainStrategy, Unanswered> {
    let count = |column| row.count(column).unwrap_or(1);
    let (tensor, pipeline, context) = (count("tp"), count("pp"), count("cp"));
    let inside = tensor.saturating_mul(pipeline).saturating_mul(context);
    let data = match row.text("dp") {
        "" => gpus / inside,
        stated => stated.parse().unwrap_or(0),
    };
    if u64::from(data) * u64::from(inside) != u64::from(gpus) {
        let layout = format!("data {data} x tensor {tensor} x pipeline {pipeline} x context {context}");
        return Err(Unanswered::Layout { layout, gpus });
    }
    let nvidia = is_nvidia(framework);
    let (micro_batch, accumulation) = batch(row, framework, data, pipeline)?;
    Ok(TrainStrategy {
        data,
        tensor,
        pipeline,
        interleave: count("vp"),
        context,
        expert: count("ep"),
        sequence_parallel: row.text("sp") == "yes" || (row.text("sp").is_empty() && nvidia && tensor > 1),
        sharding: sharding(row, nvidia)?,
        micro_batch,
        accumulation,
        precision: precision(row)?,
        optimizer: optimizer(row)?,
        recompute: recompute(row, framework, gpus)?,
        attention: attention(row),
        method: method(row)?,
    })
}

/// Samples of one forward pass, and forward passes of one step.
fn batch(row: &Row, framework: &str, data: u32, pipeline: u32) -> Result<(u32, u32), Unanswered> {
    let global = row.count("global_batch");
    match (row.count("micro_batch"), global) {
        // A local batch that pipeline stages split is stated as the micro batch.
        (Some(batch), _) if framework == "torchtitan" && pipeline > 1 => Ok((batch.div_ceil(pipeline), pipeline)),
        (Some(micro), Some(global)) if is_nvidia(framework) => {
            let each = u64::from(data) * u64::from(micro);
            if u64::from(global) < each {
                return Err(Unanswered::Batch { global, ranks: data, micro });
            }
            Ok((micro, (u64::from(global) / each) as u32))
        }
        (Some(micro), _) => Ok((micro, row.count("grad_accum").unwrap_or(1))),
        // Fewer samples than ranks: several ranks share one, as tensor parallelism does.
        (None, Some(global)) => Ok((1, (global / data).max(1))),
        (None, None) => Err(Unanswered::Missing { column: "micro_batch" }),
    }
}

fn recompute(row: &Row, framework: &str, gpus: u32) -> Result<Recompute, Unanswered> {
    let stated = row.text("recompute");
    Ok(match stated {
        _ if stated.contains("offload") => return Err(outside(Unsayable::OffloadedActivations {})),
        _ if stated.starts_with("full") => Recompute::Full,
        _ if stated.starts_with("selective") => Recompute::Selective,
        "none" => Recompute::None,
        // Unstated: NVIDIA recomputes attention; others checkpoint where they shard, and keep all on one card.
        "" if is_nvidia(framework) => Recompute::Selective,
        _ if gpus > 1 && framework != "pytorch" => Recompute::Full,
        _ => Recompute::None,
    })
}

fn method(row: &Row) -> Result<TrainMethod, Unanswered> {
    let stated = row.text("method");
    let rank = row.noted("lora_rank").unwrap_or(RANK);
    Ok(match stated {
        "" => TrainMethod::Full,
        _ if stated.contains("ppo") => return Err(outside(Unsayable::FourModels {})),
        _ if stated.contains("int8") => return Err(outside(Unsayable::FrozenInt8 {})),
        _ if ["nf4", "int4", "qlora"].iter().any(|word| stated.contains(word)) => TrainMethod::Qlora(rank),
        _ if stated.contains("lora") || stated.contains("adapter") => TrainMethod::Lora(rank),
        _ => TrainMethod::Full,
    })
}

fn precision(row: &Row) -> Result<NumberFormat, Unanswered> {
    let stated = row.text("precision");
    Ok(match stated {
        "fp32" => NumberFormat::Fp32,
        "tf32" => NumberFormat::Tf32,
        "fp16" | "amp fp16" => NumberFormat::Fp16,
        _ if stated.contains("fp4") => NumberFormat::Fp4,
        _ if stated == "bf16+fp8" => NumberFormat::Bf16,
        _ if stated.contains("fp8") => NumberFormat::Fp8,
        _ => NumberFormat::Bf16,
    })
}

fn optimizer(row: &Row) -> Result<OptimizerKind, Unanswered> {
    let stated = row.text("optimizer").to_ascii_lowercase();
    Ok(match stated.as_str() {
        _ if stated.contains("offload") => return Err(outside(Unsayable::OffloadedParameters {})),
        _ if stated.contains("in-bwd") => return Err(outside(Unsayable::StepInsideBackward {})),
        _ if stated.contains("8bit") => OptimizerKind::AdamW8bit,
        _ if stated.contains("muon") => OptimizerKind::Muon,
        _ if stated.contains("lion") => OptimizerKind::Lion,
        _ if stated.contains("adafactor") => OptimizerKind::Adafactor,
        "sgd" => OptimizerKind::Sgd,
        _ => OptimizerKind::AdamW,
    })
}

fn sharding(row: &Row, nvidia: bool) -> Result<Sharding, Unanswered> {
    let stated = row.text("sharding");
    Ok(match stated {
        _ if stated.contains("GRAD_OP") || stated.starts_with("ZeRO2") => Sharding::Zero2,
        _ if stated.starts_with("ZeRO1") => Sharding::Zero1,
        _ if stated.starts_with("device_map") => {
            return Err(outside(Unsayable::LayersOneAfterAnother {}));
        }
        _ if ["FSDP", "fsdp", "HSDP", "ZeRO3"].iter().any(|word| stated.contains(word)) => Sharding::Zero3,
        "" if nvidia => Sharding::Zero1,
        _ => Sharding::None,
    })
}

fn attention(row: &Row) -> AttentionKernel {
    let unfused = ["unfused", "eager"].contains(&row.text("attn")) || row.says("transformer-impl=local");
    if unfused { AttentionKernel::Eager } else { AttentionKernel::Fused }
}
