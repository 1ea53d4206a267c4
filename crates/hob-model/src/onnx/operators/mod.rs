//! ONNX nodes to operators of the graph. Every weight is counted once; what is left over becomes bare parameters.

mod attention;
mod elementwise;
mod weighted;

use std::collections::{BTreeMap, BTreeSet};

use crate::build::{op, parameter};
use crate::dtype::Dtype;
use crate::graph::{Extent, OpKind, Operator, Site};
use crate::onnx::inputs::Binding;
use crate::onnx::proto::{Attribute, Graph, Node};
use crate::onnx::shapes::{Fact, Known, Shapes, operator_name};
use crate::onnx::tensor::{NUMBERS_MAX, TensorHead};

/// Positions that a token grid may have beside its patches: class tokens and registers (DINOv2 has five).
const EXTRA_TOKENS: &[u64] = &[1, 2, 5];

/// One operator with the node that it came from.
pub(super) struct Placed {
    pub(super) node_name: String,
    pub(super) op: Operator,
}

/// What the nodes became.
pub(super) struct Operators {
    pub(super) placed: Vec<Placed>,
    /// Weights that no rule took up.
    pub(super) left: Vec<Operator>,
    /// Long constants that no rule took up: how many, and their elements.
    pub(super) constants_left: (u64, u64),
    /// Largest token table: rows and width.
    pub(super) table: Option<(u64, u64)>,
}

/// Turns all nodes into operators.
pub(super) fn operators(graph: &Graph, order: &[usize], shapes: &Shapes, binding: &Binding) -> Operators {
    let mut builder = Builder::new(graph, order, shapes, binding);
    let cores = attention::cores(graph, order, &builder);
    for at in order {
        let Some(node) = graph.nodes.get(*at) else { continue };
        if let Some(core) = cores.cores.get(at) {
            builder.push(node, core.clone());
        } else if !cores.absorbed.contains(at) {
            builder.node(node);
        }
    }
    builder.finish(graph)
}

/// State while nodes are walked.
pub(super) struct Builder<'g> {
    facts: &'g BTreeMap<String, Fact>,
    without_rule: &'g BTreeMap<String, u64>,
    binding: &'g Binding,
    tensors: BTreeMap<&'g str, &'g TensorHead>,
    /// Positions of the picture's feature maps.
    grids: BTreeSet<u64>,
    /// Weights that are counted, or known not to be parameters.
    taken: BTreeSet<String>,
    placed: Vec<Placed>,
    /// Value -> place of the linear operator that made it, to which a bias may be added.
    made_by: BTreeMap<&'g str, usize>,
    table: Option<(u64, u64)>,
}

impl<'g> Builder<'g> {
    fn new(graph: &'g Graph, order: &[usize], shapes: &'g Shapes, binding: &'g Binding) -> Self {
        let mut tensors: BTreeMap<&str, &TensorHead> =
            graph.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
        let mut grids = BTreeSet::new();
        for node in order.iter().filter_map(|at| graph.nodes.get(*at)) {
            let output = node.outputs.first().map_or("", String::as_str);
            if let Some(Attribute::Tensor(tensor)) = node.attributes.get("value").filter(|_| node.op == "Constant") {
                tensors.insert(output, tensor);
            }
            if node.op.contains("Conv")
                && let Some([_, _, height, width]) = shapes.facts.get(output).and_then(|fact| fact.shape.as_deref())
            {
                grids.insert(height.saturating_mul(*width));
            }
        }
        Self {
            facts: &shapes.facts,
            without_rule: &shapes.without_rule,
            binding,
            tensors,
            grids,
            taken: BTreeSet::new(),
            placed: Vec::new(),
            made_by: BTreeMap::new(),
            table: None,
        }
    }

    fn known(&self, node: &'g Node) -> Known<'g> {
        Known::new(node, self.facts)
    }

    fn output(&self, node: &Node) -> Option<&'g Fact> {
        self.facts.get(node.outputs.first()?)
    }

    /// The weight behind an input, when it is one, perhaps cast, transposed or dequantised.
    fn weight(&self, node: &Node, at: usize) -> Option<(&'g TensorHead, &'g Fact)> {
        let fact = self.facts.get(node.input(at)?)?;
        let tensor = self.tensors.get(fact.weight.as_deref()?).copied()?;
        tensor.element.may_be_weight().then_some((tensor, fact))
    }

    /// Takes a weight up. Whether it had been taken before: then it is shared, and not counted again.
    fn take(&mut self, tensor: &TensorHead, node: &Node, at: usize) -> bool {
        // A `Constant` node's weight goes by its output's name.
        let name = node
            .input(at)
            .and_then(|input| self.facts.get(input))
            .and_then(|fact| fact.weight.clone())
            .unwrap_or_else(|| tensor.name.clone());
        !self.taken.insert(name)
    }

    /// Marks inputs that are not parameters: scales, zero points, running statistics, bounds.
    fn discard(&mut self, node: &Node, places: &[usize]) {
        for at in places {
            if let Some(name) =
                node.input(*at).and_then(|input| self.facts.get(input)).and_then(|fact| fact.weight.clone())
            {
                self.taken.insert(name);
            }
        }
    }

