//! Nodes without a matrix: activations, sums, moves, pooling, and products of two computed values.

use crate::build::parameter;
use crate::dtype::Dtype;
use crate::graph::{OpKind, Site};
use crate::onnx::operators::{Builder, named, weighted};
use crate::onnx::proto::Node;

const ACTIVATIONS: &[&str] = &[
    "BiasGelu",
    "Celu",
    "Clip",
    "Elu",
    "Erf",
    "FastGelu",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "LeakyRelu",
    "Mish",
    "PRelu",
    "QLinearLeakyRelu",
    "QLinearSigmoid",
    "QuickGelu",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Swish",
    "Tanh",
    "ThresholdedRelu",
];

/// Views and bookkeeping that move no data.
const FREE: &[&str] = &[
    "Cast",
    "CastLike",
    "Constant",
    "ConstantOfShape",
    "Dropout",
    "Flatten",
    "Identity",
    "Range",
    "Reshape",
    "Shape",
    "Size",
    "Squeeze",
    "Unsqueeze",
];

/// Adds the node, and the weights that it applies elementwise.
pub(super) fn node<'g>(builder: &mut Builder<'g>, node: &'g Node) {
    match node.op.as_str() {
        "QuantizeLinear" | "DequantizeLinear" => builder.discard(node, &[1, 2]),
        "QLinearAdd" | "QLinearMul" => builder.discard(node, &[1, 2, 4, 5, 6, 7]),
        "QLinearSigmoid" | "QLinearLeakyRelu" | "QLinearGlobalAveragePool" | "QLinearAveragePool" => {
            builder.discard(node, &[1, 2, 3, 4]);
        }
        "Resize" | "Upsample" | "Clip" | "Pad" | "Slice" | "Split" | "Reshape" | "Expand" | "Tile" => {
            builder.discard(node, &[1, 2, 3]);
        }
        "MultiHeadAttention" | "GroupQueryAttention" | "Attention" if core(builder, node).is_some() => {
            return;
        }
        _ => {}
    }
    learned(builder, node);
    if FREE.contains(&node.op.as_str()) {
        return;
    }
    let Some(output) = builder.output(node) else { return };
    // Shape arithmetic runs on the CPU.
    if output.numbers.is_some() || output.weight.is_some() {
        return;
    }
    let dtype = output.element.dtype().unwrap_or(Dtype::F32);
    if matches!(node.op.as_str(), "MatMul" | "FusedMatMul" | "Gemm" | "MatMulInteger" | "Einsum") {
        product(builder, node, dtype);
        return;
    }
    let Some((width, extent)) = builder.width_and_extent(output) else { return };
    let (site, kind) = if ACTIVATIONS.contains(&node.op.as_str()) {
        (Site::MlpActivation, OpKind::Activation { width, gated: false })
    } else {
        (Site::Other, OpKind::Elementwise { width })
    };
    builder.push(node, named(node, site, dtype, kind).over(extent));
}

/// Weights that are added, multiplied or joined: biases, scales, class tokens, position tables.
fn learned<'g>(builder: &mut Builder<'g>, node: &'g Node) {
    if FREE.contains(&node.op.as_str())
        || matches!(node.op.as_str(), "Transpose" | "DequantizeLinear" | "QuantizeLinear")
    {
        return;
    }
    for at in 0..node.inputs.len() {
        let Some((tensor, fact)) = builder.weight(node, at) else { continue };
        // Tables that the exporter computed stay in `Constant` nodes; learned ones are initializers.
        let is_initializer = fact.weight.as_deref() == Some(tensor.name.as_str());
        let is_used = builder.output(node).is_some_and(|output| output.weight.is_none());
        if !tensor.element.is_float() || tensor.elements() <= 1 || !is_initializer || !is_used {
            continue;
        }
        let other = node.input(if at == 0 { 1 } else { 0 }).unwrap_or_default();
        let is_vector = tensor.shape.iter().filter(|size| **size > 1).count() <= 1;
        if builder.take(tensor, node, at) {
            continue;
        }
        if node.op == "Add" && is_vector && builder.add_bias(other, tensor.elements()).is_some() {
            continue;
        }
        let dtype = tensor.element.dtype().unwrap_or(Dtype::F32);
        let name = if node.name.is_empty() { tensor.name.as_str() } else { node.name.as_str() };
        let extent = builder
            .output(node)
            .and_then(|output| builder.width_and_extent(output))
            .map_or(crate::graph::Extent::Sample { positions: 1 }, |(_, extent)| extent);
        builder.push(node, parameter(name, Site::Other, dtype, tensor.elements()).over(extent));
    }
}

