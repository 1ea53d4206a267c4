//! Image classifiers and detectors that users name without a file. Each is built from its published structure, so that its
//! parameters equal the published count and its work scales with the picture.

use crate::build::{activation, collapse, linear, op, part};
use crate::config::media::{conv, elementwise, grid, model, norm_of, picture};
use crate::dtype::Dtype;
use crate::graph::{Extent, ModelGraph, ModelKind, NormKind, OpKind, Operator, Origin, PartRole, Site};
use crate::{vision_mobile, vision_resnet, vision_yolo, vision_yolo11};

/// Published checkpoints of these models store 32-bit weights.
pub(crate) const DTYPE: Dtype = Dtype::F32;
/// One vector for each picture.
pub(crate) const POOLED: Extent = Extent::Sample { positions: 1 };

/// Names that [`vision_preset`] knows, in order.
pub const VISION_PRESETS: [&str; 35] = [
    "convnext-base",
    "convnext-small",
    "convnext-tiny",
    "efficientnet-b0",
    "mobilenet-v2",
    "mobilenet-v3-large",
    "resnet101",
    "resnet152",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnext50-32x4d",
    "vgg16",
    "vgg19",
    "wide-resnet50-2",
    "yolo11l",
    "yolo11l-seg",
    "yolo11m",
    "yolo11m-seg",
    "yolo11n",
    "yolo11n-seg",
    "yolo11s",
    "yolo11s-seg",
    "yolo11x",
    "yolo11x-seg",
    "yolov8l",
    "yolov8l-seg",
    "yolov8m",
    "yolov8m-seg",
    "yolov8n",
    "yolov8n-seg",
    "yolov8s",
    "yolov8s-seg",
    "yolov8x",
    "yolov8x-seg",
];

/// The operator graph of a vision model that is known by name; `_` counts as `-`, and case does not count.
#[must_use]
pub fn vision_preset(name: &str) -> Option<ModelGraph> {
    let plain = name.trim().to_ascii_lowercase().replace('_', "-");
    vision_resnet::preset(&plain)
        .or_else(|| vision_mobile::preset(&plain))
        .or_else(|| vision_yolo::preset(&plain))
        .or_else(|| vision_yolo11::preset(&plain))
}

/// Builds a net layer by layer: remembers at which resolution it stands.
#[derive(Debug)]
pub(crate) struct Net {
    layers: Vec<(String, Vec<Operator>)>,
    /// Pixels of the picture behind one position.
    pixels: u64,
}

/// What follows a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Batch norm and a non-linearity.
    NormAndActivation,
    /// Batch norm.
    Norm,
}

impl Net {
    pub(crate) fn new() -> Self {
        Self { layers: Vec::new(), pixels: 1 }
    }

    /// Adds one named layer.
    pub(crate) fn add(&mut self, name: &str, ops: Vec<Operator>) {
        self.layers.push((name.to_owned(), ops));
    }

    /// Halves (stride 2) or keeps (stride 1) both sides.
    pub(crate) fn stride(&mut self, stride: u64) {
        self.pixels = self.pixels.saturating_mul(stride).saturating_mul(stride);
    }

    /// Doubles both sides.
    pub(crate) fn enlarge(&mut self) {
        self.pixels = (self.pixels / 4).max(1);
    }

    /// Positions at the present resolution.
    pub(crate) fn extent(&self) -> Extent {
        grid(self.pixels, 0)
    }

    /// Pools to one vector and classifies it into the 1000 classes of ImageNet.
    pub(crate) fn classify(mut self, name: &str, side: u64, width: u64, hidden: Option<u64>) -> ModelGraph {
        let mut ops = vec![elementwise("avgpool", DTYPE, width, self.extent())];
        let inputs = match hidden {
            Some(inner) => {
                ops.push(linear("classifier.0", Site::Head, DTYPE, width, inner, true).over(POOLED));
                ops.push(activation(DTYPE, inner, false).over(POOLED));
                inner
            }
            None => width,
        };
        ops.push(linear("classifier", Site::Head, DTYPE, inputs, 1000, true).over(POOLED));
        self.add("classifier", ops);
        self.finish(name, side, width)
    }

    /// The graph of all layers, made for pictures of `side` pixels.
    pub(crate) fn finish(self, name: &str, side: u64, width: u64) -> ModelGraph {
        let parts = vec![part("network", PartRole::Encoder, collapse(self.layers))];
        let mut graph = model(name, name, ModelKind::Vision, width, picture(side, side, 1), parts);
        graph.origin = Origin::Preset;
        graph
    }
}

/// A convolution without bias, its batch norm, and perhaps a non-linearity.
pub(crate) fn conv_norm(
    inputs: u64,
    outputs: u64,
    kernel: u64,
    groups: u64,
    extent: Extent,
    then: Then,
) -> Vec<Operator> {
    let kernel_elements = kernel.saturating_mul(kernel);
    let kind = OpKind::Conv { inputs, outputs, kernel_elements, groups, bias: false };
    let mut ops = vec![
        op("conv", Site::Convolution, DTYPE, kind).over(extent),
        norm_of("bn", DTYPE, NormKind::Batch, outputs, outputs.saturating_mul(2), extent),
    ];
    if then == Then::NormAndActivation {
        ops.push(activation(DTYPE, outputs, false).over(extent));
    }
    ops
}

/// A convolution with bias and without norm.
pub(crate) fn plain_conv(inputs: u64, outputs: u64, kernel: u64, extent: Extent) -> Operator {
    conv("conv", DTYPE, inputs, outputs, kernel.saturating_mul(kernel), true, extent)
}

#[cfg(test)]
#[path = "vision_presets_tests.rs"]
mod tests;
