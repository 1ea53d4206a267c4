//! The model that a row names, and how its weights are stored.

use std::sync::Arc;

use hob_estimate::WeightFormat;
use hob_model::{Dtype, ModelGraph, OpKind, PartRole, Site, graph_from_config, preset};
use serde_json::json;

use crate::library::Library;
use crate::question::{Unanswered, Unsayable};
use crate::table::Row;

/// Names of models with the shapes of a preset of another name.
const ALIASES: [(&str, &str); 3] =
    [("llama-7b", "llama2-7b"), ("llama-13b", "llama2-13b"), ("moonshotai/Kimi-K2.5", "kimi-k2")];
/// A config made of columns must meet the stated parameter count this closely, or the family is another one.
const COUNT_NEAR: f64 = 0.06;
/// Families that the columns are tried as: gated feed-forward, plain feed-forward, and parallel blocks with one
/// key-value head group.
const FAMILIES: [&str; 4] = ["llama", "gpt_neox", "phi", "falcon"];

/// A model with its storage.
pub(crate) struct Served {
    pub(crate) graph: Arc<ModelGraph>,
    pub(crate) weights: WeightFormat,
    /// Whether its matrices have 8 bits or fewer in floats.
    pub(crate) small_floats: bool,
}

/// The row's model in the row's precision.
pub(crate) fn served(row: &Row, library: &mut Library<'_>) -> Result<Served, Unanswered> {
    let precision = row.text("precision").to_lowercase();
    let storage = Storage::read(&precision)?;
    let plain = graph(row, library)?;
    let own = plain.quantization.as_ref().map(|quantization| quantization.dtype);
    let (graph, weights) = match storage {
        Storage::Stored => (plain, WeightFormat::AsStored),
        // The checkpoint's own list of 16-bit modules is truer than a rule.
        Storage::As(format) if own.is_some_and(|own| is_same(format, own)) => (plain, WeightFormat::AsStored),
        Storage::As(format) if carries_head(&precision) => {
            let key = format!("{} with a head of its own", row.text("model"));
            (library.model(&key, || Some(untied(&plain)))?, format)
        }
        Storage::As(format) => (plain, format),
        Storage::Packed(types) => {
            let key = format!("{} stored as {precision}", row.text("model"));
            let packed = library.model(&key, || Some(repacked(&plain, types)))?;
            (packed, WeightFormat::AsStored)
        }
    };
    let small_floats = match weights {
        WeightFormat::AsStored => own.is_some_and(|own| own.bits() < 9.0),
        WeightFormat::Fp8 | WeightFormat::Fp4 => true,
        WeightFormat::Half | WeightFormat::Int8 | WeightFormat::Int4 => false,
    };
    Ok(Served { graph, weights, small_floats })
}

/// What a precision text says about weights.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Storage {
    Stored,
    As(WeightFormat),
    /// Packed types with 16-bit arithmetic.
    Packed(PackedTypes),
}

/// Storage by place.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PackedTypes {
    layers: Dtype,
    /// The feed-forward output, which llama.cpp's mixes store wider.
    down: Dtype,
    embedding: Dtype,
    head: Dtype,
}

impl Storage {
    fn read(precision: &str) -> Result<Self, Unanswered> {
        let half = Dtype::Bf16;
        let layers = |dtype| Self::Packed(PackedTypes { layers: dtype, down: dtype, embedding: half, head: half });
        let mixed = |dtype, down| Self::Packed(PackedTypes { layers: dtype, down, embedding: dtype, head: Dtype::Q6K });
        Ok(match precision {
            "checkpoint default" => Self::Stored,
            "bf16" | "fp16" | "f16" | "bf16-true" => Self::As(WeightFormat::Half),
            "fp8" | "fp8/bf16" => Self::As(WeightFormat::Fp8),
            "int8" | "w8a8" => Self::As(WeightFormat::Int8),
            "fp4" | "mxfp4" | "nvfp4" => Self::As(WeightFormat::Fp4),
            "int4" | "awq" | "awq-int4" | "gptq-int4" | "w4a16" => Self::As(WeightFormat::Int4),
            // Eight bits and a scale a group, multiplied in 16 bits.
            "gptq-int8" | "w8a16" => layers(Dtype::Q8_0),
            "bnb.nf4" => layers(Dtype::Nf4),
            "bnb.nf4-dq" => layers(Dtype::Nf4Double),
            // Mixes of llama.cpp: `K_M` stores half of the feed-forward outputs in six bits, 5.5 on average.
            "q2_k" => mixed(Dtype::Q2K, Dtype::Q3K),
            "q3_k_s" => mixed(Dtype::Q3K, Dtype::Q3K),
            "q4_0" => mixed(Dtype::Q4_0, Dtype::Q4_0),
            "q4_1" => mixed(Dtype::Q4_1, Dtype::Q4_1),
            "q4_k_s" => mixed(Dtype::Q4K, Dtype::Q4K),
            "q4_k_m" => mixed(Dtype::Q4K, Dtype::Q5K),
            "q5_0" => mixed(Dtype::Q5_0, Dtype::Q5_0),
            "" => return Err(Unanswered::Missing { column: "precision" }),
            other => return Err(Unanswered::Outside { what: Unsayable::Precision { name: other.to_owned() } }),
        })
    }
}

