//! Hugging Face configs (transformers and diffusers) to the operator graph. One file per architecture family.

pub(crate) mod fields;

mod bert;
mod clip;
mod families_media;
mod media;
mod vit;
mod whisper;
