//! The models that run beside a denoiser: text encoders before it, the autoencoder after it. Their sizes are not in the
//! denoiser's config and must never be counted as its parameters.

use hob_units::{Bytes, Flops, Quantity};
use serde::Serialize;

use crate::config::vae::Autoencoder;
use crate::graph::{ModelGraph, OpKind, PartRole, Shape, Site};

/// Pixels of one frame behind one latent: every autoencoder here halves both sides three times.
const PIXELS_PER_LATENT: f64 = 64.0;

/// One model that a pipeline needs beside its denoiser.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Companion {
    /// Name for people.
    pub name: &'static str,
    /// [`PartRole::TextEncoder`] or [`PartRole::Vae`].
    pub role: PartRole,
    /// Parameters, as loaded by the pipeline.
    pub parameters: u64,
    /// Where the figures come from.
    pub source: &'static str,
    /// What encoding one prompt costs; `None` for an autoencoder.
    pub text: Option<TextWork>,
    /// What decoding one picture or clip costs; `None` for a text encoder.
    pub decoder: Option<DecodeWork>,
}

/// Work of a text encoder, once for each prompt (twice with a negative prompt).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TextWork {
    /// Tokens that the prompt is padded to.
    pub tokens: u64,
    /// Parameters that each token passes through (the embedding table is only looked up).
    pub parameters_per_token: u64,
}

impl TextWork {
    /// Forward FLOPs of one prompt: two for each parameter and token. The attention cores of so few tokens are below 2 %.
    #[must_use]
    pub fn flops(&self) -> Flops {
        Flops(2.0 * self.tokens as f64 * self.parameters_per_token as f64)
    }
}

/// Work of an autoencoder's decoder.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DecodeWork {
    /// Parameters of the decoder alone.
    pub parameters: u64,
    /// Forward FLOPs for each pixel of each frame, without the attention core. Sum over the decoder's layers.
    pub flops_per_pixel: f64,
    /// Width of the one attention layer, at one position for each 8 x 8 pixels.
    pub attention_width: u64,
    /// Latent frames that attend to each other (1 when each frame is alone).
    pub attention_frames: u64,
    /// Frames behind one latent frame.
    pub frames_per_latent: u64,
    /// Largest number of 16-bit elements alive for each pixel of the frames decoded together; see
    /// [`DecodeWork::peak_activation_bytes`].
    pub peak_elements_per_pixel: u64,
    /// Frames decoded together at most.
    pub frames_together: u64,
    /// Pixels of one frame decoded together when tiling is on.
    pub tile_pixels: u64,
}

/// Whether the decoder cuts the picture into overlapping tiles (`enable_tiling` in `diffusers`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tiling {
    /// The whole picture at once.
    Whole,
    /// Tile by tile.
    Tiled,
}

impl DecodeWork {
    /// Forward FLOPs to decode one picture or clip of `shape` (whole; tiles overlap and cost more, about 1.7 times for
    /// 256-pixel tiles at a stride of 192).
    #[must_use]
    pub fn flops(&self, shape: &Shape) -> Flops {
        let pixels = shape.height as f64 * shape.width as f64;
        let frames = shape.frames.max(1) as f64;
        let latent_frames = (frames / self.frames_per_latent.max(1) as f64).ceil();
        let positions = pixels / PIXELS_PER_LATENT;
        let span = positions * latent_frames.min(self.attention_frames as f64);
        let core = 4.0 * positions * latent_frames * span * self.attention_width as f64;
        Flops(self.flops_per_pixel * pixels * frames + core)
    }

