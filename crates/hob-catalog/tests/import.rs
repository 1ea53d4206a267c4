//! A user's own files: what they add, what they replace, and how a wrong one is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::collections::BTreeSet;

use hob_catalog::{
    Catalog, CatalogError, ChargeType, FILE_BYTES_MAX, HowToGetPrice, ImportReport, OfferFilter, Overlay, PriceAmount,
    files, price_list,
};
use proptest::prelude::*;

fn read(text: &str) -> Result<(Overlay, ImportReport), CatalogError> {
    Overlay::read(Catalog::embedded(), "mine.csv", text, "mycloud")
}

/// Real rows of SkyPilot's catalogs (AWS v8 form), with two zones of one region.
const SKYPILOT: &str = "\
InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone,Arch
p4de.24xlarge,A100-80GB,8.0,96.0,1152.0,\"{'Gpus': [{'Name': 'A100-80GB', 'Manufacturer': 'NVIDIA', 'Count': 8.0, \
'MemoryInfo': {'SizeInMiB': 81920}}], 'TotalGpuMemoryInMiB': 655360}\",40.96,13.10,eu-test-1,eu-test-1a,x86_64
p4de.24xlarge,A100-80GB,8.0,96.0,1152.0,\"{'Gpus': [{'Name': 'A100-80GB', 'Manufacturer': 'NVIDIA', 'Count': 8.0, \
'MemoryInfo': {'SizeInMiB': 81920}}], 'TotalGpuMemoryInMiB': 655360}\",40.96,16.60,eu-test-1,eu-test-1b,x86_64
m5.large,,,2.0,8.0,,0.096,0.035,eu-test-1,eu-test-1a,x86_64
trn1.2xlarge,Trainium,1.0,8.0,32.0,,1.34,,eu-test-1,eu-test-1a,x86_64
,V100,1.0,,,,2.48,0.74,eu-test-1,eu-test-1a,
nv6,A10,0.167,6.0,55.0,\"{'Gpus': [{'MemoryInfo': {'SizeInMiB': 4096}}]}\",0.454,0,eu-test-1,eu-test-1a,x86_64
big,A100,1.0,12.0,85.0,\"{'Gpus': [{'MemoryInfo': {'SizeInMiB': 81920}}]}\",3.0,,eu-test-1,,x86_64
";

#[test]
fn a_skypilot_catalog_is_read_in_its_real_form() {
    let (overlay, report) = read(SKYPILOT).unwrap();
    assert_eq!((report.rows, report.instances, report.prices), (7, 3, 4));
    assert_eq!((report.rows_without_gpu, report.rows_without_instance, report.prices_zero), (1, 1, 1));
    assert_eq!(report.unknown_accelerators.get("Trainium"), Some(&1));
    let gpus: Vec<&str> = overlay.instances.iter().map(|instance| instance.gpu.as_str()).collect();
    assert_eq!(gpus, ["a100-sxm-80", "a10-1of6", "a100-sxm-80"]);
    let catalog = Catalog::embedded().clone().with_overlay(overlay);
    let offers = catalog.offers(&OfferFilter { clouds: ["mycloud".into()].into(), ..OfferFilter::default() });
    assert_eq!(offers.len(), 3);
    let spot = offers[0].prices.iter().find(|price| price.charge == ChargeType::Spot).unwrap();
    let PriceAmount::Range { low, high } = spot.amount else { panic!("zones differ: {spot:?}") };
    assert_eq!((low.to_string().as_str(), high.to_string().as_str()), ("USD 13.10", "USD 16.60"));
    let on_demand = offers[0].prices.iter().find(|price| price.charge == ChargeType::PayAsYouGo).unwrap();
    assert!(matches!(on_demand.amount, PriceAmount::Exact(_)));
}

#[test]
fn embedded_skypilot_rows_mean_the_same_without_our_columns() {
    // An importer's own judgement of the board must agree with what the embedded files state.
    let stated = Catalog::embedded();
    for cloud in ["aws", "gcp", "nebius"] {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/catalog/skypilot/");
        let text = std::fs::read_to_string(format!("{root}{cloud}.csv")).unwrap();
        let text = text.replacen(",Gpu,GpuLink,", ",Ignored,Ignored2,", 1);
        let (overlay, report) = Overlay::read(stated, "x.csv", &text, "other").unwrap();
        assert!(report.unknown_accelerators.is_empty(), "{report:?}");
        for instance in &overlay.instances {
            let known = stated.instance(cloud, &instance.name).unwrap();
            assert_eq!(instance.gpu, known.gpu, "{}", instance.name);
        }
    }
}

