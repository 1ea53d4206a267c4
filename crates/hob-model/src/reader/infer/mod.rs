//! A graph from tensor names and shapes alone, for weights without a config or of an unknown architecture.
//!
//! Parameters are exactly the tensors' sum: every weight becomes part of one operator. What shapes cannot tell (heads,
//! active experts, the size of a picture) is guessed and listed.

mod attention;
mod layer;
pub(crate) mod site;

use std::collections::BTreeMap;

use crate::build::{linear, part};
use crate::dtype::Dtype;
use crate::graph::{
    Block, Certainty, Extent, ModelGraph, ModelKind, OpKind, Operator, Origin, Part, PartRole, Shape, Site, Unknown,
};
use crate::reader::packed::weights;
use crate::reader::reconcile::quantization;
use crate::reader::tensors::Inventory;

use layer::{Layer, layers};

/// Layers of one kind are folded into one block when they stand at most this many kinds apart. Published hybrids alternate
/// between two to four kinds.
const KINDS_APART_MAX: usize = 8;

/// What a file's own metadata adds to its tensors.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hints {
    /// Query heads.
    pub(crate) heads: Option<u64>,
    /// Width of a head.
    pub(crate) head_dim: Option<u64>,
    /// Experts that a token passes through.
    pub(crate) experts_active: Option<u32>,
    /// Longest context.
    pub(crate) context_max: Option<u64>,
}

impl Hints {
    /// What another graph of the same model says.
    pub(crate) fn of(graph: &ModelGraph) -> Self {
        let core = graph.operators().find_map(|(_, op)| match &op.kind {
            OpKind::Attention(attention) if op.site == Site::AttentionCore => Some(attention),
            _ => None,
        });
        Self {
            heads: core.map(|core| core.heads),
            head_dim: core.map(|core| core.qk_dim),
            experts_active: graph.operators().find(|(_, op)| op.copies > 1).map(|(_, op)| op.active),
            context_max: graph.context_max,
        }
    }
}

/// Builds the graph.
pub(crate) fn infer(name: &str, family: &str, origin: Origin, inventory: Inventory, hints: Hints) -> ModelGraph {
    let weights = weights(&inventory);
    let mut unknowns = inventory.notes.clone();
    unknowns.push(Unknown {
        what: format!("architecture `{family}`"),
        consequence: "read from tensor names and shapes; parameters are exact, the rest is inferred".to_owned(),
    });
    let layers = layers(&weights);
    let mut kind = kind(&layers);
    let extent = extent(kind, &mut unknowns);
    let mut parts: BTreeMap<String, Part> = BTreeMap::new();
    let mut order = Vec::new();
    let mut guesses = attention::Guesses::default();
    for layer in &layers {
        let mut ops = layer.operators(extent, &hints, &mut guesses);
        if layer.index.is_some() {
            let is_causal = kind == ModelKind::CausalLm;
            if let Some((at, core)) = attention::core(&ops, is_causal, extent, &hints, &mut guesses) {
                ops.insert(at, core);
            }
        }
        let role = role(layer, kind);
        let key = if layer.index.is_some() { layer.stack.clone() } else { format!("{role:?}").to_lowercase() };
        let part = parts.entry(key.clone()).or_insert_with(|| {
            order.push(key.clone());
            part(&key, role, Vec::new())
        });
        push(&mut part.blocks, layer.index.is_some(), ops);
    }
    unknowns.extend(guesses.notes());
    let mut parts: Vec<Part> = order.iter().filter_map(|key| parts.remove(key)).collect();
    let table = parts.iter().flat_map(|part| &part.blocks).flat_map(|block| &block.ops).find_map(token_table);
    if let Some((rows, width, dtype)) = table
        && kind == ModelKind::CausalLm
        && !parts.iter().any(|part| part.role == PartRole::Head)
    {
        let head = linear("lm_head", Site::Head, dtype, width, rows, false).over(Extent::OutputTokens).tied(true);
        parts.push(part("head", PartRole::Head, vec![Block { name: "head".to_owned(), repeat: 1, ops: vec![head] }]));
    }
    if parts.is_empty() {
        kind = ModelKind::Unknown;
    }
    ModelGraph {
        name: name.to_owned(),
        family: family.to_owned(),
        kind,
        origin,
        certainty: if matches!(kind, ModelKind::CausalLm | ModelKind::TextEncoder) {
            Certainty::Inferred
        } else {
            Certainty::Rough
        },
        hidden: table.map(|(_, width, _)| width),
        vocabulary: table.map(|(rows, ..)| rows),
        context_max: hints.context_max,
        quantization: quantization(&weights),
        stored: Some(inventory.stored(Dtype::Bf16)),
        parts,
        unknowns,
        native_shape: native_shape(kind),
    }
}

