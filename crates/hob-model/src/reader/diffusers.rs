//! A diffusers pipeline folder: `model_index.json` names its components, each in a folder of its own.
//!
//! Only the denoiser becomes the graph. Text encoders and the autoencoder run beside it (see `companion.rs`) and are never
//! counted as its parameters.

use serde_json::Value;

use crate::companion::companions;
use crate::error::ModelError;
use crate::graph::{ModelGraph, Origin, Unknown};
use crate::reader::folder::weights_of;
use crate::reader::{ModelFiles, join, json, read_config_file, reconcile};

/// Components that can be the denoiser, in the order of preference.
const DENOISERS: &[&str] = &["transformer", "unet", "prior", "decoder"];
/// Components without weights that cost anything.
const LIGHT: &[&str] = &["scheduler", "tokenizer", "feature_extractor", "image_processor", "processor"];

/// Reads the denoiser.
pub(crate) fn read_pipeline(folder: &str, name: &str, files: &dyn ModelFiles) -> Result<ModelGraph, ModelError> {
    let path = join(folder, "model_index.json");
    let (index, note) = json::read_config(files, &path)?;
    let malformed =
        |why: &str| ModelError::Malformed { path: path.clone(), format: "model_index.json", why: why.to_owned() };
    let object = index.as_object().ok_or_else(|| malformed("the top level is not an object"))?;
    // An absent component is written as `[null, null]`.
    let is_component = |name: &str| {
        let library = object.get(name).and_then(Value::as_array).and_then(|pair| pair.first());
        library.is_some_and(|library| !library.is_null())
    };
    let denoiser = DENOISERS
        .iter()
        .find(|name| is_component(name))
        .ok_or_else(|| malformed("it names no transformer and no unet"))?;
    let own = join(folder, denoiser);
    let mut graph = read_config_file(&join(&own, "config.json"), name, files)?;
    if let Some(inventory) = weights_of(&own, &files.list(&own)?, files)? {
        graph.origin = Origin::Safetensors;
        reconcile(&mut graph, inventory);
    }
    graph.unknowns.extend(note);
    if companions(&graph).is_empty() {
        let is_light = |name: &str| LIGHT.iter().any(|light| name.starts_with(light));
        let beside = object.keys().filter(|name| is_component(name) && name != denoiser && !is_light(name));
        graph.unknowns.extend(beside.map(|name| Unknown {
            what: format!("component {name}"),
            consequence: "runs beside the denoiser and is not counted".to_owned(),
        }));
    }
    Ok(graph)
}
