//! Nets of inverted residuals: MobileNet V2 and V3, EfficientNet B0. Tables from the papers (arXiv 1801.04381, 1905.02244,
//! 1905.11946) as torchvision builds them.

use crate::build::{activation, linear};
use crate::config::media::elementwise;
use crate::graph::{ModelGraph, Operator, Site};
use crate::vision_presets::{DTYPE, Net, POOLED, Then, conv_norm};

/// One of the nets of this file.
pub(crate) fn preset(name: &str) -> Option<ModelGraph> {
    match name {
        "mobilenet-v2" => Some(mobilenet_v2(name)),
        "mobilenet-v3-large" => Some(mobilenet_v3_large(name)),
        "efficientnet-b0" => Some(efficientnet_b0(name)),
        _ => None,
    }
}

/// Expand, filter each channel, weigh the channels, project.
#[derive(Debug, Clone, Copy)]
struct Inverted {
    inputs: u64,
    expanded: u64,
    outputs: u64,
    kernel: u64,
    stride: u64,
    /// Width of the squeeze-and-excitation bottleneck.
    squeeze: Option<u64>,
}

impl Inverted {
    fn ops(&self, net: &mut Net) -> Vec<Operator> {
        let Self { inputs, expanded, outputs, kernel, stride, squeeze } = *self;
        let mut ops = Vec::new();
        if expanded != inputs {
            ops.extend(conv_norm(inputs, expanded, 1, 1, net.extent(), Then::NormAndActivation));
        }
        net.stride(stride);
        let extent = net.extent();
        ops.extend(conv_norm(expanded, expanded, kernel, expanded, extent, Then::NormAndActivation));
        if let Some(squeeze) = squeeze {
            ops.extend([
                elementwise("pool", DTYPE, expanded, extent),
                linear("fc1", Site::Other, DTYPE, expanded, squeeze, true).over(POOLED),
                activation(DTYPE, squeeze, false).over(POOLED),
                linear("fc2", Site::Other, DTYPE, squeeze, expanded, true).over(POOLED),
                activation(DTYPE, expanded, false).over(POOLED),
                elementwise("scale", DTYPE, expanded, extent),
            ]);
        }
        ops.extend(conv_norm(expanded, outputs, 1, 1, extent, Then::Norm));
        if stride == 1 && inputs == outputs {
            ops.push(elementwise("residual", DTYPE, outputs, extent));
        }
        ops
    }
}

fn stem(net: &mut Net, width: u64) {
    net.stride(2);
    let ops = conv_norm(3, width, 3, 1, net.extent(), Then::NormAndActivation);
    net.add("stem", ops);
}

fn last(net: &mut Net, inputs: u64, outputs: u64) {
    let ops = conv_norm(inputs, outputs, 1, 1, net.extent(), Then::NormAndActivation);
    net.add("last", ops);
}

fn mobilenet_v2(name: &str) -> ModelGraph {
    // Expansion, channels, repeats, first stride.
    const TABLE: [(u64, u64, u32, u64); 7] =
        [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)];
    let mut net = Net::new();
    stem(&mut net, 32);
    let mut width = 32;
    for (expansion, outputs, repeats, stride) in TABLE {
        for index in 0..repeats {
            let stride = if index == 0 { stride } else { 1 };
            let block =
                Inverted { inputs: width, expanded: width * expansion, outputs, kernel: 3, stride, squeeze: None };
            let ops = block.ops(&mut net);
            net.add("inverted residual", ops);
            width = outputs;
        }
    }
    last(&mut net, width, 1280);
    net.classify(name, 224, 1280, None)
}

fn mobilenet_v3_large(name: &str) -> ModelGraph {
    // Kernel, expanded width, channels, squeeze width, stride.
    const TABLE: [(u64, u64, u64, Option<u64>, u64); 15] = [
        (3, 16, 16, None, 1),
        (3, 64, 24, None, 2),
        (3, 72, 24, None, 1),
        (5, 72, 40, Some(24), 2),
        (5, 120, 40, Some(32), 1),
        (5, 120, 40, Some(32), 1),
        (3, 240, 80, None, 2),
        (3, 200, 80, None, 1),
        (3, 184, 80, None, 1),
        (3, 184, 80, None, 1),
        (3, 480, 112, Some(120), 1),
        (3, 672, 112, Some(168), 1),
        (5, 672, 160, Some(168), 2),
        (5, 960, 160, Some(240), 1),
        (5, 960, 160, Some(240), 1),
    ];
    let mut net = Net::new();
    stem(&mut net, 16);
    let mut inputs = 16;
    for (kernel, expanded, outputs, squeeze, stride) in TABLE {
        let ops = Inverted { inputs, expanded, outputs, kernel, stride, squeeze }.ops(&mut net);
        net.add("inverted residual", ops);
        inputs = outputs;
    }
    last(&mut net, inputs, 960);
    net.classify(name, 224, 960, Some(1280))
}

fn efficientnet_b0(name: &str) -> ModelGraph {
    // Expansion, kernel, first stride, channels, repeats.
    const TABLE: [(u64, u64, u64, u64, u32); 7] = [
        (1, 3, 1, 16, 1),
        (6, 3, 2, 24, 2),
        (6, 5, 2, 40, 2),
        (6, 3, 2, 80, 3),
        (6, 5, 1, 112, 3),
        (6, 5, 2, 192, 4),
        (6, 3, 1, 320, 1),
    ];
    let mut net = Net::new();
    stem(&mut net, 32);
    let mut width = 32;
    for (expansion, kernel, stride, outputs, repeats) in TABLE {
        for index in 0..repeats {
            let stride = if index == 0 { stride } else { 1 };
            let block = Inverted {
                inputs: width,
                expanded: width * expansion,
                outputs,
                kernel,
                stride,
                squeeze: Some((width / 4).max(1)),
            };
            let ops = block.ops(&mut net);
            net.add("inverted residual", ops);
            width = outputs;
        }
    }
    last(&mut net, width, 1280);
    net.classify(name, 224, 1280, None)
}
