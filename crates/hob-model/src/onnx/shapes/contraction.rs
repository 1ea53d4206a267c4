//! Matrix products, attention operators and recurrent layers.

use crate::onnx::shapes::arithmetic::join;
use crate::onnx::shapes::fact::{Fact, Known};
use crate::onnx::tensor::Element;

pub(super) fn rule(op: &str, known: &Known<'_>) -> Option<Vec<Fact>> {
    Some(match op {
        "MatMul" | "FusedMatMul" | "TransposeMatMul" => known.like_first(matmul(known, 1)),
        "MatMulInteger" => vec![Fact::of_shape(Element(6), matmul(known, 1))],
        "MatMulIntegerToFloat" | "DynamicQuantizeMatMul" => vec![Fact::of_shape(Element::FLOAT, matmul(known, 1))],
        "QLinearMatMul" => known.like_first(matmul(known, 3)),
        "MatMulNBits" | "MatMulBnb4" | "MatMulFpQ4" => {
            let shape = known.shape(0).and_then(|shape| {
                let mut shape = shape.to_vec();
                *shape.last_mut()? = u64::try_from(known.node.int("N")?).ok()?;
                Some(shape)
            });
            known.like_first(shape)
        }
        "Gemm" | "FusedGemm" | "GemmFastGelu" => known.like_first(gemm(known, 1)),
        "QGemm" => known.like_first(gemm(known, 3)),
        "Einsum" => known.like_first(einsum(known)),
        "Attention" if known.node.domain == "com.microsoft" => {
            let shape = known.shape(0).and_then(|shape| {
                let [batch, length, _] = shape else { return None };
                let widths = known.node.ints("qkv_hidden_sizes").and_then(|sizes| u64::try_from(*sizes.get(2)?).ok());
                let width = widths.or_else(|| Some(*known.shape(1)?.get(1)? / 3))?;
                Some(vec![*batch, *length, width])
            });
            known.like_first(shape)
        }
        "QAttention" => {
            let width = known.shape(1).and_then(|shape| shape.get(1)).map(|width| width / 3);
            let shape =
                known.shape(0).zip(width).and_then(|(shape, width)| Some(vec![*shape.first()?, *shape.get(1)?, width]));
            vec![Fact::of_shape(Element::FLOAT, shape)]
        }
        "MultiHeadAttention" | "GroupQueryAttention" | "Attention" | "PagedAttention" => {
            // The result is as wide as the values of all query heads; keys and queries have equal widths nearly always.
            known.like_first(known.shape(0).map(<[u64]>::to_vec))
        }
        "EmbedLayerNormalization" => {
            let shape = known.shape(0).zip(known.shape(2)).and_then(|(ids, table)| {
                let mut shape = ids.to_vec();
                shape.push(*table.last()?);
                Some(shape)
            });
            vec![Fact::of_shape(known.element(2), shape)]
        }
        "LSTM" | "GRU" | "RNN" => recurrent(known),
        _ => return None,
    })
}

fn matmul(known: &Known<'_>, second_at: usize) -> Option<Vec<u64>> {
    let flag = |name: &str| known.node.int(name).unwrap_or(0) != 0;
    let mut first = known.shape(0)?.to_vec();
    let mut second = known.shape(second_at)?.to_vec();
    for (shape, is_transposed) in [(&mut first, flag("transA")), (&mut second, flag("transB"))] {
        let rank = shape.len();
        if is_transposed && rank >= 2 {
            shape.swap(rank - 1, rank - 2);
        }
    }
    product(&first, &second)
}

/// The shape of a matrix product by NumPy's rule.
fn product(first: &[u64], second: &[u64]) -> Option<Vec<u64>> {
    let (inner, rows) = first.split_last()?;
    if let [length] = second {
        return (length == inner).then(|| rows.to_vec());
    }
    let (columns, outer) = second.split_last()?;
    let (length, batch) = outer.split_last()?;
    if length != inner {
        return None;
    }
    let (row, first_batch) = match rows.split_last() {
        Some((row, batch)) => (Some(*row), batch),
        None => (None, rows),
    };
    let mut shape = join(first_batch, batch)?;
    shape.extend(row);
    shape.push(*columns);
    Some(shape)
}

fn gemm(known: &Known<'_>, second_at: usize) -> Option<Vec<u64>> {
    let flag = |name: &str| known.node.int(name).unwrap_or(0) != 0;
    let ([a, b], [c, d]) = (known.shape(0)?, known.shape(second_at)?) else { return None };
    let (rows, inner) = if flag("transA") { (b, a) } else { (a, b) };
    let (length, columns) = if flag("transB") { (d, c) } else { (c, d) };
    (inner == length).then(|| vec![*rows, *columns])
}

/// Sizes of an Einstein sum without ellipsis.
fn einsum(known: &Known<'_>) -> Option<Vec<u64>> {
    let equation: String = known.node.text("equation")?.chars().filter(|letter| !letter.is_whitespace()).collect();
    let (inputs, output) = equation.split_once("->")?;
    let size_of = |letter: char| {
        inputs.split(',').enumerate().find_map(|(at, term)| {
            let place = term.chars().position(|other| other == letter)?;
            known.shape(at)?.get(place).copied()
        })
    };
    output.chars().map(size_of).collect()
}

fn recurrent(known: &Known<'_>) -> Vec<Fact> {
    let sizes = known.shape(0).zip(known.shape(2)).and_then(|(data, weight)| {
        let ([length, batch, _], [directions, _, hidden]) = (data, weight) else { return None };
        let (length, batch) = if known.node.int("layout") == Some(1) { (batch, length) } else { (length, batch) };
        Some((*length, *batch, *directions, *hidden))
    });
    let element = known.element(0);
    let is_batch_first = known.node.int("layout") == Some(1);
    let Some((length, batch, directions, hidden)) = sizes else { return vec![Fact::default(); 3] };
    let (all, last) = if is_batch_first {
        (vec![batch, length, directions, hidden], vec![batch, directions, hidden])
    } else {
        (vec![length, directions, batch, hidden], vec![directions, batch, hidden])
    };
    let last = Fact::of_shape(element, Some(last));
    vec![Fact::of_shape(element, Some(all)), last.clone(), last]
}