    /// Bytes of activations at the decoder's peak, at 16 bits, without convolution workspaces and without the output.
    ///
    /// Derivation: at full resolution the widest tensors are the input of the level's first residual block (kept for the
    /// shortcut), its normalised copy and that copy's SiLU; or, where larger, the upsampler's interpolated, padded and
    /// convolved tensors. Read off the modules in `diffusers` 0.35, eager execution.
    #[must_use]
    pub fn peak_activation_bytes(&self, shape: &Shape, tiling: Tiling) -> Bytes {
        let frame = shape.height as f64 * shape.width as f64;
        let pixels = match tiling {
            Tiling::Whole => frame,
            Tiling::Tiled => frame.min(self.tile_pixels as f64),
        };
        let frames = shape.frames.clamp(1, self.frames_together.max(1)) as f64;
        Bytes::from_base(pixels * frames * self.peak_elements_per_pixel as f64 * 2.0)
    }
}

/// The models that run beside `graph` in its published pipeline; empty for what is not a known denoiser.
#[must_use]
pub fn companions(graph: &ModelGraph) -> Vec<Companion> {
    match graph.family.as_str() {
        "UNet2DConditionModel" => {
            // The width of the text that the cross-attention reads tells the generations apart.
            let text_width = graph.operators().find_map(|(_, op)| match op.kind {
                OpKind::Linear { inputs, .. } if op.site == Site::AttentionInput && op.name == "attn2.k" => {
                    Some(inputs)
                }
                _ => None,
            });
            let mut all = match text_width {
                Some(768) => vec![clip_l()],
                Some(1024) => vec![clip_h()],
                Some(2048) => vec![clip_l(), clip_big_g()],
                _ => Vec::new(),
            };
            all.push(autoencoder(Autoencoder::StableDiffusion));
            all
        }
        "SD3Transformer2DModel" => {
            vec![clip_l_projected(), clip_big_g(), t5_xxl(256), autoencoder(Autoencoder::SixteenChannels)]
        }
        "FluxTransformer2DModel" => {
            // The timestep-distilled model has no guidance embedding and takes at most 256 tokens.
            let distilled = !graph.operators().any(|(_, op)| op.name.starts_with("guidance_embedder"));
            let tokens = if distilled { 256 } else { 512 };
            vec![clip_l(), t5_xxl(tokens), autoencoder(Autoencoder::SixteenChannels)]
        }
        "WanTransformer3DModel" => {
            // Wan 2.2 5B works on 48 latent channels of another autoencoder, whose figures are not known here.
            let other = graph
                .operators()
                .any(|(_, op)| op.name == "patch_embedding" && matches!(op.kind, OpKind::Conv { inputs: 48, .. }));
            let mut all = vec![umt5_xxl()];
            if !other {
                all.push(autoencoder(Autoencoder::Wan));
            }
            all
        }
        "HunyuanVideoTransformer3DModel" => {
            vec![llava_llama_3_8b(), clip_l(), autoencoder(Autoencoder::HunyuanVideo)]
        }
        _ => Vec::new(),
    }
}

fn text(
    name: &'static str,
    parameters: u64,
    tokens: u64,
    parameters_per_token: u64,
    source: &'static str,
) -> Companion {
    let work = TextWork { tokens, parameters_per_token };
    Companion { name, role: PartRole::TextEncoder, parameters, source, text: Some(work), decoder: None }
}

const CLIP_L_LAYERS: u64 = 85_054_464;

fn clip_l() -> Companion {
    let source = "openai/clip-vit-large-patch14 text model: 12 layers of 768, 49408 tokens; published total";
    text("CLIP ViT-L text encoder", 123_060_480, 77, CLIP_L_LAYERS, source)
}

fn clip_l_projected() -> Companion {
    let source = "openai/clip-vit-large-patch14 text model with its 768 x 768 projection";
    text("CLIP ViT-L text encoder", 123_650_304, 77, CLIP_L_LAYERS, source)
}

fn clip_h() -> Companion {
    let source = "stabilityai/stable-diffusion-2 text_encoder: 23 layers of 1024, 49408 tokens";
    text("OpenCLIP ViT-H text encoder", 340_387_840, 77, 289_713_152, source)
}

