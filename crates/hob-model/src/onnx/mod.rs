//! ONNX: the graph's nodes, with shapes inferred, become operators. Weights are passed over, wherever they lie.

mod blocks;
mod inputs;
mod operators;
mod order;
mod proto;
mod shapes;
mod tensor;
mod wire;

use std::collections::BTreeMap;

use hob_units::Bytes;

use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Certainty, ModelGraph, ModelKind, OpKind, Origin, PartRole, Quantization, StoredBytes, Unknown};
use crate::reader::ReadSeek;

use inputs::Binding;
pub use inputs::InputSizes;
use order::Disorder;
use proto::Model;
use shapes::Shapes;
use wire::Wire;

/// Most unknown operators that are listed one by one.
const UNKNOWN_LISTED_MAX: usize = 50;

/// Reads an ONNX file. Free axes of its inputs take `sizes`.
pub(crate) fn read_onnx(
    path: &str,
    name: &str,
    file: Box<dyn ReadSeek + '_>,
    sizes: InputSizes,
) -> Result<ModelGraph, ModelError> {
    let mut wire = Wire::new(path, file)?;
    let model = proto::read_model(&mut wire)?;
    let malformed = |why: String| ModelError::Malformed { path: path.to_owned(), format: "ONNX", why };
    let Model { graph, functions } = model;
    let graph = graph.ok_or_else(|| malformed("it holds no graph".to_owned()))?;
    let order = order::order(&graph.nodes).map_err(|disorder| match disorder {
        Disorder::Cycle(node) => malformed(format!("the graph has a cycle through node `{node}`")),
        Disorder::MadeTwice(value) => malformed(format!("value `{value}` is made by two nodes")),
    })?;
    let binding = Binding::new(&graph, sizes);
    let shapes = shapes::infer(&graph, &order, &binding);
    let mut unknowns = binding.notes.clone();
    unknowns.extend(unknown_operators(&shapes, &functions));
    let is_understood = shapes.without_rule.is_empty() && shapes.unresolved.is_empty();
    let operators = operators::operators(&graph, &order, &shapes, &binding);
    if let (constants @ 1.., elements) = operators.constants_left {
        unknowns.push(Unknown {
            what: format!("{constants} constants of {elements} numbers that no matrix or kernel takes up whole"),
            consequence: "their bytes are counted, but not as parameters".to_owned(),
        });
    }
    let table = operators.table;
    let stored = stored(&graph, &mut unknowns);
    let role = match binding.kind {
        ModelKind::CausalLm => PartRole::Decoder,
        ModelKind::DiffusionImage => PartRole::Denoiser,
        ModelKind::Speech => PartRole::AudioEncoder,
        _ => PartRole::Encoder,
    };
    let parts = blocks::parts(operators.placed, operators.left, role);
    let mut graph = ModelGraph {
        name: name.to_owned(),
        family: "onnx".to_owned(),
        kind: binding.kind,
        origin: Origin::Onnx,
        certainty: if is_understood { Certainty::Exact } else { Certainty::Inferred },
        hidden: table.map(|(_, width)| width),
        vocabulary: table.map(|(rows, _)| rows),
        context_max: None,
        quantization: None,
        stored: Some(stored),
        parts,
        unknowns,
        native_shape: binding.native_shape(),
    };
    graph.quantization = quantization(&graph);
    Ok(graph)
}

/// A note for each kind of operator that is not known or could not be followed.
fn unknown_operators(shapes: &Shapes, functions: &[String]) -> Vec<Unknown> {
    let without_rule = shapes.without_rule.iter().map(|(op, nodes)| {
        let is_function = functions.iter().any(|function| op.rsplit('.').next() == Some(function));
        let what = if is_function { "local function" } else { "operator" };
        Unknown {
            what: format!("{what} {op} ({nodes} nodes)"),
            consequence: "its weights are counted, its work is not known".to_owned(),
        }
    });
    let unresolved = shapes.unresolved.iter().map(|(op, nodes)| Unknown {
        what: format!("operator {op} ({nodes} nodes): output shape"),
        consequence: "what follows from it is counted at a usual size".to_owned(),
    });
    let mut notes: Vec<Unknown> = without_rule.chain(unresolved).collect();
    let more = notes.len().saturating_sub(UNKNOWN_LISTED_MAX);
    notes.truncate(UNKNOWN_LISTED_MAX);
    if more > 0 {
        notes.push(Unknown { what: format!("{more} more kinds of operators"), consequence: "as above".to_owned() });
    }
    notes
}

/// Sums of all initializers, those of subgraphs and of `Constant` nodes included.
fn stored(graph: &proto::Graph, unknowns: &mut Vec<Unknown>) -> StoredBytes {
    let constants = graph.nodes.iter().filter_map(|node| match node.attributes.get("value") {
        Some(proto::Attribute::Tensor(tensor)) if node.op == "Constant" => Some(tensor),
        _ => None,
    });
    let mut sums: BTreeMap<Dtype, (u64, u64)> = BTreeMap::new();
    let mut tensors = 0;
    let mut strange = 0_u64;
    for tensor in graph.tensors.iter().chain(&graph.inner_tensors).chain(constants) {
        let dtype = tensor.element.dtype().unwrap_or_else(|| {
            strange += 1;
            Dtype::U8
        });
        let (bytes, elements) = sums.entry(dtype).or_default();
        *bytes = bytes.saturating_add(tensor.bytes());
        *elements = elements.saturating_add(tensor.elements());
        tensors += 1;
    }
    if strange > 0 {
        unknowns.push(Unknown {
            what: format!("{strange} tensors of text or of an unknown type"),
            consequence: "counted as one byte for each element".to_owned(),
        });
    }
    StoredBytes {
        bytes: sums.iter().map(|(dtype, (bytes, _))| (*dtype, Bytes(*bytes))).collect(),
        elements: sums.iter().map(|(dtype, (_, elements))| (*dtype, *elements)).collect(),
        tensors,
    }
}

/// Quantised when most matrix and convolution weights are stored in fewer than 16 bits.
fn quantization(graph: &ModelGraph) -> Option<Quantization> {
    let mut weights: BTreeMap<Dtype, u64> = BTreeMap::new();
    for (repeat, op) in graph.operators() {
        if matches!(op.kind, OpKind::Linear { .. } | OpKind::Conv { .. }) {
            let sum = weights.entry(op.dtype).or_default();
            *sum = sum.saturating_add(op.parameters().saturating_mul(u64::from(repeat)));
        }
    }
    let (dtype, _) = weights.into_iter().max_by_key(|(_, parameters)| *parameters)?;
    dtype.is_quantised().then(|| Quantization {
        method: "onnx".to_owned(),
        dtype,
        excluded: Vec::new(),
        // Eight-bit ONNX graphs quantise activations as well; four-bit ones hold weights only.
        quantised_activations: matches!(dtype, Dtype::I8 | Dtype::U8),
        block: None,
    })
}
