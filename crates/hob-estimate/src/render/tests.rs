#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use hob_catalog::{Catalog, Gpu, InstanceType};

use super::*;

fn job() -> RenderJob {
    RenderJob {
        renderer: "blender-cycles".to_owned(),
        frames: 3000.0,
        resolution: (1080, 1920),
        samples: Some(256),
        measured_frame: None,
        scene_memory: None,
    }
}

fn measured(seconds: f64, gpu: &str) -> RenderJob {
    RenderJob { measured_frame: Some((Seconds(seconds), gpu.to_owned())), ..job() }
}

fn on(gpu: &str, count: u32, job: &RenderJob) -> Result<RenderEstimate, EstimateError> {
    let catalog = Catalog::embedded();
    let gpu: Gpu = catalog.gpu(gpu).unwrap().clone();
    let mut instance: InstanceType = catalog.instances().next().unwrap().clone();
    (instance.gpu, instance.gpu_count, instance.memory) = (gpu.id.clone(), count, Some(gib(128.0)));
    let rates = MediaRates::built_in().unwrap();
    estimate_render(job, &Hardware { gpu: &gpu, instance: &instance, nodes: 1 }, &rates)
}

/// Middle of the frame time on `gpu`, and what it rests on.
#[track_caller]
fn check(gpu: &str, job: &RenderJob, basis: RenderBasis, seconds: std::ops::RangeInclusive<f64>) {
    let estimate = on(gpu, 1, job).unwrap();
    let time = estimate.frame_time;
    assert!(seconds.contains(&time.mid.0), "{gpu}: {time}");
    assert!(time.low.0 < time.mid.0 && time.mid.0 < time.high.0, "{gpu}: {time}");
    assert_eq!(estimate.basis, basis, "{gpu}");
    let has_command = basis != RenderBasis::Measured && job.renderer != "octane";
    assert_eq!(estimate.measurements.len(), usize::from(has_command), "{gpu}");
}

#[test]
fn a_measured_frame_is_scaled_by_scores() {
    let job = measured(60.0, "t4");
    check("t4", &job, RenderBasis::Measured, 60.0..=60.0);
    // 1502 samples/min on a T4, 3447 on an L4, 7848 to 9278 on an L40S.
    check("l4", &job, RenderBasis::ScaledBySameRenderer, 24.0..=28.0);
    check("l40s", &job, RenderBasis::ScaledBySameRenderer, 7.0..=12.0);
    // The other back end is taken where it is faster: 4143 (CUDA) on an A100.
    check("a100-sxm-40", &job, RenderBasis::ScaledBySameRenderer, 21.0..=22.5);
    let octane = RenderJob { renderer: "octane".to_owned(), ..measured(60.0, "rtx3090") };
    check("rtx4090", &octane, RenderBasis::ScaledBySameRenderer, 30.0..=33.0);
    check("l4", &octane, RenderBasis::ScaledByCycles, 85.0..=105.0);
    let vray = RenderJob { renderer: "V-Ray".to_owned(), ..measured(60.0, "rtx3090") };
    check("rtx4090", &vray, RenderBasis::ScaledBySameRenderer, 26.0..=29.0);
}

#[test]
fn without_a_measurement_benchmark_scenes_give_a_wide_interval() {
    // 256 samples x 3 scenes x 60 / 11062 a minute, and what each frame costs beside.
    check("rtx4090", &job(), RenderBasis::BenchmarkScenes, 8.0..=8.4);
    let wide = on("l4", 1, &job()).unwrap();
    assert!(wide.frame_time.factor() > 2.5, "{}", wide.frame_time);
    let assumed = on("l4", 1, &RenderJob { samples: None, ..job() }).unwrap();
    assert_eq!(assumed.assumed_samples, Some(512));
    assert!(assumed.frame_time.factor() > wide.frame_time.factor());
    assert!(wide.measurements[0].command.starts_with("blender -b scene.blend"));
}

#[test]
fn what_is_not_known_is_said() {
    let says = |gpu: &str, job: &RenderJob| on(gpu, 1, job).unwrap_err().to_string();
    let typo = RenderJob { renderer: "octan".to_owned(), ..job() };
    assert!(says("t4", &typo).contains("known: arnold, blender-cycles, octane, redshift, v-ray, near: octane"));
    assert!(says("h20", &job()).contains("(renderer: blender-cycles, gpu: h20), measurement: blender -b"));
    let unmeasured = RenderJob { renderer: "v-ray".to_owned(), ..job() };
    assert!(says("rtx4090", &unmeasured).contains("(renderer: v-ray, gpu: rtx4090)"));
    let unreal = RenderJob { renderer: "unreal".to_owned(), ..measured(2.0, "t4") };
    assert_eq!(on("t4", 1, &unreal).unwrap().basis, RenderBasis::Measured);
    assert!(says("l4", &unreal).starts_with("estimate-unknown-word (what: renderer, name: unreal"));
}

#[test]
fn absurd_sizes_are_refused() {
    let jobs = [
        RenderJob { resolution: (1_000_000_000, 1_000_000_000), ..job() },
        RenderJob { resolution: (0, 1920), ..job() },
        RenderJob { frames: f64::NAN, ..job() },
        RenderJob { samples: Some(0), ..job() },
        measured(0.0, "t4"),
        measured(f64::INFINITY, "t4"),
    ];
    for job in jobs {
        assert!(matches!(on("t4", 1, &job), Err(EstimateError::OutOfRange { .. })), "{job:?}");
    }
}

#[test]
fn cards_add_up_and_larger_frames_are_never_faster() {
    for gpu in ["p4", "t4", "a10", "t4-1of4", "a10-1of4", "l40s", "v100-sxm2-16", "b200", "rtx4090"] {
        let rate = |count, height, samples| {
            let job = RenderJob { resolution: (height, height * 16 / 9), samples: Some(samples), ..job() };
            on(gpu, count, &job).unwrap().frames_per_hour
        };
        let base = rate(1, 1080, 256);
        assert!((rate(8, 1080, 256).mid.0 / base.mid.0 - 8.0).abs() < 1e-9, "{gpu}");
        for slower in [rate(1, 2160, 256), rate(1, 1080, 1024)] {
            assert!(slower.low.0 < base.low.0 && slower.mid.0 < base.mid.0 && slower.high.0 < base.high.0, "{gpu}");
        }
    }
}

#[test]
fn a_scene_fits_is_tight_or_spills() {
    let fit = |gib_of_scene: f64, renderer: &str| {
        let job =
            RenderJob { scene_memory: Some(gib(gib_of_scene)), renderer: renderer.to_owned(), ..measured(9.0, "t4") };
        let memory = on("t4", 1, &job).unwrap().memory.unwrap();
        (memory.fit, memory.out_of_core)
    };
    assert_eq!(fit(4.0, "blender-cycles"), (Fit::Fits, false));
    assert_eq!(fit(13.0, "blender-cycles"), (Fit::Tight, true));
    assert_eq!(fit(40.0, "blender-cycles"), (Fit::DoesNot, true));
    assert_eq!(fit(40.0, "arnold"), (Fit::DoesNot, false));
    assert_eq!(fit(400.0, "blender-cycles"), (Fit::DoesNot, false), "main memory is too small as well");
    assert!(on("t4", 1, &job()).unwrap().memory.is_none(), "not stated is not zero");
}
