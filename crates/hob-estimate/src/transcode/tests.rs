#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use hob_catalog::{Catalog, Gpu, InstanceType};
use hob_units::BytesPerSec;

use super::*;

fn rates() -> MediaRates {
    MediaRates::built_in().unwrap()
}

fn video(codec: &str, height: u64, fps: f64) -> Video {
    Video { codec: codec.to_owned(), resolution: (height, height * 16 / 9), fps }
}

fn job(input: Video, outputs: Vec<Video>, preset: &str) -> TranscodeJob {
    TranscodeJob {
        input,
        outputs,
        preset: preset.to_owned(),
        measured_encode_fps: None,
        measured_decode_fps: None,
        measured_on: None,
    }
}

fn ladder() -> TranscodeJob {
    let outputs = [1080, 720, 480].map(|height| video("h264", height, 30.0)).to_vec();
    job(video("h264", 1080, 30.0), outputs, "p4")
}

/// An instance of the catalog that carries `gpu`, with as many cards and vCPUs as asked.
fn machine(gpu: &str, count: u32, vcpus: Option<u32>) -> (Gpu, InstanceType) {
    let catalog = Catalog::embedded();
    let gpu = catalog.gpu(gpu).unwrap().clone();
    let mut instance = catalog.instances().next().unwrap().clone();
    (instance.gpu, instance.gpu_count, instance.vcpus) = (gpu.id.clone(), count, vcpus);
    instance.network = Some(BytesPerSec(1.25e9));
    (gpu, instance)
}

fn on(gpu: &str, count: u32, job: &TranscodeJob) -> Result<TranscodeEstimate, EstimateError> {
    let (gpu, instance) = machine(gpu, count, Some(64));
    estimate_transcode(job, &Hardware { gpu: &gpu, instance: &instance, nodes: 1 }, &rates())
}

#[test]
fn every_row_of_the_tables_is_read() {
    let rates = rates();
    assert!(rates.transcode.len() > 200 && rates.clocks.len() > 15 && rates.render.len() > 80);
    let codecs: std::collections::BTreeSet<&str> = rates.codecs().collect();
    assert_eq!(codecs.into_iter().collect::<Vec<_>>(), ["av1", "h264", "hevc"]);
}

/// What one card does with a job: the middle of hours an hour lies in `expected`, and `limit` bounds it.
#[track_caller]
fn check(gpu: &str, job: &TranscodeJob, limit: TranscodeStage, expected: std::ops::RangeInclusive<f64>) {
    let estimate = on(gpu, 1, job).unwrap();
    let video = estimate.video_hours_per_hour;
    assert!(expected.contains(&video.mid.0), "{gpu}: {video}\n{:#?}", estimate.terms);
    assert_eq!(estimate.limit, limit, "{gpu}");
    assert!(video.low.0 < video.mid.0 && video.mid.0 < video.high.0, "{gpu}: {video}");
    assert!(!estimate.sources.is_empty());
}

#[test]
fn engine_counts_and_clocks_bound_real_cards() {
    // One Turing encoder: 399 frames/s at 1950 MHz x 0.75 for 43 Mpixel/s of ladder: 30 x (1 + 4/9 + 0.2) = 49.2 frames/s.
    check("t4", &ladder(), TranscodeStage::Encode, 5.5..=6.7);
    // Two Ada encoders on an L4: 428 x 0.73 x 2 / 49.3.
    check("l4", &ladder(), TranscodeStage::Encode, 11.5..=14.0);
    // Ada's decoders of an RTX 4090 (one) are no bound beside its two encoders at P4.
    check("rtx4090", &ladder(), TranscodeStage::Encode, 15.0..=18.5);
    // Video that is only made smaller is bound by the decoder: 4K in, one small picture out, fast preset.
    let thumbnails = job(video("h264", 2160, 60.0), vec![video("h264", 240, 30.0)], "p1");
    check("rtx4090", &thumbnails, TranscodeStage::Decode, 3.0..=4.5);
}

