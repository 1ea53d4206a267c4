//! Language models' configs to the operator graph. One file per way of building a layer.

mod attention;
mod decoder;
mod feed_forward;
mod llama;
mod spans;

use crate::config::fields::Fields;
use crate::error::ModelError;
use crate::graph::ModelGraph;

type Reader = fn(&Fields<'_>, &str) -> Result<ModelGraph, ModelError>;

/// The reader of a family, by the config's `model_type`.
pub(super) fn reader(model_type: &str) -> Option<Reader> {
    Some(match model_type {
        "llama" | "Yi" | "yi" => llama::llama,
        "mistral" => llama::mistral,
        "qwen2" => llama::qwen2,
        "qwen3" => llama::qwen3,
        "phi3" => llama::phi3,
        "glm" => llama::glm,
        "baichuan" => llama::baichuan,
        "internlm2" => llama::internlm2,
        "chatglm" => llama::chatglm,
        _ => return None,
    })
}

/// Reads a config of any language model.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let family = fields.text("model_type").unwrap_or_default();
    match reader(family) {
        Some(read) => read(fields, name),
        None => Err(fields.bad("model_type", format!("is `{family}`, which is not known"))),
    }
}
