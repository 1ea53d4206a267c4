//! YOLOv8 detectors and segmenters for 80 classes (structure and counts as published with the `ultralytics` package, before
//! batch norms are fused).

use crate::build::op;
use crate::config::media::elementwise;
use crate::graph::{Extent, ModelGraph, OpKind, Operator, Site};
use crate::vision_presets::{DTYPE, Net, Then, conv_norm, plain_conv};

/// Classes of the published checkpoints (COCO).
pub(crate) const CLASSES: u64 = 80;
/// Bins of the distribution that each side of a box is read from.
pub(crate) const BINS: u64 = 16;
/// Masks' prototypes of a segmenter.
pub(crate) const MASKS: u64 = 32;

/// One of the nets of this file.
pub(crate) fn preset(name: &str) -> Option<ModelGraph> {
    let (scale, task) = Task::split(name.strip_prefix("yolov8")?);
    // Depth in thirds, width in quarters, most channels before scaling.
    let scale = match scale {
        "n" => Scale { depth_thirds: 1, width_quarters: 1, channels_max: 1024 },
        "s" => Scale { depth_thirds: 1, width_quarters: 2, channels_max: 1024 },
        "m" => Scale { depth_thirds: 2, width_quarters: 3, channels_max: 768 },
        "l" => Scale { depth_thirds: 3, width_quarters: 4, channels_max: 512 },
        "x" => Scale { depth_thirds: 3, width_quarters: 5, channels_max: 512 },
        _ => return None,
    };
    Some(yolo(name, scale, task))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Boxes.
    Detect,
    /// Boxes and masks.
    Segment,
}

impl Task {
    /// The scale's letter and the task that a name's suffix states.
    pub(crate) fn split(suffix: &str) -> (&str, Self) {
        suffix.strip_suffix("-seg").map_or((suffix, Self::Detect), |scale| (scale, Self::Segment))
    }
}

#[derive(Debug, Clone, Copy)]
struct Scale {
    depth_thirds: u32,
    width_quarters: u64,
    channels_max: u64,
}

/// Channels at a width of so many quarters, rounded up to a multiple of 8.
pub(crate) fn scaled(channels: u64, width_quarters: u64, channels_max: u64) -> u64 {
    (channels.min(channels_max) * width_quarters).div_ceil(4).div_ceil(8) * 8
}

impl Scale {
    fn channels(self, channels: u64) -> u64 {
        scaled(channels, self.width_quarters, self.channels_max)
    }

    fn repeats(self, repeats: u32) -> u32 {
        (repeats * self.depth_thirds / 3).max(1)
    }
}

fn yolo(name: &str, scale: Scale, task: Task) -> ModelGraph {
    let mut net = Net::new();
    let widths = [64, 128, 256, 512, 1024].map(|channels| scale.channels(channels));
    let [w1, w2, w3, w4, w5] = widths;
    net.stride(2);
    convolve(&mut net, 3, w1, 3);
    net.stride(2);
    convolve(&mut net, w1, w2, 3);
    split(&mut net, w2, w2, scale.repeats(3), Shortcut::Added);
    let mut inputs = w2;
    for (outputs, repeats) in [(w3, 6), (w4, 6), (w5, 3)] {
        net.stride(2);
        convolve(&mut net, inputs, outputs, 3);
        split(&mut net, outputs, outputs, scale.repeats(repeats), Shortcut::Added);
        inputs = outputs;
    }
    pyramid_pool(&mut net, w5);
    // Up the feature pyramid, and down again.
    join(&mut net, Direction::Up, w5 + w4);
    split(&mut net, w5 + w4, w4, scale.repeats(3), Shortcut::None);
    join(&mut net, Direction::Up, w4 + w3);
    split(&mut net, w4 + w3, w3, scale.repeats(3), Shortcut::None);
    let finest = net.extent();
    if task == Task::Segment {
        prototypes(&mut net, w3, scale.channels(256));
    }
    detect(&mut net, w3, w3, task);
    net.stride(2);
    convolve(&mut net, w3, w3, 3);
    join(&mut net, Direction::Same, w3 + w4);
    split(&mut net, w3 + w4, w4, scale.repeats(3), Shortcut::None);
    detect(&mut net, w4, w3, task);
    net.stride(2);
    convolve(&mut net, w4, w4, 3);
    join(&mut net, Direction::Same, w4 + w5);
    split(&mut net, w4 + w5, w5, scale.repeats(3), Shortcut::None);
    detect(&mut net, w5, w3, task);
    decode_boxes(&mut net, finest);
    net.finish(name, 640, w5)
}

