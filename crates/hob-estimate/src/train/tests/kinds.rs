//! Training of models that are no language models, over the same graph.

use hob_model::{ModelGraph, RecommenderSizes, preset, recommender_graph};

use super::*;

fn graph(name: &str) -> ModelGraph {
    vision_preset(name).unwrap_or_else(|| preset(name).unwrap_or_else(|| panic!("no {name}")).graph().unwrap())
}

/// Memory in GiB between `low` and `high` on one card.
fn check(name: &str, pixels: u64, card: &str, strategy: TrainStrategy, low: f64, high: f64) -> TrainEstimate {
    let graph = graph(name);
    let frames = u64::from(pixels > 0);
    let shape = Shape { height: pixels, width: pixels, frames, ..graph.native_shape };
    let job = TrainJob { shape, framework: "pytorch" };
    let world = World::new(card, 1, 1);
    let estimate =
        estimate_train(&graph, &world.hardware(), &strategy, &job, &Efficiencies::embedded().unwrap()).unwrap();
    let found = gibibytes(&estimate);
    println!("{name} {pixels} on {card}: {found:.1} GiB, {}, mfu {}", estimate.samples_per_second, estimate.mfu);
    assert!((low..high).contains(&found), "{name} at {pixels} on {card}: {found:.1} GiB");
    estimate
}

fn half(micro_batch: u32) -> TrainStrategy {
    TrainStrategy { micro_batch, precision: NumberFormat::Fp16, ..plain(1) }
}

#[test]
fn pictures() {
    // NVIDIA's ResNet-50 recipe fills a 16 GB V100 with 256 pictures in mixed precision.
    check("resnet50", 224, "v100-sxm2-16", half(256), 8.0, 16.0);
    let small = check("yolov8m", 640, "t4", half(8), 2.0, 12.0);
    let large = check("yolov8m", 1280, "t4", half(2), 2.0, 12.0);
    // A quarter of the pictures with four times the pixels: the same activations.
    let kept = |estimate: &TrainEstimate| kind(estimate, &[MemoryKind::Activations]);
    assert!((kept(&small) / kept(&large) - 1.0).abs() < 0.05);
    // Patches grow with the square of the side, and what attention computes with their square.
    let vit = |pixels| check("google/vit-large-patch16-224", pixels, "a100-sxm-40", half(4), 3.0, 40.0);
    let (low, high) = (vit(224), vit(896));
    let attention = |estimate: &TrainEstimate| {
        estimate.terms.iter().find(|term| term.what == "attention").map_or(0.0, |term| term.time.mid.0)
    };
    assert!(attention(&high) > 150.0 * attention(&low), "{} to {}", attention(&low), attention(&high));
}

#[test]
fn speech_and_denoisers() {
    // 1.55 B parameters x 16 bytes are 23 GiB.
    let full = TrainStrategy { recompute: Recompute::Full, micro_batch: 8, ..plain(1) };
    let whisper = check("openai/whisper-large-v3", 0, "a100-sxm-80", full, 24.0, 60.0);
    assert!((kind(&whisper, &[MemoryKind::Weights, MemoryKind::OptimizerState]) / 1.55e9 - 12.0).abs() < 0.3);
    // A convolution in front does not make it a convolutional net.
    assert_eq!(TrainProfile::new(&graph("openai/whisper-large-v3"), &Shape::default()).class(), "dense");
    // 2.6 B frozen parameters at 16 bits are 4.8 GiB; guides train adapters on 24 GB cards.
    let adapters = TrainStrategy { method: TrainMethod::Lora(16), recompute: Recompute::Full, ..plain(1) };
    check("stabilityai/stable-diffusion-xl-base-1.0", 1024, "a10", adapters, 5.0, 22.0);
}

#[test]
fn tables_are_spread_and_their_rows_travel() {
    let sizes = RecommenderSizes {
        table_rows: vec![40_000_000; 4],
        width: 128,
        dense_features: 13,
        bottom: vec![512, 256, 128],
        top: vec![1024, 512, 1],
        lookups_per_table: 1,
    };
    let graph = recommender_graph("dlrm", &sizes).unwrap();
    let job = TrainJob { shape: Shape::default(), framework: "pytorch" };
    let table = Efficiencies::embedded().unwrap();
    let on = |gpus: u32| {
        let world = World::new("a100-sxm-80", gpus, 1);
        let strategy = TrainStrategy { micro_batch: 4096, optimizer: OptimizerKind::Sgd, ..plain(gpus) };
        estimate_train(&graph, &world.hardware(), &strategy, &job, &table).unwrap()
    };
    let (one, eight) = (on(1), on(8));
    println!("{} on one, {} on eight GPUs", one.samples_per_second, eight.samples_per_second);
    let states = |estimate: &TrainEstimate| kind(estimate, &STATES);
    // Weight and momentum in 32 bits; no gradients but of the rows of a batch.
    assert!((states(&one) / (160e6 * 128.0 * 8.0) - 1.0).abs() < 0.01, "{}", states(&one));
    assert!(states(&eight) < 0.13 * states(&one));
    assert!(one.memory.fit == Fit::DoesNot && eight.memory.fit == Fit::Fits);
    assert!(eight.terms.iter().any(|term| term.what == "communication"));
    // Little arithmetic: the card waits for rows, not for products.
    assert!(one.mfu.mid.0 < 0.1, "{:?}", one.mfu);
}
