//! Writes small valid files into `corpus/`, from which the fuzz targets start.

use std::path::Path;

#[allow(dead_code)]
#[path = "../../crates/hob-model/tests/readers/samples.rs"]
mod samples;
#[allow(dead_code)]
#[path = "../../crates/hob-model/tests/readers/writers.rs"]
mod writers;

fn main() -> std::io::Result<()> {
    let index = br#"{"metadata":{"total_size":16},"weight_map":{"a.weight":"model-00001-of-00002.safetensors"}}"#;
    let seeds: [(&str, Vec<Vec<u8>>); 5] = [
        ("safetensors", vec![samples::tiny_safetensors(), samples::llama_safetensors()]),
        ("safetensors_index", vec![index.to_vec()]),
        ("gguf", vec![samples::llama_gguf(), samples::llama_gguf_big_endian()]),
        ("onnx", vec![samples::classifier_onnx(), samples::encoder_onnx(), samples::deep_onnx(3)]),
        ("config", vec![samples::LLAMA_CONFIG.as_bytes().to_vec()]),
    ];
    for (target, files) in seeds {
        let folder = Path::new("corpus").join(target);
        std::fs::create_dir_all(&folder)?;
        for (number, bytes) in files.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), bytes)?;
        }
    }
    Ok(())
}
