//! Weights grouped into layers and modules, and a module's operator.

use std::collections::BTreeMap;

use crate::build::{activation, op, parameter};
use crate::dtype::Dtype;
use crate::graph::{Extent, NormKind, OpKind, Operator, Site};
use crate::reader::infer::attention::Guesses;
use crate::reader::infer::{Hints, site};
use crate::reader::packed::Weights;

/// Weights of one layer, or of what stands outside of the layers.
#[derive(Debug, Default)]
pub(super) struct Layer {
    /// Name before the layer's number (`model.layers`), or the empty text outside.
    pub(super) stack: String,
    /// The number.
    pub(super) index: Option<u64>,
    modules: Vec<Module>,
    by_name: BTreeMap<String, usize>,
}

/// One weight with its bias, and how many equal copies (experts) there are.
#[derive(Debug)]
pub(super) struct Module {
    name: String,
    /// Role.
    pub(super) site: Site,
    dtype: Dtype,
    shape: Vec<u64>,
    copies: u64,
    bias: u64,
    biases: u64,
}

/// Groups the weights, in the order in which the layers are first named.
pub(super) fn layers(weights: &Weights) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut places: BTreeMap<(String, Option<u64>), usize> = BTreeMap::new();
    for weight in &weights.all {
        let (stack, index, rest) = split(&weight.name);
        let site = site::site(&rest, index.is_some());
        // Outside of the layers every role is a part of its own.
        let stack = if index.is_some() { stack } else { format!("{site:?}") };
        let place = *places.entry((stack.clone(), index)).or_insert_with(|| {
            layers.push(Layer { stack, index, ..Layer::default() });
            layers.len() - 1
        });
        if let Some(layer) = layers.get_mut(place) {
            layer.add(&rest, site, weight.dtype, &weight.shape);
        }
    }
    // Shards may name layer 10 before layer 2; blocks follow the numbers.
    layers.sort_by_key(|layer| (layer.index.is_some() || layer.stack != "Embedding", layer.index));
    layers
}

/// Stack, layer number and the rest of a name. The numbers of experts are left out of the rest.
fn split(name: &str) -> (String, Option<u64>, String) {
    let parts: Vec<&str> = name.split('.').collect();
    let number = |part: &&str| part.parse::<u64>().is_ok();
    let Some(at) = parts.iter().position(number) else { return (String::new(), None, name.to_owned()) };
    let index = parts.get(at).and_then(|part| part.parse().ok());
    let stack = parts.get(..at).unwrap_or_default().join(".");
    let mut rest: Vec<&str> = Vec::new();
    for part in parts.get(at + 1..).unwrap_or_default() {
        let is_expert = number(part) && rest.last().is_some_and(|last| last.ends_with("experts"));
        if !is_expert {
            rest.push(part);
        }
    }
    (stack, index, rest.join("."))
}

impl Layer {
    /// Modules in order.
    pub(super) fn modules(&self) -> impl Iterator<Item = &Module> {
        self.modules.iter()
    }

    fn add(&mut self, rest: &str, site: Site, dtype: Dtype, shape: &[u64]) {
        let elements = shape.iter().fold(1_u64, |product, size| product.saturating_mul(*size));
        let (name, is_bias) = match rest.strip_suffix(".bias") {
            Some(name) => (name, true),
            None => (rest.strip_suffix(".weight").unwrap_or(rest), false),
        };
        let known = self.by_name.get(name).and_then(|at| self.modules.get_mut(*at));
        match known {
            Some(module) if is_bias && module.takes_bias(elements) => {
                module.bias = elements;
                module.biases += 1;
                return;
            }
            Some(module) if !is_bias && module.shape == shape && module.dtype == dtype => {
                module.copies += 1;
                return;
            }
            _ => {}
        }
        // A bias before its weight, or of another size, stands alone.
        let alone = if is_bias { rest } else { name };
        self.by_name.insert(alone.to_owned(), self.modules.len());
        let site = if is_bias { Site::Other } else { site };
        self.modules.push(Module {
            name: alone.to_owned(),
            site,
            dtype,
            shape: if is_bias { vec![elements] } else { shape.to_vec() },
            copies: 1,
            bias: 0,
            biases: 0,
        });
    }

