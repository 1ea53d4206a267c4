//! Nodes that hold weights: convolutions, products, norms, tables, recurrent layers.

use crate::build::{attention, parameter};
use crate::dtype::Dtype;
use crate::graph::{Extent, KvCache, ModelKind, NormKind, OpKind, Operator, Site, Span};
use crate::onnx::operators::{Builder, named};
use crate::onnx::proto::Node;
use crate::onnx::tensor::TensorHead;

/// Adds the node when it is of this kind.
pub(super) fn node<'g>(builder: &mut Builder<'g>, node: &'g Node) -> bool {
    let is_done = match node.op.as_str() {
        "Conv" | "FusedConv" | "ConvTranspose" => conv(builder, node, 1, Some(2), &[]),
        "ConvInteger" => conv(builder, node, 1, None, &[2, 3]),
        "QLinearConv" => conv(builder, node, 3, Some(8), &[1, 2, 4, 5, 6, 7]),
        "MatMul" | "FusedMatMul" | "TransposeMatMul" => matmul(builder, node, 1, None, &[]),
        "MatMulInteger" => matmul(builder, node, 1, None, &[2, 3]),
        "MatMulIntegerToFloat" => matmul(builder, node, 1, Some(6), &[2, 3, 4, 5]),
        "DynamicQuantizeMatMul" => matmul(builder, node, 1, Some(4), &[2, 3]),
        "QLinearMatMul" => matmul(builder, node, 3, None, &[1, 2, 4, 5, 6, 7]),
        "Gemm" | "FusedGemm" | "GemmFastGelu" => matmul(builder, node, 1, Some(2), &[]),
        "QGemm" => matmul(builder, node, 3, Some(6), &[1, 2, 4, 5, 7, 8]),
        "MatMulNBits" | "MatMulBnb4" => packed_matmul(builder, node),
        "BatchNormalization" => {
            builder.discard(node, &[3, 4]);
            norm(builder, node, NormKind::Batch, &[1, 2])
        }
        "InstanceNormalization" | "GroupNormalization" | "GroupNorm" => norm(builder, node, NormKind::Group, &[1, 2]),
        "LayerNormalization" => norm(builder, node, NormKind::Layer, &[1, 2]),
        "RMSNormalization" | "SimplifiedLayerNormalization" => norm(builder, node, NormKind::Rms, &[1]),
        "SkipLayerNormalization" => norm(builder, node, NormKind::Layer, &[2, 3, 4]),
        "SkipSimplifiedLayerNormalization" => norm(builder, node, NormKind::Rms, &[2, 3]),
        "EmbedLayerNormalization" => embed_norm(builder, node),
        "Gather" => gather(builder, node),
        "Attention" | "QAttention" if builder.weight(node, 1).is_some() => fused_attention(builder, node),
        "LSTM" | "GRU" | "RNN" => recurrent(builder, node),
        _ => None,
    };
    is_done.is_some()
}

fn dtype_of(tensor: &TensorHead) -> Dtype {
    tensor.element.dtype().unwrap_or(Dtype::F32)
}

/// Marks the bias as counted; whether there is one.
fn takes_bias(builder: &mut Builder<'_>, node: &Node, at: Option<usize>, width: u64) -> bool {
    let Some(at) = at else { return false };
    let Some(fact) = node.input(at).and_then(|input| builder.facts.get(input)) else { return false };
    // Biases of quantised forms are 32-bit integers.
    let is_weight = fact.weight.is_some() && fact.elements() == Some(width);
    if is_weight {
        builder.discard(node, &[at]);
    }
    is_weight
}

