//! Published totals of the companions, and the published work of the Stable Diffusion decoder.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::{Autoencoder, Tiling, autoencoder, clip_big_g, clip_h, clip_l, llava_llama_3_8b, t5_xxl, umt5_xxl};
use crate::graph::Shape;

fn picture(height: u64, width: u64, frames: u64) -> Shape {
    Shape { height, width, frames, ..Shape::default() }
}

#[test]
fn autoencoders_have_their_published_parameters() {
    for (which, total) in [
        (Autoencoder::StableDiffusion, 83_653_863),
        (Autoencoder::SixteenChannels, 83_819_683),
        (Autoencoder::Wan, 126_892_531),
        // The report (arXiv 2412.03603) says 246 M; the digits below follow from the modules.
        (Autoencoder::HunyuanVideo, 246_478_803),
    ] {
        assert_eq!(autoencoder(which).parameters, total, "{which:?}");
    }
}

#[test]
fn decoding_costs_what_is_published() {
    // BK-SDM (arXiv 2305.15798): 49.5 M parameters and 1,239.9 GMAC at 512 x 512, attention cores not counted.
    let work = autoencoder(Autoencoder::StableDiffusion).decoder.unwrap();
    assert_eq!(work.parameters, 49_490_199);
    let gmac = work.flops_per_pixel * 512.0 * 512.0 / 2e9;
    assert!((gmac - 1_239.9).abs() < 1.0, "{gmac}");
    let core = work.flops(&picture(512, 512, 1)).0 / 2e9 - gmac;
    assert!((core - 17.18).abs() < 0.01, "{core}");
}

#[test]
fn text_encoders_have_their_published_parameters() {
    // Layers, width, MLP width, rows of the table, rows of positions, final norm and projection.
    let clip = |layers: u64, width: u64, table: u64, projection: u64| {
        let layer = 4 * (width * width + width) + 8 * width * width + 5 * width + 4 * width;
        (layers * layer, layers * layer + (table + 77) * width + 2 * width + projection)
    };
    for (companion, (layers, total)) in [
        (clip_l(), clip(12, 768, 49_408, 0)),
        (clip_h(), clip(23, 1024, 49_408, 0)),
        (clip_big_g(), clip(32, 1280, 49_408, 1280 * 1280)),
    ] {
        assert_eq!(companion.parameters, total, "{}", companion.name);
        assert_eq!(companion.text.unwrap().parameters_per_token, layers, "{}", companion.name);
    }
    let t5 = 24 * (4 * 4096 * 4096 + 3 * 4096 * 10_240 + 2 * 4096);
    assert_eq!(t5_xxl(256).text.unwrap().parameters_per_token, t5);
    assert_eq!(t5_xxl(256).parameters, t5 + 32_128 * 4096 + 32 * 64 + 4096);
    assert_eq!(umt5_xxl().parameters, t5 + 256_384 * 4096 + 24 * 32 * 64 + 4096);
    let llama = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14_336 + 2 * 4096);
    assert_eq!(llava_llama_3_8b().parameters, llama + 128_320 * 4096 + 4096);
}

#[test]
fn a_clip_is_decoded_in_pieces() {
    let work = autoencoder(Autoencoder::HunyuanVideo).decoder.unwrap();
    let shape = picture(720, 1280, 129);
    let gib = |tiling| work.peak_activation_bytes(&shape, tiling).0 as f64 / f64::from(1 << 30);
    assert!((25.0..40.0).contains(&gib(Tiling::Whole)), "{}", gib(Tiling::Whole));
    assert!((1.5..3.0).contains(&gib(Tiling::Tiled)), "{}", gib(Tiling::Tiled));
}
