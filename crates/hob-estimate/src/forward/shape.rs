//! What one item is, and how much of it is asked for.

use hob_model::{Extent, ModelGraph, ModelKind, Shape};
use hob_units::Seconds;
use serde::Serialize;

/// What is counted: the unit of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// A picture, read or made.
    Image,
    /// A text of `sequence` tokens.
    Sequence,
    /// A picture and a text that are compared.
    ImageTextPair,
    /// A recording of `clip` seconds.
    AudioClip,
    /// A row of features to be scored.
    Row,
    /// A video of `frames` frames, made.
    VideoClip,
}

/// Whether a denoiser runs twice in each step (classifier-free guidance with a negative prompt).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Guidance {
    /// Once: no guidance, or guidance distilled into the model.
    Single,
    /// Twice, as one batch of twice the size.
    Doubled,
}

/// The size of one item. What the model has no use for is not read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ForwardShape {
    /// Height and width of a picture in pixels; `None` leaves an image tower out.
    pub resolution: Option<(u64, u64)>,
    /// Frames of a video.
    pub frames: u64,
    /// Text tokens of an item; 0 leaves a text tower out.
    pub sequence: u64,
    /// Length of a recording.
    pub clip: Seconds,
    /// Denoising steps.
    pub steps: u32,
    /// Guidance of the denoiser.
    pub guidance: Guidance,
    /// Tokens that a speech model writes for each window of 30 s.
    pub decode_tokens: u64,
}

/// Speech that a Whisper encoder reads at once (its `chunk_length`).
pub(super) const WINDOW: Seconds = Seconds(30.0);

/// Tokens that English speech of 30 s becomes: about 150 words a minute, 1.3 tokens a word.
const DECODE_TOKENS: u64 = 100;

/// Tokens of a text when the model does not say less: a paragraph.
const SEQUENCE: u64 = 256;

impl ForwardShape {
    /// The size that the model was made for, with the step count and guidance that its pipeline in `diffusers` 0.35 takes
    /// when none is given.
    #[must_use]
    pub fn native(graph: &ModelGraph) -> Self {
        let native = graph.native_shape;
        let (steps, guidance) = match graph.family.as_str() {
            "SD3Transformer2DModel" => (28, Guidance::Doubled),
            // The timestep-distilled model has no guidance embedding.
            "FluxTransformer2DModel" if graph.operators().any(|(_, op)| op.name.starts_with("guidance_embedder")) => {
                (28, Guidance::Single)
            }
            "FluxTransformer2DModel" => (4, Guidance::Single),
            "HunyuanVideoTransformer3DModel" => (50, Guidance::Single),
            _ => (50, Guidance::Doubled),
        };
        let context = graph.context_max.unwrap_or(SEQUENCE);
        Self {
            resolution: (native.height > 0 && native.width > 0).then_some((native.height, native.width)),
            frames: native.frames.max(1),
            sequence: SEQUENCE.min(context),
            clip: WINDOW,
            steps,
            guidance,
            decode_tokens: DECODE_TOKENS,
        }
    }

    /// Windows of a recording.
    pub(super) fn windows(&self) -> f64 {
        (self.clip.0 / WINDOW.0).ceil().clamp(1.0, 1e6)
    }

    /// The shape at which the graph's operators are folded.
    pub(super) fn folded(&self) -> Shape {
        let (height, width) = self.resolution.unwrap_or((0, 0));
        Shape { tokens: self.sequence, past: 0, outputs: 0, height, width, frames: self.frames.max(1) }
    }

    /// What one item of `graph` is.
    pub(super) fn item(&self, graph: &ModelGraph) -> Item {
        let (pictures, texts) = (self.resolution.is_some(), self.sequence > 0);
        match graph.kind {
            ModelKind::Speech => Item::AudioClip,
            ModelKind::DiffusionImage => Item::Image,
            ModelKind::DiffusionVideo => Item::VideoClip,
            ModelKind::Recommender => Item::Row,
            ModelKind::Vision => Item::Image,
            ModelKind::CausalLm | ModelKind::TextEncoder => Item::Sequence,
            ModelKind::ImageText if pictures && texts => Item::ImageTextPair,
            ModelKind::ImageText if texts => Item::Sequence,
            ModelKind::ImageText => Item::Image,
            ModelKind::Unknown => {
                let has = |wanted: fn(&Extent) -> bool| graph.operators().any(|(_, op)| wanted(&op.extent));
                if has(|extent| matches!(extent, Extent::Grid { .. })) || graph.native_shape.height > 0 {
                    Item::Image
                } else if has(|extent| matches!(extent, Extent::Tokens | Extent::OutputTokens)) {
                    Item::Sequence
                } else {
                    Item::Row
                }
            }
        }
    }
}