#[test]
fn a_price_list_replaces_the_price_of_the_same_region_and_charge_type() {
    let (overlay, _) = read(
        "cloud,instance,region,charge,price,currency,per,date,source\n\
         tencent,GN7.2XLARGE32,ap-guangzhou,on-demand,5.5,CNY,hour,2026-11-01,our contract\n\
         tencent,PNV4.7XLARGE116,Guangzhou,monthly,4000,CNY,month,2026-11-01,our contract\n",
    )
    .unwrap();
    let catalog = Catalog::embedded().clone().with_overlay(overlay);
    let filter = OfferFilter {
        regions: vec!["ap-guangzhou".into()],
        clouds: ["tencent".into()].into(),
        ..OfferFilter::default()
    };
    let offers = catalog.offers(&filter);
    let prices = |name: &str| offers.iter().find(|offer| offer.instance.name == name).unwrap().prices.clone();
    let gn7 = prices("GN7.2XLARGE32");
    let on_demand: Vec<_> = gn7.iter().filter(|price| price.charge == ChargeType::PayAsYouGo).collect();
    assert_eq!(on_demand.len(), 1, "the own price outranks the area's: {gn7:?}");
    assert_eq!(on_demand[0].provenance.source, "our contract");
    assert!(gn7.iter().any(|price| price.charge == ChargeType::Monthly), "the list's monthly price stays");
    assert_eq!(prices("PNV4.7XLARGE116").len(), 1);
    // Elsewhere on the mainland the list price stays.
    let elsewhere = catalog.offers(&OfferFilter { regions: vec!["ap-nanjing".into()], ..filter });
    let gn7 = elsewhere.iter().find(|offer| offer.instance.name == "GN7.2XLARGE32").unwrap();
    assert!(gn7.prices.iter().all(|price| price.provenance.source != "our contract"));
}

/// A type that the catalog lacks, in two regions, a fraction, and a contract for a known type.
const PRICE_LIST: &str = "\
cloud,instance,gpu,gpu_count,gpu_share_percent,gpu_share_memory_gib,vcpus,memory_gib,region,charge,price,low,high,currency,per,source,date
acme,x8,H100,8,,,192,2048,east,on-demand,23.60,,,USD,hour,acme.example/prices,2026-11-01
acme,x8,H100,8,,,192,2048,west,reserved-12,,120000,130000,USD,year,acme.example/prices,2026-11-01
acme,x8,H100,8,,,192,2048,north,,,,,,,acme.example/prices,2026-11-01
acme,slice,L20,1,20,10,8,32,east,spot,0.35,,,USD,hour,acme.example/prices,2026-11-01
tencent,GT4.4XLARGE96,,,,,,,Guangzhou,monthly,9000,,,CNY,month,our contract,2026-11-01
";

#[test]
fn a_price_list_may_bring_its_machines() {
    let (overlay, report) = read(PRICE_LIST).unwrap();
    assert_eq!((report.instances, report.prices, report.gpus), (2, 4, 1));
    assert_eq!(report.regions_new.iter().map(String::as_str).collect::<Vec<_>>(), ["east", "north", "west"]);
    let catalog = Catalog::embedded().clone().with_overlay(overlay);
    let offers = catalog.offers(&OfferFilter { clouds: ["acme".into()].into(), ..OfferFilter::default() });
    assert_eq!(offers.iter().filter(|offer| offer.instance.name == "x8").count(), 3, "three regions");
    let unpriced = offers.iter().find(|offer| offer.region == "north").unwrap();
    assert_eq!(
        (unpriced.gpu.id.as_str(), unpriced.how_to_get_price),
        ("h100-sxm", Some(HowToGetPrice::ImportPriceList))
    );
    let slice = catalog.gpu("l20-20pct").unwrap();
    assert_eq!((slice.fraction.as_ref().unwrap().parent.as_str(), slice.memory.as_gib()), ("l20", 10.0));
    let error = read(&format!("{PRICE_LIST}acme,x8,H200,8,,,,,south,,,,,,,,\n")).unwrap_err();
    assert!(error.to_string().contains("earlier row"), "{error}");
}

