//! Names that people type, and what they must mean.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::{preset, preset_names, similar_presets};

#[test]
fn every_hub_id_and_its_last_part_find_their_own_preset() {
    for hub_id in preset_names() {
        assert_eq!(preset(hub_id).unwrap().hub_id, hub_id);
        assert_eq!(preset(&hub_id.to_uppercase()).unwrap().hub_id, hub_id);
        assert_eq!(preset(hub_id.rsplit('/').next().unwrap()).unwrap().hub_id, hub_id);
    }
}

#[test]
fn names_that_people_type_are_understood() {
    let check = |typed: &str, wanted: Option<&str>| {
        assert_eq!(preset(typed).map(|preset| preset.hub_id), wanted, "{typed}");
    };
    check("qwen2.5-7b", Some("Qwen/Qwen2.5-7B"));
    check("qwen2.5:7b", Some("Qwen/Qwen2.5-7B"));
    check("Qwen 2.5 7B", Some("Qwen/Qwen2.5-7B"));
    check("Qwen/Qwen2.5-7B-Instruct", Some("Qwen/Qwen2.5-7B"));
    check("qwen2-57b", Some("Qwen/Qwen2-57B-A14B"));
    check("llama-3.1-8b-instruct", Some("meta-llama/Meta-Llama-3.1-8B"));
    check("meta-llama/Llama-3.1-8B", Some("meta-llama/Meta-Llama-3.1-8B"));
    check("llama3.1:70b", Some("meta-llama/Meta-Llama-3.1-70B"));
    check("llama2-70b", Some("meta-llama/Llama-2-70b-hf"));
    check("llama_2_7b_chat", Some("meta-llama/Llama-2-7b-hf"));
    check("Llama-3.3-70B", Some("meta-llama/Llama-3.3-70B-Instruct"));
    check("mistral-7b", Some("mistralai/Mistral-7B-v0.1"));
    check("mixtral-8x7b", Some("mistralai/Mixtral-8x7B-v0.1"));
    check("deepseek-v3", Some("deepseek-ai/DeepSeek-V3"));
    check("deepseek-v3-0324", Some("deepseek-ai/DeepSeek-V3"));
    check("deepseek-v3.2", Some("deepseek-ai/DeepSeek-V3.2"));
    check("deepseek-r1", Some("deepseek-ai/DeepSeek-R1"));
    check("kimi-k2", Some("moonshotai/Kimi-K2-Instruct"));
    check("gemma-2-9b-it", Some("google/gemma-2-9b"));
    check("gemma3-27b", Some("google/gemma-3-27b-it"));
    check("phi-3-mini", Some("microsoft/Phi-3-mini-4k-instruct"));
    check("phi4", Some("microsoft/phi-4"));
    check("gpt2", Some("openai-community/gpt2"));
    check("gpt-oss-20b", Some("openai/gpt-oss-20b"));
    check("llama-4-scout", Some("meta-llama/Llama-4-Scout-17B-16E-Instruct"));
    check("whisper large v3", Some("openai/whisper-large-v3"));
    check("sdxl", Some("stabilityai/stable-diffusion-xl-base-1.0"));
    check("stable-diffusion-xl", Some("stabilityai/stable-diffusion-xl-base-1.0"));
    check("flux.1-dev", Some("black-forest-labs/FLUX.1-dev"));
    check("wan2.1-14b", Some("Wan-AI/Wan2.1-T2V-14B-Diffusers"));
    check("yi-34b-chat", Some("01-ai/Yi-34B"));
    check("chatglm3", Some("THUDM/chatglm3-6b"));
    check("llama-3", None);
    check("qwen2.5", None);
    check("llama", None);
    check("llama-8b", None);
    check("405b", None);
    check("7B", None);
    check("", None);
    check("no-such-model-9b", None);
}

#[test]
fn a_near_miss_is_suggested() {
    assert_eq!(similar_presets("Qwen3-8"), ["Qwen/Qwen3-8B", "Qwen/Qwen3-4B", "Qwen/Qwen3-14B"]);
    assert!(similar_presets("zzzzzz").is_empty());
}
