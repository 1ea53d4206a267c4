//! What `hob new` asks, in order.

use crate::kind::Kind::{self, Batch, Render, Serve, Train, Transcode};
use crate::read::Choices;
use crate::words::{CodecWords, KindWords, MethodWords, MinimiseWords, StageWords, TaskWords};
use crate::work::Task;

use super::{Draft, suggest};

/// How an answer is given, and written into the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One of [`Question::words`].
    Word,
    /// Any text; in quotes, whatever it looks like.
    Text,
    /// An amount with its unit, or a bare number.
    Amount,
    /// Texts with commas between them.
    List,
}

/// One question.
#[derive(Debug)]
pub struct Question {
    /// Path of the field: `traffic.rate`.
    pub path: &'static str,
    /// Message id of the question.
    pub ask: &'static str,
    /// How it is answered.
    pub form: Form,
    words: fn() -> Vec<&'static str>,
    kinds: &'static [Kind],
    applies: fn(&Draft) -> bool,
    suggestion: fn(&Draft) -> &'static str,
    /// Whether an empty answer leaves the field out.
    pub may_be_empty: bool,
}

impl Question {
    /// The words to choose from; empty unless the form is [`Form::Word`].
    #[must_use]
    pub fn words(&self) -> Vec<&'static str> {
        (self.words)()
    }

    /// What is taken when the user just agrees; empty where leaving out is suggested.
    #[must_use]
    pub fn suggestion(&self, draft: &Draft) -> &'static str {
        (self.suggestion)(draft)
    }

    pub(super) fn applies(&self, draft: &Draft) -> bool {
        let is_for_kind = draft.kind().is_none_or(|kind| self.kinds.contains(&kind));
        is_for_kind && (self.kinds.len() == Kind::ALL.len() || draft.kind().is_some()) && (self.applies)(draft)
    }

    const fn new(path: &'static str, ask: &'static str, kinds: &'static [Kind], form: Form) -> Self {
        let words: fn() -> Vec<&'static str> = Vec::new;
        Self { path, ask, form, words, kinds, applies: |_| true, suggestion: |_| "", may_be_empty: false }
    }

    const fn choice(
        path: &'static str,
        ask: &'static str,
        kinds: &'static [Kind],
        words: fn() -> Vec<&'static str>,
    ) -> Self {
        let mut question = Self::new(path, ask, kinds, Form::Word);
        question.words = words;
        question
    }

    const fn amount(path: &'static str, ask: &'static str, kinds: &'static [Kind]) -> Self {
        Self::new(path, ask, kinds, Form::Amount)
    }

    const fn when(mut self, applies: fn(&Draft) -> bool) -> Self {
        self.applies = applies;
        self
    }

    const fn suggest(mut self, suggestion: fn(&Draft) -> &'static str) -> Self {
        self.suggestion = suggestion;
        self
    }

    const fn or_nothing(mut self) -> Self {
        self.may_be_empty = true;
        self
    }
}

fn words<C: Choices>() -> Vec<&'static str> {
    C::WORDS.iter().map(|(word, _)| *word).collect()
}

/// Tasks that a model by name can have; a recommender is described by its sizes, which no question asks for.
fn task_words() -> Vec<&'static str> {
    words::<TaskWords>().into_iter().filter(|word| *word != "recommend").collect()
}

fn is_text(draft: &Draft) -> bool {
    matches!(draft.task(), Some(Task::Llm | Task::Embedding))
}

fn is_picture(draft: &Draft) -> bool {
    matches!(draft.task(), Some(Task::Vision | Task::DiffusionImage | Task::DiffusionVideo))
}

fn is_llm(draft: &Draft) -> bool {
    draft.task() == Some(Task::Llm)
}

fn is_speech(draft: &Draft) -> bool {
    draft.task() == Some(Task::Speech)
}

const MODELS: &[Kind] = &[Train, Serve, Batch];
const INFERENCE: &[Kind] = &[Serve, Batch];
const ENDS: &[Kind] = &[Train, Batch, Transcode, Render];

