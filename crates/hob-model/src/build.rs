//! Short constructors for operators, so that a family's file reads like its architecture.

use crate::dtype::Dtype;
use crate::graph::{Attention, Block, Extent, KvCache, NormKind, OpKind, Operator, Part, PartRole, Site, Span};

/// One operator with the common defaults: dense, every token, weights of its own.
pub(crate) fn op(name: impl Into<String>, site: Site, dtype: Dtype, kind: OpKind) -> Operator {
    Operator { name: name.into(), kind, site, extent: Extent::Tokens, dtype, copies: 1, active: 1, tied: false }
}

/// A linear projection.
pub(crate) fn linear(name: &str, site: Site, dtype: Dtype, inputs: u64, outputs: u64, bias: bool) -> Operator {
    op(name, site, dtype, OpKind::Linear { inputs, outputs, bias })
}

/// A norm with one learned vector (RMS) or two (layer norm with bias).
pub(crate) fn norm(name: &str, dtype: Dtype, norm: NormKind, width: u64, bias: bool) -> Operator {
    let parameters = if bias { width.saturating_mul(2) } else { width };
    op(name, Site::Norm, dtype, OpKind::Norm { norm, width, parameters })
}

/// An embedding table.
pub(crate) fn embedding(name: &str, site: Site, dtype: Dtype, rows: u64, width: u64) -> Operator {
    op(name, site, dtype, OpKind::Embedding { rows, width })
}

/// The activation of an MLP.
pub(crate) fn activation(dtype: Dtype, width: u64, gated: bool) -> Operator {
    op("act", Site::MlpActivation, dtype, OpKind::Activation { width, gated })
}

/// The attention core.
pub(crate) fn attention(
    dtype: Dtype,
    heads: u64,
    kv_heads: u64,
    head_dim: u64,
    span: Span,
    cache: KvCache,
) -> Operator {
    let attention = Attention { heads, kv_heads, qk_dim: head_dim, v_dim: head_dim, span, cache };
    op("attention", Site::AttentionCore, dtype, OpKind::Attention(attention))
}

/// Bare parameters.
pub(crate) fn parameter(name: &str, site: Site, dtype: Dtype, elements: u64) -> Operator {
    op(name, site, dtype, OpKind::Parameter { elements })
}

impl Operator {
    /// The same operator over another extent.
    pub(crate) fn over(mut self, extent: Extent) -> Self {
        self.extent = extent;
        self
    }

    /// The same operator as one of `copies` experts, `active` of which a token passes through.
    pub(crate) fn experts(mut self, copies: u32, active: u32) -> Self {
        self.copies = copies.max(1);
        self.active = active.clamp(1, self.copies);
        self
    }

    /// The same operator with another operator's weights.
    pub(crate) fn tied(mut self, tied: bool) -> Self {
        self.tied = tied;
        self
    }
}

/// A block of `repeat` identical layers.
pub(crate) fn block(name: impl Into<String>, repeat: u32, ops: Vec<Operator>) -> Block {
    Block { name: name.into(), repeat, ops }
}

/// A named part.
pub(crate) fn part(name: &str, role: PartRole, blocks: Vec<Block>) -> Part {
    Part { name: name.to_owned(), role, blocks }
}

/// Folds consecutive equal layers into one block each, so that a 100-layer model stays a handful of blocks.
pub(crate) fn collapse(layers: impl IntoIterator<Item = (String, Vec<Operator>)>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (name, ops) in layers {
        match blocks.iter_mut().find(|block| block.name == name && block.ops == ops) {
            Some(block) => block.repeat = block.repeat.saturating_add(1),
            None => blocks.push(Block { name, repeat: 1, ops }),
        }
    }
    blocks
}