fn clip_big_g() -> Companion {
    let source =
        "stabilityai/stable-diffusion-xl-base-1.0 text_encoder_2: 32 layers of 1280, with projection; published total";
    text("OpenCLIP ViT-bigG text encoder", 694_659_840, 77, 629_678_080, source)
}

fn t5_xxl(tokens: u64) -> Companion {
    let source = "google/t5-v1_1-xxl encoder: 24 layers of 4096 with a gated MLP of 10240; published total";
    text("T5-XXL text encoder", 4_762_310_656, tokens, 4_630_708_224, source)
}

fn umt5_xxl() -> Companion {
    let source = "google/umt5-xxl encoder: T5-XXL's layers, 256384 tokens, position biases in each layer";
    text("UMT5-XXL text encoder", 5_680_910_336, 512, 4_630_708_224, source)
}

fn llava_llama_3_8b() -> Companion {
    // 95 tokens of the prompt template come before the 256 that are kept.
    let source =
        "Llama 3 8B layers with LLaVA's 128320 tokens and without the output head, as HunyuanVideo's pipeline loads it";
    text("LLaVA-Llama-3-8B text encoder", 7_505_186_816, 95 + 256, 6_979_584_000, source)
}

fn autoencoder(which: Autoencoder) -> Companion {
    let count = |ops: &[crate::graph::Operator]| ops.iter().fold(0_u64, |sum, op| sum.saturating_add(op.parameters()));
    let (encoder, decoder) = (which.encoder(), which.decoder());
    // A size that every level divides: the sum over it is exact for each pixel.
    let unit = Shape { height: 64, width: 64, frames: 4, ..Shape::default() };
    let flops: f64 = decoder.iter().filter(|op| op.site != Site::AttentionCore).map(|op| op.flops(&unit)).sum::<f64>();
    let attention_width = decoder
        .iter()
        .find_map(|op| match &op.kind {
            OpKind::Attention(core) => Some(core.heads.saturating_mul(core.qk_dim)),
            _ => None,
        })
        .unwrap_or(0);
    // Elements for each pixel at the peak, by module:
    // AutoencoderKL: first residual block at full resolution, 256 channels: input + norm + SiLU.
    // Wan: the upsampler interpolates 192 channels in 32 bits: input 48, its 32-bit copy 96, result 384, 16-bit copy 192;
    //   one latent frame (four frames) at a time, with caches.
    // HunyuanVideo: the upsampler of 256 channels: interpolated, concatenated with the first frame, padded, convolved;
    //   17 frames at a time, 256-pixel tiles.
    let (name, source, frames_per_latent, attention_frames, peak, together, tile) = match which {
        Autoencoder::StableDiffusion => (
            "Stable Diffusion VAE",
            "AutoencoderKL in diffusers 0.35; published total 83653863",
            1,
            1,
            768,
            1,
            512 * 512,
        ),
        Autoencoder::SixteenChannels => {
            ("16-channel VAE", "AutoencoderKL of SD3 and FLUX in diffusers 0.35", 1, 1, 768, 1, 1024 * 1024)
        }
        Autoencoder::Wan => ("Wan VAE", "AutoencoderKLWan in diffusers 0.35; card says 127M", 4, 1, 720, 4, 256 * 256),
        Autoencoder::HunyuanVideo => (
            "HunyuanVideo VAE",
            "AutoencoderKLHunyuanVideo in diffusers 0.35; report says 246M",
            4,
            5,
            1024,
            17,
            256 * 256,
        ),
    };
    let work = DecodeWork {
        parameters: count(&decoder),
        flops_per_pixel: flops / (64.0 * 64.0 * 4.0),
        attention_width,
        attention_frames,
        frames_per_latent,
        peak_elements_per_pixel: peak,
        frames_together: together,
        tile_pixels: tile,
    };
    let parameters = count(&encoder).saturating_add(work.parameters);
    Companion { name, role: PartRole::Vae, parameters, source, text: None, decoder: Some(work) }
}

#[cfg(test)]
#[path = "companion_tests.rs"]
mod tests;
