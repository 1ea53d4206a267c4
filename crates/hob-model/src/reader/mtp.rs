//! Extra multi-token-prediction modules of a checkpoint: a layer or more behind the decoder's last, with an embedding and a
//! head of its own. Published counts leave them out and engines load them only to speculate, so they are counted apart.

use std::collections::BTreeSet;

use crate::build::part;
use crate::graph::{ModelGraph, Part, PartRole};
use crate::reader::infer::{Hints, infer};
use crate::reader::tensors::Inventory;

/// Modules that only such a layer has: the norms of the two streams that it joins, the matrix that joins them, and its head
/// (DeepSeek V3's published weights and its `README_WEIGHTS.md`; `nextn` in GGUF files).
const MARKS: [&str; 5] = ["eh_proj", "enorm", "hnorm", "shared_head", "nextn"];

/// Takes the tensors of such modules out of `inventory`.
pub(crate) fn take(graph: &ModelGraph, inventory: &mut Inventory) -> Inventory {
    let layers = u64::from(graph.layers());
    let extra: BTreeSet<(String, u64)> = inventory
        .tensors
        .iter()
        .filter(|tensor| tensor.name.split('.').any(|word| MARKS.contains(&word)))
        .filter_map(|tensor| layer(&tensor.name))
        .filter(|(_, index)| *index >= layers)
        .map(|(stack, index)| (stack.to_owned(), index))
        .collect();
    let is_extra = |name: &str| {
        name.split('.').any(|word| word.starts_with("mtp"))
            || layer(name).is_some_and(|(stack, index)| extra.contains(&(stack.to_owned(), index)))
    };
    let (taken, left) = std::mem::take(&mut inventory.tensors).into_iter().partition(|tensor| is_extra(&tensor.name));
    inventory.tensors = left;
    Inventory { tensors: taken, ..Inventory::default() }
}

/// The part that such tensors make, read from their names and shapes; `None` without any.
pub(crate) fn module(graph: &ModelGraph, inventory: Inventory) -> Option<Part> {
    if inventory.tensors.is_empty() {
        return None;
    }
    let read = infer(&graph.name, &graph.family, graph.origin, inventory, Hints::of(graph));
    let blocks = read.parts.into_iter().flat_map(|part| part.blocks);
    let own = blocks.filter(|block| block.ops.iter().any(|op| !op.tied)).collect();
    Some(part("multi-token prediction", PartRole::MultiTokenPrediction, own))
}

/// What stands before the first number of a tensor's name, and the number.
fn layer(name: &str) -> Option<(&str, u64)> {
    let mut start = 0;
    for word in name.split('.') {
        if let Ok(index) = word.parse() {
            return Some((name.get(..start)?, index));
        }
        start += word.len() + 1;
    }
    None
}
