//! The header: magic, version, counts, metadata, tensor list.

use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::gguf::metadata::Metadata;
use crate::gguf::types::block_type;
use crate::graph::Unknown;
use crate::reader::ReadSeek;
use crate::reader::bounded::{Bounded, NAME_BYTES_MAX};
use crate::reader::tensors::{Inventory, TENSORS_MAX, Tensor, product};

/// Most metadata entries; real files have under 100.
const ENTRIES_MAX: u64 = 100_000;
/// Most dimensions; GGML has four.
const RANK_MAX: u32 = 8;
/// Alignment of the tensors' bytes when the file states none.
const ALIGNMENT_DEFAULT: u64 = 32;
/// No file aligns to more than a page of the largest kind.
const ALIGNMENT_MAX: u64 = 1 << 30;

/// What a header holds.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) metadata: Metadata,
    pub(super) inventory: Inventory,
}

/// The file with its version's widths and byte order.
pub(super) struct Words<'a> {
    pub(super) file: Bounded<'a>,
    is_big_endian: bool,
    has_short_counts: bool,
}

impl Words<'_> {
    /// A fixed number of bytes in little-endian order.
    pub(super) fn ordered<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ModelError> {
        let mut bytes = self.file.array::<N>(what)?;
        if self.is_big_endian {
            bytes.reverse();
        }
        Ok(bytes)
    }

    pub(super) fn word(&mut self, what: &str) -> Result<u32, ModelError> {
        self.ordered(what).map(u32::from_le_bytes)
    }

    pub(super) fn long(&mut self, what: &str) -> Result<u64, ModelError> {
        self.ordered(what).map(u64::from_le_bytes)
    }

    /// A count or length: 32 bits in version 1, 64 later.
    pub(super) fn count(&mut self, what: &str) -> Result<u64, ModelError> {
        if self.has_short_counts { self.word(what).map(u64::from) } else { self.long(what) }
    }

    /// A name. Bytes that are not UTF-8 are an error, since a name is looked up later.
    pub(super) fn name(&mut self, what: &'static str) -> Result<String, ModelError> {
        let length = self.count(what)?;
        let at = self.file.position();
        let bytes = self.file.bytes(length, NAME_BYTES_MAX, what)?;
        String::from_utf8(bytes).map_err(|_| self.file.malformed(format!("the {what} at byte {at} is not UTF-8")))
    }

    /// Checks that `count` items of at least `bytes_each` can be in the file at all.
    pub(super) fn plausible(&self, count: u64, bytes_each: u64, what: &str) -> Result<(), ModelError> {
        if count > self.file.left() / bytes_each.max(1) {
            return Err(self
                .file
                .malformed(format!("it claims {count} {what}, and {} bytes are left for them", self.file.left())));
        }
        Ok(())
    }
}

/// Reads a header.
pub(super) fn read_header(path: &str, file: Box<dyn ReadSeek + '_>) -> Result<Header, ModelError> {
    let mut file = Bounded::new(path, "GGUF", file)?;
    if file.array::<4>("the magic")? != *b"GGUF" {
        return Err(file.malformed("it does not begin with `GGUF`"));
    }
    let version_bytes = file.array::<4>("the version")?;
    let (version, is_big_endian) = match (u32::from_le_bytes(version_bytes), u32::from_be_bytes(version_bytes)) {
        (version @ 1..=3, _) => (version, false),
        (_, version @ 1..=3) => (version, true),
        (version, _) => return Err(file.malformed(format!("version {version} is unknown; 1 to 3 are read"))),
    };
    let mut words = Words { file, is_big_endian, has_short_counts: version == 1 };
    let tensors = words.count("the tensor count")?;
    let entries = words.count("the metadata count")?;
    if tensors > TENSORS_MAX {
        return Err(words.file.too_large("tensor count", tensors, TENSORS_MAX));
    }
    if entries > ENTRIES_MAX {
        return Err(words.file.too_large("metadata count", entries, ENTRIES_MAX));
    }
    // The shortest tensor: an empty name's length, rank, type, offset. The shortest entry: a length, a type, a byte.
    words.plausible(tensors, 20, "tensors")?;
    words.plausible(entries, 9, "metadata entries")?;
    let metadata = Metadata::read(&mut words, entries)?;
    let declared = (0..tensors).map(|_| declared(&mut words)).collect::<Result<Vec<_>, _>>()?;
    let alignment = metadata.size("general.alignment").unwrap_or(ALIGNMENT_DEFAULT);
    if alignment == 0 || alignment > ALIGNMENT_MAX {
        return Err(words.file.malformed(format!("`general.alignment` is {alignment}")));
    }
    let inventory = place(&words.file, declared, alignment)?;
    Ok(Header { metadata, inventory })
}

