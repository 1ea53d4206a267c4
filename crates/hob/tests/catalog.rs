//! `hob catalog` through the built binary: samples of what it prints in both languages, files of real and hostile form,
//! and price lists laid under a plan.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests read samples, write files and start the binary")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use textwrap::core::display_width;

/// Columns that every table and sentence fits.
const WIDTH_MAX: usize = 100;

/// A price list with a machine of its own, two regions, a range, a fraction and an unknown price.
const PRICE_LIST: &str = "\
cloud,instance,gpu,gpu_count,gpu_share_percent,gpu_share_memory_gib,vcpus,memory_gib,region,charge,price,low,high,currency,per,source,date
acme,x8,H100,8,,,192,2048,acme-east,on-demand,23.60,,,USD,hour,acme price page,2026-11-01
acme,x8,H100,8,,,192,2048,acme-west,reserved-12,,120000,130000,USD,year,acme price page,2026-11-01
acme,x8,H100,8,,,192,2048,acme-north,,,,,,,acme price page,2026-11-01
acme,slice,L20,1,20,10,8,32,acme-east,spot,0.35,,,USD,hour,acme price page,2026-11-01
";

/// Rows in the form of SkyPilot's own files: GpuInfo as Python prints it, zones apart, machines without a GPU.
const SKYPILOT: &str = "\
InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone,Arch
big.8,A100-80GB,8.0,96.0,1152.0,\"{'Gpus': [{'Name': 'A100-80GB', 'Manufacturer': 'NVIDIA', 'Count': 8.0, \
'MemoryInfo': {'SizeInMiB': 81920}}], 'TotalGpuMemoryInMiB': 655360}\",40.96,13.10,eu-test-1,eu-test-1a,x86_64
big.8,A100-80GB,8.0,96.0,1152.0,\"{'Gpus': [{'Name': 'A100-80GB', 'Manufacturer': 'NVIDIA', 'Count': 8.0, \
'MemoryInfo': {'SizeInMiB': 81920}}], 'TotalGpuMemoryInMiB': 655360}\",40.96,16.60,eu-test-1,eu-test-1b,x86_64
plain,,,2.0,8.0,,0.096,0.035,eu-test-1,eu-test-1a,x86_64
other,Trainium,1.0,8.0,32.0,,1.34,,eu-test-1,eu-test-1a,x86_64
";

fn hob(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hob")).args(arguments).current_dir(folder).output().unwrap()
}

/// Standard output of a command that succeeds.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = hob(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with the two files above.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("acme.csv"), PRICE_LIST).unwrap();
    std::fs::write(folder.path().join("vms.csv"), SKYPILOT).unwrap();
    folder
}

/// Compares what is printed with the sample; `HOB_BLESS=1` writes the sample.
fn check(name: &str, arguments: &[&str]) {
    let folder = folder();
    for language in ["en", "zh"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/catalog-{name}-{language}.txt"));
        let all = [&["catalog"], arguments, &["--lang", language]].concat();
        let printed = printed(folder.path(), &all);
        if std::env::var_os("HOB_BLESS").is_some() {
            std::fs::write(&path, &printed).unwrap();
        }
        assert_eq!(printed, std::fs::read_to_string(&path).unwrap(), "{arguments:?} in {language}\n{printed}");
    }
}

#[test]
fn samples_are_as_before() {
    check("list-gpus", &["list", "--gpu", "T4", "--gpu", "L20", "--gpu", "K80"]);
    check("list-instances", &["list", "instances", "--catalog", "acme.csv", "--cloud", "acme"]);
    check(
        "list-narrowed",
        &[
            "list",
            "instances",
            "--gpu",
            "t4",
            "--region",
            "ap-guangzhou",
            "--price-max",
            "CNY 12/hour",
            "--sort",
            "price",
        ],
    );
    check("show-gpu", &["show", "l20"]);
    check("show-instance", &["show", "tencent/GN7.LARGE20"]);
    check("compare-gpus", &["compare", "T4", "t4-1of4"]);
    check("compare-instances", &["compare", "GN7.2XLARGE32", "GN10Xp.2XLARGE40"]);
    check("import", &["import", "acme.csv", "vms.csv", "--cloud", "mycloud"]);
}

