//! What the video engines of a card can carry.

use hob_catalog::{FractionKind, Gpu};
use hob_units::{Count, Interval, PerSecond};

use crate::band;
use crate::hardware::Hardware;
use crate::rate_table::cite;
use crate::refusal::{EstimateError, Fact, MediaTask};
use crate::transcode::rates::{Direction, MediaRates};
use crate::transcode::{Stages, TranscodeJob, TranscodeStage, TranscodeTerm, Video, cpu, measure};

/// Spread of a 30-second measurement against a day of other content on the same engine.
const MEASURED_FACTOR: f64 = 1.15;

/// Share of an engine's published rate that a single session reaches: 0.65 in the one published check of decoding
/// (data/media/transcode_checks.csv), all of it where the application overlaps its steps.
const ONE_SESSION: Interval<Count> = Interval { low: Count(0.6), mid: Count(0.8), high: Count(1.0) };

pub(crate) fn estimate(
    job: &TranscodeJob,
    hardware: &Hardware<'_>,
    rates: &MediaRates,
) -> Result<Stages, EstimateError> {
    let (gpu, machines) = (hardware.gpu, f64::from(hardware.gpus()));
    let mut sources = Vec::new();
    let mut terms = Vec::new();

    let encoders = engines(gpu, gpu.nvenc, Fact::EncodeEngines {}, MediaTask::EncodeVideo {})?;
    let mut encode_seconds: Interval<Count> = Interval::exact(Count(0.0));
    let mut slowest_rendition: Interval<Count> = Interval::exact(Count(0.0));
    let mut parts = Vec::new();
    for (place, output) in job.outputs.iter().enumerate() {
        let rate = encode_rate(job, place, output, gpu, rates, &mut sources)?;
        let seconds: Interval<Count> = rate.inverted(output.load());
        encode_seconds = band::plus_together(encode_seconds, seconds);
        parts.push(per_frame(output, rate));
        if seconds.mid.0 > slowest_rendition.mid.0 {
            slowest_rendition = seconds;
        }
    }
    terms.push(TranscodeTerm {
        stage: TranscodeStage::Encode,
        capacity: Some(carried(encoders, machines, encode_seconds)),
        formula: format!("{} encode engines x {machines} / ({})", encoders.mid.0, parts.join(" + ")),
    });
    let mut speed_of_one: Interval<Count> = slowest_rendition.inverted(1.0);

    let decoded_by_gpu = decode_rate(job, gpu, rates, &mut sources)?;
    if let Some(rate) = decoded_by_gpu {
        let decoders = engines(gpu, gpu.nvdec, Fact::DecodeEngines {}, MediaTask::DecodeVideo {})?;
        let seconds: Interval<Count> = rate.inverted(job.input.load());
        speed_of_one = band::slower(speed_of_one, seconds.inverted(1.0));
        terms.push(TranscodeTerm {
            stage: TranscodeStage::Decode,
            capacity: Some(carried(decoders, machines, seconds)),
            formula: format!("{} decode engines x {machines} / ({})", decoders.mid.0, per_frame(&job.input, rate)),
        });
    }
    let left_to_cpu = match decoded_by_gpu {
        Some(_) => None,
        None => Some(cpu::decode_rate(job, rates, &mut sources)?),
    };
    let on_cpu = cpu::beside_engines(job, left_to_cpu, rates, &mut sources)?;
    terms.push(cpu::term(on_cpu, hardware.instance, hardware.nodes));
    Ok(Stages { terms, speed_of_one: band::product(speed_of_one, ONE_SESSION), sources })
}

/// Engine-seconds for each second of one format, as arithmetic.
fn per_frame(video: &Video, rate: Interval<PerSecond>) -> String {
    let (codec, (height, width)) = (&video.codec, video.resolution);
    let full_hd = video.full_hd_frames();
    format!("{codec} {width}x{height}: {} fps x {full_hd:.2} / {:.0} full-HD fps", video.fps, rate.mid.0)
}

/// Capacity of `engines` of each of `machines` GPUs when a second of video takes `seconds` of one.
fn carried(engines: Interval<Count>, machines: f64, seconds: Interval<Count>) -> Interval<Count> {
    let each: Interval<Count> = seconds.inverted(machines);
    band::product(engines, each)
}

