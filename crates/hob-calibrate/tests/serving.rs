//! Rows of language models under load as questions, and how near the answers come.
#![allow(clippy::unwrap_used, clippy::print_stdout)]
#![allow(clippy::disallowed_methods)] // Measurements outside the repository are read where they are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hob_calibrate::{Library, MeasuredTable, Outcome, Score, Target};
use hob_catalog::Catalog;
use hob_estimate::Efficiencies;

const HEADER: &str = "id,gpu_class,model,params_b,hidden,layers,heads,kv_heads,ffn,vocab,gpu,gpus,tp,pp,dp,ep,engine,\
precision,scenario,in_len,out_len,concurrency,batch,qps,samples_per_s,tokens_per_s,tok_kind,ttft_ms_p50,tpot_ms_p50,note";

/// A row by its columns: `a=b|c=d`.
fn row(cells: &str) -> MeasuredTable {
    let cells: BTreeMap<&str, &str> = cells.split('|').map(|cell| cell.split_once('=').unwrap()).collect();
    let values: Vec<&str> = HEADER.split(',').map(|column| cells.get(column).copied().unwrap_or_default()).collect();
    assert!(cells.keys().all(|key| HEADER.split(',').any(|column| column == *key)), "{cells:?}");
    MeasuredTable::read(&format!("{HEADER}\n{}\n", values.join(","))).unwrap()
}

/// What a row measures (`target:value`), or why it cannot be asked.
fn asked(cells: &str) -> String {
    let table = row(cells);
    match Library::new(Catalog::embedded()).question(table.kind, &table.rows[0]) {
        Ok(question) => {
            assert!(question.ask.answer(&Efficiencies::embedded().unwrap()).is_ok(), "{cells}");
            let measured = question.measured.iter().map(|(target, value)| format!("{target}:{value:.4}"));
            format!("{}/{} {}", question.engine, question.stratum, measured.collect::<Vec<_>>().join(" "))
        }
        Err(why) => why.sentence().id.to_owned(),
    }
}

#[test]
fn scenarios_become_questions() {
    let h100 = "gpu_class=H100-80-SXM|gpus=1|tp=1|precision=bf16|model=llama3.1-8b|engine=vLLM 0.12.0";
    let check = |cells: &str, expected: &str| assert_eq!(asked(&format!("{h100}|{cells}")), expected, "{cells}");
    check(
        "scenario=aggregated serving|in_len=1024|out_len=101|concurrency=8|ttft_ms_p50=100|tpot_ms_p50=10",
        "vllm/dense serve_throughput:734.5455 serve_tpot:0.0100 serve_ttft:0.1000 serve_request_time:1.1000",
    );
    check(
        "scenario=single stream bs1|in_len=1000|out_len=1000|tokens_per_s=200|tok_kind=(prompt+output)/time",
        "vllm/dense decode_speed:100.0000",
    );
    check(
        "scenario=interactive-single-stream|concurrency=1|ttft_ms_p50=50|tpot_ms_p50=8|note=suite_A",
        "vllm/dense decode_speed:125.0000 serve_ttft:0.0500",
    );
    check(
        "scenario=offline-batch|concurrency=engine-limited|tokens_per_s=9000|note=suite_A",
        "vllm/dense serve_throughput:9000.0000",
    );
    check(
        "scenario=online-poisson/qps|qps=2|ttft_ms_p50=50|tpot_ms_p50=8",
        "vllm/dense serve_tpot:0.0080 serve_ttft:0.0500",
    );
    check("scenario=aggregated serving|in_len=1024|out_len=100|concurrency=8", "unanswered-missing");
    check("scenario=aggregated serving|in_len=1024|out_len=100|ttft_ms_p50=100|tpot_ms_p50=10", "unanswered-missing");
}

