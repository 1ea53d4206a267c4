#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use hob_catalog::{Catalog, InstanceType};
use hob_units::{BytesPerSec, Share, gib};

use super::*;

fn rates() -> FeedRates {
    FeedRates::built_in().unwrap()
}

fn job(format: &str, storage: &str) -> FeedJob {
    FeedJob {
        format: format.to_owned(),
        storage: storage.to_owned(),
        purpose: FeedUse::Training,
        bytes_per_sample: None,
        pixels: Some(500.0 * 375.0),
        seconds: Some(Seconds(10.0)),
        tokens: Some(2048.0),
        frames: Some(100.0),
        dataset: None,
        disk: None,
        machines: 1,
    }
}

fn machine(vcpus: Option<u32>) -> InstanceType {
    let mut instance = Catalog::embedded().instances().find(|instance| instance.cloud == "tencent").unwrap().clone();
    instance.vcpus = vcpus;
    instance.gpu_count = 1;
    instance.memory = Some(gib(64.0));
    instance.network = Some(BytesPerSec(1.25e9));
    instance.local_disk = Some("2 x 480 GB SSD + 4 x 3.84 TB NVMe".to_owned());
    instance
}

/// The middle rate of a machine of 16 vCPUs lies in `expected`, and `limit` bounds it.
#[track_caller]
fn check(job: &FeedJob, limit: FeedStage, expected: std::ops::RangeInclusive<f64>) {
    let estimate = estimate_feed(job, &machine(Some(16)), &rates()).unwrap();
    let rate = estimate.samples_per_second.unwrap();
    assert!(expected.contains(&rate.mid.0), "{rate}\n{:#?}", estimate.stages);
    // A disk's formula promises no more than its middle.
    assert!(rate.low.0 < rate.mid.0 && rate.mid.0 <= rate.high.0, "{rate}");
    assert_eq!(estimate.limit, Some(limit), "{:#?}", estimate.stages);
    assert_eq!(estimate.unknown, []);
    assert!(!estimate.remedies.is_empty());
}

#[test]
fn each_format_and_storage_is_bound_by_its_own_stage() {
    // 277 pictures/s on a core, 16 cores at 0.8.
    check(&job("jpeg", "memory"), FeedStage::Cpu, 3500.0..=3600.0);
    check(&job("jpeg", "local"), FeedStage::Cpu, 3500.0..=3600.0);
    let twelve_megapixels = FeedJob { pixels: Some(12e6), ..job("jpeg", "memory") };
    check(&twelve_megapixels, FeedStage::Cpu, 195.0..=200.0);
    // PNG decodes at about a sixth of JPEG.
    check(&job("png", "memory"), FeedStage::Cpu, 1200.0..=1700.0);
    // 350 MB/s of a large Enhanced SSD for 1 MB samples.
    let disk = Some(CloudDisk { kind: Some("CLOUD_HSSD".to_owned()), capacity: Some(Bytes(1_000_000_000_000)) });
    let on_disk = FeedJob { bytes_per_sample: Some(Bytes(1_000_000)), disk, ..job("jpeg", "cloud-disk") };
    check(&on_disk, FeedStage::Disk, 349.0..=351.0);
    // 32 connections that wait 50 ms for the first byte of each small file.
    let small = FeedJob { bytes_per_sample: Some(Bytes(78_000)), ..job("jpeg", "object-storage") };
    check(&small, FeedStage::ObjectStorage, 610.0..=640.0);
    // The same bytes read on from one large file: 4096 bytes of tokens do not wait.
    check(&job("tokens", "object-storage"), FeedStage::Network, 2.1e5..=2.2e5);
    check(&job("text", "memory"), FeedStage::Cpu, 2000.0..=2300.0);
    check(&job("audio", "memory"), FeedStage::Cpu, 1900.0..=2100.0);
    check(&FeedJob { pixels: Some(1920.0 * 1080.0), ..job("video", "memory") }, FeedStage::Cpu, 16.0..=16.8);
    // 10 Gbit/s at 70 % for 20 MB requests.
    let requests = FeedJob { bytes_per_sample: Some(Bytes(20_000_000)), ..job("audio", "requests") };
    check(&requests, FeedStage::Network, 43.0..=44.5);
}

#[test]
fn what_is_not_known_is_no_rate() {
    let none = estimate_feed(&job("jpeg", "memory"), &machine(None), &rates()).unwrap();
    assert_eq!((none.samples_per_second, none.unknown.as_slice()), (None, [FeedStage::Cpu].as_slice()));
    assert!(none.stages[0].formula.contains("vCPUs"));
    assert!(feed_verdict(&none, Interval::exact(PerSecond(100.0))).is_none(), "not known is not `does not wait`");

    let unknown = |instance: InstanceType, storage: &str| {
        estimate_feed(&job("jpeg", storage), &instance, &rates()).unwrap().unknown
    };
    for words in [None, Some("none (CBS cloud disks only)"), Some("2 x 480 GB SSD RAID1")] {
        let instance = InstanceType { local_disk: words.map(str::to_owned), ..machine(Some(16)) };
        assert_eq!(unknown(instance, "local"), [FeedStage::Disk], "{words:?}");
    }
    let elsewhere = InstanceType { cloud: "lambda".to_owned(), network: None, ..machine(Some(16)) };
    assert_eq!(unknown(elsewhere.clone(), "cloud-disk"), [FeedStage::Disk]);
    assert_eq!(unknown(elsewhere, "object-storage"), [FeedStage::ObjectStorage, FeedStage::Network]);
    let table = estimate_feed(&job("table", "memory"), &machine(Some(16)), &rates()).unwrap();
    assert_eq!(table.unknown, [FeedStage::Cpu]);
}