struct Declared {
    name: String,
    /// Outermost first, unlike in the file.
    shape: Vec<u64>,
    type_number: u32,
    offset: u64,
}

fn declared(words: &mut Words<'_>) -> Result<Declared, ModelError> {
    let name = words.name("tensor name")?;
    let rank = words.word("a tensor's rank")?;
    if rank > RANK_MAX {
        return Err(words.file.too_large("tensor rank", u64::from(rank), u64::from(RANK_MAX)));
    }
    let mut shape = (0..rank).map(|_| words.count("a tensor's shape")).collect::<Result<Vec<_>, _>>()?;
    shape.reverse();
    let type_number = words.word("a tensor's type")?;
    let offset = words.long("a tensor's offset")?;
    Ok(Declared { name, shape, type_number, offset })
}

/// Checks every tensor's place against the file's length.
fn place(file: &Bounded<'_>, declared: Vec<Declared>, alignment: u64) -> Result<Inventory, ModelError> {
    let begin = file.position().div_ceil(alignment).saturating_mul(alignment);
    let data_bytes = file.length().saturating_sub(begin);
    let mut names: Vec<&str> = declared.iter().map(|tensor| tensor.name.as_str()).collect();
    names.sort_unstable();
    if let Some(name) = names.windows(2).find(|pair| pair.first() == pair.last()).and_then(|pair| pair.first()) {
        return Err(file.malformed(format!("tensor `{name}` stands twice")));
    }
    let mut offsets: Vec<u64> = declared.iter().map(|tensor| tensor.offset).collect();
    offsets.sort_unstable();
    let mut inventory = Inventory::default();
    for tensor in declared {
        let Declared { name, shape, type_number, offset } = tensor;
        let elements =
            product(&shape).ok_or_else(|| file.malformed(format!("tensor `{name}` has more than 2^64 elements")))?;
        let (dtype, bytes) = match block_type(type_number) {
            Some(block) => {
                // Rows are whole blocks.
                let row = shape.last().copied().unwrap_or(1);
                if row % block.elements != 0 {
                    return Err(file.malformed(format!(
                        "a row of tensor `{name}` has {row} elements, not a multiple of {}",
                        block.elements
                    )));
                }
                let bytes = (elements / block.elements)
                    .checked_mul(block.bytes)
                    .ok_or_else(|| file.malformed(format!("tensor `{name}` is larger than 2^64 bytes")))?;
                (block.dtype, bytes)
            }
            None => {
                let next = offsets.get(offsets.partition_point(|other| *other <= offset)).copied();
                let bytes = next.unwrap_or(data_bytes).min(data_bytes).saturating_sub(offset);
                inventory.notes.push(Unknown {
                    what: format!("tensor {name}: GGML type {type_number}"),
                    consequence: format!("its {bytes} bytes are taken from the distance to the next tensor"),
                });
                (Dtype::U8, bytes)
            }
        };
        if offset.checked_add(bytes).is_none_or(|end| end > data_bytes) {
            return Err(file.malformed(format!(
                "tensor `{name}` needs {bytes} bytes at {offset}, and the file holds {data_bytes} bytes of data; it may \
                 be cut short"
            )));
        }
        inventory.tensors.push(Tensor { name, dtype, shape, bytes });
    }
    Ok(inventory)
}
