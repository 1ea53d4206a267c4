//! Two GPUs or two instance types side by side, field by field, with ratios.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use hob_units::{Bytes, Currency, Money, Period};
use serde::Serialize;
use thiserror::Error;

use super::list::{gpu_hour, peak_16_bit};
use super::show::{Entry, unknown};
use crate::catalog::Catalog;
use crate::error::UnknownName;
use crate::gpu::{ComputeType, Gpu};
use crate::instance::InstanceType;
use crate::offer::{Offer, OfferFilter};
use crate::price::{ChargeType, Price};
use crate::read::words::charge_word;

/// One field of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedField {
    /// Id of the field's words, such as `field-memory`; number formats and charge types follow a `:` (`field-peak:bf16`).
    pub field: String,
    /// Left value as text; `None` is "no data".
    pub left: Option<String>,
    /// Right value as text; `None` is "no data".
    pub right: Option<String>,
    /// Right over left; `None` for words, for unknowns, for zero, and across currencies.
    pub ratio: Option<f64>,
}

/// Two entries of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the left one.
    pub left: String,
    /// Name of the right one.
    pub right: String,
    /// Fields that at least one of them has.
    pub fields: Vec<ComparedField>,
}

/// Why two names cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompareError {
    /// A name is not known.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// One is a GPU and the other an instance type.
    #[error("`{gpu}` is a GPU and `{instance}` an instance type; compare two of one kind")]
    TwoKinds {
        /// The GPU.
        gpu: String,
        /// The instance type.
        instance: String,
    },
}

enum Found<'c> {
    Gpu(&'c Gpu),
    Instance(&'c InstanceType),
}

fn find<'c>(catalog: &'c Catalog, name: &str) -> Result<Found<'c>, UnknownName> {
    if let Ok(instance) = catalog.resolve_instance(name) {
        return Ok(Found::Instance(instance));
    }
    catalog.resolve_gpu(name).map(Found::Gpu).map_err(|error| unknown(catalog, name, error))
}

/// Compares two GPUs, or two instance types.
///
/// # Errors
/// When a name is not known, or they are not of one kind.
pub fn compare(catalog: &Catalog, left: &str, right: &str) -> Result<Comparison, CompareError> {
    match (find(catalog, left)?, find(catalog, right)?) {
        (Found::Gpu(a), Found::Gpu(b)) => {
            Ok(Comparison { left: a.id.clone(), right: b.id.clone(), fields: known(gpu_fields(catalog, a, b)) })
        }
        (Found::Instance(a), Found::Instance(b)) => {
            let name = |each: &InstanceType| format!("{}/{}", each.cloud, each.name);
            Ok(Comparison { left: name(a), right: name(b), fields: known(instance_fields(catalog, a, b)) })
        }
        (Found::Gpu(gpu), Found::Instance(instance)) | (Found::Instance(instance), Found::Gpu(gpu)) => {
            Err(CompareError::TwoKinds { gpu: gpu.id.clone(), instance: instance.name.clone() })
        }
    }
}

/// Without the fields that neither side has.
fn known(mut fields: Vec<ComparedField>) -> Vec<ComparedField> {
    fields.retain(|field| field.left.is_some() || field.right.is_some());
    fields
}

/// Every field of one entry but its prices, with its value as text; `None` is "no data". A number format that the chip
/// has no rate for is left out.
#[must_use]
pub fn specs(catalog: &Catalog, entry: &Entry) -> Vec<(String, Option<String>)> {
    let fields = match entry {
        Entry::Gpu(detail) => gpu_fields(catalog, &detail.gpu, &detail.gpu),
        Entry::Instance(detail) => instance_fields(catalog, &detail.instance, &detail.instance),
    };
    let is_price = |field: &str| field.starts_with("field-hour") || field.starts_with("field-gpu-hour");
    // A rate that the chip does not have, a link beside PCIe, or the share of a whole card.
    let may_be_absent = |field: &str| {
        field.starts_with("field-peak") || matches!(field, "field-interconnect-bandwidth" | "field-compute-share")
    };
    let shown = fields
        .into_iter()
        .filter(|each| !is_price(&each.field) && (each.left.is_some() || !may_be_absent(&each.field)));
    shown.map(|each| (each.field, each.left)).collect()
}

/// Collects fields, those that neither side has too.
#[derive(Default)]
struct Fields(Vec<ComparedField>);

impl Fields {
    fn words(&mut self, field: &str, left: Option<String>, right: Option<String>) {
        self.0.push(ComparedField { field: field.to_owned(), left, right, ratio: None });
    }

    /// Numbers with their text.
    fn numbers<T: ToString + Copy>(&mut self, field: &str, left: Option<T>, right: Option<T>, base: fn(T) -> f64) {
        let ratio = match (left.map(base), right.map(base)) {
            (Some(a), Some(b)) if a > 0.0 && (b / a).is_finite() => Some(b / a),
            _ => None,
        };
        let text = |value: Option<T>| value.map(|value| value.to_string());
        self.0.push(ComparedField { field: field.to_owned(), left: text(left), right: text(right), ratio });
    }
}

