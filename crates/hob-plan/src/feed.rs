//! Whether the GPUs of a training job will wait for their data, and what helps.

use hob_estimate::{FeedJob, FeedRates, FeedUse, Hardware, estimate_feed, feed_verdict};
use hob_text::Message;
use hob_units::{Bytes, Interval, PerSecond, Quantity};
use hob_workload::Train;

/// Remedies that are told; the first ones help most.
const REMEDIES_TOLD: usize = 2;
/// A probability of waiting from which it is a finding.
const PROBABLE: f64 = 0.5;

/// The finding and its remedies; empty when the GPUs probably do not wait, or when the file does not say how the data is
/// stored.
pub(crate) fn findings(
    train: &Train,
    hardware: &Hardware<'_>,
    machines: u32,
    eaten: Interval<PerSecond>,
    rates: &FeedRates,
) -> Vec<Message> {
    let Some(job) = job(train, machines) else { return Vec::new() };
    let one: Interval<PerSecond> = eaten.scaled(1.0 / f64::from(machines.max(1)));
    let verdict = estimate_feed(&job, hardware.instance, rates).ok().and_then(|feed| feed_verdict(&feed, one));
    let Some(verdict) = verdict.filter(|verdict| verdict.probability.0 > PROBABLE) else { return Vec::new() };
    let finding = Message::new(verdict.bound.text_id())
        .with("share", verdict.gpu_waits_share)
        .with("probability", verdict.probability);
    let remedies = verdict.remedies.iter().take(REMEDIES_TOLD).map(|remedy| Message::new(remedy.way.text_id()));
    std::iter::once(finding).chain(remedies).collect()
}

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
