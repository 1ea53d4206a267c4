//! Published parameters and multiply-adds of the vision presets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::{VISION_PRESETS, vision_preset};
use crate::graph::Shape;

/// Name, parameters, GMAC at the native size, tolerance. Sources, read 2026-11: the `num_params` and `_ops` of torchvision's
/// weights (`torchvision/models/*.py`), which count a multiply-add once; for YOLO the summaries in ultralytics'
/// `cfg/models/v8/yolov8.yaml`, `11/yolo11.yaml` and `11/yolo11-seg.yaml`, which count it twice (halved here) and count
/// batch norms too, some 2 % of a small net's work and 4 x of the segmenter's transposed convolution. The file of YOLOv8's
/// segmenters has no summary: the count of yolov8n-seg is derived from its modules (its page rounds it to 3.4 M).
const PUBLISHED: [(&str, u64, f64, f64); 31] = [
    ("resnet18", 11_689_512, 1.814, 0.002),
    ("resnet34", 21_797_672, 3.664, 0.002),
    ("resnet50", 25_557_032, 4.089, 0.002),
    ("resnet101", 44_549_160, 7.801, 0.002),
    ("resnet152", 60_192_808, 11.514, 0.002),
    ("resnext50-32x4d", 25_028_904, 4.230, 0.002),
    ("wide-resnet50-2", 68_883_240, 11.398, 0.002),
    ("vgg16", 138_357_544, 15.470, 0.002),
    ("vgg19", 143_667_240, 19.632, 0.002),
    ("convnext-tiny", 28_589_128, 4.456, 0.002),
    ("convnext-small", 50_223_688, 8.684, 0.002),
    ("convnext-base", 88_591_464, 15.355, 0.002),
    ("mobilenet-v2", 3_504_872, 0.301, 0.002),
    ("mobilenet-v3-large", 5_483_032, 0.217, 0.002),
    ("efficientnet-b0", 5_288_548, 0.386, 0.002),
    ("yolov8n", 3_157_200, 8.9 / 2.0, 0.02),
    ("yolov8s", 11_166_560, 28.8 / 2.0, 0.02),
    ("yolov8m", 25_902_640, 79.3 / 2.0, 0.02),
    ("yolov8l", 43_691_520, 165.7 / 2.0, 0.02),
    ("yolov8x", 68_229_648, 258.5 / 2.0, 0.02),
    ("yolov8n-seg", 3_409_968, 12.8 / 2.0, 0.07),
    ("yolo11n", 2_624_080, 6.6 / 2.0, 0.05),
    ("yolo11s", 9_458_752, 21.7 / 2.0, 0.05),
    ("yolo11m", 20_114_688, 68.5 / 2.0, 0.05),
    ("yolo11l", 25_372_160, 87.6 / 2.0, 0.05),
    ("yolo11x", 56_966_176, 196.0 / 2.0, 0.05),
    ("yolo11n-seg", 2_876_848, 10.5 / 2.0, 0.1),
    ("yolo11s-seg", 10_113_248, 35.8 / 2.0, 0.1),
    ("yolo11m-seg", 22_420_896, 123.9 / 2.0, 0.1),
    ("yolo11l-seg", 27_678_368, 143.0 / 2.0, 0.1),
    ("yolo11x-seg", 62_142_656, 320.2 / 2.0, 0.1),
];

#[test]
fn published_counts_and_work_are_met() {
    let mut wrong = Vec::new();
    for (name, parameters, gmac, tolerance) in PUBLISHED {
        let graph = vision_preset(name).unwrap();
        let got = graph.flops(&graph.native_shape).0 / 2e9;
        if graph.parameters() != parameters || (got / gmac - 1.0).abs() > tolerance {
            wrong.push(format!(
                "{name}: {} instead of {parameters}, {got:.3} instead of {gmac:.3} GMAC",
                graph.parameters()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_listed_name_is_known_and_scales_with_the_picture() {
    assert!(VISION_PRESETS.is_sorted());
    for name in VISION_PRESETS {
        let graph = vision_preset(name).unwrap();
        let native = graph.native_shape;
        let larger = Shape { height: native.height * 4, width: native.width * 4, ..native };
        // A little less where the classifier weighs, a little more where positions attend to each other.
        let ratio = graph.flops(&larger).0 / graph.flops(&native).0;
        assert!((14.0..=20.0).contains(&ratio), "{name}: {ratio}");
        assert!(graph.layers() > 0, "{name}");
    }
    assert_eq!(vision_preset(" ResNet_50 "), None);
    assert_eq!(vision_preset("ResNet50").unwrap(), vision_preset("resnet50").unwrap());
    assert_eq!(vision_preset("wide_resnet50_2").unwrap().name, "wide-resnet50-2");
    for unknown in ["", "yolov8", "yolov8q", "yolov8é", "yolov8-seg", "yolo11", "yolo11nn", "resnet51"] {
        assert_eq!(vision_preset(unknown), None, "{unknown}");
    }
}
