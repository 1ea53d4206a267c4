//! The `quantization_config` of a checkpoint: which operators it stores in which format. Reads no weight.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::fields::Fields;
use crate::dtype::Dtype;
use crate::graph::{ModelGraph, OpKind, Operator, Part, PartRole, Quantization, Site, Unknown};

/// Group of a scheme with one scale for each row: the scale's share of a weight is then next to nothing.
const WHOLE_ROW: u16 = u16::MAX;
/// Patterns of modules that are looked at; the longest published lists name a few modules for each of 100 layers.
const PATTERNS_MAX: usize = 4096;

/// Which operators a method quantises when nothing is excluded. Heads, routers, embeddings and norms never are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Experts' matrices.
    Experts,
    /// Matrices of the decoder's layers.
    Layers,
    /// Matrices of the layers of all parts.
    Everywhere,
}

struct Scheme {
    method: String,
    dtype: Dtype,
    scope: Scope,
    quantised_activations: bool,
}

/// Gives the operators of `graph` the storage types that the file says.
pub(super) fn apply(fields: &Fields<'_>, graph: &mut ModelGraph) {
    let text = fields.nested("text_config");
    for object in [Some(*fields), text].into_iter().flatten() {
        let Some(config) = object.nested("quantization_config").or_else(|| object.nested("compression_config")) else {
            continue;
        };
        match scheme(&config, graph) {
            Some(scheme) => store(&config, &scheme, graph),
            None => {
                let method: String = config.text("quant_method").unwrap_or("unnamed").chars().take(60).collect();
                let consequence = format!("`{method}` is not known; weights are counted at 16 bits");
                graph.unknowns.push(config.unknown("quant_method", consequence));
            }
        }
        break;
    }
    // DeepSeek V4 keeps the experts in four bits beside the file's eight.
    let expert_type = text.and_then(|text| text.text("expert_dtype")).or_else(|| fields.text("expert_dtype"));
    if expert_type == Some("fp4") {
        for op in operators(graph).filter(|op| op.copies > 1 && is_matrix(op)) {
            op.dtype = Dtype::Mxfp4;
        }
    }
}

fn operators(graph: &mut ModelGraph) -> impl Iterator<Item = &mut Operator> {
    graph.parts.iter_mut().flat_map(|part| &mut part.blocks).flat_map(|block| &mut block.ops)
}

/// A matrix of a layer; what methods call a linear module.
fn is_matrix(op: &Operator) -> bool {
    let is_in_layer = matches!(
        op.site,
        Site::AttentionInput
            | Site::AttentionOutput
            | Site::MlpInput
            | Site::MlpOutput
            | Site::Indexer
            | Site::Modulation
    );
    is_in_layer && matches!(op.kind, OpKind::Linear { .. })
}

/// The method and its format; `None` when it is not known.
fn scheme(config: &Fields<'_>, graph: &mut ModelGraph) -> Option<Scheme> {
    let method = config.text("quant_method")?;
    let (dtype, scope, quantised_activations) = match method {
        "fp8" | "fbgemm_fp8" => {
            let is_e5m2 = config.text("fmt").is_some_and(|fmt| fmt.contains("e5m2"));
            (if is_e5m2 { Dtype::F8E5m2 } else { Dtype::F8E4m3 }, Scope::Everywhere, true)
        }
        "mxfp4" => (Dtype::Mxfp4, Scope::Experts, false),
        "gptq" | "awq" => (integers(config, &["bits", "w_bit"], graph)?, Scope::Layers, false),
        "bitsandbytes" if config.flag("load_in_8bit", false) => (Dtype::I8, Scope::Everywhere, true),
        "bitsandbytes" if config.flag("bnb_4bit_use_double_quant", false) => {
            (Dtype::Nf4Double, Scope::Everywhere, false)
        }
        "bitsandbytes" => (Dtype::Nf4, Scope::Everywhere, false),
        "compressed-tensors" => {
            let (dtype, activations) = groups(config, graph)?;
            (dtype, Scope::Everywhere, activations)
        }
        "modelopt" | "modelopt_fp4" => match config.text("quant_algo")? {
            "FP8" => (Dtype::F8E4m3, Scope::Everywhere, true),
            "NVFP4" => (Dtype::Nvfp4, Scope::Everywhere, true),
            _ => return None,
        },
        _ => return None,
    };
    Some(Scheme { method: method.to_owned(), dtype, scope, quantised_activations })
}

/// Integers of `bits` with one scale a group.
fn integers(config: &Fields<'_>, bits: &[&str], graph: &mut ModelGraph) -> Option<Dtype> {
    let key = bits.first().copied().unwrap_or("bits");
    match bits.iter().find_map(|key| config.number(key))? as i64 {
        8 => Some(Dtype::I8),
        4 => Some(Dtype::Int4Group(group(config))),
        few @ 1..4 => {
            graph.unknowns.push(config.unknown(key, format!("{few}-bit weights are counted as 4-bit ones")));
            Some(Dtype::Int4Group(group(config)))
        }
        _ => None,
    }
}

/// Elements behind one scale; -1 and absence stand for a whole row.
fn group(config: &Fields<'_>) -> u16 {
    let written = config.number("group_size").or_else(|| config.number("q_group_size"));
    written.filter(|group| *group >= 1.0 && *group < f64::from(WHOLE_ROW)).map_or(WHOLE_ROW, |group| group as u16)
}

