//! JSON files beside the weights, bounded and with the liberties that Python's writer takes.

use serde_json::Value;

use crate::error::ModelError;
use crate::graph::Unknown;
use crate::reader::ModelFiles;
use crate::reader::bounded::Bounded;

/// Longest config. The largest published one (with a long quantisation exclusion list) is under 1 MB.
const CONFIG_BYTES_MAX: u64 = 16 << 20;

/// Reads a whole bounded file.
pub(crate) fn read_bytes(
    files: &dyn ModelFiles,
    path: &str,
    format: &'static str,
    limit: u64,
) -> Result<Vec<u8>, ModelError> {
    let mut file = Bounded::new(path, format, files.open(path)?)?;
    let length = file.length();
    file.bytes(length, limit, "file size")
}

/// Reads a config.
pub(crate) fn read_config(files: &dyn ModelFiles, path: &str) -> Result<(Value, Option<Unknown>), ModelError> {
    parse_config(path, &read_bytes(files, path, "config.json", CONFIG_BYTES_MAX)?)
}

/// Parses a config's text. `NaN` and `Infinity`, which Python writes and JSON does not know, become null with a note.
pub(crate) fn parse_config(path: &str, bytes: &[u8]) -> Result<(Value, Option<Unknown>), ModelError> {
    let malformed = |why: String| ModelError::Malformed { path: path.to_owned(), format: "config.json", why };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| malformed(format!("not UTF-8 at byte {}", error.valid_up_to())))?
        .trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(malformed("the file is empty".to_owned()));
    }
    let strict = serde_json::from_str(text);
    match strict {
        Ok(value) => Ok((value, None)),
        Err(error) => {
            let (plain, replaced) = without_nan(text);
            match serde_json::from_str(&plain) {
                Ok(value) if replaced > 0 => {
                    let note = Unknown {
                        what: format!("{path}: {replaced} values are NaN or Infinity"),
                        consequence: "read as absent".to_owned(),
                    };
                    Ok((value, Some(note)))
                }
                _ => Err(malformed(error.to_string())),
            }
        }
    }
}

/// The text with bare `NaN`, `Infinity` and `-Infinity` outside of strings replaced by `null`.
fn without_nan(text: &str) -> (String, usize) {
    let mut plain = String::with_capacity(text.len());
    let mut replaced = 0;
    let mut rest = text;
    let (mut in_string, mut escaped) = (false, false);
    while let Some(letter) = rest.chars().next() {
        if !in_string {
            let word = ["-Infinity", "Infinity", "NaN"].into_iter().find(|word| rest.starts_with(word));
            if let Some(word) = word {
                plain.push_str("null");
                replaced += 1;
                rest = rest.get(word.len()..).unwrap_or("");
                continue;
            }
        }
        match letter {
            '"' if !escaped => in_string = !in_string,
            _ => {}
        }
        escaped = in_string && letter == '\\' && !escaped;
        plain.push(letter);
        rest = rest.get(letter.len_utf8()..).unwrap_or("");
    }
    (plain, replaced)
}
