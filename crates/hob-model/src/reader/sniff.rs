//! What kind of file it is, by its first bytes. Names lie; the extension only decides where bytes cannot.

use std::io::Read;

use crate::error::ModelError;
use crate::reader::ModelFiles;

/// Kinds that have a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Json,
    Safetensors,
    Gguf,
    Onnx,
}

/// Bytes looked at.
const LOOK: u64 = 64;

/// Looks at a file.
pub(crate) fn sniff(path: &str, files: &dyn ModelFiles) -> Result<FileKind, ModelError> {
    let mut start = Vec::new();
    files
        .open(path)?
        .take(LOOK)
        .read_to_end(&mut start)
        .map_err(|error| ModelError::Unreadable { path: path.to_owned(), why: error.to_string() })?;
    let malformed = |why: &str| ModelError::Malformed { path: path.to_owned(), format: "model", why: why.to_owned() };
    let lower = path.to_ascii_lowercase();
    if start.is_empty() {
        return Err(malformed("the file is empty"));
    }
    if is_lfs_pointer(&start) {
        return Err(malformed("it is a Git LFS pointer, not the file itself; run `git lfs pull`"));
    }
    if start.starts_with(b"GGUF") {
        return Ok(FileKind::Gguf);
    }
    if [b"lmgg", b"tjgg", b"fmgg", b"algg"].iter().any(|magic| start.starts_with(*magic)) {
        return Err(malformed("it is a GGML file older than GGUF; convert it with llama.cpp"));
    }
    if start.starts_with(b"PK\x03\x04") || start.starts_with(&[0x80, 0x02]) {
        return Err(malformed(
            "it is a PyTorch pickle, which Hob does not open; give the folder with its config.json, or safetensors",
        ));
    }
    if start.starts_with(b"\x89HDF") {
        return Err(malformed("it is an HDF5 file; export the model to ONNX or safetensors"));
    }
    let header_begins = start.get(8) == Some(&b'{');
    if lower.ends_with(".safetensors") || header_begins && !start.starts_with(b"{") {
        return Ok(FileKind::Safetensors);
    }
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
    if text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') || lower.ends_with(".json") {
        return Ok(FileKind::Json);
    }
    // A ModelProto begins with its IR version (field 1), or seldom with another of its fields.
    let is_onnx_field = matches!(start.first(), Some(0x08 | 0x12 | 0x1a | 0x22 | 0x2a | 0x32 | 0x3a | 0x42));
    if lower.ends_with(".onnx") || is_onnx_field {
        return Ok(FileKind::Onnx);
    }
    if lower.ends_with(".gguf") {
        return Err(malformed("it does not begin with `GGUF`"));
    }
    Err(malformed("its first bytes are of no kind that Hob reads (config.json, safetensors, GGUF, ONNX)"))
}

/// What `git clone` leaves in the place of a large file when LFS is not installed.
pub(crate) fn is_lfs_pointer(start: &[u8]) -> bool {
    start.starts_with(b"version https://git-lfs")
}
