//! The header of one safetensors file: 8 bytes of length, then JSON, then the tensors' bytes.

use std::fmt;

use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::Unknown;
use crate::reader::ReadSeek;
use crate::reader::bounded::{Bounded, NAME_BYTES_MAX};
use crate::reader::tensors::{Inventory, RANK_MAX, TENSORS_MAX, Tensor, product};

/// Longest header; the reference implementation refuses more than 100 MB.
pub(crate) const HEADER_BYTES_MAX: u64 = 100_000_000;

/// Most odd places that are listed one by one; the rest is counted.
const NOTES_MAX: usize = 8;

/// Reads the header of a file and checks it against the file's length.
pub(crate) fn read_header(path: &str, file: Box<dyn ReadSeek + '_>) -> Result<Inventory, ModelError> {
    let mut file = Bounded::new(path, "safetensors", file)?;
    let length = u64::from_le_bytes(file.array("the 8-byte header length")?);
    if length > HEADER_BYTES_MAX {
        return Err(file.too_large("header bytes", length, HEADER_BYTES_MAX));
    }
    if length > file.left() {
        return Err(file.malformed(format!(
            "the header claims {length} bytes, and the file has {} bytes after its length",
            file.left()
        )));
    }
    // The first byte decides before a long run of zeros is read.
    let first = file.array::<1>("the header")?;
    if first != *b"{" {
        return Err(file.malformed("the header does not begin with `{`"));
    }
    let mut json = vec![b'{'];
    json.extend(file.bytes(length.saturating_sub(1), HEADER_BYTES_MAX, "header bytes")?);
    let data_bytes = file.left();
    let text = std::str::from_utf8(&json)
        .map_err(|error| file.malformed(format!("the header is not UTF-8 at byte {}", error.valid_up_to() + 8)))?;
    let declared =
        parse(text).map_err(|error| file.malformed(format!("the header is not as it should be: {error}")))?;
    place(&file, declared, data_bytes)
}

/// A tensor before its place is checked.
struct Declared {
    name: String,
    dtype: String,
    shape: Vec<u64>,
    begin: u64,
    end: u64,
}

fn parse(text: &str) -> Result<Vec<Declared>, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let declared = de::Deserializer::deserialize_map(&mut json, HeaderVisitor)?;
    json.end()?;
    Ok(declared)
}

/// Checks every tensor's place and size, and notes holes and overlaps.
fn place(file: &Bounded<'_>, declared: Vec<Declared>, data_bytes: u64) -> Result<Inventory, ModelError> {
    let mut inventory = Inventory::default();
    let mut places = Vec::with_capacity(declared.len());
    let mut unknown_types = 0_usize;
    for tensor in declared {
        let Declared { name, dtype, shape, begin, end } = tensor;
        if begin > end {
            return Err(file.malformed(format!("tensor `{name}` ends at {end}, before it begins at {begin}")));
        }
        if end > data_bytes {
            return Err(file.malformed(format!(
                "tensor `{name}` ends at byte {end} of the data, and the file holds {data_bytes}; it may be cut short"
            )));
        }
        let elements =
            product(&shape).ok_or_else(|| file.malformed(format!("tensor `{name}` has more than 2^64 elements")))?;
        let bytes = end - begin;
        let dtype = match stored_type(&dtype) {
            Some((known, bits)) => {
                let expected = u128::from(elements) * u128::from(bits);
                if expected != u128::from(bytes) * 8 {
                    return Err(file.malformed(format!(
                        "tensor `{name}` takes {bytes} bytes, and its shape and type need {}",
                        expected.div_ceil(8)
                    )));
                }
                known
            }
            None => {
                unknown_types += 1;
                if unknown_types <= NOTES_MAX {
                    inventory.notes.push(Unknown {
                        what: format!("tensor {name}: type {dtype}"),
                        consequence: "its bytes are counted as 8-bit integers".to_owned(),
                    });
                }
                Dtype::U8
            }
        };
        places.push((begin, end));
        inventory.tensors.push(Tensor { name, dtype, shape, bytes });
    }
    if unknown_types > NOTES_MAX {
        inventory.notes.push(Unknown {
            what: format!("{unknown_types} tensors of unknown types"),
            consequence: "their bytes are counted as 8-bit integers".to_owned(),
        });
    }
    inventory.notes.extend(gaps(file.path(), places, data_bytes));
    Ok(inventory)
}

