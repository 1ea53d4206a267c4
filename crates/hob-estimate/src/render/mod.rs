//! Rendering frames on GPUs: frames in an hour, and whether the scene fits the card.
//!
//! Frames are independent, so that cards and machines add up. How long a frame takes depends on the scene more than on
//! anything else: without a frame that the user measured, the interval is very wide and only compares cards.

mod speed;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use hob_units::{Bytes, Count, Interval, Quantity, Seconds, gib};
use serde::Serialize;

use crate::band;
use crate::hardware::Hardware;
use crate::outcome::Fit;
use crate::rate_table::in_range;
use crate::refusal::EstimateError;
use crate::transcode::{Measured, Measurement, MediaRates};

use speed::Family;

/// Frames to render.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RenderJob {
    /// `blender-cycles`, `octane`, `v-ray`, `redshift` or `arnold`; any other only on the card it was measured on.
    pub renderer: String,
    /// How many.
    pub frames: f64,
    /// Height and width in pixels.
    pub resolution: (u64, u64),
    /// Samples for each pixel.
    pub samples: Option<u32>,
    /// Time of one frame of this job, and the GPU id on which it was measured.
    pub measured_frame: Option<(Seconds, String)>,
    /// GPU memory that the scene needs.
    pub scene_memory: Option<Bytes>,
}

/// What the time of a frame rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RenderBasis {
    /// Measured on this card.
    Measured,
    /// Measured on another card, scaled by benchmark scores of the same renderer.
    ScaledBySameRenderer,
    /// Measured on another card, scaled by scores of Blender Cycles: path tracers agree only roughly.
    ScaledByCycles,
    /// Not measured: samples a minute on benchmark scenes, which are not the user's scene.
    BenchmarkScenes,
}

/// Whether the scene fits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RenderMemory {
    /// Scene, frame buffers and context.
    pub needed: Interval<Bytes>,
    /// What the card has.
    pub usable: Bytes,
    /// Verdict.
    pub fit: Fit,
    /// Whether the renderer can keep the rest in main memory of a machine that has enough of it; several times slower, so
    /// that the estimated speed does not hold then.
    pub out_of_core: bool,
}

/// What the machines can do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RenderEstimate {
    /// One frame on one card.
    pub frame_time: Interval<Seconds>,
    /// All cards of all machines, one frame on each at a time.
    pub frames_per_hour: Interval<Count>,
    /// What the time rests on.
    pub basis: RenderBasis,
    /// Samples that were assumed, when the time depends on them and they are not stated.
    pub assumed_samples: Option<u32>,
    /// Memory; `None` when the scene's need is not stated.
    pub memory: Option<RenderMemory>,
    /// The arithmetic.
    pub formula: String,
    /// What would narrow it.
    pub measurements: Vec<Measurement>,
    /// Tables and pages that were used.
    pub sources: Vec<String>,
}

/// Samples a pixel when none are stated: with denoising, studios take 128 to 1024 (general knowledge).
const SAMPLES_ASSUMED: u32 = 512;
/// The user's scene against the mean of the three benchmark scenes: product shots are a few times faster, interiors with
/// volumes and hair several times slower (general knowledge; nobody publishes a distribution).
const SCENE: Interval<Count> = Interval { low: Count(0.33), mid: Count(1.0), high: Count(5.0) };
/// As above when the samples had to be assumed too.
const SCENE_AND_SAMPLES: Interval<Count> = Interval { low: Count(0.15), mid: Count(1.0), high: Count(8.0) };
/// Loading, building the ray-tracing structure, denoising and writing of one frame, which no sample rate contains.
const FRAME_OVERHEAD: Interval<Seconds> = Interval { low: Seconds(1.0), mid: Seconds(4.0), high: Seconds(20.0) };
/// Spread of the frames of one job around the one that was measured.
const MEASURED_FACTOR: f64 = 1.2;

