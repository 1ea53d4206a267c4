//! Transcoding on video engines or on CPU cores: hours of video in an hour, streams in real time, and what bounds them.
//!
//! Engine counts come from the catalog, frames per second of one engine from the vendor's tables, and each stage of the
//! machine gives its own capacity; the slowest one bounds. Nobody publishes whole-machine rates, so the interval is wide
//! until the user measures for 30 seconds. This module never knows prices.

mod cpu;
mod engines;
mod measure;
mod rates;
mod side;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use hob_catalog::InstanceType;
use hob_units::{Bytes, Count, Interval, Quantity};
use serde::Serialize;

use crate::band;
use crate::hardware::Hardware;
use crate::rate_table::{in_range, unknown_word};
use crate::refusal::EstimateError;

pub use measure::{Measured, Measurement};
pub use rates::{Direction, MediaRates, ReferenceClock, RenderRate, TranscodeRate, VideoClock};

/// One video format.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Video {
    /// `h264`, `hevc`, `av1`...
    pub codec: String,
    /// Height and width in pixels.
    pub resolution: (u64, u64),
    /// Frames per second.
    pub fps: f64,
}

/// Video to make into other video.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TranscodeJob {
    /// What comes in.
    pub input: Video,
    /// Renditions to make of it.
    pub outputs: Vec<Video>,
    /// `p1` (fastest) to `p7`; on CPU cores also the encoder's own name for it, such as `medium`.
    pub preset: String,
    /// Frames per second that one encode engine (or vCPU) was measured to make of the first rendition.
    pub measured_encode_fps: Option<f64>,
    /// Frames per second of the input that one decode engine (or vCPU) was measured to read.
    pub measured_decode_fps: Option<f64>,
    /// GPU id on which both were measured; other cards then keep to the tables. `None`: they hold wherever they are used.
    pub measured_on: Option<String>,
}

/// Part of a machine that a stream goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscodeStage {
    /// Video decode engines.
    Decode,
    /// Video encode engines.
    Encode,
    /// CPU cores: container, sound, and whatever the engines do not do.
    Cpu,
    /// The machine's network card.
    Network,
    /// GPU memory of the sessions; bounds streams at a time only.
    Memory,
    /// Encode sessions that the driver allows; bounds streams at a time only.
    Sessions,
}

impl TranscodeStage {
    /// Stable id of the stage, as a document prints it.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Encode => "encode",
            Self::Cpu => "cpu",
            Self::Network => "network",
            Self::Memory => "memory",
            Self::Sessions => "sessions",
        }
    }
}

/// What one stage can carry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TranscodeTerm {
    /// Stage.
    pub stage: TranscodeStage,
    /// Hours of video in an hour, which is also streams in real time. `None`: the catalog does not know the machine's part.
    pub capacity: Option<Interval<Count>>,
    /// The arithmetic with its source.
    pub formula: String,
}

/// What the machines can do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TranscodeEstimate {
    /// Hours of input video, with all renditions, in one hour.
    pub video_hours_per_hour: Interval<Count>,
    /// Streams in real time; zero where one stream does not reach real time on one engine.
    pub streams: Interval<Count>,
    /// Speed of a single file, as a multiple of real time: it cannot use more than one engine for each rendition.
    pub speed_of_one: Interval<Count>,
    /// The stage that bounds the middle of the interval.
    pub limit: TranscodeStage,
    /// All stages.
    pub terms: Vec<TranscodeTerm>,
    /// Stages that no one knows the capacity of; they may bound as well.
    pub unknown: Vec<TranscodeStage>,
    /// GPU memory of one stream; zero on CPU cores.
    pub memory_of_stream: Interval<Bytes>,
    /// 30-second measurements that would narrow the interval, most useful first.
    pub measurements: Vec<Measurement>,
    /// Tables and pages that were used.
    pub sources: Vec<String>,
}

/// Widths and heights that video has: from a thumbnail to 16K.
const SIDE: RangeInclusive<f64> = 16.0..=16_384.0;
/// Frame rates that video has, high-speed cameras included.
const FPS: RangeInclusive<f64> = 0.1..=1000.0;
/// Renditions of one input; ladders have up to a dozen.
const OUTPUTS_MAX: usize = 64;
/// Frames per second of one engine that may be claimed; the fastest published one does 2389.
const MEASURED: RangeInclusive<f64> = 0.01..=100_000.0;
/// Codecs that engines and libraries know beside those that the tables have rates of.
const CODECS_WITHOUT_RATE: [&str; 4] = ["mjpeg", "mpeg2", "vp8", "vp9"];
/// Presets of NVENC.
const PRESETS: [&str; 7] = ["p1", "p2", "p3", "p4", "p5", "p6", "p7"];

impl Video {
    /// Pixels of a frame in frames of 1920 x 1080, which the tables are stated in.
    pub(crate) fn full_hd_frames(&self) -> f64 {
        self.resolution.0 as f64 * self.resolution.1 as f64 / (1920.0 * 1080.0)
    }