    /// Operators in order, with the activation of a gated or plain MLP.
    pub(super) fn operators(&self, extent: Extent, hints: &Hints, guesses: &mut Guesses) -> Vec<Operator> {
        let mut ops = Vec::with_capacity(self.modules.len() + 2);
        for module in &self.modules {
            module.operators(extent, hints, guesses, &mut ops);
        }
        let output = ops.iter().position(|op| op.site == Site::MlpOutput);
        if let Some(at) = output
            && let Some(OpKind::Linear { inputs, .. }) = ops.get(at).map(|op| op.kind.clone())
            && let Some((copies, active, dtype)) = ops.get(at).map(|op| (op.copies, op.active, op.dtype))
        {
            let wide: u64 = ops
                .iter()
                .filter(|op| op.site == Site::MlpInput && op.copies == copies)
                .map(|op| if let OpKind::Linear { outputs, .. } = op.kind { outputs } else { 0 })
                .fold(0, u64::saturating_add);
            let gated = wide >= inputs.saturating_mul(2);
            // A token passes through `active` experts, each with an activation of its own.
            let width = if copies > 1 { inputs.saturating_mul(u64::from(active)) } else { inputs };
            ops.insert(at, activation(dtype, width, gated).over(extent));
        }
        ops
    }
}

impl Module {
    fn takes_bias(&self, elements: u64) -> bool {
        let is_first = self.biases == 0 || self.bias == elements;
        is_first && self.biases < self.copies && self.outputs() == Some(elements)
    }

    /// Width of the output, for the shapes that may have a bias.
    fn outputs(&self) -> Option<u64> {
        match self.shape.as_slice() {
            [width] => Some(*width),
            [outputs, inputs] => Some(if self.is_transposed() { *inputs } else { *outputs }),
            [outputs, ..] => Some(*outputs),
            [] => None,
        }
    }

    /// GPT-2 stores its projections as `[inputs, outputs]`.
    fn is_transposed(&self) -> bool {
        let last = self.name.rsplit('.').next().unwrap_or_default();
        matches!(last, "c_attn" | "c_fc" | "c_proj" | "q_attn")
    }

    fn has_fused_experts(&self) -> bool {
        self.shape.len() == 3 && self.name.contains("exp")
    }

    /// A convolution over a picture or a video.
    pub(super) fn is_picture_convolution(&self) -> bool {
        self.shape.len() >= 4
    }

    fn kind(&self) -> Option<OpKind> {
        let bias = self.biases > 0;
        Some(match self.shape.as_slice() {
            [width] if self.site == Site::Norm => {
                let (norm, parameters) =
                    if bias { (NormKind::Layer, width.checked_mul(2)?) } else { (NormKind::Rms, *width) };
                OpKind::Norm { norm, width: *width, parameters }
            }
            [rows, width] if matches!(self.site, Site::Embedding | Site::PositionEmbedding) && !bias => {
                OpKind::Embedding { rows: *rows, width: *width }
            }
            [_, _] if self.name.ends_with("_bias") => return None,
            [outputs, inputs] if !self.is_transposed() => OpKind::Linear { inputs: *inputs, outputs: *outputs, bias },
            [inputs, outputs] => OpKind::Linear { inputs: *inputs, outputs: *outputs, bias },
            [_, outputs, inputs] if self.has_fused_experts() && !bias => {
                OpKind::Linear { inputs: *inputs, outputs: *outputs, bias: false }
            }
            [outputs, inputs, kernel @ ..] if !kernel.is_empty() => {
                let kernel_elements = kernel.iter().try_fold(1_u64, |product, size| product.checked_mul(*size))?;
                OpKind::Conv { inputs: *inputs, outputs: *outputs, kernel_elements, groups: 1, bias }
            }
            _ => return None,
        })
    }

    fn operators(&self, extent: Extent, hints: &Hints, guesses: &mut Guesses, ops: &mut Vec<Operator>) {
        let fused = if self.has_fused_experts() { self.shape.first().copied().unwrap_or(1) } else { 1 };
        let copies = self.copies.saturating_mul(fused);
        let is_expert = copies > 1 || self.name.contains("experts.") || self.name.contains("_exps");
        let has_all_biases = self.biases == 0 || self.biases == self.copies;
        let kind = self.kind().filter(|_| has_all_biases);
        let (Some(kind), Ok(copies_small)) = (kind, u32::try_from(copies.max(1))) else {
            let one = self.shape.iter().fold(1_u64, |product, size| product.saturating_mul(*size));
            let elements = one.saturating_mul(self.copies).saturating_add(self.bias.saturating_mul(self.biases));
            ops.push(parameter(&self.name, self.site, self.dtype, elements).over(extent));
            return;
        };
        let extent = match self.site {
            Site::Head if extent == Extent::Tokens => Extent::OutputTokens,
            _ => extent,
        };
        let mut operator = op(self.name.clone(), self.site, self.dtype, kind).over(extent);
        if is_expert && copies_small > 1 {
            let active = hints.experts_active.unwrap_or_else(|| guesses.experts_active(copies_small));
            operator = operator.experts(copies_small, active);
        } else if copies_small > 1 {
            operator = operator.experts(copies_small, copies_small);
        }
        ops.push(operator);
    }
}
