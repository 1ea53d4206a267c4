//! What a model does, told from its name. Only defaults of sizes hang on it, each of which the output shows; what the
//! model really is, its files say.

use crate::work::Task;

/// Words of model names, by what such models do. A word matches a piece of the name that begins with it.
const NAMES: &[(Task, &[&str])] = &[
    (Task::Speech, &["whisper", "wav2vec", "conformer", "paraformer", "sensevoice", "funasr", "hubert"]),
    (
        Task::DiffusionVideo,
        &["wan2", "wan", "hunyuanvideo", "cogvideo", "ltx", "mochi", "t2v", "i2v", "opensora", "animatediff"],
    ),
    (Task::DiffusionImage, &["flux", "sdxl", "sd1", "sd3", "diffusion", "pixart", "kolors", "controlnet"]),
    (Task::Recommend, &["dlrm", "deepfm", "recommender", "dcn", "wide", "din", "dien"]),
    (Task::Embedding, &["bge", "e5", "gte", "bert", "roberta", "m3e", "embedding", "embed", "jina"]),
    (
        Task::Vision,
        &[
            "resnet",
            "yolo",
            "yolov8",
            "vit",
            "clip",
            "siglip",
            "efficientnet",
            "convnext",
            "mobilenet",
            "vgg",
            "swin",
            "unet",
            "detr",
            "dino",
            "dinov2",
            "sam",
            "deeplab",
            "deit",
        ],
    ),
    (
        Task::Llm,
        &[
            "llama",
            "qwen",
            "qwen2",
            "qwen3",
            "qwq",
            "deepseek",
            "mistral",
            "mixtral",
            "gemma",
            "phi",
            "glm",
            "chatglm",
            "chatglm3",
            "yi",
            "baichuan",
            "baichuan2",
            "internlm",
            "internlm2",
            "falcon",
            "bloom",
            "opt",
            "gpt",
            "gpt2",
            "kimi",
            "minimax",
        ],
    ),
];

/// The task of a model of this name; `None` when the name says nothing.
pub(crate) fn task_of_model(name: &str) -> Option<Task> {
    /// A longer text is no name.
    const NAME_MAX: usize = 4096;
    if name.len() > NAME_MAX {
        return None;
    }
    // A bare parameter count is said of language models.
    if crate::read::parse_count(name.trim()).is_some() {
        return Some(Task::Llm);
    }
    // The owner's name comes first and often names a family that the model is not of (`google/vit-base`).
    let name = name.trim_end_matches('/').to_lowercase();
    let last = name.rsplit('/').next().unwrap_or(&name);
    let pieces: Vec<&str> = last.split(['-', '_', '.', ' ', ':']).filter(|piece| !piece.is_empty()).collect();
    let is_piece = |word: &str| pieces.iter().any(|piece| begins_with(piece, word));
    NAMES.iter().find(|(_, words)| words.iter().any(|word| is_piece(word))).map(|(task, _)| *task)
}

/// Whether the piece is the word, or the word and a version (`yolo11m`, `qwen2`); short words must match alone, since
/// `dinosaur` is no DIN.
fn begins_with(piece: &str, word: &str) -> bool {
    piece.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a detector of the YOLO family is meant; those are trained at 640 pixels.
pub(crate) fn is_detector(name: &str) -> bool {
    name.to_lowercase().contains("yolo")
}

/// Denoising steps and whether guidance doubles the work, as the model's own card runs it.
pub(crate) fn diffusion_settings(name: &str, task: Task) -> (u32, bool) {
    let name = name.to_lowercase();
    let has = |word: &str| name.contains(word);
    // Cards: FLUX.1-schnell 4 steps without guidance, FLUX.1-dev 50 steps with distilled guidance, SDXL-Turbo 1 to 4,
    // SD 3 28, SD 3.5 40, SDXL and SD 1.5 50 (schedulers in use need 30), Wan 2.1 50, HunyuanVideo 50 with distilled guidance.
    match task {
        _ if has("schnell") || has("turbo") || has("lightning") => (4, false),
        _ if has("flux") => (28, false),
        Task::DiffusionVideo => (50, !has("hunyuan")),
        _ if has("stable-diffusion-3") || has("sd3") => (28, true),
        _ => (30, true),
    }
}