/// Frames an hour on these machines.
///
/// # Errors
/// When the renderer is not known, the card has no score to compare by, or a size is absurd.
pub fn estimate_render(
    job: &RenderJob,
    hardware: &Hardware<'_>,
    rates: &MediaRates,
) -> Result<RenderEstimate, EstimateError> {
    check(job)?;
    let gpu = hardware.gpu;
    let family = speed::family(&job.renderer);
    let mut sources = Vec::new();
    let mut assumed_samples = None;
    let (frame_time, basis, formula) = match &job.measured_frame {
        Some((time, measured_on)) if *measured_on == gpu.id => {
            sources.push("frame time measured by the user".to_owned());
            let time = Interval::within_factor(*time, MEASURED_FACTOR);
            (time, RenderBasis::Measured, format!("{} measured on {}", time.mid, gpu.id))
        }
        Some((time, measured_on)) => {
            let family = family?;
            let relative = speed::relative(family, measured_on, gpu, rates)?;
            sources.push("frame time measured by the user".to_owned());
            sources.extend(relative.sources);
            let measured = Interval::within_factor(*time, MEASURED_FACTOR);
            let scaled = band::quotient(measured, relative.speed);
            let formula = format!("{time} on {measured_on} / {:.2} times its speed", relative.speed.mid.0);
            (scaled, relative.basis, formula)
        }
        None => {
            let (rate, source) = speed::samples_per_second(family?, gpu, rates)?;
            sources.push(source);
            let samples = job.samples.unwrap_or(SAMPLES_ASSUMED);
            assumed_samples = job.samples.is_none().then_some(SAMPLES_ASSUMED);
            let full_hd_frames = job.resolution.0 as f64 * job.resolution.1 as f64 / (1920.0 * 1080.0);
            let sampling: Interval<Seconds> = rate.inverted(f64::from(samples) * full_hd_frames);
            let scene = if assumed_samples.is_some() { SCENE_AND_SAMPLES } else { SCENE };
            let time = band::plus_together(band::product(sampling, scene), FRAME_OVERHEAD);
            let formula = format!(
                "{samples} samples x {full_hd_frames:.2} full-HD frames / {:.2} samples/s + {}",
                rate.mid.0, FRAME_OVERHEAD.mid
            );
            (time, RenderBasis::BenchmarkScenes, formula)
        }
    };
    let measurements = if basis == RenderBasis::Measured { Vec::new() } else { job.measurements() };
    Ok(RenderEstimate {
        frame_time,
        frames_per_hour: frame_time.inverted(3600.0 * f64::from(hardware.gpus())),
        basis,
        assumed_samples,
        memory: job.scene_memory.map(|scene| memory(job, scene, hardware)),
        formula,
        measurements,
        sources,
    })
}

/// Pixels of a frame's side, from a thumbnail to a wall.
const SIDE: RangeInclusive<f64> = 16.0..=65_536.0;

/// Whether public scores say how fast cards render with it, so that no measurement is needed.
///
/// # Errors
/// When no renderer of that name is known.
pub fn has_render_scores(renderer: &str) -> Result<bool, EstimateError> {
    speed::family(renderer).map(speed::Family::has_scores)
}

fn check(job: &RenderJob) -> Result<(), EstimateError> {
    in_range("height", job.resolution.0 as f64, SIDE)?;
    in_range("width", job.resolution.1 as f64, SIDE)?;
    in_range("frames", job.frames, 1.0..=1e9)?;
    if let Some(samples) = job.samples {
        in_range("samples", f64::from(samples), 1.0..=1_048_576.0)?;
    }
    if let Some((time, _)) = &job.measured_frame {
        in_range("measured_frame_seconds", time.0, 1e-3..=1e7)?;
    }
    Ok(())
}

/// Bytes of one pass of a frame: four 32-bit channels. Colour, denoising guides and passes make 2 to 20 of them.
const PASS_BYTES: f64 = 16.0;
const PASSES: Interval<Count> = Interval { low: Count(2.0), mid: Count(6.0), high: Count(20.0) };
/// The ray-tracing structure and textures of a scene against what its author stated.
const SCENE_SPREAD: Interval<Count> = Interval { low: Count(0.95), mid: Count(1.0), high: Count(1.2) };

fn memory(job: &RenderJob, scene: Bytes, hardware: &Hardware<'_>) -> RenderMemory {
    let pixels = job.resolution.0 as f64 * job.resolution.1 as f64;
    let buffers: Interval<Bytes> = PASSES.scaled(pixels * PASS_BYTES);
    let context = Interval { low: gib(0.3), mid: gib(0.6), high: gib(1.0) };
    let scene: Interval<Bytes> = SCENE_SPREAD.scaled(scene.base());
    let needed = scene.plus_independent(buffers).plus_independent(context);
    let usable = hardware.gpu.memory_total();
    let fit = if needed.high <= usable {
        Fit::Fits
    } else if needed.mid <= usable {
        Fit::Tight
    } else {
        Fit::DoesNot
    };
    let all_cards = needed.mid.base() * f64::from(hardware.instance.gpu_count);
    let host_holds_it = hardware.instance.memory.is_some_and(|host| host.base() >= all_cards);
    let spills = speed::family(&job.renderer).is_ok_and(|family| family.out_of_core);
    RenderMemory { needed, usable, fit, out_of_core: fit != Fit::Fits && spills && host_holds_it }
}

impl RenderJob {
    fn measurements(&self) -> Vec<Measurement> {
        let command = speed::family(&self.renderer).ok().and_then(Family::command);
        let measurement = |command: &str| Measurement { gives: Measured::FrameTime, command: command.to_owned() };
        command.map(measurement).into_iter().collect()
    }
}
