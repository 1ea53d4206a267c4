//! Training rows: published runs, where the tables are at hand.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]
#![allow(clippy::disallowed_methods)] // Measurements outside the repository are read where they are.

use std::path::PathBuf;

use hob_calibrate::{Evaluation, Grouping, Library, MeasuredTable, Target, evaluate};
use hob_catalog::Catalog;
use hob_estimate::Efficiencies;

/// A table of published measurements, or `None` with a message when it is not there.
fn published(file: &str) -> Option<MeasuredTable> {
    let shared = std::env::var_os("HOB_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")), PathBuf::from);
    let path = shared.join("truth").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no measurements at {}", path.display());
        return None;
    };
    Some(MeasuredTable::read(&text).unwrap())
}

/// Prints the scores, and with `WORST=n` the n worst rows of each group.
fn report(evaluation: &Evaluation, target: Target) {
    let worst = std::env::var("WORST").ok().and_then(|count| count.parse().ok()).unwrap_or(0);
    println!("{} asked, {} answered, {:?}", evaluation.asked, evaluation.answered, evaluation.train_oom);
    for line in evaluation.targets.iter().filter(|line| line.target == target) {
        let Some(s) = line.score else { continue };
        println!(
            "{:<44} {:>4} {:>6.1} {:>6.1} bias {:>+6.1} inside {:>5.1}",
            line.group.as_deref().unwrap_or("all"),
            line.rows,
            s.median_abs_pct,
            s.p90_abs_pct,
            s.bias_pct,
            s.inside80_pct
        );
        let mut rows: Vec<_> = evaluation
            .outcomes
            .iter()
            .filter(|(of, group, _)| *of == target && Some(group) == line.group.as_ref())
            .collect();
        rows.sort_by(|a, b| b.2.error().abs().total_cmp(&a.2.error().abs()));
        for (_, _, outcome) in rows.iter().take(worst) {
            println!(
                "      {} {:+.0} % {:.3e} {:.3e}",
                outcome.id,
                outcome.error() * 100.0,
                outcome.predicted.mid,
                outcome.measured
            );
        }
    }
    for row in &evaluation.unanswered {
        println!("   {} {}", row.id, row.reason);
    }
    println!("   beyond physics: {:?}", evaluation.beyond_physics);
}

fn scored(file: &str, target: Target) {
    let Some(table) = published(file) else { return };
    let efficiencies = Efficiencies::embedded().unwrap();
    let mut library = Library::new(Catalog::embedded());
    let by = match std::env::var("BY").as_deref() {
        Ok("model") => Grouping::Model,
        Ok("gpu") => Grouping::GpuClass,
        _ => Grouping::Engine,
    };
    let evaluation = evaluate(&table, &mut library, &efficiencies, Some(by));
    report(&evaluation, target);
}

#[test]
fn memory_of_published_runs() {
    scored("train_memory.csv", Target::TrainMemory);
}

#[test]
fn speed_of_published_runs() {
    scored("train_throughput.csv", Target::TrainSpeed);
}
