//! YOLO11 detectors and segmenters for 80 classes (structure and counts as published with the `ultralytics` package, before
//! batch norms are fused).

use crate::build::attention;
use crate::config::media::elementwise;
use crate::graph::{Attention, Extent, KvCache, ModelGraph, OpKind, Operator, Span};
use crate::vision_presets::{DTYPE, Net, Then, conv_norm, plain_conv};
use crate::vision_yolo::{
    BINS, CLASSES, Direction, MASKS, Task, branch, convolve, decode_boxes, join, prototypes, pyramid_pool, scaled,
};

const FULL: Then = Then::NormAndActivation;

/// One of the nets of this file.
pub(crate) fn preset(name: &str) -> Option<ModelGraph> {
    let (scale, task) = Task::split(name.strip_prefix("yolo11")?);
    // Repeats, width in quarters, most channels before scaling; the larger ones use the deeper brick everywhere.
    let (repeats, quarters, channels_max, brick) = match scale {
        "n" => (1, 1, 1024, Brick::Bottleneck),
        "s" => (1, 2, 1024, Brick::Bottleneck),
        "m" => (1, 4, 512, Brick::Nested),
        "l" => (2, 4, 512, Brick::Nested),
        "x" => (2, 6, 512, Brick::Nested),
        _ => return None,
    };
    let channels = |channels| scaled(channels, quarters, channels_max);
    Some(yolo(name, channels, repeats, brick, task))
}

/// What runs inside a split block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Brick {
    /// Two 3 x 3 convolutions through half the channels.
    Bottleneck,
    /// A split block of its own (C3k).
    Nested,
}

fn yolo(name: &str, channels: impl Fn(u64) -> u64, repeats: u32, brick: Brick, task: Task) -> ModelGraph {
    let [w1, w2, w3, w4, w5] = [64, 128, 256, 512, 1024].map(&channels);
    let mut net = Net::new();
    net.stride(2);
    convolve(&mut net, 3, w1, 3);
    net.stride(2);
    convolve(&mut net, w1, w2, 3);
    split(&mut net, w2, w3, w3 / 4, repeats, brick);
    net.stride(2);
    convolve(&mut net, w3, w3, 3);
    split(&mut net, w3, w4, w4 / 4, repeats, brick);
    net.stride(2);
    convolve(&mut net, w4, w4, 3);
    split(&mut net, w4, w4, w4 / 2, repeats, Brick::Nested);
    net.stride(2);
    convolve(&mut net, w4, w5, 3);
    split(&mut net, w5, w5, w5 / 2, repeats, Brick::Nested);
    pyramid_pool(&mut net, w5);
    position_attention(&mut net, w5, repeats);
    // Up the feature pyramid, and down again.
    join(&mut net, Direction::Up, w5 + w4);
    split(&mut net, w5 + w4, w4, w4 / 2, repeats, brick);
    join(&mut net, Direction::Up, w4 + w4);
    split(&mut net, w4 + w4, w3, w3 / 2, repeats, brick);
    let finest = net.extent();
    if task == Task::Segment {
        prototypes(&mut net, w3, channels(256));
    }
    detect(&mut net, w3, w3, task);
    net.stride(2);
    convolve(&mut net, w3, w3, 3);
    join(&mut net, Direction::Same, w3 + w4);
    split(&mut net, w3 + w4, w4, w4 / 2, repeats, brick);
    detect(&mut net, w4, w3, task);
    net.stride(2);
    convolve(&mut net, w4, w4, 3);
    join(&mut net, Direction::Same, w4 + w5);
    split(&mut net, w4 + w5, w5, w5 / 2, repeats, Brick::Nested);
    detect(&mut net, w5, w3, task);
    decode_boxes(&mut net, finest);
    net.finish(name, 640, w5)
}

