//! What bounds transcoding beside engines and cores: network, memory of sessions, sessions that the driver allows.

use hob_catalog::{Gpu, InstanceType};
use hob_units::{Bytes, Count, Interval, Quantity};

use crate::transcode::{TranscodeJob, TranscodeStage, TranscodeTerm, Video};

/// Bits for each pixel of a frame: low, usual and high quality. H.264 at 1080p30 is streamed at 3 to 12 Mbit/s, about
/// 0.1 bits a pixel in the middle; HEVC needs about two thirds of it and AV1 half (the clips of
/// data/media/transcode_rates.csv: 6, 4 and 3 Mbit/s).
const BITS_PER_PIXEL: Interval<Count> = Interval { low: Count(0.05), mid: Count(0.1), high: Count(0.3) };

/// Bytes of one second of video.
pub(crate) fn byte_rate(video: &Video) -> Interval<Count> {
    let against_h264 = match video.codec.as_str() {
        "hevc" | "vp9" => 0.67,
        "av1" => 0.5,
        "mjpeg" => 10.0,
        "mpeg2" => 2.0,
        _ => 1.0,
    };
    let pixels = video.resolution.0 as f64 * video.resolution.1 as f64 * video.fps;
    BITS_PER_PIXEL.scaled(pixels * against_h264 / 8.0)
}

/// The network card: video comes in one way and renditions leave the other way; the larger one bounds.
pub(crate) fn network(job: &TranscodeJob, instance: &InstanceType, nodes: u32) -> TranscodeTerm {
    let inward = byte_rate(&job.input);
    let outward = job.outputs.iter().map(byte_rate).fold(Interval::exact(Count(0.0)), crate::band::plus_together);
    let larger = if inward.mid.0 > outward.mid.0 { inward } else { outward };
    let network = instance.network.filter(|rate| rate.0 > 0.0);
    TranscodeTerm {
        stage: TranscodeStage::Network,
        capacity: network.map(|rate| larger.inverted(rate.base() * f64::from(nodes))),
        formula: match network {
            Some(rate) => format!("{rate} x {nodes} / {:.2} MB/s of compressed video", larger.mid.0 / 1e6),
            None => "the catalog does not know the network".to_owned(),
        },
    }
}

/// Frames that a decoder and an encoder hold. H.264 and HEVC allow 16 reference frames, ffmpeg adds a few surfaces in
/// flight; encoders hold references, B frames and, with look-ahead, up to 32 more.
const DECODER_FRAMES: Interval<Count> = Interval { low: Count(8.0), mid: Count(20.0), high: Count(32.0) };
/// As above.
const ENCODER_FRAMES: Interval<Count> = Interval { low: Count(6.0), mid: Count(14.0), high: Count(48.0) };
/// A CUDA context with its video sessions, one process for each stream: 100 to 500 MiB on the cards in use (general
/// knowledge, not re-read).
const CONTEXT_BYTES: Interval<Count> = Interval { low: Count(1.0e8), mid: Count(2.2e8), high: Count(5.0e8) };

/// GPU memory of one stream with all renditions: surfaces of 1.5 bytes a pixel (8-bit 4:2:0) and the process.
pub(crate) fn memory_of_stream(job: &TranscodeJob) -> Interval<Bytes> {
    let surface = |video: &Video| 1.5 * video.resolution.0 as f64 * video.resolution.1 as f64;
    let decoder: Interval<Bytes> = DECODER_FRAMES.scaled(surface(&job.input));
    let encoders = job.outputs.iter().map(surface).sum();
    let encoders: Interval<Bytes> = ENCODER_FRAMES.scaled(encoders);
    let context: Interval<Bytes> = CONTEXT_BYTES.scaled(1.0);
    context.plus_independent(decoder).plus_independent(encoders)
}

/// Streams whose sessions fit into the memory of all cards.
pub(crate) fn memory(of_stream: Interval<Bytes>, gpu: &Gpu, gpus: f64) -> TranscodeTerm {
    TranscodeTerm {
        stage: TranscodeStage::Memory,
        capacity: Some(of_stream.inverted(gpu.memory_total().base() * gpus)),
        formula: format!("{} x {gpus} / {} for each stream", gpu.memory_total(), of_stream.mid),
    }
}

/// Encode sessions that the driver allows on consumer cards in one machine: 3, then 5, then 8 since 2024 and 12 since
/// 2025 (NVIDIA's video encode and decode support matrix; general knowledge, not re-read).
const CONSUMER_SESSIONS: Interval<Count> = Interval { low: Count(5.0), mid: Count(8.0), high: Count(12.0) };

/// The bound on consumer cards; the others have none.
pub(crate) fn sessions(job: &TranscodeJob, gpu: &Gpu) -> Option<TranscodeTerm> {
    let renditions = job.outputs.len() as f64;
    gpu.name.starts_with("GeForce").then(|| TranscodeTerm {
        stage: TranscodeStage::Sessions,
        capacity: Some(CONSUMER_SESSIONS.scaled(1.0 / renditions)),
        formula: format!("{} sessions that the driver allows in a machine / {renditions}", CONSUMER_SESSIONS.mid.0),
    })
}
