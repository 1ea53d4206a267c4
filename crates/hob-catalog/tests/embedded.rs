//! The compiled-in facts hold together.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use hob_catalog::{Availability, Catalog, ChargeType, ComputeType, HowToGetPrice, OfferFilter, PriceAmount};
use hob_units::{Currency, gib};

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

#[test]
fn every_embedded_row_parses() {
    assert_eq!(catalog().problems(), &[]);
    assert!(catalog().gpus().count() >= 120);
    assert!(catalog().instances().count() >= 280);
    assert!(catalog().prices().count() >= 850);
}

#[test]
fn every_instance_has_its_gpu_and_every_price_its_instance() {
    for instance in catalog().instances() {
        assert!(catalog().gpu(&instance.gpu).is_some(), "{}: {}", instance.name, instance.gpu);
        assert!(instance.gpu_count > 0, "{}", instance.name);
    }
    for price in catalog().prices() {
        assert!(catalog().instance(&price.cloud, &price.instance).is_some(), "{} {}", price.cloud, price.instance);
    }
}

#[test]
fn no_price_is_zero_and_no_range_mixes_currencies() {
    for price in catalog().prices() {
        assert!(price.amount.low().as_f64_for_score() > 0.0, "{price:?}");
        if let PriceAmount::Range { low, high } = price.amount {
            assert_eq!(low.currency, high.currency);
            assert!(low.amount < high.amount);
        }
        assert!(!price.provenance.source.is_empty() && !price.provenance.date.is_empty());
    }
}

#[test]
fn no_price_is_stated_twice() {
    let mut seen = BTreeSet::new();
    for price in catalog().prices() {
        assert!(seen.insert((&price.cloud, &price.instance, &price.region, price.charge)), "{price:?}");
    }
}

#[test]
fn resale_prices_are_hints_only() {
    assert!(catalog().prices().all(|price| price.cloud != "tencent-resale"));
    let instance = catalog().instance("tencent", "GN7.2XLARGE32").unwrap();
    assert_eq!(catalog().hints_of(instance).count(), 1);
}

#[test]
fn a_region_code_finds_the_mainland_price() {
    let filter = OfferFilter {
        regions: vec!["ap-guangzhou".into()],
        clouds: ["tencent".into()].into(),
        ..OfferFilter::default()
    };
    let offers = catalog().offers(&filter);
    let offer = offers.iter().find(|offer| offer.instance.name == "GT4.4XLARGE96").expect("the A100 machine");
    assert_eq!(offer.region, "ap-guangzhou");
    assert_eq!(offer.prices.len(), 2);
    assert!(offer.how_to_get_price.is_none());
    for word in ["Guangzhou", "广州", "mainland China"] {
        let offers = catalog().offers(&OfferFilter { regions: vec![word.into()], ..filter.clone() });
        assert!(offers.iter().any(|offer| offer.instance.name == "GT4.4XLARGE96" && offer.prices.len() == 2), "{word}");
    }
}

#[test]
fn offers_without_a_price_are_there_and_say_how_to_get_it() {
    let offers = catalog().offers(&OfferFilter::default());
    let pnv4 = offers.iter().find(|offer| offer.instance.name == "PNV4.7XLARGE116").unwrap();
    assert!(pnv4.prices.is_empty());
    assert_eq!(pnv4.how_to_get_price, Some(HowToGetPrice::TencentInquiry));
    // GN7 is priced on the mainland and not abroad: two offers.
    let gn7: Vec<_> =
        offers.iter().filter(|o| o.instance.name == "GN7.2XLARGE32" && o.instance.cloud == "tencent").collect();
    assert_eq!(gn7.iter().map(|offer| offer.prices.is_empty()).collect::<BTreeSet<_>>(), [false, true].into());
    assert!(gn7.iter().any(|offer| offer.region == "mainland China" && offer.regions.len() == 6));
    let retired = |a| matches!(a, Availability::Retired | Availability::NotConfirmed);
    assert!(offers.iter().all(|offer| !retired(offer.instance.availability)));
    assert!(offers.iter().all(|offer| offer.prices.is_empty() == offer.how_to_get_price.is_some()));
}

