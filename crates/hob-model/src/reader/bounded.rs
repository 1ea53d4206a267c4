//! Reading of binary headers with every length checked before anything is reserved for it.

use std::io::{BufReader, Read, Seek, SeekFrom};

use crate::error::ModelError;

/// Longest name or key kept from a file. Published names stay under 200 bytes.
pub(crate) const NAME_BYTES_MAX: u64 = 64 * 1024;

/// A file with its length and the position in it. Errors name the path, the format and the offset.
pub(crate) struct Bounded<'a> {
    path: &'a str,
    format: &'static str,
    inner: BufReader<Box<dyn crate::reader::ReadSeek + 'a>>,
    length: u64,
    position: u64,
}

impl<'a> Bounded<'a> {
    /// Takes the file and measures it.
    pub(crate) fn new(
        path: &'a str,
        format: &'static str,
        mut file: Box<dyn crate::reader::ReadSeek + 'a>,
    ) -> Result<Self, ModelError> {
        let unreadable =
            |error: std::io::Error| ModelError::Unreadable { path: path.to_owned(), why: error.to_string() };
        let length = file.seek(SeekFrom::End(0)).map_err(unreadable)?;
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        Ok(Self { path, format, inner: BufReader::with_capacity(64 * 1024, file), length, position: 0 })
    }

    /// Path as the user named it.
    pub(crate) fn path(&self) -> &'a str {
        self.path
    }

    /// Bytes in the file.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Bytes read or skipped so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> u64 {
        self.length.saturating_sub(self.position)
    }

    /// An error about this file's content.
    pub(crate) fn malformed(&self, why: impl Into<String>) -> ModelError {
        ModelError::Malformed { path: self.path.to_owned(), format: self.format, why: why.into() }
    }

    /// An error about a claim beyond a bound.
    pub(crate) fn too_large(&self, what: &'static str, claimed: u64, limit: u64) -> ModelError {
        ModelError::TooLarge { path: self.path.to_owned(), what, claimed, limit }
    }

    fn need(&self, bytes: u64, what: &str) -> Result<(), ModelError> {
        if bytes > self.left() {
            return Err(self.malformed(format!(
                "the file has {} bytes and ends inside {what} at byte {}",
                self.length, self.position
            )));
        }
        Ok(())
    }

    fn read_into(&mut self, buffer: &mut [u8]) -> Result<(), ModelError> {
        self.inner
            .read_exact(buffer)
            .map_err(|error| ModelError::Unreadable { path: self.path.to_owned(), why: error.to_string() })?;
        self.position = self.position.saturating_add(buffer.len() as u64);
        Ok(())
    }

    /// A fixed number of bytes.
    pub(crate) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ModelError> {
        self.need(N as u64, what)?;
        let mut bytes = [0; N];
        self.read_into(&mut bytes)?;
        Ok(bytes)
    }

    /// `count` bytes, at most `limit`.
    pub(crate) fn bytes(&mut self, count: u64, limit: u64, what: &'static str) -> Result<Vec<u8>, ModelError> {
        if count > limit {
            return Err(self.too_large(what, count, limit));
        }
        self.need(count, what)?;
        let mut bytes = vec![0; usize::try_from(count).unwrap_or(usize::MAX)];
        self.read_into(&mut bytes)?;
        Ok(bytes)
    }

    /// Passes over `count` bytes without reading them.
    pub(crate) fn skip(&mut self, count: u64, what: &str) -> Result<(), ModelError> {
        self.need(count, what)?;
        let offset = i64::try_from(count).map_err(|_| self.malformed(format!("{what} is too long")))?;
        self.inner
            .seek_relative(offset)
            .map_err(|error| ModelError::Unreadable { path: self.path.to_owned(), why: error.to_string() })?;
        self.position = self.position.saturating_add(count);
        Ok(())
    }
}