#[test]
fn what_a_card_cannot_do_is_said() {
    let says = |gpu: &str, job: &TranscodeJob| on(gpu, 1, job).unwrap_err().to_string();
    assert_eq!(
        says("a100-sxm-80", &ladder()),
        "estimate-no-engine (gpu: a100-sxm-80, what: estimate-task-encode-video)"
    );
    assert_eq!(says("h20", &ladder()), "estimate-no-engine (gpu: h20, what: estimate-task-encode-video)");
    assert_eq!(says("l2", &ladder()), "estimate-unknown-hardware (gpu: l2, what: estimate-fact-encode-engines)");
    let av1 = job(video("h264", 1080, 30.0), vec![video("av1", 1080, 30.0)], "p4");
    assert_eq!(says("t4", &av1), "estimate-no-engine (gpu: t4, what: estimate-task-encode (codec: av1))");
    let vp9 = job(video("h264", 1080, 30.0), vec![video("vp9", 1080, 30.0)], "p4");
    assert!(says("t4", &vp9).contains("(codec: vp9, gpu: t4, preset: p4), measurement: timeout"));
    let wrong = job(video("h265", 1080, 30.0), vec![video("h264", 1080, 30.0)], "p4");
    assert!(says("t4", &wrong).contains("known: av1, h264, hevc, mjpeg, mpeg2, vp8, vp9, near: h264"));
    let wrong = TranscodeJob { preset: "p8".to_owned(), ..ladder() };
    assert!(says("t4", &wrong).contains("what: preset, name: p8"));
}

#[test]
fn absurd_sizes_are_refused() {
    let frozen = job(video("h264", 1080, 0.0), vec![video("h264", 1080, 30.0)], "p4");
    let mut huge = ladder();
    huge.input.resolution = (1_000_000_000, 1);
    let mut nan = ladder();
    nan.input.fps = f64::NAN;
    let measured = TranscodeJob { measured_encode_fps: Some(0.0), ..ladder() };
    let none = job(video("h264", 1080, 30.0), Vec::new(), "p4");
    for job in [frozen, huge, nan, measured, none] {
        assert!(matches!(on("t4", 1, &job), Err(EstimateError::OutOfRange { .. })), "{job:?}");
    }
}

#[test]
fn a_measurement_narrows_and_holds_on_its_card_only() {
    let wide = on("t4", 1, &ladder()).unwrap();
    let measured = TranscodeJob {
        measured_encode_fps: Some(290.0),
        measured_decode_fps: Some(610.0),
        measured_on: Some("t4".to_owned()),
        ..ladder()
    };
    let narrow = on("t4", 1, &measured).unwrap();
    assert!(narrow.video_hours_per_hour.factor() < wide.video_hours_per_hour.factor() / 1.2);
    assert!(narrow.measurements.is_empty());
    let commands: Vec<&str> = wide.measurements.iter().map(|measurement| measurement.command.as_str()).collect();
    assert_eq!(commands.len(), 2);
    assert!(commands.iter().all(|command| command.starts_with("timeout -s INT 30 ffmpeg")), "{commands:?}");
    let elsewhere = on("l4", 1, &measured).unwrap();
    assert_eq!(elsewhere.video_hours_per_hour, on("l4", 1, &ladder()).unwrap().video_hours_per_hour);
}

#[test]
fn more_engines_are_never_slower_and_more_pixels_never_faster() {
    for gpu in ["p4", "t4", "a10", "l4", "l40s", "rtx4090", "v100-sxm2-16", "rtxpro6000-server"] {
        for preset in PRESETS {
            let of = |height, count| {
                let work = job(video("hevc", height, 50.0), vec![video("hevc", height, 50.0)], preset);
                on(gpu, count, &work).unwrap()
            };
            let mut previous: Option<TranscodeEstimate> = None;
            for height in [360, 720, 1080, 1440, 2160, 4320] {
                let (one, two) = (of(height, 1), of(height, 2));
                let at_least = |more: Interval<Count>, less: Interval<Count>| {
                    assert!(
                        more.low >= less.low && more.mid >= less.mid && more.high >= less.high,
                        "{gpu} {preset} {height}"
                    );
                };
                at_least(two.video_hours_per_hour, one.video_hours_per_hour);
                at_least(two.streams, one.streams);
                if let Some(smaller) = previous.replace(one.clone()) {
                    at_least(smaller.video_hours_per_hour, one.video_hours_per_hour);
                    at_least(smaller.streams, one.streams);
                }
            }
        }
    }
}

#[test]
fn a_stream_beyond_one_engine_is_not_live() {
    let large = job(video("hevc", 4320, 60.0), vec![video("hevc", 4320, 60.0)], "p7");
    let estimate = on("t4", 8, &large).unwrap();
    assert!(estimate.speed_of_one.mid.0 < 1.0, "{}", estimate.speed_of_one);
    assert_eq!(estimate.streams.mid.0, 0.0);
    assert!(estimate.video_hours_per_hour.mid.0 > 0.0);
}

