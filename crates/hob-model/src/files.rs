//! The edge: model files on a disk. The only file of this crate that touches the file system, and it only reads.
#![allow(clippy::disallowed_methods, reason = "this is the one edge file of the crate; all else takes readers")]

use std::fs::{self, File};
use std::path::Path;

use crate::error::ModelError;
use crate::reader::{FOLDER_ENTRIES_MAX, ModelFiles, PathKind, ReadSeek};

/// Files of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskFiles;

fn unreadable(path: &str, why: impl ToString) -> ModelError {
    ModelError::Unreadable { path: path.to_owned(), why: why.to_string() }
}

impl ModelFiles for DiskFiles {
    fn open(&self, path: &str) -> Result<Box<dyn ReadSeek + '_>, ModelError> {
        // A pipe would block for ever, and a device may never end: look before opening.
        let metadata = fs::metadata(path).map_err(|error| unreadable(path, error))?;
        if !metadata.is_file() {
            return Err(unreadable(path, "not a regular file"));
        }
        let file = File::open(path).map_err(|error| unreadable(path, error))?;
        Ok(Box::new(file))
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, ModelError> {
        let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(folder, error))?;
            if names.len() >= FOLDER_ENTRIES_MAX {
                return Err(unreadable(
                    folder,
                    format!("more than {FOLDER_ENTRIES_MAX} entries, so not a model folder"),
                ));
            }
            // A name that is not UTF-8 cannot be one of the names that readers look for.
            if let Ok(name) = entry.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn kind(&self, path: &str) -> PathKind {
        match fs::metadata(Path::new(path)) {
            Ok(metadata) if metadata.is_file() => PathKind::File,
            Ok(metadata) if metadata.is_dir() => PathKind::Folder,
            Ok(_) => PathKind::Special,
            Err(_) => PathKind::Absent,
        }
    }
}
