//! Attention written out as product, softmax, product becomes one attention operator, so that it scales with the square of
//! the sequence.

use std::collections::{BTreeMap, BTreeSet};

use crate::dtype::Dtype;
use crate::graph::{Attention, KvCache, ModelKind, OpKind, Operator, Site, Span};
use crate::onnx::operators::{Builder, named};
use crate::onnx::proto::{Graph, Node};

/// Steps followed back from a product to the softmax, and from there to the other product: scale, mask, cast, dropout.
const STEPS_MAX: usize = 8;

/// Operators that may stand between, and how the chain goes on through their first computed input.
const BETWEEN: &[&str] = &[
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Where",
    "Cast",
    "Dropout",
    "Identity",
    "Reshape",
    "Transpose",
    "Clip",
    "Max",
    "IsNaN",
    "Softmax",
];

/// What was found.
#[derive(Default)]
pub(super) struct Cores {
    /// Index of the second product's node -> the attention operator.
    pub(super) cores: BTreeMap<usize, Operator>,
    /// Nodes that are part of one.
    pub(super) absorbed: BTreeSet<usize>,
}

/// Finds all cores.
pub(super) fn cores(graph: &Graph, order: &[usize], builder: &Builder<'_>) -> Cores {
    let mut maker: BTreeMap<&str, usize> = BTreeMap::new();
    for at in order {
        for output in graph.nodes.get(*at).map(|node| node.outputs.as_slice()).unwrap_or_default() {
            maker.insert(output, *at);
        }
    }
    let finder = Finder { graph, builder, maker };
    let mut found = Cores::default();
    for at in order {
        if let Some((first, softmax, core)) = finder.core(*at) {
            found.cores.insert(*at, core);
            found.absorbed.extend([first, softmax]);
        }
    }
    found
}

struct Finder<'a, 'g> {
    graph: &'g Graph,
    builder: &'a Builder<'g>,
    maker: BTreeMap<&'g str, usize>,
}

impl<'g> Finder<'_, 'g> {
    fn node(&self, at: usize) -> Option<&'g Node> {
        self.graph.nodes.get(at)
    }

    fn is_free_product(&self, node: &Node) -> bool {
        matches!(node.op.as_str(), "MatMul" | "FusedMatMul")
            && self.builder.weight(node, 0).is_none()
            && self.builder.weight(node, 1).is_none()
    }

    fn shape(&self, name: &str) -> Option<&'g [u64]> {
        self.builder.facts.get(name)?.shape.as_deref()
    }

    /// Follows values back until `is_wanted`; the number of elements must not change on the way.
    fn back(&self, from: &str, is_wanted: impl Fn(&Node) -> bool) -> Option<usize> {
        let elements = |name: &str| self.builder.facts.get(name).and_then(crate::onnx::shapes::Fact::elements);
        let count = elements(from)?;
        let mut name = from;
        for _ in 0..STEPS_MAX {
            let at = *self.maker.get(name)?;
            let node = self.node(at)?;
            if is_wanted(node) {
                return Some(at);
            }
            if !BETWEEN.contains(&node.op.as_str()) {
                return None;
            }
            name = node
                .inputs
                .iter()
                .map(String::as_str)
                .find(|input| elements(input) == Some(count) && self.maker.contains_key(input))?;
        }
        None
    }

    /// First product, softmax and operator, when the node is the second product of an attention.
    fn core(&self, at: usize) -> Option<(usize, usize, Operator)> {
        let second = self.node(at).filter(|node| self.is_free_product(node))?;
        let softmax_at = self.back(second.input(0)?, |node| node.op == "Softmax")?;
        let softmax = self.node(softmax_at)?;
        let first_at = self.back(softmax.input(0)?, |node| self.is_free_product(node))?;
        let first = self.node(first_at)?;
        let scores = self.shape(first.outputs.first()?)?;
        let [outer @ .., queries, keys] = scores else { return None };
        let qk_dim = *self.shape(first.input(0)?)?.last()?;
        let v_dim = *self.shape(second.outputs.first()?)?.last()?;
        let batch = self.builder.binding.batch.max(1);
        let heads = (outer.iter().product::<u64>() / batch).max(1);
        let is_decoder = self.builder.binding.kind == ModelKind::CausalLm;
        let span = match queries == keys {
            true if is_decoder => Span::Causal,
            true => Span::Bidirectional,
            false => Span::Cross { positions: *keys },
        };
        let cache = if self.builder.binding.has_cache && queries == keys { KvCache::KeyValue } else { KvCache::None };
        let attention = Attention { heads, kv_heads: heads, qk_dim, v_dim, span, cache };
        let dtype = self.builder.output(second).and_then(|fact| fact.element.dtype()).unwrap_or(Dtype::F32);
        let extent = self.builder.extent(queries.saturating_mul(batch));
        Some((
            first_at,
            softmax_at,
            named(second, Site::AttentionCore, dtype, OpKind::Attention(attention)).over(extent),
        ))
    }
}
