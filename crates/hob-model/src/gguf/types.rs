//! GGML tensor types: elements and bytes of a block.

use crate::dtype::Dtype;

/// A tensor type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockType {
    pub(super) dtype: Dtype,
    /// Elements of a block.
    pub(super) elements: u64,
    /// Bytes of a block.
    pub(super) bytes: u64,
}

/// The type of a number. Source: `ggml.h` (`enum ggml_type`), `ggml-common.h`. Files written by gguf-py 0.19 agree on every
/// type but Q8_1, which is never stored and which its table makes 40 bytes. Numbers left out were removed from GGML.
pub(super) fn block_type(number: u32) -> Option<BlockType> {
    let (dtype, elements, bytes) = match number {
        0 => (Dtype::F32, 1, 4),
        1 => (Dtype::F16, 1, 2),
        2 => (Dtype::Q4_0, 32, 18),
        3 => (Dtype::Q4_1, 32, 20),
        6 => (Dtype::Q5_0, 32, 22),
        7 => (Dtype::Q5_1, 32, 24),
        8 => (Dtype::Q8_0, 32, 34),
        9 => (Dtype::Q8_1, 32, 36),
        10 => (Dtype::Q2K, 256, 84),
        11 => (Dtype::Q3K, 256, 110),
        12 => (Dtype::Q4K, 256, 144),
        13 => (Dtype::Q5K, 256, 176),
        14 => (Dtype::Q6K, 256, 210),
        15 => (Dtype::Q8K, 256, 292),
        16 => (Dtype::Iq2Xxs, 256, 66),
        17 => (Dtype::Iq2Xs, 256, 74),
        18 => (Dtype::Iq3Xxs, 256, 98),
        19 => (Dtype::Iq1S, 256, 50),
        20 => (Dtype::Iq4Nl, 32, 18),
        21 => (Dtype::Iq3S, 256, 110),
        22 => (Dtype::Iq2S, 256, 82),
        23 => (Dtype::Iq4Xs, 256, 136),
        24 => (Dtype::I8, 1, 1),
        25 => (Dtype::I16, 1, 2),
        26 => (Dtype::I32, 1, 4),
        27 => (Dtype::I64, 1, 8),
        28 => (Dtype::F64, 1, 8),
        29 => (Dtype::Iq1M, 256, 56),
        30 => (Dtype::Bf16, 1, 2),
        34 => (Dtype::Tq1_0, 256, 54),
        35 => (Dtype::Tq2_0, 256, 66),
        39 => (Dtype::Mxfp4, 32, 17),
        40 => (Dtype::Nvfp4, 64, 36),
        41 => (Dtype::Q1_0, 128, 18),
        _ => return None,
    };
    Some(BlockType { dtype, elements, bytes })
}

#[cfg(test)]
mod tests {
    use super::block_type;

    #[test]
    fn bits_of_a_type_are_its_block() {
        for number in 0..64 {
            if let Some(block) = block_type(number) {
                let bits = block.bytes as f64 * 8.0 / block.elements as f64;
                assert_eq!(block.dtype.bits(), bits, "{number}: {:?}", block.dtype);
            }
        }
    }
}
