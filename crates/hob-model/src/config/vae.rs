//! The autoencoders of latent diffusion, built from their sizes: what decoding a picture costs follows from their layers.

use crate::build::{activation, attention, linear, op};
use crate::config::media::{clip, conv, elementwise, norm_of};
use crate::config::unet_blocks::Residual;
use crate::dtype::Dtype;
use crate::graph::{Extent, KvCache, NormKind, OpKind, Operator, Site, Span};

/// Pictures and clips are decoded at 16 bits.
const DTYPE: Dtype = Dtype::F16;

/// Which published autoencoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Autoencoder {
    /// `AutoencoderKL` of Stable Diffusion 1.x, 2.x and XL: 4 latent channels.
    StableDiffusion,
    /// `AutoencoderKL` of SD3 and FLUX: 16 latent channels, no 1 x 1 convolutions around them.
    SixteenChannels,
    /// `AutoencoderKLWan` of Wan 2.1 and of Wan 2.2 A14B.
    Wan,
    /// `AutoencoderKLHunyuanVideo`.
    HunyuanVideo,
}

/// Sizes that tell the autoencoders apart.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    latent_channels: u64,
    /// Channels from the finest to the coarsest level.
    widths: [u64; 4],
    /// 9 for pictures, 27 for clips.
    kernel_elements: u64,
    /// Frames behind one position, from the finest to the coarsest level.
    frames: [u64; 4],
    norm: NormKind,
    norm_parameters: u64,
    /// The 1 x 1 convolutions before and after the latents.
    latent_convolutions: bool,
    /// Wan: steps in space are 2-D convolutions, those in time separate ones, and going up halves the channels.
    separate_time: bool,
}

impl Autoencoder {
    fn sizes(self) -> Sizes {
        let picture = Sizes {
            latent_channels: 4,
            widths: [128, 256, 512, 512],
            kernel_elements: 9,
            frames: [1; 4],
            norm: NormKind::Group,
            norm_parameters: 2,
            latent_convolutions: true,
            separate_time: false,
        };
        match self {
            Self::StableDiffusion => picture,
            Self::SixteenChannels => Sizes { latent_channels: 16, latent_convolutions: false, ..picture },
            Self::Wan => Sizes {
                latent_channels: 16,
                widths: [96, 192, 384, 384],
                kernel_elements: 27,
                frames: [1, 1, 2, 4],
                norm: NormKind::Rms,
                norm_parameters: 1,
                latent_convolutions: true,
                separate_time: true,
            },
            Self::HunyuanVideo => Sizes { latent_channels: 16, kernel_elements: 27, frames: [1, 2, 4, 4], ..picture },
        }
    }

    /// Latents to pixels, in order.
    pub(crate) fn decoder(self) -> Vec<Operator> {
        let sizes = self.sizes();
        let [finest, .., coarsest] = sizes.widths;
        let latent = sizes.latent_channels;
        let mut ops = Vec::new();
        if sizes.latent_convolutions {
            ops.push(conv("post_quant_conv", DTYPE, latent, latent, 1, true, sizes.extent(3)));
        }
        ops.push(conv("conv_in", DTYPE, latent, coarsest, sizes.kernel_elements, true, sizes.extent(3)));
        ops.extend(sizes.middle());
        let mut width = coarsest;
        for level in (0..4).rev() {
            let outputs = sizes.width(level);
            for _ in 0..3 {
                ops.extend(sizes.residual(width, outputs, level));
                width = outputs;
            }
            if let Some(finer) = level.checked_sub(1) {
                ops.extend(sizes.upsample(width, level, finer));
                width = if sizes.separate_time { width / 2 } else { width };
            }
        }
        ops.push(sizes.norm("conv_norm_out", finest, 0));
        ops.push(activation(DTYPE, finest, false).over(sizes.extent(0)));
        ops.push(conv("conv_out", DTYPE, finest, 3, sizes.kernel_elements, true, sizes.extent(0)));
        ops
    }