#[test]
fn a_price_without_a_region_holds_where_no_other_is_stated() {
    let (overlay, _) = read(
        "cloud,instance,gpu,gpu_count,region,charge,price,currency,per\n\
         acme,x1,L20,1,east,on-demand,9,USD,hour\n\
         acme,x1,L20,1,west,,,,\n\
         acme,x1,L20,1,,on-demand,7,USD,hour\n\
         acme,x1,L20,1,,spot,2,USD,hour\n",
    )
    .unwrap();
    let catalog = Catalog::embedded().clone().with_overlay(overlay);
    let prices = |region: &str| -> Vec<String> {
        let filter =
            OfferFilter { clouds: ["acme".into()].into(), regions: vec![region.into()], ..OfferFilter::default() };
        let offers = catalog.offers(&filter);
        offers.iter().flat_map(|offer| &offer.prices).map(|price| price.amount.to_string()).collect()
    };
    assert_eq!(prices("east"), ["USD 9.00", "USD 2.00"]);
    assert_eq!(prices("west"), ["USD 7.00", "USD 2.00"]);
}

#[test]
fn what_is_written_reads_back_the_same() {
    let check = |text: &str| {
        let (first, _) = read(text).unwrap();
        let written = price_list(Catalog::embedded(), &first).unwrap();
        let (second, _) = read(&written).unwrap();
        assert_eq!(first.gpus, second.gpus, "{written}");
        assert_eq!(first.instances.len(), second.instances.len());
        for (a, b) in first.instances.iter().zip(&second.instances) {
            assert_eq!((&a.name, &a.gpu, a.gpu_count, a.vcpus), (&b.name, &b.gpu, b.gpu_count, b.vcpus));
            assert_eq!((a.memory, a.network, a.availability), (b.memory, b.network, b.availability));
            assert_eq!(a.regions.iter().collect::<BTreeSet<_>>(), b.regions.iter().collect::<BTreeSet<_>>());
        }
        let prices =
            |overlay: &Overlay| overlay.prices.iter().map(|price| format!("{price:?}")).collect::<BTreeSet<_>>();
        assert_eq!(prices(&first), prices(&second));
        assert_eq!(written, price_list(Catalog::embedded(), &second).unwrap(), "writing twice writes the same");
    };
    check(SKYPILOT);
    check(PRICE_LIST);
    check(
        "name,gpu,gpu_count,gpu_share_percent,gpu_share_memory_gib,cost,currency,per\nshared,L20,1,25,12,3,CNY,hour\n",
    );
    for cloud in ["aws", "azure", "gcp", "alibaba", "nebius", "lambda"] {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/catalog/skypilot/");
        check(&std::fs::read_to_string(format!("{root}{cloud}.csv")).unwrap());
    }
    let (gpu, _) = read("id,memory_gib,source\nx100,128,mine\n").unwrap();
    assert!(price_list(Catalog::embedded(), &gpu).is_err(), "a price list has no place for a GPU");
}

#[test]
fn a_newer_list_of_a_known_machine_keeps_what_it_does_not_state() {
    let text = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region\n\
                p5.48xlarge,H100,8.0,192.0,2048.0,,55.04,,us-east-1\n";
    let known = Catalog::embedded().instance("aws", "p5.48xlarge").unwrap();
    let (overlay, _) = Overlay::read(Catalog::embedded(), "vms.csv", text, "aws").unwrap();
    let catalog = Catalog::embedded().clone().with_overlay(overlay);
    let laid = catalog.instance("aws", "p5.48xlarge").unwrap();
    assert!(known.network.is_some());
    assert_eq!(
        (laid.network, laid.gpu_link, laid.provenance.source.as_str()),
        (known.network, known.gpu_link, "vms.csv:2")
    );
}

