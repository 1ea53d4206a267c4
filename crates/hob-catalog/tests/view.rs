//! What `hob catalog` lists, shows and compares.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use hob_catalog::view::{CompareError, Entry, GpuFilter, SortBy, compare, list_gpus, list_offers, show};
use hob_catalog::{Answer, Catalog, Compat, Feature, FractionFilter, GpuArchitecture, OfferFilter};
use hob_units::gib;

#[test]
fn gpus_are_filtered_and_sorted() {
    let (catalog, compat) = (Catalog::embedded(), Compat::embedded());
    let offers = OfferFilter { clouds: ["tencent".into()].into(), ..OfferFilter::default() };
    let filter = GpuFilter { offers: Some(offers), fractions: FractionFilter::WholeOnly, ..GpuFilter::default() };
    let rows = list_gpus(catalog, compat, &filter, SortBy::Memory);
    assert_eq!(rows[0].id, "h20");
    let t4 = rows.iter().find(|row| row.id == "t4").unwrap();
    assert_eq!(t4.gpu_hour_min.len(), 1, "Tencent's mainland prices are in one currency: {t4:?}");
    let fp8 = GpuFilter {
        supports: vec![Feature::Fp8, Feature::FlashAttention2],
        architectures: [GpuArchitecture::Ada, GpuArchitecture::Ampere].into(),
        memory_min: Some(gib(48.0)),
        ..GpuFilter::default()
    };
    let rows = list_gpus(catalog, compat, &fp8, SortBy::Name);
    assert!(rows.iter().any(|row| row.id == "l20") && rows.iter().all(|row| row.architecture == GpuArchitecture::Ada));
    let fractions = GpuFilter { fractions: FractionFilter::FractionsOnly, ..GpuFilter::default() };
    assert!(list_gpus(catalog, compat, &fractions, SortBy::Name).iter().all(|row| row.share.is_some()));
}

#[test]
fn offers_sorted_by_price_rank_each_currency_apart_and_the_unpriced_last() {
    let rows = list_offers(Catalog::embedded(), &OfferFilter::default(), SortBy::Price);
    let first_unpriced = rows.iter().position(|row| row.prices.is_empty()).unwrap();
    assert!(rows[first_unpriced..].iter().all(|row| row.prices.is_empty() && row.how_to_get_price.is_some()));
    let currencies: Vec<String> =
        rows[..first_unpriced].iter().map(|row| row.prices[0].amount.currency().to_string()).collect();
    let changes = currencies.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(changes, 1, "CNY, then USD");
}

#[test]
fn a_highest_price_leaves_out_what_is_dearer_unknown_or_in_another_currency() {
    let max = "CNY 10".parse().unwrap();
    let filter = OfferFilter { hour_max: Some(max), ..OfferFilter::default() };
    let rows = list_offers(Catalog::embedded(), &filter, SortBy::Price);
    assert!(!rows.is_empty());
    for price in rows.iter().flat_map(|row| &row.prices) {
        assert!(price.hour_low.unwrap().compare(max).unwrap().is_le(), "{price:?}");
    }
    assert!(rows.iter().all(|row| !row.prices.is_empty()));
}

#[test]
fn an_entry_shows_every_fact_with_its_source() {
    let catalog = Catalog::embedded();
    let Entry::Gpu(gpu) = show(catalog, Compat::embedded(), "T4").unwrap() else { panic!("a GPU") };
    assert!(gpu.other_facts.iter().any(|(column, value)| column == "chip" && value == "TU104"));
    assert!(gpu.fractions.contains(&"t4-1of4".to_owned()));
    let bf16 = gpu.features.iter().find(|row| row.feature == "bf16").unwrap();
    assert_eq!((bf16.answer, bf16.needs.as_deref()), (Answer::No, Some("compute_capability >= 8.0")));
    assert!(!bf16.provenance.as_ref().unwrap().source.is_empty());
    assert!(gpu.cuda_last.is_some() && gpu.driver_for_cuda_last.is_some());
    let Entry::Instance(instance) = show(catalog, Compat::embedded(), "GN7.2XLARGE32").unwrap() else { panic!() };
    assert_eq!(instance.price_hints.len(), 1);
    assert!(instance.price_notes.iter().any(|note| note.instance == "*"));
    assert!(instance.other_facts.iter().any(|(column, _)| column == "zones"));
    assert!(serde_json::to_string(&Entry::Instance(instance)).unwrap().contains("\"kind\":\"instance\""));
    let Entry::Instance(retired) = show(catalog, Compat::embedded(), "GN2.7XLARGE56").unwrap() else { panic!() };
    assert!(!retired.offers.is_empty(), "what is retired is shown when it is asked for");
    let error = show(catalog, Compat::embedded(), "GN7.2XLARGE3").unwrap_err();
    assert!(error.did_you_mean.iter().any(|name| name == "GN7.2XLARGE32"), "{error:?}");
}

#[test]
fn two_of_one_kind_are_compared_field_by_field() {
    let catalog = Catalog::embedded();
    let both = compare(catalog, "A100-80GB", "H100").unwrap();
    let field = |id: &str| both.fields.iter().find(|field| field.field == id).unwrap();
    assert!((field("field-memory-bandwidth").ratio.unwrap() - 3350.0 / 2039.0).abs() < 1e-9);
    assert_eq!(field("field-peak:fp8").left, None);
    assert_eq!(field("field-peak:fp8").ratio, None);
    let both = compare(catalog, "GN7.2XLARGE32", "tencent-intl/GN7.2XLARGE32").unwrap();
    let hours: Vec<_> = both.fields.iter().filter(|field| field.field.starts_with("field-hour:on-demand")).collect();
    assert_eq!(hours.len(), 2, "one line for each currency");
    assert!(hours.iter().all(|field| field.ratio.is_none()));
    // CNY 6.51 of a T4 machine: 65 TFLOP/s, 16 GiB.
    let t4 = compare(catalog, "t4", "l20").unwrap();
    let price = |id: &str| {
        t4.fields
            .iter()
            .find(|field| field.field == id && field.left.as_ref().is_some_and(|left| left.starts_with("CNY")))
    };
    let number = |id: &str| price(id).unwrap().left.clone().unwrap().replace("CNY ", "").parse::<f64>().unwrap();
    let hour = number("field-gpu-hour:on-demand");
    assert!((number("field-gpu-hour-per-tflops:on-demand") / (hour / 65.0) - 1.0).abs() < 0.01);
    assert!((number("field-gpu-hour-per-gib:on-demand") / (hour / 16.0) - 1.0).abs() < 0.01);
    assert!(matches!(compare(catalog, "t4", "GN7.2XLARGE32"), Err(CompareError::TwoKinds { .. })));
    assert!(matches!(compare(catalog, "t4", "t44444444"), Err(CompareError::Unknown(_))));
}
