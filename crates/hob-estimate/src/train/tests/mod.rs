//! Anchors and properties of the training estimates; accuracy against published measurements is in `accuracy`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![allow(clippy::disallowed_methods)] // Tests may look for measurements outside the repository, and time themselves.

mod accuracy;
mod kinds;
mod world;

use hob_model::{Shape, vision_preset};
use hob_units::Quantity;

use self::world::{LLAMA2_7B, MIXTRAL, Sizes, World, decoder, plain};
use super::states::StateBytes;
use super::*;
use crate::outcome::{Fit, MemoryKind};
use crate::strategy::{AttentionKernel, NumberFormat, OptimizerKind, Recompute, Sharding, TrainMethod};

fn tokens(tokens: u64) -> Shape {
    Shape { tokens, ..Shape::default() }
}

fn estimate_on(world: &World, sizes: Sizes, length: u64, strategy: &TrainStrategy) -> TrainEstimate {
    try_on(world, sizes, length, strategy).unwrap()
}

fn try_on(world: &World, sizes: Sizes, length: u64, s: &TrainStrategy) -> Result<TrainEstimate, EstimateError> {
    let job = TrainJob { shape: tokens(length), framework: "pytorch" };
    estimate_train(&decoder(sizes), &world.hardware(), s, &job, &Efficiencies::embedded().unwrap())
}

fn gibibytes(estimate: &TrainEstimate) -> f64 {
    estimate.memory.total.mid.as_gib()
}

fn kind(estimate: &TrainEstimate, kinds: &[MemoryKind]) -> f64 {
    estimate.memory.terms.iter().filter(|term| kinds.contains(&term.kind)).map(|term| term.bytes.mid.base()).sum()
}

const STATES: [MemoryKind; 4] =
    [MemoryKind::Weights, MemoryKind::Gradients, MemoryKind::OptimizerState, MemoryKind::Adapters];

#[test]
fn parameters_of_published_models() {
    for (sizes, billions) in [(LLAMA2_7B, 6.74), (MIXTRAL, 46.7)] {
        let profile = TrainProfile::new(&decoder(sizes), &tokens(16));
        let found = profile.total_parameters() / 1e9;
        assert!((found / billions - 1.0).abs() < 0.01, "{found} against {billions}");
    }
}

#[test]
fn bytes_of_states_by_framework() {
    let adam = OptimizerKind::AdamW;
    for (framework, precision, optimizer, total) in [
        ("megatron", NumberFormat::Bf16, adam, 18.0),
        ("pytorch", NumberFormat::Bf16, adam, 16.0),
        ("pytorch", NumberFormat::Fp32, adam, 16.0),
        ("deepspeed", NumberFormat::Bf16, adam, 16.0),
        ("torchtitan", NumberFormat::Fp8, adam, 16.0),
        ("torchtune", NumberFormat::Bf16, adam, 8.0),
        ("deepspeed", NumberFormat::Bf16, OptimizerKind::Sgd, 12.0),
    ] {
        let bytes = StateBytes::of(framework, precision, optimizer);
        assert!((bytes.weight + bytes.gradient + bytes.optimizer - total).abs() < 1e-9, "{framework} {precision:?}");
    }
}

#[test]
fn distributed_optimizer_of_megatron_is_6_and_12_over_the_ranks() {
    let world = World::new("a100-sxm-80", 8, 1);
    let strategy = TrainStrategy { sharding: Sharding::Zero1, ..plain(8) };
    let profile = TrainProfile::new(&decoder(LLAMA2_7B), &tokens(512));
    let table = Efficiencies::embedded().unwrap();
    let estimate = profile.estimate(&world.hardware(), &strategy, "megatron", &table).unwrap();
    let each = kind(&estimate, &STATES) / profile.total_parameters();
    assert!((each - (6.0 + 12.0 / 8.0)).abs() < 1e-6, "{each}");
}

