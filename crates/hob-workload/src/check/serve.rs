//! An online service, and the same models offline.

use hob_text::Message;
use hob_units::{PerSecond, Share, Tokens};

use crate::guess;
use crate::problem::{Code, Problem};
use crate::raw;
use crate::work::{DiffusionInput, LlmTraffic, ModelRef, Serve, Task, Traffic, Work};

use super::{Check, model, sizes, windows};

pub(crate) fn serve(root: &raw::Root, check: &mut Check<'_>) -> Option<Serve> {
    let model = model::model(root, check);
    let traffic = traffic(root, model.as_ref(), check);
    let empty = raw::Serve::default();
    let raw = root.serve.as_ref().map_or(&empty, |raw| &raw.value);
    Some(Serve {
        model: model?,
        task: root.task.as_ref().map(|task| task.value.value),
        traffic,
        precision: raw.precision.as_ref().map(|precision| precision.value.value),
        engine: raw.engine.as_ref().map(|engine| engine.value.value.to_owned()),
    })
}

pub(crate) fn batch(root: &raw::Root, check: &mut Check<'_>) -> Option<Work> {
    let model = model::model(root, check);
    let traffic = traffic(root, model.as_ref(), check);
    let empty = raw::Batch::default();
    let raw = root.batch.as_ref().map_or(&empty, |raw| &raw.value);
    sizes::used(root.task.as_ref(), raw.total.as_ref(), check);
    if let (Some(amount), Some(total)) = (&raw.amount, &raw.total) {
        check.exclusive(amount, total);
    }
    if raw.amount.is_none() && raw.total.is_none() {
        check.missing("batch.amount", Message::new("workload-expected-count").with("example", "2M documents"));
    }
    let of_total = sizes::recordings(raw.total.as_ref(), traffic.clip, "traffic.clip", check);
    let amount = raw.amount.as_ref().map(|amount| amount.value.value).or(of_total);
    let serve = Serve {
        model: model?,
        task: root.task.as_ref().map(|task| task.value.value),
        traffic,
        precision: raw.precision.as_ref().map(|precision| precision.value.value),
        engine: raw.engine.as_ref().map(|engine| engine.value.value.to_owned()),
    };
    Some(Work::Batch { serve, amount: amount? })
}

fn traffic(root: &raw::Root, model: Option<&ModelRef>, check: &mut Check<'_>) -> Traffic {
    let empty = raw::Traffic::default();
    let raw = root.traffic.as_ref().map_or(&empty, |raw| &raw.value);
    let task = root.task.as_ref();
    sizes::used(task, raw.prompt.as_ref(), check);
    sizes::used(task, raw.output.as_ref(), check);
    sizes::used(task, raw.prefix_hit.as_ref(), check);
    sizes::used(task, raw.context_max.as_ref(), check);
    sizes::used(task, raw.resolution.as_ref(), check);
    sizes::used(task, raw.steps.as_ref(), check);
    sizes::used(task, raw.guidance.as_ref(), check);
    sizes::used(task, raw.frames.as_ref(), check);
    sizes::used(task, raw.clip.as_ref(), check);

    let name = model.map_or("", |model| model.source.as_str());
    let windows = windows::windows(raw, check);
    let rate = rate(root, raw, &windows, check);
    Traffic {
        rate,
        concurrency: raw.concurrency.as_ref().map(|clients| clients.value.0),
        windows,
        llm: llm(raw, check),
        resolution: sizes::resolution(
            raw.resolution.as_ref().map(|size| size.value.value),
            "traffic.resolution",
            name,
            check,
        ),
        diffusion: diffusion(raw, name, check),
        clip: sizes::clip(raw.clip.as_ref().map(|clip| clip.value.value), "traffic.clip", check),
    }
}

