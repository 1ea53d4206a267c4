//! A graph from a config meets the headers of its weights: exact bytes, real storage types, and a comparison of counts.

use std::collections::BTreeMap;

use crate::config::knows_language_family;
use crate::dtype::Dtype;
use crate::graph::{Certainty, ModelGraph, ModelKind, Operator, Quantization, Site, Unknown};
use crate::reader::infer::site::site;
use crate::reader::infer::{Hints, infer};
use crate::reader::mtp;
use crate::reader::packed::{Weight, Weights, weights};
use crate::reader::tensors::Inventory;

/// Counts that differ by more than this share make the graph an inferred one: it describes another model.
const COUNT_SHARE_MAX: f64 = 0.01;

/// Puts the headers' figures into the graph. The tensors' own graph takes its place when its family is not known and its
/// count is not theirs: they know better then.
pub(crate) fn reconcile(graph: &mut ModelGraph, mut inventory: Inventory) {
    let extra = if graph.kind == ModelKind::CausalLm { mtp::take(graph, &mut inventory) } else { Inventory::default() };
    let weights = weights(&inventory);
    let is_guess = graph.kind == ModelKind::CausalLm && !knows_language_family(&graph.family);
    if is_guess && inventory.unseen_bytes == 0 && share_apart(graph, &weights) > COUNT_SHARE_MAX {
        inventory.tensors.extend(extra.tensors);
        *graph = infer(&graph.name, &graph.family, graph.origin, inventory, Hints::of(graph));
        return;
    }
    let fallback = main_dtype(graph);
    graph.stored = Some(inventory.stored(fallback));
    graph.unknowns.extend(inventory.notes);
    if graph.quantization.is_none() {
        graph.quantization = quantization(&weights);
    }
    assign_types(graph, &weights);
    if inventory.unseen_bytes == 0 {
        compare_counts(graph, &weights);
    }
    let module = mtp::module(graph, extra);
    graph.parts.extend(module);
}

/// The storage type of most parameters, as the config has it.
fn main_dtype(graph: &ModelGraph) -> Dtype {
    let mut parameters: BTreeMap<Dtype, u64> = BTreeMap::new();
    for (repeat, op) in graph.operators() {
        let sum = parameters.entry(op.dtype).or_default();
        *sum = sum.saturating_add(op.parameters().saturating_mul(u64::from(repeat)));
    }
    parameters.into_iter().max_by_key(|(_, count)| *count).map_or(Dtype::Bf16, |(dtype, _)| dtype)
}

/// The scheme that most packed weights use.
pub(crate) fn quantization(weights: &Weights) -> Option<Quantization> {
    let (method, _) = weights.schemes.iter().max_by_key(|(_, count)| **count)?;
    let mut elements: BTreeMap<Dtype, u64> = BTreeMap::new();
    for weight in weights.all.iter().filter(|weight| weight.dtype.is_quantised()) {
        let sum = elements.entry(weight.dtype).or_default();
        *sum = sum.saturating_add(weight.elements());
    }
    let (dtype, _) = elements.into_iter().max_by_key(|(_, count)| *count)?;
    let quantised_activations = matches!(*method, "fp8" | "int8" | "nvfp4");
    Some(Quantization { method: (*method).to_owned(), dtype, excluded: Vec::new(), quantised_activations, block: None })
}

/// Gives every operator the type that most elements of its weights are stored in.
fn assign_types(graph: &mut ModelGraph, weights: &Weights) {
    // Checkpoint names end with the operator's name: `model.layers.3.self_attn.q_proj.weight`.
    let mut by_tail: BTreeMap<String, BTreeMap<Dtype, u64>> = BTreeMap::new();
    // GGUF has names of its own; there the role decides.
    let mut by_site: BTreeMap<Site, BTreeMap<Dtype, u64>> = BTreeMap::new();
    let mut of_all: BTreeMap<Dtype, u64> = BTreeMap::new();
    for weight in &weights.all {
        add(&mut of_all, weight);
        let is_in_layer = weight.name.split('.').any(|part| part.parse::<u64>().is_ok());
        add(by_site.entry(site(&weight.name, is_in_layer)).or_default(), weight);
        for tail in tails(&weight.name) {
            add(by_tail.entry(tail).or_default(), weight);
        }
    }
    let Some(main) = most(&of_all) else { return };
    let was_main = main_dtype(graph);
    for op in graph.parts.iter_mut().flat_map(|part| &mut part.blocks).flat_map(|block| &mut block.ops) {
        let of_site = by_site.get(&op.site).filter(|_| op.weights() > 0 && op.site != Site::Other);
        op.dtype = match by_tail.get(&own_name(op)).or(of_site).and_then(most) {
            Some(dtype) => dtype,
            // Operators without a tensor of their name (cores, activations) follow the bulk of the model, unless the
            // bulk is quantised: then they compute in what the config says.
            None if op.dtype == was_main && !main.is_quantised() => main,
            None => op.dtype,
        };
    }
}

fn own_name(op: &Operator) -> String {
    op.name.trim_end_matches(".weight").to_owned()
}

fn add(sums: &mut BTreeMap<Dtype, u64>, weight: &Weight) {
    let sum = sums.entry(weight.dtype).or_default();
    *sum = sum.saturating_add(weight.elements());
}

fn most(sums: &BTreeMap<Dtype, u64>) -> Option<Dtype> {
    sums.iter().max_by_key(|(_, elements)| **elements).map(|(dtype, _)| *dtype)
}

/// The last one, two and three parts of a name without `.weight` and without numbers (layer and expert indices).
fn tails(name: &str) -> impl Iterator<Item = String> {
    let name = name.strip_suffix(".weight").unwrap_or(name);
    let parts: Vec<&str> = name.split('.').filter(|part| part.parse::<u64>().is_err()).collect();
    let longest = if name.ends_with(".bias") { 0 } else { parts.len().min(3) };
    (1..=longest)
        .filter_map(move |count| parts.get(parts.len() - count..).map(|tail| tail.join(".")))
        .collect::<Vec<_>>()
        .into_iter()
}

/// Notes a difference between the config's count and the headers'.
fn compare_counts(graph: &mut ModelGraph, weights: &Weights) {
    let of_graph = graph.parameters();
    let of_files = weights.parameters();
    // A tied head may be stored a second time all the same.
    let tied: u64 = graph
        .operators()
        .filter(|(_, op)| op.tied)
        .fold(0, |sum, (repeat, op)| sum.saturating_add(op.weights().saturating_mul(u64::from(repeat))));
    if of_files == of_graph || of_files == of_graph.saturating_add(tied) {
        return;
    }
    graph.unknowns.push(Unknown {
        what: format!("parameter count: the config gives {of_graph}, the weight files hold {of_files}"),
        consequence: "bytes are the files' own; FLOPs follow the config".to_owned(),
    });
    if share_apart(graph, weights) > COUNT_SHARE_MAX {
        graph.certainty = graph.certainty.max(Certainty::Inferred);
    }
}

/// By how much the graph's count differs, as a share of the files'.
fn share_apart(graph: &ModelGraph, weights: &Weights) -> f64 {
    let of_files = weights.parameters();
    of_files.abs_diff(graph.parameters()) as f64 / of_files.max(1) as f64
}
