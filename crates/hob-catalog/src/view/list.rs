//! Rows of GPUs and of offers, filtered and sorted.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use hob_units::{Bytes, BytesPerSec, Currency, FlopsPerSec, Money, Period, Share, Watts};
use serde::Serialize;

use crate::catalog::Catalog;
use crate::compat::{Answer, Compat, Feature};
use crate::gpu::{ComputeType, Gpu, GpuArchitecture, Vendor};
use crate::instance::Availability;
use crate::offer::{FractionFilter, HowToGetPrice, Offer, OfferFilter};
use crate::price::{ChargeType, Price, PriceAmount};
use crate::read::words::charge_word;

/// What a list is sorted by; ties are broken by name. What is unknown comes last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SortBy {
    /// As in the files: by cloud and family.
    #[default]
    Catalog,
    /// By id or instance name.
    Name,
    /// Most GPU memory first (of the whole machine in a list of offers).
    Memory,
    /// Highest memory bandwidth first.
    Bandwidth,
    /// Highest bf16 rate first; fp16 where there is no bf16.
    Compute,
    /// Cheapest hour first, each currency by itself.
    Price,
}

/// Which GPUs to list; an empty set, or `None`, is no restriction.
#[derive(Debug, Clone, Default)]
pub struct GpuFilter {
    /// Ids.
    pub ids: BTreeSet<String>,
    /// Generations.
    pub architectures: BTreeSet<GpuArchitecture>,
    /// Least marketed memory.
    pub memory_min: Option<Bytes>,
    /// Whether fractions are wanted.
    pub fractions: FractionFilter,
    /// What must work on it; a feature of which no row speaks does not count as working.
    pub supports: Vec<Feature>,
    /// Only GPUs with an offer that passes this filter.
    pub offers: Option<OfferFilter>,
}

impl GpuFilter {
    /// Whether a GPU passes; its offers are not asked.
    #[must_use]
    pub fn passes(&self, gpu: &Gpu, compat: &Compat) -> bool {
        let fraction = match self.fractions {
            FractionFilter::Any => true,
            FractionFilter::WholeOnly => gpu.fraction.is_none(),
            FractionFilter::FractionsOnly => gpu.fraction.is_some(),
        };
        fraction
            && (self.ids.is_empty() || self.ids.contains(&gpu.id))
            && (self.architectures.is_empty() || self.architectures.contains(&gpu.architecture))
            && self.memory_min.is_none_or(|min| gpu.memory >= min)
            && self.supports.iter().all(|feature| compat.support(gpu, *feature).answer == Answer::Yes)
    }
}

/// One GPU in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GpuRow {
    /// Id.
    pub id: String,
    /// Marketed name.
    pub name: String,
    /// Maker.
    pub vendor: Vendor,
    /// Generation.
    pub architecture: GpuArchitecture,
    /// Share of the whole card's compute, when it is a fraction.
    pub share: Option<Share>,
    /// Marketed memory.
    #[serde(rename = "memory_bytes")]
    pub memory: Bytes,
    /// Peak memory bandwidth.
    #[serde(rename = "memory_bandwidth_bytes_per_second")]
    pub memory_bandwidth: Option<BytesPerSec>,
    /// Dense 16-bit peak: bf16, or fp16 where there is no bf16.
    #[serde(rename = "peak_16_bit_flops_per_second")]
    pub peak_16_bit: Option<FlopsPerSec>,
    /// Dense fp8 peak.
    #[serde(rename = "peak_fp8_flops_per_second")]
    pub peak_fp8: Option<FlopsPerSec>,
    /// Board power.
    #[serde(rename = "tdp_watts")]
    pub tdp: Option<Watts>,
    /// Clouds that offer it.
    pub clouds: Vec<String>,
    /// Cheapest hour of one GPU on demand, by currency.
    pub gpu_hour_min: Vec<Money>,
}

/// One price in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PriceCell {
    /// How it is billed: `on-demand`, `monthly`, `spot`, `reserved-12`, `owned`.
    pub charge: String,
    /// Amount for one `per`.
    pub amount: PriceAmount,
    /// Period of the amount.
    pub per: Period,
    /// Lower end for one hour (months are average months).
    pub hour_low: Option<Money>,
    /// Upper end for one hour.
    pub hour_high: Option<Money>,
    /// Date of the price, as its source states it.
    pub date: String,
    /// Source of the price.
    pub source: String,
    /// What it leaves out.
    pub note: Option<String>,
}

