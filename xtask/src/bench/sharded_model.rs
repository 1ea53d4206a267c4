//! Model folders as large as a published 400B model, made for the bench: config, index and shard headers are complete,
//! the weights themselves are holes, so that the folder takes megabytes on disk and not terabytes.
//!
//! Shapes follow the published configs of Llama 3.1 405B and Qwen3-Coder 480B-A35B; the bench fails when `hob inspect`
//! does not find their published parameter counts.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use crate::bench::Ground;
use crate::bench::processes::repeat;
use crate::bench::timing::Timing;
use crate::command::run_bounded;

const RUNS: usize = 20;
const INSPECT_LIMIT: Duration = Duration::from_secs(120);
/// Shard size of published checkpoints of this kind.
const SHARD_BYTES_MAX: u64 = 5_000_000_000;
const BF16_BYTES: u64 = 2;

struct Tensor {
    name: String,
    shape: Vec<u64>,
}

impl Tensor {
    fn new(name: impl Into<String>, shape: &[u64]) -> Tensor {
        Tensor { name: name.into(), shape: shape.to_vec() }
    }

    fn parameters(&self) -> u64 {
        self.shape.iter().product()
    }
}

struct Model {
    folder: &'static str,
    config: Value,
    tensors: Vec<Tensor>,
    published_parameters: u64,
}

/// Times `hob inspect FOLDER --json` on both models.
pub fn inspect(ground: &Ground) -> Result<Vec<Timing>> {
    let root = ground.workspace.target.join("bench-models");
    let timings = inspect_under(ground, &root);
    if root.exists() {
        fs::remove_dir_all(&root).with_context(|| format!("could not remove {}", root.display()))?;
    }
    timings
}

fn inspect_under(ground: &Ground, root: &Path) -> Result<Vec<Timing>> {
    let mut timings = Vec::new();
    for model in [llama_405b(), qwen_480b()] {
        let folder = root.join(model.folder);
        let shards = write(&folder, &model)?;
        let arguments: Vec<OsString> = vec!["inspect".into(), folder.into_os_string(), "--json".into()];
        let printed = run_bounded(&ground.hob, &arguments, INSPECT_LIMIT)?;
        if printed.code != Some(0) {
            bail!("`hob inspect` on {} ended with {:?}\n{}", model.folder, printed.code, printed.stderr.trim_end());
        }
        let document: Value = serde_json::from_slice(&printed.stdout).context("`hob inspect` did not print JSON")?;
        if !holds(&document, model.published_parameters) {
            bail!("`hob inspect` does not find the {} parameters of {}", model.published_parameters, model.folder);
        }
        let durations = repeat(&ground.hob, &arguments, ground.runs.unwrap_or(RUNS))?;
        let case = format!("{}: {} tensors, {shards} shards", model.folder, model.tensors.len());
        timings.push(Timing::of_durations("inspect-400b", case, &durations));
    }
    Ok(timings)
}

/// Whether the number stands anywhere in the document.
fn holds(document: &Value, number: u64) -> bool {
    match document {
        Value::Number(found) => found.as_u64() == Some(number),
        Value::Array(items) => items.iter().any(|item| holds(item, number)),
        Value::Object(fields) => fields.values().any(|field| holds(field, number)),
        _ => false,
    }
}

/// Writes config, index and shards; gives the number of shards.
fn write(folder: &Path, model: &Model) -> Result<usize> {
    fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    let shards = split(&model.tensors);
    let mut weight_map = Map::new();
    for (position, shard) in shards.iter().enumerate() {
        let name = format!("model-{:05}-of-{:05}.safetensors", position + 1, shards.len());
        write_shard(&folder.join(&name), shard)?;
        weight_map.extend(shard.iter().map(|tensor| (tensor.name.clone(), Value::from(name.as_str()))));
    }
    let bytes: u64 = model.tensors.iter().map(|tensor| tensor.parameters() * BF16_BYTES).sum();
    let index = json!({ "metadata": { "total_size": bytes }, "weight_map": weight_map });
    fs::write(folder.join("model.safetensors.index.json"), serde_json::to_vec(&index)?)?;
    fs::write(folder.join("config.json"), serde_json::to_vec_pretty(&model.config)?)?;
    Ok(shards.len())
}

fn split(tensors: &[Tensor]) -> Vec<&[Tensor]> {
    let mut shards = Vec::new();
    let (mut begin, mut bytes) = (0, 0);
    for (position, tensor) in tensors.iter().enumerate() {
        let more = tensor.parameters() * BF16_BYTES;
        if bytes + more > SHARD_BYTES_MAX && position > begin {
            shards.extend(tensors.get(begin..position));
            (begin, bytes) = (position, 0);
        }
        bytes += more;
    }
    shards.extend(tensors.get(begin..));
    shards
}

