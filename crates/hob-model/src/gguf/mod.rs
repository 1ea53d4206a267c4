//! GGUF: header, metadata and tensor list. Never reads a weight.
//!
//! Format: ggml `docs/gguf.md`; versions 1 to 3, both byte orders, split files.

mod header;
mod metadata;
mod translate;
mod types;

use serde_json::Value;

use crate::config::graph_from_config;
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Certainty, ModelGraph, Origin, Quantization, Unknown};
use crate::reader::infer::infer;
use crate::reader::packed::weights;
use crate::reader::parts::{part_path, parts_total};
use crate::reader::tensors::Inventory;
use crate::reader::{ModelFiles, PathKind, mtp, reconcile};

use header::{Header, read_header};

/// Share by which the translated config may miss the tensors' sum before the tensors alone are believed.
const COUNT_SHARE_MAX: f64 = 0.05;

/// Reads a GGUF file, with its other parts when it is the first of several.
pub(crate) fn read_gguf(path: &str, name: &str, files: &dyn ModelFiles) -> Result<ModelGraph, ModelError> {
    let mut header = read_header(path, files.open(path)?)?;
    for number in 2..=parts_total(path).unwrap_or(1) {
        let Some(part) = part_path(path, number) else { break };
        if files.kind(&part) != PathKind::File {
            header.inventory.notes.push(Unknown {
                what: format!("part {part} is absent"),
                consequence: "its tensors are not counted".to_owned(),
            });
            continue;
        }
        let other = read_header(&part, files.open(&part)?)?;
        header.inventory.tensors.extend(other.inventory.tensors);
        header.inventory.notes.extend(other.inventory.notes);
    }
    // Vocabularies are published as GGUF files too, and the first of several parts may hold metadata alone.
    if header.inventory.tensors.is_empty() {
        let why = "it declares no tensor, so it holds no model".to_owned();
        return Err(ModelError::Malformed { path: path.to_owned(), format: "GGUF", why });
    }
    Ok(graph(path, name, header))
}

fn graph(path: &str, name: &str, header: Header) -> ModelGraph {
    let Header { metadata, mut inventory } = header;
    let family = metadata.text("general.architecture").unwrap_or("unknown").to_owned();
    let from_config =
        translate::config(&family, &metadata, &inventory.tensors).and_then(|config| of_family(path, name, config));
    let of_tensors = counted(from_config.as_ref(), &mut inventory);
    // The tensors still say enough when the config does not.
    let from_config = from_config.filter(|graph| {
        let share = graph.parameters().abs_diff(of_tensors) as f64 / of_tensors.max(1) as f64;
        share <= COUNT_SHARE_MAX
    });
    let mut graph = match from_config {
        Some(mut graph) => {
            reconcile(&mut graph, inventory);
            graph.unknowns.retain(|note| !note.what.is_empty());
            graph
        }
        None => {
            let hints = translate::hints(&family, &metadata);
            infer(name, &family, Origin::Gguf, inventory, hints)
        }
    };
    graph.origin = Origin::Gguf;
    graph.family = family;
    graph.quantization = quantization(&graph);
    if graph.parameters() == of_tensors && graph.certainty == Certainty::Exact {
        graph.unknowns.retain(|note| !note.what.starts_with("parameter count"));
    }
    graph
}

/// Parameters of the tensors, without extra modules for multi-token prediction where a config says which these are.
fn counted(from_config: Option<&ModelGraph>, inventory: &mut Inventory) -> u64 {
    let extra = from_config.map(|graph| mtp::take(graph, inventory)).unwrap_or_default();
    let parameters = weights(inventory).parameters();
    inventory.tensors.extend(extra.tensors);
    parameters
}

/// The graph of the translated config. Each size is offered in every spelling; those that this family does not know are
/// taken back, so that only what it truly did not understand is listed.
fn of_family(path: &str, name: &str, mut config: Value) -> Option<ModelGraph> {
    loop {
        let graph = graph_from_config(path, name, &config).ok()?;
        let unread: Vec<&str> = graph.unknowns.iter().map(|note| note.what.as_str()).collect();
        // Each turn takes keys out of a config of under a hundred.
        if !translate::drop_spellings(&mut config, &unread) {
            return Some(graph);
        }
    }
}

/// The type that most bytes are stored in, when it is a quantised one.
fn quantization(graph: &ModelGraph) -> Option<Quantization> {
    let stored = graph.stored.as_ref()?;
    let (dtype, _) = stored.bytes.iter().max_by_key(|(_, bytes)| **bytes)?;
    let dtype: Dtype = *dtype;
    dtype.is_quantised().then(|| Quantization {
        method: "gguf".to_owned(),
        dtype,
        excluded: Vec::new(),
        quantised_activations: false,
        block: None,
    })
}
