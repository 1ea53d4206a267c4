//! What a user may write for a model.

use crate::error::ModelError;
use crate::graph::ModelGraph;
use crate::preset::{preset, similar_presets};
use crate::reader::{ModelFiles, PathKind, read_path};
use crate::rough::graph_from_parameter_count;
use crate::vision_presets::vision_preset;

/// Most parameters that a bare count may claim: a thousand times the largest published model.
const PARAMETERS_MAX: f64 = 1e15;
/// Longest name that is compared with the presets.
const NAME_BYTES_MAX: usize = 200;

/// Where a model comes from, decided once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSource {
    /// A folder or a file that exists.
    Path(String),
    /// A config that ships with Hob.
    Preset(String),
    /// Only a number of parameters.
    ParameterCount {
        /// How many.
        parameters: u64,
    },
}

impl ModelSource {
    /// Decides what a text means. A path that exists wins over a preset of the same name.
    ///
    /// # Errors
    /// When it is no path, no preset and no count.
    pub fn parse(text: &str, files: &dyn ModelFiles) -> Result<Self, ModelError> {
        let text = text.trim();
        if !text.is_empty() && !text.contains('\0') && files.kind(text) != PathKind::Absent {
            return Ok(Self::Path(text.to_owned()));
        }
        if let Some(parameters) = parameter_count(text) {
            return Ok(Self::ParameterCount { parameters });
        }
        if text.len() <= NAME_BYTES_MAX && (preset(text).is_some() || vision_preset(text).is_some()) {
            return Ok(Self::Preset(text.to_owned()));
        }
        if is_meant_as_path(text) {
            return Err(ModelError::Unreadable { path: text.to_owned(), why: "no such file or folder".to_owned() });
        }
        Err(ModelError::NotFound { name: text.to_owned(), similar: similar_presets(text) })
    }

    /// Reads the model.
    ///
    /// # Errors
    /// See [`crate::read_model`].
    pub fn read(&self, files: &dyn ModelFiles) -> Result<ModelGraph, ModelError> {
        match self {
            Self::Path(path) => read_path(path, files),
            Self::Preset(name) => match (preset(name), vision_preset(name)) {
                (Some(preset), _) => preset.graph(),
                (None, Some(graph)) => Ok(graph),
                (None, None) => Err(ModelError::NotFound { name: name.clone(), similar: similar_presets(name) }),
            },
            Self::ParameterCount { parameters } => Ok(graph_from_parameter_count(*parameters)),
        }
    }
}

/// `7B`, `1.5b`, `350M`, `1T`, `7_000_000_000`.
fn parameter_count(text: &str) -> Option<u64> {
    let text = text.trim().replace('_', "");
    let (number, factor) = match text.to_ascii_lowercase() {
        lower if lower.ends_with('k') => (lower, 1e3),
        lower if lower.ends_with('m') => (lower, 1e6),
        lower if lower.ends_with('b') => (lower, 1e9),
        lower if lower.ends_with('t') => (lower, 1e12),
        lower => (lower, 1.0),
    };
    let digits = number.trim_end_matches(['k', 'm', 'b', 't']).trim_end();
    // `f64` would also take `inf`, `nan` and exponents; a count is digits with at most one point.
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let parameters = (digits.parse::<f64>().ok()? * factor).round();
    (1.0..=PARAMETERS_MAX).contains(&parameters).then_some(parameters as u64)
}

fn is_meant_as_path(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let starts = ["/", "./", "../", "~", ".\\", "..\\"].iter().any(|start| lower.starts_with(start));
    let ends =
        [".json", ".safetensors", ".gguf", ".onnx", ".bin", ".pt", ".pth", "/"].iter().any(|end| lower.ends_with(end));
    starts || ends
}

#[cfg(test)]
mod tests {
    use super::parameter_count;

    fn check(text: &str, expected: Option<u64>) {
        assert_eq!(parameter_count(text), expected, "{text}");
    }

    #[test]
    fn counts() {
        check("7B", Some(7_000_000_000));
        check("1.5 b", Some(1_500_000_000));
        check("350M", Some(350_000_000));
        check("1T", Some(1_000_000_000_000));
        check("7_000_000_000", Some(7_000_000_000));
        for not_one in ["", "B", "-7B", "7e9", "inf", "NaN", "0", "99999999T", "7BB7", "1.2.3B", "qwen2.5-7b"] {
            check(not_one, None);
        }
    }
}