impl PriceCell {
    pub(super) fn of(price: &Price) -> Self {
        let hour = price.per(Period::Hour);
        Self {
            charge: charge_word(price.charge),
            amount: price.amount,
            per: price.per,
            hour_low: hour.map(|(low, _)| low.rounded(6)),
            hour_high: hour.map(|(_, high)| high.rounded(6)),
            date: price.provenance.date.clone(),
            source: price.provenance.source.clone(),
            note: price.provenance.note.clone(),
        }
    }
}

/// One offer in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfferRow {
    /// Cloud.
    pub cloud: String,
    /// Instance type.
    pub instance: String,
    /// Whether one can have it.
    pub availability: Availability,
    /// Id of the GPU or fraction.
    pub gpu: String,
    /// How many of it.
    pub gpu_count: u32,
    /// Share of the whole card's compute that each is, when it is a fraction.
    pub gpu_share: Option<Share>,
    /// Marketed memory of one.
    #[serde(rename = "gpu_memory_bytes")]
    pub gpu_memory: Bytes,
    /// Virtual CPUs.
    pub vcpus: Option<u32>,
    /// Main memory.
    #[serde(rename = "memory_bytes")]
    pub memory: Option<Bytes>,
    /// Region or price area; empty when no source names one.
    pub region: String,
    /// Codes of the regions that it stands for.
    pub regions: Vec<String>,
    /// Prices; empty when none is known.
    pub prices: Vec<PriceCell>,
    /// Set when no price is known.
    pub how_to_get_price: Option<HowToGetPrice>,
}

impl OfferRow {
    pub(super) fn of(offer: &Offer<'_>) -> Self {
        Self {
            cloud: offer.instance.cloud.clone(),
            instance: offer.instance.name.clone(),
            availability: offer.instance.availability,
            gpu: offer.gpu.id.clone(),
            gpu_count: offer.instance.gpu_count,
            gpu_share: offer.gpu.fraction.as_ref().map(|fraction| fraction.compute),
            gpu_memory: offer.gpu.memory,
            vcpus: offer.instance.vcpus,
            memory: offer.instance.memory,
            region: offer.region.clone(),
            regions: offer.regions.clone(),
            prices: offer.prices.iter().map(|price| PriceCell::of(price)).collect(),
            how_to_get_price: offer.how_to_get_price,
        }
    }
}

/// GPUs that pass the filter. Clouds and prices in a row are those of the offers that pass.
#[must_use]
pub fn list_gpus(catalog: &Catalog, compat: &Compat, filter: &GpuFilter, sort: SortBy) -> Vec<GpuRow> {
    let offers = catalog.offers(&filter.offers.clone().unwrap_or_default());
    let sold = Sold::of(&offers);
    let mut rows: Vec<GpuRow> = catalog
        .gpus()
        .filter(|gpu| filter.passes(gpu, compat))
        .filter(|gpu| filter.offers.is_none() || sold.clouds.contains_key(gpu.id.as_str()))
        .map(|gpu| GpuRow {
            id: gpu.id.clone(),
            name: gpu.name.clone(),
            vendor: gpu.vendor,
            architecture: gpu.architecture,
            share: gpu.fraction.as_ref().map(|fraction| fraction.compute),
            memory: gpu.memory,
            memory_bandwidth: gpu.memory_bandwidth,
            peak_16_bit: peak_16_bit(gpu),
            peak_fp8: gpu.peak(ComputeType::Fp8),
            tdp: gpu.tdp,
            clouds: sold.clouds.get(gpu.id.as_str()).into_iter().flatten().map(|cloud| (*cloud).to_owned()).collect(),
            gpu_hour_min: sold
                .hours
                .get(gpu.id.as_str())
                .into_iter()
                .flatten()
                .map(|(_, low)| low.rounded(6))
                .collect(),
        })
        .collect();
    let rank: fn(&GpuRow, &GpuRow) -> Ordering = match sort {
        SortBy::Catalog => return rows,
        SortBy::Name => |_, _| Ordering::Equal,
        SortBy::Memory => |a, b| b.memory.cmp(&a.memory),
        SortBy::Bandwidth => |a, b| descending(a.memory_bandwidth, b.memory_bandwidth),
        SortBy::Compute => |a, b| descending(a.peak_16_bit, b.peak_16_bit),
        SortBy::Price => |a, b| {
            let key = |row: &GpuRow| row.gpu_hour_min.first().map(|money| (money.currency, money.amount));
            ascending(key(a), key(b))
        },
    };
    rows.sort_by(|a, b| rank(a, b).then_with(|| a.id.cmp(&b.id)));
    rows
}

