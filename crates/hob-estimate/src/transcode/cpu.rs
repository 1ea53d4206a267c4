//! What CPU cores do for video: all of it, or what the engines leave.

use hob_catalog::InstanceType;
use hob_units::{Count, Interval, PerSecond};

use crate::band;
use crate::rate_table::{cite, unknown_word};
use crate::refusal::{EstimateError, Fact, MediaTask};
use crate::transcode::rates::{Direction, MediaRates, TranscodeRate};
use crate::transcode::{PRESETS, Stages, TranscodeJob, TranscodeStage, TranscodeTerm, Video, measure};

/// The CPU encoder's preset of about the quality of an NVENC preset: x264, x265, SVT-AV1. P4 to P7 in high quality are
/// commonly put beside `fast` to `slow` (general knowledge; data/media/transcode_rates.csv has the speeds).
const PRESET_OF: [(&str, [&str; 3]); 7] = [
    ("p1", ["superfast", "superfast", "12"]),
    ("p2", ["veryfast", "veryfast", "10"]),
    ("p3", ["faster", "veryfast", "10"]),
    ("p4", ["fast", "fast", "8"]),
    ("p5", ["fast", "fast", "8"]),
    ("p6", ["medium", "medium", "6"]),
    ("p7", ["slow", "slow", "4"]),
];

/// The preset in the CPU encoder's own words.
pub(crate) fn preset_of(codec: &str, preset: &str) -> String {
    let column = match codec {
        "h264" => 0,
        "hevc" => 1,
        _ => 2,
    };
    let words = PRESET_OF.iter().find(|(nvenc, _)| *nvenc == preset).and_then(|(_, words)| words.get(column));
    words.map_or(preset, |word| *word).to_owned()
}

/// All of the work on cores.
pub(crate) fn estimate(
    job: &TranscodeJob,
    instance: &InstanceType,
    nodes: u32,
    rates: &MediaRates,
) -> Result<Stages, EstimateError> {
    let mut sources = Vec::new();
    let vcpus = instance.vcpus.filter(|count| *count > 0);
    if vcpus.is_none() {
        return Err(EstimateError::UnknownHardware { gpu: instance.name.clone(), what: Fact::Vcpus {} });
    }
    let decode = match job.measured_decode_fps.filter(|_| job.measured_on.is_none()) {
        Some(fps) => measured(fps, &job.input),
        None => decode_rate(job, rates, &mut sources)?,
    };
    let mut seconds = beside_engines(job, Some(decode), rates, &mut sources)?;
    for output in &job.outputs {
        let rate = encode_rate(job, output, rates, &mut sources)?;
        seconds = band::plus_together(seconds, rate.inverted(output.load()));
        if output.resolution != job.input.resolution {
            let row = core_row(rates, Direction::Scale, "scale on a CPU core")?;
            sources.push(cite(&row.provenance));
            seconds = band::plus_together(seconds, row.fps.inverted(job.input.full_hd_frames() * output.fps));
        }
    }
    let term = term(seconds, instance, nodes);
    // Threads of one encoder fill a machine's cores only in part: x264 and x265 scale to about 8 of them at 1080p.
    let cores = f64::from(vcpus.unwrap_or(1));
    let whole: Interval<Count> = seconds.inverted(cores);
    let few: Interval<Count> = seconds.inverted(cores.min(THREADS_OF_ONE));
    let speed_of_one = Interval { low: few.low, mid: whole.mid, high: whole.high };
    Ok(Stages { terms: vec![term], speed_of_one, sources })
}

/// Threads that one encoder surely keeps busy (general knowledge).
const THREADS_OF_ONE: f64 = 8.0;

/// Frame rate of the clip that the remux row was measured on: sound and container go by the second, not by the frame.
const REMUX_FPS: f64 = 30.0;

