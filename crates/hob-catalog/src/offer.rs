//! Offers: what can be had where, at which prices. An offer without a known price is an offer, and says how to get it.

use std::collections::{BTreeMap, BTreeSet};

use hob_units::{Bytes, Currency, Money, Period};
use serde::Serialize;

use crate::catalog::Catalog;
use crate::gpu::{Gpu, Vendor};
use crate::instance::{Availability, InstanceType};
use crate::price::{ChargeType, Price};

/// Whether fractions of GPUs are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FractionFilter {
    /// Whole cards and fractions.
    #[default]
    Any,
    /// Whole cards only.
    WholeOnly,
    /// Fractions only.
    FractionsOnly,
}

/// What offers to give; an empty set, or `None`, is no restriction.
#[derive(Debug, Clone, Default)]
pub struct OfferFilter {
    /// Clouds.
    pub clouds: BTreeSet<String>,
    /// Regions by code or name, or price areas (`mainland China`). Own machines pass: they are where the user is.
    pub regions: Vec<String>,
    /// Availabilities; empty means all but retired and not confirmed.
    pub availability: BTreeSet<Availability>,
    /// Ids of GPUs or fractions.
    pub gpus: BTreeSet<String>,
    /// Instance type names, without regard to case.
    pub instances: Vec<String>,
    /// Maker of the GPU.
    pub vendor: Option<Vendor>,
    /// Offers priced only in other currencies are left out; offers without a price stay.
    pub currency: Option<Currency>,
    /// Fewest GPUs in one machine.
    pub gpu_count_min: Option<u32>,
    /// Most GPUs in one machine.
    pub gpu_count_max: Option<u32>,
    /// Least marketed memory of one GPU or fraction.
    pub gpu_memory_min: Option<Bytes>,
    /// Charge types; prices of others are left out, and the offer stays without a price when nothing is left.
    pub charges: Vec<ChargeType>,
    /// Most for one hour of the whole machine. Dearer prices, prices in other currencies and offers without a price are
    /// left out: it cannot be said that they are cheap enough. A range passes by its lower end.
    pub hour_max: Option<Money>,
    /// Whether fractions are wanted.
    pub fractions: FractionFilter,
}

/// How the price of an offer can be learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HowToGetPrice {
    /// Ask Tencent Cloud: `InquiryPriceRunInstances`, or `DescribeZoneInstanceConfigInfos` for all types of a zone.
    TencentInquiry,
    /// Import a price list of the cloud (its own, or SkyPilot's).
    ImportPriceList,
    /// State the machine's cost in the workload file or the machines file.
    StateOwnCost,
}

impl HowToGetPrice {
    /// Id of its words in the message catalogue.
    #[must_use]
    pub fn text_id(self) -> &'static str {
        match self {
            Self::TencentInquiry => "price-how-tencent-inquiry",
            Self::ImportPriceList => "price-how-import-price-list",
            Self::StateOwnCost => "price-how-state-own-cost",
        }
    }

    fn of(cloud: &str) -> Self {
        match cloud {
            "own" => Self::StateOwnCost,
            cloud if cloud.starts_with("tencent") => Self::TencentInquiry,
            _ => Self::ImportPriceList,
        }
    }
}

/// One instance type in one region, or in several regions at the same prices.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer<'c> {
    /// The instance type.
    pub instance: &'c InstanceType,
    /// Its GPU, or fraction of one.
    pub gpu: &'c Gpu,
    /// The region, or the price area (`mainland China`) when its regions cost the same; empty when no source names one.
    pub region: String,
    /// Codes of the regions that the offer stands for; empty when no source names them.
    pub regions: Vec<String>,
    /// Prices, by charge type; empty when none is known.
    pub prices: Vec<&'c Price>,
    /// Set when `prices` is empty.
    pub how_to_get_price: Option<HowToGetPrice>,
}

/// Where a price holds.
type PricesByRegion<'c> = BTreeMap<String, Vec<&'c Price>>;

