//! Error against published measurements, where the tables are at hand.

mod rows;

use std::collections::BTreeMap;

use self::rows::{Row, measured};
use super::*;

/// What was predicted for one row against what was measured.
struct Outcome {
    group: String,
    error: f64,
    inside: bool,
    row: String,
}

/// Median and 90th percentile of |predicted / measured - 1|, and the share inside the 80 % band.
#[derive(Debug)]
struct Score {
    rows: usize,
    median: f64,
    p90: f64,
    inside: f64,
}

fn score(outcomes: &[&Outcome]) -> Score {
    let mut errors: Vec<f64> = outcomes.iter().map(|outcome| outcome.error.abs()).collect();
    errors.sort_by(f64::total_cmp);
    let at = |share: f64| errors[((errors.len() - 1) as f64 * share) as usize];
    let inside = outcomes.iter().filter(|outcome| outcome.inside).count() as f64 / errors.len() as f64;
    Score { rows: errors.len(), median: at(0.5), p90: at(0.9), inside }
}

/// Prints the scores by group and of all; returns the latter. `WORST=n` lists the n worst rows of each group.
fn report(what: &str, outcomes: &[Outcome]) -> Score {
    let worst = std::env::var("WORST").ok().and_then(|count| count.parse().ok()).unwrap_or(0);
    let mut groups: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        groups.entry(&outcome.group).or_default().push(outcome);
    }
    println!("{what:<24} rows  median     p90  inside the 80 % band");
    let line = |name: &str, score: &Score, bias: f64| {
        println!(
            "{name:<24} {:>4} {:>5.1} % {:>5.1} % {:>5.1} %   bias {:+.1} %",
            score.rows,
            score.median * 100.0,
            score.p90 * 100.0,
            score.inside * 100.0,
            bias * 100.0
        );
    };
    for (name, rows) in &mut groups {
        line(name, &score(rows), bias(rows));
        rows.sort_by(|a, b| b.error.abs().total_cmp(&a.error.abs()));
        for outcome in rows.iter().take(worst) {
            println!("    {:+.0} % {}", outcome.error * 100.0, outcome.row);
        }
    }
    let all: Vec<&Outcome> = outcomes.iter().collect();
    let total = score(&all);
    line("all", &total, bias(&all));
    total
}