#[test]
fn every_table_fits_in_both_languages() {
    let folder = folder();
    for language in ["en", "zh"] {
        for arguments in [
            &["list"][..],
            &["list", "instances"],
            &["list", "instances", "--cloud", "alibaba"],
            &["show", "A100-80GB"],
            &["show", "mi300x"],
            &["show", "a100-sxm-80-mig-3g.40gb"],
            &["show", "nebius/gpu-h100-sxm_8gpu-128vcpu-1600gb"],
            &["compare", "a100-sxm-80-mig-3g.40gb", "MI300X"],
        ] {
            let printed = printed(folder.path(), &[&["catalog", "--lang", language], arguments].concat());
            for line in printed.lines() {
                assert!(display_width(line) <= WIDTH_MAX, "{arguments:?} in {language}: {line}");
                let has_missing_sentence = line.contains("{catalog") || line.contains("{field");
                assert!(!has_missing_sentence && line == line.trim_end(), "{arguments:?}: {line:?}");
            }
        }
    }
}

#[test]
fn json_is_one_versioned_document_with_the_same_figures() {
    let folder = folder();
    let json = |arguments: &[&str]| -> Value {
        let document: Value =
            serde_json::from_str(&printed(folder.path(), &[&["catalog", "--json"], arguments].concat())).unwrap();
        assert_eq!(document["schema"], "hob.catalog/1");
        document
    };
    let list = json(&["list", "--gpu", "t4-1of4"]);
    assert_eq!((&list["view"], &list["gpus"][0]["share"]), (&"gpus".into(), &0.25.into()));
    assert_eq!(list["gpus"][0]["memory_bytes"], 4_u64 << 30);
    let list = json(&["list", "instances", "--catalog", "acme.csv", "--cloud", "acme", "--charge", "spot"]);
    assert_eq!(list["offers"].as_array().unwrap().len(), 1);
    assert_eq!(list["offers"][0]["prices"][0]["amount"]["exact"]["amount"], "0.35");
    assert_eq!(list["left_out"]["unpriced"], 3, "an unknown price is counted, not dropped in silence");
    let entry = json(&["show", "GN7.2XLARGE32"]);
    assert_eq!(entry["entry"]["kind"], "instance");
    assert!(entry["entry"]["offers"].as_array().unwrap().iter().any(|offer| !offer["how_to_get_price"].is_null()));
    let both = json(&["compare", "T4", "L20"]);
    let ratio = |field: &str| {
        let fields = both["fields"].as_array().unwrap();
        fields.iter().find(|each| each["field"] == field).unwrap()["ratio"].as_f64().unwrap()
    };
    assert!((ratio("field-memory") - 3.0).abs() < 1e-9);
    let import = json(&["import", "vms.csv", "--cloud", "x"]);
    assert_eq!((&import["files"][0]["rows"], &import["prices"]), (&4.into(), &2.into()));
}

#[test]
fn what_import_writes_is_a_catalog_file() {
    let folder = folder();
    let arguments = ["catalog", "import", "vms.csv", "acme.csv", "--cloud", "mycloud", "--date", "2026-11-30"];
    printed(folder.path(), &[&arguments[..], &["--out", "own.csv"]].concat());
    let written = std::fs::read_to_string(folder.path().join("own.csv")).unwrap();
    assert!(written.contains("mycloud,big.8,a100-sxm-80,") && written.contains(",2026-11-30,"), "{written}");
    let listed = |file: &str| {
        let listed =
            printed(folder.path(), &["catalog", "list", "instances", "--catalog", file, "--gpu", "H100", "--json"]);
        serde_json::from_str::<Value>(&listed).unwrap()["offers"].clone()
    };
    assert_eq!(listed("own.csv"), listed("acme.csv"));
    // A file that is there stays as it is.
    let again = hob(folder.path(), &["catalog", "import", "acme.csv", "--out", "own.csv"]);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(folder.path().join("own.csv")).unwrap(), written);
}

