//! safetensors: headers and sharded indexes. Never reads a weight.
//!
//! Format: <https://huggingface.co/docs/safetensors>, the crate `safetensors` 0.8 as the reference.

mod header;
mod index;

pub(crate) use header::{HEADER_BYTES_MAX, read_header};
pub(crate) use index::read_index;
