//! Which sizes go with which task, and what they are taken to be when the file does not say.

use hob_text::Message;
use hob_units::{Seconds, Tokens};

use crate::guess;
use crate::places::Places;
use crate::problem::{Code, Problem};
use crate::raw;
use crate::read::Located;
use crate::work::Task;

use super::Check;

/// Keys of `traffic` and `data` that have a meaning for a few tasks alone.
const USED_BY: &[(&str, &[Task])] = &[
    ("traffic.prompt", &[Task::Llm, Task::Embedding]),
    ("traffic.output", &[Task::Llm]),
    ("traffic.prefix_hit", &[Task::Llm]),
    ("traffic.context_max", &[Task::Llm]),
    ("traffic.resolution", &[Task::Vision, Task::DiffusionImage, Task::DiffusionVideo, Task::Llm]),
    ("traffic.steps", &[Task::DiffusionImage, Task::DiffusionVideo]),
    ("traffic.guidance", &[Task::DiffusionImage, Task::DiffusionVideo]),
    ("traffic.frames", &[Task::DiffusionVideo]),
    ("traffic.clip", &[Task::Speech]),
    ("data.sequence", &[Task::Llm, Task::Embedding]),
    ("data.resolution", &[Task::Vision, Task::DiffusionImage, Task::DiffusionVideo, Task::Llm]),
    ("data.frames", &[Task::DiffusionVideo, Task::Vision]),
    ("data.clip", &[Task::Speech]),
    ("data.total", &[Task::Speech]),
    ("batch.total", &[Task::Speech]),
];

/// Reports a size that the stated task has no use for. A task told from a name is not held against the user.
pub(crate) fn used<T>(stated: Option<&Located<raw::TaskChoice>>, size: Option<&Located<T>>, check: &mut Check<'_>) {
    let (Some(stated), Some(size)) = (stated, size) else { return };
    let task = stated.value.value;
    let Some((_, tasks)) = USED_BY.iter().find(|(field, _)| *field == size.field) else { return };
    if tasks.contains(&task) {
        return;
    }
    let problem = Problem::new(Code::NotUsed, size.span.clone(), size.field.clone());
    check.reader.report(unused(problem, task, tasks));
}

/// Sizes that a file states and that a model of this task has no use for; for a file whose task was told from the model.
#[must_use]
pub fn not_used(text: &str, task: Task) -> Vec<Problem> {
    let places = Places::of(text);
    let foreign = USED_BY.iter().filter(|(field, tasks)| !tasks.contains(&task) && places.states(field));
    foreign.map(|(field, tasks)| unused(Problem::of_field(Code::NotUsed, *field), task, tasks)).collect()
}

fn unused(problem: Problem, task: Task, tasks: &[Task]) -> Problem {
    let listed = tasks.iter().map(|task| word(*task)).collect::<Vec<_>>().join(", ");
    problem.with("task", word(task)).hint(Message::new("workload-hint-used-by").with("tasks", listed))
}

/// The word of a task in the file.
pub(crate) fn word(task: Task) -> &'static str {
    match task {
        Task::Llm => "llm",
        Task::Embedding => "embedding",
        Task::Vision => "vision",
        Task::Speech => "speech",
        Task::DiffusionImage => "diffusion-image",
        Task::DiffusionVideo => "diffusion-video",
        Task::Recommend => "recommend",
    }
}

/// Whether a picture or video has a size in this task.
pub(crate) fn has_resolution(task: Option<Task>) -> bool {
    matches!(task, Some(Task::Vision | Task::DiffusionImage | Task::DiffusionVideo))
}

/// Height and width that a task's models were made for: ImageNet's 224, YOLO's 640, the diffusion models' own.
fn usual_resolution(task: Task, model: &str) -> (u64, u64) {
    match task {
        Task::DiffusionVideo => (480, 832), // Wan 2.1's 480p
        Task::DiffusionImage if model.to_lowercase().contains("diffusion-v1") => (512, 512),
        Task::DiffusionImage => (1024, 1024),
        _ if guess::is_detector(model) => (640, 640),
        _ => (224, 224),
    }
}

/// The stated resolution, or the usual one where the task has pictures.
pub(crate) fn resolution(
    stated: Option<(u64, u64)>,
    field: &str,
    model: &str,
    check: &mut Check<'_>,
) -> Option<(u64, u64)> {
    let Some(task) = check.task.filter(|task| has_resolution(Some(*task))) else { return stated };
    if stated.is_some() {
        return stated;
    }
    let (height, width) = usual_resolution(task, model);
    check.assume(field, format!("{width}x{height}"), "assumed-resolution");
    Some((height, width))
}

/// The stated length of a recording, or Whisper's window of 30 s where the task is speech.
pub(crate) fn clip(stated: Option<Seconds>, field: &str, check: &mut Check<'_>) -> Option<Seconds> {
    if stated.is_some() || check.task != Some(Task::Speech) {
        return stated;
    }
    check.assume(field, "30 s", "assumed-clip");
    Some(Seconds(30.0))
}

/// Recordings of a length that make up a total. A total without the length of one says nothing, which is reported.
pub(crate) fn recordings(
    total: Option<&Located<crate::read::Positive<Seconds>>>,
    clip: Option<Seconds>,
    clip_field: &str,
    check: &mut Check<'_>,
) -> Option<f64> {
    let total = total?;
    let was_reported = check.reader.problems.iter().any(|problem| problem.field == clip_field);
    if clip.is_none() && !was_reported {
        let problem = Problem::new(Code::Missing, total.span.clone(), clip_field).with("kind", check.kind);
        check.absent(problem.expected(Message::new("workload-expected-time").with("example", "30 s")));
    }
    Some((total.value.value.0 / clip?.0).ceil())
}

/// Frames of one video: 81, five seconds of Wan 2.1, where the task is video.
pub(crate) fn frames(stated: Option<f64>, field: &str, check: &mut Check<'_>) -> Option<u64> {
    match (stated, check.task) {
        // A count is above zero and below 1e16, so the cast loses a fraction at most.
        (Some(frames), _) => Some((frames.round() as u64).max(1)),
        (None, Some(Task::DiffusionVideo)) => {
            check.assume(field, "81 frames", "assumed-frames");
            Some(81)
        }
        (None, _) => None,
    }
}

/// Tokens of one training sequence where the task is text.
pub(crate) fn sequence(stated: Option<Tokens>, check: &mut Check<'_>) -> Option<Tokens> {
    let (default, shown) = match check.task {
        Some(Task::Llm) => (Tokens(2048), "2048 tokens"),
        Some(Task::Embedding) => (Tokens(512), "512 tokens"),
        _ => return stated,
    };
    if stated.is_some() {
        return stated;
    }
    check.assume("data.sequence", shown, "assumed-sequence");
    Some(default)
}