/// A product of two computed values: the multiply-adds of one output row.
fn product<'g>(builder: &mut Builder<'g>, node: &'g Node, dtype: Dtype) -> Option<()> {
    let known = builder.known(node);
    let output = builder.output(node)?.shape.as_deref()?;
    let inner = if node.op == "Einsum" {
        // Multiply-adds are at most the product of the operands' elements over what the result repeats.
        let (first, second) = (known.shape(0)?.iter().product::<u64>(), known.shape(1)?.iter().product::<u64>());
        let all = (first as f64 * second as f64 / output.iter().product::<u64>().max(1) as f64).sqrt();
        all as u64
    } else {
        let shape = known.shape(0)?;
        let is_flipped = node.int("transA").unwrap_or(0) != 0;
        *if is_flipped { shape.get(shape.len().checked_sub(2)?)? } else { shape.last()? }
    };
    let (columns, outer) = output.split_last()?;
    let (rows, batch) = outer.split_last().map_or((1, [].as_slice()), |(rows, batch)| (*rows, batch));
    let batch: u64 = batch.iter().product();
    // Heads count into the width, so that the positions are those of the sequence or the picture.
    let per_sample = batch / builder.binding.batch.max(1);
    let multiply_adds = inner.saturating_mul(*columns).saturating_mul(per_sample.max(1));
    let extent = builder.extent(rows.saturating_mul(builder.binding.batch.max(1)));
    builder.push(node, named(node, Site::Other, dtype, OpKind::MatMul { multiply_adds }).over(extent));
    Some(())
}

/// Attention operators that take queries, keys and values.
fn core<'g>(builder: &mut Builder<'g>, node: &'g Node) -> Option<()> {
    let known = builder.known(node);
    let shape = known.shape(0)?;
    let count = |names: [&str; 2]| {
        names
            .iter()
            .find_map(|name| node.int(name))
            .and_then(|heads| u64::try_from(heads).ok())
            .filter(|heads| *heads > 0)
    };
    let (heads, length, width) = match shape {
        [batch, heads, length, width] => (*heads, batch.checked_mul(*length)?, *width),
        [batch, length, width] => {
            let heads = count(["num_heads", "q_num_heads"])?;
            // Keys and values packed into the same input widen it.
            let is_packed = node.input(1).is_none();
            let kv_heads = count(["kv_num_heads", "kv_num_heads"]).unwrap_or(heads);
            let shares = if is_packed { heads.checked_add(kv_heads.checked_mul(2)?)? } else { heads };
            (heads, batch.checked_mul(*length)?, width / shares)
        }
        _ => return None,
    };
    let kv_heads = count(["kv_num_heads", "kv_num_heads"])
        .or_else(|| match known.shape(1) {
            Some([_, kv_heads, _, _]) => Some(*kv_heads),
            _ => None,
        })
        .unwrap_or(heads);
    let is_causal =
        node.op == "GroupQueryAttention" || node.int("is_causal") == Some(1) || node.int("unidirectional") == Some(1);
    let dtype = known.element(0).dtype().unwrap_or(Dtype::F32);
    let operator = weighted::core(builder, dtype, heads, kv_heads, width, is_causal, builder.extent(length));
    builder.push(node, operator);
    Some(())
}