/// The rate outside the windows. A service must be asked something: a rate, clients, or windows that make a day.
fn rate(
    root: &raw::Root,
    raw: &raw::Traffic,
    windows: &[crate::work::RateWindow],
    check: &mut Check<'_>,
) -> Option<PerSecond> {
    if check.kind == crate::kind::Kind::Batch {
        return None;
    }
    if let (Some(rate), Some(clients)) = (&raw.rate, &raw.concurrency) {
        check.exclusive(rate, clients);
    }
    let busiest = windows.iter().map(|window| window.rate.0).fold(0.0, f64::max);
    if let Some(rate) = &raw.rate {
        if rate.value.value.0 > 0.0 || busiest > 0.0 {
            return Some(rate.value.value);
        }
        let problem = Problem::new(Code::OutOfRange, rate.span.clone(), rate.field.clone()).with("got", "0");
        check.reader.report(problem.hint(Message::new("workload-why-not-positive")));
        return None;
    }
    if raw.concurrency.is_some() || raw.window.as_ref().is_some_and(|list| !list.value.0.is_empty()) {
        // Windows without a rate beside them cover the day, or that was reported: any hour outside has the busiest rate.
        if busiest > 0.0 && raw.concurrency.is_none() {
            check.assume("traffic.rate", format!("{busiest} req/s"), "assumed-rate-of-windows");
            return Some(PerSecond(busiest));
        }
        return None;
    }
    let span = root.traffic.as_ref().map_or(check.anchor.clone(), |traffic| traffic.span.clone());
    let was_reported = root.traffic.is_none() && check.reader.problems.iter().any(|p| p.field.starts_with("traffic"));
    if !was_reported && !check.reader.problems.iter().any(|problem| problem.field.starts_with("traffic.rate")) {
        let expected = Message::new("workload-expected-traffic");
        check.absent(Problem::new(Code::NoTraffic, span, "traffic.rate").expected(expected));
    }
    None
}

/// Token lengths. Where the task is not text they are there with their defaults, unused and therefore not listed.
fn llm(raw: &raw::Traffic, check: &mut Check<'_>) -> LlmTraffic {
    // Medians of public chat traces lie at some hundred tokens in and out (LMSYS-Chat-1M, Azure LLM traces 2023/2024).
    const PROMPT: Tokens = Tokens(512);
    const OUTPUT: Tokens = Tokens(256);
    let is_llm = matches!(check.task, Some(Task::Llm) | None);
    let is_text = is_llm || check.task == Some(Task::Embedding);

    let prompt = raw.prompt.as_ref().map(|length| length.value.value);
    let output = raw.output.as_ref().map(|length| length.value.value);
    let prefix_hit = raw.prefix_hit.as_ref().map(|share| share.value.value);
    if is_text && prompt.is_none() {
        check.assume("traffic.prompt", "512 tokens", "assumed-prompt");
    }
    if is_llm && output.is_none() {
        check.assume("traffic.output", "256 tokens", "assumed-output");
    }
    if is_llm && prefix_hit.is_none() {
        check.assume("traffic.prefix_hit", "0%", "assumed-prefix-hit");
    }
    if let Some(share) = &raw.prefix_hit {
        super::objective::at_most_all(share.value.value, share, check);
    }
    let (prompt, output) = (prompt.unwrap_or(PROMPT), output.unwrap_or(OUTPUT));
    if let Some(longest) = &raw.context_max
        && longest.value.value.0 < prompt.0.saturating_add(output.0)
    {
        let why = Message::new("workload-why-context").with("prompt", prompt).with("output", output);
        check.contradiction(longest, "traffic.prompt", why);
    }
    LlmTraffic {
        prompt,
        output,
        prefix_hit: prefix_hit.unwrap_or(Share(0.0)),
        context_max: raw.context_max.as_ref().map(|length| length.value.value),
    }
}

fn diffusion(raw: &raw::Traffic, model: &str, check: &mut Check<'_>) -> DiffusionInput {
    let task = check.task.filter(|task| matches!(task, Task::DiffusionImage | Task::DiffusionVideo));
    let steps = raw.steps.as_ref().map(|steps| steps.value.as_u32());
    let guidance = raw.guidance.as_ref().map(|flag| flag.value.0);
    let frames = sizes::frames(raw.frames.as_ref().map(|frames| frames.value.value), "traffic.frames", check);
    let (usual_steps, usual_guidance) = guess::diffusion_settings(model, task.unwrap_or(Task::DiffusionImage));
    if task.is_some() && steps.is_none() {
        check.assume("traffic.steps", usual_steps.to_string(), "assumed-steps");
    }
    if task.is_some() && guidance.is_none() {
        check.assume("traffic.guidance", usual_guidance.to_string(), "assumed-guidance");
    }
    DiffusionInput {
        steps: steps.unwrap_or(usual_steps),
        guidance: guidance.unwrap_or(usual_guidance),
        frames: frames.unwrap_or(1),
    }
}