/// Engines that the card, or the fraction of one, may use.
fn engines(gpu: &Gpu, count: Option<u8>, fact: Fact, task: MediaTask) -> Result<Interval<Count>, EstimateError> {
    let count = count.ok_or_else(|| EstimateError::UnknownHardware { gpu: gpu.id.clone(), what: fact })?;
    if count == 0 {
        return Err(EstimateError::NoEngine { gpu: gpu.id.clone(), what: task });
    }
    let count = f64::from(count);
    Ok(match &gpu.fraction {
        Some(fraction) if fraction.kind != FractionKind::Mig => {
            // Engines take turns between the fractions; what idle neighbours leave may be used.
            let share = Count(count * fraction.compute.0);
            Interval { low: share, mid: share, high: Count(count.min(share.0 * BORROWED)) }
        }
        _ => Interval::exact(Count(count)),
    })
}

/// How much more than its share a time-sliced fraction gets when neighbours are idle now and then: the render scores of
/// four fractions in `data/media/render_rates.csv` are 0.69 to 1.40 of their share.
const BORROWED: f64 = 1.4;

/// 1080p frames per second of one decode engine; `None` when the chip has no decoder for the codec.
fn decode_rate(
    job: &TranscodeJob,
    gpu: &Gpu,
    rates: &MediaRates,
    sources: &mut Vec<String>,
) -> Result<Option<Interval<PerSecond>>, EstimateError> {
    if gpu.nvdec == Some(0) || (job.input.codec == "av1" && gpu.av1_decode == Some(false)) {
        return Ok(None);
    }
    if let Some(fps) = job.measured_decode_fps.filter(|_| job.was_measured_on(&gpu.id)) {
        sources.push("decode rate measured by the user".to_owned());
        let rate = Interval::within_factor(PerSecond(fps), MEASURED_FACTOR);
        return Ok(Some(rate.scaled(job.input.full_hd_frames())));
    }
    Ok(rates.engine(gpu, &job.input.codec, Direction::Decode, "").map(|(rate, row)| {
        sources.push(cite(&row.provenance));
        rate
    }))
}

/// 1080p frames per second of one encode engine for a rendition. A measurement of the first one corrects the others.
fn encode_rate(
    job: &TranscodeJob,
    place: usize,
    output: &Video,
    gpu: &Gpu,
    rates: &MediaRates,
    sources: &mut Vec<String>,
) -> Result<Interval<PerSecond>, EstimateError> {
    let codec = output.codec.as_str();
    if codec == "av1" && gpu.av1_encode == Some(false) {
        return Err(EstimateError::NoEngine {
            gpu: gpu.id.clone(),
            what: MediaTask::Encode { codec: codec.to_owned() },
        });
    }
    let table = rates.engine(gpu, codec, Direction::Encode, &job.preset);
    let first = job.outputs.first();
    let measured = job.measured_encode_fps.filter(|_| job.was_measured_on(&gpu.id));
    if let (Some(fps), Some(first)) = (measured, first) {
        sources.push("encode rate measured by the user".to_owned());
        let of_first: Interval<PerSecond> =
            Interval::within_factor(PerSecond(fps), MEASURED_FACTOR).scaled(first.full_hd_frames());
        if place == 0 || first.codec == codec {
            // Engines work by the pixel, so that the same codec at another size keeps the pixel rate, less certainly.
            let factor = if place == 0 { 1.0 } else { MEASURED_FACTOR };
            return Ok(of_first.widened(factor));
        }
        let of_first_in_table = rates.engine(gpu, &first.codec, Direction::Encode, &job.preset);
        if let (Some((rate, _)), Some((published, _))) = (table, of_first_in_table) {
            return Ok(rate.scaled(of_first.mid.0 / published.mid.0));
        }
    }
    match table {
        Some((rate, row)) => {
            sources.push(cite(&row.provenance));
            Ok(rate)
        }
        None => Err(EstimateError::NoRate {
            what: MediaTask::EncodeOnCard { codec: codec.to_owned(), gpu: gpu.id.clone(), preset: job.preset.clone() },
            measurement: measure::encode_command(job, output),
        }),
    }
}
