//! Whether the GPUs of a training job will wait for their data, and what helps.

use hob_estimate::{FeedJob, FeedRates, FeedUse, Hardware, estimate_feed, feed_verdict};
use hob_text::Message;
use hob_units::{Bytes, Interval, PerSecond, Quantity, Seconds, Share};
use hob_workload::Train;

/// Remedies that are told; the first ones help most.
const REMEDIES_TOLD: usize = 2;
/// A probability of waiting from which it is a finding.
const PROBABLE: f64 = 0.5;

/// What feeding does to a job.
pub(crate) struct Feed {
    /// The job takes this many times as long: 1 when the data keeps up. `None` when nobody knows.
    pub slower: Option<Slower>,
    /// The finding and its remedies.
    pub notes: Vec<Message>,
}

/// How many times as long a job takes, by end of its interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slower {
    low: f64,
    mid: f64,
    high: f64,
}

impl Slower {
    /// The middle of it.
    pub(crate) fn times(self) -> f64 {
        self.mid
    }

    /// A duration with the waits in it.
    pub(crate) fn stretch(self, duration: Interval<Seconds>) -> Interval<Seconds> {
        Interval { low: duration.low * self.low, mid: duration.mid * self.mid, high: duration.high * self.high }
    }

    /// A rate with the waits in it.
    pub(crate) fn slow_down(self, rate: Interval<PerSecond>) -> Interval<PerSecond> {
        Interval {
            low: rate.low * (1.0 / self.high),
            mid: rate.mid * (1.0 / self.mid),
            high: rate.high * (1.0 / self.low),
        }
    }
}

/// Whether the data keeps up with `machines` machines that eat `eaten` samples a second. `None` when the file does not say
/// how the data is stored.
pub(crate) fn feed(
    train: &Train,
    hardware: &Hardware<'_>,
    machines: u32,
    eaten: Interval<PerSecond>,
    rates: &FeedRates,
) -> Option<Feed> {
    let job = job(train, machines)?;
    let one: Interval<PerSecond> = eaten.scaled(1.0 / f64::from(machines.max(1)));
    let estimate = estimate_feed(&job, hardware.instance, rates).ok()?;
    let verdict = feed_verdict(&estimate, one);
    let unknown = verdict.as_ref().map_or(&estimate.unknown, |verdict| &verdict.unknown);
    let mut notes: Vec<Message> = unknown.iter().map(|stage| Message::new(stage.unknown_id())).collect();
    if let Some(verdict) = verdict.as_ref().filter(|verdict| verdict.probability.0 > PROBABLE) {
        let finding = Message::new(verdict.bound.text_id())
            .with("share", verdict.gpu_waits_share)
            .with("probability", verdict.probability);
        let remedies = verdict.remedies.iter().take(REMEDIES_TOLD).map(|remedy| Message::new(remedy.way.text_id()));
        notes.extend(std::iter::once(finding).chain(remedies));
    }
    let slower = verdict.map(|verdict| {
        let times = |waits: Share| 1.0 / (1.0 - waits.0.clamp(0.0, WAIT_MAX));
        let waits = verdict.gpu_waits_share;
        Slower { low: times(waits.low), mid: times(waits.mid), high: times(waits.high) }
    });
    Some(Feed { slower, notes })
}

/// Waits beyond this share are held there: a GPU that works a thousandth of the time has no plan.
const WAIT_MAX: f64 = 0.999;

fn job(train: &Train, machines: u32) -> Option<FeedJob> {
    let data = &train.data;
    let dataset =
        data.bytes_per_sample.zip(data.samples).map(|(bytes, samples)| Bytes::from_base(bytes.base() * samples));
    Some(FeedJob {
        format: data.format.clone()?,
        storage: data.storage.clone()?,
        purpose: FeedUse::Training,
        bytes_per_sample: data.bytes_per_sample,
        pixels: data.resolution.map(|(height, width)| height as f64 * width as f64),
        seconds: data.clip,
        tokens: data.sequence.map(|sequence| sequence.0 as f64),
        frames: data.frames.map(|frames| frames as f64),
        dataset,
        disk: None,
        machines,
    })
}
