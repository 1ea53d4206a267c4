//! Stable Diffusion 1.x, 2.x and XL (`UNet2DConditionModel`): residual convolutions and transformer blocks on a pyramid
//! of latent resolutions.

use crate::build::{activation, collapse, part};
use crate::config::fields::Fields;
use crate::config::media::{conv, elementwise, grid, model, norm_of, picture, stored_dtype};
use crate::config::mmdit::vector_mlp;
use crate::config::unet_blocks::{Residual, SpatialTransformer};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Certainty, Extent, ModelGraph, ModelKind, NormKind, Operator, PartRole, Unknown};

/// Pixels behind one latent in each direction: the VAE halves three times.
const VAE_SCALE: u64 = 8;
/// More levels would shrink any picture to nothing.
const LEVELS_MAX: usize = 8;
/// Transformer blocks at one level; the largest published value is 10.
const DEPTH_MAX: u64 = 1000;

/// Keys whose effect on the operators is not modelled; any value but null, false or the default widens the estimate.
const NOT_MODELLED: [&str; 7] = [
    "class_embed_type",
    "num_class_embeds",
    "encoder_hid_dim",
    "dual_cross_attention",
    "time_cond_proj_dim",
    "class_embeddings_concat",
    "only_cross_attention",
];

/// One resolution of the pyramid.
#[derive(Debug, Clone, Copy)]
struct Level {
    width: u64,
    residuals: u64,
    /// Transformer blocks after each residual block on the way down, and on the way up; `None` without attention.
    down: Option<u64>,
    up: Option<u64>,
    heads: u64,
    text_width: u64,
    extent: Extent,
}

/// Reads a `UNet2DConditionModel` config.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let dtype = stored_dtype(fields, Dtype::F16);
    let channels = fields.size(&["in_channels"])?;
    let out_channels = fields.size(&["out_channels"])?;
    let (levels, mut unknowns) = levels(fields)?;
    let (Some(first), Some(last)) = (levels.first().copied(), levels.last().copied()) else {
        return Err(fields.bad("block_out_channels", "is empty"));
    };
    let time = fields.size_opt("time_embedding_dim")?.unwrap_or(first.width.saturating_mul(4));
    let mut input = vec![conv("conv_in", dtype, channels, first.width, 9, true, first.extent)];
    input.extend(vector_mlp("time_embedding", dtype, first.width, time));
    match fields.text("addition_embed_type") {
        Some("text_time") => {
            let width = fields.size(&["projection_class_embeddings_input_dim"])?;
            input.extend(vector_mlp("add_embedding", dtype, width, time));
        }
        Some(other) => unknowns.push(fields.unknown("addition_embed_type", format!("`{other}` is left out"))),
        None => {}
    }
    for key in NOT_MODELLED {
        if fields.raw(key).is_some_and(|value| value.as_bool() != Some(false)) {
            unknowns.push(fields.unknown(key, "its layers are left out"));
        }
    }
    let pyramid = Pyramid { dtype, time, conv_projection: !fields.flag("use_linear_projection", false) };
    let mut blocks = vec![("input".to_owned(), input)];
    blocks.extend(pyramid.down(&levels));
    if fields.text("mid_block_type").is_none_or(|kind| kind == "UNetMidBlock2DCrossAttn") {
        blocks.extend(pyramid.middle(&last, middle_depth(fields)));
    } else {
        unknowns.push(fields.unknown("mid_block_type", "the middle block is left out"));
    }
    blocks.extend(pyramid.up(&levels));
    let output = vec![
        norm_of("conv_norm_out", dtype, NormKind::Group, first.width, first.width.saturating_mul(2), first.extent),
        activation(dtype, first.width, false).over(first.extent),
        conv("conv_out", dtype, first.width, out_channels, 9, true, first.extent),
    ];
    blocks.push(("output".to_owned(), output));
    let parts = vec![part("denoiser", PartRole::Denoiser, collapse(blocks))];
    let sample = fields.sizes("sample_size").and_then(|sizes| sizes.first().copied()).unwrap_or(64);
    let side = sample.saturating_mul(VAE_SCALE);
    let mut graph =
        model(name, "UNet2DConditionModel", ModelKind::DiffusionImage, first.width, picture(side, side, 1), parts);
    if !unknowns.is_empty() {
        graph.certainty = Certainty::Inferred;
    }
    graph.unknowns = unknowns;
    Ok(graph)
}

/// A value for each level: a list of that length, or one value for all.
fn per_level(fields: &Fields<'_>, key: &str, levels: usize, default: u64) -> Result<Vec<u64>, ModelError> {
    let Some(sizes) = fields.sizes(key) else {
        return match fields.raw(key) {
            None => Ok(vec![default; levels]),
            Some(_) => Err(fields.bad(key, "is neither a whole number nor a list of them")),
        };
    };
    match sizes.as_slice() {
        [one] => Ok(vec![*one; levels]),
        many if many.len() == levels => Ok(sizes),
        many => Err(fields.bad(key, format!("has {} entries; {levels} were expected", many.len()))),
    }
}

