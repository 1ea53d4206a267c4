//! Language models' configs to the operator graph. One file per way of building a layer.

mod attention;
mod decoder;
mod deepseek;
mod deepseek_v4;
mod feed_forward;
mod gemma;
mod gemma4;
mod generic;
mod gpt;
mod gpt_oss;
mod hybrid;
mod latent;
mod llama;
mod llama4;
mod mixture;
mod spans;
mod tower_qwen;
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
        "mixtral" => mixture::mixtral,
        "minimax_m2" => mixture::minimax_m2,
        "qwen2_moe" => mixture::qwen2_moe,
        "qwen3_moe" => mixture::qwen3_moe,
        "glm4_moe" => mixture::glm4_moe,
        "qwen3_next" => hybrid::qwen3_next,
        "qwen3_5" => hybrid::qwen3_5,
        "qwen3_5_text" => hybrid::qwen3_5_text,
        "qwen3_5_moe" => hybrid::qwen3_5_moe,
        "qwen3_5_moe_text" => hybrid::qwen3_5_moe_text,
        "deepseek_v2" => deepseek::v2,
        "deepseek_v3" => deepseek::v3,
        "deepseek_v32" => deepseek::v32,
        "deepseek_v4" => deepseek_v4::graph,
        "kimi_k2" => deepseek::kimi_k2,
        "glm_moe_dsa" => deepseek::glm_moe_dsa,
        _ => return None,
    })
}

/// Whether a family has a reader of its own.
pub(crate) fn knows(family: &str) -> bool {
    reader(family).is_some()
}

/// Reads a config of any language model. A family without a reader is read by its usual keys, with less certainty.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let read = fields.text("model_type").and_then(reader).unwrap_or(generic::graph);
    read(fields, name)
}