#[test]
fn layouts_models_and_precisions_are_read() {
    let bare = "gpus=2|scenario=decode tg128 bs1|out_len=128|tokens_per_s=50|concurrency=1";
    let check = |cells: &str, expected: &str| assert_eq!(asked(&format!("{bare}|{cells}")), expected, "{cells}");
    // Layers in turn: two 24 GB cards hold what one does not, and no tensor ranks are asked for.
    check(
        "gpu_class=RTX-3090|model=llama3-8b|precision=Q4_K_M|engine=llama.cpp (2024-05)",
        "llama_cpp/dense decode_speed:50.0000",
    );
    // No preset, but columns that meet the stated count.
    check(
        "gpu_class=A100-40-SXM|model=phi-1.5|params_b=1.42|hidden=2048|layers=24|heads=32|kv_heads=32|ffn=8192|\
         vocab=51200|precision=bf16|engine=LitGPT generate",
        "pytorch/dense decode_speed:50.0000",
    );
    check(
        "gpu_class=A100-40-SXM|model=phi-1.5|params_b=14|hidden=2048|layers=24|heads=32|kv_heads=32|ffn=8192|\
         vocab=51200|precision=bf16|engine=LitGPT generate",
        "unanswered-unknown-model",
    );
    let vllm = "engine=vLLM 0.12.0|model=qwen3-235b-a22b";
    check(&format!("{vllm}|gpu_class=B200-180|precision=fp8"), "vllm/blackwell decode_speed:50.0000");
    check(&format!("{vllm}|gpu_class=H200-141-SXM|precision=fp8"), "vllm/moe decode_speed:50.0000");
    check(&format!("{vllm}|gpu_class=H200-141-SXM|precision=fp3"), "unanswered-outside");
    check(&format!("{vllm}|gpu_class=H999|precision=fp8"), "unanswered-unknown-gpu");
    check(&format!("{vllm}|gpu_class=H200-141-SXM|precision=fp8|tp=16"), "unanswered-outside");
    check("gpu_class=H200-141-SXM|precision=fp8|model=llama3-8b|engine=somebody's own", "unanswered-outside");
}

#[test]
fn a_row_that_beats_physics_is_below_its_floor() {
    let table = row("id=x|gpu_class=H200-141-SXM|gpus=1|tp=1|precision=fp8|model=llama3.1-8b|engine=vLLM 0.12.0|\
         scenario=aggregated serving|in_len=4096|out_len=100|concurrency=64|ttft_ms_p50=50|tpot_ms_p50=3");
    let question = Library::new(Catalog::embedded()).question(table.kind, &table.rows[0]).unwrap();
    for target in [Target::ServeTpot, Target::ServeRequestTime] {
        let measured = question.measured.iter().find(|(of, _)| *of == target).unwrap().1;
        assert!(question.ask.floor(target).unwrap() > measured, "{target}");
    }
}

/// Scores of all strata on the shared measurements. The bounds leave room for rows to come: they hold what the fit
/// reached, with a tenth to spare.
#[test]
fn measured_rows_are_met() {
    let Some(outcomes) = outcomes("infer_throughput.csv") else { return };
    let mut groups: BTreeMap<(Target, &str), Vec<&Outcome>> = BTreeMap::new();
    for (target, stratum, scenario, outcome) in &outcomes {
        groups.entry((*target, stratum)).or_default().push(outcome);
        if scenario == "aggregated serving" && *stratum != "blackwell" {
            groups.entry((*target, "hopper, aggregated")).or_default().push(outcome);
        }
    }
    let mut medians = BTreeMap::new();
    for ((target, group), outcomes) in groups {
        let rows = outcomes.len();
        let score = Score::of(outcomes).unwrap();
        println!(
            "{target:<18} {group:<20} {rows:>4} rows, median {:>5.1} %, p90 {:>5.1} %, bias {:>+5.1} %, inside {:>4.0} %",
            score.median_abs_pct, score.p90_abs_pct, score.bias_pct, score.inside80_pct
        );
        medians.insert((target, group), score.median_abs_pct);
    }
    let at_most = |target, group, bound| assert!(medians[&(target, group)] <= bound, "{target} {group}");
    at_most(Target::ServeTpot, "hopper, aggregated", 11.0);
    at_most(Target::ServeTtft, "hopper, aggregated", 25.0);
    at_most(Target::ServeRequestTime, "hopper, aggregated", 9.5);
}

type Scored = (Target, &'static str, String, Outcome);

/// Every scored prediction with its stratum and scenario; `None`, with a message, where the measurements are absent.
fn outcomes(file: &str) -> Option<Vec<Scored>> {
    let shared = std::env::var_os("HOB_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = shared.join("truth").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no measurements at {}", path.display());
        return None;
    };
    let table = MeasuredTable::read(&text).unwrap();
    let efficiencies = Efficiencies::embedded().unwrap();
    let mut library = Library::new(Catalog::embedded());
    let mut outcomes = Vec::new();
    for row in &table.rows {
        let Ok(question) = library.question(table.kind, row) else { continue };
        if !["dense", "moe", "blackwell", "memory"].contains(&question.stratum) {
            continue;
        }
        let Ok(answer) = question.ask.answer(&efficiencies) else { continue };
        for (target, measured) in &question.measured {
            let floor = question.ask.floor(*target);
            let beats = |floor: f64| if target.is_rate() { *measured > floor } else { *measured < floor };
            let Some((_, predicted)) = answer.values.iter().find(|(of, _)| of == target) else { continue };
            if !floor.is_some_and(beats) {
                let outcome = Outcome { id: question.id.clone(), predicted: *predicted, measured: *measured };
                outcomes.push((*target, question.stratum, row.text("scenario").to_owned(), outcome));
            }
        }
    }
    Some(outcomes)
}
