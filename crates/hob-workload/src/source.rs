//! Byte offsets in a text to the line and column that a person counts.

use std::ops::Range;

/// Where each line of a text begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// Line and column of a byte offset, both from 1; the column counts characters.
    pub(crate) fn position(&self, text: &str, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = text.get(start..offset).map_or(0, |before| before.chars().count()) + 1;
        (line, column)
    }

    /// The bytes of a line (from 1), without its line break.
    pub(crate) fn line(&self, text: &str, line: usize) -> Range<usize> {
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(text.len());
        let end = self.starts.get(line).map_or(text.len(), |next| next - 1);
        start..end.max(start)
    }
}

/// A span that lies inside the text and between characters, whatever came in.
pub(crate) fn inside(text: &str, span: Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let end = text.floor_char_boundary(span.end.min(text.len())).max(start);
    start..end
}
