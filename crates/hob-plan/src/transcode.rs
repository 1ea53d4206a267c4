//! Transcoding: on the video engines where a card has them, else on the CPU cores of the same machine.

use hob_catalog::{Catalog, UnknownName};
use hob_estimate::{
    Hardware, MediaRates, TimeTerm, TranscodeEstimate, TranscodeJob, Video, estimate_transcode, estimate_transcode_cpu,
};
use hob_text::Message;
use hob_units::{HOURS_PER_MONTH, Interval, PerSecond, Seconds, Share};
use hob_workload::{Media, Transcode, Workload};

use crate::bill::Need;
use crate::document::{Layout, Solution, Speed, VideoUnit};
use crate::farm::{farm, keeping_up};
use crate::limits::Limits;
use crate::reason::Reason;
use crate::search::Found;
use crate::unit::{Output, Unit};

/// The search for one workload.
pub(crate) struct TranscodeSearch<'a> {
    workload: &'a Workload,
    transcode: &'a Transcode,
    job: TranscodeJob,
    rates: &'a MediaRates,
}

impl<'a> TranscodeSearch<'a> {
    /// # Errors
    /// When the card on which the user measured is not known.
    pub(crate) fn new(
        workload: &'a Workload,
        transcode: &'a Transcode,
        catalog: &Catalog,
        rates: &'a MediaRates,
    ) -> Result<Self, UnknownName> {
        let measured_on = match &transcode.measured_gpu {
            Some(name) => Some(catalog.resolve_gpu(name)?.id.clone()),
            None => None,
        };
        let job = TranscodeJob {
            input: video(&transcode.input),
            outputs: transcode.outputs.iter().map(video).collect(),
            preset: transcode.preset.clone(),
            measured_encode_fps: transcode.measured_encode_fps,
            measured_decode_fps: transcode.measured_decode_fps,
            measured_on,
        };
        Ok(Self { workload, transcode, job, rates })
    }

    /// The fewest machines that are done in time, or that keep up with what arrives.
    ///
    /// # Errors
    /// Why this hardware cannot.
    pub(crate) fn best(&self, hardware: &Hardware<'_>, limits: &Limits) -> Result<Found, Reason> {
        let (unit, estimate) = match estimate_transcode(&self.job, hardware, self.rates) {
            Ok(estimate) => (VideoUnit::Engines, estimate),
            Err(on_engines) => {
                // The reason that counts is that of the engines: they are what the card is rented for.
                let on_cores = estimate_transcode_cpu(&self.job, hardware.instance, 1, self.rates);
                (VideoUnit::Cores, on_cores.map_err(|_| on_engines)?)
            }
        };
        let gpus = hardware.instance.gpu_count;
        let in_one_hour = estimate.video_hours_per_hour;
        let placed = match (self.transcode.hours_per_hour, self.transcode.hours) {
            (Some(arriving), _) => {
                let alone: Interval<Seconds> = in_one_hour.inverted(arriving * 3600.0);
                let farm = keeping_up(self.workload, limits, gpus, alone)?;
                let used = self.workload.utilisation.unwrap_or(Share(1.0));
                let hours = arriving * HOURS_PER_MONTH;
                (farm, hours, Need::Always(used), true)
            }
            (None, hours) => {
                let hours = hours.unwrap_or(0.0);
                let one: Interval<PerSecond> = in_one_hour.scaled(1.0 / 3600.0);
                let farm = farm(self.workload, limits, gpus, one, hours)?;
                let need = Need::Once(farm.duration);
                (farm, hours, need, false)
            }
        };
        let (farm, hours, need, is_stream) = placed;
        let all = in_one_hour.scaled(f64::from(farm.machines));
        let speed = if is_stream {
            Speed::Stream { video_hours_per_hour: all, hour_takes: farm.duration }
        } else {
            Speed::Job { duration: farm.duration, step: None, items_per_second: all.scaled(1.0 / 3600.0), mfu: None }
        };
        let solution = Solution {
            machines: farm.machines,
            gpus: farm.machines.saturating_mul(gpus),
            layout: Layout::Transcode { unit, limit: estimate.limit },
            memory: None,
            speed,
            outputs: vec![Output::new(Unit::VideoHour, hours)],
            goals: farm.goals,
            time: terms(&estimate),
            waits_for_data: None,
            notes: notes(&estimate),
        };
        Ok(Found { solution, need })
    }
}

fn video(media: &Media) -> Video {
    Video { codec: media.codec.clone(), resolution: media.resolution, fps: media.fps }
}

/// The time that one hour of video takes in each stage of one machine.
fn terms(estimate: &TranscodeEstimate) -> Vec<TimeTerm> {
    estimate
        .terms
        .iter()
        .filter_map(|term| {
            let time: Interval<Seconds> = term.capacity?.inverted(3600.0);
            Some(TimeTerm { what: term.stage.id(), time, formula: Some(term.formula.clone()) })
        })
        .collect()
}

fn notes(estimate: &TranscodeEstimate) -> Vec<Message> {
    let unknown = estimate.unknown.iter().map(|stage| Message::new("note-stage-unknown").with("stage", stage.id()));
    let measure = estimate
        .measurements
        .iter()
        .map(|measurement| Message::new("measure-transcode").with("command", &measurement.command));
    unknown.chain(measure).collect()
}
