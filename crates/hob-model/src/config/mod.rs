//! Hugging Face configs (transformers and diffusers) to the operator graph. One file per architecture family.

pub(crate) mod fields;

mod bert;
mod clip;
mod families_media;
mod flux;
mod hunyuan_video;
pub(crate) mod media;
mod mmdit;
mod sd3;
mod unet;
mod unet_blocks;
pub(crate) mod vae;
mod vit;
mod wan;
mod whisper;
