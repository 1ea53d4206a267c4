//! Rows of published measurements as jobs that can be estimated.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hob_model::{ModelGraph, Shape, vision_preset};

use crate::strategy::{AttentionKernel, NumberFormat, OptimizerKind, Recompute, Sharding, TrainMethod, TrainStrategy};
use crate::train::tests::world::{Sizes, World, decoder};

/// One row, by column.
pub(super) struct Row(BTreeMap<String, String>);

/// Rows of a table of measurements, or `None` with a message when it is not there.
pub(super) fn measured(file: &str) -> Option<Vec<Row>> {
    let shared = std::env::var_os("HOB_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")), PathBuf::from);
    let path = shared.join("truth").join(file);
    let Ok(mut reader) = csv::Reader::from_path(&path) else {
        println!("skipped: no measurements at {}", path.display());
        return None;
    };
    Some(reader.deserialize().map(|row| Row(row.unwrap())).collect())
}

/// Rows whose columns contradict each other or the model, as the notes of the tables say: wrong number of GPUs, memory below
/// the run's own states, offload, a second model in memory, a rate at or above the peak.
const DISTRUSTED: [&str; 57] = [
    "TM0021", "TM0024", "TM0031", "TM0066", "TM0119", "TM0120", "TM0121", "TM0122", "TM0123", "TM0145", "TM0146",
    "TM0162", "TM0163", "TM0164", "TM0165", "TM0168", "TM0169", "TM0170", "TM0411", "TM0419", "TM0426", "TM0430",
    "TM0446", "TM0469", "TM0470", "TM0471", "TM0472", "TM0473", "TM0474", "TM0475", "TT0329", "TT0332", "TT0337",
    "TT0338", "TT0339", "TT0340", "TT0341", "TT0351", "TT0352", "TT0353", "TT0562", "TT0563", "TT0564", "TT0565",
    "TT0566", "TT0567", "TT0697", "TT0700", "TT0762", "TT0764", "TT0797", "TT0803", "TT0804", "TT0805", "TT0813",
    "TT0814", "TT0826",
];

/// A row as a job.
pub(super) struct Run {
    /// Framework, as the efficiency table names it.
    pub framework: &'static str,
    /// The project that published it.
    pub family: &'static str,
    pub graph: ModelGraph,
    /// One sample.
    pub shape: Shape,
    pub world: World,
    pub strategy: TrainStrategy,
}

impl Row {
    pub(super) fn text(&self, column: &str) -> &str {
        self.0.get(column).map_or("", String::as_str)
    }

    pub(super) fn number<T: std::str::FromStr>(&self, column: &str) -> Option<T> {
        self.text(column).parse().ok()
    }

    fn count(&self, column: &str) -> u32 {
        self.number(column).unwrap_or(1).max(1)
    }

    fn says(&self, word: &str) -> bool {
        self.text("note").contains(word)
    }

    /// The job, when the columns say enough and a layout can say it: no offload, no chunked loss, no second model.
    pub(super) fn run(&self) -> Option<Run> {
        // torchtune's recipes compute the loss in chunks; the rows of its cumulative flags do not at first.
        if self.says("cumulative flags") {
            return None;
        }
        let unsaid = ["offload", "multi-latent", "cpu"];
        let outside = unsaid.iter().any(|word| {
            self.says(word) || self.text("recompute").contains(word) || self.text("optimizer").contains(word)
        });
        if outside || self.text("sharding").contains("offload") || DISTRUSTED.contains(&self.text("id")) {
            return None;
        }
        let (family, framework) = self.framework()?;
        let (graph, shape) = if self.text("model") == "resnet50v1.5" {
            (vision_preset("resnet50")?, Shape { height: 224, width: 224, frames: 1, ..Shape::default() })
        } else {
            (decoder(self.sizes()?), Shape { tokens: self.number("seq_len")?, ..Shape::default() })
        };
        Some(Run {
            framework,
            family: if shape.height > 0 { "Lambda, ResNet-50" } else { family },
            graph,
            shape,
            world: self.world()?,
            strategy: self.strategy(framework)?,
        })
    }