/// The examples of the book's page are files that can be read.
#[test]
fn the_lists_of_the_book_are_fit_for_use() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/catalog.md")).unwrap();
    let folder = folder();
    let lists: Vec<&str> = page.split("```csv\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(lists.len() >= 2);
    for list in lists {
        std::fs::write(folder.path().join("book.csv"), list).unwrap();
        let report = printed(folder.path(), &["catalog", "import", "book.csv", "--json"]);
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["files"][0]["rows"], list.lines().count() - 1, "{list}");
        assert!(report["prices"].as_u64().unwrap() > 0, "{list}");
    }
}

#[test]
fn a_plan_sees_the_files_of_the_workload_and_of_the_command_line() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("work")).unwrap();
    let workload =
        "kind = \"serve\"\nmodel = \"Qwen/Qwen2.5-7B\"\ntraffic.rate = \"2 req/s\"\n[where]\nclouds = [\"acme\"]\n";
    std::fs::write(folder.path().join("work/plain.toml"), workload).unwrap();
    std::fs::write(folder.path().join("work/named.toml"), format!("{workload}catalogs = [\"../acme.csv\"]\n")).unwrap();
    let unknown = hob(folder.path(), &["plan", "work/plain.toml"]);
    assert_eq!(unknown.status.code(), Some(2), "nobody knows this cloud: {unknown:?}");
    for arguments in [&["plan", "work/named.toml"][..], &["plan", "work/plain.toml", "--catalog", "acme.csv"]] {
        let printed = printed(folder.path(), arguments);
        assert!(printed.contains("x8") && printed.contains("USD"), "{printed}");
    }
}

/// Both languages refuse the file with code 2, a hint, and `part` in what they say.
fn refuse(file: &str, bytes: &[u8], part: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), bytes).unwrap();
    for (language, heading, hint) in [("en", "error[E-", "hint: "), ("zh", "错误[E-", "提示: ")] {
        for arguments in [&["catalog", "import", file][..], &["catalog", "list", "--catalog", file]] {
            let output = hob(folder.path(), &[arguments, &["--lang", language]].concat());
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{file}: {stderr}");
            assert!(output.stdout.is_empty(), "{file}: nothing of a refused file is used");
            assert!(stderr.contains(heading) && stderr.contains(hint) && stderr.contains(file), "{file}: {stderr}");
            assert!(stderr.contains(part), "no `{part}` in: {stderr}");
            assert!(!stderr.contains("panicked") && !stderr.contains("{catalog"), "{file}: {stderr}");
            assert!(stderr.chars().all(|letter| letter == '\n' || !letter.is_control()), "{file}: {stderr:?}");
            assert!(stderr.len() < 20_000, "{file}: an error of {} bytes", stderr.len());
        }
    }
}

