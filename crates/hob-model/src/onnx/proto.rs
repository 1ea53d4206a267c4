//! The messages of `onnx.proto` that Hob needs, with their field numbers (ONNX 1.17, `onnx/onnx.proto`).

use std::collections::BTreeMap;

use crate::error::ModelError;
use crate::onnx::tensor::{Element, NUMBERS_MAX, TensorHead, read_tensor};
use crate::onnx::wire::{Payload, Wire};
use crate::reader::tensors::{RANK_MAX, TENSORS_MAX};

/// Most nodes; the largest unrolled public graphs have under 50,000.
const NODES_MAX: usize = 500_000;
/// Most inputs and outputs of a node (`Concat`, `Split`).
const NAMES_MAX: usize = 100_000;
/// Deepest subgraphs inside subgraphs.
const SUBGRAPH_DEPTH_MAX: u32 = 8;

/// A model.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) graph: Option<Graph>,
    /// Names of local functions.
    pub(super) functions: Vec<String>,
}

/// A graph. Of a subgraph only its tensors are kept.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) tensors: Vec<TensorHead>,
    /// Initializers and constants of subgraphs, at any depth.
    pub(super) inner_tensors: Vec<TensorHead>,
    pub(super) inputs: Vec<Value>,
    pub(super) outputs: Vec<Value>,
    pub(super) values: Vec<Value>,
}

/// A node.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) op: String,
    pub(super) domain: String,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    pub(super) attributes: BTreeMap<String, Attribute>,
}

/// An attribute.
#[derive(Debug, Clone)]
pub(super) enum Attribute {
    Float(f64),
    Int(i64),
    Text(String),
    Tensor(TensorHead),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    /// A subgraph, or a kind that is not used.
    Other,
}

/// A declared input, output or intermediate value.
#[derive(Debug, Clone, Default)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) element: Element,
    pub(super) shape: Option<Vec<Dimension>>,
}

/// One size of a declared value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Dimension {
    Known(u64),
    Named(String),
}