/// Core-seconds for each second of video beside the engines: container and sound of each stream and rendition, and
/// decoding at a rate when the engines cannot.
pub(crate) fn beside_engines(
    job: &TranscodeJob,
    decode: Option<Interval<PerSecond>>,
    rates: &MediaRates,
    sources: &mut Vec<String>,
) -> Result<Interval<Count>, EstimateError> {
    let remux = core_row(rates, Direction::Remux, "remux on a CPU core")?;
    sources.push(cite(&remux.provenance));
    let mut seconds: Interval<Count> = remux.fps.inverted(REMUX_FPS * job.outputs.len() as f64);
    if let Some(rate) = decode {
        seconds = band::plus_together(seconds, rate.inverted(job.input.load()));
    }
    Ok(seconds)
}

/// Spread of a 30-second measurement on one vCPU against all of them at work on other content.
const MEASURED_FACTOR: f64 = 1.3;

/// A rate that the user measured on one vCPU, in 1080p frames.
fn measured(fps: f64, video: &Video) -> Interval<PerSecond> {
    Interval::within_factor(PerSecond(fps), MEASURED_FACTOR).scaled(video.full_hd_frames())
}

/// 1080p frames of the input that one core decodes each second.
pub(crate) fn decode_rate(
    job: &TranscodeJob,
    rates: &MediaRates,
    sources: &mut Vec<String>,
) -> Result<Interval<PerSecond>, EstimateError> {
    let codec = &job.input.codec;
    let row = rates.row("cpu", codec, Direction::Decode, "").ok_or_else(|| EstimateError::NoRate {
        what: MediaTask::DecodeOnCore { codec: codec.clone() },
        measurement: measure::decode_command(false),
    })?;
    sources.push(cite(&row.provenance));
    Ok(row.fps)
}

/// The term of all cores of the machines.
pub(crate) fn term(seconds: Interval<Count>, instance: &InstanceType, nodes: u32) -> TranscodeTerm {
    let vcpus = instance.vcpus.filter(|count| *count > 0);
    let cores = vcpus.map(|count| f64::from(count) * f64::from(nodes));
    TranscodeTerm {
        stage: TranscodeStage::Cpu,
        capacity: cores.map(|cores| seconds.inverted(cores)),
        formula: match cores {
            Some(cores) => format!("{cores} vCPUs / {:.4} core-seconds for each second of video", seconds.mid.0),
            None => "the catalog does not know the number of vCPUs".to_owned(),
        },
    }
}

fn encode_rate(
    job: &TranscodeJob,
    output: &Video,
    rates: &MediaRates,
    sources: &mut Vec<String>,
) -> Result<Interval<PerSecond>, EstimateError> {
    let same_as_first = job.outputs.first().is_some_and(|first| first.codec == output.codec);
    if let (Some(fps), Some(first), true, true) =
        (job.measured_encode_fps, job.outputs.first(), same_as_first, job.measured_on.is_none())
    {
        sources.push("encode rate measured by the user".to_owned());
        return Ok(measured(fps, first));
    }
    let preset = preset_of(&output.codec, &job.preset);
    let rows = || rates.transcode.iter().filter(|row| row.device == "cpu" && row.codec == output.codec);
    let row = rows().find(|row| row.direction == Direction::Encode && row.preset == preset);
    match row {
        Some(row) => {
            sources.push(cite(&row.provenance));
            Ok(row.fps)
        }
        None if rows().any(|row| row.direction == Direction::Encode) => {
            let known = rows().filter(|row| row.direction == Direction::Encode).map(|row| row.preset.as_str());
            Err(unknown_word("preset", &job.preset, known.chain(PRESETS)))
        }
        None => Err(EstimateError::NoRate {
            what: MediaTask::EncodeOnCore { codec: output.codec.clone() },
            measurement: measure::encode_command_cpu(job, output),
        }),
    }
}

/// Work of a core that is the same for every codec; the built-in table has it.
fn core_row<'r>(
    rates: &'r MediaRates,
    direction: Direction,
    name: &'static str,
) -> Result<&'r TranscodeRate, EstimateError> {
    rates.row("cpu", "", direction, "").ok_or(EstimateError::MissingCoefficient { name })
}