impl Catalog {
    /// All offers that pass the filter, in catalog order (by cloud and instance type, then region).
    #[must_use]
    pub fn offers(&self, filter: &OfferFilter) -> Vec<Offer<'_>> {
        let wanted: Option<BTreeSet<String>> = (!filter.regions.is_empty())
            .then(|| filter.regions.iter().flat_map(|word| self.regions.wanted(word.trim())).collect());
        let mut offers = Vec::new();
        for instance in self.instances() {
            let Some(gpu) = self.gpu(&instance.gpu) else { continue };
            if passes(instance, gpu, filter) {
                self.offers_of(instance, gpu, filter, wanted.as_ref(), &mut offers);
            }
        }
        offers
    }

    fn offers_of<'c>(
        &'c self,
        instance: &'c InstanceType,
        gpu: &'c Gpu,
        filter: &OfferFilter,
        wanted: Option<&BTreeSet<String>>,
        offers: &mut Vec<Offer<'c>>,
    ) {
        let cloud = instance.cloud.as_str();
        let mut exact: PricesByRegion<'c> = BTreeMap::new();
        let mut areas: PricesByRegion<'c> = BTreeMap::new();
        let mut everywhere: Vec<&'c Price> = Vec::new();
        let mut regions: BTreeSet<String> = instance.regions.iter().cloned().collect();
        for price in self.prices_of(instance) {
            if price.region.is_empty() {
                everywhere.push(price);
            } else if self.regions.area(cloud, &price.region).is_some() {
                areas.entry(price.region.clone()).or_default().push(price);
            } else {
                let code = self.regions.code(cloud, &price.region).to_owned();
                regions.insert(code.clone());
                exact.entry(code).or_default().push(price);
            }
        }
        // Areas without any region of the instance stand for themselves; a machine without region or price too.
        let holds = |area: &str, code: &str| self.regions.area(cloud, area).is_some_and(|codes| codes.contains(code));
        let alone: Vec<String> =
            areas.keys().filter(|area| !regions.iter().any(|code| holds(area, code))).cloned().collect();
        if regions.is_empty() && alone.is_empty() {
            regions.insert(String::new());
        }
        let mut groups: Vec<(Vec<&'c Price>, Option<String>, Vec<String>)> = Vec::new();
        for code in &regions {
            if !code_passes(instance, code, wanted) {
                continue;
            }
            let mut prices = exact.get(code).cloned().unwrap_or_default();
            let mut area_of_all = None;
            for (area, more) in areas.iter().filter(|(area, _)| holds(area, code)) {
                // A price of the region itself outranks one of the whole area.
                let fitting = more.iter().filter(|price| !prices.iter().any(|own| own.charge == price.charge));
                let fitting: Vec<&Price> = fitting.copied().collect();
                if prices.is_empty() {
                    area_of_all = Some(area.clone());
                }
                prices.extend(fitting);
            }
            let own: Vec<ChargeType> = prices.iter().map(|price| price.charge).collect();
            prices.extend(everywhere.iter().filter(|price| !own.contains(&price.charge)));
            match groups.iter_mut().find(|(known, _, _)| same_prices(known, &prices)) {
                Some((_, _, codes)) => codes.push(code.clone()),
                None => groups.push((prices, area_of_all, vec![code.clone()])),
            }
        }
        for area in alone {
            let passes = wanted.is_none_or(|wanted| {
                let codes = self.regions.area(cloud, &area);
                codes.is_some_and(|codes| codes.iter().any(|code| wanted.contains(code)))
            });
            if passes {
                groups.push((areas.get(&area).cloned().unwrap_or_default(), Some(area), Vec::new()));
            }
        }
        for (prices, area, mut codes) in groups {
            let had_prices = !prices.is_empty();
            let in_currency: Vec<&Price> = prices
                .into_iter()
                .filter(|price| filter.currency.is_none_or(|currency| price.amount.currency() == currency))
                .collect();
            if had_prices && in_currency.is_empty() {
                continue;
            }
            let mut prices: Vec<&Price> = in_currency
                .into_iter()
                .filter(|price| filter.charges.is_empty() || filter.charges.contains(&price.charge))
                .filter(|price| filter.hour_max.is_none_or(|max| is_at_most(price, max)))
                .collect();
            if filter.hour_max.is_some() && prices.is_empty() {
                continue;
            }
            prices.sort_by(|a, b| a.charge.cmp(&b.charge).then_with(|| a.amount.currency().cmp(&b.amount.currency())));
            codes.retain(|code| !code.is_empty());
            offers.push(Offer {
                instance,
                gpu,
                region: label(area, &codes, wanted.is_some()),
                how_to_get_price: prices.is_empty().then(|| HowToGetPrice::of(cloud)),
                regions: codes,
                prices,
            });
        }
    }
}

/// Regions that a label names before it counts the rest.
const REGIONS_NAMED_MAX: usize = 2;

/// The area's name, unless the user asked for certain regions; else the regions, the first by name.
fn label(area: Option<String>, codes: &[String], is_narrowed: bool) -> String {
    match area {
        Some(area) if !is_narrowed || codes.is_empty() => area,
        _ => {
            let named: Vec<&str> = codes.iter().take(REGIONS_NAMED_MAX).map(String::as_str).collect();
            let more = codes.len().saturating_sub(REGIONS_NAMED_MAX);
            let tail = if more > 0 { format!(" +{more}") } else { String::new() };
            format!("{}{tail}", named.join(", "))
        }
    }
}

fn is_at_most(price: &Price, max: Money) -> bool {
    price.per(Period::Hour).is_some_and(|(low, _)| low.compare(max).is_some_and(std::cmp::Ordering::is_le))
}

fn same_prices(left: &[&Price], right: &[&Price]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| std::ptr::eq(*a, *b))
}

/// Own machines are wherever the user is; an offer without a region passes only where none is asked for.
fn code_passes(instance: &InstanceType, code: &str, wanted: Option<&BTreeSet<String>>) -> bool {
    instance.availability == Availability::Owned
        || wanted.is_none_or(|wanted| wanted.iter().any(|each| each.eq_ignore_ascii_case(code)))
}

fn passes(instance: &InstanceType, gpu: &Gpu, filter: &OfferFilter) -> bool {
    let availability = if filter.availability.is_empty() {
        !matches!(instance.availability, Availability::Retired | Availability::NotConfirmed)
    } else {
        filter.availability.contains(&instance.availability)
    };
    let fraction = match filter.fractions {
        FractionFilter::Any => true,
        FractionFilter::WholeOnly => gpu.fraction.is_none(),
        FractionFilter::FractionsOnly => gpu.fraction.is_some(),
    };
    availability
        && fraction
        && (filter.clouds.is_empty() || filter.clouds.iter().any(|cloud| cloud.eq_ignore_ascii_case(&instance.cloud)))
        && (filter.gpus.is_empty() || filter.gpus.contains(&gpu.id))
        && (filter.instances.is_empty()
            || filter.instances.iter().any(|name| name.eq_ignore_ascii_case(&instance.name)))
        && filter.vendor.is_none_or(|vendor| gpu.vendor == vendor)
        && filter.gpu_count_min.is_none_or(|min| instance.gpu_count >= min)
        && filter.gpu_count_max.is_none_or(|max| instance.gpu_count <= max)
        && filter.gpu_memory_min.is_none_or(|min| gpu.memory >= min)
}