/// Notes about bytes that no tensor or more than one tensor claims.
fn gaps(path: &str, mut places: Vec<(u64, u64)>, data_bytes: u64) -> Option<Unknown> {
    places.sort_unstable();
    let (mut reached, mut hole_bytes, mut overlap_bytes) = (0_u64, 0_u64, 0_u64);
    for (begin, end) in places {
        hole_bytes = hole_bytes.saturating_add(begin.saturating_sub(reached));
        overlap_bytes = overlap_bytes.saturating_add(reached.min(end).saturating_sub(begin));
        reached = reached.max(end);
    }
    hole_bytes = hole_bytes.saturating_add(data_bytes.saturating_sub(reached));
    if hole_bytes == 0 && overlap_bytes == 0 {
        return None;
    }
    Some(Unknown {
        what: format!("{path}: {hole_bytes} bytes belong to no tensor, {overlap_bytes} to more than one"),
        consequence: "tensors are counted at their declared size; other readers may refuse the file".to_owned(),
    })
}

/// Type and bits of one element, by the format's name.
fn stored_type(name: &str) -> Option<(Dtype, u64)> {
    Some(match name {
        "BOOL" => (Dtype::Bool, 8),
        "F4" => (Dtype::F4E2m1, 4),
        "F6_E2M3" => (Dtype::F6E2m3, 6),
        "F6_E3M2" => (Dtype::F6E3m2, 6),
        "U8" => (Dtype::U8, 8),
        "I8" => (Dtype::I8, 8),
        "F8_E5M2" | "F8_E5M2FNUZ" => (Dtype::F8E5m2, 8),
        "F8_E4M3" | "F8_E4M3FNUZ" => (Dtype::F8E4m3, 8),
        "F8_E8M0" => (Dtype::F8E8m0, 8),
        "I16" => (Dtype::I16, 16),
        "U16" => (Dtype::U16, 16),
        "F16" => (Dtype::F16, 16),
        "BF16" => (Dtype::Bf16, 16),
        "I32" => (Dtype::I32, 32),
        "U32" => (Dtype::U32, 32),
        "F32" => (Dtype::F32, 32),
        "C64" => (Dtype::C64, 64),
        "F64" => (Dtype::F64, 64),
        "I64" => (Dtype::I64, 64),
        "U64" => (Dtype::U64, 64),
        _ => return None,
    })
}

struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = Vec<Declared>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one entry for each tensor")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut declared = Vec::new();
        let mut has_metadata = false;
        while let Some(name) = map.next_key::<String>()? {
            if name == "__metadata__" {
                if has_metadata {
                    return Err(de::Error::custom("`__metadata__` stands twice"));
                }
                has_metadata = true;
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            if declared.len() as u64 >= TENSORS_MAX {
                return Err(de::Error::custom(format!("more than {TENSORS_MAX} tensors")));
            }
            if name.len() as u64 > NAME_BYTES_MAX {
                return Err(de::Error::custom(format!("a tensor name of {} bytes", name.len())));
            }
            declared.push(map.next_value_seed(TensorSeed { name })?);
        }
        let mut names: Vec<&str> = declared.iter().map(|tensor| tensor.name.as_str()).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair.first() == pair.last()).and_then(|pair| pair.first());
        if let Some(name) = twice {
            return Err(de::Error::custom(format!("tensor `{name}` stands twice")));
        }
        Ok(declared)
    }
}

struct TensorSeed {
    name: String,
}

impl<'de> DeserializeSeed<'de> for TensorSeed {
    type Value = Declared;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Declared, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TensorSeed {
    type Value = Declared;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with `dtype`, `shape` and `data_offsets` for tensor `{}`", self.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Declared, A::Error> {
        let (mut dtype, mut shape, mut offsets) = (None, None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "dtype" if dtype.is_none() => dtype = Some(map.next_value::<String>()?),
                "shape" if shape.is_none() => shape = Some(map.next_value::<Sizes>()?.0),
                "data_offsets" if offsets.is_none() => offsets = Some(map.next_value::<[u64; 2]>()?),
                "dtype" | "shape" | "data_offsets" => {
                    return Err(de::Error::custom(format!("tensor `{}` has `{key}` twice", self.name)));
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let missing = |key: &str| de::Error::custom(format!("tensor `{}` has no `{key}`", self.name));
        let [begin, end] = offsets.ok_or_else(|| missing("data_offsets"))?;
        let dtype = dtype.ok_or_else(|| missing("dtype"))?;
        let shape = shape.ok_or_else(|| missing("shape"))?;
        Ok(Declared { name: self.name, dtype, shape, begin, end })
    }
}

/// A shape whose rank is bounded while it is read.
struct Sizes(Vec<u64>);

impl<'de> de::Deserialize<'de> for Sizes {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SizesVisitor;
        impl<'de> Visitor<'de> for SizesVisitor {
            type Value = Sizes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of whole numbers of at least 0")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Sizes, A::Error> {
                let mut sizes = Vec::new();
                while let Some(size) = items.next_element()? {
                    if sizes.len() >= RANK_MAX {
                        return Err(de::Error::custom(format!("a shape of more than {RANK_MAX} sizes")));
                    }
                    sizes.push(size);
                }
                Ok(Sizes(sizes))
            }
        }
        deserializer.deserialize_seq(SizesVisitor)
    }
}
