//! Tables, filters, cards and scores, by themselves.
#![allow(clippy::unwrap_used)]

use hob_calibrate::{Filter, Machine, MeasuredTable, Outcome, Score, TableError, TableKind};
use hob_catalog::Catalog;
use hob_units::Interval;

fn table(text: &str) -> MeasuredTable {
    MeasuredTable::read(text).unwrap()
}

#[test]
fn the_header_tells_the_kind() {
    let kind = |columns: &str| MeasuredTable::read(&format!("{columns}\n")).map(|table| table.kind);
    assert_eq!(kind("id,gpu_class,model,peak_gib"), Ok(TableKind::TrainMemory));
    assert_eq!(kind("id,gpu_class,model,tokens_per_s_per_gpu"), Ok(TableKind::TrainThroughput));
    assert_eq!(kind("id,gpu_class,model,tpot_ms_p50"), Ok(TableKind::InferThroughput));
    assert_eq!(kind("id,gpu_class,model,weights_gib"), Ok(TableKind::InferMemory));
    assert_eq!(kind("id,gpu_class,peak_gib"), Err(TableError::MissingColumn("model")));
    assert_eq!(kind("a,b"), Err(TableError::UnknownKind));
    assert_eq!(kind(""), Err(TableError::UnknownKind));
}

#[test]
fn a_broken_row_is_named_by_its_line() {
    let error = MeasuredTable::read("id,gpu_class,model,peak_gib\n1,T4,x,2\n2,T4,x\n").unwrap_err();
    assert!(matches!(error, TableError::Malformed { line: 3, .. }), "{error:?}");
}

#[test]
fn filters_choose_rows_by_pattern() {
    let table = table("id,gpu_class,model,peak_gib,quality\na,T4,x,2,A\nb,A100-80-SXM,x,3,B\nc,A100-40-SXM,x,4,A\n");
    let kept = |filters: &[&str]| -> String {
        let filters: Vec<Filter> = filters.iter().map(|filter| filter.parse().unwrap()).collect();
        let rows = table.rows.iter().filter(|row| filters.iter().all(|filter| filter.keeps(row)));
        rows.map(|row| row.text("id")).collect()
    };
    assert_eq!(kept(&[]), "abc");
    assert_eq!(kept(&["gpu_class=A100*"]), "bc");
    assert_eq!(kept(&["gpu_class=A100*", "quality=A"]), "c");
    assert!("quality".parse::<Filter>().is_err());
}

/// Classes as tables of measurements write them.
#[test]
fn classes_name_cards_of_the_catalog() {
    let cards = [
        ("A100-80-?", "a100-sxm-80"),
        ("A100-?-SXM", "a100-sxm-40"),
        ("A100-40-SXM", "a100-sxm-40"),
        ("A100-80-PCIe", "a100-pcie-80"),
        ("A100-?-PCIe", "a100-pcie-40"),
        ("H100-80-SXM", "h100-sxm"),
        ("H100-80-?", "h100-sxm"),
        ("H100-80-PCIe", "h100-pcie"),
        ("H100-94-NVL", "h100-nvl"),
        ("H100-96-SXM(500W)", "h100-sxm-96"),
        ("H200-141-SXM", "h200-sxm"),
        ("H200-141-NVL", "h200-nvl"),
        ("H20-96", "h20"),
        ("H20-141", "h20-3e"),
        ("H800-80", "h800-sxm"),
        ("A800-80", "a800-sxm-80"),
        ("B200-180", "b200"),
        ("B300", "b300"),
        ("GB200", "gb200"),
        ("GB300", "gb300"),
        ("GH200", "gh200-96"),
        ("T4", "t4"),
        ("P40", "p40"),
        ("A2", "a2"),
        ("A10", "a10"),
        ("A10G-24", "a10g"),
        ("A16", "a16"),
        ("A30", "a30"),
        ("A40", "a40"),
        ("L4", "l4"),
        ("L20", "l20"),
        ("L40", "l40"),
        ("L40S", "l40s"),
        ("V100-16", "v100-sxm2-16"),
        ("V100-32", "v100-sxm2-32"),
        ("V100-32S", "v100s-pcie"),
        ("V100-?S", "v100s-pcie"),
        ("RTX-A6000", "rtxa6000"),
        ("RTX-6000-ADA", "rtx6000ada"),
        ("RTX-5000-ADA", "rtx5000ada"),
        ("RTX-4000-ADA", "rtx4000ada"),
        ("RTX-4090", "rtx4090"),
        ("RTX-4090-D", "rtx4090d"),
        ("RTX-3090", "rtx3090"),
        ("RTX-3080", "rtx3080"),
        ("RTX-3070", "rtx3070"),
        ("RTX-4080", "rtx4080"),
        ("RTX-4070-TI", "rtx4070ti"),
        ("RTX-5090", "rtx5090"),
        ("RTX-8000", "rtx8000"),
        ("RTX-PRO-6000", "rtxpro6000-server"),
    ];
    let mut text = String::from("id,gpu_class,model,peak_gib,gpus\n");
    for (class, _) in cards {
        text.push_str(&format!("1,{class},x,2,16\n"));
    }
    let found: Vec<(String, String)> = table(&text)
        .rows
        .iter()
        .map(|row| {
            let machine = Machine::of(row, Catalog::embedded());
            let id = machine.map_or_else(|error| error.to_string(), |machine| machine.gpu.id.clone());
            (row.text("gpu_class").to_owned(), id)
        })
        .collect();
    let wrong: Vec<_> = found.iter().zip(cards).filter(|((_, id), (_, expected))| id != expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn scores_are_medians_in_percent() {
    let outcome = |mid: f64, measured: f64| Outcome {
        id: String::new(),
        predicted: Interval { low: mid / 1.1, mid, high: mid * 1.1 },
        measured,
    };
    let score = Score::of(&[outcome(1.0, 1.0), outcome(1.2, 1.0), outcome(0.95, 1.0)]).unwrap();
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(near(score.median_abs_pct, 5.0) && near(score.p90_abs_pct, 17.0), "{score:?}");
    assert!(near(score.bias_pct, 0.0) && near(score.inside80_pct, 200.0 / 3.0), "{score:?}");
    assert_eq!(Score::of(&[]), None);
}
