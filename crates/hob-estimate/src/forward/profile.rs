//! The folds over a model graph that a forward pass needs, computed once for a shape.

use hob_model::{Certainty, Companion, DecodeWork, Extent, ModelGraph, ModelKind, OpKind, Operator, Shape};
use hob_units::{Quantity, Seconds};

use super::phases::{Phase, phases};
use super::shape::{ForwardShape, Item};
use super::work::{Quantised, Work};
use crate::refusal::EstimateError;

/// Parameters by the number formats that reach them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Parameters {
    pub(super) never: f64,
    pub(super) eight: f64,
    pub(super) eight_and_four: f64,
    /// Of the models beside a denoiser.
    pub(super) companions: f64,
}

/// What a forward pass needs to know of a model at one shape: a list of equal operators instead of the whole graph.
#[derive(Debug, Clone, PartialEq)]
pub struct ForwardProfile {
    pub(super) model: String,
    pub(super) kind: ModelKind,
    pub(super) certainty: Certainty,
    pub(super) item: Item,
    pub(super) shape: ForwardShape,
    pub(super) phases: Vec<Phase>,
    pub(super) parameters: Parameters,
    /// Largest input and output of one operator, elements of one item.
    pub(super) widest: f64,
    /// Cache elements of one item (speech).
    pub(super) cache: f64,
    pub(super) decoders: Vec<DecodeWork>,
    /// Heads that sequence parallelism divides; `None` when the model cannot be split that way.
    pub(super) heads: Option<u64>,
}

impl ForwardProfile {
    /// The model's name, by which measurements of it are looked up.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Folds `graph` at `shape`, with the models that run beside it ([`hob_model::companions`]; empty for all but
    /// denoisers).
    ///
    /// # Errors
    /// When nothing of the graph runs at this shape: a vision model without a resolution, a text model without tokens.
    pub fn new(graph: &ModelGraph, companions: &[Companion], shape: ForwardShape) -> Result<Self, EstimateError> {
        let item = shape.item(graph);
        let has_size = match item {
            Item::Image | Item::VideoClip => shape.resolution.is_some_and(|(height, width)| height > 0 && width > 0),
            Item::Sequence => shape.sequence > 0,
            Item::ImageTextPair | Item::AudioClip | Item::Row => true,
        };
        if !has_size {
            return Err(EstimateError::NoItemSize { model: graph.name.clone() });
        }
        let phases = phases(graph, companions, &shape);
        let works = || phases.iter().flat_map(|phase| &phase.works);
        if !works().any(|work| work.flops > 0.0 || work.elements > 0.0) {
            return Err(EstimateError::NoOperator { model: graph.name.clone() });
        }
        let widest = phases
            .iter()
            .flat_map(|phase| phase.works.iter().map(|work| work.elements * phase.samples))
            .fold(0.0, f64::max);
        let cache = match graph.kind {
            ModelKind::Speech => graph.kv_bytes(shape.decode_tokens, 16.0).base() / 2.0,
            _ => 0.0,
        };
        Ok(Self {
            model: graph.name.clone(),
            kind: graph.kind,
            certainty: graph.certainty,
            item,
            shape,
            parameters: parameters(graph, companions),
            widest,
            cache,
            decoders: companions.iter().filter_map(|companion| companion.decoder).collect(),
            heads: heads(graph, &shape.folded()),
            phases,
        })
    }

    /// What a rate of this profile counts.
    #[must_use]
    pub fn item(&self) -> Item {
        self.item
    }

    /// Seconds of sound in one item; `None` for what is not speech.
    #[must_use]
    pub fn audio_seconds(&self) -> Option<Seconds> {
        (self.item == Item::AudioClip).then_some(self.shape.clip)
    }
}

fn parameters(graph: &ModelGraph, companions: &[Companion]) -> Parameters {
    let mut sum = Parameters {
        companions: companions.iter().map(|companion| companion.parameters as f64).sum(),
        ..Parameters::default()
    };
    // Any shape will do: only the class is read off it.
    let unit = Shape { tokens: 1, past: 0, outputs: 1, height: 1, width: 1, frames: 1 };
    for (repeat, op) in graph.operators() {
        let count = f64::from(repeat) * op.parameters() as f64;
        let table = matches!(op.kind, OpKind::Embedding { .. });
        match Work::of(op, 1.0, &unit).map(|work| work.quantised) {
            Some(Quantised::Eight) if !table => sum.eight += count,
            Some(Quantised::EightAndFour) if !table => sum.eight_and_four += count,
            _ => sum.never += count,
        }
    }
    sum
}

/// Attention heads over the picture, when there is such an attention and all of it has the same number of heads.
fn heads(graph: &ModelGraph, shape: &Shape) -> Option<u64> {
    let heads = |op: &Operator| match (&op.kind, op.extent) {
        (OpKind::Attention(attention), Extent::Grid { .. }) if op.extent.positions(shape) > 0.0 => {
            Some(attention.heads)
        }
        _ => None,
    };
    // A 3 x 3 convolution reads its neighbours' pixels: the picture cannot simply be cut.
    let neighbours = |op: &Operator| matches!(op.kind, OpKind::Conv { kernel_elements: 9, .. });
    let transformer = !graph.operators().any(|(_, op)| neighbours(op));
    let denoises = matches!(graph.kind, ModelKind::DiffusionImage | ModelKind::DiffusionVideo);
    let mut all = graph.operators().filter_map(|(_, op)| heads(op));
    let first = all.next()?;
    (denoises && transformer && all.all(|other| other == first)).then_some(first)
}
