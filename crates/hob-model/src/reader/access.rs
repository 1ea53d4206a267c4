//! What a reader asks of the world: open a file, list a folder. The only implementation that touches a disk is `files.rs`;
//! tests and fuzz targets bring their own from memory.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Seek};

use crate::error::ModelError;

/// Bytes that can be read and skipped.
pub trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// A regular file (links followed).
    File,
    /// A folder.
    Folder,
    /// Something that must not be opened as a model: a device, a pipe, a socket.
    Special,
    /// Nothing.
    Absent,
}

/// Access to model files. Paths are texts with `/` between their parts, as the user wrote them.
pub trait ModelFiles {
    /// Opens a regular file.
    ///
    /// # Errors
    /// When it cannot be opened or is not a regular file; the error names the path.
    fn open(&self, path: &str) -> Result<Box<dyn ReadSeek + '_>, ModelError>;

    /// Names of a folder's entries, sorted; at most [`FOLDER_ENTRIES_MAX`].
    ///
    /// # Errors
    /// When the folder cannot be read or has more entries; the error names the path.
    fn list(&self, folder: &str) -> Result<Vec<String>, ModelError>;

    /// What stands at a path.
    fn kind(&self, path: &str) -> PathKind;
}

/// Most entries of a model folder. The largest published checkpoints have under 1,000 files; more is not a model folder.
pub const FOLDER_ENTRIES_MAX: usize = 100_000;

/// Model files held in memory: uploads, archives, tests. Folders are implied by the paths.
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles(BTreeMap<String, Vec<u8>>);

impl MemoryFiles {
    /// No files yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same files and one more.
    #[must_use]
    pub fn with(mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.insert(path.into(), bytes.into());
        self
    }
}

impl ModelFiles for MemoryFiles {
    fn open(&self, path: &str) -> Result<Box<dyn ReadSeek + '_>, ModelError> {
        match self.0.get(path) {
            Some(bytes) => Ok(Box::new(Cursor::new(bytes.as_slice()))),
            None => Err(ModelError::Unreadable { path: path.to_owned(), why: "no such file".to_owned() }),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, ModelError> {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let mut names: Vec<String> = self
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(&prefix))
            .filter_map(|rest| rest.split('/').next())
            .map(str::to_owned)
            .collect();
        names.dedup();
        Ok(names)
    }

    fn kind(&self, path: &str) -> PathKind {
        let path = path.trim_end_matches('/');
        let prefix = format!("{path}/");
        if self.0.contains_key(path) {
            PathKind::File
        } else if self.0.keys().any(|known| known.starts_with(&prefix)) {
            PathKind::Folder
        } else {
            PathKind::Absent
        }
    }
}

/// A path inside a folder.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() || folder.ends_with('/') { format!("{folder}{name}") } else { format!("{folder}/{name}") }
}

/// The folder and the last part of a path. Both separators count, so that paths typed on Windows work.
pub(crate) fn split_path(path: &str) -> (&str, &str) {
    let trimmed = path.trim_end_matches(['/', '\\']);
    match trimmed.rfind(['/', '\\']) {
        Some(0) => (trimmed.get(..1).unwrap_or(""), trimmed.get(1..).unwrap_or("")),
        Some(at) => (trimmed.get(..at).unwrap_or(""), trimmed.get(at + 1..).unwrap_or("")),
        None => (".", trimmed),
    }
}
