//! Operators in order, folded into repeated blocks by the layer numbers in their nodes' names.

use crate::build::{block, part};
use crate::graph::{Block, Operator, Part, PartRole};
use crate::onnx::operators::Placed;

/// Blocks that are compared with a new one; see the tensors' reader.
const KINDS_APART_MAX: usize = 8;

/// One part with all operators, and one with the weights that no operator took up.
pub(super) fn parts(placed: Vec<Placed>, left: Vec<Operator>, role: PartRole) -> Vec<Part> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut current: Option<(String, Vec<Operator>)> = None;
    for Placed { node_name, mut op } in placed {
        let (layer, rest) = layer_of(&node_name);
        if !rest.is_empty() {
            op.name = rest;
        }
        match &mut current {
            Some((known, ops)) if *known == layer => ops.push(op),
            _ => {
                if let Some((layer, ops)) = current.replace((layer, vec![op])) {
                    push(&mut blocks, &layer, ops);
                }
            }
        }
    }
    if let Some((layer, ops)) = current {
        push(&mut blocks, &layer, ops);
    }
    let mut parts = Vec::new();
    if !blocks.is_empty() {
        parts.push(part("graph", role, blocks));
    }
    if !left.is_empty() {
        parts.push(part("other weights", PartRole::Other, vec![block("weights", 1, left)]));
    }
    parts
}

fn push(blocks: &mut Vec<Block>, layer: &str, ops: Vec<Operator>) {
    let recent = blocks.len().saturating_sub(KINDS_APART_MAX);
    let same = blocks.iter_mut().skip(recent).rev().find(|block| block.ops == ops);
    match same {
        Some(block) if !layer.is_empty() => block.repeat = block.repeat.saturating_add(1),
        _ => blocks.push(block(if layer.is_empty() { "block" } else { "layer" }, 1, ops)),
    }
}

/// The numbered layer in a name such as `/encoder/layer.3/attention/query/MatMul`, and the rest behind it.
fn layer_of(name: &str) -> (String, String) {
    let parts: Vec<&str> = name.trim_start_matches('/').split('/').collect();
    let is_numbered = |part: &&str| {
        part.rsplit_once('.')
            .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    match parts.iter().position(is_numbered) {
        Some(at) if at + 1 < parts.len() => {
            (parts.get(..=at).unwrap_or_default().join("/"), parts.get(at + 1..).unwrap_or_default().join("/"))
        }
        _ => (String::new(), name.trim_start_matches('/').to_owned()),
    }
}