#[test]
fn wrong_words_and_absurd_sizes_are_refused() {
    let says = |job: FeedJob| estimate_feed(&job, &machine(Some(16)), &rates()).unwrap_err().to_string();
    assert!(says(job("jpg", "memory")).ends_with("near: jpeg)"));
    assert!(says(job("jpeg", "objekt-storage")).ends_with("near: object-storage)"));
    let disk = Some(CloudDisk { kind: Some("CLOUD_HSD".to_owned()), capacity: None });
    assert!(says(FeedJob { disk, ..job("jpeg", "cloud-disk") }).ends_with("near: CLOUD_HSSD)"));
    assert!(says(FeedJob { pixels: Some(1e9), ..job("jpeg", "memory") }).contains("field: pixels, value: 1000000000"));
    assert!(
        says(FeedJob { seconds: Some(Seconds(f64::NAN)), ..job("audio", "memory") })
            .contains("field: seconds, value: NaN")
    );
    assert!(
        says(FeedJob { bytes_per_sample: Some(Bytes(0)), ..job("jpeg", "memory") })
            .contains("field: bytes_per_sample, value: 0")
    );
}

#[test]
fn more_cores_are_never_slower_and_larger_samples_never_faster() {
    for format in ["jpeg", "png", "webp", "tiff", "raw", "video"] {
        for storage in ["memory", "local", "cloud-disk", "object-storage"] {
            let rate = |pixels: f64, vcpus: u32| {
                let job = FeedJob { pixels: Some(pixels), ..job(format, storage) };
                estimate_feed(&job, &machine(Some(vcpus)), &rates()).unwrap().samples_per_second.unwrap()
            };
            let mut previous = None;
            for pixels in [1e4, 5e4, 187_500.0, 3e5, 786_432.0, 1.5e6, 2_073_600.0, 6e6, 12e6, 5e7] {
                let (few, many) = (rate(pixels, 8), rate(pixels, 64));
                assert!(many.low >= few.low && many.mid >= few.mid && many.high >= few.high, "{format} {pixels}");
                if let Some(smaller) = previous.replace(few) {
                    let smaller: Interval<PerSecond> = smaller;
                    let is_slower = smaller.low >= few.low && smaller.mid >= few.mid && smaller.high >= few.high;
                    assert!(is_slower, "{format} {storage} {pixels}: {smaller} then {few}");
                }
            }
        }
    }
}

#[test]
fn the_gpu_waits_or_not() {
    let feed = estimate_feed(&job("jpeg", "memory"), &machine(Some(8)), &rates()).unwrap();
    let eats = |rate: f64| feed_verdict(&feed, Interval::within_factor(PerSecond(rate), 1.2)).unwrap();
    let starved = eats(8000.0);
    assert_eq!(starved.bound, FeedStage::Cpu);
    assert!(starved.probability.0 > 0.95 && (0.7..0.85).contains(&starved.gpu_waits_share.mid.0), "{starved:?}");
    assert!(starved.gpu_waits_share.low <= starved.gpu_waits_share.mid);
    assert_eq!(starved.remedies[0].way, FeedWay::MoreWorkers);
    let on_gpu = starved.remedies.iter().find(|remedy| remedy.way == FeedWay::DecodeOnGpu).unwrap();
    assert!(on_gpu.reaches.unwrap().mid.0 > feed.samples_per_second.unwrap().mid.0);
    let fed = eats(100.0);
    assert!(fed.probability.0 < 0.01 && fed.remedies.is_empty());
    assert_eq!(fed.gpu_waits_share.mid, Share(0.0));
    let mut previous = 0.0;
    for rate in [200.0, 500.0, 1000.0, 2000.0, 4000.0, 16_000.0] {
        let probability = eats(rate).probability.0;
        assert!(probability >= previous, "a hungrier GPU waits no less");
        previous = probability;
    }
}

#[test]
fn data_that_fits_into_memory_is_read_once() {
    let on_disk = FeedJob { bytes_per_sample: Some(Bytes(2_000_000)), ..job("jpeg", "cloud-disk") };
    let large = FeedJob { dataset: Some(gib(500.0)), ..on_disk.clone() };
    let small = FeedJob { dataset: Some(gib(20.0)), ..on_disk };
    let of = |job: &FeedJob| estimate_feed(job, &machine(Some(16)), &rates()).unwrap();
    assert!(of(&large).from_memory.is_none());
    let cached = of(&small);
    assert!(cached.from_memory.unwrap().mid.0 > 5.0 * cached.samples_per_second.unwrap().mid.0);
    let found = feed_verdict(&cached, Interval::exact(PerSecond(1000.0))).unwrap();
    assert_eq!(found.bound, FeedStage::Cpu, "from the second pass on");
    assert!(found.probability.0 < 0.1);
    let starved = feed_verdict(&of(&large), Interval::exact(PerSecond(1000.0))).unwrap();
    assert_eq!(starved.bound, FeedStage::Disk);
    assert_eq!(starved.remedies[0].way, FeedWay::LocalCache);
    assert!(starved.remedies[0].reaches.is_some());
}

#[test]
fn every_key_that_is_asked_for_is_in_the_table() {
    let rates = rates();
    let keys = ["jpeg-gpu", "tokens", "bpe", "json", "flac", "log-mel", "h264-decode", "local-nvme", "small-get"];
    for key in keys.into_iter().chain(["s3-connection", "cos-connection", "cos-account-other", "cos-account-mainland"])
    {
        assert!(rates.get(key).is_some(), "{key}");
    }
    for kind in stages::DISKS {
        assert!(rates.at_capacity(&kind.to_lowercase().replace('_', "-"), 300.0).is_some(), "{kind}");
    }
}
