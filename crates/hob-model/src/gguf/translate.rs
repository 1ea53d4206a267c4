//! GGUF metadata in the words of a Hugging Face config, so that every architecture has one reader.

use serde_json::{Map, Value};

use crate::gguf::metadata::Metadata;
use crate::reader::infer::Hints;
use crate::reader::tensors::Tensor;

/// GGUF architecture -> `model_type`. Sources: llama.cpp `src/llama-arch.cpp`, `convert_hf_to_gguf.py`.
const FAMILIES: &[(&str, &str)] = &[
    ("llama", "llama"),
    ("mistral3", "mistral"),
    ("qwen2", "qwen2"),
    ("qwen2moe", "qwen2_moe"),
    ("qwen3", "qwen3"),
    ("qwen3moe", "qwen3_moe"),
    ("gemma", "gemma"),
    ("gemma2", "gemma2"),
    ("gemma3", "gemma3_text"),
    ("phi2", "phi"),
    ("phi3", "phi3"),
    ("gpt-oss", "gpt_oss"),
    ("deepseek2", "deepseek_v3"),
    ("glm4", "glm4"),
    ("glm4moe", "glm4_moe"),
    ("chatglm", "chatglm"),
    ("falcon", "falcon"),
    ("bloom", "bloom"),
    ("gpt2", "gpt2"),
    ("gptneox", "gpt_neox"),
    ("gptj", "gptj"),
    ("baichuan", "baichuan"),
    ("internlm2", "internlm2"),
    ("minimax-m2", "minimax_m2"),
    ("bert", "bert"),
];

/// GGUF key after the architecture's name -> the config's spellings of it. Readers take the one that they know.
const KEYS: &[(&str, &[&str])] = &[
    ("block_count", &["num_hidden_layers", "n_layer", "num_layers"]),
    ("embedding_length", &["hidden_size", "n_embd"]),
    ("feed_forward_length", &["intermediate_size", "n_inner", "ffn_hidden_size"]),
    ("attention.head_count", &["num_attention_heads", "n_head"]),
    ("attention.head_count_kv", &["num_key_value_heads", "num_kv_heads", "multi_query_group_num"]),
    ("context_length", &["max_position_embeddings", "n_positions", "seq_length"]),
    ("expert_count", &["num_experts", "num_local_experts", "n_routed_experts"]),
    ("expert_used_count", &["num_experts_per_tok"]),
    ("expert_feed_forward_length", &["moe_intermediate_size"]),
    ("expert_shared_count", &["n_shared_experts"]),
    ("expert_shared_feed_forward_length", &["shared_expert_intermediate_size"]),
    ("leading_dense_block_count", &["first_k_dense_replace"]),
    ("attention.sliding_window", &["sliding_window"]),
    ("attention.q_lora_rank", &["q_lora_rank"]),
    ("attention.kv_lora_rank", &["kv_lora_rank"]),
    ("nextn_predict_layers", &["num_nextn_predict_layers"]),
];

/// Spellings of what is not taken over key by key.
const OTHER_SPELLINGS: &[&[&str]] = &[
    &["vocab_size", "padded_vocab_size"],
    &["head_dim", "kv_channels"],
    &["intermediate_size", "moe_intermediate_size"],
];

/// Takes out the spellings that the family's reader did not look at, where it looked at another one of the same size.
/// Whether there were any.
pub(super) fn drop_spellings(config: &mut Value, unread: &[&str]) -> bool {
    let Some(config) = config.as_object_mut() else { return false };
    let groups = KEYS.iter().map(|(_, spellings)| *spellings).chain(OTHER_SPELLINGS.iter().copied());
    let before = config.len();
    for group in groups {
        let read: Vec<Value> =
            group.iter().filter(|key| !unread.contains(key)).filter_map(|key| config.get(*key).cloned()).collect();
        config.retain(|key, size| {
            let is_spare = group.contains(&key.as_str()) && unread.contains(&key.as_str()) && read.contains(size);
            !is_spare
        });
    }
    config.len() < before
}

/// Sizes that the tensors' reader can use when no config reader fits.
pub(super) fn hints(family: &str, metadata: &Metadata) -> Hints {
    let size = |key: &str| metadata.size(&format!("{family}.{key}")).filter(|size| *size > 0 && *size < 1 << 28);
    Hints {
        heads: size("attention.head_count"),
        head_dim: size("attention.key_length_mla").or(size("attention.key_length")),
        experts_active: size("expert_used_count").and_then(|active| u32::try_from(active).ok()),
        context_max: size("context_length"),
    }
}

