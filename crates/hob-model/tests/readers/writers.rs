//! Tiny encoders of the three formats, written from their specifications and not from the readers.

/// A safetensors file: header from entries, then zeros.
pub fn safetensors(tensors: &[(&str, &str, &[u64], u64)]) -> Vec<u8> {
    let mut entries = vec!["\"__metadata__\":{\"format\":\"pt\"}".to_owned()];
    let mut at = 0;
    for (name, dtype, shape, bytes) in tensors {
        entries.push(format!(
            "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{at},{}]}}",
            at + bytes
        ));
        at += bytes;
    }
    let mut file = safetensors_raw(&format!("{{{}}}", entries.join(",")));
    file.resize(file.len() + usize::try_from(at).unwrap(), 0);
    file
}

/// A safetensors file with any header text and no data.
pub fn safetensors_raw(header: &str) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file
}

/// The text of a sharded checkpoint's index.
pub fn shard_index(total: u64, shards: &[(&str, &str)]) -> String {
    let map: Vec<String> = shards.iter().map(|(tensor, shard)| format!("\"{tensor}\":\"{shard}\"")).collect();
    format!("{{\"metadata\":{{\"total_size\":{total}}},\"weight_map\":{{{}}}}}", map.join(","))
}

/// A GGUF file under construction.
pub struct Gguf {
    keys: Vec<Vec<u8>>,
    tensors: Vec<(String, Vec<u64>, u32, u64)>,
    is_big_endian: bool,
}

impl Gguf {
    pub fn new(architecture: &str) -> Self {
        Self { keys: Vec::new(), tensors: Vec::new(), is_big_endian: false }.text("general.architecture", architecture)
    }

    pub fn big_endian(architecture: &str) -> Self {
        Self { keys: Vec::new(), tensors: Vec::new(), is_big_endian: true }.text("general.architecture", architecture)
    }

    fn bytes<const N: usize>(&self, mut little: [u8; N]) -> [u8; N] {
        if self.is_big_endian {
            little.reverse();
        }
        little
    }

    fn string(&self, text: &str) -> Vec<u8> {
        let mut bytes = self.bytes((text.len() as u64).to_le_bytes()).to_vec();
        bytes.extend(text.as_bytes());
        bytes
    }

    pub fn text(self, key: &str, value: &str) -> Self {
        let value = self.string(value);
        self.raw(key, 8, &value)
    }

    pub fn number(self, key: &str, value: u32) -> Self {
        let value = self.bytes(value.to_le_bytes());
        self.raw(key, 4, &value)
    }

    /// An array of texts, as vocabularies are.
    pub fn texts(self, key: &str, values: &[&str]) -> Self {
        let mut bytes = self.bytes(8_u32.to_le_bytes()).to_vec();
        bytes.extend(self.bytes((values.len() as u64).to_le_bytes()));
        for value in values {
            bytes.extend(self.string(value));
        }
        self.raw(key, 9, &bytes)
    }

    pub fn raw(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        let mut bytes = self.string(key);
        bytes.extend(self.bytes(kind.to_le_bytes()));
        bytes.extend(value);
        self.keys.push(bytes);
        self
    }

    /// A tensor with its sizes innermost first, as the format has them.
    pub fn tensor(mut self, name: &str, sizes: &[u64], kind: u32, bytes: u64) -> Self {
        self.tensors.push((name.to_owned(), sizes.to_vec(), kind, bytes));
        self
    }

    pub fn finish(self) -> Vec<u8> {
        let mut file = b"GGUF".to_vec();
        file.extend(self.bytes(3_u32.to_le_bytes()));
        file.extend(self.bytes((self.tensors.len() as u64).to_le_bytes()));
        file.extend(self.bytes((self.keys.len() as u64).to_le_bytes()));
        for key in &self.keys {
            file.extend(key);
        }
        let mut offset = 0_u64;
        for (name, sizes, kind, bytes) in &self.tensors {
            file.extend(self.string(name));
            file.extend(self.bytes(u32::try_from(sizes.len()).unwrap().to_le_bytes()));
            for size in sizes {
                file.extend(self.bytes(size.to_le_bytes()));
            }
            file.extend(self.bytes(kind.to_le_bytes()));
            file.extend(self.bytes(offset.to_le_bytes()));
            offset += bytes.next_multiple_of(32);
        }
        let data = file.len().next_multiple_of(32);
        file.resize(data + usize::try_from(offset).unwrap(), 0);
        file
    }
}

/// Protobuf messages.
#[derive(Clone, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    pub fn new() -> Self {
        Self::default()
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub fn int(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3);
        self.varint(value.cast_unsigned());
        self
    }

    pub fn bytes(mut self, field: u64, value: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    pub fn text(self, field: u64, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    pub fn message(self, field: u64, value: &Message) -> Self {
        self.bytes(field, &value.0)
    }
}

/// A `TensorProto` of floats with zero data of the right length.
pub fn weight(name: &str, sizes: &[i64]) -> Message {
    let bytes = 4 * sizes.iter().product::<i64>();
    tensor(name, 1, sizes, &vec![0; usize::try_from(bytes).unwrap()])
}

/// A `TensorProto` of 64-bit integers.
pub fn numbers(name: &str, values: &[i64]) -> Message {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    tensor(name, 7, &[values.len() as i64], &bytes)
}

pub fn tensor(name: &str, kind: i64, sizes: &[i64], raw: &[u8]) -> Message {
    let message = sizes.iter().fold(Message::new(), |message, size| message.int(1, *size));
    message.int(2, kind).text(8, name).bytes(9, raw)
}

/// A `NodeProto`.
pub fn node(op: &str, name: &str, inputs: &[&str], outputs: &[&str]) -> Message {
    let message = inputs.iter().fold(Message::new(), |message, input| message.text(1, input));
    let message = outputs.iter().fold(message, |message, output| message.text(2, output));
    message.text(3, name).text(4, op)
}

/// An attribute of integers, to be put at field 5 of a node.
pub fn ints(name: &str, values: &[i64]) -> Message {
    values.iter().fold(Message::new().text(1, name), |message, value| message.int(8, *value))
}

/// An attribute of one integer.
pub fn int(name: &str, value: i64) -> Message {
    Message::new().text(1, name).int(3, value)
}

/// A `ValueInfoProto`; a negative size is a free axis.
pub fn value(name: &str, kind: i64, sizes: &[i64]) -> Message {
    let shape = sizes.iter().enumerate().fold(Message::new(), |shape, (at, size)| {
        let dimension = if *size < 0 {
            Message::new().text(2, &format!("axis{at}_of_{name}"))
        } else {
            Message::new().int(1, *size)
        };
        shape.message(1, &dimension)
    });
    let tensor_type = Message::new().int(1, kind).message(2, &shape);
    Message::new().text(1, name).message(2, &Message::new().message(1, &tensor_type))
}

/// A graph from nodes, initializers, inputs and outputs.
pub fn graph(nodes: &[Message], tensors: &[Message], inputs: &[Message], outputs: &[Message]) -> Message {
    let graph = nodes.iter().fold(Message::new(), |graph, node| graph.message(1, node));
    let graph = tensors.iter().fold(graph, |graph, tensor| graph.message(5, tensor));
    let graph = inputs.iter().fold(graph, |graph, input| graph.message(11, input));
    outputs.iter().fold(graph, |graph, output| graph.message(12, output))
}

/// A `ModelProto`.
pub fn model(graph: &Message) -> Vec<u8> {
    Message::new().int(1, 9).text(2, "test").message(7, graph).message(8, &Message::new().int(2, 17)).0
}
