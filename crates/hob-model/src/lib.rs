//! Model files to one operator graph.
//!
//! Whatever a model came from (a Hugging Face config, safetensors or GGUF headers, an ONNX graph, a preset, a bare
//! parameter count), it becomes one list of operators with shapes. Parameters, bytes, FLOPs and KV cache are folds over
//! that list; there is no second formula for the same quantity. This crate never loads a weight.

mod build;
mod companion;
mod config;
mod dtype;
mod error;
mod files;
mod fold;
mod gguf;
mod graph;
mod onnx;
mod preset;
mod reader;
mod recommender;
mod rough;
mod safetensors;
mod vision_mobile;
mod vision_presets;
mod vision_resnet;
mod vision_yolo;
mod vision_yolo11;

pub use companion::{Companion, DecodeWork, TextWork, Tiling, companions};
pub use config::graph_from_config;
pub use dtype::Dtype;
pub use error::ModelError;
pub use files::DiskFiles;
pub use fold::{ModelSummary, PartSummary};
pub use graph::{
    Attention, Block, Certainty, Extent, KvCache, ModelGraph, ModelKind, NormKind, OpKind, Operator, Origin, Part,
    PartRole, Quantization, Shape, Site, Span, StoredBytes, Unknown,
};
pub use preset::{Preset, preset, preset_names, similar_presets};
pub use reader::{MemoryFiles, ModelFiles, ModelSource, read_config_bytes, read_model};
pub use recommender::{RecommenderSizes, recommender_graph};
pub use rough::graph_from_parameter_count;
pub use vision_presets::{VISION_PRESETS, vision_preset};