/// The expectation over the bins of each side.
pub(crate) fn decode_boxes(net: &mut Net, finest: Extent) {
    let boxes = OpKind::Conv { inputs: BINS, outputs: 1, kernel_elements: 1, groups: 1, bias: false };
    net.add("box decoding", vec![op("dfl", Site::Head, DTYPE, boxes).over(finest)]);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shortcut {
    Added,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Same,
}

pub(crate) fn convolve(net: &mut Net, inputs: u64, outputs: u64, kernel: u64) {
    let ops = conv_norm(inputs, outputs, kernel, 1, net.extent(), Then::NormAndActivation);
    net.add("conv", ops);
}

/// Concatenates with an earlier level, after up-sampling to it.
pub(crate) fn join(net: &mut Net, direction: Direction, width: u64) {
    if direction == Direction::Up {
        net.enlarge();
    }
    let extent = net.extent();
    net.add("join", vec![elementwise("concat", DTYPE, width, extent)]);
}

/// Two halves, one of which runs through `repeats` bottlenecks whose outputs are all joined (C2f).
fn split(net: &mut Net, inputs: u64, outputs: u64, repeats: u32, shortcut: Shortcut) {
    let extent = net.extent();
    let half = outputs / 2;
    let then = Then::NormAndActivation;
    net.add("split", conv_norm(inputs, half * 2, 1, 1, extent, then));
    for _ in 0..repeats {
        let mut ops = conv_norm(half, half, 3, 1, extent, then);
        ops.extend(conv_norm(half, half, 3, 1, extent, then));
        if shortcut == Shortcut::Added {
            ops.push(elementwise("residual", DTYPE, half, extent));
        }
        net.add("bottleneck", ops);
    }
    let joined = half * (u64::from(repeats) + 2);
    let mut ops = vec![elementwise("concat", DTYPE, joined, extent)];
    ops.extend(conv_norm(joined, outputs, 1, 1, extent, then));
    net.add("merge", ops);
}

/// Three poolings in a row, joined (SPPF).
pub(crate) fn pyramid_pool(net: &mut Net, width: u64) {
    let extent = net.extent();
    let half = width / 2;
    let mut ops = conv_norm(width, half, 1, 1, extent, Then::NormAndActivation);
    for _ in 0..3 {
        ops.push(elementwise("maxpool", DTYPE, half, extent));
    }
    ops.push(elementwise("concat", DTYPE, half * 4, extent));
    ops.extend(conv_norm(half * 4, width, 1, 1, extent, Then::NormAndActivation));
    net.add("pyramid pool", ops);
}

/// Box, class and (for a segmenter) mask branches at one level; `finest` is the width of the finest level.
fn detect(net: &mut Net, width: u64, finest: u64, task: Task) {
    let extent = net.extent();
    let sides = 4 * BINS;
    let mut ops = branch(width, (finest / 4).max(sides), sides, extent);
    ops.extend(branch(width, finest.max(CLASSES), CLASSES, extent));
    if task == Task::Segment {
        ops.extend(branch(width, (finest / 4).max(MASKS), MASKS, extent));
    }
    net.add("detect", ops);
}

pub(crate) fn branch(inputs: u64, inner: u64, outputs: u64, extent: Extent) -> Vec<Operator> {
    let mut ops = conv_norm(inputs, inner, 3, 1, extent, Then::NormAndActivation);
    ops.extend(conv_norm(inner, inner, 3, 1, extent, Then::NormAndActivation));
    ops.push(plain_conv(inner, outputs, 1, extent));
    ops
}

/// The masks' basis, at twice the finest level's resolution.
pub(crate) fn prototypes(net: &mut Net, inputs: u64, width: u64) {
    let coarse = net.extent();
    let mut ops = conv_norm(inputs, width, 3, 1, coarse, Then::NormAndActivation);
    net.enlarge();
    let fine = net.extent();
    net.stride(2);
    // A transposed 2 x 2 convolution with stride 2: four weights meet each input position, one each output position.
    let grow = OpKind::Conv { inputs: width, outputs: width, kernel_elements: 4, groups: 1, bias: true };
    ops.push(op("upsample", Site::Convolution, DTYPE, grow).over(coarse));
    ops.extend(conv_norm(width, width, 3, 1, fine, Then::NormAndActivation));
    ops.extend(conv_norm(width, MASKS, 1, 1, fine, Then::NormAndActivation));
    net.add("prototypes", ops);
}