    /// Pixels to latents, in order.
    pub(crate) fn encoder(self) -> Vec<Operator> {
        let sizes = self.sizes();
        let [finest, .., coarsest] = sizes.widths;
        let moments = sizes.latent_channels.saturating_mul(2);
        let mut ops = vec![conv("conv_in", DTYPE, 3, finest, sizes.kernel_elements, true, sizes.extent(0))];
        let mut width = finest;
        for level in 0..4 {
            let outputs = sizes.width(level);
            for _ in 0..2 {
                ops.extend(sizes.residual(width, outputs, level));
                width = outputs;
            }
            if level < 3 {
                ops.extend(sizes.downsample(width, level, level + 1));
            }
        }
        ops.extend(sizes.middle());
        ops.push(sizes.norm("conv_norm_out", coarsest, 3));
        ops.push(activation(DTYPE, coarsest, false).over(sizes.extent(3)));
        ops.push(conv("conv_out", DTYPE, coarsest, moments, sizes.kernel_elements, true, sizes.extent(3)));
        if sizes.latent_convolutions {
            ops.push(conv("quant_conv", DTYPE, moments, moments, 1, true, sizes.extent(3)));
        }
        ops
    }
}

impl Sizes {
    fn width(&self, level: usize) -> u64 {
        self.widths.get(level).copied().unwrap_or(0)
    }

    fn frames(&self, level: usize) -> u64 {
        self.frames.get(level).copied().unwrap_or(1)
    }

    /// Positions of a level: each level halves both sides of the one before.
    fn extent(&self, level: usize) -> Extent {
        clip(4_u64.saturating_pow(u32::try_from(level).unwrap_or(0)), self.frames(level), 0)
    }

    fn norm(&self, name: &str, width: u64, level: usize) -> Operator {
        norm_of(name, DTYPE, self.norm, width, width.saturating_mul(self.norm_parameters), self.extent(level))
    }

    fn residual(&self, inputs: u64, outputs: u64, level: usize) -> Vec<Operator> {
        Residual {
            dtype: DTYPE,
            inputs,
            outputs,
            time: None,
            kernel_elements: self.kernel_elements,
            norm: self.norm,
            norm_parameters: self.norm_parameters,
            extent: self.extent(level),
        }
        .ops()
    }

    /// Residual, one-head attention, residual at the coarsest level.
    fn middle(&self) -> Vec<Operator> {
        let width = self.width(3);
        let extent = self.extent(3);
        let mut ops = self.residual(width, width, 3);
        ops.push(self.norm("attention.norm", width, 3));
        for name in ["to_q", "to_k", "to_v"] {
            ops.push(linear(name, Site::AttentionInput, DTYPE, width, width, true).over(extent));
        }
        ops.push(attention(DTYPE, 1, 1, width, Span::Bidirectional, KvCache::None).over(extent));
        ops.push(linear("to_out", Site::AttentionOutput, DTYPE, width, width, true).over(extent));
        ops.push(elementwise("residual", DTYPE, width, extent));
        ops.extend(self.residual(width, width, 3));
        ops
    }

    fn upsample(&self, width: u64, level: usize, finer: usize) -> Vec<Operator> {
        let target = self.extent(finer);
        let mut ops = Vec::new();
        if self.separate_time && self.frames(finer) < self.frames(level) {
            let doubled = width.saturating_mul(2);
            ops.push(conv("time_conv", DTYPE, width, doubled, 3, true, self.extent(level)));
        }
        ops.push(op("interpolate", Site::Other, DTYPE, OpKind::Elementwise { width }).over(target));
        let (outputs, kernel) = if self.separate_time { (width / 2, 9) } else { (width, self.kernel_elements) };
        ops.push(conv("upsample", DTYPE, width, outputs, kernel, true, target));
        ops
    }

    fn downsample(&self, width: u64, level: usize, coarser: usize) -> Vec<Operator> {
        let target = self.extent(coarser);
        let kernel = if self.separate_time { 9 } else { self.kernel_elements };
        let mut ops = vec![conv("downsample", DTYPE, width, width, kernel, true, target)];
        if self.separate_time && self.frames(level) < self.frames(coarser) {
            ops.push(conv("time_conv", DTYPE, width, width, 3, true, target));
        }
        ops
    }
}
