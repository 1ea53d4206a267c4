//! Shape inference: every value's sizes, and the numbers of small integer values that shapes are computed from.
//!
//! Follows the operator definitions of ai.onnx 22 and com.microsoft 1. What cannot be inferred is taken from the file's own
//! declarations, and else stays unknown; nothing is an error.

mod arithmetic;
mod contraction;
mod fact;
mod layout;
mod reduction;
mod spatial;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use fact::{Fact, Known};

use crate::onnx::inputs::Binding;
use crate::onnx::proto::{Graph, Node, Value};

/// Numbers kept over all values, so that a long chain of small constants stays small.
const NUMBERS_KEPT_MAX: usize = 4_000_000;

/// All facts by value name, and the operators that had no rule.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    pub(super) facts: BTreeMap<String, Fact>,
    /// Operator -> nodes of it without a rule.
    pub(super) without_rule: BTreeMap<String, u64>,
    /// Operators whose rule could not be applied.
    pub(super) unresolved: BTreeMap<String, u64>,
}

/// Infers all values, with nodes in their order.
pub(super) fn infer(graph: &Graph, order: &[usize], binding: &Binding) -> Shapes {
    let mut shapes = Shapes::default();
    let declared: BTreeMap<&str, &Value> =
        graph.values.iter().chain(&graph.outputs).map(|value| (value.name.as_str(), value)).collect();
    for value in &graph.inputs {
        shapes.facts.insert(value.name.clone(), Fact::of_shape(value.element, binding.shape(value)));
    }
    for tensor in &graph.tensors {
        shapes.facts.insert(tensor.name.clone(), Fact::of_tensor(tensor));
    }
    let mut numbers_left = NUMBERS_KEPT_MAX;
    let subgraph_ops: BTreeSet<&str> = ["If", "Loop", "Scan", "SequenceMap"].into();
    for at in order {
        let Some(node) = graph.nodes.get(*at) else { continue };
        let facts = &shapes.facts;
        let known = Known::new(node, facts);
        let outputs = if subgraph_ops.contains(node.op.as_str()) { None } else { rule(&known) };
        if outputs.is_none() {
            *shapes.without_rule.entry(operator_name(node)).or_default() += 1;
        }
        let mut outputs = outputs.unwrap_or_default().into_iter();
        let mut is_resolved = true;
        for (position, name) in node.outputs.iter().enumerate() {
            let mut fact = outputs.next().unwrap_or_default();
            if name.is_empty() {
                continue;
            }
            if fact.shape.is_none()
                && let Some(value) = declared.get(name.as_str())
            {
                let numbers = fact.numbers.take();
                fact = Fact { numbers, ..Fact::of_shape(value.element, binding.shape(value)) };
            }
            let count = fact.numbers.as_ref().map_or(0, Vec::len);
            match numbers_left.checked_sub(count) {
                Some(left) => numbers_left = left,
                None => fact.numbers = None,
            }
            is_resolved &= position > 0 || fact.shape.is_some();
            shapes.facts.insert(name.clone(), fact);
        }
        if !is_resolved && !shapes.without_rule.contains_key(&operator_name(node)) {
            *shapes.unresolved.entry(operator_name(node)).or_default() += 1;
        }
    }
    shapes
}

/// The operator with its domain, unless that is the default one.
pub(super) fn operator_name(node: &Node) -> String {
    match node.domain.as_str() {
        "" | "ai.onnx" => node.op.clone(),
        domain => format!("{domain}.{}", node.op),
    }
}

/// The outputs of one node; `None` when its operator has no rule.
fn rule(known: &Known<'_>) -> Option<Vec<Fact>> {
    let op = known.node.op.as_str();
    arithmetic::rule(op, known)
        .or_else(|| layout::rule(op, known))
        .or_else(|| spatial::rule(op, known))
        .or_else(|| contraction::rule(op, known))
        .or_else(|| reduction::rule(op, known))
}
