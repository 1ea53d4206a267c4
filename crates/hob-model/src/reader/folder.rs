//! A model folder: which of its files together are the model.

use std::io::Read;

use crate::error::ModelError;
use crate::graph::{ModelGraph, Origin, Unknown};
use crate::onnx::InputSizes;
use crate::reader::parts::part_number;
use crate::reader::sniff::is_lfs_pointer;
use crate::reader::tensors::{Inventory, TENSORS_MAX};
use crate::reader::{
    ModelFiles, PathKind, diffusers, infer, join, json, read_config_file, split_path, stem, with_weights,
};
use crate::{gguf, onnx, safetensors};

/// Absent shards that are named one by one; the rest is counted.
const ABSENT_NAMED_MAX: usize = 3;

/// Reads a folder.
pub(crate) fn read_folder(folder: &str, files: &dyn ModelFiles) -> Result<ModelGraph, ModelError> {
    let names = files.list(folder)?;
    let has = |name: &str| names.iter().any(|known| known == name);
    let name = folder_name(folder);
    if has("model_index.json") {
        return diffusers::read_pipeline(folder, name, files);
    }
    let weights = weights_of(folder, &names, files)?;
    let ggufs = with_extension(&names, ".gguf");
    if has("config.json") {
        let read = read_config_file(&join(folder, "config.json"), name, files);
        return match (read, weights) {
            (Err(error), Some(inventory)) if inventory.tensors.is_empty() => Err(error),
            (read, Some(inventory)) => Ok(with_weights(read, name, inventory)),
            // Quantisers ship a stub of a config beside their GGUF files.
            (Err(_), None) if !ggufs.is_empty() => read_ggufs(folder, &ggufs, files),
            (read, None) => read,
        };
    }
    if let Some(inventory) = weights {
        if inventory.tensors.is_empty() {
            return Err(nothing(folder, "there is a safetensors index, but neither its shards nor a config.json"));
        }
        return Ok(infer::infer(name, "unknown", Origin::Safetensors, inventory, infer::Hints::default()));
    }
    if !ggufs.is_empty() {
        return read_ggufs(folder, &ggufs, files);
    }
    let onnxes = with_extension(&names, ".onnx");
    match onnxes.iter().find(|name| **name == "model.onnx").or(onnxes.first()) {
        Some(file) if onnxes.len() == 1 || *file == "model.onnx" => {
            let path = join(folder, file);
            onnx::read_onnx(&path, name, files.open(&path)?, InputSizes::default())
        }
        Some(_) => Err(several(folder, &onnxes)),
        None => snapshot(folder, &names, files),
    }
}

/// A folder of the Hugging Face cache (`models--org--name`) holds its snapshots one level down.
fn snapshot(folder: &str, names: &[String], files: &dyn ModelFiles) -> Result<ModelGraph, ModelError> {
    let snapshots = join(folder, "snapshots");
    if names.iter().any(|name| name == "snapshots") && files.kind(&snapshots) == PathKind::Folder {
        let revisions = files.list(&snapshots)?;
        return match revisions.as_slice() {
            [one] => read_folder(&join(&snapshots, one), files),
            [] => Err(nothing(&snapshots, "the folder is empty")),
            _ => Err(several(&snapshots, &revisions.iter().map(String::as_str).collect::<Vec<_>>())),
        };
    }
    Err(nothing(folder, "it holds no config.json, model_index.json, safetensors, GGUF or ONNX file"))
}

fn folder_name(folder: &str) -> &str {
    match split_path(folder).1 {
        "" | "." | ".." => "model",
        name => name,
    }
}

fn nothing(folder: &str, why: &str) -> ModelError {
    ModelError::Malformed { path: folder.to_owned(), format: "model folder", why: why.to_owned() }
}

fn several(folder: &str, names: &[&str]) -> ModelError {
    let shown: Vec<&str> = names.iter().take(5).copied().collect();
    nothing(folder, &format!("it holds {} models ({}...); name one of them", names.len(), shown.join(", ")))
}

fn with_extension<'n>(names: &'n [String], extension: &str) -> Vec<&'n str> {
    names.iter().map(String::as_str).filter(|name| name.ends_with(extension) && !name.starts_with('.')).collect()
}

/// One GGUF file, or the parts of one (`name-00001-of-00003.gguf`).
fn read_ggufs(folder: &str, names: &[&str], files: &dyn ModelFiles) -> Result<ModelGraph, ModelError> {
    let firsts: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !name.starts_with("mmproj"))
        .filter(|name| part_number(name).is_none_or(|number| number == 1))
        .collect();
    match firsts.as_slice() {
        [one] => {
            let path = join(folder, one);
            gguf::read_gguf(&path, stem(one), files)
        }
        _ => Err(several(folder, names)),
    }
}