/// The format of the first group of compressed-tensors, and whether its inputs are quantised as well.
fn groups(config: &Fields<'_>, graph: &mut ModelGraph) -> Option<(Dtype, bool)> {
    let groups = config.nested("config_groups")?;
    let mut found: Vec<(Dtype, bool)> = Vec::new();
    for key in groups.keys() {
        let group = groups.child(key)?;
        let weights = group.child("weights")?;
        let dtype = match (weights.text("type")?, weights.number("num_bits")? as i64) {
            ("float", 8) => Dtype::F8E4m3,
            ("float", 4) if weights.number("group_size") == Some(32.0) => Dtype::Mxfp4,
            ("float", 4) => Dtype::Nvfp4,
            ("int", _) => integers(&weights, &["num_bits"], graph)?,
            _ => return None,
        };
        found.push((dtype, group.child("input_activations").is_some()));
    }
    if found.iter().any(|(dtype, _)| Some(dtype) != found.first().map(|(first, _)| first)) {
        let consequence = "has groups of several formats; all are counted in the first one";
        graph.unknowns.push(config.unknown("config_groups", consequence));
    }
    found.first().copied()
}

fn store(config: &Fields<'_>, scheme: &Scheme, graph: &mut ModelGraph) {
    let layers = graph.layers();
    let excluded = excluded(config, layers, &mut graph.unknowns);
    for part in &mut graph.parts {
        let role = part.role;
        let is_kept = excluded.iter().any(|pattern| names_part(pattern, part));
        let is_decoder = matches!(role, PartRole::Decoder | PartRole::MultiTokenPrediction);
        for op in part.blocks.iter_mut().flat_map(|block| &mut block.ops) {
            let is_meant = match scheme.scope {
                Scope::Experts => op.copies > 1,
                Scope::Layers => is_decoder,
                Scope::Everywhere => true,
            };
            if is_meant && is_matrix(op) && !is_kept && !excluded.iter().any(|pattern| names_op(pattern, op)) {
                op.dtype = scheme.dtype;
            }
        }
    }
    graph.quantization = Some(Quantization {
        method: scheme.method.clone(),
        dtype: scheme.dtype,
        excluded,
        quantised_activations: scheme.quantised_activations,
        block: config.sizes("weight_block_size").and_then(|sizes| sizes.into_iter().max()),
    });
}

/// The module names that stay as they are, without what stands before the layer's number. A name that is listed for most
/// layers holds for all of them, one that is listed for few holds for none, with a note: layers of one shape are one block.
fn excluded(config: &Fields<'_>, layers: u32, unknowns: &mut Vec<Unknown>) -> Vec<String> {
    let keys = ["modules_to_not_convert", "ignore", "exclude_modules", "llm_int8_skip_modules", "ignored_layers"];
    let mut general: BTreeSet<String> = BTreeSet::new();
    let mut of_layers: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for key in keys {
        for pattern in config.texts(key).unwrap_or_default().into_iter().take(PATTERNS_MAX) {
            match tail(pattern) {
                Some((name, Some(layer))) => {
                    of_layers.entry(name).or_default().insert(layer);
                }
                Some((name, None)) => {
                    general.insert(name);
                }
                None => {
                    let shown: String = pattern.chars().take(60).collect();
                    let consequence = format!("`{shown}` is not understood; what it names is counted as quantised");
                    unknowns.push(config.unknown(key, consequence));
                }
            }
        }
    }
    let (most, few): (BTreeMap<_, _>, BTreeMap<_, _>) =
        of_layers.into_iter().partition(|(_, indices)| indices.len() as u64 * 2 > u64::from(layers));
    if !few.is_empty() {
        let consequence = format!("names {} modules of single layers; they are counted as quantised", few.len());
        unknowns.push(config.unknown("excluded modules", consequence));
    }
    general.extend(most.into_keys());
    general.into_iter().collect()
}

/// The module's name after the layer's number, and that number. Regular expressions that only say "anything before, after
/// or in place of the number" are read as well; others are `None`.
fn tail(pattern: &str) -> Option<(String, Option<u64>)> {
    let plain = pattern.strip_prefix("re:").unwrap_or(pattern).replace("\\d+", "*").replace("\\.", ".");
    let plain = plain.replace(".*", "*.*").replace("**", "*");
    let is_word =
        |part: &str| part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-');
    let mut layer = None;
    let mut words: Vec<&str> = Vec::new();
    for part in plain.trim_start_matches('^').trim_end_matches('$').split('.') {
        let part = part.trim_matches('*');
        if let Ok(index) = part.parse::<u64>() {
            layer = Some(index);
            words.clear();
        } else if part.is_empty() {
            continue;
        } else if !is_word(part) {
            return None;
        } else if matches!(part, "model" | "language_model" | "transformer" | "layers" | "h" | "decoder") {
            words.clear();
        } else {
            words.push(part);
        }
    }
    (!words.is_empty()).then(|| (words.join("."), layer))
}

/// Whether a name's words stand next to each other among the operator's.
fn names_op(pattern: &str, op: &Operator) -> bool {
    let words: Vec<&str> = pattern.split('.').collect();
    let of_op: Vec<&str> = op.name.split('.').collect();
    of_op.windows(words.len()).any(|window| window == words.as_slice())
}

/// Whether a name is a usual one of the whole part.
fn names_part(pattern: &str, part: &Part) -> bool {
    let first = pattern.split('.').next().unwrap_or_default();
    match part.role {
        PartRole::VisionTower => matches!(first, "visual" | "vision_tower" | "vision_model" | "vision_encoder"),
        PartRole::AudioEncoder => matches!(first, "audio_tower" | "audio_model" | "audio_encoder"),
        PartRole::MultiTokenPrediction => matches!(first, "mtp" | "mtp_layers"),
        _ => false,
    }
}

#[cfg(test)]
#[path = "quantization_tests.rs"]
mod tests;