/// Two parts of `inner` channels, one of which runs through `repeats` bricks whose outputs are all joined (C3k2).
fn split(net: &mut Net, inputs: u64, outputs: u64, inner: u64, repeats: u32, brick: Brick) {
    let extent = net.extent();
    net.add("split", conv_norm(inputs, inner * 2, 1, 1, extent, FULL));
    for _ in 0..repeats {
        match brick {
            Brick::Bottleneck => net.add("bottleneck", bottleneck(inner, inner / 2, extent)),
            Brick::Nested => net.add("nested split", nested(inner, extent)),
        }
    }
    let joined = inner * (u64::from(repeats) + 2);
    let mut ops = vec![elementwise("concat", DTYPE, joined, extent)];
    ops.extend(conv_norm(joined, outputs, 1, 1, extent, FULL));
    net.add("merge", ops);
}

fn bottleneck(width: u64, inner: u64, extent: Extent) -> Vec<Operator> {
    let mut ops = conv_norm(width, inner, 3, 1, extent, FULL);
    ops.extend(conv_norm(inner, width, 3, 1, extent, FULL));
    ops.push(elementwise("residual", DTYPE, width, extent));
    ops
}

/// Two bottlenecks beside a bypass (C3k).
fn nested(width: u64, extent: Extent) -> Vec<Operator> {
    let half = width / 2;
    let mut ops = conv_norm(width, half, 1, 1, extent, FULL);
    ops.extend(conv_norm(width, half, 1, 1, extent, FULL));
    ops.extend(bottleneck(half, half, extent));
    ops.extend(bottleneck(half, half, extent));
    ops.push(elementwise("concat", DTYPE, half * 2, extent));
    ops.extend(conv_norm(half * 2, width, 1, 1, extent, FULL));
    ops
}

/// Self-attention among the coarsest positions, on half of the channels (C2PSA).
fn position_attention(net: &mut Net, width: u64, repeats: u32) {
    let extent = net.extent();
    let half = width / 2;
    net.add("split", conv_norm(width, half * 2, 1, 1, extent, FULL));
    let heads = (half / 64).max(1);
    let head_width = half / heads;
    let key_width = head_width / 2;
    for _ in 0..repeats {
        let mut core = attention(DTYPE, heads, heads, head_width, Span::Bidirectional, KvCache::None).over(extent);
        if let OpKind::Attention(Attention { qk_dim, .. }) = &mut core.kind {
            *qk_dim = key_width;
        }
        let mut ops = conv_norm(half, half + 2 * key_width * heads, 1, 1, extent, Then::Norm);
        ops.push(core);
        ops.extend(conv_norm(half, half, 3, half, extent, Then::Norm));
        ops.push(elementwise("positions", DTYPE, half, extent));
        ops.extend(conv_norm(half, half, 1, 1, extent, Then::Norm));
        ops.push(elementwise("residual", DTYPE, half, extent));
        ops.extend(conv_norm(half, half * 2, 1, 1, extent, FULL));
        ops.extend(conv_norm(half * 2, half, 1, 1, extent, Then::Norm));
        ops.push(elementwise("residual", DTYPE, half, extent));
        net.add("position attention", ops);
    }
    let mut ops = vec![elementwise("concat", DTYPE, half * 2, extent)];
    ops.extend(conv_norm(half * 2, width, 1, 1, extent, FULL));
    net.add("merge", ops);
}

/// As YOLOv8's, with the class branch's 3 x 3 convolutions channel by channel.
fn detect(net: &mut Net, width: u64, finest: u64, task: Task) {
    let extent = net.extent();
    let sides = 4 * BINS;
    let classes = finest.max(CLASSES);
    let mut ops = branch(width, (finest / 4).max(sides), sides, extent);
    ops.extend(conv_norm(width, width, 3, width, extent, FULL));
    ops.extend(conv_norm(width, classes, 1, 1, extent, FULL));
    ops.extend(conv_norm(classes, classes, 3, classes, extent, FULL));
    ops.extend(conv_norm(classes, classes, 1, 1, extent, FULL));
    ops.push(plain_conv(classes, CLASSES, 1, extent));
    if task == Task::Segment {
        ops.extend(branch(width, (finest / 4).max(MASKS), MASKS, extent));
    }
    net.add("detect", ops);
}
