//! Every published parameter count in `data/models/index.csv`, and the folds that speed and memory stand on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use hob_model::{Extent, PartRole, Shape, graph_from_config, preset, preset_names};
use hob_units::{Bytes, Quantity};
use serde_json::{Value, json};

/// One row of the index.
struct Row {
    hub_id: String,
    published: Option<u64>,
    computed: Option<u64>,
    is_exact: bool,
}

/// Splits one CSV line; quoted fields hold commas.
fn columns(line: &str) -> Vec<String> {
    let mut columns = vec![String::new()];
    let mut is_quoted = false;
    for character in line.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => columns.push(String::new()),
            other => columns.last_mut().unwrap().push(other),
        }
    }
    columns
}

fn rows() -> Vec<Row> {
    let mut lines = include_str!("../../../data/models/index.csv").lines();
    let heads = columns(lines.next().unwrap());
    lines
        .map(|line| {
            let row: BTreeMap<&str, String> = heads.iter().map(String::as_str).zip(columns(line)).collect();
            Row {
                hub_id: row["hf_id"].clone(),
                published: row["published_params"].parse().ok(),
                computed: row["computed_params"].parse().ok(),
                is_exact: row["match"] == "exact",
            }
        })
        .collect()
}

#[test]
fn parameter_counts_equal_the_published_ones() {
    let rows = rows();
    assert_eq!(rows.len(), 113);
    let mut wrong = Vec::new();
    for row in &rows {
        let wanted = if row.is_exact { row.published } else { row.computed }.unwrap();
        match preset(&row.hub_id).unwrap().graph() {
            Ok(graph) if graph.parameters() == wanted => {}
            Ok(graph) => wrong.push(format!("{}: {} instead of {wanted}", row.hub_id, graph.parameters())),
            Err(error) => wrong.push(format!("{}: {error}", row.hub_id)),
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows: {wrong:#?}", wrong.len(), rows.len());
}

/// Parameters in billions, rounded as their source rounds them.
fn billions(parameters: u64, decimals: usize) -> String {
    format!("{:.decimals$}", parameters as f64 / 1e9)
}

#[test]
fn parts_are_those_of_the_reports() {
    // Embedding, vision tower and all else, in billions. Gemma 2 report (arXiv 2408.00118) table 2; Gemma 3 report
    // (arXiv 2503.19786) table 1, which leaves the projector out; gpt-oss model card (arXiv 2508.10925) table 1.
    let rows = [
        ("gemma-2-2b", "0.59", "0.00", "2.02"),
        ("gemma-2-9b", "0.92", "0.00", "8.32"),
        ("gemma-2-27b", "1.18", "0.00", "26.05"),
        ("gemma-3-1b-it", "0.30", "0.00", "0.70"),
        ("gemma-3-4b-it", "0.67", "0.42", "3.21"),
        ("gemma-3-12b-it", "1.01", "0.42", "10.76"),
        ("gemma-3-27b-it", "1.41", "0.42", "25.60"),
        ("gpt-oss-20b", "0.58", "0.00", "20.34"),
        ("gpt-oss-120b", "0.58", "0.00", "116.25"),
    ];
    for (name, embedding, tower, rest) in rows {
        let summary = preset(name).unwrap().graph().unwrap().summary();
        let of = |role: PartRole| -> u64 {
            summary.parts.iter().filter(|part| part.role == role).map(|part| part.parameters).sum()
        };
        let of_embedding = of(PartRole::Embedding);
        let of_tower = of(PartRole::VisionTower);
        let of_rest = summary.parameters - of_embedding - of_tower - of(PartRole::Projector);
        let got = [billions(of_embedding, 2), billions(of_tower, 2), billions(of_rest, 2)];
        assert_eq!(got, [embedding, tower, rest], "{name}");
    }
}

#[test]
fn active_parameters_are_those_of_the_cards() {
    // Billions that a token passes through. gpt-oss cards leave the embedding out, the others round.
    for (name, wanted) in [("gpt-oss-20b", "3.61"), ("gpt-oss-120b", "5.13")] {
        let graph = preset(name).unwrap().graph().unwrap();
        let embedding = 201_088 * 2_880;
        assert_eq!(billions(graph.active_parameters() - embedding, 2), wanted, "{name}");
    }
    for (name, wanted) in [("Llama-4-Scout-17B-16E-Instruct", "17"), ("gemma-4-26B-A4B", "4")] {
        let graph = preset(name).unwrap().graph().unwrap();
        assert_eq!(billions(graph.active_parameters(), 0), wanted, "{name}");
    }
}

#[test]
fn caches_are_those_of_the_papers() {
    // Bytes for one token, and for a context of 131,072 tokens (its own longest one where that is shorter, as the cache
    // is asked for whatever the model allows). OPT-13B: 800 KB, PagedAttention (arXiv 2309.06180) section 3. The others
    // are layers x key/value heads x head width x 2 x 2 bytes, with windows and chunks: gpt-oss every second layer 128;
    // Gemma 2 every second 4,096; Gemma 3 27B 52 of 62 layers 1,024; Llama 4 36 of 48 layers 8,192; Gemma 4 25 of 30
    // layers 1,024 with 8 x 256, the others 2 x 512.
    const LONG: u64 = 131_072;
    let rows = [
        ("opt-13b", 819_200, 819_200 * LONG),
        ("bloom", 70 * 14_336 * 4, 70 * 14_336 * 4 * LONG),
        ("gpt2", 12 * 768 * 4, 12 * 768 * 4 * LONG),
        ("gpt-j-6b", 28 * 4096 * 4, 28 * 4096 * 4 * LONG),
        ("gpt-neox-20b", 44 * 6144 * 4, 44 * 6144 * 4 * LONG),
        ("phi-2", 32 * 2560 * 4, 32 * 2560 * 4 * LONG),
        ("falcon-7b", 32 * 64 * 4, 32 * 64 * 4 * LONG),
        ("falcon-40b", 60 * 8 * 64 * 4, 60 * 8 * 64 * 4 * LONG),
        ("gpt-oss-20b", 24 * 512 * 4, 12 * 512 * 4 * (LONG + 128)),
        ("gpt-oss-120b", 36 * 512 * 4, 18 * 512 * 4 * (LONG + 128)),
        ("gemma-2-9b", 42 * 2048 * 4, 21 * 2048 * 4 * (LONG + 4096)),
        ("gemma-3-27b-it", 62 * 2048 * 4, 2048 * 4 * (10 * LONG + 52 * 1024)),
        ("Llama-4-Scout-17B-16E-Instruct", 48 * 1024 * 4, 1024 * 4 * (12 * LONG + 36 * 8192)),
        ("gemma-4-26B-A4B", 4 * (25 * 2048 + 5 * 1024), 4 * (5 * 1024 * LONG + 25 * 2048 * 1024)),
    ];
    for (name, one, long) in rows {
        let graph = preset(name).unwrap().graph().unwrap();
        assert_eq!(graph.kv_bytes(1, 16.0), Bytes(one), "{name}");
        assert_eq!(graph.kv_bytes(LONG, 16.0), Bytes(long), "{name}");
    }
}

#[test]
fn work_is_twice_the_matrices_and_the_scores() {
    // Matrix parameters that a token passes through, head included, in billions: published totals less the input
    // embedding, or the reports' non-embedding count and the head. Then layers x width that scores reach at 1,024 tokens
    // of past, all of them inside every window but gpt-oss's.
    let rows = [
        ("opt-13b", 12.59 + 0.257, 40 * 5120, 1024),
        ("bloom", 176.247, 70 * 14_336, 1024),
        ("gpt-neox-20b", 20.555 - 0.310, 44 * 6144, 1024),
        ("falcon-7b", 6.922, 32 * 4544, 1024),
        ("phi-2", 2.780 - 0.131, 32 * 2560, 1024),
        ("gemma-2-9b", 8.324 + 0.918, 42 * 4096, 1024),
        ("gemma-3-27b-it", 25.6 + 1.41, 62 * 4096, 1024),
        ("gpt-oss-20b", 3.61, 24 * 4096, (1024 + 128) / 2),
        ("gpt-oss-120b", 5.13, 36 * 4096, (1024 + 128) / 2),
    ];
    for (name, matrices, scored, past) in rows {
        let graph = preset(name).unwrap().graph().unwrap();
        let shape = Shape { tokens: 1, past: 1024, outputs: 1, ..Shape::default() };
        let wanted = 2.0 * matrices * 1e9 + 4.0 * f64::from(scored) * f64::from(past);
        let got = graph.flops(&shape).base();
        assert!((got / wanted - 1.0).abs() < 0.01, "{name}: {got} instead of {wanted}");
    }
}

#[test]
fn a_picture_costs_its_tower_alone() {
    // Gemma 3: 4,096 patches of 14 x 14 through 27 layers of SigLIP So400m; 2 x 0.413 B matrix parameters for each, and
    // scores over all patches; then 256 positions through the projector.
    let graph = preset("gemma-3-4b-it").unwrap().graph().unwrap();
    let text = Shape { tokens: 1, outputs: 1, ..Shape::default() };
    let picture = Shape { height: 896, width: 896, frames: 1, ..text };
    let more = graph.flops(&picture).base() - graph.flops(&text).base();
    let layers = 27.0 * (4.0 * 1152.0 * 1152.0 + 2.0 * 1152.0 * 4304.0);
    let matrices = 2.0 * 4096.0 * (layers + 588.0 * 1152.0) + 2.0 * 256.0 * 1152.0 * 2560.0;
    let scores = 27.0 * 4.0 * 4096.0 * 4096.0 * 1152.0;
    assert!((more / (matrices + scores) - 1.0).abs() < 1e-9, "{more} instead of {}", matrices + scores);
}

#[test]
fn a_ratio_says_how_many_patches_make_a_position() {
    let whole: Value = serde_json::from_str(preset("Llama-4-Scout-17B-16E-Instruct").unwrap().config).unwrap();
    for (ratio, side) in [(json!(0.5), 28.0_f64), (json!(0.25), 56.0), (json!(1), 14.0)] {
        let mut config = whole.clone();
        config["vision_config"]["pixel_shuffle_ratio"] = ratio.clone();
        let graph = graph_from_config("config.json", "it", &config).unwrap();
        let projector = graph.parts.iter().find(|part| part.role == PartRole::Projector).unwrap();
        let Extent::Grid { pixels_per_position, .. } = projector.blocks[0].ops[0].extent else { panic!("no picture") };
        assert!((pixels_per_position - side * side).abs() < 1e-9, "{ratio}: {pixels_per_position}");
    }
    for ratio in [json!(0), json!(-1), json!(2), json!("half")] {
        let mut config = whole.clone();
        config["vision_config"]["pixel_shuffle_ratio"] = ratio.clone();
        let error = graph_from_config("config.json", "it", &config).unwrap_err().to_string();
        assert!(error.contains("pixel_shuffle_ratio"), "{ratio}: {error}");
    }
}

#[test]
fn no_value_of_any_key_panics() {
    let hostile =
        ["0", "-1", "1.5", "1e300", "268435456", "18446744073709551615", "null", "\"x\"", "[]", "[0,0,0]", "{}"];
    for name in preset_names() {
        let whole: Value = serde_json::from_str(preset(name).unwrap().config).unwrap();
        let mut pointers: Vec<String> = Vec::new();
        for (key, value) in whole.as_object().unwrap() {
            pointers.push(format!("/{key}"));
            pointers.extend(value.as_object().into_iter().flatten().map(|(inner, _)| format!("/{key}/{inner}")));
        }
        for pointer in pointers {
            for value in hostile {
                let mut changed = whole.clone();
                *changed.pointer_mut(&pointer).unwrap() = serde_json::from_str(value).unwrap();
                if let Ok(graph) = graph_from_config("config.json", name, &changed) {
                    // Whatever is accepted must also be foldable.
                    let summary = graph.summary();
                    assert!(summary.flops.is_none_or(|flops| !flops.base().is_nan()), "{name}: {pointer} = {value}");
                }
            }
        }
    }
}

#[test]
fn layers_are_those_of_the_configs() {
    let rows = [
        ("gemma-3-27b-it", 62),
        ("gemma-4-26B-A4B", 30),
        ("Llama-4-Scout-17B-16E-Instruct", 48),
        ("bert-base-uncased", 12),
        ("google/vit-base-patch16-224", 12),
        ("openai/clip-vit-base-patch32", 24),
        ("whisper-base", 12),
        ("FLUX.1-dev", 57),
        ("Wan2.1-T2V-14B-Diffusers", 40),
    ];
    for (name, layers) in rows {
        assert_eq!(preset(name).unwrap().graph().unwrap().layers(), layers, "{name}");
    }
}