#[test]
fn own_machines_have_the_cost_that_is_stated_and_no_other() {
    let (overlay, _) = read(
        "name,gpu,gpu_count,vcpus,memory_gib,cost,currency,per,purchase_price,lifetime_months,power_w,electricity_kwh\n\
         rack-a,RTX 4090,8,96,512,,CNY,,300000,48,4000,0.8\n\
         rack-b,A100-80GB,8,128,1024,90000,CNY,month,,,,\n\
         rack-c,T4,2,,,,,,,,,\n",
    )
    .unwrap();
    let catalog = Catalog::embedded().clone().with_overlay(overlay);
    let offers = catalog.offers(&OfferFilter {
        clouds: ["own".into()].into(),
        regions: vec!["ap-guangzhou".into()],
        ..OfferFilter::default()
    });
    assert_eq!(offers.len(), 3, "own machines are wherever the user is");
    // 300000 / (48 * 730.485) + 4 kW * 0.8 = 8.556 + 3.2.
    let hour = offers[0].prices[0].amount.low().as_f64_for_score();
    assert!((hour - 11.756).abs() < 0.001, "{hour}");
    assert_eq!(offers[0].prices[0].charge, ChargeType::Owned);
    assert!(offers[2].prices.is_empty());
    assert_eq!(offers[2].how_to_get_price, Some(HowToGetPrice::StateOwnCost));
}

#[test]
fn a_share_of_an_own_card_is_an_offer_of_its_own() {
    let (overlay, _) = read("name,gpu,gpu_count,gpu_share_percent,gpu_share_memory_gib\nshared,L20,1,25,12\n").unwrap();
    let catalog = Catalog::embedded().clone().with_overlay(overlay);
    let gpu = catalog.gpu("l20-qgpu-25pct-12gib").unwrap();
    let whole = catalog.gpu("l20").unwrap();
    assert!((gpu.memory_bandwidth.unwrap().0 / whole.memory_bandwidth.unwrap().0 - 0.25).abs() < 1e-9);
    assert_eq!(catalog.offers(&OfferFilter { clouds: ["own".into()].into(), ..OfferFilter::default() }).len(), 1);
    let wrong = read("name,gpu,gpu_count,gpu_share_percent,gpu_share_memory_gib\nshared,L20,1,33,12\n").unwrap_err();
    assert!(wrong.to_string().contains("steps of 5%"), "{wrong}");
}

#[test]
fn a_gpu_row_and_an_instance_row_add_to_the_catalog() {
    let (overlay, _) = read(
        "id,name,vendor,architecture,compute_capability,memory_gib,mem_bw_gbs,bf16_tflops,aliases,source\n\
         x100,X100,NVIDIA,Hopper,9.0,128,5000,1000,X-100 Ultra,my datasheet\n",
    )
    .unwrap();
    let catalog = Catalog::embedded().clone().with_overlay(overlay);
    assert_eq!(catalog.resolve_gpu("X-100 ultra").unwrap().id, "x100");
    assert_eq!(catalog.resolve_gpu("X100 128GB").unwrap().id, "x100");
    let text = "cloud,instance_type,gpu,gpu_count,vcpu,memory_gib,regions\nmycloud,x.8,x100,8,64,512,eu-1|eu-2\n";
    let (overlay, _) = Overlay::read(&catalog, "mine.csv", text, "").unwrap();
    let catalog = catalog.with_overlay(overlay);
    let offers = catalog.offers(&OfferFilter { clouds: ["mycloud".into()].into(), ..OfferFilter::default() });
    assert_eq!((offers.len(), offers[0].region.as_str()), (1, "eu-1, eu-2"));
    assert_eq!(offers[0].how_to_get_price, Some(HowToGetPrice::ImportPriceList));
}

