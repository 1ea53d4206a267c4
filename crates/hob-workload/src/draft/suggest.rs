//! What `hob new` suggests: ordinary work of each kind, to be changed by the user. The sizes are those that a file without
//! them would be taken to mean; amounts and goals are mere examples of their form.

use crate::guess;
use crate::work::Task;

use super::Draft;

/// A model that many use for the task.
pub(super) fn model(draft: &Draft) -> &'static str {
    match draft.task() {
        Some(Task::Embedding) => "google-bert/bert-base-uncased",
        Some(Task::Vision) => "resnet50",
        Some(Task::Speech) => "openai/whisper-large-v3",
        Some(Task::DiffusionImage) => "stabilityai/stable-diffusion-xl-base-1.0",
        Some(Task::DiffusionVideo) => "Wan-AI/Wan2.1-T2V-1.3B-Diffusers",
        Some(Task::Llm | Task::Recommend) | None => "Qwen/Qwen2.5-7B",
    }
}

/// The task told from the model's name, else that of most models with a name that tells nothing.
pub(super) fn task(draft: &Draft) -> &'static str {
    match draft.task() {
        Some(task) => crate::check::word_of_task(task),
        None => "llm",
    }
}

pub(super) fn rate(draft: &Draft) -> &'static str {
    match draft.task() {
        Some(Task::Embedding) => "50 texts/s",
        Some(Task::Vision) => "20 images/s",
        Some(Task::Speech) => "1 clips/s",
        Some(Task::DiffusionImage) => "6 images/min",
        Some(Task::DiffusionVideo) => "2 clips/hour",
        Some(Task::Recommend) => "500 rows/s",
        Some(Task::Llm) | None => "2 req/s",
    }
}

pub(super) fn amount(draft: &Draft) -> &'static str {
    match draft.task() {
        Some(Task::Embedding) => "1M texts",
        Some(Task::Vision) => "1M images",
        Some(Task::Speech) => "100000 clips",
        Some(Task::DiffusionImage) => "10000 images",
        Some(Task::DiffusionVideo) => "500 clips",
        Some(Task::Recommend) => "100M rows",
        Some(Task::Llm) | None => "100000 requests",
    }
}

pub(super) fn samples(draft: &Draft) -> &'static str {
    match draft.task() {
        Some(Task::Embedding) => "200000 texts",
        Some(Task::Vision) => "50000 images",
        Some(Task::Speech) => "100000 clips",
        Some(Task::DiffusionImage) => "20000 images",
        Some(Task::DiffusionVideo) => "2000 clips",
        Some(Task::Recommend) => "100M rows",
        Some(Task::Llm) | None => "20000 sequences",
    }
}

pub(super) fn method(draft: &Draft) -> &'static str {
    match draft.task() {
        Some(Task::Llm | Task::DiffusionImage | Task::DiffusionVideo) => "lora",
        Some(Task::Recommend) => "pretrain",
        _ => "full",
    }
}

pub(super) fn sequence(draft: &Draft) -> &'static str {
    if draft.task() == Some(Task::Embedding) { "512 tokens" } else { "2048 tokens" }
}

pub(super) fn epochs(draft: &Draft) -> &'static str {
    match (draft.task(), draft.get("train.method")) {
        (Some(Task::Recommend), _) | (Some(Task::Llm), Some("pretrain")) => "1",
        (Some(Task::Vision), _) => "100",
        (Some(Task::Speech), _) => "10",
        _ => "3",
    }
}

pub(super) fn resolution(draft: &Draft) -> &'static str {
    match draft.task() {
        Some(Task::DiffusionVideo) => "832x480",
        Some(Task::DiffusionImage) => "1024x1024",
        _ if guess::is_detector(draft.get("model").unwrap_or_default()) => "640x640",
        _ => "224x224",
    }
}

pub(super) fn e2e(draft: &Draft) -> &'static str {
    match draft.task() {
        Some(Task::Embedding | Task::Vision) => "500 ms",
        Some(Task::Speech) => "10 s",
        Some(Task::DiffusionImage) => "30 s",
        Some(Task::DiffusionVideo) => "1 hour",
        Some(Task::Recommend) => "50 ms",
        Some(Task::Llm) | None => "",
    }
}
