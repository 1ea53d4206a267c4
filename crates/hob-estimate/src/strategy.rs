//! How the work is laid out: parallelism, precision, batch, recompute.

use serde::Serialize;

/// Number format of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The names are the formats' own.
pub enum NumberFormat {
    Fp32,
    Tf32,
    Fp16,
    Bf16,
    Fp8,
    Int8,
    Int4,
    Fp4,
}

/// What is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainMethod {
    /// All weights.
    Full,
    /// Adapters of a rank on 16-bit frozen weights.
    Lora(u32),
    /// Adapters of a rank on 4-bit (NF4) frozen weights.
    Qlora(u32),
}

/// Who holds which share of weights, gradients and optimizer state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharding {
    /// Everything on every data-parallel rank.
    None,
    /// Optimizer state sharded (ZeRO-1, Megatron distributed optimizer).
    Zero1,
    /// Optimizer state and gradients sharded.
    Zero2,
    /// Weights too (ZeRO-3, FSDP full shard).
    Zero3,
}

/// Optimizer state for each trained parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names are the optimizers' own.
pub enum OptimizerKind {
    AdamW,
    AdamW8bit,
    Sgd,
    Adafactor,
    Lion,
    Muon,
}

/// Which activations are computed again in the backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Recompute {
    /// None: all are kept.
    None,
    /// The attention core, or every other matrix product.
    Selective,
    /// Whole layers: only their inputs are kept.
    Full,
}

/// How attention is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttentionKernel {
    /// Tiled kernel that never stores the score matrix (FlashAttention, memory-efficient SDPA).
    Fused,
    /// The score matrix is stored.
    Eager,
}

/// A training layout. `tensor * pipeline * context * data = GPUs`; experts are spread inside the data-parallel group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TrainStrategy {
    /// Data-parallel ranks.
    pub data: u32,
    /// Tensor-parallel ranks.
    pub tensor: u32,
    /// Pipeline stages.
    pub pipeline: u32,
    /// Model chunks on each stage (1: plain 1F1B).
    pub interleave: u32,
    /// Context-parallel ranks.
    pub context: u32,
    /// Expert-parallel ranks.
    pub expert: u32,
    /// Whether norms and dropouts are split along the sequence inside the tensor-parallel group.
    pub sequence_parallel: bool,
    /// Sharding over the data-parallel ranks.
    pub sharding: Sharding,
    /// Samples in one forward pass of one rank.
    pub micro_batch: u32,
    /// Micro-batches in one optimizer step.
    pub accumulation: u32,
    /// Arithmetic.
    pub precision: NumberFormat,
    /// Optimizer.
    pub optimizer: OptimizerKind,
    /// Recompute.
    pub recompute: Recompute,
    /// Attention.
    pub attention: AttentionKernel,
    /// What is trained.
    pub method: TrainMethod,
}

/// Serving engine family. A family whose overheads changed much between releases has its earlier era beside it; plans
/// are for the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names are the engines' own.
pub enum Engine {
    Vllm,
    /// vLLM before its V1 engine (0.8).
    VllmV0,
    Sglang,
    /// SGLang before 0.5.
    SglangEarlier,
    TensorrtLlm,
    Lmdeploy,
    LlamaCpp,
    Transformers,
    Tensorrt,
    /// A plain generation loop.
    Pytorch,
    Diffusers,
}

impl Engine {
    /// How the table of efficiencies spells an engine that serves language models; `None` for those that do not.
    #[must_use]
    pub fn serving_id(self) -> Option<&'static str> {
        Some(match self {
            Self::Vllm => "vllm",
            Self::VllmV0 => "vllm_v0",
            Self::Sglang => "sglang",
            Self::SglangEarlier => "sglang_earlier",
            Self::TensorrtLlm => "tensorrt_llm",
            Self::Lmdeploy => "lmdeploy",
            Self::LlamaCpp => "llama_cpp",
            Self::Transformers => "transformers",
            Self::Pytorch => "pytorch",
            Self::Tensorrt | Self::Diffusers => return None,
        })
    }

    /// Whether several GPUs hold layers in turn instead of slices of each layer.
    #[must_use]
    pub fn splits_layers(self) -> bool {
        matches!(self, Self::LlamaCpp | Self::Transformers | Self::Pytorch)
    }
}

/// How weights are stored while serving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WeightFormat {
    /// As the checkpoint stores them.
    AsStored,
    /// 16 bits (bf16, or fp16 where the card lacks bf16).
    Half,
    /// 8-bit floats, activations too.
    Fp8,
    /// 8-bit integers, activations too (W8A8).
    Int8,
    /// 4-bit integers, 16-bit arithmetic (AWQ, GPTQ).
    Int4,
    /// 4-bit floats, activations too where the card has them.
    Fp4,
}

/// How the KV cache is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names are the formats' own.
pub enum KvFormat {
    Half,
    Fp8,
}

/// The layout of one serving replica.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct ServeStrategy {
    /// Engine.
    pub engine: Engine,
    /// Tensor-parallel ranks.
    pub tensor: u32,
    /// Pipeline stages.
    pub pipeline: u32,
    /// Storage of weights.
    pub weights: WeightFormat,
    /// Storage of the KV cache.
    pub kv: KvFormat,
    /// Most sequences in one step (`max_num_seqs`), or the batch of a non-autoregressive model.
    pub batch_max: u32,
    /// Most tokens in one step (`max_num_batched_tokens`).
    pub tokens_max: u32,
    /// Share of the GPU's memory that the engine may take.
    pub memory_utilization: f64,
}
