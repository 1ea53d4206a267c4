//! Whether the GPUs wait, how surely, and what helps.

use hob_catalog::InstanceType;
use hob_units::{Count, Interval, PerSecond, Quantity, Share};
use serde::Serialize;

use crate::band;
use crate::feed::rates::FeedRates;
use crate::feed::{FeedEstimate, FeedJob, FeedStage, stages};

/// A way to feed faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeedWay {
    /// One loader process on each vCPU; frameworks start none unless told.
    MoreWorkers,
    /// An instance with more vCPUs for each GPU.
    MoreVcpus,
    /// Pictures or video decoded by the GPU.
    DecodeOnGpu,
    /// Pictures stored once at the size that training uses.
    ResizeOnce,
    /// Text turned into tokens once, before training.
    TokeniseOnce,
    /// The data copied to a local disk or kept in main memory.
    LocalCache,
    /// Many samples in one object or file.
    PackSamples,
    /// More requests in flight, ahead of need.
    Prefetch,
    /// A larger or better disk, or bought extra throughput.
    FasterDisk,
    /// An instance with more network.
    MoreNetwork,
}

impl FeedWay {
    /// Id of its words in the message catalogue.
    #[must_use]
    pub fn text_id(self) -> &'static str {
        match self {
            Self::MoreWorkers => "note-feed-more-workers",
            Self::MoreVcpus => "note-feed-more-vcpus",
            Self::DecodeOnGpu => "note-feed-decode-on-gpu",
            Self::ResizeOnce => "note-feed-resize-once",
            Self::TokeniseOnce => "note-feed-tokenise-once",
            Self::LocalCache => "note-feed-local-cache",
            Self::PackSamples => "note-feed-pack-samples",
            Self::Prefetch => "note-feed-prefetch",
            Self::FasterDisk => "note-feed-faster-disk",
            Self::MoreNetwork => "note-feed-more-network",
        }
    }
}

/// A remedy, and the rate that its stage reaches with it where that is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeedRemedy {
    /// What to do.
    pub way: FeedWay,
    /// Samples a second of that stage afterwards.
    pub reaches: Option<Interval<PerSecond>>,
}

/// Whether GPUs wait for data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeedVerdict {
    /// Share of the time in which they wait.
    pub gpu_waits_share: Interval<Share>,
    /// Probability that they wait at all.
    pub probability: Share,
    /// The stage that makes them wait.
    pub bound: FeedStage,
    /// Stages that nobody knows the rate of and that may make them wait as well.
    pub unknown: Vec<FeedStage>,
    /// What helps, most useful first; empty when the GPUs probably do not wait.
    pub remedies: Vec<FeedRemedy>,
}

/// Probability of waiting from which remedies are worth a user's time.
const PROBABLE: f64 = 0.5;

/// What one machine feeds against what its GPUs eat. `None` when no stage is known: that is not "they do not wait".
#[must_use]
pub fn feed_verdict(feed: &FeedEstimate, gpu_samples_per_second: Interval<PerSecond>) -> Option<FeedVerdict> {
    let fed = feed.from_memory.or(feed.samples_per_second)?;
    let bound = if feed.from_memory.is_some() { FeedStage::Cpu } else { feed.limit? };
    if gpu_samples_per_second.low.0 <= 0.0 || fed.low.0 <= 0.0 {
        return None;
    }
    let ratio: Interval<Count> = band::quotient(fed, gpu_samples_per_second);
    let waits = |ratio: Count| Share((1.0 - ratio.0).max(0.0));
    let probability = ratio.probability_at_most(Count(1.0));
    let from_memory = feed.from_memory.is_some();
    let unknown = feed.unknown.iter().copied().filter(|stage| !from_memory || *stage == FeedStage::Cpu).collect();
    Some(FeedVerdict {
        gpu_waits_share: Interval { low: waits(ratio.high), mid: waits(ratio.mid), high: waits(ratio.low) },
        probability: Share(probability),
        bound,
        unknown,
        remedies: if probability >= PROBABLE { feed.remedies.clone() } else { Vec::new() },
    })
}

/// A sample below this size spends most of its time waiting for the first byte of an object.
const SMALL_SAMPLE_BYTES: f64 = 1e6;
/// Pictures above this are mostly thrown away by a crop of a few hundred pixels.
const LARGE_PICTURE_PIXELS: f64 = 1e6;

/// What helps against a bound, most useful first.
pub(crate) fn remedies(
    job: &FeedJob,
    instance: &InstanceType,
    limit: Option<FeedStage>,
    rates: &FeedRates,
) -> Vec<FeedRemedy> {
    let mut ways: Vec<FeedRemedy> = Vec::new();
    let mut add = |way, reaches| ways.push(FeedRemedy { way, reaches });
    match limit {
        Some(FeedStage::Cpu) => {
            add(FeedWay::MoreWorkers, None);
            if job.format == "jpeg" {
                add(FeedWay::DecodeOnGpu, decoded_on_gpu(job, instance, rates));
            } else if job.format == "video" {
                add(FeedWay::DecodeOnGpu, None);
            }
            let is_picture = ["jpeg", "png", "webp", "tiff"].contains(&job.format.as_str());
            if is_picture && job.pixels.is_some_and(|pixels| pixels > LARGE_PICTURE_PIXELS) {
                add(FeedWay::ResizeOnce, None);
            }
            if job.format == "text" {
                add(FeedWay::TokeniseOnce, None);
            }
            add(FeedWay::MoreVcpus, None);
        }
        Some(FeedStage::Disk) => {
            if job.storage != "local" && (has_nvme(instance) || stages::fits_in_memory(job, instance)) {
                let local = stages::local_disk(job, instance, rates);
                add(FeedWay::LocalCache, local.samples_per_second);
            }
            add(FeedWay::FasterDisk, None);
            add(FeedWay::Prefetch, None);
        }
        Some(stage @ (FeedStage::ObjectStorage | FeedStage::Network)) => {
            let is_small = super::sample::bytes(job).is_some_and(|bytes| bytes.mid.base() < SMALL_SAMPLE_BYTES);
            let is_small = is_small && !stages::is_packed(job);
            if stage == FeedStage::ObjectStorage && is_small {
                add(FeedWay::PackSamples, None);
            }
            if job.storage != "requests" && (has_nvme(instance) || stages::fits_in_memory(job, instance)) {
                let local = stages::local_disk(job, instance, rates);
                add(FeedWay::LocalCache, local.samples_per_second);
            }
            if stage == FeedStage::ObjectStorage {
                add(FeedWay::Prefetch, None);
            } else {
                add(FeedWay::MoreNetwork, None);
            }
        }
        None => {}
    }
    ways
}

fn has_nvme(instance: &InstanceType) -> bool {
    instance.local_disk.as_deref().is_some_and(|words| stages::nvme_devices(words).is_some())
}

/// Pixels of the pictures that the GPU decoding row was stated for: ImageNet's, 500 x 375.
const GPU_DECODE_PIXELS: f64 = 500.0 * 375.0;

/// Decoding on all GPUs of the machine; the row is of small pictures, larger ones cost by the pixel.
fn decoded_on_gpu(job: &FeedJob, instance: &InstanceType, rates: &FeedRates) -> Option<Interval<PerSecond>> {
    let row = rates.get("jpeg-gpu")?;
    let larger = (job.pixels? / GPU_DECODE_PIXELS).max(1.0);
    Some(row.rate.scaled(f64::from(instance.gpu_count) / larger))
}