#[test]
fn broken_and_hostile_files_are_refused_in_both_languages() {
    let header = "cloud,instance,region,charge,price,currency,per\n";
    let price = |row: &str| format!("{header}tencent,GN7.2XLARGE32,r,{row}\n").into_bytes();
    refuse("nan.csv", &price("on-demand,NaN,CNY,hour"), "nan.csv:2");
    refuse("negative.csv", &price("on-demand,-3,CNY,hour"), "`-3`");
    refuse("zero.csv", &price("on-demand,0,CNY,hour"), "`0`");
    refuse("currency.csv", &price("on-demand,3,RMB,hour"), "CNY");
    refuse("period.csv", &price("on-demand,3,CNY,fortnight"), "`fortnight`");
    refuse("unknown.csv", format!("{header}tencent,GN7.2XLARGE3,r,spot,3,CNY,hour\n").as_bytes(), "GN7.2XLARGE32");
    refuse("cut.csv", format!("{header}tencent,GN7.2XLARGE32,r,on-dem").as_bytes(), "cut.csv:2");
    refuse("quote.csv", &price("spot,3,CNY,\"hour\ntencent,GN7.2XLARGE32,q,spot,3,CNY,hour"), "quote.csv:2");
    refuse("control.csv", &price("\u{1b}[31mspot,3,CNY,hour"), "control.csv:2");
    refuse("bytes.csv", b"cloud,instance\n\xff\xfe,x\n", "bytes.csv:2");
    refuse("empty.csv", b"", "empty.csv");
    refuse("form.csv", b"a,b\n1,2\n", "a,b");
    refuse("long.csv", format!("{header}{}\n", "x,".repeat(200_000)).as_bytes(), "long.csv");
    refuse(
        "many.csv",
        format!("{header}{}", "tencent,GN7.2XLARGE32,r,spot,-1,CNY,hour\n".repeat(50_000)).as_bytes(),
        "50000",
    );
    let spot = "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\n";
    refuse("sky.csv", format!("{spot}x,T4,1.0,inf,,r\n").as_bytes(), "`inf`");
    refuse("half.csv", format!("{spot}x,T4,1.5,1,,r\n").as_bytes(), "`1.5`");
}

#[test]
fn a_file_larger_than_the_bound_is_refused_without_being_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    // A hole of ten gigabytes.
    std::fs::File::create(folder.path().join("huge.csv")).unwrap().set_len(10_000_000_000).unwrap();
    let output = hob(folder.path(), &["catalog", "import", "huge.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("64 MiB"), "{output:?}");
}

#[test]
fn names_that_are_not_known_have_neighbours() {
    let folder = folder();
    let check = |arguments: &[&str], part: &str| {
        let output = hob(folder.path(), &[&["catalog"], arguments].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(part), "no `{part}` for {arguments:?}: {stderr}");
    };
    check(&["show", "A1OO-80GB", "--lang", "en"], "a100-sxm-80");
    check(&["show", "GN7.2XLARGE3", "--lang", "zh"], "GN7.2XLARGE32");
    check(&["compare", "t4", "L2O"], "l20");
    check(&["compare", "t4", "GN7.2XLARGE32", "--lang", "en"], "is a GPU and");
    check(&["list", "--cloud", "tencnt"], "tencent");
    check(&["list", "--region", "ap-guangzou"], "ap-guangzhou");
    check(&["list", "--supports", "fp9"], "fp8");
    check(&["list", "--arch", "ampre"], "ampere");
    check(&["import", "acme.csv", "--date", "yesterday"], "yesterday");
    check(&["list", "--catalog", "none.csv"], "none.csv");
}

/// Catalogs of other clouds in SkyPilot's form, where they are at hand.
#[test]
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn real_skypilot_catalogs_are_taken_whole() {
    let Some(shared) = shared_facts() else {
        eprintln!("skipped: no folder shared/facts/skypilot beside the checkout");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut files: Vec<PathBuf> = std::fs::read_dir(shared).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 6);
    for file in files {
        let json = printed(folder.path(), &["catalog", "import", file.to_str().unwrap(), "--json"]);
        let report: Value = serde_json::from_str(&json).unwrap();
        let report = &report["files"][0];
        assert!(report["instances"].as_u64().unwrap() > 0 && report["prices"].as_u64().unwrap() > 0, "{report}");
        assert_eq!(report["unknown_accelerators"], serde_json::json!({}), "{}", file.display());
    }
}

fn shared_facts() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let beside = [root.join("shared"), root.parent()?.join("shared")];
    beside.into_iter().map(|shared| shared.join("facts/skypilot")).find(|folder| folder.is_dir())
}
