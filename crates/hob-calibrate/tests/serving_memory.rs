//! Rows of memory while serving as questions.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use hob_calibrate::{Library, MeasuredTable, Outcome, Score, TableKind, Target, published};
use hob_catalog::Catalog;
use hob_estimate::Efficiencies;
use hob_units::{Quantity, gib};

const HEADER: &str =
    "id,gpu_class,model,gpus,tp,engine,precision,context_tokens,weights_gib,kv_gib,kv_tokens,total_gib,what,note";

/// Predictions in GiB (tokens for `serve_kv` of a row that counts them) and what was measured, or why not.
fn answers(cells: &str) -> Result<BTreeMap<&'static str, (f64, f64)>, &'static str> {
    let cells: BTreeMap<&str, &str> = cells.split('|').map(|cell| cell.split_once('=').unwrap()).collect();
    let values: Vec<&str> = HEADER.split(',').map(|column| cells.get(column).copied().unwrap_or_default()).collect();
    let table = MeasuredTable::read(&format!("{HEADER}\n{}\n", values.join(","))).unwrap();
    let question =
        Library::new(Catalog::embedded()).question(table.kind, &table.rows[0]).map_err(|why| why.sentence().id)?;
    let answer = question.ask.answer(&Efficiencies::embedded().unwrap()).unwrap();
    let one = gib(1.0).base();
    let pair = |(target, measured): &(Target, f64)| {
        let (_, predicted) = answer.values.iter().find(|(of, _)| of == target)?;
        Some((target.name(), (predicted.mid / one, measured / one)))
    };
    Ok(question.measured.iter().filter_map(pair).collect())
}

#[track_caller]
fn check(cells: &str, target: &str, within: f64) {
    let found = answers(cells).unwrap();
    let (predicted, measured) = found[target];
    assert!((predicted / measured - 1.0).abs() < within, "{cells}: {target} {predicted} against {measured}");
}

#[test]
fn weights_room_and_total_are_asked() {
    // Parameters x bytes: 8.03 billion in 16 bits; 12.85 billion with the tied embedding on both ranks.
    check(
        "model=llama3-8b|engine=llama.cpp GGUF file|what=file size|precision=F16|weights_gib=14.96",
        "serve_weights",
        0.002,
    );
    check(
        "gpu_class=V100-32|gpus=2|tp=2|model=opt-13b|engine=DeepSpeed AutoTP|precision=fp16|weights_gib=12.21",
        "serve_weights",
        0.005,
    );
    let h100 = "gpu_class=H100-80-SXM|gpus=1|tp=1|model=llama3.1-8b|precision=bf16";
    // 0.9 x 79.1 GiB - 15 GiB - 9 copies of 1024 x 128,256 logits of 4 bytes - 1 GB.
    check(&format!("{h100}|engine=vLLM 0.11.0|kv_gib=50.8|note=gpu_memory_utilization 0.9"), "serve_kv", 0.02);
    // 128 KiB a token.
    let tokens = (50.8_f64 * 8192.0).round();
    check(&format!("{h100}|engine=vLLM 0.11.0|kv_tokens={}|note=gpu_memory_utilization 0.9", tokens), "serve_kv", 0.02);
    // Paged engines fill their share; a loop holds weights, one cache and the prompt's activations.
    check(&format!("{h100}|engine=vLLM 0.7.3|total_gib=69.2|note=gpu_mem_util=0.9"), "serve_total", 0.02);
    check(
        &format!("{h100}|engine=transformers 4.46|context_tokens=2049|total_gib=15.2|what=summed over GPUs"),
        "serve_total",
        0.02,
    );
    assert_eq!(answers(&format!("{h100}|engine=vLLM 0.7.3")), Err("unanswered-missing"));
    assert_eq!(
        answers("gpu_class=?|gpus=1|model=llama3-8b|engine=vLLM|precision=bf16|total_gib=70"),
        Err("unanswered-unknown-gpu")
    );
}

#[test]
fn published_rows_are_met() {
    let table = published().unwrap().into_iter().find(|table| table.kind == TableKind::InferMemory).unwrap();
    let efficiencies = Efficiencies::embedded().unwrap();
    let mut library = Library::new(Catalog::embedded());
    let mut outcomes: BTreeMap<Target, Vec<Outcome>> = BTreeMap::new();
    for row in &table.rows {
        let Ok(question) = library.question(table.kind, row) else { continue };
        let Ok(answer) = question.ask.answer(&efficiencies) else { continue };
        for (target, measured) in &question.measured {
            let Some((_, predicted)) = answer.values.iter().find(|(of, _)| of == target) else { continue };
            let outcome = Outcome { id: question.id.clone(), predicted: *predicted, measured: *measured };
            outcomes.entry(*target).or_default().push(outcome);
        }
    }
    let median = |target| Score::of(&outcomes[&target]).unwrap().median_abs_pct;
    assert!(median(Target::ServeWeights) < 1.0, "{}", median(Target::ServeWeights));
    assert!(median(Target::ServeTotal) < 4.0, "{}", median(Target::ServeTotal));
}
