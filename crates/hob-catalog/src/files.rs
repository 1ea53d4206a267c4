//! The one place of this crate that touches files: reads what the user names, bounded, and names the path in each error.
#![allow(clippy::disallowed_methods, reason = "the edge where the user's own catalog files are read")]

use std::io::Read;
use std::path::Path;

use crate::catalog::Catalog;
use crate::error::CatalogError;
use crate::overlay::Overlay;
use crate::read::ImportReport;
use crate::table::{FILE_BYTES_MAX, text_of};

/// Reads a user's catalog file of any form that [`Overlay::read`] knows. `cloud` names the cloud of a SkyPilot file; when
/// it is `None` the file's folder or its own name does, as in SkyPilot's `aws/vms.csv`.
///
/// # Errors
/// When the file cannot be read, is too large, not text, or has wrong rows.
pub fn read_overlay(
    catalog: &Catalog,
    path: &Path,
    cloud: Option<&str>,
) -> Result<(Overlay, ImportReport), CatalogError> {
    let name = path.display().to_string();
    let bytes = read_bounded(path)?;
    let text = text_of(&name, &bytes)?;
    let from_path = cloud_of_path(path);
    Overlay::read(catalog, &name, text, cloud.unwrap_or(&from_path))
}

/// Reads all of a reader, up to [`FILE_BYTES_MAX`], as the text of a catalog file.
///
/// # Errors
/// When the reader fails, gives too much, or gives no UTF-8.
pub fn read_text(name: &str, reader: impl Read) -> Result<String, CatalogError> {
    let bytes = bounded(name, reader)?;
    text_of(name, &bytes).map(str::to_owned)
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, CatalogError> {
    let name = path.display().to_string();
    let failed = |error: std::io::Error| CatalogError::Io { path: name.clone(), why: error.to_string() };
    let file = std::fs::File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(CatalogError::Io { path: name, why: "it is a folder; name the file".to_owned() });
    }
    bounded(&path.display().to_string(), file)
}

fn bounded(name: &str, reader: impl Read) -> Result<Vec<u8>, CatalogError> {
    let mut bytes = Vec::new();
    let read = reader.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| CatalogError::Io { path: name.to_owned(), why: error.to_string() })?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(CatalogError::TooLarge { file: name.to_owned(), limit_mib: FILE_BYTES_MAX >> 20 });
    }
    Ok(bytes)
}

/// `aws` of `catalogs/v8/aws/vms.csv`, `nebius` of `nebius.csv`.
fn cloud_of_path(path: &Path) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("imported");
    let folder = path.parent().and_then(Path::file_name).and_then(|folder| folder.to_str());
    match folder {
        Some(folder) if stem == "vms" => folder.to_lowercase(),
        _ => stem.to_lowercase(),
    }
}
