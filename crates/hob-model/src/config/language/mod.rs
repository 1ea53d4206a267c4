//! Language models' configs to the operator graph. One file per way of building a layer.

mod attention;
mod decoder;
mod feed_forward;
mod gemma;
mod gemma4;
mod gpt;
mod gpt_oss;
mod llama;
mod llama4;
mod spans;
mod towers;

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
        "gemma" => gemma::gemma,
        "gemma2" => gemma::gemma2,
        "gemma3" => gemma::gemma3,
        "gemma3_text" => gemma::gemma3_text,
        "gemma4" => gemma4::graph,
        "gemma4_text" => gemma4::text,
        "gpt2" => gpt::gpt2,
        "gptj" => gpt::gptj,
        "gpt_neox" => gpt::gpt_neox,
        "gpt_oss" => gpt_oss::graph,
        "phi" => gpt::phi,
        "bloom" => gpt::bloom,
        "falcon" | "RefinedWeb" | "RefinedWebModel" => gpt::falcon,
        "opt" => gpt::opt,
        "llama4" => llama4::graph,
        "llama4_text" => llama4::text,
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
