//! The protobuf wire format, read as a stream: long fields are passed over, never loaded.
//!
//! Every item that is kept is charged to a budget, so that a file cannot make more memory out of few bytes.

use crate::error::ModelError;
use crate::reader::ReadSeek;
use crate::reader::bounded::{Bounded, NAME_BYTES_MAX};

/// Fields read before a file is given up; a model of 100,000 nodes has about 5 million.
const FIELDS_MAX: u64 = 50_000_000;
/// Memory for names, nodes and attributes.
const KEPT_BYTES_MAX: u64 = 256 << 20;
/// What an item costs beside its text: its place in vectors and maps.
const ITEM_BYTES: u64 = 48;
/// Deepest nesting of messages; a tensor inside an attribute of a node of a subgraph stays far below.
const DEPTH_MAX: u32 = 64;

/// A field's value or, for nested messages and texts, where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Payload {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    /// This many bytes follow; they end at `end`.
    Length {
        bytes: u64,
        end: u64,
    },
}

/// The file.
pub(super) struct Wire<'a> {
    file: Bounded<'a>,
    fields_left: u64,
    kept_left: u64,
    depth: u32,
}

impl<'a> Wire<'a> {
    pub(super) fn new(path: &'a str, file: Box<dyn ReadSeek + 'a>) -> Result<Self, ModelError> {
        let file = Bounded::new(path, "ONNX", file)?;
        Ok(Self { file, fields_left: FIELDS_MAX, kept_left: KEPT_BYTES_MAX, depth: 0 })
    }

    pub(super) fn file_end(&self) -> u64 {
        self.file.length()
    }

    pub(super) fn malformed(&self, why: impl Into<String>) -> ModelError {
        self.file.malformed(why)
    }

    /// The next field of a message that ends at `end`; `None` at its end.
    pub(super) fn field(&mut self, end: u64) -> Result<Option<(u64, Payload)>, ModelError> {
        let at = self.file.position();
        if at == end {
            return Ok(None);
        }
        if at > end {
            return Err(self.malformed(format!("a field runs over its message's end at byte {end}")));
        }
        self.fields_left = self
            .fields_left
            .checked_sub(1)
            .ok_or_else(|| self.file.too_large("number of fields", FIELDS_MAX, FIELDS_MAX))?;
        let tag = self.varint()?;
        let number = tag >> 3;
        if number == 0 {
            return Err(self.malformed(format!("field number 0 at byte {at}")));
        }
        let payload = match tag & 7 {
            0 => Payload::Varint(self.varint()?),
            1 => Payload::Fixed64(u64::from_le_bytes(self.file.array("a field")?)),
            2 => {
                let bytes = self.varint()?;
                let stop = self.file.position().checked_add(bytes).filter(|stop| *stop <= end);
                let Some(stop) = stop else {
                    return Err(self.malformed(format!(
                        "field {number} at byte {at} claims {bytes} bytes, beyond the end of its message"
                    )));
                };
                Payload::Length { bytes, end: stop }
            }
            5 => Payload::Fixed32(u32::from_le_bytes(self.file.array("a field")?)),
            kind => return Err(self.malformed(format!("wire type {kind} at byte {at}"))),
        };
        Ok(Some((number, payload)))
    }

    /// Passes over what a field left to be read.
    pub(super) fn pass(&mut self, payload: Payload) -> Result<(), ModelError> {
        match payload {
            Payload::Length { bytes, .. } => self.file.skip(bytes, "a field"),
            _ => Ok(()),
        }
    }

    /// Charges kept memory to the budget.
    pub(super) fn charge(&mut self, bytes: u64) -> Result<(), ModelError> {
        let cost = bytes.saturating_add(ITEM_BYTES);
        self.kept_left = self
            .kept_left
            .checked_sub(cost)
            .ok_or_else(|| self.file.too_large("memory for names and attributes", KEPT_BYTES_MAX, KEPT_BYTES_MAX))?;
        Ok(())
    }

    /// A text. Bytes that are not UTF-8 are an error: names are looked up.
    pub(super) fn text(&mut self, payload: Payload, what: &'static str) -> Result<String, ModelError> {
        let at = self.file.position();
        let bytes = self.kept(payload, NAME_BYTES_MAX, what)?;
        String::from_utf8(bytes).map_err(|_| self.malformed(format!("the {what} at byte {at} is not UTF-8")))
    }

    /// Bytes that are kept.
    pub(super) fn kept(&mut self, payload: Payload, limit: u64, what: &'static str) -> Result<Vec<u8>, ModelError> {
        let Payload::Length { bytes, .. } = payload else {
            return Err(self.malformed(format!("the {what} has the wrong wire type")));
        };
        self.charge(bytes)?;
        self.file.bytes(bytes, limit, what)
    }

    /// Reads a nested message with `read`, which must consume it to its end.
    pub(super) fn message<T>(
        &mut self,
        payload: Payload,
        what: &'static str,
        read: impl FnOnce(&mut Self, u64) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        let Payload::Length { end, .. } = payload else {
            return Err(self.malformed(format!("the {what} has the wrong wire type")));
        };
        if self.depth >= DEPTH_MAX {
            return Err(self.malformed(format!("messages are nested deeper than {DEPTH_MAX}")));
        }
        self.depth += 1;
        self.charge(0)?;
        let value = read(self, end)?;
        self.depth -= 1;
        Ok(value)
    }

    /// A whole number, or a packed list of them, appended to `numbers`. Beyond `limit` items the rest is passed over.
    pub(super) fn varints(&mut self, payload: Payload, numbers: &mut Vec<i64>, limit: usize) -> Result<(), ModelError> {
        match payload {
            Payload::Varint(number) => {
                if numbers.len() < limit {
                    self.charge(0)?;
                    numbers.push(number.cast_signed());
                }
                Ok(())
            }
            Payload::Length { end, .. } => {
                while self.file.position() < end {
                    if numbers.len() >= limit {
                        let rest = end - self.file.position();
                        return self.file.skip(rest, "a list of numbers");
                    }
                    let number = self.varint()?;
                    numbers.push(number.cast_signed());
                }
                if self.file.position() > end {
                    return Err(self.malformed("a list of numbers runs over its end"));
                }
                self.charge(8 * numbers.len() as u64)
            }
            other => self.pass(other),
        }
    }

    /// A float, or a packed list of them.
    pub(super) fn floats(&mut self, payload: Payload, numbers: &mut Vec<f64>, limit: usize) -> Result<(), ModelError> {
        match payload {
            Payload::Fixed32(bits) if numbers.len() < limit => {
                self.charge(0)?;
                numbers.push(f64::from(f32::from_bits(bits)));
                Ok(())
            }
            Payload::Length { bytes, .. } if bytes / 4 <= limit as u64 && bytes % 4 == 0 => {
                self.charge(2 * bytes)?;
                for _ in 0..bytes / 4 {
                    numbers.push(f64::from(f32::from_le_bytes(self.file.array("a list of floats")?)));
                }
                Ok(())
            }
            other => self.pass(other),
        }
    }

    fn varint(&mut self) -> Result<u64, ModelError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.file.array("a number")?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.malformed(format!("a number longer than 64 bits at byte {}", self.file.position())))
    }
}