/// Type and shape of a matrix or kernel, and whether its parameters are counted elsewhere: it was taken before, or the
/// graph computes it (slices of one stored weight, joined anew).
fn kernel<'g>(builder: &mut Builder<'g>, node: &'g Node, at: usize) -> Option<(Dtype, &'g [u64], bool)> {
    if let Some((tensor, fact)) = builder.weight(node, at) {
        let shape = fact.shape.as_deref()?;
        return Some((dtype_of(tensor), shape, builder.take(tensor, node, at)));
    }
    let fact = builder.facts.get(node.input(at)?)?;
    Some((fact.element.dtype().unwrap_or(Dtype::F32), fact.shape.as_deref()?, true))
}

fn conv<'g>(
    builder: &mut Builder<'g>,
    node: &'g Node,
    weight_at: usize,
    bias_at: Option<usize>,
    companions: &[usize],
) -> Option<()> {
    let (dtype, shape, tied) = kernel(builder, node, weight_at)?;
    let [first, second, kernel @ ..] = shape else { return None };
    let groups = u64::try_from(node.int("group").unwrap_or(1)).ok()?.max(1);
    let is_transposed = node.op == "ConvTranspose";
    // A transposed convolution spreads each input position: its work is counted where it reads.
    let (inputs, outputs) =
        if is_transposed { (*first, second.checked_mul(groups)?) } else { (second.checked_mul(groups)?, *first) };
    let counted = if is_transposed { builder.facts.get(node.input(0)?) } else { builder.output(node) };
    let extent = match counted.and_then(|fact| fact.shape.as_deref()) {
        Some([batch, _, spatial @ ..]) => builder.map_extent(spatial, *batch),
        _ => unknown_extent(builder),
    };
    // The bias of a kernel that is counted elsewhere stays behind and becomes a parameter of its own.
    let bias = !tied && takes_bias(builder, node, bias_at, outputs);
    builder.discard(node, companions);
    let kernel_elements = kernel.iter().product();
    let kind = OpKind::Conv { inputs, outputs, kernel_elements, groups, bias };
    builder.push(node, named(node, Site::Convolution, dtype, kind).over(extent).tied(tied));
    Some(())
}

/// Positions of a node whose output has no known shape: the picture's coarse grid, or the sequence.
fn unknown_extent(builder: &Builder<'_>) -> Extent {
    match (builder.binding.picture, builder.binding.tokens) {
        (Some(_), _) => Extent::Grid { pixels_per_position: 256.0, frames_per_position: 1.0, fixed: 0 },
        (None, Some(_)) => Extent::Tokens,
        (None, None) => Extent::Sample { positions: 1 },
    }
}

/// A product with a weight on either side. The fact's shape is the weight as multiplied, after transposes.
fn matmul<'g>(
    builder: &mut Builder<'g>,
    node: &'g Node,
    second_at: usize,
    bias_at: Option<usize>,
    companions: &[usize],
) -> Option<()> {
    let is_second = builder.weight(node, second_at).is_some();
    let weight_at = if is_second { second_at } else { 0 };
    let (tensor, fact) = builder.weight(node, weight_at)?;
    let shape = fact.shape.as_deref()?;
    let is_flipped = node.int(if is_second { "transB" } else { "transA" }).unwrap_or(0) != 0;
    let (batch, inputs, outputs) = match shape {
        [length] => (1, *length, 1),
        [batch @ .., rows, columns] => {
            let (rows, columns) = if is_flipped { (*columns, *rows) } else { (*rows, *columns) };
            // On the left, the rows are outputs.
            let (inputs, outputs) = if is_second { (rows, columns) } else { (columns, rows) };
            (batch.iter().product::<u64>(), inputs, outputs)
        }
        [] => return None,
    };
    let elements = builder.output(node).and_then(crate::onnx::shapes::Fact::elements);
    let extent = match elements {
        Some(elements) if outputs > 0 && batch > 0 => builder.extent(elements / outputs / batch),
        _ => unknown_extent(builder),
    };
    let tied = builder.take(tensor, node, weight_at);
    let bias = !tied && takes_bias(builder, node, bias_at, outputs);
    builder.discard(node, companions);
    let kind = OpKind::Linear { inputs, outputs, bias };
    let mut operator = named(node, site(&node.name), dtype_of(tensor), kind).over(extent).tied(tied);
    if let Some(copies) = u32::try_from(batch).ok().filter(|copies| *copies > 1) {
        operator = operator.experts(copies, copies);
    }
    builder.push(node, operator);
    Some(())
}