fn levels(fields: &Fields<'_>) -> Result<(Vec<Level>, Vec<Unknown>), ModelError> {
    let widths = fields.sizes("block_out_channels").unwrap_or_else(|| vec![320, 640, 1280, 1280]);
    let count = widths.len();
    if count == 0 || count > LEVELS_MAX {
        return Err(fields.bad("block_out_channels", format!("has {count} entries; 1 to {LEVELS_MAX} were expected")));
    }
    let types = |key: &str| -> Result<Vec<&str>, ModelError> {
        fields
            .texts(key)
            .filter(|types| types.len() == count)
            .ok_or_else(|| fields.bad(key, format!("is not a list of {count} block names")))
    };
    let (down_types, up_types) = (types("down_block_types")?, types("up_block_types")?);
    let mut unknowns = Vec::new();
    for name in down_types.iter().chain(&up_types) {
        if !matches!(*name, "CrossAttnDownBlock2D" | "DownBlock2D" | "CrossAttnUpBlock2D" | "UpBlock2D") {
            unknowns.push(fields.unknown(name, "read as the plain block that its name resembles"));
        }
    }
    let residuals = per_level(fields, "layers_per_block", count, 2)?;
    let depths = per_level(fields, "transformer_layers_per_block", count, 1)?;
    // The key holds the number of heads, under a name that was kept for old files (diffusers issue 2011).
    let heads = per_level(fields, "attention_head_dim", count, 8)?;
    let text = per_level(fields, "cross_attention_dim", count, 1280)?;
    let mut levels = Vec::with_capacity(count);
    let mut pixels = VAE_SCALE * VAE_SCALE;
    for (index, width) in widths.iter().copied().enumerate() {
        let value = |list: &[u64]| list.get(index).copied().unwrap_or(1);
        let attends = |types: &[&str], at: usize| types.get(at).is_some_and(|name| name.contains("CrossAttn"));
        let depth = value(&depths).min(DEPTH_MAX);
        let heads = value(&heads);
        if width == 0 || heads == 0 || !width.is_multiple_of(heads) {
            return Err(fields.bad("attention_head_dim", format!("{heads} heads do not divide the width {width}")));
        }
        levels.push(Level {
            width,
            residuals: value(&residuals).min(DEPTH_MAX),
            down: attends(&down_types, index).then_some(depth),
            up: attends(&up_types, count - 1 - index).then_some(depth),
            heads,
            text_width: value(&text),
            extent: grid(pixels, 0),
        });
        pixels = pixels.saturating_mul(4);
    }
    Ok((levels, unknowns))
}

fn middle_depth(fields: &Fields<'_>) -> u64 {
    fields.sizes("transformer_layers_per_block").and_then(|depths| depths.last().copied()).unwrap_or(1).min(DEPTH_MAX)
}

/// What is the same at all levels.
#[derive(Debug, Clone, Copy)]
struct Pyramid {
    dtype: Dtype,
    time: u64,
    conv_projection: bool,
}

type Named = (String, Vec<Operator>);

impl Pyramid {
    fn residual(&self, inputs: u64, level: &Level) -> Vec<Operator> {
        Residual {
            dtype: self.dtype,
            inputs,
            outputs: level.width,
            time: Some(self.time),
            kernel_elements: 9,
            norm: NormKind::Group,
            norm_parameters: 2,
            extent: level.extent,
        }
        .ops()
    }

    fn transformer(&self, level: &Level, depth: u64) -> Vec<Named> {
        let transformer = SpatialTransformer {
            dtype: self.dtype,
            width: level.width,
            heads: level.heads,
            text_width: level.text_width,
            conv_projection: self.conv_projection,
            extent: level.extent,
        };
        let mut blocks = vec![("transformer input".to_owned(), transformer.input())];
        blocks.extend((0..depth).map(|_| ("transformer block".to_owned(), transformer.block())));
        blocks.push(("transformer output".to_owned(), transformer.output()));
        blocks
    }

    fn down(&self, levels: &[Level]) -> Vec<Named> {
        let mut blocks = Vec::new();
        let mut width = levels.first().map_or(0, |level| level.width);
        for (index, level) in levels.iter().enumerate() {
            for _ in 0..level.residuals {
                blocks.push(("residual".to_owned(), self.residual(width, level)));
                width = level.width;
                if let Some(depth) = level.down {
                    blocks.extend(self.transformer(level, depth));
                }
            }
            if let Some(next) = levels.get(index + 1) {
                let shrink = conv("downsample", self.dtype, level.width, level.width, 9, true, next.extent);
                blocks.push(("downsample".to_owned(), vec![shrink]));
            }
        }
        blocks
    }

    fn middle(&self, level: &Level, depth: u64) -> Vec<Named> {
        let mut blocks = vec![("residual".to_owned(), self.residual(level.width, level))];
        blocks.extend(self.transformer(level, depth));
        blocks.push(("residual".to_owned(), self.residual(level.width, level)));
        blocks
    }

    fn up(&self, levels: &[Level]) -> Vec<Named> {
        // Every output of the way down is joined to an input of the way up, last first.
        let mut skips = vec![levels.first().map_or(0, |level| level.width)];
        for (index, level) in levels.iter().enumerate() {
            skips.extend((0..level.residuals).map(|_| level.width));
            if index + 1 < levels.len() {
                skips.push(level.width);
            }
        }
        let mut blocks = Vec::new();
        let mut width = levels.last().map_or(0, |level| level.width);
        for (index, level) in levels.iter().enumerate().rev() {
            for _ in 0..=level.residuals {
                let inputs = width.saturating_add(skips.pop().unwrap_or(0));
                let mut ops = vec![elementwise("concat", self.dtype, inputs, level.extent)];
                ops.extend(self.residual(inputs, level));
                blocks.push(("residual".to_owned(), ops));
                width = level.width;
                if let Some(depth) = level.up {
                    blocks.extend(self.transformer(level, depth));
                }
            }
            if let Some(next) = index.checked_sub(1).and_then(|below| levels.get(below)) {
                let ops = vec![
                    elementwise("interpolate", self.dtype, level.width, next.extent),
                    conv("upsample", self.dtype, level.width, level.width, 9, true, next.extent),
                ];
                blocks.push(("upsample".to_owned(), ops));
            }
        }
        blocks
    }
}
