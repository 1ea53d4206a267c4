//! Sizes of the graph's inputs: the file's own, and for free axes one sample of a usual size.

use std::collections::BTreeMap;

use crate::graph::{ModelKind, Shape, Unknown};
use crate::onnx::proto::{Dimension, Graph, Value};

/// Picture side of ImageNet classifiers, taken where a file leaves the size open.
const SIDE_USUAL: u64 = 224;
/// Sequence length taken where a file leaves it open. It only has to differ from other sizes, so that what grows with the
/// sequence can be told from what does not.
const TOKENS_USUAL: u64 = 131;
/// Audio frames taken where a file leaves them open: about ten seconds at 10 ms.
const FRAMES_USUAL: u64 = 1000;

/// Sizes that the caller wants for free axes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InputSizes {
    /// Picture height in pixels.
    pub height: Option<u64>,
    /// Picture width in pixels.
    pub width: Option<u64>,
    /// Tokens of a sequence.
    pub tokens: Option<u64>,
}

/// What the inputs say about the model and its sample.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Binding {
    /// Sizes of named axes.
    named: BTreeMap<String, u64>,
    sizes: InputSizes,
    /// Samples in one run, when the file fixes more than one.
    pub(super) batch: u64,
    /// Height and width of the picture, when there is one.
    pub(super) picture: Option<(u64, u64)>,
    /// Tokens of the sequence, when there is one.
    pub(super) tokens: Option<u64>,
    /// What the model is for.
    pub(super) kind: ModelKind,
    /// Whether keys and values of earlier tokens are inputs.
    pub(super) has_cache: bool,
    /// Axes that were given a size.
    pub(super) notes: Vec<Unknown>,
}

impl Binding {
    /// Looks at the inputs that are not weights.
    pub(super) fn new(graph: &Graph, sizes: InputSizes) -> Self {
        let mut binding = Self {
            named: BTreeMap::new(),
            sizes,
            batch: 1,
            picture: None,
            tokens: None,
            kind: ModelKind::Unknown,
            has_cache: false,
            notes: Vec::new(),
        };
        let weights: std::collections::BTreeSet<&str> =
            graph.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        let inputs: Vec<&Value> = graph.inputs.iter().filter(|value| !weights.contains(value.name.as_str())).collect();
        for value in &inputs {
            binding.look(value);
        }
        binding.kind = kind(graph, &inputs, &binding);
        for (name, size) in &binding.named {
            binding
                .notes
                .push(Unknown { what: format!("free axis `{name}`"), consequence: format!("taken as {size}") });
        }
        binding
    }

    fn look(&mut self, value: &Value) {
        let Some(declared) = &value.shape else { return };
        for (at, dimension) in declared.iter().enumerate() {
            if let Dimension::Named(name) = dimension
                && !name.is_empty()
            {
                let size = self.free(value, declared, at, name);
                self.named.entry(name.clone()).or_insert(size);
            }
        }
        let lower = value.name.to_ascii_lowercase();
        self.has_cache |= lower.contains("past");
        let Some(shape) = self.shape(value) else { return };
        match shape.as_slice() {
            [batch, rest @ ..] if self.picture.is_none() && value.element.is_float() && rest.len() == 3 => {
                if lower.contains("past") {
                    return;
                }
                self.batch = (*batch).max(1);
                self.picture = match rest {
                    [channels, height, width] if *channels <= 16 => Some((*height, *width)),
                    [height, width, channels] if *channels <= 16 => Some((*height, *width)),
                    _ => None,
                };
            }
            [batch, length] if self.tokens.is_none() && !value.element.is_float() && *length > 1 => {
                self.tokens = Some(*length);
                if self.picture.is_none() {
                    self.batch = (*batch).max(1);
                }
            }
            _ => {}
        }
    }

    /// The sizes of a declared value with free axes filled; `None` when not even the rank is declared.
    pub(super) fn shape(&self, value: &Value) -> Option<Vec<u64>> {
        let declared = value.shape.as_ref()?;
        let size = |(at, dimension): (usize, &Dimension)| match dimension {
            Dimension::Known(size) => *size,
            Dimension::Named(name) => {
                self.named.get(name).copied().unwrap_or_else(|| self.free(value, declared, at, name))
            }
        };
        Some(declared.iter().enumerate().map(size).collect())
    }

    /// The size of a free axis, by its name and place.
    fn free(&self, value: &Value, declared: &[Dimension], at: usize, name: &str) -> u64 {
        let name = name.to_ascii_lowercase();
        let height = self.sizes.height.unwrap_or(SIDE_USUAL);
        let width = self.sizes.width.unwrap_or(SIDE_USUAL);
        let tokens = self.sizes.tokens.unwrap_or(TOKENS_USUAL);
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if has(&["batch"]) || at == 0 {
            return 1;
        }
        if has(&["past"]) && !has(&["+", "seq"]) || value.name.contains("past") && at == 2 {
            // One run without earlier tokens.
            return 0;
        }
        if has(&["height"]) {
            return height;
        }
        if has(&["width"]) {
            return width;
        }
        let is_last_known_small =
            matches!(declared.last(), Some(Dimension::Known(size)) if *size <= 4) && declared.len() == 4;
        match (declared.len(), at) {
            (4, 1) if value.element.is_float() && !is_last_known_small => 3,
            (4, 1) if value.element.is_float() => height,
            (4, 2) if value.element.is_float() && is_last_known_small => width,
            (4, 2) if value.element.is_float() => height,
            (4, 3) if value.element.is_float() => width,
            (3, _) if value.element.is_float() && has(&["frame", "time", "feature", "audio"]) => FRAMES_USUAL,
            _ => tokens,
        }
    }

    /// The sample that the figures are for.
    pub(super) fn native_shape(&self) -> Shape {
        let (height, width) = self.picture.unwrap_or((0, 0));
        Shape {
            tokens: self.tokens.unwrap_or(0),
            past: 0,
            outputs: u64::from(self.tokens.is_some()),
            height,
            width,
            frames: u64::from(self.picture.is_some()),
        }
    }
}

fn kind(graph: &Graph, inputs: &[&Value], binding: &Binding) -> ModelKind {
    let named = |words: &[&str]| {
        inputs.iter().any(|value| words.iter().any(|word| value.name.to_ascii_lowercase().contains(word)))
    };
    let makes = |word: &str| graph.outputs.iter().any(|value| value.name.to_ascii_lowercase().contains(word));
    if named(&["timestep"]) {
        ModelKind::DiffusionImage
    } else if named(&["input_features", "audio", "mel", "speech", "wav"]) {
        ModelKind::Speech
    } else if binding.picture.is_some() && binding.tokens.is_some() {
        ModelKind::ImageText
    } else if binding.picture.is_some() {
        ModelKind::Vision
    } else if binding.has_cache || makes("present") {
        ModelKind::CausalLm
    } else if binding.tokens.is_some() {
        ModelKind::TextEncoder
    } else {
        ModelKind::Unknown
    }
}
