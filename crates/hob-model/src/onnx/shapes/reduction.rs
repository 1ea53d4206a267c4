//! Reductions and selections.

use crate::onnx::shapes::fact::{Fact, Known, axis};
use crate::onnx::tensor::Element;

pub(super) fn rule(op: &str, known: &Known<'_>) -> Option<Vec<Fact>> {
    Some(match op {
        "ReduceMean" | "ReduceSum" | "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceL1" | "ReduceL2"
        | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceSumSquare" => vec![reduce(op, known)],
        "ArgMax" | "ArgMin" => {
            let at = known.node.int("axis").unwrap_or(0);
            vec![Fact::of_shape(Element::INT64, without(known, Some(vec![at])))]
        }
        "TopK" => {
            let count = known.ints("k", 1).and_then(|numbers| u64::try_from(*numbers.first()?).ok());
            let shape = known.shape(0).zip(count).and_then(|(shape, count)| {
                let mut shape = shape.to_vec();
                let at = axis(known.node.int("axis").unwrap_or(-1), shape.len())?;
                *shape.get_mut(at)? = count;
                Some(shape)
            });
            vec![Fact::of_shape(known.element(0), shape.clone()), Fact::of_shape(Element::INT64, shape)]
        }
        // How many are found depends on the data.
        "NonZero" | "NonMaxSuppression" | "Unique" | "Compress" => vec![Fact::of_shape(Element::INT64, None)],
        _ => return None,
    })
}

fn reduce(op: &str, known: &Known<'_>) -> Fact {
    let axes = known.ints("axes", 1).filter(|axes| !axes.is_empty());
    let shape = without(known, axes);
    let numbers = known.numbers(0).filter(|_| known.shape(0).is_some_and(|shape| shape.len() == 1)).and_then(|all| {
        let all = all.iter().copied();
        Some(vec![match op {
            "ReduceProd" => all.product(),
            "ReduceSum" => all.sum(),
            "ReduceMax" => all.reduce(f64::max)?,
            "ReduceMin" => all.reduce(f64::min)?,
            _ => return None,
        }])
    });
    Fact { numbers, ..Fact::of_shape(known.element(0), shape) }
}

/// The first input's shape with the axes reduced to one or removed. No axes: all of them.
fn without(known: &Known<'_>, axes: Option<Vec<i64>>) -> Option<Vec<u64>> {
    let shape = known.shape(0)?;
    let keeps = known.node.int("keepdims").unwrap_or(1) != 0;
    if axes.is_none() && known.node.int("noop_with_empty_axes") == Some(1) {
        return Some(shape.to_vec());
    }
    let places: Option<Vec<usize>> = match axes {
        Some(axes) => axes.iter().map(|at| axis(*at, shape.len())).collect(),
        None => Some((0..shape.len()).collect()),
    };
    let places = places?;
    let sizes = shape.iter().enumerate().filter_map(|(at, size)| match places.contains(&at) {
        true if keeps => Some(1),
        true => None,
        false => Some(*size),
    });
    Some(sizes.collect())
}