fn bias(outcomes: &[&Outcome]) -> f64 {
    let mut errors: Vec<f64> = outcomes.iter().map(|outcome| outcome.error).collect();
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

/// The measured peak against the estimate of what its counter counts: PyTorch's counters see neither the context nor
/// communication buffers, and only `reserved` sees what the allocator holds back.
fn memory_outcome(row: &Row, table: &Efficiencies) -> Option<Outcome> {
    let run = row.run()?;
    let peak: f64 = row.number("peak_gib")?;
    let profile = TrainProfile::new(&run.graph, &run.shape);
    let estimate = profile.estimate(&run.world.hardware(), &run.strategy, run.framework, table).ok()?;
    let unseen: &[MemoryKind] = match row.text("mem_kind") {
        counter if counter.starts_with("torch max reserved") => &[MemoryKind::CudaContext, MemoryKind::Communication],
        counter if counter.starts_with("torch") => {
            &[MemoryKind::CudaContext, MemoryKind::Communication, MemoryKind::AllocatorSlack]
        }
        _ => &[],
    };
    let found = (estimate.memory.total.mid.base() - kind(&estimate, unseen)) / f64::from(1 << 30);
    let factor = estimate.memory.total.factor();
    let s = &run.strategy;
    Some(Outcome {
        group: run.family.to_owned(),
        error: found / peak - 1.0,
        inside: found / factor <= peak && peak <= found * factor,
        row: format!(
            "{} {} {} {:?} mb{} {:?} {:?} d{}t{}p{}c{}e{}: {found:.1} for {peak} GiB",
            row.text("id"),
            row.text("model"),
            run.shape.tokens,
            s.method,
            s.micro_batch,
            s.recompute,
            s.sharding,
            s.data,
            s.tensor,
            s.pipeline,
            s.context,
            s.expert
        ),
    })
}

/// Tokens or samples of all GPUs in a second.
fn measured_rate(row: &Row, length: u64) -> Option<f64> {
    let gpus: f64 = row.number("gpus")?;
    let tokens: Option<f64> = row.number("tokens_per_s_per_gpu");
    tokens.map(|rate| rate * gpus / length as f64).or_else(|| row.number("samples_per_s"))
}

fn speed_outcome(row: &Row, table: &Efficiencies) -> Option<Outcome> {
    let run = row.run()?;
    // Its samples are shorter than the length that is stated, and by how much is not.
    let measured = measured_rate(row, run.shape.tokens).filter(|_| run.framework != "ms-swift")?;
    let profile = TrainProfile::new(&run.graph, &run.shape);
    let estimate = profile.estimate(&run.world.hardware(), &run.strategy, run.framework, table).ok()?;
    let rate = estimate.samples_per_second;
    let s = &run.strategy;
    Some(Outcome {
        group: run.family.to_owned(),
        error: rate.mid.0 / measured - 1.0,
        inside: rate.low.0 <= measured && measured <= rate.high.0,
        row: format!(
            "{} {} {} {} {:?} {:?} mb{} x{} {:?} d{}t{}p{}v{}c{}e{}: {:.2} for {measured:.2} samples/s",
            row.text("id"),
            row.text("gpu_class"),
            row.text("model"),
            run.shape.tokens,
            s.method,
            s.precision,
            s.micro_batch,
            s.accumulation,
            s.recompute,
            s.data,
            s.tensor,
            s.pipeline,
            s.interleave,
            s.context,
            s.expert,
            rate.mid.0
        ),
    })
}

/// How the verdicts compare: everything that was measured had fitted, and `OOM` had not.
#[derive(Debug, Default)]
struct Verdicts {
    /// Ran out of memory, and how many of those were foreseen.
    oom: u32,
    oom_foreseen: u32,
    /// Fitted, and how many of those were refused.
    fitted: u32,
    refused: u32,
}

fn verdicts(rows: &[Row], table: &Efficiencies) -> Verdicts {
    let mut verdicts = Verdicts::default();
    for row in rows {
        let Some(run) = row.run() else { continue };
        let profile = TrainProfile::new(&run.graph, &run.shape);
        let estimate = profile.estimate(&run.world.hardware(), &run.strategy, run.framework, table);
        let Ok(estimate) = estimate else { continue };
        // Held-back memory is given back before a card runs out.
        let needed = estimate.memory.total.mid.base() - kind(&estimate, &[MemoryKind::AllocatorSlack]);
        let usable = row.card_gib().unwrap_or(estimate.memory.usable.as_gib()) * f64::from(1 << 30);
        let refused = u32::from(needed > usable);
        if row.text("peak_gib") == "OOM" {
            verdicts.oom += 1;
            verdicts.oom_foreseen += refused;
        } else {
            verdicts.fitted += 1;
            verdicts.refused += refused;
        }
    }
    verdicts
}

#[test]
fn memory_of_published_runs() {
    let Some(rows) = measured("train_memory.csv") else { return };
    let table = Efficiencies::embedded().unwrap();
    let outcomes: Vec<Outcome> = rows.iter().filter_map(|row| memory_outcome(row, &table)).collect();
    let score = report("memory", &outcomes);
    let verdicts = verdicts(&rows, &table);
    println!("{verdicts:?}");
    assert!(outcomes.len() > 250, "{score:?}");
    assert!(score.median < 0.15 && score.p90 < 0.45, "{score:?}");
    assert!((0.70..0.92).contains(&score.inside), "{score:?}");
    assert!(verdicts.refused * 50 < verdicts.fitted, "{verdicts:?}");
    assert!(verdicts.oom_foreseen * 10 >= verdicts.oom * 8, "{verdicts:?}");
}

#[test]
fn speed_of_published_runs() {
    let Some(rows) = measured("train_throughput.csv") else { return };
    let table = Efficiencies::embedded().unwrap();
    let outcomes: Vec<Outcome> = rows.iter().filter_map(|row| speed_outcome(row, &table)).collect();
    let score = report("speed", &outcomes);
    assert!(outcomes.len() > 340, "{score:?}");
    assert!(score.median < 0.15 && score.p90 < 0.50, "{score:?}");
    assert!((0.70..0.92).contains(&score.inside), "{score:?}");
}
