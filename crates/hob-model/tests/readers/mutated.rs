//! Valid files with some bytes changed: any answer is right, as long as there is one. Calls the entries of the fuzz targets,
//! so that they run on every change and without a fuzzer.

use hob_model::{MemoryFiles, read_model};
use proptest::prelude::*;

use crate::entries;
use crate::samples::{LLAMA_CONFIG, classifier_onnx, encoder_onnx, llama_gguf, llama_safetensors, tiny_safetensors};

/// One change.
#[derive(Debug, Clone)]
enum Change {
    Set(usize, u8),
    Cut(usize),
    Insert(usize, Vec<u8>),
    Repeat(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let telling = prop_oneof![
        any::<u8>(),
        Just(0_u8),
        Just(0xff),
        Just(0x7f),
        Just(0x80),
        Just(b'{'),
        Just(b'"'),
        Just(b'9'),
        Just(b'-')
    ];
    prop_oneof![
        8 => (any::<usize>(), telling).prop_map(|(at, byte)| Change::Set(at, byte)),
        1 => any::<usize>().prop_map(Change::Cut),
        2 => (any::<usize>(), prop::collection::vec(any::<u8>(), 1..12)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        1 => (any::<usize>(), 1..64_usize).prop_map(|(at, length)| Change::Repeat(at, length)),
    ]
}

/// Changes fall into the header nine times of ten.
fn changed(mut bytes: Vec<u8>, header: usize, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let length = bytes.len().max(1);
        let place = |at: usize| if at.is_multiple_of(10) { at % length } else { at % header.clamp(1, length) };
        match change {
            Change::Set(at, byte) => {
                let at = place(*at);
                if let Some(target) = bytes.get_mut(at) {
                    *target = *byte;
                }
            }
            Change::Cut(at) => bytes.truncate(place(*at)),
            Change::Insert(at, more) => {
                let at = place(*at).min(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Repeat(at, count) => {
                let at = place(*at).min(bytes.len());
                let piece: Vec<u8> = bytes.iter().skip(at).take(*count).copied().collect();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

const INDEX: &[u8] = br#"{"metadata":{"total_size":16},
"weight_map":{"a.weight":"model-00001-of-00002.safetensors","b.weight":"model-00002-of-00002.safetensors"}}"#;

fn cases() -> ProptestConfig {
    ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn safetensors(changes in prop::collection::vec(change(), 1..6), is_tiny in any::<bool>()) {
        let file = if is_tiny { tiny_safetensors() } else { llama_safetensors() };
        entries::safetensors(&changed(file, 2_400, &changes));
    }

    #[test]
    fn what_the_reference_reader_accepts_is_accepted(changes in prop::collection::vec(change(), 0..3)) {
        let file = changed(tiny_safetensors(), 200, &changes);
        let Ok((_, reference)) = safetensors::SafeTensors::read_metadata(&file) else { return Ok(()) };
        let elements: u64 =
            reference.tensors().values().map(|tensor| tensor.shape.iter().product::<usize>() as u64).sum();
        let graph = read_model("a.safetensors", &MemoryFiles::new().with("a.safetensors", file));
        match graph {
            Ok(graph) => {
                let stored = graph.stored.unwrap_or_default();
                prop_assert_eq!(stored.tensors, reference.tensors().len() as u64);
                prop_assert_eq!(stored.elements.values().sum::<u64>(), elements);
            }
            // The reference reader keeps the last of two tensors or keys of one name, and takes a file of none.
            Err(error) => {
                let text = error.to_string();
                let is_stricter = ["twice", "no tensor"].iter().any(|words| text.contains(words));
                prop_assert!(is_stricter, "{}", text);
            }
        }
    }

    #[test]
    fn gguf(changes in prop::collection::vec(change(), 1..6)) {
        entries::gguf(&changed(llama_gguf(), 1_800, &changes));
    }

    #[test]
    fn onnx(changes in prop::collection::vec(change(), 1..6), is_encoder in any::<bool>()) {
        let file = if is_encoder { encoder_onnx() } else { classifier_onnx() };
        entries::onnx(&changed(file, 1_500, &changes));
    }

    #[test]
    fn config(changes in prop::collection::vec(change(), 1..6)) {
        entries::config(&changed(LLAMA_CONFIG.as_bytes().to_vec(), usize::MAX, &changes));
    }

    #[test]
    fn safetensors_index(changes in prop::collection::vec(change(), 1..6)) {
        entries::safetensors_index(&changed(INDEX.to_vec(), usize::MAX, &changes));
    }

    #[test]
    fn anything(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for entry in [entries::safetensors, entries::safetensors_index, entries::gguf, entries::onnx, entries::config] {
            entry(&bytes);
        }
    }

    #[test]
    fn any_text_is_a_source_or_an_error(text in ".{0,40}") {
        let _ = read_model(&text, &MemoryFiles::new());
    }
}
