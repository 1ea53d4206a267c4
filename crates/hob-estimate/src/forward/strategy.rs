//! How the work is run: engine, number format, batch, GPUs.

use hob_model::Tiling;
use serde::Serialize;

use super::work::Fusion;
use crate::strategy::NumberFormat;

/// What runs the operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ForwardEngine {
    /// PyTorch, each operator by itself (`diffusers` and `transformers` too).
    Pytorch,
    /// PyTorch with `torch.compile`.
    PytorchCompiled,
    /// TensorRT: operators fused, launches replayed.
    Tensorrt,
    /// ONNX Runtime with its CUDA provider.
    Onnxruntime,
}

impl ForwardEngine {
    /// Spelling in the table of efficiencies.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Pytorch => "pytorch",
            Self::PytorchCompiled => "pytorch_compiled",
            Self::Tensorrt => "tensorrt",
            Self::Onnxruntime => "onnxruntime",
        }
    }

    /// Whether it makes such an operator part of the one before.
    pub(super) fn fuses(self, fusion: Fusion) -> bool {
        match self {
            Self::Pytorch => false,
            Self::Onnxruntime => fusion == Fusion::Folded,
            Self::PytorchCompiled | Self::Tensorrt => fusion != Fusion::Never,
        }
    }
}

/// One replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ForwardStrategy {
    /// Engine.
    pub engine: ForwardEngine,
    /// Arithmetic. `Int4` stores weights in 4 bits and multiplies in 16.
    pub precision: NumberFormat,
    /// Items in one batch; at most this many when batches form by themselves.
    pub batch: u32,
    /// GPUs of one machine that share each denoising step by sequence parallelism (Ulysses; a ring where heads do not divide);
    /// 1 for every other model.
    pub sequence_parallel: u32,
    /// How an autoencoder decodes; not read without one.
    pub tiling: Tiling,
}

impl ForwardStrategy {
    /// One GPU, pictures decoded whole.
    #[must_use]
    pub fn one_gpu(engine: ForwardEngine, precision: NumberFormat, batch: u32) -> Self {
        Self { engine, precision, batch, sequence_parallel: 1, tiling: Tiling::Whole }
    }
}
