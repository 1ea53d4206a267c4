//! Error against measurements that belong to no table: detectors, segmenters, and peaks of denoisers. Tables of
//! measurements are scored by `hob-calibrate`.

use super::*;

/// Detectors, one picture of 640 x 640 at a time in 16 bits: milliseconds from the table in the README of Ultralytics for
/// YOLOv8 on A100 (commit 00376f1), from its page on YOLO11 for T4 with TensorRT 10.
const DETECTORS: [(&str, &str, f64); 10] = [
    ("yolov8n", "a100-sxm-40", 0.99),
    ("yolov8s", "a100-sxm-40", 1.20),
    ("yolov8m", "a100-sxm-40", 1.83),
    ("yolov8l", "a100-sxm-40", 2.39),
    ("yolov8x", "a100-sxm-40", 3.53),
    ("yolo11n", "t4", 1.5),
    ("yolo11s", "t4", 2.5),
    ("yolo11m", "t4", 4.7),
    ("yolo11l", "t4", 6.2),
    ("yolo11x", "t4", 11.3),
];

/// Prints predicted over measured milliseconds, and gives the median error.
fn median_error(rows: impl Iterator<Item = (String, &'static str, f64)>) -> f64 {
    let mut errors: Vec<f64> = rows
        .map(|(model, card, ms)| {
            let strategy = ForwardStrategy { precision: NumberFormat::Fp16, batch: 1, ..TRT_INT8 };
            let ratio = run(&native(&model), card, strategy).batch_latency.mid.0 * 1000.0 / ms;
            println!("{model} on {card}: {ratio:.2}");
            (ratio - 1.0).abs()
        })
        .collect();
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

#[test]
fn published_detectors_are_met() {
    assert!(median_error(DETECTORS.into_iter().map(|(model, card, ms)| (model.to_owned(), card, ms))) < 0.2);
}

/// Segmenters that the fit has not seen, from the same README as [`DETECTORS`].
#[test]
fn unseen_segmenters_are_met() {
    let rows = [("n", 1.21), ("s", 1.47), ("m", 2.18), ("l", 2.79), ("x", 4.02)];
    assert!(median_error(rows.into_iter().map(|(size, ms)| (format!("yolov8{size}-seg"), "a100-sxm-40", ms))) < 0.35);
}

/// Peaks of PyTorch's allocator in one pass of a denoiser on an L40S, in GiB (`IM0091`, `IM0095`, `IM0098` of the shared
/// table; diffusers benchmark). The CUDA context is outside of it.
#[test]
fn published_peaks_of_denoisers_are_inside_their_bands() {
    let check = |model: &str, precision: NumberFormat, peak_gib: f64| {
        let graph = graph(model);
        let shape = ForwardShape { guidance: Guidance::Single, ..ForwardShape::native(&graph) };
        let profile = ForwardProfile::new(&graph, &[], shape).unwrap();
        let memory = run(&profile, "l40s", ForwardStrategy { precision, ..EAGER }).memory;
        let context = memory.terms.iter().find(|term| term.kind == crate::MemoryKind::CudaContext).unwrap().bytes;
        let gib = |bytes: Bytes| (bytes.0 - context.mid.0) as f64 / f64::from(1 << 30);
        let (low, mid, high) = (gib(memory.total.low), gib(memory.total.mid), gib(memory.total.high));
        println!("{model} {precision:?}: {mid:.2} GiB ({low:.2} .. {high:.2}) against {peak_gib}");
        assert!(low < peak_gib && peak_gib < high && (mid / peak_gib - 1.0).abs() < 0.1, "{model}");
    };
    check("black-forest-labs/FLUX.1-dev", NumberFormat::Bf16, 22.64);
    check("black-forest-labs/FLUX.1-dev", NumberFormat::Int4, 6.72);
    check("sdxl", NumberFormat::Bf16, 5.05);
}
