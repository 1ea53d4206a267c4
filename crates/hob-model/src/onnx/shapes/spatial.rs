//! Convolutions, pooling and resizing.

use crate::onnx::proto::Attribute;
use crate::onnx::shapes::fact::{Fact, Known};
use crate::onnx::tensor::Element;

pub(super) fn rule(op: &str, known: &Known<'_>) -> Option<Vec<Fact>> {
    Some(match op {
        "Conv" | "FusedConv" | "NhwcFusedConv" => known.like_first(conv(known, 1)),
        "ConvInteger" => vec![Fact::of_shape(Element(6), conv(known, 1))],
        "QLinearConv" => known.like_first(conv(known, 3)),
        "ConvTranspose" => known.like_first(conv_transpose(known)),
        "MaxPool" | "AveragePool" | "LpPool" | "QLinearAveragePool" => {
            let shape = pool(known);
            vec![Fact::of_shape(known.element(0), shape.clone()), Fact::of_shape(Element::INT64, shape)]
        }
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" | "QLinearGlobalAveragePool" => {
            let shape = known
                .shape(0)
                .map(|shape| shape.iter().enumerate().map(|(at, size)| if at < 2 { *size } else { 1 }).collect());
            known.like_first(shape)
        }
        "Resize" | "Upsample" => known.like_first(resize(known, op)),
        "GridSample" => {
            let shape = known.shape(0).zip(known.shape(1)).and_then(|(data, grid)| {
                let mut shape = data.get(..2)?.to_vec();
                shape.extend(grid.get(1..grid.len().checked_sub(1)?)?);
                Some(shape)
            });
            known.like_first(shape)
        }
        "RoiAlign" => {
            let side = |name: &str| u64::try_from(known.node.int(name).unwrap_or(1)).ok();
            let shape = known.shape(0).zip(known.shape(1)).and_then(|(data, boxes)| {
                Some(vec![*boxes.first()?, *data.get(1)?, side("output_height")?, side("output_width")?])
            });
            known.like_first(shape)
        }
        _ => return None,
    })
}

/// How a window moves over one axis.
struct Window {
    kernel: u64,
    stride: u64,
    dilation: u64,
    pads: i64,
}

impl Window {
    /// Reach of the window; `None` for absurd sizes.
    fn reach(&self) -> Option<u64> {
        self.dilation.checked_mul(self.kernel.checked_sub(1)?)?.checked_add(1)
    }

    fn steps(&self, size: u64, rounds_up: bool) -> Option<u64> {
        let room = size.checked_add_signed(self.pads)?.checked_sub(self.reach()?)?;
        let steps = if rounds_up { room.div_ceil(self.stride) } else { room / self.stride };
        steps.checked_add(1)
    }
}

fn windows(known: &Known<'_>, kernel: &[u64]) -> Option<Vec<Window>> {
    let list = |name: &str| known.node.ints(name);
    let pads = list("pads");
    kernel
        .iter()
        .enumerate()
        .map(|(at, kernel)| {
            let positive = |name: &str| match list(name) {
                Some(numbers) => u64::try_from(*numbers.get(at)?).ok().filter(|number| *number > 0),
                None => Some(1),
            };
            let both = match pads {
                Some(pads) => pads.get(at)?.checked_add(*pads.get(at.checked_add(kernel_rank(pads))?)?)?,
                None => 0,
            };
            Some(Window { kernel: *kernel, stride: positive("strides")?, dilation: positive("dilations")?, pads: both })
        })
        .collect()
}

fn kernel_rank(pads: &[i64]) -> usize {
    pads.len() / 2
}

fn is_same(known: &Known<'_>) -> bool {
    matches!(known.node.text("auto_pad"), Some("SAME_UPPER" | "SAME_LOWER"))
}

fn conv(known: &Known<'_>, weight_at: usize) -> Option<Vec<u64>> {
    let (data, weight) = (known.shape(0)?, known.shape(weight_at)?);
    let (spatial, kernel) = (data.get(2..)?, weight.get(2..)?);
    if spatial.len() != kernel.len() {
        return None;
    }
    let mut shape = vec![*data.first()?, *weight.first()?];
    for (size, window) in spatial.iter().zip(windows(known, kernel)?) {
        shape.push(if is_same(known) { size.div_ceil(window.stride) } else { window.steps(*size, false)? });
    }
    Some(shape)
}