    fn framework(&self) -> Option<(&'static str, &'static str)> {
        [
            ("torchtitan", "torchtitan", "torchtitan"),
            ("torchtune", "torchtune", "torchtune"),
            ("litgpt", "LitGPT", "litgpt"),
            ("Megatron-LM", "Megatron-LM", "megatron"),
            ("Megatron-Bridge", "Megatron-Bridge", "nemo"),
            ("NVIDIA/NeMo", "NeMo", "nemo"),
            ("ms-swift", "ms-swift", "ms-swift"),
            ("QwenLM/Qwen", "Qwen", "deepspeed"),
            ("ColossalAI", "ColossalAI", "colossalai"),
            ("llm-foundry", "llm-foundry", "llm-foundry"),
            ("2205.05198", "Selene", "megatron"),
            ("fms-fsdp", "fms-fsdp", "torchtitan"),
            ("training_results", "MLPerf", "nemo"),
            ("lambdal", "Lambda", "pytorch"),
        ]
        .into_iter()
        .find(|(word, _, _)| self.text("source").contains(word))
        .map(|(_, family, framework)| (family, framework))
    }

    fn sizes(&self) -> Option<Sizes> {
        let model = self.text("model");
        let plain_mlp =
            ["phi-1.5", "falcon", "stablelm", "pythia", "mpt", "bert", "gpt-", "gpt3", "mt-nlg", "nemotron"];
        let megatron = model.starts_with("megatron-gpt");
        let gated =
            if megatron { self.says("swiglu=true") } else { !plain_mlp.iter().any(|name| model.starts_with(name)) };
        let tied = match () {
            () if megatron => !self.says("untie-embeddings"),
            () => ["mpt", "bert", "gpt", "llama3.2", "gemma", "qwen2.5-3b", "mt-nlg"]
                .iter()
                .any(|name| model.starts_with(name)),
        };
        let experts = match model {
            "qwen3-30b-a3b" | "qwen3-235b-a22b" => (128, 8),
            "gpt-oss-120b" => (128, 4),
            // Latent attention and shared experts, which these columns do not say.
            "deepseek-v3" | "kimi-k2" => return None,
            _ => (self.noted("num-experts").unwrap_or(1), self.noted("moe-router-topk").unwrap_or(1)),
        };
        let ffn = self.noted("moe-ffn-hidden-size").map(u64::from);
        Some(Sizes {
            hidden: self.number("hidden")?,
            layers: self.number("layers")?,
            heads: self.number("heads")?,
            kv_heads: self.number("kv_heads")?,
            ffn: ffn.map_or_else(|| self.number("ffn"), Some)?,
            vocabulary: self.number("vocab")?,
            gated,
            tied,
            experts,
        })
    }

