//! Order, scaling and honesty of the estimates; error against measurements in `accuracy`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod accuracy;
mod queue;
mod world;

use hob_model::{Tiling, companions};
use hob_units::{Bytes, PerSecond, Seconds};

use self::world::{World, graph};
use super::*;
use crate::efficiency::Efficiencies;
use crate::limit::{LatencyKind, Limit};
use crate::outcome::Fit;
use crate::percentile::Percentile4;
use crate::refusal::EstimateError;
use crate::strategy::NumberFormat;

fn table() -> Efficiencies {
    Efficiencies::embedded().unwrap()
}

fn profile(model: &str, change: impl Fn(&mut ForwardShape)) -> ForwardProfile {
    let graph = graph(model);
    let mut shape = ForwardShape::native(&graph);
    change(&mut shape);
    ForwardProfile::new(&graph, &companions(&graph), shape).unwrap()
}

fn native(model: &str) -> ForwardProfile {
    profile(model, |_| {})
}

const TRT_INT8: ForwardStrategy = ForwardStrategy {
    engine: ForwardEngine::Tensorrt,
    precision: NumberFormat::Int8,
    batch: 32,
    sequence_parallel: 1,
    tiling: Tiling::Whole,
};
const EAGER: ForwardStrategy =
    ForwardStrategy { engine: ForwardEngine::Pytorch, precision: NumberFormat::Fp16, batch: 1, ..TRT_INT8 };

fn run(model: &ForwardProfile, gpu: &str, strategy: ForwardStrategy) -> ForwardEstimate {
    let world = World::new(gpu, 8);
    model.estimate(&world.hardware(), &strategy, &table()).unwrap()
}

#[test]
fn every_kind_of_model_is_answered() {
    let check = |model: &str, item: Item| {
        let profile = native(model);
        assert_eq!(profile.item(), item, "{model}");
        for gpu in ["t4", "a10", "h100-sxm"] {
            let batch = ForwardStrategy { batch: 2, ..EAGER };
            let found = run(&profile, gpu, batch);
            let (time, rate) = (found.batch_latency, found.items_per_second);
            assert!(time.low.0 > 0.0 && time.low < time.mid && time.mid < time.high && time.high.0.is_finite());
            assert!((rate.mid.0 * time.mid.0 / 2.0 - 1.0).abs() < 1e-9, "{model} on {gpu}");
            assert!(found.memory.total.mid > Bytes(1 << 28), "{model} on {gpu}");
            assert!(found.terms.iter().any(|term| term.time.mid.0 > 0.0));
        }
    };
    check("resnet50", Item::Image);
    check("yolov8m", Item::Image);
    check("google/vit-base-patch16-224", Item::Image);
    check("openai/clip-vit-large-patch14", Item::ImageTextPair);
    check("google-bert/bert-base-uncased", Item::Sequence);
    check("Qwen/Qwen2.5-0.5B", Item::Sequence);
    check("openai/whisper-small", Item::AudioClip);
    check("recommender", Item::Row);
    check("sdxl", Item::Image);
    check("black-forest-labs/FLUX.1-dev", Item::Image);
    check("Wan-AI/Wan2.1-T2V-1.3B-Diffusers", Item::VideoClip);
}

