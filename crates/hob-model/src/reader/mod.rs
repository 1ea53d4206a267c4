//! What the user names becomes an operator graph: a folder, a file, a preset, or a bare parameter count.
//!
//! Reads headers and configs, never weights. All access goes through [`ModelFiles`]; every length is checked before memory
//! is reserved for it.

mod access;
pub(crate) mod bounded;
mod diffusers;
mod folder;
pub(crate) mod infer;
mod json;
pub(crate) mod mtp;
pub(crate) mod packed;
pub(crate) mod parts;
mod reconcile;
mod sniff;
mod source;
pub(crate) mod tensors;

pub use access::{FOLDER_ENTRIES_MAX, MemoryFiles, ModelFiles, PathKind, ReadSeek};
pub use source::ModelSource;

pub(crate) use access::{join, split_path};
pub(crate) use reconcile::reconcile;

use serde_json::Value;

use crate::config::graph_from_config;
use crate::error::ModelError;
use crate::graph::{ModelGraph, Origin, Unknown};
use crate::onnx::InputSizes;
use crate::reader::sniff::FileKind;
use crate::reader::tensors::Inventory;
use crate::{gguf, onnx, safetensors};

/// Reads what a user names: a folder, a file, a preset's name or a parameter count such as `7B`.
///
/// # Errors
/// When nothing has that name, or when what is there cannot be read. What is merely not understood is listed in the graph.
pub fn read_model(source: &str, files: &dyn ModelFiles) -> Result<ModelGraph, ModelError> {
    ModelSource::parse(source, files)?.read(files)
}

/// Reads a folder or a file, never a preset.
pub(crate) fn read_path(path: &str, files: &dyn ModelFiles) -> Result<ModelGraph, ModelError> {
    match files.kind(path) {
        PathKind::Folder => folder::read_folder(path, files),
        PathKind::File => read_file(path, files),
        PathKind::Special => {
            Err(ModelError::Unreadable { path: path.to_owned(), why: "neither a regular file nor a folder".to_owned() })
        }
        PathKind::Absent => {
            Err(ModelError::Unreadable { path: path.to_owned(), why: "no such file or folder".to_owned() })
        }
    }
}

fn read_file(path: &str, files: &dyn ModelFiles) -> Result<ModelGraph, ModelError> {
    let (folder, file_name) = split_path(path);
    let stem = stem(file_name);
    match sniff::sniff(path, files)? {
        FileKind::Json if file_name.ends_with(".index.json") => folder::read_folder(folder, files),
        FileKind::Json if file_name == "model_index.json" => folder::read_folder(folder, files),
        FileKind::Json => {
            let name = if file_name == "config.json" { split_path(folder).1 } else { stem };
            read_config_file(path, name, files)
        }
        FileKind::Safetensors => {
            let inventory = safetensors::read_header(path, files.open(path)?)?;
            if inventory.tensors.is_empty() {
                let why = "it declares no tensor, so it holds no model".to_owned();
                return Err(ModelError::Malformed { path: path.to_owned(), format: "safetensors", why });
            }
            let config = join(folder, "config.json");
            if files.kind(&config) == PathKind::File && file_name != "adapter_model.safetensors" {
                return Ok(with_weights(read_config_file(&config, stem, files), stem, inventory));
            }
            Ok(infer::infer(stem, "unknown", Origin::Safetensors, inventory, infer::Hints::default()))
        }
        FileKind::Gguf => gguf::read_gguf(path, stem, files),
        FileKind::Onnx => onnx::read_onnx(path, stem, files.open(path)?, InputSizes::default()),
    }
}

/// A config's graph with its weights, or the weights alone with a note when the config says nothing.
pub(crate) fn with_weights(read: Result<ModelGraph, ModelError>, name: &str, mut inventory: Inventory) -> ModelGraph {
    match read {
        Ok(mut graph) => {
            graph.origin = Origin::Safetensors;
            reconcile(&mut graph, inventory);
            graph
        }
        Err(error) => {
            inventory.notes.push(Unknown {
                what: error.to_string(),
                consequence: "the model is read from its tensors alone".to_owned(),
            });
            infer::infer(name, "unknown", Origin::Safetensors, inventory, infer::Hints::default())
        }
    }
}

/// A graph from a config alone.
pub(crate) fn read_config_file(path: &str, name: &str, files: &dyn ModelFiles) -> Result<ModelGraph, ModelError> {
    let (value, note) = json::read_config(files, path)?;
    let mut graph = graph_of_config(path, name, &value)?;
    graph.unknowns.extend(note);
    Ok(graph)
}

fn graph_of_config(path: &str, name: &str, value: &Value) -> Result<ModelGraph, ModelError> {
    graph_from_config(path, name, value)
}

/// The graph of a config's bytes: what a fuzz target and an upload call.
///
/// # Errors
/// When the text is not a config.
pub fn read_config_bytes(path: &str, name: &str, bytes: &[u8]) -> Result<ModelGraph, ModelError> {
    let (value, note) = json::parse_config(path, bytes)?;
    let mut graph = graph_of_config(path, name, &value)?;
    graph.unknowns.extend(note);
    Ok(graph)
}

/// A file name without its extension.
pub(crate) fn stem(file_name: &str) -> &str {
    match file_name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => file_name,
    }
}
