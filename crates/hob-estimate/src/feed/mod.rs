//! What the CPUs, the disk and the network of a machine can feed, against what its GPUs eat.
//!
//! Each stage gives its own rate and the slowest bounds. A part of the machine that the catalog does not know gives no
//! rate: it may bound or not, and the estimate says so. "The GPU will wait" is a finding with remedies.

mod rates;
mod sample;
mod stages;
#[cfg(test)]
mod tests;
mod verdict;

use hob_catalog::InstanceType;
use hob_units::{Bytes, Interval, PerSecond, Quantity, Seconds};
use serde::Serialize;

use crate::band;
use crate::rate_table::{in_range, unknown_word};
use crate::refusal::EstimateError;

pub use rates::{FeedRate, FeedRates};
pub use verdict::{FeedRemedy, FeedVerdict, FeedWay, feed_verdict};

/// Why samples are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedUse {
    /// For training: pictures are decoded and augmented.
    Training,
    /// For inference: pictures are decoded only.
    Inference,
}

/// Samples that GPUs wait for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeedJob {
    /// `jpeg`, `png`, `webp`, `tiff`, `raw` (pictures); `tokens`, `text`, `audio`, `video`, `table`.
    pub format: String,
    /// `local` disk, `cloud-disk`, `object-storage`, `memory`, or `requests` of a service's clients.
    pub storage: String,
    /// What for.
    pub purpose: FeedUse,
    /// Mean stored size of one sample; `None`: taken from the format and the size.
    pub bytes_per_sample: Option<Bytes>,
    /// Pixels of one picture or frame as it is stored.
    pub pixels: Option<f64>,
    /// Length of one clip of sound.
    pub seconds: Option<Seconds>,
    /// Tokens of one sequence.
    pub tokens: Option<f64>,
    /// Frames of one clip of video.
    pub frames: Option<f64>,
    /// Stored size of all samples.
    pub dataset: Option<Bytes>,
    /// The cloud disk, when the data lies on one.
    pub disk: Option<CloudDisk>,
    /// Machines that read the same object storage at once.
    pub machines: u32,
}

/// A cloud disk as the cloud names it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CloudDisk {
    /// `CLOUD_HSSD`, `CLOUD_PREMIUM`...; `None`: not known.
    pub kind: Option<String>,
    /// Capacity; throughput grows with it. `None`: not known.
    pub capacity: Option<Bytes>,
}

/// Part of a machine that samples go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedStage {
    /// Decoding and augmenting on the CPUs.
    Cpu,
    /// Reading from a disk.
    Disk,
    /// Requests to object storage, and its limits.
    ObjectStorage,
    /// The machine's network card.
    Network,
}

impl FeedStage {
    /// Id of its words in the message catalogue.
    #[must_use]
    pub fn text_id(self) -> &'static str {
        match self {
            Self::Cpu => "note-gpu-waits-cpu",
            Self::Disk => "note-gpu-waits-disk",
            Self::ObjectStorage => "note-gpu-waits-object-storage",
            Self::Network => "note-gpu-waits-network",
        }
    }

    /// Id of the words for a stage that nobody knows the rate of.
    #[must_use]
    pub fn unknown_id(self) -> &'static str {
        match self {
            Self::Cpu => "note-feed-unknown-cpu",
            Self::Disk => "note-feed-unknown-disk",
            Self::ObjectStorage => "note-feed-unknown-object-storage",
            Self::Network => "note-feed-unknown-network",
        }
    }
}

/// What one stage feeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeedTerm {
    /// Stage.
    pub stage: FeedStage,
    /// Samples a second of one machine; `None`: not known, and `formula` says what is missing.
    pub samples_per_second: Option<Interval<PerSecond>>,
    /// The arithmetic with its source, or what is missing.
    pub formula: String,
}

/// What one machine can feed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeedEstimate {
    /// All stages that samples go through.
    pub stages: Vec<FeedTerm>,
    /// The slowest of the known stages; `None` when none is known.
    pub samples_per_second: Option<Interval<PerSecond>>,
    /// The same once the data lies in main memory, after the first pass; `None` when it does not fit or is not known to.
    pub from_memory: Option<Interval<PerSecond>>,
    /// The stage that bounds.
    pub limit: Option<FeedStage>,
    /// Stages that nobody knows the rate of.
    pub unknown: Vec<FeedStage>,
    /// What would make it faster, most useful first.
    pub remedies: Vec<FeedRemedy>,
}

/// Words of `FeedJob::format`.
const FORMATS: [&str; 10] = ["jpeg", "png", "webp", "tiff", "raw", "tokens", "text", "audio", "video", "table"];
/// Words of `FeedJob::storage`.
const STORAGES: [&str; 5] = ["local", "cloud-disk", "object-storage", "memory", "requests"];

/// What one machine can feed.
///
/// # Errors
/// When the format or the storage is not a known word, or a size is absurd.
pub fn estimate_feed(job: &FeedJob, instance: &InstanceType, rates: &FeedRates) -> Result<FeedEstimate, EstimateError> {
    check(job)?;
    let cpu = stages::cpu(job, instance, rates);
    let mut terms = vec![cpu];
    match job.storage.as_str() {
        "local" => terms.push(stages::local_disk(job, instance, rates)),
        "cloud-disk" => terms.push(stages::cloud_disk(job, instance, rates)),
        "object-storage" => {
            terms.push(stages::object_storage(job, instance, rates));
            terms.push(stages::network(job, instance));
        }
        "requests" => terms.push(stages::network(job, instance)),
        _ => {}
    }
    let known = || terms.iter().filter_map(|term| Some((term.stage, term.samples_per_second?)));
    let slowest = known().map(|(_, rate)| rate).reduce(band::slower);
    let limit = known().min_by(|a, b| a.1.mid.base().total_cmp(&b.1.mid.base()).then(a.0.cmp(&b.0)));
    let limit = limit.map(|(stage, _)| stage);
    let of_cpu = known().find(|(stage, _)| *stage == FeedStage::Cpu).map(|(_, rate)| rate);
    let from_memory = of_cpu.filter(|_| stages::fits_in_memory(job, instance) && job.storage != "requests");
    let unknown = terms.iter().filter(|term| term.samples_per_second.is_none()).map(|term| term.stage).collect();
    let remedies = verdict::remedies(job, instance, limit, rates);
    Ok(FeedEstimate { samples_per_second: slowest, from_memory, limit, unknown, remedies, stages: terms })
}

fn check(job: &FeedJob) -> Result<(), EstimateError> {
    if !FORMATS.contains(&job.format.as_str()) {
        return Err(unknown_word("format", &job.format, FORMATS));
    }
    if !STORAGES.contains(&job.storage.as_str()) {
        return Err(unknown_word("storage", &job.storage, STORAGES));
    }
    if let Some(kind) = job.disk.as_ref().and_then(|disk| disk.kind.as_deref())
        && !stages::DISKS.contains(&kind.to_uppercase().as_str())
    {
        return Err(unknown_word("disk", kind, stages::DISKS));
    }
    let sizes = [
        ("pixels", job.pixels, 1.0..=5e8),
        ("seconds", job.seconds.map(Quantity::base), 1e-3..=1e6),
        ("tokens", job.tokens, 1.0..=1e8),
        ("frames", job.frames, 1.0..=1e7),
        ("bytes_per_sample", job.bytes_per_sample.map(Quantity::base), 1.0..=1e12),
    ];
    for (field, value, bounds) in sizes {
        if let Some(value) = value {
            in_range(field, value, bounds)?;
        }
    }
    in_range("machines", f64::from(job.machines), 1.0..=1e5)?;
    Ok(())
}