#[test]
fn a_wrong_file_is_refused_with_line_column_and_expectation() {
    let check = |text: &str, code: &str, parts: &[&str]| {
        let error = read(text).expect_err(text);
        assert_eq!(error.code(), code, "{error}");
        for part in parts {
            assert!(error.to_string().contains(part), "no `{part}` in: {error}");
        }
    };
    let prices = "cloud,instance,region,charge,price,currency,per\n";
    let price = |row: &str| format!("{prices}{row}\n");
    check("", "catalog-empty", &["mine.csv"]);
    check("\u{feff}  \n", "catalog-empty", &["mine.csv"]);
    check(prices, "catalog-empty", &["no rows"]);
    check("a,b\n1,2\n", "catalog-unknown-form", &["a,b"]);
    check("cloud,charge,currency\nx,y,z\n", "catalog-missing-column", &["instance"]);
    let bad = [
        ("tencent,GN7.2XLARGE32,r,on-demand,0,CNY,hour", "2: price: `0` is not an amount above 0"),
        ("tencent,GN7.2XLARGE32,r,on-demand,-1,CNY,hour", "2: price: `-1`"),
        ("tencent,GN7.2XLARGE32,r,on-demand,NaN,CNY,hour", "2: price: `NaN`"),
        ("tencent,GN7.2XLARGE32,r,on-demand,1e30,CNY,hour", "2: price: `1e30`"),
        ("tencent,GN7.2XLARGE32,r,on-demand,5,yuan,hour", "2: currency: `yuan`"),
        ("tencent,GN7.2XLARGE32,r,on-demand,5,RMB,hour", "did you mean `CNY`"),
        ("tencent,GN7.2XLARGE32,r,on-demand,5,usd,hour", "did you mean `USD`"),
        ("tencent,GN7.2XLARGE32,r,on-demand,5,CNY,fortnight", "2: per: `fortnight`"),
        ("tencent,GN7.2XLARGE32,r,sometimes,5,CNY,hour", "2: charge: `sometimes`"),
        ("tencent,GN7.2XLARGE33,r,on-demand,5,CNY,hour", "did you mean `GN7.2XLARGE32`"),
        ("tencent,GN7.2XLARGE32,r,on-demand,5,CNY", "a row of 7 values"),
        ("tencent,GN7.2XLARGE32,r,on-demand,5,CNY,\"hour", "mine.csv"),
    ];
    for (row, part) in bad {
        check(&price(row), "catalog-rows", &[part]);
    }
    let twice = "tencent,GN7.2XLARGE32,r,on-demand,5,CNY,hour\ntencent,GN7.2XLARGE32,r,on-demand,6,CNY,hour";
    check(&price(twice), "catalog-rows", &["3: instance"]);
    check("name,gpu,gpu_count\na,A10O,1\n", "catalog-rows", &["A10O"]);
    check("name,gpu,gpu_count\na,A10,0\n", "catalog-rows", &["2: gpu_count: `0`"]);
    check("name,gpu,gpu_count\na,A10,-3\n", "catalog-rows", &["2: gpu_count: `-3`"]);
    check("id,memory_gib,source\nX 1,80,s\n", "catalog-rows", &["2: id"]);
    check("id,memory_gib,source\nx1,inf,s\n", "catalog-rows", &["2: memory_gib: `inf`"]);
    check("id,memory_gib,source\nx1,0,s\n", "catalog-rows", &["2: memory_gib"]);
    check("id,memory_gib,source\nx1,80,s\nx1,80,s\n", "catalog-rows", &["3: id"]);
    check("id,memory_gib,source,parent_id,fraction\nx1,8,s,a11,0.5\n", "catalog-rows", &["did you mean"]);
    check("cloud,instance_type,gpu,gpu_count\nc,i,a1O,1\n", "catalog-rows", &["2: gpu: `a1O`", "did you mean"]);
    let open_quote = "cloud,instance,region,charge,price,currency,per,note\n\
                      tencent,GN7.2XLARGE32,r,on-demand,5,CNY,hour,\"cut\ntencent,GN7.2XLARGE32,q,on-demand,5,CNY,hour,x\n";
    check(open_quote, "catalog-rows", &["quote left open"]);
}

#[test]
fn the_first_errors_are_kept_and_the_rest_counted() {
    let mut text = "cloud,instance,region,charge,price,currency,per\n".to_owned();
    for _ in 0..500 {
        text.push_str("tencent,GN7.2XLARGE32,r,on-demand,-1,CNY,hour\n");
    }
    let CatalogError::Rows { count, errors, .. } = read(&text).unwrap_err() else { panic!("rows") };
    assert_eq!((count, errors.len()), (500, 20));
}