/// The role, by the node's name, which exporters make from the module's.
fn site(node_name: &str) -> Site {
    let dotted = node_name.trim_start_matches('/').replace('/', ".");
    let module = dotted.rsplit_once('.').map_or(dotted.as_str(), |(module, _)| module);
    match crate::reader::infer::site::site(module, true) {
        Site::Norm | Site::Convolution => Site::Other,
        site => site,
    }
}

/// ONNX Runtime's 4-bit product: `[outputs, blocks, bytes]` with scales and zero points.
fn packed_matmul<'g>(builder: &mut Builder<'g>, node: &'g Node) -> Option<()> {
    let size = |name: &str| node.int(name).and_then(|size| u64::try_from(size).ok());
    let (inputs, outputs) = (size("K")?, size("N")?);
    let group = size("block_size").and_then(|size| u16::try_from(size).ok()).unwrap_or(32);
    let dtype = if size("bits").unwrap_or(4) <= 4 { Dtype::Int4Group(group) } else { Dtype::I8 };
    let elements = builder.output(node).and_then(crate::onnx::shapes::Fact::elements);
    let extent = match elements {
        Some(elements) if outputs > 0 => builder.extent(elements / outputs),
        _ => unknown_extent(builder),
    };
    let bias = takes_bias(builder, node, Some(5), outputs);
    builder.discard(node, &[1, 2, 3, 4]);
    builder.push(node, named(node, site(&node.name), dtype, OpKind::Linear { inputs, outputs, bias }).over(extent));
    Some(())
}

fn norm<'g>(builder: &mut Builder<'g>, node: &'g Node, norm: NormKind, places: &[usize]) -> Option<()> {
    let mut parameters = 0_u64;
    let mut dtype = None;
    for at in places {
        if let Some((tensor, _)) = builder.weight(node, *at) {
            dtype = dtype.or(Some(dtype_of(tensor)));
            if !builder.take(tensor, node, *at) {
                parameters = parameters.saturating_add(tensor.elements());
            }
        }
    }
    let (width, extent) = builder
        .output(node)
        .and_then(|fact| builder.width_and_extent(fact))
        .unwrap_or_else(|| (parameters / (places.len() as u64).max(1), unknown_extent(builder)));
    let kind = OpKind::Norm { norm, width, parameters };
    builder.push(node, named(node, Site::Norm, dtype.unwrap_or(Dtype::F32), kind).over(extent));
    Some(())
}

fn table<'g>(builder: &mut Builder<'g>, node: &'g Node, at: usize, site: Site, extent: Extent) -> Option<()> {
    let (tensor, fact) = builder.weight(node, at)?;
    let [rows, width] = fact.shape.as_deref()? else { return None };
    let (rows, width) = (*rows, *width);
    let tied = builder.take(tensor, node, at);
    if site == Site::Embedding && builder.table.is_none_or(|(known, _)| rows > known) {
        builder.table = Some((rows, width));
    }
    let kind = OpKind::Embedding { rows, width };
    builder.push(node, named(node, site, dtype_of(tensor), kind).over(extent).tied(tied));
    Some(())
}

/// A lookup of a float table by computed indices. Constant indices pick from a position table.
fn gather<'g>(builder: &mut Builder<'g>, node: &'g Node) -> Option<()> {
    let (tensor, _) = builder.weight(node, 0)?;
    if !tensor.element.is_float() || tensor.shape.len() != 2 || node.int("axis").unwrap_or(0) != 0 {
        return None;
    }
    let indices = builder.facts.get(node.input(1)?)?;
    let extent = indices.elements().map_or_else(|| unknown_extent(builder), |count| builder.extent(count));
    let is_constant = indices.numbers.is_some() || indices.weight.is_some();
    table(builder, node, 0, if is_constant { Site::PositionEmbedding } else { Site::Embedding }, extent)
}

