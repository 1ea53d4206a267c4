//! Everything that can be wrong with a model file.

use thiserror::Error;

/// Why a model could not be read. Broken input that still says something is not an error: it becomes a graph with a list
/// of unknowns.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// The file could not be opened or read.
    #[error("cannot read {path}: {why}")]
    Unreadable {
        /// File as the user named it.
        path: String,
        /// The operating system's words.
        why: String,
    },
    /// The file is not what its name or header says.
    #[error("{path} is not a valid {format} file: {why}")]
    Malformed {
        /// File as the user named it.
        path: String,
        /// `config.json`, `safetensors`, `GGUF`, `ONNX`.
        format: &'static str,
        /// What is wrong, and where (offset, line, key).
        why: String,
    },
    /// A config key is absent, of the wrong type, or out of bounds.
    #[error("{path}: `{key}` {why}")]
    BadField {
        /// File as the user named it.
        path: String,
        /// Key, with its parents (`text_config.hidden_size`).
        key: String,
        /// What was expected.
        why: String,
    },
    /// A header claims more than Hob accepts; the bound has a name and a reason.
    #[error("{path}: {what} is {claimed}, more than the limit of {limit}")]
    TooLarge {
        /// File as the user named it.
        path: String,
        /// What is too large: `tensor count`, `header bytes`.
        what: &'static str,
        /// Claimed value.
        claimed: u64,
        /// The limit.
        limit: u64,
    },
    /// Neither a path nor a preset has this name.
    #[error("no model file or preset is called `{name}`")]
    NotFound {
        /// What the user wrote.
        name: String,
        /// Presets with a similar name.
        similar: Vec<String>,
    },
}