/// Number formats in the order in which they are compared.
const RATES: [(ComputeType, &str); 10] = [
    (ComputeType::Fp64, "fp64"),
    (ComputeType::Fp64Tensor, "fp64-tensor"),
    (ComputeType::Fp32, "fp32"),
    (ComputeType::Tf32, "tf32"),
    (ComputeType::Fp16, "fp16"),
    (ComputeType::Bf16, "bf16"),
    (ComputeType::Fp8, "fp8"),
    (ComputeType::Int8, "int8"),
    (ComputeType::Int4, "int4"),
    (ComputeType::Fp4, "fp4"),
];

fn gpu_fields(catalog: &Catalog, a: &Gpu, b: &Gpu) -> Vec<ComparedField> {
    let mut out = Fields::default();
    let capability = |gpu: &Gpu| gpu.compute_capability.map(|(major, minor)| format!("{major}.{minor}"));
    let yes_no = |flag: Option<bool>| flag.map(|flag| if flag { "yes" } else { "no" }.to_owned());
    out.words("field-name", Some(a.name.clone()), Some(b.name.clone()));
    out.words("field-architecture", Some(format!("{:?}", a.architecture)), Some(format!("{:?}", b.architecture)));
    out.words("field-compute-capability", capability(a), capability(b));
    out.numbers("field-memory", Some(a.memory), Some(b.memory), |memory| memory.0 as f64);
    out.numbers("field-memory-reported", a.memory_reported, b.memory_reported, |memory| memory.0 as f64);
    out.words("field-memory-type", a.memory_type.clone(), b.memory_type.clone());
    out.numbers("field-memory-bandwidth", a.memory_bandwidth, b.memory_bandwidth, |rate| rate.0);
    for (compute, name) in RATES {
        out.numbers(&format!("field-peak:{name}"), a.peak(compute), b.peak(compute), |rate| rate.0);
    }
    let interconnect = |gpu: &Gpu| Some(gpu.interconnect.clone().unwrap_or_else(|| "pcie-only".to_owned()));
    out.words("field-interconnect", interconnect(a), interconnect(b));
    out.numbers("field-interconnect-bandwidth", a.interconnect_bandwidth, b.interconnect_bandwidth, |rate| rate.0);
    out.numbers("field-pcie-generation", a.pcie_generation, b.pcie_generation, f64::from);
    out.numbers("field-power", a.tdp, b.tdp, |watts| watts.0);
    out.numbers("field-nvenc", a.nvenc, b.nvenc, f64::from);
    out.numbers("field-nvdec", a.nvdec, b.nvdec, f64::from);
    out.words("field-av1-encode", yes_no(a.av1_encode), yes_no(b.av1_encode));
    out.words("field-av1-decode", yes_no(a.av1_decode), yes_no(b.av1_decode));
    out.numbers("field-mig-instances", a.mig_instances_max, b.mig_instances_max, f64::from);
    let share = |gpu: &Gpu| gpu.fraction.as_ref().map(|fraction| fraction.compute);
    out.numbers("field-compute-share", share(a), share(b), |share| share.0);
    out.words("field-driver-min", a.driver_linux_min.clone(), b.driver_linux_min.clone());
    out.words("field-cuda-min", a.cuda_min.clone(), b.cuda_min.clone());
    let cuda_last = |gpu: &Gpu| Some(gpu.cuda_last.clone().unwrap_or_else(|| "current".to_owned()));
    out.words("field-cuda-last", cuda_last(a), cuda_last(b));
    let of = |gpu: &Gpu| Side { per: Measures::of(gpu, 1), hours: gpu_hours(catalog, gpu) };
    price_fields(&mut out, "gpu-hour", &of(a), &of(b));
    out.0
}

fn instance_fields(catalog: &Catalog, a: &InstanceType, b: &InstanceType) -> Vec<ComparedField> {
    let mut out = Fields::default();
    let (gpu_a, gpu_b) = (catalog.gpu(&a.gpu), catalog.gpu(&b.gpu));
    out.words("field-gpu", Some(a.gpu.clone()), Some(b.gpu.clone()));
    out.numbers("field-gpu-count", Some(a.gpu_count), Some(b.gpu_count), f64::from);
    let whole = |gpu: Option<&Gpu>, count: u32| gpu.map(|gpu| gpu.memory * f64::from(count));
    let bytes = |memory: Bytes| memory.0 as f64;
    out.numbers("field-gpu-memory-whole", whole(gpu_a, a.gpu_count), whole(gpu_b, b.gpu_count), bytes);
    let bandwidth =
        |gpu: Option<&Gpu>, count: u32| gpu.and_then(|gpu| gpu.memory_bandwidth).map(|rate| rate * f64::from(count));
    out.numbers("field-gpu-bandwidth-whole", bandwidth(gpu_a, a.gpu_count), bandwidth(gpu_b, b.gpu_count), |rate| {
        rate.0
    });
    for (compute, name) in [(ComputeType::Fp16, "fp16"), (ComputeType::Bf16, "bf16"), (ComputeType::Fp8, "fp8")] {
        let peak =
            |gpu: Option<&Gpu>, count: u32| gpu.and_then(|gpu| gpu.peak(compute)).map(|rate| rate * f64::from(count));
        let field = format!("field-peak-whole:{name}");
        out.numbers(&field, peak(gpu_a, a.gpu_count), peak(gpu_b, b.gpu_count), |rate| rate.0);
    }
    out.numbers("field-vcpus", a.vcpus, b.vcpus, f64::from);
    out.numbers("field-main-memory", a.memory, b.memory, bytes);
    out.words("field-local-disk", a.local_disk.clone(), b.local_disk.clone());
    out.numbers("field-network", a.network, b.network, |rate| rate.0);
    out.numbers("field-rdma", a.rdma, b.rdma, |rate| rate.0);
    let link = |each: &InstanceType| each.gpu_link.map(|link| link.word().to_owned());
    out.words("field-gpu-link", link(a), link(b));
    out.words("field-availability", Some(a.availability.word().to_owned()), Some(b.availability.word().to_owned()));
    let of = |each: &InstanceType, gpu: Option<&Gpu>| Side {
        per: gpu.map(|gpu| Measures::of(gpu, each.gpu_count)).unwrap_or_default(),
        hours: instance_hours(catalog, each),
    };
    price_fields(&mut out, "hour", &of(a, gpu_a), &of(b, gpu_b));
    out.0
}

