//! Which image, audio, video and text-encoder families Hob reads, by the config's `model_type` or `_class_name`.

use crate::config::fields::Fields;
use crate::config::{bert, clip, flux, hunyuan_video, sd3, unet, vit, wan, whisper};
use crate::error::ModelError;
use crate::graph::ModelGraph;

/// Reads a config of one of these families; `None` when the family is another's.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Option<Result<ModelGraph, ModelError>> {
    let family = fields.text("_class_name").or_else(|| fields.text("model_type"))?;
    let read: fn(&Fields<'_>, &str) -> Result<ModelGraph, ModelError> = match family {
        "whisper" => whisper::graph,
        "bert" | "roberta" | "xlm-roberta" | "camembert" => bert::graph,
        "vit" => vit::graph,
        "clip" => clip::graph,
        "UNet2DConditionModel" => unet::graph,
        "SD3Transformer2DModel" => sd3::graph,
        "FluxTransformer2DModel" => flux::graph,
        "WanTransformer3DModel" => wan::graph,
        "HunyuanVideoTransformer3DModel" => hunyuan_video::graph,
        _ => return None,
    };
    Some(read(fields, name))
}

#[cfg(test)]
#[path = "families_media_tests.rs"]
mod tests;
