//! What is known about one value.

use std::collections::BTreeMap;

use crate::onnx::proto::{Attribute, Node};
use crate::onnx::tensor::{Element, NUMBERS_MAX, TensorHead};

/// Most dimensions of a value that is followed; public graphs use at most 6.
const RANK_MAX: usize = 8;
/// Most elements of one value: beyond 2^50 a shape is nonsense, and products of two stay inside 128 bits.
const ELEMENTS_MAX: u64 = 1 << 50;

/// What is known about one value.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::onnx) struct Fact {
    pub(in crate::onnx) element: Element,
    pub(in crate::onnx) shape: Option<Vec<u64>>,
    /// Flat values, for small constants.
    pub(in crate::onnx) numbers: Option<Vec<f64>>,
    /// The initializer that this value is, perhaps transposed, cast or dequantised.
    pub(in crate::onnx) weight: Option<String>,
}

/// A shape within bounds.
pub(in crate::onnx) fn sized(shape: Vec<u64>) -> Option<Vec<u64>> {
    let elements = shape.iter().try_fold(1_u64, |product, size| product.checked_mul((*size).max(1)))?;
    (shape.len() <= RANK_MAX && elements <= ELEMENTS_MAX).then_some(shape)
}

impl Fact {
    pub(in crate::onnx) fn of_shape(element: Element, shape: Option<Vec<u64>>) -> Self {
        Self { element, shape: shape.and_then(sized), ..Self::default() }
    }

    pub(in crate::onnx) fn of_tensor(tensor: &TensorHead) -> Self {
        Self {
            element: tensor.element,
            shape: sized(tensor.shape.clone()),
            numbers: tensor.numbers.clone(),
            weight: Some(tensor.name.clone()).filter(|name| !name.is_empty()),
        }
    }

    /// Known numbers with their shape.
    pub(in crate::onnx) fn of_numbers(element: Element, shape: Vec<u64>, numbers: Vec<f64>) -> Self {
        let is_whole = numbers.len() <= NUMBERS_MAX;
        Self { element, shape: sized(shape), numbers: is_whole.then_some(numbers), weight: None }
    }

    /// Elements, when the shape is known.
    pub(in crate::onnx) fn elements(&self) -> Option<u64> {
        self.shape.as_ref().map(|shape| shape.iter().product())
    }
}

/// A node with the facts of its inputs.
pub(in crate::onnx) struct Known<'f> {
    pub(in crate::onnx) node: &'f Node,
    facts: &'f BTreeMap<String, Fact>,
}

impl<'f> Known<'f> {
    pub(in crate::onnx) fn new(node: &'f Node, facts: &'f BTreeMap<String, Fact>) -> Self {
        Self { node, facts }
    }

    /// An input that is there.
    pub(in crate::onnx) fn fact(&self, at: usize) -> Option<&'f Fact> {
        self.facts.get(self.node.input(at)?)
    }

    pub(in crate::onnx) fn shape(&self, at: usize) -> Option<&'f [u64]> {
        self.fact(at)?.shape.as_deref()
    }

    pub(in crate::onnx) fn numbers(&self, at: usize) -> Option<&'f [f64]> {
        self.fact(at)?.numbers.as_deref()
    }

    /// Element type of an input, or of nothing known.
    pub(in crate::onnx) fn element(&self, at: usize) -> Element {
        self.fact(at).map(|fact| fact.element).unwrap_or_default()
    }

    /// Whole numbers of an attribute (older operator sets) or of an input (newer ones).
    pub(in crate::onnx) fn ints(&self, attribute: &str, input: usize) -> Option<Vec<i64>> {
        match self.node.attributes.get(attribute) {
            Some(Attribute::Ints(numbers)) => Some(numbers.clone()),
            Some(Attribute::Int(number)) => Some(vec![*number]),
            _ => Some(self.numbers(input)?.iter().map(|number| *number as i64).collect()),
        }
    }

    /// One output of a shape, with the first input's type.
    pub(in crate::onnx) fn like_first(&self, shape: Option<Vec<u64>>) -> Vec<Fact> {
        vec![Fact::of_shape(self.element(0), shape)]
    }
}

/// An axis as a place in `rank` dimensions; negative ones count from the end.
pub(in crate::onnx) fn axis(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let place = if axis < 0 { axis.checked_add(rank)? } else { axis };
    (0..rank).contains(&place).then(|| usize::try_from(place).ok()).flatten()
}
