//! Quantised checkpoints: which tensors together stand for one weight, and how many parameters that weight has.
//!
//! Recognised by names and shapes alone, since weights are never read: GPTQ, AWQ, compressed-tensors, NVFP4 (ModelOpt and
//! compressed-tensors), block FP8, MXFP4 (gpt-oss), bitsandbytes 4-bit and 8-bit, MLX.

use std::collections::BTreeMap;

use crate::dtype::Dtype;
use crate::reader::tensors::{Inventory, Tensor};

/// A weight as the model sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Weight {
    /// Name, with `.weight` or `.bias` at its end where the checkpoint has it.
    pub(crate) name: String,
    /// Storage type, scales included.
    pub(crate) dtype: Dtype,
    /// Sizes, outermost first.
    pub(crate) shape: Vec<u64>,
}

impl Weight {
    /// Parameters.
    pub(crate) fn elements(&self) -> u64 {
        self.shape.iter().fold(1, |product, size| product.saturating_mul(*size))
    }
}

/// All weights of a model, packing undone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Weights {
    /// In the files' order.
    pub(crate) all: Vec<Weight>,
    /// Schemes found, with the number of weights stored in each.
    pub(crate) schemes: BTreeMap<&'static str, u64>,
}

impl Weights {
    /// Parameters of the model: buffers, scales and zero points do not count.
    pub(crate) fn parameters(&self) -> u64 {
        self.all.iter().map(Weight::elements).fold(0, u64::saturating_add)
    }
}

/// Companions that only describe another tensor's packing. They count as bytes, not as parameters.
const COMPANIONS: &[&str] = &[
    "scales",
    "qzeros",
    "g_idx",
    "weight_scale",
    "weight_scale_2",
    "weight_scale_inv",
    "weight_zero_point",
    "weight_shape",
    "weight_g_idx",
    "weight_global_scale",
    "input_scale",
    "input_global_scale",
    "output_scale",
    "k_scale",
    "v_scale",
    "SCB",
    "weight_format",
    "absmax",
    "quant_map",
    "nested_absmax",
    "nested_quant_map",
];

/// Buffers of known architectures that checkpoints carry along: tables that are computed, not learned.
fn is_buffer(tensor: &Tensor) -> bool {
    let name = tensor.name.as_str();
    let causal_mask = (name.ends_with("attn.bias") || name.ends_with("attention.bias")) && tensor.shape.len() == 4;
    causal_mask
        || name.ends_with(".masked_bias")
        || name.ends_with("rotary_emb.inv_freq")
        || name.ends_with("position_ids")
        || name.ends_with("e_score_correction_bias")
        || name.contains("exp_probs_b.")
        || name.ends_with("num_batches_tracked")
        || name.ends_with("running_mean")
        || name.ends_with("running_var")
        || name.contains("rope_freqs.")
        || name.contains("rope_factors_")
}

/// Undoes the packing.
pub(crate) fn weights(inventory: &Inventory) -> Weights {
    let shapes: BTreeMap<&str, &Tensor> =
        inventory.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    let mut weights = Weights::default();
    for tensor in &inventory.tensors {
        if is_buffer(tensor) || is_companion(tensor, &shapes) {
            continue;
        }
        match unpack(tensor, &shapes) {
            Some((scheme, weight)) => {
                *weights.schemes.entry(scheme).or_default() += 1;
                weights.all.push(weight);
            }
            None => {
                weights.all.push(Weight { name: tensor.name.clone(), dtype: tensor.dtype, shape: tensor.shape.clone() })
            }
        }
    }
    weights
}

fn is_companion(tensor: &Tensor, shapes: &BTreeMap<&str, &Tensor>) -> bool {
    let name = tensor.name.as_str();
    if let Some(base) = name.strip_suffix("_scales") {
        return shapes.contains_key(format!("{base}_blocks").as_str());
    }
    let Some((module, last)) = name.rsplit_once('.') else { return false };
    if last.starts_with("bitsandbytes__") {
        return true;
    }
    if last == "biases" {
        return shapes.contains_key(format!("{module}.scales").as_str());
    }
    COMPANIONS.contains(&last)
}

/// The weight that a packed tensor stands for, with the scheme's name.
fn unpack(tensor: &Tensor, shapes: &BTreeMap<&str, &Tensor>) -> Option<(&'static str, Weight)> {
    let name = tensor.name.as_str();
    if let Some(base) = name.strip_suffix("_blocks") {
        shapes.get(format!("{base}_scales").as_str())?;
        return mxfp4(tensor, base);
    }
    let (module, last) = name.rsplit_once('.')?;
    let beside = |companion: &str| shapes.get(format!("{module}.{companion}").as_str()).copied();
    match (last, tensor.dtype) {
        ("qweight", Dtype::I32) => int_packed(tensor, module, beside("scales")?, beside("qzeros")),
        ("weight_packed", Dtype::I32) => packed_words(tensor, module, beside("weight_scale")?, "compressed-tensors"),
        ("weight_packed", Dtype::U8) => nvfp4(tensor, module, beside("weight_scale")?),
        ("weight", Dtype::U32) => packed_words(tensor, module, beside("scales")?, "mlx"),
        ("weight", Dtype::U8) => match beside("weight_scale") {
            Some(scale) => nvfp4(tensor, module, scale),
            None => {
                let is_nf4 = shapes.contains_key(format!("{name}.absmax").as_str());
                let weight = two_per_byte(tensor, name.to_owned(), Dtype::Nf4);
                is_nf4.then_some(("bitsandbytes", weight))
            }
        },
        ("weight", Dtype::I8) if beside("SCB").is_some() => {
            Some(("bitsandbytes", Weight { name: name.to_owned(), dtype: Dtype::I8, shape: tensor.shape.clone() }))
        }
        ("weight", Dtype::F8E4m3 | Dtype::F8E5m2 | Dtype::I8)
            if beside("weight_scale_inv").is_some() || beside("weight_scale").is_some() =>
        {
            let scheme = if tensor.dtype == Dtype::I8 { "int8" } else { "fp8" };
            Some((scheme, Weight { name: name.to_owned(), dtype: tensor.dtype, shape: tensor.shape.clone() }))
        }
        _ => None,
    }
}