#[test]
fn the_international_site_is_a_cloud_of_its_own_in_its_own_currency() {
    let intl = catalog().offers(&OfferFilter { clouds: ["tencent-intl".into()].into(), ..OfferFilter::default() });
    assert!(!intl.is_empty());
    let currencies: BTreeSet<Currency> =
        intl.iter().flat_map(|offer| &offer.prices).map(|price| price.amount.currency()).collect();
    assert_eq!(currencies, [Currency::USD].into());
}

#[test]
fn a_currency_filter_leaves_one_currency_and_the_unpriced() {
    let offers = catalog().offers(&OfferFilter { currency: Some(Currency::CNY), ..OfferFilter::default() });
    assert!(offers.iter().flat_map(|offer| &offer.prices).all(|price| price.amount.currency() == Currency::CNY));
    assert!(offers.iter().any(|offer| offer.prices.is_empty()));
    assert!(offers.iter().all(|offer| offer.instance.cloud != "azure"));
}

#[test]
fn fractions_have_the_share_of_the_whole() {
    let check = |id: &str, parent: &str, compute: f64, memory_gib: f64, bandwidth_share: f64| {
        let gpu = catalog().gpu(id).unwrap_or_else(|| panic!("{id}"));
        let whole = catalog().gpu(parent).unwrap();
        let fraction = gpu.fraction.as_ref().unwrap();
        assert_eq!(fraction.parent, parent);
        assert!((fraction.compute.0 - compute).abs() < 1e-3, "{id}");
        assert_eq!(gpu.memory, gib(memory_gib), "{id}");
        let ratio = gpu.memory_bandwidth.unwrap().0 / whole.memory_bandwidth.unwrap().0;
        assert!((ratio - bandwidth_share).abs() < 1e-3, "{id}: {ratio}");
        let peak = gpu.peak(ComputeType::Fp16).unwrap().0 / whole.peak(ComputeType::Fp16).unwrap().0;
        assert!((peak - compute).abs() < 1e-3, "{id}: {peak}");
        assert!(gpu.provenance.note.as_ref().unwrap().contains("times the share"), "{id}");
    };
    check("t4-1of4", "t4", 0.25, 4.0, 0.25);
    check("a10-1of2", "a10", 0.5, 12.0, 0.5);
    check("a100-sxm-80-mig-1g.10gb", "a100-sxm-80", 1.0 / 7.0, 10.0, 0.125);
    check("a30-mig-2g.12gb", "a30", 0.5, 12.0, 0.5);
    let vgpu = catalog().instance("tencent", "GN7.LARGE20").unwrap();
    assert_eq!((vgpu.gpu.as_str(), vgpu.gpu_count), ("t4-1of4", 1));
    let azure = catalog().instance("azure", "Standard_NV6ads_A10_v5").unwrap();
    assert_eq!((azure.gpu.as_str(), azure.gpu_count), ("a10-1of6", 1));
}

#[test]
fn the_same_machine_costs_the_least_in_its_cheapest_charge_type() {
    // The two list prices of GN7.2XLARGE32 are ranges over the mainland's zones.
    let filter = OfferFilter {
        instances: vec!["gn7.2xlarge32".into()],
        clouds: ["tencent".into()].into(),
        ..OfferFilter::default()
    };
    let offers = catalog().offers(&filter);
    let charges: BTreeMap<ChargeType, PriceAmount> =
        offers.iter().flat_map(|offer| &offer.prices).map(|price| (price.charge, price.amount)).collect();
    let PriceAmount::Range { low, high } = charges[&ChargeType::PayAsYouGo] else { panic!("a range") };
    assert_eq!((low.to_string(), high.to_string()), ("CNY 7.81".into(), "CNY 8.68".into()));
    assert!(matches!(charges[&ChargeType::Monthly], PriceAmount::Range { .. }));
}
