//! The two bricks of latent-diffusion convolutional nets, shared by denoiser and VAE: the residual block
//! (`ResnetBlock2D`) and the spatial transformer (`Transformer2DModel`).

use crate::build::{activation, linear};
use crate::config::media::{AttentionLayer, Biases, conv, elementwise, layer_norm, norm_of};
use crate::config::mmdit::ONCE;
use crate::dtype::Dtype;
use crate::graph::{Extent, KvCache, NormKind, Operator, Site, Span};

/// CLIP text tokens that the picture attends to.
const TEXT_TOKENS: u64 = 77;

/// Norm, SiLU and convolution twice, a time-step shift between them, and the input added.
#[derive(Debug, Clone, Copy)]
pub(super) struct Residual {
    pub(super) dtype: Dtype,
    pub(super) inputs: u64,
    pub(super) outputs: u64,
    /// Width of the time embedding; VAEs have none.
    pub(super) time: Option<u64>,
    pub(super) kernel_elements: u64,
    pub(super) norm: NormKind,
    /// Learned numbers for each channel of a norm.
    pub(super) norm_parameters: u64,
    pub(super) extent: Extent,
}

impl Residual {
    pub(super) fn ops(&self) -> Vec<Operator> {
        let Self { dtype, inputs, outputs, kernel_elements, extent, .. } = *self;
        let norm = |name: &str, width: u64| {
            norm_of(name, dtype, self.norm, width, width.saturating_mul(self.norm_parameters), extent)
        };
        let mut ops = vec![
            norm("norm1", inputs),
            activation(dtype, inputs, false).over(extent),
            conv("conv1", dtype, inputs, outputs, kernel_elements, true, extent),
        ];
        if let Some(time) = self.time {
            ops.push(activation(dtype, time, false).over(ONCE));
            ops.push(linear("time_emb_proj", Site::Modulation, dtype, time, outputs, true).over(ONCE));
            ops.push(elementwise("time shift", dtype, outputs, extent));
        }
        ops.extend([
            norm("norm2", outputs),
            activation(dtype, outputs, false).over(extent),
            conv("conv2", dtype, outputs, outputs, kernel_elements, true, extent),
        ]);
        if inputs != outputs {
            ops.push(conv("conv_shortcut", dtype, inputs, outputs, 1, true, extent));
        }
        ops.push(elementwise("residual", dtype, outputs, extent));
        ops
    }
}

/// Self-attention, cross-attention to the text, and a gated MLP, over the positions of one level.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpatialTransformer {
    pub(super) dtype: Dtype,
    pub(super) width: u64,
    pub(super) heads: u64,
    pub(super) text_width: u64,
    /// The projections around the blocks are 1 x 1 convolutions (SD 1.5) instead of linear layers (SDXL); same numbers.
    pub(super) conv_projection: bool,
    pub(super) extent: Extent,
}

impl SpatialTransformer {
    pub(super) fn input(&self) -> Vec<Operator> {
        let Self { dtype, width, extent, .. } = *self;
        vec![
            norm_of("norm", dtype, NormKind::Group, width, width.saturating_mul(2), extent),
            self.projection("proj_in"),
        ]
    }

    pub(super) fn output(&self) -> Vec<Operator> {
        vec![self.projection("proj_out"), elementwise("residual", self.dtype, self.width, self.extent)]
    }

    pub(super) fn block(&self) -> Vec<Operator> {
        let Self { dtype, width, extent, .. } = *self;
        let own = AttentionLayer {
            dtype,
            hidden: width,
            heads: self.heads,
            head_width: width / self.heads.max(1),
            source: None,
            biases: Biases::OUTPUT_ONLY,
            extent,
            span: Span::Bidirectional,
            cache: KvCache::None,
        };
        let cross = AttentionLayer {
            source: Some((self.text_width, TEXT_TOKENS)),
            span: Span::Cross { positions: TEXT_TOKENS },
            ..own
        };
        let residual = || elementwise("residual", dtype, width, extent);
        let inner = width.saturating_mul(4);
        let mut ops = vec![layer_norm("norm1", dtype, width, extent)];
        ops.extend(own.ops("attn1"));
        ops.extend([residual(), layer_norm("norm2", dtype, width, extent)]);
        ops.extend(cross.ops("attn2"));
        ops.extend([
            residual(),
            layer_norm("norm3", dtype, width, extent),
            linear("ff.proj", Site::MlpInput, dtype, width, inner.saturating_mul(2), true).over(extent),
            activation(dtype, inner, true).over(extent),
            linear("ff.out", Site::MlpOutput, dtype, inner, width, true).over(extent),
            residual(),
        ]);
        ops
    }

    fn projection(&self, name: &str) -> Operator {
        let Self { dtype, width, extent, .. } = *self;
        if self.conv_projection {
            conv(name, dtype, width, width, 1, true, extent)
        } else {
            linear(name, Site::Other, dtype, width, width, true).over(extent)
        }
    }
}