/// Every question, in the order in which they are asked. A question applies when its kind fits, its condition holds on the
/// answers before it, and nothing was said that takes its place.
pub(super) const QUESTIONS: &[Question] = &[
    Question::choice("kind", "new-ask-kind", Kind::ALL, words::<KindWords>).suggest(|_| "serve"),
    Question::new("model", "new-ask-model", MODELS, Form::Text)
        .when(|draft| !draft.has_table("model"))
        .suggest(suggest::model),
    Question::choice("task", "new-ask-task", MODELS, task_words).suggest(suggest::task),
    Question::choice("stage", "new-ask-stage", Kind::ALL, words::<StageWords>).suggest(|_| "dev"),
    Question::amount("traffic.rate", "new-ask-rate", &[Serve])
        .when(|draft| !draft.is_answered("traffic.concurrency"))
        .suggest(suggest::rate),
    Question::amount("traffic.window[1].rate", "new-ask-night-rate", &[Serve])
        .when(|draft| draft.get("traffic.rate").is_some())
        .or_nothing(),
    Question::amount("traffic.window[1].hours", "new-ask-night-hours", &[Serve])
        .when(|draft| draft.get("traffic.window[1].rate").is_some())
        .suggest(|_| "22-08"),
    Question::amount("batch.amount", "new-ask-amount", &[Batch])
        .when(|draft| !draft.is_answered("batch.total"))
        .suggest(suggest::amount),
    Question::amount("traffic.prompt", "new-ask-prompt", INFERENCE).when(is_text).suggest(|_| "512 tokens"),
    Question::amount("traffic.output", "new-ask-output", INFERENCE).when(is_llm).suggest(|_| "256 tokens"),
    Question::amount("traffic.resolution", "new-ask-resolution", INFERENCE)
        .when(is_picture)
        .suggest(suggest::resolution),
    Question::amount("traffic.clip", "new-ask-clip", INFERENCE).when(is_speech).suggest(|_| "30 s"),
    Question::choice("train.method", "new-ask-method", &[Train], words::<MethodWords>).suggest(suggest::method),
    Question::amount("data.samples", "new-ask-samples", &[Train])
        .when(|draft| !draft.is_answered("data.total"))
        .suggest(suggest::samples),
    Question::amount("data.sequence", "new-ask-sequence", &[Train]).when(is_text).suggest(suggest::sequence),
    Question::amount("data.resolution", "new-ask-resolution", &[Train]).when(is_picture).suggest(suggest::resolution),
    Question::amount("data.clip", "new-ask-clip", &[Train]).when(is_speech).suggest(|_| "30 s"),
    Question::amount("train.epochs", "new-ask-epochs", &[Train])
        .when(|draft| !draft.is_answered("train.tokens") && !draft.is_answered("train.steps"))
        .suggest(suggest::epochs),
    Question::choice("video.codec", "new-ask-codec", &[Transcode], words::<CodecWords>).suggest(|_| "h264"),
    Question::amount("video.resolution", "new-ask-video-resolution", &[Transcode]).suggest(|_| "1920x1080"),
    Question::amount("video.fps", "new-ask-fps", &[Transcode]).suggest(|_| "30 fps"),
    Question::amount("video.total", "new-ask-video-total", &[Transcode])
        .when(|draft| !draft.is_answered("video.arrives"))
        .suggest(|_| "1000 hours"),
    Question::choice("rendition[1].codec", "new-ask-rendition-codec", &[Transcode], words::<CodecWords>)
        .suggest(|_| "hevc"),
    Question::amount("rendition[1].resolution", "new-ask-rendition-resolution", &[Transcode]).suggest(|_| "1280x720"),
    Question::new("render.renderer", "new-ask-renderer", &[Render], Form::Text).suggest(|_| "blender-cycles"),
    Question::amount("render.frames", "new-ask-frames", &[Render]).suggest(|_| "3000 frames"),
    Question::amount("render.resolution", "new-ask-frame-resolution", &[Render]).suggest(|_| "1920x1080"),
    Question::amount("render.scene_memory", "new-ask-scene-memory", &[Render]).or_nothing(),
    Question::amount("render.measured.frame", "new-ask-measured-frame", &[Render]).or_nothing(),
    Question::new("render.measured.gpu", "new-ask-measured-gpu", &[Render], Form::Text)
        .when(|draft| draft.get("render.measured.frame").is_some())
        .suggest(|_| "T4"),
    Question::amount("objective.ttft_p95", "new-ask-first-token", &[Serve]).when(is_llm).suggest(|_| "2 s"),
    Question::amount("objective.e2e_p95", "new-ask-e2e", &[Serve]).suggest(suggest::e2e).or_nothing(),
    Question::amount("objective.deadline", "new-ask-deadline", ENDS).suggest(|_| "7 days").or_nothing(),
    Question::choice("objective.minimise", "new-ask-minimise", Kind::ALL, words::<MinimiseWords>)
        .when(|draft| !draft.has_table("objective.minimise"))
        .suggest(|_| "cost"),
    Question::new("where.clouds", "new-ask-clouds", Kind::ALL, Form::List).or_nothing(),
    Question::amount("budget", "new-ask-budget", Kind::ALL).or_nothing(),
];
