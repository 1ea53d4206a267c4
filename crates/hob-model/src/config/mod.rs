//! Hugging Face configs (transformers and diffusers) to the operator graph. One file per architecture family.

pub(crate) mod fields;

mod bert;
mod clip;
mod entry;
mod families_media;
mod flux;
mod hunyuan_video;
mod language;
pub(crate) mod media;
mod mmdit;
mod quantization;
mod sd3;
mod unet;
mod unet_blocks;
pub(crate) mod vae;
mod vit;
mod wan;
mod whisper;

pub use entry::graph_from_config;
pub(crate) use language::knows as knows_language_family;
