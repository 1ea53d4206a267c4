//! Elementwise operators, with broadcasting, and their values on small constants.

use crate::onnx::proto::Attribute;
use crate::onnx::shapes::fact::{Fact, Known, sized};
use crate::onnx::tensor::{Element, NUMBERS_MAX};

/// Operators whose first output has the first input's shape.
const SAME_SHAPE: &[&str] = &[
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BatchNormalization",
    "Bernoulli",
    "BiasGelu",
    "BitwiseNot",
    "Cast",
    "CastLike",
    "Ceil",
    "Celu",
    "Clip",
    "Cos",
    "Cosh",
    "CumSum",
    "DequantizeLinear",
    "Dropout",
    "DynamicQuantizeLinear",
    "Elu",
    "Erf",
    "Exp",
    "FastGelu",
    "Floor",
    "Gelu",
    "GroupNorm",
    "GroupNormalization",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "Identity",
    "InstanceNormalization",
    "IsInf",
    "IsNaN",
    "LRN",
    "LayerNormalization",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "MeanVarianceNormalization",
    "Mish",
    "Neg",
    "Not",
    "PRelu",
    "QLinearLeakyRelu",
    "QLinearSigmoid",
    "QLinearSoftmax",
    "QuantizeLinear",
    "QuickGelu",
    "RMSNormalization",
    "RandomNormalLike",
    "RandomUniformLike",
    "Reciprocal",
    "Relu",
    "RotaryEmbedding",
    "Round",
    "ScatterElements",
    "ScatterND",
    "Scatter",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sign",
    "SimplifiedLayerNormalization",
    "Sin",
    "Sinh",
    "SkipLayerNormalization",
    "SkipSimplifiedLayerNormalization",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Swish",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
    "Trilu",
];

const BROADCAST: &[&str] = &[
    "Add",
    "And",
    "BitShift",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Mean",
    "Min",
    "Mod",
    "Mul",
    "Or",
    "Pow",
    "Sub",
    "Sum",
    "Where",
    "Xor",
];

pub(super) fn rule(op: &str, known: &Known<'_>) -> Option<Vec<Fact>> {
    if SAME_SHAPE.contains(&op) {
        return Some(same(op, known));
    }
    if BROADCAST.contains(&op) {
        return Some(vec![broadcast(op, known)]);
    }
    match op {
        // Quantised forms carry scale and zero point behind each operand.
        "QLinearAdd" | "QLinearMul" => {
            let shape = known.shape(0).zip(known.shape(3)).and_then(|(first, second)| join(first, second));
            Some(known.like_first(shape))
        }
        _ => None,
    }
}

fn same(op: &str, known: &Known<'_>) -> Vec<Fact> {
    let mut fact = known.fact(0).cloned().unwrap_or_default();
    match op {
        "Cast" => {
            if let Some(to) = known.node.int("to").and_then(|to| u64::try_from(to).ok()) {
                fact.element = Element(to);
                let is_integer = !fact.element.is_float();
                for number in fact.numbers.iter_mut().flatten().filter(|_| is_integer) {
                    *number = number.trunc();
                }
            }
        }
        "DequantizeLinear" => {
            fact.element = known.element(1);
            fact.numbers = None;
        }
        "QuantizeLinear" | "DynamicQuantizeLinear" => {
            fact.element = known.fact(2).map_or(Element(2), |zero| zero.element);
            fact.numbers = None;
        }
        "Identity" | "Dropout" => {}
        "Not" | "IsNaN" | "IsInf" => fact = Fact { element: Element::BOOL, numbers: None, weight: None, ..fact },
        _ => {
            fact.weight = None;
            fact.numbers = fact.numbers.and_then(|numbers| {
                let of = unary(op)?;
                Some(numbers.into_iter().map(of).collect())
            });
        }
    }
    let scalar = Fact::of_shape(Element::FLOAT, Some(Vec::new()));
    match op {
        "DynamicQuantizeLinear" => vec![fact, scalar.clone(), scalar],
        _ => vec![fact],
    }
}

fn unary(op: &str) -> Option<fn(f64) -> f64> {
    Some(match op {
        "Abs" => f64::abs,
        "Ceil" => f64::ceil,
        "Floor" => f64::floor,
        "Neg" => |number| -number,
        "Round" => f64::round_ties_even,
        "Sqrt" => f64::sqrt,
        "Reciprocal" => f64::recip,
        _ => return None,
    })
}