#[test]
fn more_work_takes_longer() {
    let seconds = |model: &ForwardProfile, strategy| run(model, "a100-sxm-80", strategy).batch_latency.mid.0;
    let check = |what: &str, less: f64, more: f64, at_least: f64| {
        assert!(more > less * at_least, "{what}: {more} s against {less} s");
    };
    let big = ForwardStrategy { batch: 256, ..EAGER };
    let resnet = native("resnet50");
    check("batch", seconds(&resnet, big), seconds(&resnet, ForwardStrategy { batch: 512, ..EAGER }), 1.8);
    check(
        "resolution",
        seconds(&resnet, big),
        seconds(&profile("resnet50", |s| s.resolution = Some((448, 448))), big),
        3.5,
    );
    check(
        "fp32",
        seconds(&resnet, big),
        seconds(&resnet, ForwardStrategy { precision: NumberFormat::Fp32, ..big }),
        1.5,
    );
    check(
        "eager",
        seconds(&resnet, ForwardStrategy { engine: ForwardEngine::Tensorrt, ..big }),
        seconds(&resnet, big),
        1.2,
    );
    let bert = |tokens| profile("google-bert/bert-base-uncased", move |s| s.sequence = tokens);
    check("sequence", seconds(&bert(128), big), seconds(&bert(512), big), 3.5);
    let flux = |steps| profile("black-forest-labs/FLUX.1-dev", move |s| s.steps = steps);
    check("steps", seconds(&flux(10), EAGER), seconds(&flux(40), EAGER), 3.5);
    let sdxl = |guidance| profile("sdxl", move |s| s.guidance = guidance);
    check("guidance", seconds(&sdxl(Guidance::Single), EAGER), seconds(&sdxl(Guidance::Doubled), EAGER), 1.5);
    let wan = |frames| profile("Wan-AI/Wan2.1-T2V-1.3B-Diffusers", move |s| s.frames = frames);
    // Attention is quadratic in the frames.
    check("frames", seconds(&wan(41), EAGER), seconds(&wan(81), EAGER), 2.3);
    let whisper = |clip| profile("openai/whisper-small", move |s| s.clip = Seconds(clip));
    check("clip", seconds(&whisper(30.0), EAGER), seconds(&whisper(300.0), EAGER), 9.0);
    let split = |ranks| ForwardStrategy { sequence_parallel: ranks, ..EAGER };
    let video = native("Wan-AI/Wan2.1-T2V-14B-Diffusers");
    check("ranks", seconds(&video, split(4)), seconds(&video, split(1)), 2.5);
    assert!(
        seconds(&video, split(1)) < 4.0 * seconds(&video, split(4)),
        "four GPUs are not faster than four times one"
    );
}

#[test]
fn what_cannot_be_run_is_refused() {
    let error = |model: &str, gpu: &str, strategy: ForwardStrategy| {
        let world = World::new(gpu, 8);
        native(model).estimate(&world.hardware(), &strategy, &table()).unwrap_err()
    };
    let fp8 = ForwardStrategy { precision: NumberFormat::Fp8, ..TRT_INT8 };
    assert!(matches!(error("resnet50", "a10", fp8), EstimateError::UnsupportedFormat { format: "fp8", .. }));
    let split = ForwardStrategy { sequence_parallel: 2, ..EAGER };
    assert!(matches!(error("resnet50", "a10", split), EstimateError::BadLayout { .. }));
    assert!(matches!(error("sdxl", "a10", split), EstimateError::BadLayout { .. }));
    let uneven = ForwardStrategy { sequence_parallel: 5, ..EAGER };
    assert!(matches!(error("black-forest-labs/FLUX.1-dev", "a10", uneven), EstimateError::BadLayout { .. }));
    let empty = ForwardStrategy { batch: 0, ..EAGER };
    assert!(matches!(error("resnet50", "a10", empty), EstimateError::BadLayout { .. }));
    let graph = graph("resnet50");
    let shape = ForwardShape { resolution: None, ..ForwardShape::native(&graph) };
    assert!(matches!(
        ForwardProfile::new(&graph, &[], shape),
        Err(EstimateError::NoItemSize { .. } | EstimateError::NoOperator { .. })
    ));
}

#[test]
fn memory_holds_the_companions_and_bounds_the_batch() {
    let world = World::new("a10", 1);
    let flux = native("black-forest-labs/FLUX.1-dev");
    // 12 B + 4.9 B parameters at 16 bits are more than 24 GB.
    assert_eq!(flux.batch_max(&world.hardware(), &EAGER, &table()).unwrap(), None);
    let resnet = native("resnet50");
    let most = resnet.batch_max(&world.hardware(), &EAGER, &table()).unwrap().unwrap();
    let fit = |batch| run(&resnet, "a10", ForwardStrategy { batch, ..EAGER }).memory.fit;
    assert!(most > 64);
    assert_eq!((fit(most), fit(most + 1) == Fit::Fits), (Fit::Fits, false));
    let sdxl = native("sdxl");
    let total = |precision| run(&sdxl, "l40s", ForwardStrategy { precision, ..EAGER }).memory.total.mid;
    assert!(total(NumberFormat::Int4) < total(NumberFormat::Fp8));
    assert!(total(NumberFormat::Fp8) < total(NumberFormat::Fp16));
    assert!(total(NumberFormat::Fp16) < total(NumberFormat::Fp32));
    assert!(run(&sdxl, "l40s", ForwardStrategy { precision: NumberFormat::Int4, ..EAGER }).quality_note.is_some());
}

