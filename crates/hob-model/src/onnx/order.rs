//! Nodes in an order in which every value is made before it is used; a cycle is an error.

use std::collections::BTreeMap;

use crate::onnx::proto::Node;

/// Why there is no order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Disorder {
    /// This node waits for itself.
    Cycle(String),
    /// Two nodes make this value.
    MadeTwice(String),
}

/// Indices of the nodes, stable: a file that is in order already keeps its order.
pub(super) fn order(nodes: &[Node]) -> Result<Vec<usize>, Disorder> {
    let mut maker: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        for output in node.outputs.iter().filter(|output| !output.is_empty()) {
            if maker.insert(output, at).is_some() {
                return Err(Disorder::MadeTwice(output.clone()));
            }
        }
    }
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut waits: Vec<usize> = vec![0; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for input in &node.inputs {
            if let Some(from) = maker.get(input.as_str())
                && let (Some(users), Some(waits)) = (users.get_mut(*from), waits.get_mut(at))
            {
                users.push(at);
                *waits += 1;
            }
        }
    }
    let mut ready: std::collections::BTreeSet<usize> =
        waits.iter().enumerate().filter(|(_, waits)| **waits == 0).map(|(at, _)| at).collect();
    let mut ordered = Vec::with_capacity(nodes.len());
    while let Some(at) = ready.pop_first() {
        ordered.push(at);
        for user in users.get(at).into_iter().flatten() {
            if let Some(waits) = waits.get_mut(*user) {
                *waits -= 1;
                if *waits == 0 {
                    ready.insert(*user);
                }
            }
        }
    }
    if ordered.len() == nodes.len() {
        return Ok(ordered);
    }
    let stuck = waits.iter().position(|waits| *waits > 0).and_then(|at| nodes.get(at));
    Err(Disorder::Cycle(stuck.map(Node::label).unwrap_or_default()))
}