#[test]
fn seven_billion_parameters_on_known_cards() {
    let one = World::new("a100-sxm-80", 1, 1);
    let full = estimate_on(&one, LLAMA2_7B, 2048, &plain(1));
    assert!(gibibytes(&full) > 100.0, "{}", gibibytes(&full));
    assert_eq!(full.memory.fit, Fit::DoesNot);

    let eight = World::new("a100-sxm-80", 8, 1);
    let sharded = TrainStrategy { sharding: Sharding::Zero3, ..plain(8) };
    assert_eq!(estimate_on(&eight, LLAMA2_7B, 2048, &sharded).memory.fit, Fit::Fits);

    let t4 = World::new("t4", 1, 1);
    let qlora = TrainStrategy { method: TrainMethod::Qlora(16), precision: NumberFormat::Fp16, ..plain(1) };
    let estimate = estimate_on(&t4, LLAMA2_7B, 512, &qlora);
    assert_eq!(estimate.memory.fit, Fit::Fits, "{:.1} GiB", gibibytes(&estimate));

    for (card, precision) in [("a10", NumberFormat::Bf16), ("v100-sxm2-32", NumberFormat::Fp16)] {
        let world = World::new(card, 1, 1);
        let lora = TrainStrategy { method: TrainMethod::Lora(16), precision, recompute: Recompute::Full, ..plain(1) };
        let estimate = estimate_on(&world, LLAMA2_7B, 2048, &lora);
        assert_eq!(estimate.memory.fit, Fit::Fits, "{card}: {:.1} GiB", gibibytes(&estimate));
    }
}

#[test]
fn utilisation_of_a_7b_on_eight_a100() {
    let world = World::new("a100-sxm-80", 8, 1);
    let strategy = TrainStrategy { sharding: Sharding::Zero3, micro_batch: 4, accumulation: 4, ..plain(8) };
    let estimate = estimate_on(&world, LLAMA2_7B, 2048, &strategy);
    // Without recompute 64 % was measured on eight (llm-foundry's benchmarks, MPT-7B), and 68 % compiled on 128 (fms-fsdp,
    // Llama 2 7B).
    assert!((0.55..0.68).contains(&estimate.mfu.mid.0), "{:?}", estimate.mfu);
    assert!(estimate.mfu.low.0 < 0.642 && 0.642 < estimate.mfu.high.0, "{:?}", estimate.mfu);
    let rate = 8.0 * 4.0 * 4.0 / estimate.step.mid.0;
    assert!((estimate.samples_per_second.mid.0 / rate - 1.0).abs() < 1e-9);
    assert!((0.0..0.5).contains(&estimate.waits_for_network.0), "{:?}", estimate.waits_for_network);
}

#[test]
fn resnet_50_follows_bandwidth() {
    let graph = vision_preset("resnet50").unwrap();
    let table = Efficiencies::embedded().unwrap();
    let job =
        TrainJob { shape: Shape { height: 224, width: 224, frames: 1, ..Shape::default() }, framework: "pytorch" };
    let mut rates = Vec::new();
    for (card, bandwidth) in [("v100-sxm2-16", 900.0), ("a100-sxm-40", 1555.0)] {
        let world = World::new(card, 1, 1);
        let strategy = TrainStrategy { micro_batch: 64, precision: NumberFormat::Fp16, ..plain(1) };
        let estimate = estimate_train(&graph, &world.hardware(), &strategy, &job, &table).unwrap();
        let rate = estimate.samples_per_second.mid.0;
        // 1.06 GB an image is the ceiling; published runs of both cards lie between half of it and all of it.
        assert!(rate < bandwidth / 1.06 && rate > 0.4 * bandwidth / 1.06, "{card}: {rate}");
        assert!((3.0..12.0).contains(&gibibytes(&estimate)), "{card}: {}", gibibytes(&estimate));
        rates.push(rate);
    }
    assert!(rates[1] > rates[0]);
}

