//! The passes that one batch goes through, in order.

use hob_model::{Companion, Extent, ModelGraph, ModelKind, Operator, Part, PartRole, Shape};
use hob_units::Quantity;

use super::shape::{ForwardShape, Guidance};
use super::work::{Class, Work};

/// Kernels of a text encoder whose operators are not known: 24 layers (T5-XXL; CLIP has fewer) of 16.
const TEXT_ENCODER_KERNELS: f64 = 24.0 * 16.0;

/// Kernels of an autoencoder's decoder: some 50 convolutions, each with norm, non-linearity and data movement.
const AUTOENCODER_KERNELS: f64 = 50.0 * 4.0;

/// Tokens already written, half-way through a window, when a decoder's step is folded.
fn half(tokens: u64) -> u64 {
    tokens / 2
}

/// What a pass is for: names its term in the breakdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhaseKind {
    /// The whole model, once.
    Forward,
    /// Prompts to text vectors.
    TextEncoders,
    /// One denoising step.
    Denoise,
    /// Latents to pixels.
    Autoencoder,
    /// One window of sound.
    Encode,
    /// One token of each window.
    Decode,
}

/// One pass, run a number of times for a batch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Phase {
    pub(super) kind: PhaseKind,
    /// How often it runs for one batch.
    pub(super) runs: f64,
    /// Samples of one item in one run: two under guidance.
    pub(super) samples: f64,
    pub(super) works: Vec<Work>,
}

impl Phase {
    fn new(kind: PhaseKind, runs: f64, samples: f64, works: impl Iterator<Item = Work>) -> Self {
        let mut merged: Vec<Work> = Vec::new();
        for work in works {
            match merged.iter_mut().find(|known| known.same(&work)) {
                Some(known) => known.repeat += work.repeat,
                None => merged.push(work),
            }
        }
        Self { kind, runs, samples, works: merged }
    }
}

/// The passes of `graph` with its `companions` for one batch of items of `shape`.
pub(super) fn phases(graph: &ModelGraph, companions: &[Companion], shape: &ForwardShape) -> Vec<Phase> {
    let folded = shape.folded();
    match graph.kind {
        ModelKind::Speech => speech(graph, shape),
        ModelKind::DiffusionImage | ModelKind::DiffusionVideo => diffusion(graph, companions, shape),
        ModelKind::CausalLm => {
            // An embedding is read off the last hidden state: no logits.
            let body = |part: &Part| matches!(part.role, PartRole::Embedding | PartRole::Decoder | PartRole::Other);
            vec![Phase::new(PhaseKind::Forward, 1.0, 1.0, works(graph, &folded, body, |_| true))]
        }
        _ => {
            let (pictures, texts) = (shape.resolution.is_some(), shape.sequence > 0);
            let wanted = move |part: &Part| match (graph.kind, part.role) {
                (ModelKind::ImageText, PartRole::VisionTower) => pictures,
                (ModelKind::ImageText, PartRole::TextEncoder) => texts,
                _ => true,
            };
            vec![Phase::new(PhaseKind::Forward, 1.0, 1.0, works(graph, &folded, wanted, |_| true))]
        }
    }
}

fn works<'g>(
    graph: &'g ModelGraph,
    shape: &'g Shape,
    part: impl Fn(&Part) -> bool + 'g,
    op: impl Fn(&Operator) -> bool + 'g,
) -> impl Iterator<Item = Work> + 'g {
    graph
        .parts
        .iter()
        .filter(move |p| p.role != PartRole::MultiTokenPrediction && part(p))
        .flat_map(|p| &p.blocks)
        .flat_map(|block| block.ops.iter().map(move |op| (f64::from(block.repeat), op)))
        .filter(move |(_, o)| op(o))
        .filter_map(move |(repeat, op)| Work::of(op, repeat, shape))
}

/// A window is read once; then each token of it passes through the decoder. Windows of one recording follow each other,
/// as each begins with the text of the one before.
fn speech(graph: &ModelGraph, shape: &ForwardShape) -> Vec<Phase> {
    let by_token = |op: &Operator| matches!(op.extent, Extent::Tokens | Extent::OutputTokens);
    let window = Shape::default();
    let step = Shape { tokens: 1, past: half(shape.decode_tokens), outputs: 1, ..Shape::default() };
    let windows = shape.windows();
    let encode = works(graph, &window, |_| true, move |op| !by_token(op));
    let decode = works(graph, &step, |_| true, by_token);
    vec![
        Phase::new(PhaseKind::Encode, windows, 1.0, encode),
        Phase::new(PhaseKind::Decode, windows * shape.decode_tokens.max(1) as f64, 1.0, decode),
    ]
}

fn diffusion(graph: &ModelGraph, companions: &[Companion], shape: &ForwardShape) -> Vec<Phase> {
    let folded = shape.folded();
    let samples = match shape.guidance {
        Guidance::Single => 1.0,
        Guidance::Doubled => 2.0,
    };
    let texts = companions.iter().filter_map(|companion| companion.text).map(|text| {
        Work::sum(Class::Matrix, TEXT_ENCODER_KERNELS, text.flops().base(), text.parameters_per_token as f64)
    });
    let decoders = companions.iter().filter_map(|companion| companion.decoder).map(|decoder| {
        let flops = decoder.flops(&folded).base();
        Work::sum(Class::Autoencoder, AUTOENCODER_KERNELS, flops, decoder.parameters as f64)
    });
    let steps = f64::from(shape.steps.max(1));
    let own = |part: &Part| !matches!(part.role, PartRole::TextEncoder | PartRole::Vae);
    let all = [
        Phase::new(PhaseKind::TextEncoders, 1.0, samples, texts),
        Phase::new(PhaseKind::Denoise, steps, samples, works(graph, &folded, own, |_| true)),
        Phase::new(PhaseKind::Autoencoder, 1.0, 1.0, decoders),
    ];
    all.into_iter().filter(|phase| !phase.works.is_empty()).collect()
}
