//! What the readers say about folders: an index without shards, a diffusers pipeline, a download cache.

use hob_model::{Certainty, MemoryFiles, ModelGraph, ModelKind, Origin, read_model};

use crate::samples::{LLAMA_CONFIG, LLAMA_PARAMETERS, llama_safetensors};
use crate::writers::{safetensors, shard_index};

fn read(files: &MemoryFiles, source: &str) -> ModelGraph {
    read_model(source, files).unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn stored_bytes(graph: &ModelGraph) -> u64 {
    graph.stored.as_ref().unwrap().bytes.values().map(|bytes| bytes.0).sum()
}

#[test]
fn an_index_alone_gives_the_bytes_when_a_config_gives_the_shapes() {
    let text =
        shard_index(2 * LLAMA_PARAMETERS, &[("a.weight", "model-1.safetensors"), ("b.weight", "model-2.safetensors")]);
    let files = MemoryFiles::new().with("m/model.safetensors.index.json", text.as_bytes());
    let error = read_model("m", &files).unwrap_err().to_string();
    assert!(error.contains("neither its shards nor a config.json"), "{error}");
    let files = files.with("m/config.json", LLAMA_CONFIG.as_bytes());
    for source in ["m", "m/model.safetensors.index.json"] {
        let graph = read(&files, source);
        assert_eq!((graph.parameters(), stored_bytes(&graph)), (LLAMA_PARAMETERS, 2 * LLAMA_PARAMETERS));
        assert!(graph.unknowns.iter().any(|note| note.what.contains("2 of 2 shards")), "{:?}", graph.unknowns);
    }
}

#[test]
fn a_pipeline_folder_is_its_denoiser() {
    let pipeline = r#"{"_class_name":"FluxPipeline","transformer":["diffusers","FluxTransformer2DModel"],
        "text_encoder":["transformers","CLIPTextModel"],"vae":["diffusers","AutoencoderKL"],"image_encoder":[null,null]}"#;
    let denoiser = r#"{"_class_name":"FluxTransformer2DModel","num_attention_heads":2,"attention_head_dim":32,
        "num_layers":1,"num_single_layers":1,"in_channels":64,"joint_attention_dim":48,"pooled_projection_dim":24}"#;
    let files = MemoryFiles::new()
        .with("flux/model_index.json", pipeline.as_bytes())
        .with("flux/transformer/config.json", denoiser.as_bytes())
        .with("flux/text_encoder/config.json", b"not looked at".as_slice())
        .with(
            "flux/transformer/diffusion_pytorch_model.safetensors",
            safetensors(&[("x_embedder.weight", "BF16", &[64, 64], 8_192)]),
        );
    for source in ["flux", "flux/model_index.json"] {
        let graph = read(&files, source);
        assert_eq!(
            (graph.name.as_str(), graph.kind, graph.origin),
            ("flux", ModelKind::DiffusionImage, Origin::Safetensors)
        );
        assert_eq!(stored_bytes(&graph), 8_192);
        assert!(graph.unknowns.iter().any(|note| note.what.starts_with("parameter count")), "{:?}", graph.unknowns);
    }
    let broken =
        MemoryFiles::new().with("flux/model_index.json", br#"{"vae":["diffusers","AutoencoderKL"]}"#.as_slice());
    let error = read_model("flux", &broken).unwrap_err().to_string();
    assert!(error.contains("no transformer and no unet"), "{error}");
}

#[test]
fn a_cache_folder_leads_to_its_one_snapshot() {
    let files = MemoryFiles::new().with("models--a--b/snapshots/0f/config.json", LLAMA_CONFIG.as_bytes());
    assert_eq!(read(&files, "models--a--b").parameters(), LLAMA_PARAMETERS);
    let two = files.with("models--a--b/snapshots/1f/config.json", LLAMA_CONFIG.as_bytes());
    assert!(read_model("models--a--b", &two).unwrap_err().to_string().contains("name one of them"));
}

#[test]
fn weights_beside_a_broken_config_speak_for_themselves() {
    let files =
        MemoryFiles::new().with("m/config.json", b"{".as_slice()).with("m/model.safetensors", llama_safetensors());
    for source in ["m", "m/model.safetensors"] {
        let graph = read(&files, source);
        assert_eq!((graph.parameters(), graph.certainty), (LLAMA_PARAMETERS, Certainty::Inferred));
        assert!(graph.unknowns.iter().any(|note| note.what.contains("config.json")), "{:?}", graph.unknowns);
    }
    let index = shard_index(100, &[("a.weight", "model-1.safetensors")]);
    let files = MemoryFiles::new()
        .with("m/config.json", b"{".as_slice())
        .with("m/model.safetensors.index.json", index.as_bytes());
    assert!(read_model("m", &files).unwrap_err().to_string().contains("config.json"));
}