/// Checks that `more` never needs more of `kinds` than `less`, over a grid of layouts.
fn check_never_more(
    what: &str,
    kinds: Option<&[MemoryKind]>,
    change: impl Fn(&TrainStrategy) -> Option<TrainStrategy>,
) {
    let world = World::new("a100-sxm-80", 8, 2);
    let table = Efficiencies::embedded().unwrap();
    let mut seen = 0;
    for sizes in [LLAMA2_7B, MIXTRAL, Sizes { layers: 4, ..LLAMA2_7B }] {
        let profile = TrainProfile::new(&decoder(sizes), &tokens(1024));
        for strategy in layouts() {
            for framework in ["pytorch", "megatron", "litgpt", "something"] {
                let Some(changed) = change(&strategy) else { continue };
                let of = |strategy| profile.estimate(&world.hardware(), strategy, framework, &table);
                let (Ok(before), Ok(after)) = (of(&strategy), of(&changed)) else { continue };
                let size = |estimate: &TrainEstimate| match kinds {
                    Some(kinds) => kind(estimate, kinds),
                    None => estimate.memory.total.mid.base(),
                };
                assert!(
                    size(&after) <= size(&before) * (1.0 + 1e-9) + 64.0,
                    "{what}: {} to {} in {framework}: {strategy:?} to {changed:?}",
                    size(&before),
                    size(&after)
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "{what} compared only {seen} layouts");
}

fn layouts() -> Vec<TrainStrategy> {
    let mut found = Vec::new();
    for (data, tensor, pipeline, context) in [(16, 1, 1, 1), (8, 2, 1, 1), (2, 2, 4, 1), (4, 1, 2, 2), (2, 8, 1, 1)] {
        for recompute in [Recompute::None, Recompute::Selective, Recompute::Full] {
            for attention in [AttentionKernel::Fused, AttentionKernel::Eager] {
                for sharding in [Sharding::None, Sharding::Zero1, Sharding::Zero2, Sharding::Zero3] {
                    for method in [TrainMethod::Full, TrainMethod::Lora(8), TrainMethod::Qlora(8)] {
                        for accumulation in [1, 8] {
                            let base = plain(data);
                            found.push(TrainStrategy {
                                tensor,
                                pipeline,
                                context,
                                recompute,
                                attention,
                                sharding,
                                method,
                                accumulation,
                                micro_batch: 2,
                                ..base
                            });
                        }
                    }
                }
            }
        }
    }
    found
}

#[test]
fn recompute_never_needs_more_memory() {
    check_never_more("full recompute", None, |s| {
        (s.recompute != Recompute::Full).then_some(TrainStrategy { recompute: Recompute::Full, ..*s })
    });
    check_never_more("selective recompute", None, |s| {
        (s.recompute == Recompute::None).then_some(TrainStrategy { recompute: Recompute::Selective, ..*s })
    });
}

#[test]
fn sharding_never_needs_more_for_states() {
    let next = |sharding| match sharding {
        Sharding::None => Some(Sharding::Zero1),
        Sharding::Zero1 => Some(Sharding::Zero2),
        Sharding::Zero2 => Some(Sharding::Zero3),
        Sharding::Zero3 => None,
    };
    // A pipeline stage under FSDP keeps whole gradients over its micro-batches.
    check_never_more("sharding", Some(&STATES), |s| {
        next(s.sharding).filter(|_| s.pipeline == 1).map(|sharding| TrainStrategy { sharding, ..*s })
    });
}

#[test]
fn smaller_batches_and_fused_attention_never_need_more() {
    let kept = [MemoryKind::Activations, MemoryKind::AttentionScores, MemoryKind::Logits];
    check_never_more("micro batch", Some(&kept), |s| Some(TrainStrategy { micro_batch: 1, ..*s }));
    check_never_more("fused attention", None, |s| {
        (s.attention == AttentionKernel::Eager).then_some(TrainStrategy { attention: AttentionKernel::Fused, ..*s })
    });
    check_never_more("sequence parallelism", None, |s| Some(TrainStrategy { sequence_parallel: true, ..*s }));
}

#[test]
fn experts_spread_over_ranks_need_less_and_travel() {
    let world = World::new("h100-sxm", 8, 1);
    let sharded = TrainStrategy { sharding: Sharding::Zero1, micro_batch: 1, ..plain(8) };
    let spread = TrainStrategy { expert: 8, ..sharded };
    let (whole, parted) = (estimate_on(&world, MIXTRAL, 2048, &sharded), estimate_on(&world, MIXTRAL, 2048, &spread));
    assert!(kind(&parted, &STATES) < 0.5 * kind(&whole, &STATES));
    let factor = |estimate: &TrainEstimate| estimate.step.factor();
    let dense = estimate_on(&world, LLAMA2_7B, 2048, &plain(8));
    assert!(factor(&whole) > factor(&dense), "mixtures of experts are known less well");
}

#[test]
fn a_slower_network_never_speeds_up_and_is_waited_for() {
    let (rdma, mut ethernet) = (World::new("a100-sxm-80", 8, 4), World::new("a100-sxm-80", 8, 4));
    ethernet.instance.rdma = None;
    let strategy = TrainStrategy { sharding: Sharding::Zero3, micro_batch: 2, ..plain(32) };
    let (fast, slow) =
        (estimate_on(&rdma, LLAMA2_7B, 2048, &strategy), estimate_on(&ethernet, LLAMA2_7B, 2048, &strategy));
    assert!(slow.step.mid.0 > fast.step.mid.0);
    assert!(slow.waits_for_network.0 > fast.waits_for_network.0);
    assert!(slow.waits_for_network.0 > 0.5, "{:?}", slow.waits_for_network);
}

#[test]
fn what_cannot_run_is_refused() {
    let world = World::new("a100-sxm-80", 8, 1);
    let refused = |strategy: TrainStrategy| try_on(&world, LLAMA2_7B, 1024, &strategy).unwrap_err();
    for (strategy, says) in [
        (plain(4), "ranks: 4, gpus: 8"),
        (TrainStrategy { micro_batch: 0, ..plain(8) }, "zero-size (name: micro_batch)"),
        (
            TrainStrategy { data: u32::MAX, tensor: u32::MAX, pipeline: u32::MAX, context: u32::MAX, ..plain(8) },
            "ranks",
        ),
        (TrainStrategy { interleave: 2, ..plain(8) }, "interleave-alone"),
        (TrainStrategy { data: 1, pipeline: 8, interleave: 5, ..plain(8) }, "stages: 40"),
        (TrainStrategy { expert: 2, ..plain(8) }, "no-experts"),
        (
            TrainStrategy { precision: NumberFormat::Fp8, ..plain(8) },
            "unsupported-format (gpu: a100-sxm-80, format: fp8)",
        ),
        (TrainStrategy { precision: NumberFormat::Int4, ..plain(8) }, "unsupported-training (format: int4)"),
    ] {
        let error = refused(strategy).to_string();
        assert!(error.contains(says), "`{error}` does not say `{says}`");
    }
    let odd = Sizes { heads: 30, kv_heads: 30, hidden: 3840, ..LLAMA2_7B };
    let eight_ways = TrainStrategy { data: 1, tensor: 8, ..plain(8) };
    assert!(try_on(&world, odd, 1024, &eight_ways).unwrap_err().to_string().contains("heads: 30"));
    assert!(try_on(&world, LLAMA2_7B, 0, &plain(8)).unwrap_err().to_string().contains("empty"));
    for card in ["v100-sxm2-32", "t4", "p40"] {
        let world = World::new(card, 1, 1);
        let error = try_on(&world, LLAMA2_7B, 512, &plain(1)).unwrap_err();
        assert!(matches!(error, EstimateError::UnsupportedFormat { format: "bf16", .. }), "{card}: {error}");
        let half = TrainStrategy { precision: NumberFormat::Fp16, ..plain(1) };
        assert!(try_on(&world, LLAMA2_7B, 512, &half).is_ok(), "{card}");
    }
}

#[test]
fn huge_numbers_do_not_panic() {
    let world = World::new("a100-sxm-80", 8, 1);
    let most = TrainStrategy {
        micro_batch: u32::MAX,
        accumulation: u32::MAX,
        method: TrainMethod::Lora(u32::MAX),
        ..plain(8)
    };
    for length in [1, u64::MAX] {
        for attention in [AttentionKernel::Fused, AttentionKernel::Eager] {
            let strategy = TrainStrategy { attention, ..most };
            let huge = Sizes { hidden: 1 << 40, heads: 1 << 40, kv_heads: 1 << 40, ..LLAMA2_7B };
            let _ = try_on(&world, huge, length, &strategy);
            let _ = try_on(&world, LLAMA2_7B, length, &strategy);
        }
    }
}

#[test]
fn one_estimate_is_fast() {
    let world = World::new("a100-sxm-80", 8, 2);
    let profile = TrainProfile::new(&decoder(MIXTRAL), &tokens(2048));
    let table = Efficiencies::embedded().unwrap();
    let layouts = layouts();
    let start = std::time::Instant::now();
    let fitting = layouts
        .iter()
        .filter_map(|layout| profile.estimate(&world.hardware(), layout, "pytorch", &table).ok())
        .filter(|estimate| estimate.memory.fit == Fit::Fits)
        .count();
    let each = start.elapsed() / u32::try_from(layouts.len()).unwrap();
    println!("{each:?} an estimate over {} layouts, {fitting} fit", layouts.len());
}