fn embed_norm<'g>(builder: &mut Builder<'g>, node: &'g Node) -> Option<()> {
    let positions = builder.facts.get(node.input(0)?)?.elements();
    let extent = positions.map_or_else(|| unknown_extent(builder), |count| builder.extent(count));
    for (at, site) in [(2, Site::Embedding), (3, Site::PositionEmbedding), (4, Site::PositionEmbedding)] {
        table(builder, node, at, site, extent);
    }
    norm(builder, node, NormKind::Layer, &[5, 6])
}

/// ONNX Runtime's fused self-attention: one weight of `[hidden, 3 x hidden]`, then the core.
fn fused_attention<'g>(builder: &mut Builder<'g>, node: &'g Node) -> Option<()> {
    let (tensor, fact) = builder.weight(node, 1)?;
    let [inputs, outputs] = fact.shape.as_deref()? else { return None };
    let (inputs, outputs) = (*inputs, *outputs);
    let heads = u64::try_from(node.int("num_heads")?).ok().filter(|heads| *heads > 0)?;
    let shape = builder.facts.get(node.input(0)?)?.shape.as_deref();
    let extent = match shape {
        Some([batch, length, _]) => builder.extent(batch.saturating_mul(*length)),
        _ => unknown_extent(builder),
    };
    let is_causal = node.int("unidirectional") == Some(1);
    let bias = takes_bias(builder, node, Some(2), outputs);
    if node.op == "QAttention" {
        builder.discard(node, &[3, 4, 6, 7]);
    }
    let tied = builder.take(tensor, node, 1);
    let kind = OpKind::Linear { inputs, outputs, bias };
    let dtype = dtype_of(tensor);
    builder.push(node, named(node, Site::AttentionInput, dtype, kind).over(extent).tied(tied));
    builder.made_by.remove(node.outputs.first().map_or("", String::as_str));
    builder.push(node, core(builder, dtype, heads, heads, outputs / 3 / heads, is_causal, extent));
    Some(())
}

/// An attention core of the graph's kind.
pub(super) fn core(
    builder: &Builder<'_>,
    dtype: Dtype,
    heads: u64,
    kv_heads: u64,
    head_dim: u64,
    is_causal: bool,
    extent: Extent,
) -> Operator {
    let is_decoder = builder.binding.kind == ModelKind::CausalLm;
    let span = if is_causal || is_decoder { Span::Causal } else { Span::Bidirectional };
    let cache = if builder.binding.has_cache { KvCache::KeyValue } else { KvCache::None };
    attention(dtype, heads, kv_heads, head_dim, span, cache).over(extent)
}

/// Gates of a recurrent layer: `[directions, gates x hidden, inputs]` and `[directions, gates x hidden, hidden]`.
fn recurrent<'g>(builder: &mut Builder<'g>, node: &'g Node) -> Option<()> {
    let length = builder.facts.get(node.input(0)?)?.shape.as_ref()?.iter().take(2).product();
    let extent = builder.extent(length);
    for at in [1, 2] {
        let (dtype, shape, tied) = kernel(builder, node, at)?;
        let [directions, outputs, inputs] = shape else { return None };
        let (directions, outputs, inputs) = (u32::try_from(*directions).ok()?, *outputs, *inputs);
        let kind = OpKind::Linear { inputs, outputs, bias: false };
        let operator = named(node, Site::Other, dtype, kind).over(extent).tied(tied);
        builder.push(node, operator.experts(directions, directions));
    }
    if let Some((tensor, _)) = builder.weight(node, 3)
        && !builder.take(tensor, node, 3)
    {
        let biases = parameter(&node.name, Site::Other, dtype_of(tensor), tensor.elements()).over(extent);
        builder.push(node, biases);
    }
    Some(())
}
