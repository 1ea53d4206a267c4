//! Typed, bounded access to the keys of a `config.json`.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::error::ModelError;
use crate::graph::Unknown;

/// No published model has a size (width, heads, layers, vocabulary) near this; a larger one is a broken file, and below it
/// the products of three sizes stay inside `u128` and of two inside `u64`.
pub(crate) const SIZE_MAX: u64 = 1 << 28;
/// Layers, experts and other counts that are looped over or repeated.
pub(crate) const COUNT_MAX: u64 = 100_000;

/// Which keys a family has looked at, so that those left over can be named to the user.
#[derive(Debug, Default)]
pub(crate) struct Reads(RefCell<BTreeSet<(String, String)>>);

/// One JSON object of a config and where it sits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    object: &'a Map<String, Value>,
    path: &'a str,
    parent: &'a str,
    reads: Option<&'a Reads>,
}

impl<'a> Fields<'a> {
    /// The top-level object of the file at `path`.
    pub(crate) fn new(path: &'a str, value: &'a Value) -> Result<Self, ModelError> {
        let object = value.as_object().ok_or_else(|| ModelError::Malformed {
            path: path.to_owned(),
            format: "config.json",
            why: "the top level is not an object".to_owned(),
        })?;
        Ok(Self { object, path, parent: "", reads: None })
    }

    /// The same object, noting in `reads` each key that is looked at.
    pub(crate) fn noting(self, reads: &'a Reads) -> Self {
        Self { reads: Some(reads), ..self }
    }

    fn note(&self, key: &str) {
        if let Some(mut seen) = self.reads.and_then(|reads| reads.0.try_borrow_mut().ok()) {
            seen.insert((self.parent.to_owned(), key.to_owned()));
        }
    }

    /// Keys of this object that nobody has looked at.
    pub(crate) fn unread(&self) -> Vec<&'a str> {
        let seen = self.reads.and_then(|reads| reads.0.try_borrow().ok());
        let is_seen =
            |key: &str| seen.as_ref().is_some_and(|seen| seen.contains(&(self.parent.to_owned(), key.to_owned())));
        self.object.keys().map(String::as_str).filter(|key| !is_seen(key)).collect()
    }

    /// Whether the key is written in the file, be it as null. Some families take null for "none" and absence for their
    /// default.
    pub(crate) fn written(&self, key: &str) -> bool {
        self.note(key);
        self.object.contains_key(key)
    }

    /// A nested object such as `text_config`, when it is there and is an object.
    pub(crate) fn nested(&self, key: &'static str) -> Option<Fields<'a>> {
        self.child(key)
    }

    /// A nested object under a key of the file's own.
    pub(crate) fn child(&self, key: &'a str) -> Option<Fields<'a>> {
        self.note(key);
        self.object.get(key)?.as_object().map(|object| Fields {
            object,
            path: self.path,
            parent: key,
            reads: self.reads,
        })
    }

    /// An object without keys in place of an absent nested one, so that defaults apply.
    pub(crate) fn empty<'b>(&'b self, key: &'static str, object: &'b Map<String, Value>) -> Fields<'b> {
        Fields { object, path: self.path, parent: key, reads: self.reads }
    }

    /// The raw value, when the key is there and not null.
    pub(crate) fn raw(&self, key: &str) -> Option<&'a Value> {
        self.note(key);
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// All keys, in the file's order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.object.keys().map(String::as_str)
    }

    /// An error that names the file and the key.
    pub(crate) fn bad(&self, key: &str, why: impl Into<String>) -> ModelError {
        let key = if self.parent.is_empty() { key.to_owned() } else { format!("{}.{key}", self.parent) };
        ModelError::BadField { path: self.path.to_owned(), key, why: why.into() }
    }

    /// A size that may be absent. Wrong type, negative, fractional or absurd values are errors.
    pub(crate) fn size_opt(&self, key: &str) -> Result<Option<u64>, ModelError> {
        let Some(value) = self.raw(key) else { return Ok(None) };
        let size = value
            .as_u64()
            .or_else(|| {
                value.as_f64().filter(|v| v.fract() == 0.0 && *v >= 0.0 && *v < SIZE_MAX as f64).map(|v| v as u64)
            })
            .ok_or_else(|| self.bad(key, format!("is `{value}`; a whole number of at least 0 was expected")))?;
        if size > SIZE_MAX {
            return Err(self.bad(key, format!("is {size}; at most {SIZE_MAX} was expected")));
        }
        Ok(Some(size))
    }

    /// The first of several spellings of one size.
    pub(crate) fn size_any(&self, keys: &[&str]) -> Result<Option<u64>, ModelError> {
        for key in keys {
            if let Some(size) = self.size_opt(key)? {
                return Ok(Some(size));
            }
        }
        Ok(None)
    }

    /// A size that must be there and at least 1, under the first of several spellings that is present.
    pub(crate) fn size(&self, keys: &[&str]) -> Result<u64, ModelError> {
        let name = keys.first().copied().unwrap_or("?");
        match self.size_any(keys)? {
            Some(0) => Err(self.bad(name, "is 0; at least 1 was expected")),
            Some(size) => Ok(size),
            None => Err(self.bad(name, "is missing")),
        }
    }

    /// A count that is repeated over (layers, experts), at least 1.
    pub(crate) fn count(&self, keys: &[&str]) -> Result<u32, ModelError> {
        let size = self.size(keys)?;
        self.bounded_count(keys, size)
    }

    /// A count that may be absent (or zero), under the first of several spellings that is present.
    pub(crate) fn count_any(&self, keys: &[&str]) -> Result<Option<u32>, ModelError> {
        self.size_any(keys)?.map(|size| self.bounded_count(keys, size)).transpose()
    }

    fn bounded_count(&self, keys: &[&str], size: u64) -> Result<u32, ModelError> {
        if size > COUNT_MAX {
            return Err(
                self.bad(keys.first().copied().unwrap_or("?"), format!("is {size}; at most {COUNT_MAX} was expected"))
            );
        }
        u32::try_from(size).map_err(|_| self.bad(keys.first().copied().unwrap_or("?"), "is too large"))
    }

    /// A flag, with the family's default.
    pub(crate) fn flag(&self, key: &str, default: bool) -> bool {
        self.raw(key).and_then(Value::as_bool).unwrap_or(default)
    }

    /// A text.
    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.raw(key).and_then(Value::as_str)
    }

    /// A finite number.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.raw(key).and_then(Value::as_f64).filter(|v| v.is_finite())
    }

    /// A list of sizes; scalars count as a list of one. Absent or not sizes: `None`.
    pub(crate) fn sizes(&self, key: &str) -> Option<Vec<u64>> {
        match self.raw(key)? {
            Value::Array(items) => items.iter().map(|item| item.as_u64().filter(|v| *v <= SIZE_MAX)).collect(),
            other => other.as_u64().filter(|v| *v <= SIZE_MAX).map(|v| vec![v]),
        }
    }

    /// A list of texts.
    pub(crate) fn texts(&self, key: &str) -> Option<Vec<&'a str>> {
        self.raw(key)?.as_array()?.iter().map(Value::as_str).collect()
    }

    /// A note that a key was not understood.
    pub(crate) fn unknown(&self, key: &str, consequence: impl Into<String>) -> Unknown {
        let what = if self.parent.is_empty() { key.to_owned() } else { format!("{}.{key}", self.parent) };
        Unknown { what, consequence: consequence.into() }
    }
}
