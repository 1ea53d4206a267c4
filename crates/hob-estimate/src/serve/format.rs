//! How each operator's weights are stored and multiplied under a weight format.

use hob_model::{Dtype, OpKind, Operator, PartRole, Site};

use crate::strategy::WeightFormat;

/// Arithmetic class of stored weights: decides the peak rate and the bandwidth share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// 16 bits and wider.
    Half,
    /// 8-bit floats.
    Fp8,
    /// 8-bit integers with 8-bit activations.
    Int8,
    /// 4-bit integers, 16-bit arithmetic.
    Int4,
    /// 4-bit floats.
    Fp4,
    /// Any other packed format: 16-bit arithmetic.
    Packed,
}

impl Class {
    /// Spelling in the table.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Half => "16bit",
            Self::Fp8 => "fp8",
            Self::Int8 => "int8",
            Self::Int4 => "int4",
            Self::Fp4 => "fp4",
            Self::Packed => "packed",
        }
    }

    fn of(dtype: Dtype) -> Self {
        match dtype {
            Dtype::F8E4m3 | Dtype::F8E5m2 => Self::Fp8,
            Dtype::I8 => Self::Int8,
            Dtype::Int4Group(_) | Dtype::Nf4 | Dtype::Nf4Double | Dtype::Q4_0 | Dtype::Q4_1 | Dtype::Q4K => Self::Int4,
            Dtype::Mxfp4 | Dtype::Nvfp4 | Dtype::F4E2m1 => Self::Fp4,
            other if other.is_quantised() => Self::Packed,
            _ => Self::Half,
        }
    }
}

/// Class and stored bits for each weight of `op`.
pub(super) fn stored_as(op: &Operator, role: PartRole, format: WeightFormat) -> (Class, f64) {
    let layer_matrix = matches!(op.kind, OpKind::Linear { .. })
        && matches!(role, PartRole::Decoder)
        && matches!(op.site, Site::AttentionInput | Site::AttentionOutput | Site::MlpInput | Site::MlpOutput);
    match format {
        WeightFormat::AsStored => (Class::of(op.dtype), op.dtype.bits()),
        _ if !layer_matrix => (Class::Half, 16.0),
        WeightFormat::Half => (Class::Half, 16.0),
        WeightFormat::Fp8 => (Class::Fp8, 8.0),
        WeightFormat::Int8 => (Class::Int8, 8.0),
        WeightFormat::Int4 => (Class::Int4, Dtype::Int4Group(128).bits()),
        WeightFormat::Fp4 => (Class::Fp4, Dtype::Nvfp4.bits()),
    }
}

/// Id of the message that names what a format does to answers; `None` when the user's own checkpoint is served as it is.
pub(super) fn quality_note(format: WeightFormat) -> Option<&'static str> {
    match format {
        WeightFormat::AsStored | WeightFormat::Half => None,
        WeightFormat::Fp8 => Some("quality-fp8"),
        WeightFormat::Int8 => Some("quality-int8"),
        WeightFormat::Int4 => Some("quality-int4"),
        WeightFormat::Fp4 => Some("quality-fp4"),
    }
}
