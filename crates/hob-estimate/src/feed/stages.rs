//! The rate of each part of a machine.

use hob_catalog::InstanceType;
use hob_units::{Bytes, BytesPerSec, Count, Interval, PerSecond, Quantity, Seconds};

use crate::band;
use crate::feed::rates::{FeedRates, Found};
use crate::feed::{FeedJob, FeedStage, FeedTerm, sample};
use crate::rate_table::cite;

/// Disk types with a throughput formula (Tencent Cloud).
pub(crate) const DISKS: [&str; 5] = ["CLOUD_BSSD", "CLOUD_HSSD", "CLOUD_PREMIUM", "CLOUD_SSD", "CLOUD_TSSD"];

/// What a vCPU does when its sibling on the same core works too: two threads together make 1.2 to 2 times one (general
/// knowledge; the rows were measured with the sibling mostly idle).
const HYPERTHREAD: Interval<Count> = Interval { low: Count(0.6), mid: Count(0.8), high: Count(1.0) };
/// Share of the line rate that reading over many connections reached: 64 % in the S3 rows of
/// data/pipeline/feed_rates.csv; TCP and headers leave 95 % at most.
const LINE_SHARE: Interval<Count> = Interval { low: Count(0.5), mid: Count(0.7), high: Count(0.95) };
/// Requests in flight for each vCPU: one worker each that waits for its own; with threads and prefetch, more.
const CONNECTIONS_PER_VCPU: Interval<Count> = Interval { low: Count(1.0), mid: Count(2.0), high: Count(8.0) };
/// Share of main memory that the page cache can give to data.
const CACHE_SHARE: f64 = 0.6;

fn unknown(stage: FeedStage, why: impl Into<String>) -> FeedTerm {
    FeedTerm { stage, samples_per_second: None, formula: why.into() }
}

fn known(stage: FeedStage, rate: Interval<PerSecond>, formula: String) -> FeedTerm {
    FeedTerm { stage, samples_per_second: Some(rate), formula }
}

/// Decoding and augmenting on all vCPUs, one worker on each.
pub(crate) fn cpu(job: &FeedJob, instance: &InstanceType, rates: &FeedRates) -> FeedTerm {
    let stage = FeedStage::Cpu;
    let (seconds, formula) = match sample::core_seconds(job, rates) {
        Ok(work) => work,
        Err(why) => return unknown(stage, why),
    };
    let Some(vcpus) = instance.vcpus.filter(|count| *count > 0) else {
        return unknown(stage, "the catalog does not know the number of vCPUs");
    };
    let one: Interval<PerSecond> = seconds.inverted(1.0);
    let cores: Interval<Count> = HYPERTHREAD.scaled(f64::from(vcpus));
    known(stage, band::product(one, cores), format!("{vcpus} vCPUs x {:.1} / ({formula})", HYPERTHREAD.mid.0))
}

/// `rate` in bytes as samples.
fn in_samples(stage: FeedStage, job: &FeedJob, rate: Interval<BytesPerSec>, what: &str) -> FeedTerm {
    match sample::bytes(job) {
        Some(bytes) => known(stage, band::quotient(rate, bytes), format!("{what} / {} a sample", bytes.mid)),
        None => unknown(stage, "the stored size of a sample is not stated"),
    }
}

/// The machine's own NVMe devices.
pub(crate) fn local_disk(job: &FeedJob, instance: &InstanceType, rates: &FeedRates) -> FeedTerm {
    let stage = FeedStage::Disk;
    let Some(words) = &instance.local_disk else {
        return unknown(stage, "the catalog does not know the local disk");
    };
    let Some(devices) = nvme_devices(words) else {
        return unknown(stage, format!("no rate is known for `{words}`"));
    };
    let Some(found) = rates.get("local-nvme") else {
        return unknown(stage, "the table has no `local-nvme`");
    };
    let rate = found.rate.scaled(devices);
    in_samples(stage, job, rate, &format!("{devices} NVMe x {}", line(&found)))
}

/// How many NVMe devices the catalog's words name: `2 x 480 GB SSD + 4 x 3.84 TB NVMe` has 4, `local NVMe` has 1.
pub(crate) fn nvme_devices(words: &str) -> Option<f64> {
    let mut devices: Option<f64> = None;
    for part in words.split('+').filter(|part| part.contains("NVMe")) {
        let count = part.split_once(" x ").and_then(|(count, _)| count.trim().parse().ok()).unwrap_or(1.0_f64);
        devices = Some(devices.unwrap_or(0.0) + count);
    }
    devices.filter(|count| (1.0..=64.0).contains(count))
}

fn line(found: &Found<'_>) -> String {
    format!("{} [{}]", BytesPerSec(found.rate.mid.0), cite(&found.row.provenance))
}