/// Adds a layer to the last block of its kind.
fn push(blocks: &mut Vec<Block>, is_layer: bool, ops: Vec<Operator>) {
    let recent = blocks.len().saturating_sub(KINDS_APART_MAX);
    let same = blocks.iter_mut().skip(recent).rev().find(|block| block.ops == ops);
    match same {
        Some(block) if is_layer => block.repeat = block.repeat.saturating_add(1),
        _ => blocks.push(Block { name: if is_layer { "layer" } else { "block" }.to_owned(), repeat: 1, ops }),
    }
}

fn token_table(op: &Operator) -> Option<(u64, u64, Dtype)> {
    match op.kind {
        OpKind::Embedding { rows, width } if op.site == Site::Embedding => Some((rows, width, op.dtype)),
        _ => None,
    }
}

/// What the names say the model is for.
fn kind(layers: &[Layer]) -> ModelKind {
    let has_tokens = layers.iter().any(|layer| layer.modules().any(|module| module.site == Site::Embedding));
    let has_encoder = layers.iter().any(|layer| {
        layer.index.is_some() && (layer.stack.contains("encoder.layer") || layer.stack.contains("encoder.block"))
    });
    let has_decoder = layers.iter().any(|layer| layer.index.is_some() && layer.stack.contains("decoder"));
    let has_picture = layers.iter().any(|layer| layer.modules().any(layer::Module::is_picture_convolution));
    if has_tokens && has_encoder && !has_decoder {
        ModelKind::TextEncoder
    } else if has_tokens {
        ModelKind::CausalLm
    } else if has_picture {
        ModelKind::Vision
    } else {
        ModelKind::Unknown
    }
}

/// To how many positions operators apply.
fn extent(kind: ModelKind, unknowns: &mut Vec<Unknown>) -> Extent {
    match kind {
        ModelKind::CausalLm | ModelKind::TextEncoder => Extent::Tokens,
        ModelKind::Vision => {
            unknowns.push(Unknown {
                what: "size of the feature maps".to_owned(),
                consequence: "one position for each 16 x 16 pixels assumed (a ViT patch, the middle stage of a ResNet)"
                    .to_owned(),
            });
            Extent::Grid { pixels_per_position: 256.0, frames_per_position: 1.0, fixed: 0 }
        }
        _ => {
            unknowns.push(Unknown {
                what: "what the model is for".to_owned(),
                consequence: "every weight is taken to be used once for each token".to_owned(),
            });
            Extent::Tokens
        }
    }
}

/// The part that a layer, or what stands outside of the layers, belongs to.
fn role(layer: &Layer, kind: ModelKind) -> PartRole {
    let stack = layer.stack.as_str();
    let inside = layer.index.is_some();
    if stack.contains("vision") || stack.contains("visual") || stack.starts_with("v.") {
        PartRole::VisionTower
    } else if stack.contains("mtp") || stack.contains("nextn") {
        PartRole::MultiTokenPrediction
    } else if inside && (kind == ModelKind::TextEncoder || kind == ModelKind::Vision) {
        PartRole::Encoder
    } else if inside && kind == ModelKind::CausalLm {
        PartRole::Decoder
    } else if layer.modules().any(|module| module.site == Site::Embedding) {
        PartRole::Embedding
    } else if layer.modules().any(|module| module.site == Site::Head) {
        PartRole::Head
    } else {
        PartRole::Other
    }
}

/// One token, or one picture of the commonest size.
fn native_shape(kind: ModelKind) -> Shape {
    match kind {
        ModelKind::Vision => Shape { height: 224, width: 224, frames: 1, ..Shape::default() },
        _ => Shape { tokens: 1, outputs: 1, ..Shape::default() },
    }
}
