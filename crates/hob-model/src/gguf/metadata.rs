//! The metadata of a GGUF file: small values are kept, vocabularies and other long arrays are passed over.

use std::collections::BTreeMap;

use crate::error::ModelError;
use crate::gguf::header::Words;

/// Longest text kept; chat templates are longer and are not needed.
const TEXT_BYTES_MAX: u64 = 4096;
/// Longest array whose numbers are kept: one for each layer.
const ARRAY_KEPT_MAX: u64 = 4096;
/// Most array items walked over one by one (texts and nested arrays have no fixed size). The largest vocabularies have
/// 300,000 tokens and as many merges.
const ITEMS_WALKED_MAX: u64 = 8_000_000;
/// Deepest nesting of arrays; none is known in the wild.
const DEPTH_MAX: u32 = 4;

/// A value that was kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kept {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Flag(bool),
    Text(String),
    /// Numbers, for arrays of at most `ARRAY_KEPT_MAX`.
    Numbers(Vec<u64>),
    /// Passed over.
    Passed,
}

/// All entries.
#[derive(Debug, Default)]
pub(super) struct Metadata(BTreeMap<String, Kept>);

impl Metadata {
    pub(super) fn read(words: &mut Words<'_>, entries: u64) -> Result<Self, ModelError> {
        let mut kept = BTreeMap::new();
        let mut items_left = ITEMS_WALKED_MAX;
        for _ in 0..entries {
            let key = words.name("metadata key")?;
            let kind = words.word("a value's type")?;
            let value = read_value(words, kind, &mut items_left)?;
            if kept.insert(key.clone(), value).is_some() {
                return Err(words.file.malformed(format!("key `{key}` stands twice")));
            }
        }
        Ok(Self(kept))
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match self.0.get(key)? {
            Kept::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A size; of an array with one size for each layer, the largest.
    pub(super) fn size(&self, key: &str) -> Option<u64> {
        match self.0.get(key)? {
            Kept::Unsigned(size) => Some(*size),
            Kept::Signed(size) => u64::try_from(*size).ok(),
            Kept::Float(size) if size.fract() == 0.0 && (0.0..9e15).contains(size) => Some(*size as u64),
            Kept::Numbers(sizes) => sizes.iter().copied().max(),
            _ => None,
        }
    }

    /// Whether a key holds an array of unequal numbers, so that layers differ.
    pub(super) fn differs_by_layer(&self, key: &str) -> bool {
        match self.0.get(key) {
            Some(Kept::Numbers(sizes)) => sizes.windows(2).any(|pair| pair.first() != pair.last()),
            _ => false,
        }
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        match self.0.get(key)? {
            Kept::Flag(flag) => Some(*flag),
            _ => None,
        }
    }
}

/// Bytes of a scalar of this type; `None` for texts, arrays and unknown types.
fn scalar_bytes(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

fn read_value(words: &mut Words<'_>, kind: u32, items_left: &mut u64) -> Result<Kept, ModelError> {
    match kind {
        8 => read_text(words),
        9 => read_array(words, 1, items_left),
        _ => read_scalar(words, kind),
    }
}

fn read_scalar(words: &mut Words<'_>, kind: u32) -> Result<Kept, ModelError> {
    let what = "a metadata value";
    Ok(match kind {
        0 => Kept::Unsigned(u64::from(u8::from_le_bytes(words.ordered(what)?))),
        1 => Kept::Signed(i64::from(i8::from_le_bytes(words.ordered(what)?))),
        2 => Kept::Unsigned(u64::from(u16::from_le_bytes(words.ordered(what)?))),
        3 => Kept::Signed(i64::from(i16::from_le_bytes(words.ordered(what)?))),
        4 => Kept::Unsigned(u64::from(u32::from_le_bytes(words.ordered(what)?))),
        5 => Kept::Signed(i64::from(i32::from_le_bytes(words.ordered(what)?))),
        6 => Kept::Float(f64::from(f32::from_le_bytes(words.ordered(what)?))),
        7 => Kept::Flag(words.ordered::<1>(what)? != [0]),
        10 => Kept::Unsigned(u64::from_le_bytes(words.ordered(what)?)),
        11 => Kept::Signed(i64::from_le_bytes(words.ordered(what)?)),
        12 => Kept::Float(f64::from_le_bytes(words.ordered(what)?)),
        _ => return Err(words.file.malformed(format!("metadata type {kind} at byte {}", words.file.position()))),
    })
}

fn read_text(words: &mut Words<'_>) -> Result<Kept, ModelError> {
    let length = words.count("a text's length")?;
    if length > TEXT_BYTES_MAX {
        words.file.skip(length, "a metadata text")?;
        return Ok(Kept::Passed);
    }
    let bytes = words.file.bytes(length, TEXT_BYTES_MAX, "metadata text")?;
    // Texts are shown, never looked up: a broken one is shown as well as it can be.
    Ok(Kept::Text(String::from_utf8_lossy(&bytes).into_owned()))
}

fn read_array(words: &mut Words<'_>, depth: u32, items_left: &mut u64) -> Result<Kept, ModelError> {
    if depth > DEPTH_MAX {
        return Err(words.file.malformed(format!("arrays are nested deeper than {DEPTH_MAX}")));
    }
    let kind = words.word("an array's type")?;
    let count = words.count("an array's length")?;
    if let Some(bytes_each) = scalar_bytes(kind) {
        words.plausible(count, bytes_each, "array items")?;
        if count > ARRAY_KEPT_MAX || matches!(kind, 6 | 12) {
            words.file.skip(count.saturating_mul(bytes_each), "an array")?;
            return Ok(Kept::Passed);
        }
        let mut numbers = Vec::new();
        for _ in 0..count {
            match read_scalar(words, kind)? {
                Kept::Unsigned(number) => numbers.push(number),
                Kept::Signed(number) => numbers.push(u64::try_from(number).unwrap_or(0)),
                Kept::Flag(flag) => numbers.push(u64::from(flag)),
                _ => {}
            }
        }
        return Ok(Kept::Numbers(numbers));
    }
    words.plausible(count, 4, "array items")?;
    if count > *items_left {
        return Err(words.file.too_large("array items", count, ITEMS_WALKED_MAX));
    }
    *items_left -= count;
    for _ in 0..count {
        match kind {
            8 => {
                let length = words.count("a text's length")?;
                words.file.skip(length, "a metadata text")?;
            }
            9 => {
                read_array(words, depth + 1, items_left)?;
            }
            _ => return Err(words.file.malformed(format!("an array of type {kind}"))),
        }
    }
    Ok(Kept::Passed)
}