fn is_same(format: WeightFormat, stored: Dtype) -> bool {
    match format {
        WeightFormat::Fp8 => matches!(stored, Dtype::F8E4m3 | Dtype::F8E5m2),
        WeightFormat::Int8 => stored == Dtype::I8,
        WeightFormat::Fp4 => matches!(stored, Dtype::Mxfp4 | Dtype::Nvfp4 | Dtype::F4E2m1),
        WeightFormat::Int4 => matches!(stored, Dtype::Int4Group(_)),
        WeightFormat::AsStored | WeightFormat::Half => false,
    }
}

/// Published AWQ and FP8 checkpoints store the head beside the embedding, also where the model ties them.
fn carries_head(precision: &str) -> bool {
    precision.starts_with("awq") || precision == "fp8"
}

fn untied(graph: &ModelGraph) -> ModelGraph {
    let mut graph = graph.clone();
    for op in graph.parts.iter_mut().flat_map(|part| &mut part.blocks).flat_map(|block| &mut block.ops) {
        op.tied = false;
    }
    graph
}

/// The graph with its matrices stored so.
fn repacked(graph: &ModelGraph, types: PackedTypes) -> ModelGraph {
    let mut graph = graph.clone();
    graph.quantization = None;
    graph.stored = None;
    for part in &mut graph.parts {
        let decodes = part.role == PartRole::Decoder;
        for op in part.blocks.iter_mut().flat_map(|block| &mut block.ops) {
            match op.site {
                Site::Embedding => op.dtype = types.embedding,
                Site::Head => op.dtype = types.head,
                Site::MlpOutput if decodes => op.dtype = types.down,
                _ if decodes && matches!(op.kind, OpKind::Linear { .. }) => op.dtype = types.layers,
                _ => {}
            }
        }
    }
    graph
}

/// The preset of the name, or a graph from the row's sizes.
fn graph(row: &Row, library: &mut Library<'_>) -> Result<Arc<ModelGraph>, Unanswered> {
    let name = row.text("model");
    let known = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, known)| known);
    library.model(name, || preset(known).and_then(|preset| preset.graph().ok()).or_else(|| from_columns(row)))
}

/// A config of the columns in the family whose parameter count is nearest to the stated one.
fn from_columns(row: &Row) -> Option<ModelGraph> {
    let stated = row.positive("params_b")? * 1e9;
    let size = |column| row.count(column);
    let (hidden, layers, heads) = (size("hidden")?, size("layers")?, size("heads")?);
    let graphs = FAMILIES.iter().filter_map(|family| {
        let config = json!({
            "model_type": family,
            "hidden_size": hidden,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "num_key_value_heads": size("kv_heads").unwrap_or(heads),
            "num_kv_heads": size("kv_heads").unwrap_or(heads),
            "new_decoder_architecture": true,
            "intermediate_size": size("ffn"),
            "ffn_hidden_size": size("ffn"),
            "vocab_size": size("vocab"),
            "tie_word_embeddings": false,
            "torch_dtype": "bfloat16",
        });
        graph_from_config("columns", row.text("model"), &config).ok()
    });
    let off = |graph: &ModelGraph| (graph.parameters() as f64 / stated - 1.0).abs();
    graphs.filter(|graph| off(graph) < COUNT_NEAR).min_by(|a, b| off(a).total_cmp(&off(b)))
}
