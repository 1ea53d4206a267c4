//! The words of the file that stand for one of a few things.

use hob_text::Message;

use crate::kind::Kind;
use crate::read::Choices;
use crate::work::{Billing, Optimizer, Precision, Stage, Task};

/// `train.precision`: formats that steps are computed in.
pub(crate) struct TrainPrecisionWords;

impl Choices for TrainPrecisionWords {
    type Value = Precision;
    const WORDS: &'static [(&'static str, Precision)] = &[
        ("fp32", Precision::Fp32),
        ("tf32", Precision::Tf32),
        ("fp16", Precision::Fp16),
        ("bf16", Precision::Bf16),
        ("fp8", Precision::Fp8),
        ("fp4", Precision::Fp4),
    ];
    const ALIASES: &'static [(&'static str, &'static str)] = PrecisionWords::ALIASES;

    fn instead(word: &str) -> Option<Message> {
        let stored = ["int4", "int8", "nf4"].iter().any(|format| word.trim().eq_ignore_ascii_case(format));
        stored.then(|| Message::new("workload-hint-qlora"))
    }
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident: $value:ty = [$($word:literal => $meaning:expr),* $(,)?], [$($alias:literal => $of:literal),* $(,)?];)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;
        impl Choices for $name {
            type Value = $value;
            const WORDS: &'static [(&'static str, $value)] = &[$(($word, $meaning)),*];
            const ALIASES: &'static [(&'static str, &'static str)] = &[$(($alias, $of)),*];
        }
    )*};
}

/// How weights are trained; the rank of adapters is a key of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MethodWord {
    Pretrain,
    Full,
    Lora,
    Qlora,
}

/// What to make small, as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MinimiseWord {
    Cost,
    Time,
    Balance,
}

words! {
    /// `kind`.
    KindWords: Kind = ["train" => Kind::Train, "serve" => Kind::Serve, "batch" => Kind::Batch,
        "transcode" => Kind::Transcode, "render" => Kind::Render], [];
    /// `stage`.
    StageWords: Stage = ["dev" => Stage::Dev, "production" => Stage::Production],
        ["development" => "dev", "prod" => "production"];
    /// `task`.
    TaskWords: Task = ["llm" => Task::Llm, "embedding" => Task::Embedding, "vision" => Task::Vision,
        "speech" => Task::Speech, "diffusion-image" => Task::DiffusionImage,
        "diffusion-video" => Task::DiffusionVideo, "recommend" => Task::Recommend],
        ["text-to-image" => "diffusion-image", "text-to-video" => "diffusion-video", "recommender" => "recommend"];
    /// `train.method`.
    MethodWords: MethodWord = ["pretrain" => MethodWord::Pretrain, "full" => MethodWord::Full,
        "lora" => MethodWord::Lora, "qlora" => MethodWord::Qlora], [];
    /// `train.optimizer`.
    OptimizerWords: Optimizer = ["adamw" => Optimizer::AdamW, "adamw-8bit" => Optimizer::AdamW8bit,
        "sgd" => Optimizer::Sgd, "adafactor" => Optimizer::Adafactor, "lion" => Optimizer::Lion,
        "muon" => Optimizer::Muon],
        ["adam" => "adamw", "adam-8bit" => "adamw-8bit", "adamw8bit" => "adamw-8bit", "adamw_8bit" => "adamw-8bit"];
    /// `precision`.
    PrecisionWords: Precision = ["fp32" => Precision::Fp32, "tf32" => Precision::Tf32, "fp16" => Precision::Fp16,
        "bf16" => Precision::Bf16, "fp8" => Precision::Fp8, "int8" => Precision::Int8, "int4" => Precision::Int4,
        "fp4" => Precision::Fp4],
        ["float32" => "fp32", "float16" => "fp16", "bfloat16" => "bf16", "half" => "fp16"];
    /// `engine`.
    EngineWords: &'static str = ["vllm" => "vllm", "sglang" => "sglang", "trtllm" => "trtllm",
        "tensorrt" => "tensorrt", "pytorch" => "pytorch", "onnxruntime" => "onnxruntime", "lmdeploy" => "lmdeploy",
        "tgi" => "tgi", "llamacpp" => "llamacpp", "triton" => "triton", "diffusers" => "diffusers"],
        ["tensorrt-llm" => "trtllm", "trt-llm" => "trtllm", "trt" => "tensorrt", "torch" => "pytorch",
        "onnx-runtime" => "onnxruntime", "llama.cpp" => "llamacpp"];
    /// `data.format`.
    FormatWords: &'static str = ["jpeg" => "jpeg", "png" => "png", "webp" => "webp", "tiff" => "tiff",
        "raw" => "raw", "tokens" => "tokens", "text" => "text", "audio" => "audio", "video" => "video",
        "table" => "table"],
        ["jpg" => "jpeg", "tif" => "tiff", "wav" => "audio", "flac" => "audio", "mp4" => "video", "csv" => "table",
        "parquet" => "table"];
    /// `data.storage`.
    StorageWords: &'static str = ["local" => "local", "cloud-disk" => "cloud-disk",
        "object-storage" => "object-storage", "memory" => "memory"],
        ["cos" => "object-storage", "s3" => "object-storage", "oss" => "object-storage", "nvme" => "local",
        "cbs" => "cloud-disk"];
    /// `codec`.
    CodecWords: &'static str = ["h264" => "h264", "hevc" => "hevc", "av1" => "av1", "vp9" => "vp9", "vp8" => "vp8",
        "mpeg2" => "mpeg2", "mjpeg" => "mjpeg"],
        ["h.264" => "h264", "avc" => "h264", "h265" => "hevc", "h.265" => "hevc"];
    /// `rendition.codec`: what engines and cores encode; the others are only read.
    TargetCodecWords: &'static str = ["h264" => "h264", "hevc" => "hevc", "av1" => "av1"],
        ["h.264" => "h264", "avc" => "h264", "h265" => "hevc", "h.265" => "hevc"];
    /// `transcode.preset`.
    PresetWords: &'static str = ["p1" => "p1", "p2" => "p2", "p3" => "p3", "p4" => "p4", "p5" => "p5", "p6" => "p6",
        "p7" => "p7"], [];
    /// `objective.minimise`.
    MinimiseWords: MinimiseWord = ["cost" => MinimiseWord::Cost, "time" => MinimiseWord::Time,
        "balance" => MinimiseWord::Balance], [];
    /// `where.billing`.
    BillingWords: Billing = ["pay-as-you-go" => Billing::PayAsYouGo, "monthly" => Billing::Monthly,
        "spot" => Billing::Spot, "reserved" => Billing::Reserved],
        ["on-demand" => "pay-as-you-go", "postpaid" => "pay-as-you-go", "hourly" => "pay-as-you-go",
        "prepaid" => "monthly", "subscription" => "monthly"];
}
