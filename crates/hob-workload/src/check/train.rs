//! A training job.

use hob_text::Message;

use crate::problem::{Code, Problem};
use crate::raw;
use crate::words::MethodWord;
use crate::work::{Data, Method, Optimizer, Task, Train, TrainLength};

use super::{Check, model, sizes};

/// Rank of adapters: the default of the LoRA paper's followers (PEFT examples, Unsloth, LLaMA-Factory use 8 to 16).
const RANK: u32 = 16;

pub(crate) fn train(root: &raw::Root, check: &mut Check<'_>) -> Option<Train> {
    let model = model::model(root, check);
    let empty = raw::Train::default();
    let raw = root.train.as_ref().map_or(&empty, |raw| &raw.value);
    let name = model.as_ref().map_or("", |model| model.source.as_str()).to_owned();

    let method = method(raw, check);
    let data = data(root, &name, check);
    let length = length(raw, method, &data, root, check);
    let stated = raw.optimizer.as_ref().map(|optimizer| optimizer.value.value);
    let (usual, shown) = usual_optimizer(&name);
    let optimizer = check.or(stated, "train.optimizer", usual, shown, "assumed-optimizer");
    if let (TrainLength::Tokens { .. }, Some(tokens), Some(task)) = (length, &raw.tokens, check.task)
        && !matches!(task, Task::Llm | Task::Embedding)
    {
        let problem = Problem::new(Code::NotUsed, tokens.span.clone(), tokens.field.clone());
        let hint = Message::new("workload-hint-used-by").with("tasks", "llm, embedding");
        check.reader.report(problem.with("task", sizes::word(task)).hint(hint));
    }
    Some(Train {
        model: model?,
        method,
        data,
        length,
        global_batch: raw.global_batch.as_ref().map(|batch| batch.value.0),
        optimizer,
        precision: raw.precision.as_ref().map(|precision| precision.value.value),
    })
}

fn method(raw: &raw::Train, check: &mut Check<'_>) -> Method {
    let stated = raw.method.as_ref().map(|method| method.value.value);
    if stated.is_none() && raw.rank.is_some() {
        // A rank means adapters; which weights they sit on is the safer of the two.
        check.assume("train.method", "lora", "assumed-lora-by-rank");
        return Method::Lora { rank: rank(raw, check) };
    }
    match check.or(stated, "train.method", MethodWord::Full, "full", "assumed-method") {
        MethodWord::Lora => Method::Lora { rank: rank(raw, check) },
        MethodWord::Qlora => Method::Qlora { rank: rank(raw, check) },
        whole @ (MethodWord::Full | MethodWord::Pretrain) => {
            if let (Some(rank), Some(method)) = (&raw.rank, &raw.method) {
                check.contradiction(rank, &method.field, Message::new("workload-why-rank"));
            }
            if whole == MethodWord::Full { Method::Full } else { Method::Pretrain }
        }
    }
}

fn rank(raw: &raw::Train, check: &mut Check<'_>) -> u32 {
    let stated = raw.rank.as_ref().map(|rank| rank.value.as_u32());
    check.or(stated, "train.rank", RANK, "16", "assumed-rank")
}

fn data(root: &raw::Root, model: &str, check: &mut Check<'_>) -> Data {
    let empty = raw::Data::default();
    let raw = root.data.as_ref().map_or(&empty, |raw| &raw.value);
    let task = root.task.as_ref();
    sizes::used(task, raw.sequence.as_ref(), check);
    sizes::used(task, raw.resolution.as_ref(), check);
    sizes::used(task, raw.frames.as_ref(), check);
    sizes::used(task, raw.clip.as_ref(), check);
    sizes::used(task, raw.total.as_ref(), check);
    if let (Some(samples), Some(total)) = (&raw.samples, &raw.total) {
        check.exclusive(samples, total);
    }
    let clip = sizes::clip(raw.clip.as_ref().map(|clip| clip.value.value), "data.clip", check);
    let of_total = sizes::recordings(raw.total.as_ref(), clip, "data.clip", check);
    Data {
        samples: raw.samples.as_ref().map(|samples| samples.value.value).or(of_total),
        sequence: sizes::sequence(raw.sequence.as_ref().map(|length| length.value.value), check),
        resolution: sizes::resolution(
            raw.resolution.as_ref().map(|size| size.value.value),
            "data.resolution",
            model,
            check,
        ),
        frames: sizes::frames(raw.frames.as_ref().map(|frames| frames.value.value), "data.frames", check),
        clip,
        bytes_per_sample: raw.bytes_per_sample.as_ref().map(|size| size.value.value),
        format: raw.format.as_ref().map(|format| format.value.value.to_owned()),
        storage: raw.storage.as_ref().map(|storage| storage.value.value.to_owned()),
    }
}

fn length(raw: &raw::Train, method: Method, data: &Data, root: &raw::Root, check: &mut Check<'_>) -> TrainLength {
    if let (Some(epochs), Some(tokens)) = (&raw.epochs, &raw.tokens) {
        check.exclusive(epochs, tokens);
    }
    if let (Some(epochs), Some(steps)) = (&raw.epochs, &raw.steps) {
        check.exclusive(epochs, steps);
    }
    if let (Some(tokens), Some(steps)) = (&raw.tokens, &raw.steps) {
        check.exclusive(tokens, steps);
    }
    if let Some(tokens) = &raw.tokens {
        return TrainLength::Tokens { tokens: tokens.value.value };
    }
    if let Some(steps) = &raw.steps {
        return TrainLength::Steps { steps: steps.value.0 };
    }
    if data.samples.is_none() {
        without_amount(root, check);
    }
    let stated = raw.epochs.as_ref().map(|epochs| epochs.value.0);
    let (usual, shown) = usual_epochs(method, check.task);
    TrainLength::Epochs { epochs: check.or(stated, "train.epochs", usual, shown, "assumed-epochs") }
}

/// Passes over data of an unknown size have no end: without a deadline the plan still gives speed and memory.
fn without_amount(root: &raw::Root, check: &mut Check<'_>) {
    let deadline = root.objective.as_ref().and_then(|objective| objective.value.deadline.as_ref());
    let Some(deadline) = deadline else { return };
    let problem = Problem::new(Code::NoAmount, deadline.span.clone(), deadline.field.clone());
    check.absent(problem.expected(Message::new("workload-expected-train-amount")));
}

/// Passes that are usual: 3 for a fine-tune of a language model, 1 for its pretraining, 100 for a detector or
/// classifier (Ultralytics' default; torchvision's recipes take 90), 10 for speech.
fn usual_epochs(method: Method, task: Option<Task>) -> (f64, &'static str) {
    match (method, task) {
        (Method::Pretrain, Some(Task::Llm) | None) => (1.0, "1"),
        (Method::Pretrain | Method::Full, Some(Task::Vision)) => (100.0, "100"),
        (_, Some(Task::Speech)) => (10.0, "10"),
        (_, Some(Task::Recommend)) => (1.0, "1"),
        _ => (3.0, "3"),
    }
}

/// Convolutional networks are trained with SGD by their authors' recipes; everything else with AdamW.
fn usual_optimizer(model: &str) -> (Optimizer, &'static str) {
    let model = model.to_lowercase();
    let is_convolutional = ["resnet", "yolo", "vgg", "mobilenet"].iter().any(|name| model.contains(name));
    if is_convolutional { (Optimizer::Sgd, "sgd") } else { (Optimizer::AdamW, "adamw") }
}
