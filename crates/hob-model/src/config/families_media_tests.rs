//! Every published parameter count of these families, and hostile variants of each config.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// The public configs lie outside the repository; the crate itself reads no file here.
#![allow(clippy::disallowed_methods, clippy::print_stderr)]

use std::path::PathBuf;

use serde_json::Value;

use super::graph;
use crate::companion::companions;
use crate::config::fields::Fields;
use crate::graph::{ModelGraph, Shape, Site};

/// The folder of public configs, or `None` (with a message) when it is not here.
fn configs() -> Option<PathBuf> {
    let shared = std::env::var_os("HOB_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let folder = shared.join("facts/model_configs");
    if !folder.is_dir() {
        eprintln!("skipped: {} is not here; set HOB_SHARED", folder.display());
        return None;
    }
    Some(folder)
}

fn read(text: &str, name: &str) -> Option<ModelGraph> {
    let value: Value = serde_json::from_str(text).unwrap();
    let fields = Fields::new(name, &value).unwrap();
    graph(&fields, name).map(|graph| graph.unwrap())
}

#[test]
fn published_counts_are_met_exactly() {
    let Some(folder) = configs() else { return };
    let mut checked = 0;
    let mut wrong = Vec::new();
    for line in std::fs::read_to_string(folder.join("index.csv")).unwrap().lines().skip(1) {
        // No quoted field stands before the published count except the source, which is cut off by its file name.
        let file = line.split(',').next().unwrap();
        let Some(graph) = read(&std::fs::read_to_string(folder.join(file)).unwrap(), file) else { continue };
        if !line.contains(",exact,") {
            continue;
        }
        let published: u64 =
            line.split(',').find_map(|field| field.parse().ok().filter(|count| *count > 1_000_000)).unwrap();
        checked += 1;
        if graph.parameters() != published {
            wrong.push(format!("{file}: {} instead of {published}", graph.parameters()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked == 22, "only {checked} configs of these families were found");
}

/// Forward GMAC of one sample: without the attention cores, and with them.
fn gmac(graph: &ModelGraph, shape: &Shape) -> (f64, f64) {
    let all = graph.flops(shape).0 / 2e9;
    let cores: f64 = graph
        .operators()
        .filter(|(_, op)| op.site == Site::AttentionCore)
        .map(|(repeat, op)| f64::from(repeat) * op.flops(shape) / 2e9)
        .sum();
    (all - cores, all)
}

#[test]
fn published_work_is_met() {
    let Some(folder) = configs() else { return };
    // File, GMAC without attention cores, GMAC with them, tolerance. Published: 338.7 G for SD 1.x (BK-SDM, arXiv
    // 2305.15798, by a counter that skips the cores), FLUX's 59.5 TFLOP without cores, ViT's 17.56 and 61.55 (`_ops` of
    // torchvision's weights, a multiply-add as one). Both of SDXL and the other column of all are derived from the modules
    // and the tokens, and stand here to be noticed when they change.
    let rows = [
        ("stable-diffusion-v1-5__stable-diffusion-v1-5", 338.7, 401.6, 0.001),
        ("stabilityai__stable-diffusion-xl-base-1.0", 2_988.7, 3_380.6, 0.001),
        ("black-forest-labs__FLUX.1-dev", 59_500.0 / 2.0, 74_400.0 / 2.0, 0.001),
        ("google__vit-base-patch16-224", 16.85, 17.56, 0.01),
        ("google__vit-large-patch16-224", 59.6, 61.55, 0.01),
    ];
    for (file, without, with, tolerance) in rows {
        let graph = read(&std::fs::read_to_string(folder.join(format!("{file}.json"))).unwrap(), file).unwrap();
        let (got_without, got_with) = gmac(&graph, &graph.native_shape);
        assert!((got_without / without - 1.0).abs() < tolerance, "{file}: {got_without} instead of {without}");
        assert!((got_with / with - 1.0).abs() < tolerance, "{file}: {got_with} instead of {with}");
    }
}

#[test]
fn video_tokens_follow_the_causal_vae() {
    let Some(folder) = configs() else { return };
    let file = "Wan-AI__Wan2.1-T2V-14B-Diffusers.json";
    let graph = read(&std::fs::read_to_string(folder.join(file)).unwrap(), file).unwrap();
    let tokens = |frames: u64| {
        let shape = Shape { frames, ..graph.native_shape };
        graph.operators().map(|(_, op)| op.extent.positions(&shape)).fold(0.0, f64::max)
    };
    for (frames, steps) in [(1, 1), (5, 2), (80, 20), (81, 21), (129, 33)] {
        assert_eq!(tokens(frames), f64::from(steps * (720 / 16) * (1280 / 16)), "{frames} frames");
    }
}

#[test]
fn companions_follow_the_denoiser() {
    let Some(folder) = configs() else { return };
    let rows: [(&str, &[u64]); 9] = [
        ("stable-diffusion-v1-5__stable-diffusion-v1-5", &[123_060_480, 83_653_863]),
        ("stabilityai__stable-diffusion-xl-base-1.0", &[123_060_480, 694_659_840, 83_653_863]),
        ("stabilityai__stable-diffusion-3.5-large", &[123_650_304, 694_659_840, 4_762_310_656, 83_819_683]),
        ("black-forest-labs__FLUX.1-dev", &[123_060_480, 4_762_310_656, 83_819_683]),
        ("black-forest-labs__FLUX.1-schnell", &[123_060_480, 4_762_310_656, 83_819_683]),
        ("Wan-AI__Wan2.1-T2V-14B-Diffusers", &[5_680_910_336, 126_892_531]),
        ("hunyuanvideo-community__HunyuanVideo", &[7_505_186_816, 123_060_480, 246_478_803]),
        ("google__vit-base-patch16-224", &[]),
        ("openai__whisper-base", &[]),
    ];
    for (file, parameters) in rows {
        let graph = read(&std::fs::read_to_string(folder.join(format!("{file}.json"))).unwrap(), file).unwrap();
        let companions = companions(&graph);
        let got: Vec<u64> = companions.iter().map(|companion| companion.parameters).collect();
        assert_eq!(got, parameters, "{file}");
        for companion in companions {
            // Each is either a text encoder or an autoencoder, and its work is known.
            assert!(companion.text.is_some() != companion.decoder.is_some(), "{}", companion.name);
        }
    }
}

#[test]
fn no_value_of_any_key_panics() {
    let Some(folder) = configs() else { return };
    let hostile =
        ["0", "-1", "1.5", "1e300", "268435456", "18446744073709551615", "null", "\"x\"", "[]", "[0,0,0]", "{}"];
    for entry in std::fs::read_dir(folder).unwrap() {
        let Ok(text) = std::fs::read_to_string(entry.unwrap().path()) else { continue };
        let Ok(whole) = serde_json::from_str::<Value>(&text) else { continue };
        let keys: Vec<String> = whole.as_object().unwrap().keys().cloned().collect();
        for key in keys.iter().filter(|key| *key != "_class_name" && *key != "model_type") {
            for value in hostile {
                let mut changed = whole.clone();
                changed[key] = serde_json::from_str(value).unwrap();
                let fields = Fields::new("config.json", &changed).unwrap();
                if let Some(Ok(graph)) = graph(&fields, "hostile") {
                    // Whatever is accepted must also be foldable.
                    let summary = graph.summary();
                    assert!(summary.flops.is_none_or(|flops| !flops.0.is_nan()), "{key} = {value}");
                }
            }
        }
    }
}