#[test]
fn files_that_are_no_text_or_not_there_name_their_path() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::embedded();
    let path = folder.path().join("none.csv");
    let error = files::read_overlay(catalog, &path, None).unwrap_err();
    assert!(error.to_string().contains("none.csv"), "{error}");
    std::fs::write(&path, b"id,memory_gib\nx,\xff\xfe\n").unwrap();
    let error = files::read_overlay(catalog, &path, None).unwrap_err();
    assert!(matches!(error, CatalogError::NotText { line: 2, .. }), "{error}");
    let error = files::read_overlay(catalog, folder.path(), None).unwrap_err();
    assert_eq!(error.code(), "catalog-io");
    let huge = std::io::repeat(b'x');
    let error = files::read_text("endless", huge).unwrap_err();
    assert!(matches!(error, CatalogError::TooLarge { limit_mib, .. } if limit_mib == FILE_BYTES_MAX >> 20));
    let clouds = folder.path().join("nebius");
    std::fs::create_dir(&clouds).unwrap();
    let path = clouds.join("vms.csv");
    std::fs::write(&path, SKYPILOT).unwrap();
    let (overlay, _) = files::read_overlay(catalog, &path, None).unwrap();
    assert!(overlay.instances.iter().all(|instance| instance.cloud == "nebius"));
}

const HEADERS: &[&str] = &[
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Price,SpotPrice,Region",
    "cloud,instance,region,charge,price,currency,per,gpu,gpu_count",
    "name,gpu,gpu_count,cost,currency,per,purchase_price,lifetime_months",
    "id,memory_gib,source,mem_bw_gbs,parent_id,fraction,fraction_kind",
    "cloud,instance_type,gpu,gpu_count,vcpu,memory_gib,regions,rdma_gbps",
];

fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("A100".to_owned()),
        Just("a10".to_owned()),
        Just("tencent".to_owned()),
        Just("GN7.2XLARGE32".to_owned()),
        Just("USD".to_owned()),
        Just("hour".to_owned()),
        Just("spot".to_owned()),
        Just("NaN".to_owned()),
        any::<f64>().prop_map(|number| number.to_string()),
        (0_u32..64).prop_map(|number| number.to_string()),
        "\\PC{0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_makes_a_reader_panic(text in "\\PC{0,400}") {
        let _ = read(&text);
    }

    #[test]
    fn what_is_taken_is_whole(header in prop::sample::select(HEADERS), rows in prop::collection::vec(prop::collection::vec(cell(), 9), 0..12)) {
        let width = header.split(',').count();
        let mut text = format!("{header}\n");
        for row in &rows {
            let cells: Vec<String> = row.iter().take(width).map(|c| format!("\"{}\"", c.replace('"', "\"\""))).collect();
            text.push_str(&cells.join(","));
            text.push('\n');
        }
        if let Ok((overlay, _)) = read(&text) {
            for price in &overlay.prices {
                prop_assert!(price.amount.low().amount > rust_decimal::Decimal::ZERO);
                prop_assert!(price.amount.low().amount <= price.amount.high().amount);
                prop_assert_eq!(price.amount.low().currency, price.amount.high().currency);
            }
            for gpu in &overlay.gpus {
                prop_assert!(gpu.memory.0 > 0);
                prop_assert!(gpu.memory_bandwidth.is_none_or(|rate| rate.0.is_finite() && rate.0 > 0.0));
            }
            let catalog = Catalog::embedded().clone().with_overlay(overlay.clone());
            if let Ok(written) = price_list(Catalog::embedded(), &overlay) && !overlay.is_empty() {
                let (again, _) = read(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
                let amounts = |overlay: &Overlay| overlay.prices.iter().map(|each| each.amount.to_string()).collect::<BTreeSet<_>>();
                prop_assert_eq!(amounts(&again), amounts(&overlay));
            }
            for instance in &overlay.instances {
                prop_assert!(instance.gpu_count > 0);
                prop_assert!(catalog.gpu(&instance.gpu).is_some());
            }
            for offer in catalog.offers(&OfferFilter::default()) {
                prop_assert_eq!(offer.prices.is_empty(), offer.how_to_get_price.is_some());
            }
        }
    }

    #[test]
    fn no_name_makes_a_lookup_panic(name in "\\PC{0,60}") {
        let _ = Catalog::embedded().resolve_gpu(&name);
        let _ = Catalog::embedded().resolve_instance(&name);
        let _ = Catalog::embedded().resolve_region(&name);
    }
}
