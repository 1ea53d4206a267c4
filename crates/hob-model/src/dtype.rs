//! Storage types of weights and their true size, scales included.

use std::fmt;

use serde::Serialize;

/// How one tensor's elements are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names are the formats' own.
pub enum Dtype {
    F64,
    F32,
    F16,
    Bf16,
    F8E4m3,
    F8E5m2,
    F8E8m0,
    /// OCP MX elements without their scales, which are tensors of their own in safetensors.
    F6E2m3,
    F6E3m2,
    F4E2m1,
    /// Complex numbers of two float32.
    C64,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
    /// 4-bit integers with one 16-bit scale and zero point for each `group` elements (GPTQ, AWQ).
    Int4Group(u16),
    /// bitsandbytes NF4: 4 bits and a float32 scale for each 64 elements, not double-quantised.
    Nf4,
    /// NF4 whose scales are quantised to 8 bits, in groups of 256.
    Nf4Double,
    /// 4-bit floats with one 8-bit scale for each 32 elements (OCP MX).
    Mxfp4,
    /// 4-bit floats with one 8-bit scale for each 16 elements.
    Nvfp4,
    /// GGML block formats.
    Q1_0,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q8_1,
    Q2K,
    Q3K,
    Q4K,
    Q5K,
    Q6K,
    Q8K,
    Iq1S,
    Iq1M,
    Iq2Xxs,
    Iq2Xs,
    Iq2S,
    Iq3Xxs,
    Iq3S,
    Iq4Nl,
    Iq4Xs,
    Tq1_0,
    Tq2_0,
}

impl Dtype {
    /// Stored bits for each element, scales included.
    ///
    /// Sources: safetensors format specification; GGML `ggml-common.h` block structures (bytes of a block over its
    /// elements); QLoRA (arXiv 2305.14314) for NF4; OCP Microscaling 1.0 for MXFP4.
    #[must_use]
    pub fn bits(self) -> f64 {
        match self {
            Self::F64 | Self::I64 | Self::U64 | Self::C64 => 64.0,
            Self::F32 | Self::I32 | Self::U32 => 32.0,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 16.0,
            Self::F8E4m3 | Self::F8E5m2 | Self::F8E8m0 | Self::I8 | Self::U8 | Self::Bool => 8.0,
            Self::F6E2m3 | Self::F6E3m2 => 6.0,
            Self::F4E2m1 => 4.0,
            Self::Q1_0 => 1.125,
            Self::Int4Group(group) => 4.0 + 20.0 / f64::from(group.max(1)),
            Self::Nf4 => 4.5,
            Self::Nf4Double => 4.0 + 8.0 / 64.0 + 32.0 / (64.0 * 256.0),
            Self::Mxfp4 => 4.25,
            Self::Nvfp4 => 4.5,
            Self::Q4_0 | Self::Iq4Nl | Self::Q4K => 4.5,
            Self::Q4_1 => 5.0,
            Self::Q5_0 | Self::Q5K => 5.5,
            Self::Q5_1 => 6.0,
            Self::Q8_0 => 8.5,
            Self::Q8_1 => 9.0,
            Self::Q2K => 2.625,
            Self::Q3K => 3.4375,
            Self::Q6K => 6.5625,
            Self::Q8K => 9.125,
            Self::Iq1S => 1.5625,
            Self::Iq1M => 1.75,
            Self::Iq2Xxs => 2.0625,
            Self::Iq2Xs => 2.3125,
            Self::Iq2S => 2.5625,
            Self::Iq3Xxs => 3.0625,
            Self::Iq3S => 3.4375,
            Self::Iq4Xs => 4.25,
            Self::Tq1_0 => 1.6875,
            Self::Tq2_0 => 2.0625,
        }
    }

    /// Whether this is a format of fewer than 16 bits that stands for a real-valued weight.
    #[must_use]
    pub fn is_quantised(self) -> bool {
        self.bits() < 16.0 && self != Self::Bool
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Int4Group(u16::MAX) => "int4".to_owned(),
            Self::Int4Group(group) => format!("int4-g{group}"),
            Self::Nf4Double => "nf4-double".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        f.pad(&text)
    }
}