/// Where each GPU is sold, and its cheapest hour on demand in each currency.
struct Sold<'o> {
    clouds: BTreeMap<&'o str, BTreeSet<&'o str>>,
    hours: BTreeMap<&'o str, BTreeMap<Currency, Money>>,
}

impl<'o> Sold<'o> {
    fn of(offers: &'o [Offer<'_>]) -> Self {
        let mut out = Self { clouds: BTreeMap::new(), hours: BTreeMap::new() };
        for offer in offers {
            out.clouds.entry(&offer.gpu.id).or_default().insert(&offer.instance.cloud);
            for price in offer.prices.iter().filter(|price| price.charge == ChargeType::PayAsYouGo) {
                let Some(hour) = gpu_hour(offer, price) else { continue };
                let slot = out.hours.entry(&offer.gpu.id).or_default().entry(hour.currency).or_insert(hour);
                if hour.amount < slot.amount {
                    *slot = hour;
                }
            }
        }
        out
    }
}

/// Price of one hour of one GPU of a machine, lower end.
pub(super) fn gpu_hour(offer: &Offer<'_>, price: &Price) -> Option<Money> {
    let share = 1.0 / f64::from(offer.instance.gpu_count.max(1));
    price.per(Period::Hour).and_then(|(low, _)| low.times(share))
}

/// Dense 16-bit peak: bf16, or fp16 where there is no bf16.
pub(super) fn peak_16_bit(gpu: &Gpu) -> Option<FlopsPerSec> {
    gpu.peak(ComputeType::Bf16).or(gpu.peak(ComputeType::Fp16))
}

/// Offers that pass the filter.
#[must_use]
pub fn list_offers(catalog: &Catalog, filter: &OfferFilter, sort: SortBy) -> Vec<OfferRow> {
    let mut offers = catalog.offers(filter);
    let rank: fn(&Offer<'_>, &Offer<'_>) -> Ordering = match sort {
        SortBy::Catalog => return offers.iter().map(OfferRow::of).collect(),
        SortBy::Name => |_, _| Ordering::Equal,
        SortBy::Memory => |a, b| {
            let key = |offer: &Offer<'_>| whole(offer, Some(offer.gpu.memory.0 as f64));
            descending(key(a), key(b))
        },
        SortBy::Bandwidth => |a, b| {
            let key = |offer: &Offer<'_>| whole(offer, offer.gpu.memory_bandwidth.map(|rate| rate.0));
            descending(key(a), key(b))
        },
        SortBy::Compute => |a, b| {
            let key = |offer: &Offer<'_>| whole(offer, peak_16_bit(offer.gpu).map(|rate| rate.0));
            descending(key(a), key(b))
        },
        SortBy::Price => |a, b| ascending(hour_min(a), hour_min(b)),
    };
    offers.sort_by(|a, b| rank(a, b).then_with(|| (&a.instance.name, &a.region).cmp(&(&b.instance.name, &b.region))));
    offers.iter().map(OfferRow::of).collect()
}

/// Of all GPUs of the machine.
fn whole(offer: &Offer<'_>, of_one: Option<f64>) -> Option<f64> {
    of_one.map(|value| value * f64::from(offer.instance.gpu_count))
}

/// Cheapest hour over the prices, lower ends. Of several currencies the first by code counts: they are never compared.
fn hour_min(offer: &Offer<'_>) -> Option<(Currency, rust_decimal::Decimal)> {
    let hours = offer.prices.iter().filter_map(|price| price.per(Period::Hour));
    hours.map(|(low, _)| (low.currency, low.amount)).min()
}

/// Smallest first, unknown last.
fn ascending<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// Largest first, unknown last.
fn descending<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => b.partial_cmp(&a).unwrap_or(Ordering::Equal),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}
