//! The list of tensors that a weight file declares, and its sums.

use std::collections::BTreeMap;

use hob_units::Bytes;

use crate::dtype::Dtype;
use crate::graph::{StoredBytes, Unknown};

/// Most tensors that one model may declare. A mixture of 60 layers with 384 experts of three matrices, each packed into six
/// tensors (bitsandbytes), has 415,000. At this bound a hostile header costs about 1 GB and seconds.
pub(crate) const TENSORS_MAX: u64 = 500_000;
/// Most dimensions of a tensor; published weights have at most 6.
pub(crate) const RANK_MAX: usize = 32;

/// One tensor as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tensor {
    /// Name in the checkpoint.
    pub(crate) name: String,
    /// Storage type.
    pub(crate) dtype: Dtype,
    /// Sizes, outermost first.
    pub(crate) shape: Vec<u64>,
    /// Bytes in the file.
    pub(crate) bytes: u64,
}

impl Tensor {
    /// Elements as stored.
    pub(crate) fn elements(&self) -> u64 {
        product(&self.shape).unwrap_or(u64::MAX)
    }
}

/// Product of sizes; `None` beyond 64 bits.
pub(crate) fn product(sizes: &[u64]) -> Option<u64> {
    sizes.iter().try_fold(1_u64, |product, size| product.checked_mul(*size))
}

/// All tensors of a model and what was odd about them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Inventory {
    /// In the files' order.
    pub(crate) tensors: Vec<Tensor>,
    /// Bytes known to exist whose tensors could not be seen (shards that are not there).
    pub(crate) unseen_bytes: u64,
    /// Oddities.
    pub(crate) notes: Vec<Unknown>,
}

impl Inventory {
    /// Sums by type. Unseen bytes are booked under the type that holds most seen bytes, or `fallback`.
    pub(crate) fn stored(&self, fallback: Dtype) -> StoredBytes {
        let mut stored = StoredBytes { tensors: self.tensors.len() as u64, ..StoredBytes::default() };
        let mut bytes: BTreeMap<Dtype, u64> = BTreeMap::new();
        for tensor in &self.tensors {
            let sum = bytes.entry(tensor.dtype).or_default();
            *sum = sum.saturating_add(tensor.bytes);
            let elements = stored.elements.entry(tensor.dtype).or_default();
            *elements = elements.saturating_add(tensor.elements());
        }
        if self.unseen_bytes > 0 {
            let main = bytes.iter().max_by_key(|(_, bytes)| **bytes).map_or(fallback, |(dtype, _)| *dtype);
            let sum = bytes.entry(main).or_default();
            *sum = sum.saturating_add(self.unseen_bytes);
            let elements = stored.elements.entry(main).or_default();
            *elements = elements.saturating_add((self.unseen_bytes as f64 * 8.0 / main.bits()) as u64);
        }
        stored.bytes = bytes.into_iter().map(|(dtype, bytes)| (dtype, Bytes(bytes))).collect();
        stored
    }
}