    /// To how many positions of one sample something with this many positions in one run applies.
    fn extent(&self, positions: u64) -> Extent {
        let batch = self.binding.batch.max(1);
        let positions = if positions.is_multiple_of(batch) { positions / batch } else { positions };
        if let Some((height, width)) = self.binding.picture {
            let pixels = height.saturating_mul(width);
            let grid = |positions: u64, fixed: u64| Extent::Grid {
                pixels_per_position: pixels as f64 / positions as f64,
                frames_per_position: 1.0,
                fixed,
            };
            if positions > 1 && pixels > 0 {
                if self.grids.contains(&positions) {
                    return grid(positions, 0);
                }
                let patches = EXTRA_TOKENS
                    .iter()
                    .filter_map(|extra| Some((positions.checked_sub(*extra)?, *extra)))
                    .find(|(patches, _)| *patches > 1 && self.grids.contains(patches));
                if let Some((patches, fixed)) = patches {
                    return grid(patches, fixed);
                }
            }
        }
        if self.binding.tokens == Some(positions) { Extent::Tokens } else { Extent::Sample { positions } }
    }

    /// The extent of a feature map: always of the picture when there is one.
    fn map_extent(&self, spatial: &[u64], batch: u64) -> Extent {
        let positions: u64 = spatial.iter().product();
        match self.binding.picture {
            Some((height, width)) if spatial.len() == 2 && positions > 1 => Extent::Grid {
                pixels_per_position: height.saturating_mul(width).saturating_mul(self.binding.batch) as f64
                    / positions.saturating_mul(batch).max(1) as f64,
                frames_per_position: 1.0,
                fixed: 0,
            },
            _ => self.extent(positions.saturating_mul(batch)),
        }
    }

    /// Width and extent of a value: channels of a feature map, or the last axis of a sequence.
    fn width_and_extent(&self, fact: &Fact) -> Option<(u64, Extent)> {
        let shape = fact.shape.as_deref()?;
        Some(match shape {
            [batch, channels, spatial @ ..] if spatial.len() >= 2 && self.binding.picture.is_some() => {
                (*channels, self.map_extent(spatial, *batch))
            }
            [outer @ .., width] => (*width, self.extent(outer.iter().product())),
            [] => (1, Extent::Sample { positions: 1 }),
        })
    }

    fn push(&mut self, node: &'g Node, op: Operator) {
        let is_linear = matches!(op.kind, OpKind::Linear { bias: false, .. });
        if is_linear && let Some(output) = node.outputs.first() {
            self.made_by.insert(output, self.placed.len());
        }
        self.placed.push(Placed { node_name: node.name.clone(), op });
    }

    fn node(&mut self, node: &'g Node) {
        if weighted::node(self, node) {
            return;
        }
        elementwise::node(self, node);
        if self.without_rule.contains_key(&operator_name(node)) {
            let at_once = Extent::Sample { positions: 1 };
            self.push(node, named(node, Site::Other, Dtype::F32, OpKind::Opaque).over(at_once));
        }
    }

    /// Adds a bias to the linear operator that made the value, when it has none yet.
    fn add_bias(&mut self, value: &str, width: u64) -> Option<()> {
        let placed = self.made_by.get(value).and_then(|at| self.placed.get_mut(*at))?;
        match &mut placed.op.kind {
            OpKind::Linear { outputs, bias, .. } if *outputs == width && !*bias => {
                *bias = true;
                Some(())
            }
            _ => None,
        }
    }

    fn finish(self, graph: &Graph) -> Operators {
        // Exporters turn single numbers of the code (a square root, an epsilon) into initializers.
        let is_left = |tensor: &&TensorHead| {
            !self.taken.contains(&tensor.name) && tensor.element.is_float() && tensor.elements() > 1
        };
        let mut constants_left = (0_u64, 0_u64);
        let constants = graph.nodes.iter().filter(|node| node.op == "Constant").filter_map(|node| node.outputs.first());
        for name in constants.filter(|name| !self.taken.contains(*name)) {
            let tensor = self.tensors.get(name.as_str());
            let is_long = |tensor: &&&TensorHead| tensor.element.is_float() && tensor.elements() > NUMBERS_MAX as u64;
            if let Some(tensor) = tensor.filter(is_long) {
                constants_left = (constants_left.0 + 1, constants_left.1.saturating_add(tensor.elements()));
            }
        }
        let mut seen = BTreeSet::new();
        let left = graph
            .tensors
            .iter()
            .chain(&graph.inner_tensors)
            .filter(is_left)
            .filter(|tensor| tensor.name.is_empty() || seen.insert(tensor.name.as_str()))
            .map(|tensor| {
                let dtype = tensor.element.dtype().unwrap_or(Dtype::F32);
                parameter(&tensor.name, Site::Other, dtype, tensor.elements()).over(Extent::Sample { positions: 1 })
            })
            .collect();
        Operators { placed: self.placed, left, constants_left, table: self.table }
    }
}

/// An operator named after its node.
fn named(node: &Node, site: Site, dtype: Dtype, kind: OpKind) -> Operator {
    let name = if node.name.is_empty() { node.op.clone() } else { node.name.clone() };
    op(name, site, dtype, kind)
}