fn binary(op: &str, is_integer: bool) -> Option<fn(f64, f64) -> f64> {
    Some(match op {
        "Add" | "Sum" => |a, b| a + b,
        "Sub" => |a, b| a - b,
        "Mul" => |a, b| a * b,
        "Div" if is_integer => |a, b| if b == 0.0 { 0.0 } else { (a / b).trunc() },
        "Div" => |a, b| a / b,
        "Mod" => |a, b| if b == 0.0 { 0.0 } else { a - b * (a / b).floor() },
        "Pow" => f64::powf,
        "Max" => f64::max,
        "Min" => f64::min,
        "Equal" => |a, b| f64::from(u8::from(a == b)),
        "Greater" => |a, b| f64::from(u8::from(a > b)),
        "GreaterOrEqual" => |a, b| f64::from(u8::from(a >= b)),
        "Less" => |a, b| f64::from(u8::from(a < b)),
        "LessOrEqual" => |a, b| f64::from(u8::from(a <= b)),
        "And" => |a, b| f64::from(u8::from(a != 0.0 && b != 0.0)),
        "Or" => |a, b| f64::from(u8::from(a != 0.0 || b != 0.0)),
        _ => return None,
    })
}

fn broadcast(op: &str, known: &Known<'_>) -> Fact {
    let inputs: Vec<Option<&Fact>> = (0..known.node.inputs.len()).map(|at| known.fact(at)).collect();
    let mut shape: Option<Vec<u64>> = Some(Vec::new());
    for fact in &inputs {
        let of_input = fact.and_then(|fact| fact.shape.as_deref());
        shape = shape.zip(of_input).and_then(|(all, one)| join(&all, one));
    }
    let is_comparison =
        matches!(op, "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "And" | "Or" | "Xor");
    let element = match op {
        _ if is_comparison => Element::BOOL,
        "Where" => known.element(1),
        _ => known.element(0),
    };
    let numbers = shape.as_ref().and_then(|shape| values(op, &inputs, shape, !known.element(0).is_float()));
    Fact { numbers, ..Fact::of_shape(element, shape) }
}

/// Values of small constants, when each is one number or as long as the result.
fn values(op: &str, inputs: &[Option<&Fact>], shape: &[u64], is_integer: bool) -> Option<Vec<f64>> {
    let count = usize::try_from(shape.iter().product::<u64>()).ok().filter(|count| *count <= NUMBERS_MAX)?;
    let operands = inputs
        .iter()
        .map(|fact| fact.and_then(|fact| fact.numbers.as_deref()))
        .map(|numbers| numbers.filter(|numbers| numbers.len() == count || numbers.len() == 1))
        .collect::<Option<Vec<_>>>()?;
    let pick = |numbers: &[f64], at: usize| numbers.get(at).or(numbers.first()).copied();
    if op == "Where" {
        let [condition, then, otherwise] = operands.as_slice() else { return None };
        return (0..count)
            .map(|at| if pick(condition, at)? == 0.0 { pick(otherwise, at) } else { pick(then, at) })
            .collect();
    }
    let of = binary(op, is_integer)?;
    let (first, others) = operands.split_first()?;
    (0..count)
        .map(|at| others.iter().try_fold(pick(first, at)?, |sum, numbers| Some(of(sum, pick(numbers, at)?))))
        .collect()
}

/// The common shape of two, by NumPy's rule.
pub(super) fn join(first: &[u64], second: &[u64]) -> Option<Vec<u64>> {
    let rank = first.len().max(second.len());
    let size = |shape: &[u64], at: usize| {
        let from_end = rank - at;
        if from_end > shape.len() { 1 } else { shape.get(shape.len() - from_end).copied().unwrap_or(1) }
    };
    let shape = (0..rank)
        .map(|at| match (size(first, at), size(second, at)) {
            (a, b) if a == b => Some(a),
            (1, b) => Some(b),
            (a, 1) => Some(a),
            _ => None,
        })
        .collect::<Option<Vec<_>>>()?;
    sized(shape)
}

/// The value of a `Constant` node.
pub(super) fn constant(known: &Known<'_>) -> Vec<Fact> {
    let fact = known.node.attributes.iter().find_map(|(name, attribute)| match (name.as_str(), attribute) {
        // Some exporters keep weights in `Constant` nodes; such a weight goes by the name of the node's output.
        ("value", Attribute::Tensor(tensor)) => {
            Some(Fact { weight: known.node.outputs.first().cloned(), ..Fact::of_tensor(tensor) })
        }
        ("value_int", Attribute::Int(number)) => {
            Some(Fact::of_numbers(Element::INT64, Vec::new(), vec![*number as f64]))
        }
        ("value_float", Attribute::Float(number)) => Some(Fact::of_numbers(Element::FLOAT, Vec::new(), vec![*number])),
        ("value_ints", Attribute::Ints(numbers)) => {
            let numbers: Vec<f64> = numbers.iter().map(|number| *number as f64).collect();
            Some(Fact::of_numbers(Element::INT64, vec![numbers.len() as u64], numbers))
        }
        ("value_floats", Attribute::Floats(numbers)) => {
            Some(Fact::of_numbers(Element::FLOAT, vec![numbers.len() as u64], numbers.clone()))
        }
        _ => None,
    });
    vec![fact.unwrap_or_default()]
}
