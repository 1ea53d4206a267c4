//! The 30-second measurements that narrow an estimate, as commands to run on the machine.

use hob_catalog::Gpu;
use serde::Serialize;

use crate::transcode::cpu::preset_of;
use crate::transcode::{TranscodeJob, Video};

/// What a measurement gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// `TranscodeJob::measured_encode_fps`.
    EncodeFps,
    /// `TranscodeJob::measured_decode_fps`.
    DecodeFps,
    /// `RenderJob::measured_frame`.
    FrameTime,
}

/// A command, and what to read from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Measurement {
    /// What its last line gives: ffmpeg's `fps=`, or Blender's `Time:`.
    pub gives: Measured,
    /// The command; `input.mp4` and `scene.blend` stand for the user's own file.
    pub command: String,
}

/// Stops after 30 seconds by the clock; ffmpeg then prints its mean rate.
const START: &str = "timeout -s INT 30 ffmpeg -hide_banner -stats";

impl TranscodeJob {
    /// Whether the user's measurements hold on this card.
    pub(crate) fn was_measured_on(&self, gpu: &str) -> bool {
        self.measured_on.as_deref().is_none_or(|measured| measured == gpu)
    }
}

/// What is still to be measured on the engines; encoding first, since it usually bounds.
pub(crate) fn on_gpu(job: &TranscodeJob, gpu: &Gpu) -> Vec<Measurement> {
    let here = job.was_measured_on(&gpu.id);
    let encode = job.outputs.first().map(|first| encode_command(job, first));
    let decode = Some(decode_command(true));
    open(job, here, encode, decode)
}

/// What is still to be measured on the cores.
pub(crate) fn on_cpu(job: &TranscodeJob) -> Vec<Measurement> {
    let encode = job.outputs.first().map(|first| encode_command_cpu(job, first));
    open(job, job.measured_on.is_none(), encode, Some(decode_command(false)))
}

fn open(job: &TranscodeJob, here: bool, encode: Option<String>, decode: Option<String>) -> Vec<Measurement> {
    let encode = encode.filter(|_| !(here && job.measured_encode_fps.is_some()));
    let decode = decode.filter(|_| !(here && job.measured_decode_fps.is_some()));
    let encode = encode.map(|command| Measurement { gives: Measured::EncodeFps, command });
    let decode = decode.map(|command| Measurement { gives: Measured::DecodeFps, command });
    encode.into_iter().chain(decode).collect()
}

/// One decode engine, or one core, alone.
pub(crate) fn decode_command(on_gpu: bool) -> String {
    if on_gpu {
        format!("{START} -hwaccel cuda -hwaccel_output_format cuda -stream_loop -1 -i input.mp4 -an -f null -")
    } else {
        format!("taskset -c 0 {START} -threads 1 -stream_loop -1 -i input.mp4 -an -f null -")
    }
}

/// One encode engine on one rendition; frames stay in GPU memory.
pub(crate) fn encode_command(job: &TranscodeJob, output: &Video) -> String {
    let (height, width) = output.resolution;
    format!(
        "{START} -hwaccel cuda -hwaccel_output_format cuda -stream_loop -1 -i input.mp4 -an \
         -vf scale_cuda={width}:{height} -c:v {}_nvenc -preset {} -tune hq -f null -",
        output.codec, job.preset
    )
}

/// One core on one rendition.
pub(crate) fn encode_command_cpu(job: &TranscodeJob, output: &Video) -> String {
    let (height, width) = output.resolution;
    let library = match output.codec.as_str() {
        "h264" => "libx264",
        "hevc" => "libx265",
        "av1" => "libsvtav1",
        "vp8" => "libvpx",
        "vp9" => "libvpx-vp9",
        "mpeg2" => "mpeg2video",
        other => other,
    };
    let preset = preset_of(&output.codec, &job.preset);
    format!(
        "taskset -c 0 {START} -stream_loop -1 -i input.mp4 -an -vf scale={width}:{height} -c:v {library} \
         -preset {preset} -f null -"
    )
}
