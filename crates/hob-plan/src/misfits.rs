//! What a workload states that the catalog, the model or the rates do not know or cannot take: each at its field, all at
//! once, before anything is searched.

use std::collections::BTreeSet;

use hob_catalog::{Catalog, UnknownName};
use hob_estimate::{EstimateError, MediaRates, has_render_scores};
use hob_model::{ModelGraph, ModelKind};
use hob_text::Message;
use hob_workload::{Code, Problem, Render, Serve, Task, Transcode, Work, Workload};

use crate::offers::matches_pattern;
use crate::plan::Inputs;
use crate::search::is_llm;

/// The task of a model, where its kind leaves one only.
#[must_use]
pub fn task_of(model: &ModelGraph) -> Option<Task> {
    match model.kind {
        ModelKind::CausalLm => Some(Task::Llm),
        ModelKind::TextEncoder => Some(Task::Embedding),
        ModelKind::Vision => Some(Task::Vision),
        ModelKind::Speech => Some(Task::Speech),
        ModelKind::DiffusionImage => Some(Task::DiffusionImage),
        ModelKind::DiffusionVideo => Some(Task::DiffusionVideo),
        ModelKind::Recommender => Some(Task::Recommend),
        // Pictures and texts; or anything.
        ModelKind::ImageText | ModelKind::Unknown => None,
    }
}

/// Everything that does not fit.
pub(crate) fn of(workload: &Workload, inputs: &Inputs<'_>) -> Vec<Problem> {
    let mut found = places(workload, inputs.catalog);
    found.extend(gpus(workload, inputs.catalog));
    found.extend(instances(workload, inputs.catalog));
    match &workload.work {
        Work::Serve(serve) | Work::Batch { serve, .. } => found.extend(lengths(serve, inputs)),
        Work::Render(render) => found.extend(renderer(render)),
        Work::Transcode(transcode) => found.extend(codec(transcode, inputs.media)),
        Work::Train(_) => {}
    }
    found
}

fn unknown(field: String, error: &UnknownName, expected: Message) -> Problem {
    let problem = Problem::of_field(Code::UnknownWord, field).with("got", &error.name).expected(expected);
    let near = error.did_you_mean.join("`, `");
    let hint = (!near.is_empty()).then(|| Message::new("workload-hint-did-you-mean").with("suggestion", near));
    problem.hint(hint)
}

/// Clouds and regions.
fn places(workload: &Workload, catalog: &Catalog) -> Vec<Problem> {
    let place = &workload.place;
    let has_machines = !place.machines.is_empty();
    let mut found = Vec::new();
    for (index, cloud) in place.clouds.iter().enumerate() {
        let is_own = cloud.trim().eq_ignore_ascii_case("own");
        let Err(error) = catalog.resolve_cloud(cloud) else { continue };
        if is_own && has_machines {
            continue;
        }
        let names = catalog.clouds().into_iter().collect::<Vec<_>>().join(", ");
        let expected = Message::new("workload-expected-cloud").with("names", names);
        let field = format!("where.clouds[{}]", index + 1);
        found.push(if is_own {
            let problem = Problem::of_field(Code::UnknownWord, field).with("got", cloud);
            problem.hint(Message::new("workload-hint-own-machines"))
        } else {
            unknown(field, &error, expected)
        });
    }
    for (index, region) in place.regions.iter().enumerate() {
        if let Err(error) = catalog.resolve_region(region) {
            let field = format!("where.regions[{}]", index + 1);
            found.push(unknown(field, &error, Message::new("workload-expected-region")));
        }
    }
    found
}

/// Names of GPUs, wherever the file has them.
fn gpus(workload: &Workload, catalog: &Catalog) -> Vec<Problem> {
    let listed = |field: &str, names: &[String]| -> Vec<(String, String)> {
        let numbered = names.iter().enumerate();
        numbered.map(|(index, name)| (format!("constraints.{field}[{}]", index + 1), name.clone())).collect()
    };
    let mut stated = listed("gpus", &workload.constraints.gpus);
    stated.extend(listed("not_gpus", &workload.constraints.not_gpus));
    let machines = workload.place.machines.iter().enumerate();
    stated.extend(machines.map(|(index, own)| (format!("where.machines[{}].gpu", index + 1), own.gpu.clone())));
    match &workload.work {
        Work::Transcode(Transcode { measured_gpu: Some(gpu), .. }) => {
            stated.push(("transcode.measured_gpu".to_owned(), gpu.clone()));
        }
        Work::Render(Render { measured_frame: Some((_, gpu)), .. }) => {
            stated.push(("render.measured.gpu".to_owned(), gpu.clone()));
        }
        _ => {}
    }
    let unfit = |(field, name): (String, String)| {
        let error = catalog.resolve_gpu(&name).err()?;
        let problem = unknown(field, &error, Message::new("workload-expected-gpu"));
        Some(problem.hint(error.did_you_mean.is_empty().then(|| Message::new("workload-hint-catalog"))))
    };
    stated.into_iter().filter_map(unfit).collect()
}