    /// The number after `name=` in the note.
    fn noted(&self, name: &str) -> Option<u32> {
        let (_, rest) = self.text("note").split_once(&format!("{name}="))?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    /// Card and machine.
    fn world(&self) -> Option<World> {
        let card = match self.text("gpu_class") {
            "A100-40-SXM" | "A100-40-?" => "a100-sxm-40",
            "A100-80-SXM" | "A100-80-?" | "A100-?-SXM" => "a100-sxm-80",
            "A100-80-PCIe" => "a100-pcie-80",
            // The custom 96 GB card has no rates in the catalog; memory does not depend on them.
            "H100-80-SXM" | "H100-96-SXM(500W)" | "H100-80-?" => "h100-sxm",
            "H100-80-PCIe" => "h100-pcie",
            "H800-80" => "h800-sxm",
            "H200-141-SXM" => "h200-sxm",
            "B200-180" => "b200",
            "GB200" => "gb200",
            "RTX-4090" => "rtx4090",
            "RTX-3090" => "rtx3090",
            "RTX-A6000" => "rtxa6000",
            "A10" => "a10",
            "A10G-24" => "a10g",
            "L40S" => "l40s",
            "V100-16" => "v100-sxm2-16",
            "V100-32" => "v100-sxm2-32",
            _ => return None,
        };
        let gpus: u32 = self.number("gpus")?;
        let in_machine = gpus.min(if card.starts_with("gb") { 64 } else { 8 }); // NVL72 racks are one machine.
        gpus.is_multiple_of(in_machine).then(|| World::try_new(card, in_machine, gpus / in_machine)).flatten()
    }

    /// Memory of the card, when the row's own card has another size than the catalog's.
    pub(super) fn card_gib(&self) -> Option<f64> {
        self.text("gpu_class").starts_with("H100-96").then_some(94.5)
    }

    fn strategy(&self, framework: &str) -> Option<TrainStrategy> {
        let gpus = self.count("gpus");
        let (tensor, pipeline, context) = (self.count("tp"), self.count("pp"), self.count("cp"));
        let data = gpus / (tensor * pipeline * context);
        let nvidia = matches!(framework, "nemo" | "megatron");
        let recompute = match self.text("recompute") {
            "full" | "full:uniform" => Recompute::Full,
            "selective-op" | "selective" | "selective(core attention)" => Recompute::Selective,
            "none" => Recompute::None,
            // The repository's default, which the row names.
            stated if stated.starts_with("not stated (repo default") => {
                if gpus > 1 {
                    Recompute::Full
                } else {
                    Recompute::None
                }
            }
            "not stated" if framework == "litgpt" => {
                if gpus > 1 {
                    Recompute::Full
                } else {
                    Recompute::None
                }
            }
            "not stated" if gpus > 1 => Recompute::Full,
            "" if nvidia => Recompute::Selective,
            _ => return None,
        };
        let method = match self.text("method") {
            "pretrain" | "full" | "full-sft" | "train/finetune" => TrainMethod::Full,
            "lora" => TrainMethod::Lora(8),
            "qlora-nf4" | "qlora" | "lora+bnb.nf4-dq" | "lora+bnb.nf4" | "qlora-int4-bnb" => TrainMethod::Qlora(8),
            _ => return None,
        };
        let precision = match self.text("precision") {
            "fp8-linear" | "amp_fp8" | "fp8" | "vendor choice (fp8/bf16)" | "fp8-tensorwise" => NumberFormat::Fp8,
            "amp fp16" | "fp16" => NumberFormat::Fp16,
            "bf16" | "bf16-true" | "amp_bf16" | "bf16 or fp16" | "bf16+fp8" => NumberFormat::Bf16,
            _ => return None,
        };
        let optimizer = match self.text("optimizer") {
            "adamw" | "decoupled_adamw" | "adamw fused" | "adam" | "HybridAdam" | "dist-adam" | "" => {
                OptimizerKind::AdamW
            }
            "adamw8bit" => OptimizerKind::AdamW8bit,
            _ => return None,
        };
        let sharding = match self.text("sharding") {
            s if s.contains("GRAD_OP") => Sharding::Zero2,
            s if s.starts_with("FSDP") || s == "HSDP" || s == "megatron-fsdp" => Sharding::Zero3,
            s if s.starts_with("ZeRO2") => Sharding::Zero2,
            s if s.starts_with("ZeRO1") => Sharding::Zero1,
            s if s.starts_with("device_map") => return None,
            "" if nvidia => Sharding::Zero1,
            _ => Sharding::None,
        };
        let (micro_batch, accumulation) = self.batch(framework, data, pipeline)?;
        let unfused = ["unfused", "eager"].contains(&self.text("attn"))
            || self.says("transformer-impl=local")
            // Labelled as fused, and growing with the square of the length.
            || ["zephyr", "chatglm3", "baichuan2-13b"].iter().any(|name| self.text("model").starts_with(name));
        Some(TrainStrategy {
            data,
            tensor,
            pipeline,
            interleave: self.number("vp").unwrap_or(1).max(1),
            context,
            expert: self.count("ep"),
            sequence_parallel: self.text("sp") == "yes" || (self.text("sp").is_empty() && nvidia && tensor > 1),
            sharding,
            micro_batch,
            accumulation,
            precision,
            optimizer,
            recompute,
            attention: if unfused { AttentionKernel::Eager } else { AttentionKernel::Fused },
            method,
        })
        .filter(|s| s.data * s.tensor * s.pipeline * s.context == gpus)
    }

    /// Samples of one forward pass, and forward passes of one step.
    fn batch(&self, framework: &str, data: u32, pipeline: u32) -> Option<(u32, u32)> {
        let global: Option<u32> = self.number("global_batch");
        let micro: Option<u32> = self.number("micro_batch");
        match (micro, global) {
            // A local batch that pipeline stages split is stated as the micro batch.
            (Some(batch), _) if framework == "torchtitan" && pipeline > 1 => Some((batch.div_ceil(pipeline), pipeline)),
            (Some(micro), Some(global)) if matches!(framework, "nemo" | "megatron") => {
                let each = data * micro;
                (global % each == 0).then_some((micro, global / each))
            }
            (Some(micro), _) => Some((micro, self.count("grad_accum"))),
            (None, Some(global)) if global >= data => Some((1, global / data)),
            _ => None,
        }
    }
}