/// The tensors of a folder's safetensors or, for their size alone, of its PyTorch index. `None` when there are none.
pub(crate) fn weights_of(
    folder: &str,
    names: &[String],
    files: &dyn ModelFiles,
) -> Result<Option<Inventory>, ModelError> {
    let indexes = with_extension(names, ".safetensors.index.json");
    let index = indexes.iter().find(|name| **name == "model.safetensors.index.json").or(indexes.first());
    if let Some(index) = index {
        return sharded(folder, index, files).map(Some);
    }
    let tensors = plain_safetensors(names);
    if !tensors.is_empty() {
        return read_all(folder, &tensors, files).map(Some);
    }
    match names.iter().find(|name| *name == "pytorch_model.bin.index.json") {
        Some(index) => sharded(folder, index, files).map(Some),
        None => Ok(None),
    }
}

/// The safetensors files that together are the model: no adapters, and no second precision or layout of the same weights.
fn plain_safetensors(names: &[String]) -> Vec<&str> {
    let all: Vec<&str> = with_extension(names, ".safetensors")
        .into_iter()
        .filter(|name| !name.starts_with("adapter_") && !name.starts_with("optimizer"))
        .collect();
    let begins = |start: &str| all.iter().copied().filter(|name| name.starts_with(start)).collect::<Vec<_>>();
    for start in ["model", "diffusion_pytorch_model", "consolidated"] {
        let found = begins(start);
        let exact = format!("{start}.safetensors");
        if found.contains(&exact.as_str()) {
            return found.into_iter().filter(|name| *name == exact).collect();
        }
        if !found.is_empty() {
            return found;
        }
    }
    all
}

/// Reads an index and the headers of the shards that are there.
fn sharded(folder: &str, index_name: &str, files: &dyn ModelFiles) -> Result<Inventory, ModelError> {
    let path = join(folder, index_name);
    let bytes = json::read_bytes(files, &path, "safetensors index", safetensors::HEADER_BYTES_MAX)?;
    let index = safetensors::read_index(&path, &bytes)?;
    let is_safetensors = |name: &str| name.ends_with(".safetensors");
    let present = |name: &str| is_safetensors(name) && is_whole(&join(folder, name), files);
    let (here, absent): (Vec<&str>, Vec<&str>) =
        index.shards.keys().map(String::as_str).partition(|name| present(name));
    let mut inventory = read_all(folder, &here, files)?;
    let declared: u64 = here.iter().filter_map(|name| index.shards.get(*name)).sum();
    if declared != inventory.tensors.len() as u64 {
        inventory.notes.push(Unknown {
            what: format!("{index_name} names {declared} tensors in the shards that are there"),
            consequence: format!("their headers declare {}, which count", inventory.tensors.len()),
        });
    }
    let seen = inventory.tensors.iter().fold(0_u64, |sum, tensor| sum.saturating_add(tensor.bytes));
    if !absent.is_empty() {
        inventory.unseen_bytes = index.total_bytes.unwrap_or(0).saturating_sub(seen);
        let named: Vec<&str> = absent.iter().take(ABSENT_NAMED_MAX).copied().collect();
        let total = match index.total_bytes {
            Some(total) => format!("their size is taken from the index ({total} bytes in all)"),
            None => "the index states no total size; their size follows the config".to_owned(),
        };
        inventory.notes.push(Unknown {
            what: format!("{} of {} shards not read ({})", absent.len(), index.shards.len(), named.join(", ")),
            consequence: total,
        });
    } else if let Some(total) = index.total_bytes.filter(|total| *total != seen) {
        inventory.notes.push(Unknown {
            what: format!("{index_name}: total size {total}"),
            consequence: format!("the shards hold {seen} bytes, which counts"),
        });
    }
    Ok(inventory)
}

/// Whether a file is there and is more than the pointer that Git LFS leaves.
fn is_whole(path: &str, files: &dyn ModelFiles) -> bool {
    if files.kind(path) != PathKind::File {
        return false;
    }
    let mut start = Vec::new();
    match files.open(path) {
        Ok(file) => file.take(32).read_to_end(&mut start).is_ok() && !is_lfs_pointer(&start),
        Err(_) => false,
    }
}

/// Reads the headers of several files into one list.
fn read_all(folder: &str, names: &[&str], files: &dyn ModelFiles) -> Result<Inventory, ModelError> {
    let mut all = Inventory::default();
    for name in names {
        let path = join(folder, name);
        if !is_whole(&path, files) {
            all.notes.push(Unknown {
                what: format!("{path} is a Git LFS pointer"),
                consequence: "its tensors are not counted; run `git lfs pull`".to_owned(),
            });
            continue;
        }
        let one = safetensors::read_header(&path, files.open(&path)?)?;
        all.tensors.extend(one.tensors);
        all.notes.extend(one.notes);
        if all.tensors.len() as u64 > TENSORS_MAX {
            return Err(ModelError::TooLarge {
                path: folder.to_owned(),
                what: "tensor count",
                claimed: all.tensors.len() as u64,
                limit: TENSORS_MAX,
            });
        }
    }
    Ok(all)
}