    /// 1080p frames in one second.
    pub(crate) fn load(&self) -> f64 {
        self.full_hd_frames() * self.fps
    }

    fn check(&self, rates: &MediaRates) -> Result<(), EstimateError> {
        in_range("height", self.resolution.0 as f64, SIDE)?;
        in_range("width", self.resolution.1 as f64, SIDE)?;
        in_range("fps", self.fps, FPS)?;
        let mut known = rates.codecs().chain(CODECS_WITHOUT_RATE);
        if known.any(|codec| codec == self.codec) {
            return Ok(());
        }
        Err(unknown_word("codec", &self.codec, rates.codecs().chain(CODECS_WITHOUT_RATE)))
    }
}

impl TranscodeJob {
    fn check(&self, rates: &MediaRates) -> Result<(), EstimateError> {
        in_range("renditions", self.outputs.len() as f64, 1.0..=OUTPUTS_MAX as f64)?;
        for video in self.outputs.iter().chain([&self.input]) {
            video.check(rates)?;
        }
        for measured in [self.measured_encode_fps, self.measured_decode_fps].into_iter().flatten() {
            in_range("measured_fps", measured, MEASURED)?;
        }
        Ok(())
    }
}

/// Transcoding on the video engines of these machines; what the GPU cannot decode is decoded by the CPUs.
///
/// # Errors
/// When the card has no encode engine or none for a codec, its engines are not known, nobody has published a rate, a
/// codec or preset is not known, or a size is absurd.
pub fn estimate_transcode(
    job: &TranscodeJob,
    hardware: &Hardware<'_>,
    rates: &MediaRates,
) -> Result<TranscodeEstimate, EstimateError> {
    job.check(rates)?;
    if !PRESETS.contains(&job.preset.as_str()) {
        return Err(unknown_word("preset", &job.preset, PRESETS));
    }
    let mut work = engines::estimate(job, hardware, rates)?;
    let memory = side::memory_of_stream(job);
    let gpus = f64::from(hardware.gpus());
    work.terms.push(side::network(job, hardware.instance, hardware.nodes));
    work.terms.push(side::memory(memory, hardware.gpu, gpus));
    work.terms.extend(side::sessions(job, hardware.gpu));
    Ok(work.finish(memory, measure::on_gpu(job, hardware.gpu)))
}

/// Transcoding on CPU cores alone, by x264, x265 and SVT-AV1.
///
/// # Errors
/// When the number of vCPUs is not known, nobody has measured a codec there, a codec or preset is not known, or a size is
/// absurd.
pub fn estimate_transcode_cpu(
    job: &TranscodeJob,
    instance: &InstanceType,
    nodes: u32,
    rates: &MediaRates,
) -> Result<TranscodeEstimate, EstimateError> {
    job.check(rates)?;
    let mut work = cpu::estimate(job, instance, nodes, rates)?;
    work.terms.push(side::network(job, instance, nodes));
    Ok(work.finish(Interval::exact(Bytes(0)), measure::on_cpu(job)))
}

/// Capacities of the stages, before they bound each other.
pub(crate) struct Stages {
    pub terms: Vec<TranscodeTerm>,
    pub speed_of_one: Interval<Count>,
    pub sources: Vec<String>,
}

impl Stages {
    fn finish(mut self, memory_of_stream: Interval<Bytes>, measurements: Vec<Measurement>) -> TranscodeEstimate {
        let bounds_streams_only = |stage| matches!(stage, TranscodeStage::Memory | TranscodeStage::Sessions);
        let endless = Interval::exact(Count(f64::INFINITY));
        let slowest = |terms: &[TranscodeTerm], counts: &dyn Fn(TranscodeStage) -> bool| {
            let known = terms.iter().filter(|term| counts(term.stage)).filter_map(|term| term.capacity);
            known.fold(endless, band::slower)
        };
        let video = slowest(&self.terms, &|stage| !bounds_streams_only(stage));
        let at_once = band::slower(video, slowest(&self.terms, &bounds_streams_only));
        let live = |at_once: Count, speed: Count| if speed.0 < 1.0 { Count(0.0) } else { at_once };
        let streams = Interval {
            low: live(at_once.low, self.speed_of_one.low),
            mid: live(at_once.mid, self.speed_of_one.mid),
            high: live(at_once.high, self.speed_of_one.high),
        };
        let known = self.terms.iter().filter_map(|term| Some((term.capacity?.mid.base(), term.stage)));
        let limit = known
            .filter(|(_, stage)| !bounds_streams_only(*stage))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .map_or(TranscodeStage::Encode, |(_, stage)| stage);
        let unknown = self.terms.iter().filter(|term| term.capacity.is_none()).map(|term| term.stage).collect();
        self.sources.sort();
        self.sources.dedup();
        TranscodeEstimate {
            video_hours_per_hour: video,
            streams,
            speed_of_one: band::slower(self.speed_of_one, video),
            limit,
            terms: self.terms,
            unknown,
            memory_of_stream,
            measurements,
            sources: self.sources,
        }
    }
}