#[test]
fn speech_is_counted_in_seconds_of_sound() {
    let minute = run(&profile("openai/whisper-small", |s| s.clip = Seconds(60.0)), "t4", EAGER);
    let heard = minute.audio_seconds_per_second.unwrap().mid.0;
    assert!((heard / (60.0 / minute.batch_latency.mid.0) - 1.0).abs() < 1e-9);
    assert!((minute.real_time_factor.unwrap().mid.0 * heard - 1.0).abs() < 1e-9);
    assert_eq!(run(&native("resnet50"), "t4", EAGER).real_time_factor, None);
}

#[test]
fn load_raises_latency_and_batches() {
    let world = World::new("t4", 1);
    let resnet = native("resnet50");
    let full = run(&resnet, "t4", TRT_INT8).items_per_second.mid.0;
    let at = |share: f64| resnet.service(&world.hardware(), &TRT_INT8, PerSecond(full * share), &table()).unwrap();
    let mut last = at(0.0);
    assert_eq!(last.batch, 1.0);
    for share in [0.1, 0.3, 0.5, 0.7, 0.9, 0.97] {
        let next = at(share);
        assert!(next.batch >= last.batch, "{share}");
        assert!(next.latency.p50.mid >= last.latency.p50.mid && next.latency.p99.mid >= last.latency.p99.mid);
        assert!(next.latency.p50.mid <= next.latency.p90.mid && next.latency.p95.mid <= next.latency.p99.mid);
        assert!((next.utilisation.mid.0 / share - 1.0).abs() < 1e-6);
        last = next;
    }
    assert!(!last.saturated && at(1.2).saturated);
}

#[test]
fn capacity_keeps_its_limit() {
    let world = World::new("t4", 1);
    let resnet = native("resnet50");
    let limit = |ms: f64, confidence| Limit {
        what: LatencyKind::EndToEnd,
        percentile: Percentile4::P99,
        at_most: Seconds::from_ms(ms),
        confidence,
    };
    let most = |limits: &[Limit]| resnet.capacity(&world.hardware(), &TRT_INT8, limits, &table()).unwrap();
    let free = most(&[]).unwrap().0;
    let busy = resnet.service(&world.hardware(), &TRT_INT8, PerSecond(free * 0.6), &table()).unwrap();
    let allowed = busy.latency.p99.mid.0 * 1000.0;
    let tight = most(&[limit(allowed, 0.5)]).unwrap().0;
    assert!((tight / (free * 0.6) - 1.0).abs() < 1e-3 && most(&[limit(allowed, 0.9)]).unwrap().0 < tight);
    assert_eq!(most(&[limit(0.01, 0.5)]), None);
    let kept = resnet.service(&world.hardware(), &TRT_INT8, PerSecond(tight), &table()).unwrap();
    assert!((kept.latency.p99.mid.0 / busy.latency.p99.mid.0 - 1.0).abs() < 1e-3);
    let ttft = Limit { what: LatencyKind::Ttft, ..limit(15.0, 0.5) };
    assert!(resnet.capacity(&world.hardware(), &TRT_INT8, &[ttft], &table()).is_err());
}

#[test]
fn absurd_sizes_do_not_panic() {
    let world = World::new("t4", 8);
    for model in ["resnet50", "sdxl", "openai/whisper-small", "google-bert/bert-base-uncased", "recommender"] {
        let absurd = profile(model, |shape| {
            *shape = ForwardShape {
                resolution: Some((u64::MAX, u64::MAX)),
                frames: u64::MAX,
                sequence: u64::MAX,
                clip: Seconds(f64::INFINITY),
                steps: u32::MAX,
                decode_tokens: u64::MAX,
                ..*shape
            }
        });
        let strategy = ForwardStrategy { batch: u32::MAX, ..EAGER };
        assert!(absurd.estimate(&world.hardware(), &strategy, &table()).is_ok(), "{model}");
        let fits = absurd.batch_max(&world.hardware(), &strategy, &table()).unwrap();
        assert!(fits.is_none() || model == "recommender", "{model}: {fits:?}");
        for rate in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(absurd.service(&world.hardware(), &strategy, PerSecond(rate), &table()).is_ok(), "{model}");
        }
    }
}
