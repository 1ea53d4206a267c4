//! ResNet (He et al. 2015, arXiv 1512.03385, with the stride in the 3 x 3 convolution as in torchvision), ResNeXt, Wide
//! ResNet, VGG and ConvNeXt.

use crate::build::{activation, linear, op, parameter};
use crate::config::media::{elementwise, layer_norm};
use crate::graph::{ModelGraph, OpKind, Operator, Site};
use crate::vision_presets::{DTYPE, Net, POOLED, Then, conv_norm, plain_conv};

/// One of the nets of this file.
pub(crate) fn preset(name: &str) -> Option<ModelGraph> {
    let basic = |depths| Some(resnet(name, depths, Branch::Basic));
    let bottleneck = |depths, groups, width| Some(resnet(name, depths, Branch::Bottleneck { groups, width }));
    match name {
        "resnet18" => basic([2, 2, 2, 2]),
        "resnet34" => basic([3, 4, 6, 3]),
        "resnet50" => bottleneck([3, 4, 6, 3], 1, 64),
        "resnet101" => bottleneck([3, 4, 23, 3], 1, 64),
        "resnet152" => bottleneck([3, 8, 36, 3], 1, 64),
        "resnext50-32x4d" => bottleneck([3, 4, 6, 3], 32, 4),
        "wide-resnet50-2" => bottleneck([3, 4, 6, 3], 1, 128),
        "vgg16" => Some(vgg(name, [2, 2, 3, 3, 3])),
        "vgg19" => Some(vgg(name, [2, 2, 4, 4, 4])),
        "convnext-base" => Some(convnext(name, [(3, 128), (3, 256), (27, 512), (3, 1024)])),
        "convnext-small" => Some(convnext(name, [(3, 96), (3, 192), (27, 384), (3, 768)])),
        "convnext-tiny" => Some(convnext(name, [(3, 96), (3, 192), (9, 384), (3, 768)])),
        _ => None,
    }
}

/// Form of the residual branch.
#[derive(Debug, Clone, Copy)]
enum Branch {
    /// Two 3 x 3 convolutions.
    Basic,
    /// 1 x 1, 3 x 3 in `groups` of `width` channels (of the first stage), 1 x 1.
    Bottleneck { groups: u64, width: u64 },
}

fn resnet(name: &str, depths: [u32; 4], branch: Branch) -> ModelGraph {
    let mut net = Net::new();
    net.stride(2);
    let mut stem = conv_norm(3, 64, 7, 1, net.extent(), Then::NormAndActivation);
    net.stride(2);
    stem.push(elementwise("maxpool", DTYPE, 64, net.extent()));
    net.add("stem", stem);
    let mut width = 64;
    for (depth, (planes, stride)) in depths.into_iter().zip([(64, 1), (128, 2), (256, 2), (512, 2)]) {
        for index in 0..depth {
            let stride = if index == 0 { stride } else { 1 };
            let (outputs, ops) = residual(&mut net, branch, width, planes, stride);
            net.add("residual", ops);
            width = outputs;
        }
    }
    net.classify(name, 224, width, None)
}

/// One residual block; returns its output width.
fn residual(net: &mut Net, branch: Branch, inputs: u64, planes: u64, stride: u64) -> (u64, Vec<Operator>) {
    let before = net.extent();
    net.stride(stride);
    let after = net.extent();
    let (outputs, mut ops) = match branch {
        Branch::Basic => {
            let mut ops = conv_norm(inputs, planes, 3, 1, after, Then::NormAndActivation);
            ops.extend(conv_norm(planes, planes, 3, 1, after, Then::Norm));
            (planes, ops)
        }
        Branch::Bottleneck { groups, width } => {
            let inner = planes * width / 64 * groups;
            let outputs = planes * 4;
            let mut ops = conv_norm(inputs, inner, 1, 1, before, Then::NormAndActivation);
            ops.extend(conv_norm(inner, inner, 3, groups, after, Then::NormAndActivation));
            ops.extend(conv_norm(inner, outputs, 1, 1, after, Then::Norm));
            (outputs, ops)
        }
    };
    if stride != 1 || inputs != outputs {
        ops.extend(conv_norm(inputs, outputs, 1, 1, after, Then::Norm));
    }
    ops.push(elementwise("residual", DTYPE, outputs, after));
    ops.push(activation(DTYPE, outputs, false).over(after));
    (outputs, ops)
}

fn vgg(name: &str, depths: [u32; 5]) -> ModelGraph {
    let mut net = Net::new();
    let mut width = 3;
    for (depth, outputs) in depths.into_iter().zip([64, 128, 256, 512, 512]) {
        for _ in 0..depth {
            let extent = net.extent();
            net.add(
                "conv",
                vec![plain_conv(width, outputs, 3, extent), activation(DTYPE, outputs, false).over(extent)],
            );
            width = outputs;
        }
        net.stride(2);
        let extent = net.extent();
        net.add("pool", vec![elementwise("maxpool", DTYPE, width, extent)]);
    }
    // The classifier sees 7 x 7 positions, whatever the picture's size (adaptive pooling).
    let mut head = Vec::new();
    let mut inputs = width * 49;
    for outputs in [4096, 4096, 1000] {
        head.push(linear("classifier", Site::Head, DTYPE, inputs, outputs, true).over(POOLED));
        if outputs != 1000 {
            head.push(activation(DTYPE, outputs, false).over(POOLED));
        }
        inputs = outputs;
    }
    net.add("classifier", head);
    net.finish(name, 224, width)
}

/// Liu et al. 2022, arXiv 2201.03545.
fn convnext(name: &str, stages: [(u32, u64); 4]) -> ModelGraph {
    let mut net = Net::new();
    let mut width = 3;
    for (depth, outputs) in stages {
        let before = net.extent();
        let first = width == 3;
        net.stride(if first { 4 } else { 2 });
        let extent = net.extent();
        let step = if first {
            vec![plain_conv(width, outputs, 4, extent), layer_norm("norm", DTYPE, outputs, extent)]
        } else {
            vec![layer_norm("norm", DTYPE, width, before), plain_conv(width, outputs, 2, extent)]
        };
        net.add("downsample", step);
        width = outputs;
        for _ in 0..depth {
            let depthwise =
                OpKind::Conv { inputs: width, outputs: width, kernel_elements: 49, groups: width, bias: true };
            let inner = width * 4;
            net.add(
                "block",
                vec![
                    op("dwconv", Site::Convolution, DTYPE, depthwise).over(extent),
                    layer_norm("norm", DTYPE, width, extent),
                    linear("pwconv1", Site::MlpInput, DTYPE, width, inner, true).over(extent),
                    activation(DTYPE, inner, false).over(extent),
                    linear("pwconv2", Site::MlpOutput, DTYPE, inner, width, true).over(extent),
                    parameter("layer_scale", Site::Other, DTYPE, width).over(extent),
                    elementwise("scale", DTYPE, width, extent),
                    elementwise("residual", DTYPE, width, extent),
                ],
            );
        }
    }
    net.add("norm", vec![layer_norm("norm", DTYPE, width, POOLED)]);
    net.classify(name, 224, width, None)
}