/// Cheapest hours by way of billing and currency: two currencies are never compared.
type Hours = BTreeMap<(ChargeType, Currency), Money>;

/// What a price is divided by.
#[derive(Default)]
struct Measures {
    /// Dense 16-bit TFLOP/s.
    tflops: Option<f64>,
    /// GiB of marketed GPU memory.
    gib: Option<f64>,
    /// GB/s of GPU memory.
    gbs: Option<f64>,
}

impl Measures {
    fn of(gpu: &Gpu, count: u32) -> Self {
        let count = f64::from(count);
        Self {
            tflops: peak_16_bit(gpu).map(|rate| rate.0 * count / 1e12),
            gib: Some(gpu.memory.as_gib() * count),
            gbs: gpu.memory_bandwidth.map(|rate| rate.0 * count / 1e9),
        }
    }
}

struct Side {
    per: Measures,
    hours: Hours,
}

/// Money with three digits, however small.
#[derive(Clone, Copy)]
struct Fine(Money);

impl fmt::Display for Fine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = self.0.amount.round_sf(3).unwrap_or(self.0.amount).normalize();
        write!(f, "{} {amount}", self.0.currency)
    }
}

/// The hour, and the hour of one TFLOP/s, one GiB and one GB/s.
fn price_fields(out: &mut Fields, name: &str, a: &Side, b: &Side) {
    let keys: BTreeSet<&(ChargeType, Currency)> = a.hours.keys().chain(b.hours.keys()).collect();
    type Measure = fn(&Measures) -> Option<f64>;
    let measures: [(&str, Measure); 3] =
        [("-per-tflops", |per| per.tflops), ("-per-gib", |per| per.gib), ("-per-gbs", |per| per.gbs)];
    for key in keys {
        let of = |side: &Side| side.hours.get(key).map(|hour| hour.rounded(6));
        out.numbers(&format!("field-{name}:{}", charge_word(key.0)), of(a), of(b), Money::as_f64_for_score);
        for (suffix, measure) in &measures {
            let of = |side: &Side| -> Option<Fine> {
                let unit = measure(&side.per).filter(|unit| *unit > 0.0)?;
                side.hours.get(key)?.times(1.0 / unit).map(Fine)
            };
            let field = format!("field-{name}{suffix}:{}", charge_word(key.0));
            out.numbers(&field, of(a), of(b), |fine| fine.0.as_f64_for_score());
        }
    }
}

/// Cheapest hour of one GPU, over all clouds and regions.
fn gpu_hours(catalog: &Catalog, gpu: &Gpu) -> Hours {
    let filter = OfferFilter { gpus: [gpu.id.clone()].into(), ..OfferFilter::default() };
    cheapest(&catalog.offers(&filter), gpu_hour)
}

/// Cheapest hour of the machine, over all regions.
fn instance_hours(catalog: &Catalog, instance: &InstanceType) -> Hours {
    let filter = OfferFilter {
        clouds: [instance.cloud.clone()].into(),
        instances: vec![instance.name.clone()],
        availability: [instance.availability].into(),
        ..OfferFilter::default()
    };
    cheapest(&catalog.offers(&filter), |_, price| price.per(Period::Hour).map(|(low, _)| low))
}

fn cheapest(offers: &[Offer<'_>], hour: fn(&Offer<'_>, &Price) -> Option<Money>) -> Hours {
    let mut out = Hours::new();
    for (offer, price) in offers.iter().flat_map(|offer| offer.prices.iter().map(move |price| (offer, price))) {
        let Some(hour) = hour(offer, price) else { continue };
        let slot = out.entry((price.charge, hour.currency)).or_insert(hour);
        if hour.amount < slot.amount {
            *slot = hour;
        }
    }
    out
}
