//! The model of a training row: a preset, else a graph of the sizes that the columns state.

use std::sync::Arc;

use hob_model::{Certainty, ModelGraph, NormKind, OpKind, Site, graph_from_config, preset, vision_preset};
use serde_json::{Value, json};

use crate::library::Library;
use crate::question::Unanswered;
use crate::table::Row;

/// Starts of names of models whose MLP has no gate and whose norms are layer norms.
const PLAIN_MLP: [&str; 9] =
    ["phi-1", "falcon", "stablelm-base", "pythia", "mpt", "gpt", "mt-nlg", "nemotron", "megatron-gpt"];
/// Starts of names of models whose head shares the embedding's table.
const TIED: [&str; 8] = ["mpt", "gpt", "llama3.2-1b", "llama3.2-3b", "gemma", "qwen2.5-3b", "mt-nlg", "megatron-gpt"];
/// Megatron's latent attention where its flags are not stated: query and key of 128 and 64, values of 128, 512 kept.
const LATENT: [(&str, u64); 4] =
    [("kv_lora_rank", 512), ("qk_nope_head_dim", 128), ("qk_rope_head_dim", 64), ("v_head_dim", 128)];

fn starts(name: &str, with: &[&str]) -> bool {
    with.iter().any(|start| name.starts_with(start))
}

/// The graph, built once for each model and set of sizes.
pub(super) fn graph(row: &Row, library: &mut Library<'_>) -> Result<Arc<ModelGraph>, Unanswered> {
    let name = row.text("model");
    let sizes = Sizes::of(row);
    let Some(sizes) = sizes else {
        let plain = name.split("v1.5").next().unwrap_or(name);
        return library.model(name, || vision_preset(plain).or_else(|| preset(name)?.graph().ok()));
    };
    let key = format!("{name} {sizes:?}");
    library.model(&key, || {
        // A preset of another size than the columns state is another model of the same name.
        let known = preset(name).and_then(|preset| preset.graph().ok());
        known.filter(|graph| sizes.agree(graph)).or_else(|| sizes.graph(name))
    })
}

/// What the columns and the note say about a language model.
#[derive(Debug)]
struct Sizes {
    hidden: u32,
    layers: u32,
    heads: u32,
    kv_heads: u32,
    ffn: u32,
    vocabulary: u32,
    gated: bool,
    tied: bool,
    latent: bool,
    /// Experts and how many of them a token visits.
    experts: Option<(u32, u32)>,
}

impl Sizes {
    fn of(row: &Row) -> Option<Self> {
        let name = row.text("model");
        let experts = row.noted("num-experts").zip(row.noted("moe-router-topk"));
        Some(Self {
            hidden: row.count("hidden")?,
            layers: row.count("layers")?,
            heads: row.count("heads")?,
            kv_heads: row.count("kv_heads")?,
            ffn: row.noted("moe-ffn-hidden-size").or_else(|| row.count("ffn"))?,
            vocabulary: row.count("vocab")?,
            gated: row.says("swiglu=true") || !starts(name, &PLAIN_MLP),
            tied: starts(name, &TIED) && !row.says("untie-embeddings"),
            latent: row.says("multi-latent-attention=true"),
            experts,
        })
    }

    fn agree(&self, graph: &ModelGraph) -> bool {
        graph.hidden == Some(u64::from(self.hidden)) && graph.layers() == self.layers
    }

    /// As a config of the family that is built like it.
    fn graph(&self, name: &str) -> Option<ModelGraph> {
        let family = match self.experts {
            _ if self.latent => "unnamed",
            Some(_) => "mixtral",
            None if name.starts_with("bert") => "bert",
            None if self.gated => "llama",
            None => "gpt_neox",
        };
        let mut config = json!({
            "model_type": family,
            "hidden_size": self.hidden,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "intermediate_size": self.ffn,
            "vocab_size": self.vocabulary,
            "tie_word_embeddings": self.tied,
            "use_parallel_residual": starts(name, &["stablelm-base", "pythia"]),
        });
        let fields = config.as_object_mut()?;
        if family == "bert" {
            fields.insert("architectures".to_owned(), json!(["BertForMaskedLM"]));
            fields.insert("max_position_embeddings".to_owned(), json!(512));
        }
        if let Some((experts, active)) = self.experts {
            fields.insert("num_local_experts".to_owned(), json!(experts));
            fields.insert("num_experts_per_tok".to_owned(), json!(active));
        }
        if self.latent {
            fields.extend(LATENT.map(|(key, size)| (key.to_owned(), Value::from(size))));
            if !self.gated {
                fields.insert("hidden_act".to_owned(), json!("gelu"));
            }
        }
        let mut graph = graph_from_config(name, name, &config).ok()?;
        if !self.gated && self.experts.is_some() {
            without_gates(&mut graph);
        }
        // The columns state every size, whatever the family's reader missed.
        graph.certainty = Certainty::Exact;
        Some(graph)
    }
}

/// Takes the gates out of the experts, which no family of Hugging Face lacks: one of two input products goes.
fn without_gates(graph: &mut ModelGraph) {
    for block in graph.parts.iter_mut().flat_map(|part| &mut part.blocks) {
        let mut gates = 0;
        block.ops.retain(|op| {
            let is_input = op.site == Site::MlpInput && op.copies > 1;
            gates += u32::from(is_input);
            !(is_input && gates == 2)
        });
        for op in &mut block.ops {
            match &mut op.kind {
                OpKind::Activation { gated, .. } => *gated = false,
                OpKind::Norm { norm, .. } => *norm = NormKind::Layer,
                _ => {}
            }
        }
    }
}
