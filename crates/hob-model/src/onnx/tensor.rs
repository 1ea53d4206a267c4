//! Tensors as ONNX declares them: type, sizes, and the numbers of small ones that decide shapes.

use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::onnx::wire::{Payload, Wire};
use crate::reader::tensors::{RANK_MAX, product};

/// Numbers kept from a tensor: shapes, axes, pads, resize scales. Weights are longer.
pub(super) const NUMBERS_MAX: usize = 1024;

/// An element type, by ONNX's number (`TensorProto.DataType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Element(pub(super) u64);

impl Element {
    pub(super) const FLOAT: Self = Self(1);
    pub(super) const INT64: Self = Self(7);
    pub(super) const BOOL: Self = Self(9);

    pub(super) fn dtype(self) -> Option<Dtype> {
        Some(match self.0 {
            1 => Dtype::F32,
            2 => Dtype::U8,
            3 => Dtype::I8,
            4 => Dtype::U16,
            5 => Dtype::I16,
            6 => Dtype::I32,
            7 => Dtype::I64,
            9 => Dtype::Bool,
            10 => Dtype::F16,
            11 => Dtype::F64,
            12 => Dtype::U32,
            13 => Dtype::U64,
            14 => Dtype::C64,
            16 => Dtype::Bf16,
            17 | 18 => Dtype::F8E4m3,
            19 | 20 => Dtype::F8E5m2,
            // Scales are tensors of their own, of unknown group; 128 is the usual one.
            21 | 22 => Dtype::Int4Group(128),
            23 => Dtype::F4E2m1,
            24 => Dtype::F8E8m0,
            _ => return None,
        })
    }

    /// Bits of one element in the file.
    pub(super) fn bits(self) -> u64 {
        match self.0 {
            15 => 128,
            11 | 7 | 13 | 14 => 64,
            1 | 6 | 12 => 32,
            4 | 5 | 10 | 16 => 16,
            21..=23 => 4,
            25 | 26 => 2,
            _ => 8,
        }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self.0, 1 | 10 | 11 | 16..=20 | 23 | 24)
    }

    /// Whether weights are stored in this type: floats, and the integers of quantised weights.
    pub(super) fn may_be_weight(self) -> bool {
        self.is_float() || matches!(self.0, 2 | 3 | 21 | 22 | 25 | 26)
    }
}

/// A tensor without its bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct TensorHead {
    pub(super) name: String,
    pub(super) element: Element,
    pub(super) shape: Vec<u64>,
    /// Flat, for small tensors of numbers.
    pub(super) numbers: Option<Vec<f64>>,
}

impl TensorHead {
    pub(super) fn elements(&self) -> u64 {
        product(&self.shape).unwrap_or(u64::MAX)
    }

    /// Bytes in the file or beside it.
    pub(super) fn bytes(&self) -> u64 {
        let bits = u128::from(self.elements()) * u128::from(self.element.bits());
        u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
    }
}

/// Reads a `TensorProto`, passing over its data unless it is small.
pub(super) fn read_tensor(wire: &mut Wire<'_>, end: u64) -> Result<TensorHead, ModelError> {
    let mut head = TensorHead::default();
    let mut sizes = Vec::new();
    let (mut raw, mut raw_bytes) = (None, None);
    let (mut integers, mut floats) = (Vec::new(), Vec::new());
    while let Some((number, payload)) = wire.field(end)? {
        match (number, payload) {
            (1, _) => wire.varints(payload, &mut sizes, RANK_MAX + 1)?,
            (2, Payload::Varint(element)) => head.element = Element(element),
            (4, _) => wire.floats(payload, &mut floats, NUMBERS_MAX)?,
            (5 | 7 | 11, _) => wire.varints(payload, &mut integers, NUMBERS_MAX + 1)?,
            (8, _) => head.name = wire.text(payload, "tensor name")?,
            (9, Payload::Length { bytes, .. }) => {
                raw_bytes = Some(bytes);
                if bytes <= 8 * NUMBERS_MAX as u64 {
                    raw = Some(wire.kept(payload, 8 * NUMBERS_MAX as u64, "tensor data")?);
                } else {
                    wire.pass(payload)?;
                }
            }
            _ => wire.pass(payload)?,
        }
    }
    if sizes.len() > RANK_MAX {
        return Err(wire.malformed(format!("tensor `{}` has more than {RANK_MAX} dimensions", head.name)));
    }
    for size in sizes {
        let size =
            u64::try_from(size).map_err(|_| wire.malformed(format!("tensor `{}` has a negative size", head.name)))?;
        head.shape.push(size);
    }
    if product(&head.shape).is_none() {
        return Err(wire.malformed(format!("tensor `{}` has more than 2^64 elements", head.name)));
    }
    if let Some(bytes) = raw_bytes
        && bytes != head.bytes()
        && head.element.dtype().is_some()
    {
        return Err(wire.malformed(format!(
            "tensor `{}` holds {bytes} bytes, and its shape and type need {}",
            head.name,
            head.bytes()
        )));
    }
    let count = head.elements();
    head.numbers = if count > NUMBERS_MAX as u64 {
        None
    } else if let Some(raw) = raw {
        numbers_of(head.element, &raw)
    } else if floats.len() as u64 == count && head.element == Element::FLOAT {
        Some(floats)
    } else if integers.len() as u64 == count && !head.element.is_float() {
        Some(integers.into_iter().map(|number| number as f64).collect())
    } else {
        None
    };
    Ok(head)
}

/// The numbers of little-endian bytes.
fn numbers_of(element: Element, raw: &[u8]) -> Option<Vec<f64>> {
    fn each<const N: usize>(raw: &[u8], number: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        raw.chunks_exact(N).filter_map(|chunk| chunk.try_into().ok()).map(number).collect()
    }
    Some(match element.0 {
        1 => each(raw, |bytes| f64::from(f32::from_le_bytes(bytes))),
        11 => each(raw, f64::from_le_bytes),
        6 => each(raw, |bytes| f64::from(i32::from_le_bytes(bytes))),
        7 => each(raw, |bytes| i64::from_le_bytes(bytes) as f64),
        12 => each(raw, |bytes| f64::from(u32::from_le_bytes(bytes))),
        13 => each(raw, |bytes| u64::from_le_bytes(bytes) as f64),
        9 | 2 => each(raw, |[byte]: [u8; 1]| f64::from(byte)),
        3 => each(raw, |[byte]: [u8; 1]| f64::from(byte.cast_signed())),
        _ => return None,
    })
}
