//! Engine family and era out of free text such as `sglang 0.5.6.post2` or `vLLM 0.20.1+transformers-5.8.1`.

use hob_estimate::{Engine, KvFormat};

use crate::question::{Unanswered, Unsayable};

/// What a row says about its engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowEngine {
    pub(crate) engine: Engine,
    /// Major and minor version, where stated.
    version: Option<(u32, u32)>,
    /// A vendor's packaged engine, which stores the KV cache in 8 bits for 8-bit weights.
    packaged: bool,
}

/// From this version on vLLM runs its V1 engine.
const VLLM_V1: (u32, u32) = (0, 8);
/// From this version on SGLang overlaps its scheduler with the GPU by default for all models.
const SGLANG_NEW: (u32, u32) = (0, 5);
/// From this version on TensorRT-LLM recipes store the KV cache in 8 bits.
const TENSORRT_KV8: (u32, u32) = (1, 2);

impl RowEngine {
    pub(crate) fn read(text: &str) -> Result<Self, Unanswered> {
        let lower = text.to_lowercase();
        let version = version(&lower);
        let before = |first: (u32, u32)| version.is_some_and(|version| version < first);
        let has = |word: &str| lower.contains(word);
        let engine = match () {
            // Before `vllm`: NIM and TensorRT-LLM texts name no other engine, vLLM texts may name transformers.
            () if has("trtllm") || has("tensorrt-llm") || has("nim ") => Engine::TensorrtLlm,
            () if has("vllm") && before(VLLM_V1) => Engine::VllmV0,
            () if has("vllm") => Engine::Vllm,
            () if has("sglang") && before(SGLANG_NEW) => Engine::SglangEarlier,
            () if has("sglang") => Engine::Sglang,
            () if has("llama.cpp") => Engine::LlamaCpp,
            () if has("lmdeploy") => Engine::Lmdeploy,
            () if has("transformers") => Engine::Transformers,
            () if has("litgpt") || has("colossalai") => Engine::Pytorch,
            () => return Err(Unanswered::Outside { what: Unsayable::Engine { name: text.to_owned() } }),
        };
        let packaged = has("nim ") || has("pytorch backend");
        Ok(Self { engine, version, packaged })
    }

    /// Storage of the KV cache, which rows do not state: 8 bits where TensorRT-LLM's own recipes choose it.
    pub(crate) fn kv(self, eight_bit_weights: bool) -> KvFormat {
        let recent = self.version.is_some_and(|version| version >= TENSORRT_KV8);
        match self.engine {
            Engine::TensorrtLlm if eight_bit_weights && (self.packaged || recent) => KvFormat::Fp8,
            _ => KvFormat::Half,
        }
    }
}

/// The first `major.minor` of a text.
fn version(text: &str) -> Option<(u32, u32)> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.')).find_map(|number| {
        let mut parts = number.split('.').map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_read_with_their_era() {
        let read = |text: &str| RowEngine::read(text).unwrap();
        let engines = [
            ("vLLM 0.7.3", Engine::VllmV0),
            ("vLLM 0.19.1rc1.dev339+gedc364896", Engine::Vllm),
            ("vLLM 0.20.1+transformers-5.8.1", Engine::Vllm),
            ("1Cat-vLLM 1.0.0+flash_attn_v100-1.0.0", Engine::Vllm),
            ("vllm ", Engine::Vllm),
            ("SGLang 0.4.6.post1", Engine::SglangEarlier),
            ("sglang nightly-dev", Engine::Sglang),
            ("TensorRT-LLM 1.0 PyTorch backend", Engine::TensorrtLlm),
            ("NIM 1.8.0 (TensorRT-LLM)", Engine::TensorrtLlm),
            ("llama.cpp (2024-05)", Engine::LlamaCpp),
            ("HF transformers", Engine::Transformers),
            ("lmdeploy TurboMind 0.2.0", Engine::Lmdeploy),
        ];
        for (text, engine) in engines {
            assert_eq!(read(text).engine, engine, "{text}");
        }
        assert!(RowEngine::read("DeepSeek internal").is_err());
        assert_eq!(read("trtllm 1.3.0rc1").kv(true), KvFormat::Fp8);
        assert_eq!(read("trtllm 1.0.0rc3").kv(true), KvFormat::Half);
        assert_eq!(read("TensorRT-LLM 1.0 PyTorch backend").kv(false), KvFormat::Half);
    }
}