fn weight_name(module: &str) -> String {
    format!("{module}.weight")
}

/// Groups of equal scale as the type's parameter.
fn group(inputs: u64, groups: u64) -> u16 {
    u16::try_from(inputs / groups.max(1)).unwrap_or(u16::MAX).max(1)
}

/// The type for `bits` for each element with a scale for each group.
fn integer_type(bits: u64, group: u16) -> Dtype {
    match bits {
        0..=4 => Dtype::Int4Group(group),
        _ => Dtype::I8,
    }
}

/// GPTQ packs along the inputs (`[inputs / n, outputs]`), AWQ along the outputs (`[inputs, outputs / n]`); the scales
/// (`[groups, outputs]`) tell which.
fn int_packed(
    tensor: &Tensor,
    module: &str,
    scales: &Tensor,
    zeros: Option<&Tensor>,
) -> Option<(&'static str, Weight)> {
    let ([rows, columns], [groups, outputs]) = (tensor.shape.as_slice(), scales.shape.as_slice()) else { return None };
    if *columns == 0 || *outputs == 0 {
        return None;
    }
    let (scheme, inputs, bits) = if columns == outputs {
        // The zero points are packed along the outputs: `[groups, outputs * bits / 32]`.
        let bits = match zeros.map(|zeros| zeros.shape.as_slice()) {
            Some([_, packed]) => packed.checked_mul(32)? / outputs,
            _ => 4,
        };
        ("gptq", rows.checked_mul(32)? / bits.max(1), bits)
    } else {
        ("awq", *rows, 32 * columns / outputs)
    };
    let dtype = integer_type(bits, group(inputs, *groups));
    Some((scheme, Weight { name: weight_name(module), dtype, shape: vec![*outputs, inputs] }))
}

/// 32-bit words along the inputs with `[outputs, groups]` scales. The group size is not in the header: the usual ones are
/// tried, and the first that gives a usual number of bits is taken.
fn packed_words(
    tensor: &Tensor,
    module: &str,
    scales: &Tensor,
    scheme: &'static str,
) -> Option<(&'static str, Weight)> {
    let words = *tensor.shape.last()?;
    let groups = *scales.shape.last()?;
    let groups_tried: [u64; 4] = if scheme == "mlx" { [64, 32, 128, 16] } else { [128, 64, 32, 16] };
    let (inputs, bits) = groups_tried
        .iter()
        .filter_map(|size| groups.checked_mul(*size))
        .filter(|inputs| *inputs > 0)
        .filter_map(|inputs| {
            let word_bits = words.checked_mul(32)?;
            (word_bits % inputs == 0).then_some((inputs, word_bits / inputs))
        })
        .find(|(_, bits)| matches!(bits, 2 | 3 | 4 | 6 | 8))
        // One scale for each row: no group tells the bits, and four is what such files hold.
        .or_else(|| words.checked_mul(8).map(|inputs| (inputs, 4)))?;
    let mut shape = tensor.shape.clone();
    *shape.last_mut()? = inputs;
    Some((scheme, Weight { name: weight_name(module), dtype: integer_type(bits, group(inputs, groups)), shape }))
}

fn two_per_byte(tensor: &Tensor, name: String, dtype: Dtype) -> Weight {
    let mut shape = tensor.shape.clone();
    if let Some(last) = shape.iter_mut().rev().find(|size| **size > 1) {
        *last = last.saturating_mul(2);
    }
    if shape.last() == Some(&1) {
        shape.pop();
    }
    Weight { name, dtype, shape }
}

/// Two 4-bit floats in a byte, one 8-bit scale for 16.
fn nvfp4(tensor: &Tensor, module: &str, scale: &Tensor) -> Option<(&'static str, Weight)> {
    let (bytes, scales) = (*tensor.shape.last()?, *scale.shape.last()?);
    let (scheme, dtype) = match bytes.checked_mul(2)?.checked_div(scales)? {
        32 => ("mxfp4", Dtype::Mxfp4),
        _ => ("nvfp4", Dtype::Nvfp4),
    };
    Some((scheme, two_per_byte(tensor, weight_name(module), dtype)))
}

/// gpt-oss: `[experts, outputs, groups, 16]` bytes of two 4-bit floats each.
fn mxfp4(tensor: &Tensor, base: &str) -> Option<(&'static str, Weight)> {
    let (inner, outer) = tensor.shape.split_last()?;
    let (groups, outer) = outer.split_last()?;
    let mut shape = outer.to_vec();
    shape.push(inner.checked_mul(2)?.checked_mul(*groups)?);
    Some(("mxfp4", Weight { name: base.to_owned(), dtype: Dtype::Mxfp4, shape }))
}
