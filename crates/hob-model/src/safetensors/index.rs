//! The index of a sharded checkpoint (`model.safetensors.index.json`): which shard holds which tensor, and the total size.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, MapAccess, Visitor};

use crate::error::ModelError;
use crate::reader::tensors::TENSORS_MAX;

/// Most shards. The largest published checkpoints have about 200.
const SHARDS_MAX: usize = 20_000;

/// What an index says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Index {
    /// Bytes of all tensors, when stated.
    pub(crate) total_bytes: Option<u64>,
    /// Shard file -> number of tensors that it holds.
    pub(crate) shards: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct IndexFile {
    #[serde(default)]
    metadata: Metadata,
    weight_map: WeightMap,
}

#[derive(Deserialize, Default)]
struct Metadata {
    // Some tools write it as a float.
    total_size: Option<f64>,
}

/// Reads the text of an index.
pub(crate) fn read_index(path: &str, bytes: &[u8]) -> Result<Index, ModelError> {
    let malformed = |why: String| ModelError::Malformed { path: path.to_owned(), format: "safetensors index", why };
    let file: IndexFile = serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
    let shards = file.weight_map.0;
    let outside = shards.keys().find(|name| name.is_empty() || name.contains(['/', '\\', '\0']) || *name == "..");
    if let Some(name) = outside {
        return Err(malformed(format!("shard `{name}` is not a plain file name")));
    }
    // 2^53: beyond it a float no longer counts bytes, and no model is near it.
    let total_bytes = file.metadata.total_size.filter(|total| *total > 0.0 && *total < 9e15).map(|total| total as u64);
    Ok(Index { total_bytes, shards })
}

struct WeightMap(BTreeMap<String, u64>);

impl<'de> Deserialize<'de> for WeightMap {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor;
        impl<'de> Visitor<'de> for MapVisitor {
            type Value = WeightMap;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object from tensor names to shard files")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WeightMap, A::Error> {
                let mut shards: BTreeMap<String, u64> = BTreeMap::new();
                let mut tensors = 0_u64;
                // Only counts are kept: the shards' own headers say which tensors they hold.
                while let Some((_, shard)) = map.next_entry::<de::IgnoredAny, String>()? {
                    tensors += 1;
                    *shards.entry(shard).or_default() += 1;
                    if tensors > TENSORS_MAX || shards.len() > SHARDS_MAX {
                        return Err(de::Error::custom(format!(
                            "more than {TENSORS_MAX} tensors or {SHARDS_MAX} shards"
                        )));
                    }
                }
                Ok(WeightMap(shards))
            }
        }
        deserializer.deserialize_map(MapVisitor)
    }
}