/// A network block disk, whose throughput grows with its capacity.
pub(crate) fn cloud_disk(job: &FeedJob, instance: &InstanceType, rates: &FeedRates) -> FeedTerm {
    let stage = FeedStage::Disk;
    if instance.cloud != "tencent" {
        return unknown(stage, format!("no disk rates are known for {}", instance.cloud));
    }
    let disk = job.disk.as_ref();
    let kind = disk.and_then(|disk| disk.kind.as_deref()).map(|kind| kind.to_lowercase().replace('_', "-"));
    let kinds: Vec<String> = match kind {
        Some(kind) => vec![kind],
        None => DISKS.iter().map(|kind| kind.to_lowercase().replace('_', "-")).collect(),
    };
    let capacity = disk.and_then(|disk| disk.capacity).map(|bytes| bytes.base() / 1e9);
    let capacities = capacity.map_or_else(|| CAPACITIES_GB.to_vec(), |gb| vec![gb]);
    let mut found: Vec<Found<'_>> =
        kinds.iter().flat_map(|kind| capacities.iter().filter_map(|gb| rates.at_capacity(kind, *gb))).collect();
    found.sort_by(|a, b| a.rate.mid.0.total_cmp(&b.rate.mid.0));
    // One disk as it is, or everything from the slowest to the fastest that it may be.
    let (Some(slowest), Some(middle), Some(fastest)) = (found.first(), found.get(found.len() / 2), found.last()) else {
        return unknown(stage, "no rate is known for this disk");
    };
    let rate = Interval { low: slowest.rate.low, mid: middle.rate.mid, high: fastest.rate.high };
    in_samples(stage, job, rate.scaled(1.0), &format!("{} {}", middle.row.method, line(middle)))
}

/// Capacities that a disk of unknown size may have, in GB.
const CAPACITIES_GB: [f64; 3] = [100.0, 500.0, 2000.0];

/// GET requests: each connection waits for the first byte and then reads; the account and the bucket have limits.
pub(crate) fn object_storage(job: &FeedJob, instance: &InstanceType, rates: &FeedRates) -> FeedTerm {
    let stage = FeedStage::ObjectStorage;
    let connection = match instance.cloud.as_str() {
        "tencent" => rates.get("cos-connection"),
        "aws" => rates.get("s3-connection"),
        cloud => return unknown(stage, format!("no object storage rates are known for {cloud}")),
    };
    let Some(bytes) = sample::bytes(job) else {
        return unknown(stage, "the stored size of a sample is not stated");
    };
    let Some(vcpus) = instance.vcpus.filter(|count| *count > 0) else {
        return unknown(stage, "the catalog does not know the number of vCPUs, and so of workers");
    };
    let (Some(connection), Some(get)) = (connection, rates.get("small-get")) else {
        return unknown(stage, "the table has no row for a connection");
    };
    let first_byte: Interval<Seconds> = get.rate.inverted(if is_packed(job) { 0.0 } else { 1.0 });
    let reading: Interval<Seconds> = band::quotient(bytes, connection.rate);
    let one: Interval<PerSecond> = band::plus_together(first_byte, reading).inverted(1.0);
    let connections: Interval<Count> = CONNECTIONS_PER_VCPU.scaled(f64::from(vcpus));
    let mut rate: Interval<PerSecond> = band::product(one, connections);
    let formula = format!(
        "{} connections / ({} to the first byte + {} / {})",
        connections.mid.0,
        first_byte.mid,
        bytes.mid,
        line(&connection)
    );
    if instance.cloud == "tencent" {
        let machines = f64::from(job.machines);
        let account: Option<Interval<PerSecond>> =
            limit(rates, "cos-account-other", "cos-account-mainland").map(|limit| band::quotient(limit, bytes));
        let requests = limit(rates, "cos-requests-other", "cos-requests-mainland").filter(|_| !is_packed(job));
        for bound in [account, requests].into_iter().flatten() {
            rate = band::slower(rate, bound.scaled(1.0 / machines));
        }
    }
    known(stage, rate, formula)
}

/// Whether samples lie in large files that are read on, and not in one object each.
pub(crate) fn is_packed(job: &FeedJob) -> bool {
    matches!(job.format.as_str(), "tokens" | "text" | "table")
}

/// A limit that differs by region, from the lower to the higher one.
fn limit(rates: &FeedRates, lower: &str, higher: &str) -> Option<Interval<PerSecond>> {
    let (lower, higher) = (rates.get(lower)?, rates.get(higher)?);
    Some(Interval { low: lower.rate.mid, mid: higher.rate.mid, high: higher.rate.mid })
}

/// The machine's network card.
pub(crate) fn network(job: &FeedJob, instance: &InstanceType) -> FeedTerm {
    let stage = FeedStage::Network;
    match instance.network.filter(|rate| rate.0 > 0.0) {
        Some(network) => {
            let rate: Interval<BytesPerSec> = LINE_SHARE.scaled(network.0);
            in_samples(stage, job, rate, &format!("{:.0} % of {network}", LINE_SHARE.mid.0 * 100.0))
        }
        None => unknown(stage, "the catalog does not know the network"),
    }
}

/// Whether the page cache holds all samples after the first pass.
pub(crate) fn fits_in_memory(job: &FeedJob, instance: &InstanceType) -> bool {
    let room = instance.memory.map(|memory| Bytes::from_base(memory.base() * CACHE_SHARE));
    matches!((job.dataset, room), (Some(dataset), Some(room)) if dataset <= room)
}