fn conv_transpose(known: &Known<'_>) -> Option<Vec<u64>> {
    let (data, weight) = (known.shape(0)?, known.shape(1)?);
    let (spatial, kernel) = (data.get(2..)?, weight.get(2..)?);
    let groups = u64::try_from(known.node.int("group").unwrap_or(1)).ok()?;
    let mut shape = vec![*data.first()?, weight.get(1)?.checked_mul(groups)?];
    if spatial.len() != kernel.len() {
        return None;
    }
    let stated = known.node.ints("output_shape");
    let extra = known.node.ints("output_padding");
    for (at, (size, window)) in spatial.iter().zip(windows(known, kernel)?).enumerate() {
        let size = match stated {
            Some(sizes) => u64::try_from(*sizes.get(sizes.len().checked_sub(spatial.len())?.checked_add(at)?)?).ok()?,
            None if is_same(known) => size.checked_mul(window.stride)?,
            None => window
                .stride
                .checked_mul(size.checked_sub(1)?)?
                .checked_add(window.reach()?)?
                .checked_add_signed(extra.and_then(|extra| extra.get(at)).copied().unwrap_or(0))?
                .checked_add_signed(window.pads.checked_neg()?)?,
        };
        shape.push(size);
    }
    Some(shape)
}

fn pool(known: &Known<'_>) -> Option<Vec<u64>> {
    let data = known.shape(0)?;
    let kernel: Vec<u64> =
        known.node.ints("kernel_shape")?.iter().map(|size| u64::try_from(*size).ok()).collect::<Option<_>>()?;
    let spatial = data.get(2..).filter(|spatial| spatial.len() == kernel.len())?;
    let rounds_up = known.node.int("ceil_mode").unwrap_or(0) != 0;
    let mut shape = data.get(..2)?.to_vec();
    for (size, window) in spatial.iter().zip(windows(known, &kernel)?) {
        shape.push(if is_same(known) { size.div_ceil(window.stride) } else { window.steps(*size, rounds_up)? });
    }
    Some(shape)
}

fn resize(known: &Known<'_>, op: &str) -> Option<Vec<u64>> {
    let data = known.shape(0)?;
    // Operator set 10 and `Upsample` have scales second; later sets have roi, scales, sizes.
    let (scales_at, sizes_at) = if op == "Upsample" || known.node.inputs.len() == 2 { (1, usize::MAX) } else { (2, 3) };
    let whole = |given: Vec<u64>| match known.node.ints("axes") {
        Some(axes) => {
            let mut shape = data.to_vec();
            for (at, size) in axes.iter().zip(given) {
                *shape.get_mut(super::fact::axis(*at, data.len())?)? = size;
            }
            Some(shape)
        }
        None => (given.len() == data.len()).then_some(given),
    };
    if let Some(sizes) = known.numbers(sizes_at).filter(|sizes| !sizes.is_empty()) {
        let sizes = sizes.iter().map(|size| (*size >= 0.0 && *size < 1e12).then_some(*size as u64));
        return whole(sizes.collect::<Option<_>>()?);
    }
    let from_attribute = match known.node.attributes.get("scales") {
        Some(Attribute::Floats(scales)) => Some(scales.as_slice()),
        _ => None,
    };
    let scales = from_attribute.or_else(|| known.numbers(scales_at)).filter(|scales| !scales.is_empty())?;
    let base: Vec<u64> = match known.node.ints("axes") {
        Some(axes) => {
            let size = |at: &i64| data.get(super::fact::axis(*at, data.len())?).copied();
            axes.iter().map(size).collect::<Option<_>>()?
        }
        None => data.to_vec(),
    };
    let scaled = base.iter().zip(scales).map(|(size, scale)| {
        let scaled = (*size as f64 * scale).floor();
        (0.0..1e12).contains(&scaled).then_some(scaled as u64)
    });
    whole(scaled.collect::<Option<_>>()?)
}