/// A safetensors file: header length, header, and a hole as long as the weights.
fn write_shard(path: &Path, tensors: &[Tensor]) -> Result<()> {
    let mut header = Map::new();
    header.insert("__metadata__".to_owned(), json!({ "format": "pt" }));
    let mut offset = 0;
    for tensor in tensors {
        let end = offset + tensor.parameters() * BF16_BYTES;
        header.insert(
            tensor.name.clone(),
            json!({ "dtype": "BF16", "shape": tensor.shape, "data_offsets": [offset, end] }),
        );
        offset = end;
    }
    let header = serde_json::to_vec(&header)?;
    let mut file = File::create(path).with_context(|| format!("could not write {}", path.display()))?;
    file.write_all(&(header.len() as u64).to_le_bytes())?;
    file.write_all(&header)?;
    file.set_len(8 + header.len() as u64 + offset).with_context(|| format!("could not extend {}", path.display()))
}

fn llama_405b() -> Model {
    let (layers, hidden, inner, key_value, vocabulary) = (126, 16_384, 53_248, 8 * 128, 128_256);
    let mut tensors = vec![Tensor::new("model.embed_tokens.weight", &[vocabulary, hidden])];
    for layer in 0..layers {
        let mut add =
            |name: &str, shape: &[u64]| tensors.push(Tensor::new(format!("model.layers.{layer}.{name}"), shape));
        add("input_layernorm.weight", &[hidden]);
        add("self_attn.q_proj.weight", &[hidden, hidden]);
        add("self_attn.k_proj.weight", &[key_value, hidden]);
        add("self_attn.v_proj.weight", &[key_value, hidden]);
        add("self_attn.o_proj.weight", &[hidden, hidden]);
        add("post_attention_layernorm.weight", &[hidden]);
        add("mlp.gate_proj.weight", &[inner, hidden]);
        add("mlp.up_proj.weight", &[inner, hidden]);
        add("mlp.down_proj.weight", &[hidden, inner]);
    }
    tensors.push(Tensor::new("model.norm.weight", &[hidden]));
    tensors.push(Tensor::new("lm_head.weight", &[vocabulary, hidden]));
    let config = json!({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16",
        "hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": layers, "num_attention_heads": 128,
        "num_key_value_heads": 8, "vocab_size": vocabulary, "max_position_embeddings": 131_072,
        "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 500_000.0, "tie_word_embeddings": false,
    });
    Model { folder: "llama-3.1-405b", config, tensors, published_parameters: 405_853_388_800 }
}

fn qwen_480b() -> Model {
    let (layers, experts, hidden, inner, head, vocabulary) = (62, 160, 6_144, 2_560, 128, 151_936);
    let (query, key_value) = (96 * head, 8 * head);
    let mut tensors = vec![Tensor::new("model.embed_tokens.weight", &[vocabulary, hidden])];
    for layer in 0..layers {
        let mut add =
            |name: &str, shape: &[u64]| tensors.push(Tensor::new(format!("model.layers.{layer}.{name}"), shape));
        add("input_layernorm.weight", &[hidden]);
        add("self_attn.q_proj.weight", &[query, hidden]);
        add("self_attn.k_proj.weight", &[key_value, hidden]);
        add("self_attn.v_proj.weight", &[key_value, hidden]);
        add("self_attn.o_proj.weight", &[hidden, query]);
        add("self_attn.q_norm.weight", &[head]);
        add("self_attn.k_norm.weight", &[head]);
        add("post_attention_layernorm.weight", &[hidden]);
        add("mlp.gate.weight", &[experts, hidden]);
        for expert in 0..experts {
            add(&format!("mlp.experts.{expert}.gate_proj.weight"), &[inner, hidden]);
            add(&format!("mlp.experts.{expert}.up_proj.weight"), &[inner, hidden]);
            add(&format!("mlp.experts.{expert}.down_proj.weight"), &[hidden, inner]);
        }
    }
    tensors.push(Tensor::new("model.norm.weight", &[hidden]));
    tensors.push(Tensor::new("lm_head.weight", &[vocabulary, hidden]));
    let config = json!({
        "architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "torch_dtype": "bfloat16",
        "hidden_size": hidden, "intermediate_size": 8_192, "moe_intermediate_size": inner, "num_hidden_layers": layers,
        "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": head, "num_experts": experts,
        "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [], "norm_topk_prob": true,
        "vocab_size": vocabulary, "max_position_embeddings": 262_144, "hidden_act": "silu", "rms_norm_eps": 1e-6,
        "rope_theta": 10_000_000, "tie_word_embeddings": false, "use_qk_norm": true,
    });
    Model { folder: "qwen3-coder-480b-a35b", config, tensors, published_parameters: 480_154_875_392 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_models_have_the_published_parameter_counts() {
        for model in [llama_405b(), qwen_480b()] {
            let parameters: u64 = model.tensors.iter().map(Tensor::parameters).sum();
            assert_eq!(parameters, model.published_parameters, "{}", model.folder);
        }
    }

    #[test]
    fn shards_hold_every_tensor_once_and_stay_under_the_bound() {
        let model = qwen_480b();
        let shards = split(&model.tensors);
        assert_eq!(shards.iter().map(|shard| shard.len()).sum::<usize>(), model.tensors.len());
        for shard in shards {
            let bytes: u64 = shard.iter().map(|tensor| tensor.parameters() * BF16_BYTES).sum();
            assert!(bytes <= SHARD_BYTES_MAX || shard.len() == 1);
        }
    }
}