#[test]
fn what_the_engines_lack_is_left_to_the_cores() {
    // Turing has no AV1 decoder; a decoding rate measured on some engine says nothing about cores.
    let av1 = job(video("av1", 1080, 30.0), vec![video("h264", 1080, 30.0)], "p4");
    let estimate = on("t4", 1, &av1).unwrap();
    assert!(estimate.terms.iter().all(|term| term.stage != TranscodeStage::Decode));
    let measured = TranscodeJob { measured_decode_fps: Some(5000.0), ..av1 };
    let cpu = |estimate: &TranscodeEstimate| {
        estimate.terms.iter().find(|term| term.stage == TranscodeStage::Cpu).unwrap().capacity.unwrap()
    };
    assert_eq!(cpu(&on("t4", 1, &measured).unwrap()), cpu(&estimate));
}

#[test]
fn fractions_get_their_share_and_unknown_parts_stay_unknown() {
    let whole = on("t4", 1, &ladder()).unwrap().video_hours_per_hour;
    let quarter = on("t4-1of4", 1, &ladder()).unwrap().video_hours_per_hour;
    assert!((quarter.mid.0 - whole.mid.0 / 4.0).abs() < 0.01 * whole.mid.0, "{quarter} of {whole}");
    let slice = on("rtxpro6000-server-mig-1g.24gb", 1, &ladder()).unwrap().video_hours_per_hour;
    let card = on("rtxpro6000-server", 1, &ladder()).unwrap().video_hours_per_hour;
    assert!((slice.mid.0 - card.mid.0 / 4.0).abs() < 0.01 * card.mid.0, "{slice} of {card}");

    let (gpu, mut instance) = machine("t4", 1, None);
    instance.network = None;
    let estimate =
        estimate_transcode(&ladder(), &Hardware { gpu: &gpu, instance: &instance, nodes: 1 }, &rates()).unwrap();
    assert_eq!(estimate.unknown, [TranscodeStage::Cpu, TranscodeStage::Network]);
    assert!(estimate.video_hours_per_hour.mid.0 > 1.0);
}

#[test]
fn consumer_cards_and_memory_bound_streams_but_not_hours() {
    let small = job(video("h264", 360, 25.0), vec![video("h264", 360, 25.0)], "p1");
    let consumer = on("rtx4090", 1, &small).unwrap();
    assert_eq!(consumer.streams.mid.0, 8.0);
    assert!(consumer.video_hours_per_hour.mid.0 > 100.0);
    let server = on("l4", 1, &small).unwrap();
    assert!(server.streams.mid.0 > 50.0);
}

#[test]
fn cores_transcode_alone() {
    let (_, instance) = machine("t4", 1, Some(32));
    let estimate = |job: &TranscodeJob, instance: &InstanceType| estimate_transcode_cpu(job, instance, 1, &rates());
    let fast = estimate(&ladder(), &instance).unwrap();
    let slow = estimate(&TranscodeJob { preset: "p7".to_owned(), ..ladder() }, &instance).unwrap();
    // 49.3 frames/s of x264 `fast` at 9.58 on a core are 5.1 cores; decoding, scaling and sound add about 0.5.
    assert!((4.5..7.0).contains(&fast.video_hours_per_hour.mid.0), "{}", fast.video_hours_per_hour);
    assert!(slow.video_hours_per_hour.mid.0 < fast.video_hours_per_hour.mid.0);
    assert_eq!(fast.limit, TranscodeStage::Cpu);
    let unknown = InstanceType { vcpus: None, ..instance.clone() };
    assert!(matches!(estimate(&ladder(), &unknown), Err(EstimateError::UnknownHardware { .. })));
    let wrong = TranscodeJob { preset: "mediun".to_owned(), ..ladder() };
    assert!(estimate(&wrong, &instance).unwrap_err().to_string().contains("near: medium"));
}

#[test]
fn what_applications_reached_lies_in_the_interval() {
    // The published checks: one session decoding 8-bit HEVC on an RTX 4090, and HEVC encoding at high quality on an RTX
    // 2080 Ti ("quality" of the old presets lies between P5 and P7).
    let decode = job(video("hevc", 1080, 30.0), vec![video("h264", 240, 30.0)], "p1");
    let one = on("rtx4090", 1, &decode).unwrap().speed_of_one;
    assert!(one.low.0 * 30.0 <= 1071.0 && 1071.0 <= one.high.0 * 30.0, "{one}");
    let encode = |preset: &str| {
        let work = job(video("h264", 240, 30.0), vec![video("hevc", 1080, 30.0)], preset);
        on("rtx2080ti", 1, &work).unwrap().video_hours_per_hour
    };
    assert!(encode("p7").low.0 * 30.0 <= 284.0 && 284.0 <= encode("p5").high.0 * 30.0);
}