/// Instance types, or patterns of them. The user's own machines count by their names.
fn instances(workload: &Workload, catalog: &Catalog) -> Vec<Problem> {
    let own = workload.place.machines.iter().map(|machine| machine.name.as_str());
    let known: BTreeSet<&str> = catalog.instances().map(|instance| instance.name.as_str()).chain(own).collect();
    let unfit = |(index, pattern): (usize, &String)| {
        if known.iter().any(|name| matches_pattern(pattern, name)) {
            return None;
        }
        let error = catalog.resolve_instance(pattern).err();
        let problem = Problem::of_field(Code::UnknownWord, format!("constraints.instances[{}]", index + 1));
        let problem = problem.with("got", pattern).expected(Message::new("workload-expected-instance"));
        let near = error.map(|error| error.did_you_mean.join("`, `")).filter(|near| !near.is_empty());
        let near = near.map(|near| Message::new("workload-hint-did-you-mean").with("suggestion", near));
        Some(problem.hint(near.or_else(|| Some(Message::new("workload-hint-catalog")))))
    };
    workload.constraints.instances.iter().enumerate().filter_map(unfit).collect()
}

/// Requests that the model cannot hold: an engine refuses them, or cuts them off.
fn lengths(serve: &Serve, inputs: &Inputs<'_>) -> Vec<Problem> {
    let Some((model, limit)) = inputs.model.and_then(|model| Some((model, model.context_max?))) else {
        return Vec::new();
    };
    let llm = serve.traffic.llm;
    let past = |field: &str, tokens: String| {
        let problem = Problem::of_field(Code::PastModel, field).with("got", tokens).with("limit", limit);
        problem.with("model", &model.name).hint(Message::new("workload-hint-shorten"))
    };
    if !is_llm(serve, inputs) {
        let is_text = model.kind == ModelKind::TextEncoder && llm.prompt.0 > limit;
        return is_text.then(|| past("traffic.prompt", llm.prompt.to_string())).into_iter().collect();
    }
    let longer = if llm.output.0 > llm.prompt.0 { "traffic.output" } else { "traffic.prompt" };
    let request = (llm.prompt.0.saturating_add(llm.output.0) > limit)
        .then(|| past(longer, format!("{} + {}", llm.prompt, llm.output)));
    let longest = llm.context_max.filter(|tokens| tokens.0 > limit);
    request.into_iter().chain(longest.map(|tokens| past("traffic.context_max", tokens.to_string()))).collect()
}

/// A renderer that is not known, or whose speed only a measurement tells.
fn renderer(render: &Render) -> Option<Problem> {
    if render.measured_frame.is_some() {
        return None;
    }
    let (name, known, near) = match has_render_scores(&render.renderer) {
        Ok(false) => {
            let expected = Message::new("workload-expected-measured-renderer").with("renderer", &render.renderer);
            return Some(Problem::of_field(Code::Missing, "render.measured").with("kind", "render").expected(expected));
        }
        Err(EstimateError::UnknownWord { name, known, .. }) => (name, known, None),
        Err(EstimateError::MisspeltWord { name, known, near, .. }) => (name, known, Some(near)),
        Ok(true) | Err(_) => return None,
    };
    let near = near.map(|near| Message::new("workload-hint-did-you-mean").with("suggestion", near));
    let problem = Problem::of_field(Code::UnknownWord, "render.renderer").with("got", name);
    Some(problem.expected(Message::new("workload-expected-word").with("words", known)).hint(near))
}

/// An incoming codec whose decoding nobody has published a rate of.
fn codec(transcode: &Transcode, rates: &MediaRates) -> Option<Problem> {
    let codec = &transcode.input.codec;
    if rates.decodes(codec) || transcode.measured_decode_fps.is_some() {
        return None;
    }
    let expected = Message::new("workload-expected-measured-codec").with("codec", codec);
    Some(Problem::of_field(Code::Missing, "transcode.measured_decode").with("kind", "transcode").expected(expected))
}