impl Node {
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.attributes.get(name)? {
            Attribute::Int(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn ints(&self, name: &str) -> Option<&[i64]> {
        match self.attributes.get(name)? {
            Attribute::Ints(numbers) => Some(numbers),
            _ => None,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.attributes.get(name)? {
            Attribute::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn input(&self, at: usize) -> Option<&str> {
        self.inputs.get(at).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Name for people: the node's, or its operator and output.
    pub(super) fn label(&self) -> String {
        if self.name.is_empty() {
            format!("{} -> {}", self.op, self.outputs.first().map_or("", String::as_str))
        } else {
            self.name.clone()
        }
    }
}

/// Reads the model.
pub(super) fn read_model(wire: &mut Wire<'_>) -> Result<Model, ModelError> {
    let mut model = Model::default();
    let end = wire.file_end();
    while let Some((number, payload)) = wire.field(end)? {
        match number {
            7 if model.graph.is_none() => {
                model.graph = Some(wire.message(payload, "graph", |wire, end| read_graph(wire, end, 0))?);
            }
            25 => {
                let name = wire.message(payload, "function", read_function_name)?;
                model.functions.push(name);
            }
            _ => wire.pass(payload)?,
        }
    }
    Ok(model)
}

fn read_function_name(wire: &mut Wire<'_>, end: u64) -> Result<String, ModelError> {
    let mut name = String::new();
    while let Some((number, payload)) = wire.field(end)? {
        match number {
            1 => name = wire.text(payload, "function name")?,
            _ => wire.pass(payload)?,
        }
    }
    Ok(name)
}

fn read_graph(wire: &mut Wire<'_>, end: u64, depth: u32) -> Result<Graph, ModelError> {
    let mut graph = Graph::default();
    while let Some((number, payload)) = wire.field(end)? {
        match number {
            1 => {
                if graph.nodes.len() >= NODES_MAX {
                    return Err(wire.malformed(format!("more than {NODES_MAX} nodes")));
                }
                let mut inner = Vec::new();
                let node = wire.message(payload, "node", |wire, end| read_node(wire, end, depth, &mut inner))?;
                graph.inner_tensors.extend(inner);
                graph.nodes.push(node);
            }
            5 => {
                let tensor = wire.message(payload, "initializer", read_tensor)?;
                graph.tensors.push(tensor);
            }
            11 => graph.inputs.push(wire.message(payload, "input", read_value)?),
            12 => graph.outputs.push(wire.message(payload, "output", read_value)?),
            13 => graph.values.push(wire.message(payload, "value", read_value)?),
            _ => wire.pass(payload)?,
        }
        if (graph.tensors.len() + graph.inner_tensors.len()) as u64 > TENSORS_MAX {
            return Err(wire.malformed(format!("more than {TENSORS_MAX} tensors")));
        }
    }
    Ok(graph)
}

fn read_node(wire: &mut Wire<'_>, end: u64, depth: u32, inner: &mut Vec<TensorHead>) -> Result<Node, ModelError> {
    wire.charge(256)?;
    let mut node = Node::default();
    while let Some((number, payload)) = wire.field(end)? {
        match number {
            1 | 2 => {
                let name = wire.text(payload, "value name")?;
                let names = if number == 1 { &mut node.inputs } else { &mut node.outputs };
                if names.len() >= NAMES_MAX {
                    return Err(wire.malformed(format!("a node of more than {NAMES_MAX} inputs or outputs")));
                }
                names.push(name);
            }
            3 => node.name = wire.text(payload, "node name")?,
            4 => node.op = wire.text(payload, "operator name")?,
            5 => {
                let (name, attribute) =
                    wire.message(payload, "attribute", |wire, end| read_attribute(wire, end, depth, inner))?;
                node.attributes.insert(name, attribute);
            }
            7 => node.domain = wire.text(payload, "operator domain")?,
            _ => wire.pass(payload)?,
        }
    }
    Ok(node)
}

fn read_attribute(
    wire: &mut Wire<'_>,
    end: u64,
    depth: u32,
    inner: &mut Vec<TensorHead>,
) -> Result<(String, Attribute), ModelError> {
    wire.charge(128)?;
    let mut name = String::new();
    let mut attribute = Attribute::Other;
    let (mut ints, mut floats) = (Vec::new(), Vec::new());
    while let Some((number, payload)) = wire.field(end)? {
        match (number, payload) {
            (1, _) => name = wire.text(payload, "attribute name")?,
            (2, Payload::Fixed32(bits)) => attribute = Attribute::Float(f64::from(f32::from_bits(bits))),
            (3, Payload::Varint(number)) => attribute = Attribute::Int(number.cast_signed()),
            (4, Payload::Length { bytes, .. }) if bytes <= 4096 => {
                let bytes = wire.kept(payload, 4096, "attribute text")?;
                attribute = Attribute::Text(String::from_utf8_lossy(&bytes).into_owned());
            }
            (5, _) => attribute = Attribute::Tensor(wire.message(payload, "tensor", read_tensor)?),
            (6 | 11, _) => {
                if depth >= SUBGRAPH_DEPTH_MAX {
                    return Err(wire.malformed(format!("subgraphs are nested deeper than {SUBGRAPH_DEPTH_MAX}")));
                }
                let graph = wire.message(payload, "subgraph", |wire, end| read_graph(wire, end, depth + 1))?;
                inner.extend(graph.nodes.into_iter().filter_map(constant));
                inner.extend(graph.tensors);
                inner.extend(graph.inner_tensors);
            }
            (7, _) => wire.floats(payload, &mut floats, NUMBERS_MAX)?,
            (8, _) => wire.varints(payload, &mut ints, NUMBERS_MAX)?,
            _ => wire.pass(payload)?,
        }
    }
    if !ints.is_empty() {
        attribute = Attribute::Ints(ints);
    } else if !floats.is_empty() {
        attribute = Attribute::Floats(floats);
    }
    Ok((name, attribute))
}

/// The tensor of a `Constant` node, under the name of the node's output.
fn constant(mut node: Node) -> Option<TensorHead> {
    match node.attributes.remove("value") {
        Some(Attribute::Tensor(tensor)) if node.op == "Constant" => {
            Some(TensorHead { name: node.outputs.into_iter().next().unwrap_or_default(), ..tensor })
        }
        _ => None,
    }
}

fn read_value(wire: &mut Wire<'_>, end: u64) -> Result<Value, ModelError> {
    let mut value = Value::default();
    while let Some((number, payload)) = wire.field(end)? {
        match number {
            1 => value.name = wire.text(payload, "value name")?,
            2 => {
                let (element, shape) = wire.message(payload, "type", read_type)?;
                value.element = element;
                value.shape = shape;
            }
            _ => wire.pass(payload)?,
        }
    }
    Ok(value)
}

type TensorType = (Element, Option<Vec<Dimension>>);

fn read_type(wire: &mut Wire<'_>, end: u64) -> Result<TensorType, ModelError> {
    let mut tensor_type = TensorType::default();
    while let Some((number, payload)) = wire.field(end)? {
        match number {
            1 => tensor_type = wire.message(payload, "tensor type", read_tensor_type)?,
            _ => wire.pass(payload)?,
        }
    }
    Ok(tensor_type)
}

fn read_tensor_type(wire: &mut Wire<'_>, end: u64) -> Result<TensorType, ModelError> {
    let mut element = Element::default();
    let mut shape = None;
    while let Some((number, payload)) = wire.field(end)? {
        match (number, payload) {
            (1, Payload::Varint(number)) => element = Element(number),
            (2, _) => shape = Some(wire.message(payload, "shape", read_shape)?),
            _ => wire.pass(payload)?,
        }
    }
    Ok((element, shape))
}

fn read_shape(wire: &mut Wire<'_>, end: u64) -> Result<Vec<Dimension>, ModelError> {
    let mut shape = Vec::new();
    while let Some((number, payload)) = wire.field(end)? {
        match number {
            1 => {
                if shape.len() >= RANK_MAX {
                    return Err(wire.malformed(format!("a value of more than {RANK_MAX} dimensions")));
                }
                let dimension = wire.message(payload, "dimension", read_dimension)?;
                shape.push(dimension);
            }
            _ => wire.pass(payload)?,
        }
    }
    Ok(shape)
}

fn read_dimension(wire: &mut Wire<'_>, end: u64) -> Result<Dimension, ModelError> {
    let mut dimension = Dimension::Named(String::new());
    while let Some((number, payload)) = wire.field(end)? {
        match (number, payload) {
            // Exporters write -1 and 0 for "any".
            (1, Payload::Varint(size)) if size.cast_signed() > 0 => dimension = Dimension::Known(size),
            (2, _) => dimension = Dimension::Named(wire.text(payload, "dimension name")?),
            _ => wire.pass(payload)?,
        }
    }
    Ok(dimension)
}