/// The config, when the architecture has one and its layers do not differ in size.
pub(super) fn config(family: &str, metadata: &Metadata, tensors: &[Tensor]) -> Option<Value> {
    let (_, model_type) = FAMILIES.iter().find(|(known, _)| *known == family)?;
    let key = |name: &str| format!("{family}.{name}");
    let layers_differ = ["attention.head_count", "attention.head_count_kv", "feed_forward_length"];
    if layers_differ.iter().any(|name| metadata.differs_by_layer(&key(name))) {
        return None;
    }
    let mut config = Map::new();
    for (name, spellings) in KEYS {
        if let Some(size) = metadata.size(&key(name)) {
            for spelling in *spellings {
                config.insert((*spelling).to_owned(), size.into());
            }
        }
    }
    // Its number of blocks counts the extra ones for multi-token prediction too.
    if let (Some(blocks), Some(extra)) =
        (metadata.size(&key("block_count")), metadata.size(&key("nextn_predict_layers")))
    {
        for spelling in ["num_hidden_layers", "n_layer", "num_layers"] {
            config.insert(spelling.to_owned(), blocks.saturating_sub(extra).into());
        }
    }
    let experts = metadata.size(&key("expert_count")).filter(|experts| *experts > 0);
    let model_type = if *model_type == "llama" && experts.is_some() { "mixtral" } else { model_type };
    if experts.is_none() {
        for spelling in ["num_experts", "num_local_experts", "n_routed_experts", "num_experts_per_tok"] {
            config.remove(spelling);
        }
    }
    let has = |name: &str| tensors.iter().any(|tensor| tensor.name == name);
    let shape = |name: &str| tensors.iter().find(|tensor| tensor.name == name).map(|tensor| tensor.shape.as_slice());
    if let Some([rows, _]) = shape("token_embd.weight") {
        config.insert("vocab_size".to_owned(), (*rows).into());
        config.insert("padded_vocab_size".to_owned(), (*rows).into());
    }
    if let Some([rows, _]) = shape("position_embd.weight") {
        config.insert("max_position_embeddings".to_owned(), (*rows).into());
        config.insert("n_positions".to_owned(), (*rows).into());
    }
    config.insert("model_type".to_owned(), model_type.into());
    config.insert("torch_dtype".to_owned(), "float16".into());
    config.insert("tie_word_embeddings".to_owned(), (!has("output.weight")).into());
    let has_bias = has("blk.0.attn_q.bias") || has("blk.0.attn_qkv.bias");
    config.insert("attention_bias".to_owned(), has_bias.into());
    config.insert("add_qkv_bias".to_owned(), has_bias.into());
    config.insert("use_qk_norm".to_owned(), has("blk.0.attn_q_norm.weight").into());
    head_widths(family, metadata, &mut config);
    family_keys(family, metadata, &mut config, &has);
    Some(Value::Object(config))
}

/// Widths of heads; latent attention splits them in three.
fn head_widths(family: &str, metadata: &Metadata, config: &mut Map<String, Value>) {
    let size = |name: &str| metadata.size(&format!("{family}.{name}"));
    if size("attention.kv_lora_rank").is_some() {
        let rope = size("rope.dimension_count");
        // Files since 2025 state the widths of the plain form apart from those of the latent form.
        let key = size("attention.key_length_mla").or(size("attention.key_length"));
        let value = size("attention.value_length_mla").or(size("attention.value_length"));
        if let (Some(rope), Some(key), Some(value)) = (rope, key, value) {
            config.insert("qk_rope_head_dim".to_owned(), rope.into());
            config.insert("qk_nope_head_dim".to_owned(), key.saturating_sub(rope).into());
            config.insert("v_head_dim".to_owned(), value.into());
        }
        // A file without a rank for queries has one matrix for them, which configs state as null.
        config.entry("q_lora_rank").or_insert(Value::Null);
        // In the latent form all heads share one key.
        if let Some(heads) = config.get("num_attention_heads").cloned() {
            config.insert("num_key_value_heads".to_owned(), heads);
        }
    } else if let Some(width) = size("attention.key_length") {
        config.insert("head_dim".to_owned(), width.into());
        config.insert("kv_channels".to_owned(), width.into());
    }
}

/// What single families say in their own way.
fn family_keys(family: &str, metadata: &Metadata, config: &mut Map<String, Value>, has: &dyn Fn(&str) -> bool) {
    let size = |name: &str| metadata.size(&format!("{family}.{name}"));
    let mut set = |key: &str, value: Value| {
        config.insert(key.to_owned(), value);
    };
    match family {
        "falcon" => {
            let kv_heads = size("attention.head_count_kv").unwrap_or(1);
            set("multi_query", (kv_heads == 1).into());
            set("new_decoder_architecture", (kv_heads > 1).into());
            set("parallel_attn", true.into());
            set("bias", has("blk.0.attn_qkv.bias").into());
        }
        "phi2" | "gptneox" => {
            let is_parallel = metadata.flag(&format!("{family}.use_parallel_residual")).unwrap_or(true);
            set("use_parallel_residual", is_parallel.into());
        }
        "chatglm" => set("multi_query_attention", true.into()),
        "qwen2moe" | "qwen3moe" => set("decoder_sparse_step", 1.into()),
        "gpt2" => set("tie_word_embeddings", true.into()),
        _ => {}
    }
}
