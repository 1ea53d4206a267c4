//! Hugging Face configs (transformers and diffusers) to the operator graph. One file per architecture family.

pub(crate) mod fields;
