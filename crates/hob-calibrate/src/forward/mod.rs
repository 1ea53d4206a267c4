//! Vision, speech and diffusion as questions: models that answer in one pass or a fixed number of passes.

mod ask;
mod batch;
mod diffusion;
mod mlperf;

use std::sync::Arc;

use hob_catalog::ComputeType;
use hob_estimate::{ForwardEngine, NumberFormat};
use hob_model::{ModelGraph, preset, vision_preset};

use crate::library::Library;
use crate::machine::Machine;
use crate::question::{Question, Unanswered, Unsayable};
use crate::table::Row;

/// Names of tables and the models that they mean, where a preset's name is another.
const NAMES: [(&str, &str); 9] = [
    ("whisper", "openai/whisper-large-v3"),
    ("stable-diffusion-xl", "sdxl"),
    ("sdxl unet", "sdxl"),
    ("stable-diffusion-1.5", "sd1.5"),
    ("flux.1-dev transformer", "black-forest-labs/FLUX.1-dev"),
    ("flux.1-dev transformer bnb-nf4", "black-forest-labs/FLUX.1-dev"),
    ("tencent/HunyuanVideo", "hunyuanvideo-community/HunyuanVideo"),
    ("resnet50v1.5", "resnet50"),
    ("bert-large", "google-bert/bert-large-uncased"),
];

/// Whether the row is of a model that answers in one pass or a fixed number of passes.
pub(crate) fn is_forward(row: &Row) -> bool {
    let scenario = row.text("scenario");
    ["MLPerf", "vision", "text-to-", "one denoiser", "full pipeline"].iter().any(|word| scenario.starts_with(word))
}

/// The row as a question.
pub(crate) fn question(row: &Row, library: &mut Library<'_>) -> Result<Question, Unanswered> {
    match row.text("scenario") {
        scenario if scenario.starts_with("MLPerf-") => mlperf::question(row, library),
        scenario if scenario.starts_with("vision") => batch::question(row, library),
        _ => diffusion::question(row, library),
    }
}

fn model(row: &Row, library: &mut Library<'_>) -> Result<Arc<ModelGraph>, Unanswered> {
    let stated = row.text("model");
    let name = NAMES.iter().find(|(known, _)| *known == stated).map_or(stated, |(_, name)| *name);
    library.model(name, || vision_preset(name).or_else(|| preset(name)?.graph().ok()))
}

/// The engine that a row names; several of the table's compilers replay launches as `torch.compile` does.
fn engine(row: &Row) -> Result<ForwardEngine, Unanswered> {
    let name = row.text("engine").to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if says(&["compile", "stable-fast"]) {
        Ok(ForwardEngine::PytorchCompiled)
    } else if says(&["torch", "diffusers"]) {
        Ok(ForwardEngine::Pytorch)
    } else if says(&["onnxruntime"]) {
        Ok(ForwardEngine::Onnxruntime)
    } else if says(&["tensorrt", "cuda", "ngc mlperf"]) {
        Ok(ForwardEngine::Tensorrt)
    } else {
        Err(Unanswered::Outside { what: Unsayable::Engine { name: row.text("engine").to_owned() } })
    }
}

/// The family that coefficients are looked up by.
fn family(engine: ForwardEngine) -> &'static str {
    match engine {
        ForwardEngine::Pytorch => "pytorch",
        ForwardEngine::PytorchCompiled => "pytorch_compiled",
        ForwardEngine::Tensorrt => "tensorrt",
        ForwardEngine::Onnxruntime => "onnxruntime",
    }
}

fn precision(row: &Row, machine: &Machine) -> Result<NumberFormat, Unanswered> {
    match row.text("precision") {
        _ if row.text("model").ends_with("bnb-nf4") => Ok(NumberFormat::Int4),
        "bf16" => Ok(NumberFormat::Bf16),
        "fp16" | "amp fp16" => Ok(NumberFormat::Fp16),
        "fp32/tf32" if machine.gpu.peak(ComputeType::Tf32).is_some() => Ok(NumberFormat::Tf32),
        "fp32" | "fp32/tf32" => Ok(NumberFormat::Fp32),
        _ => Err(Unanswered::Missing { column: "precision" }),
    }
}

/// Width and height after the scenario's first word: `text-to-image 1024x768 steps=20`.
fn picture(row: &Row) -> Option<(u64, u64)> {
    let (width, height) = row.text("scenario").split(' ').find_map(|word| {
        let (width, height) = word.split_once('x')?;
        Some((width.parse().ok()?, height.parse().ok()?))
    })?;
    Some((height, width))
}
