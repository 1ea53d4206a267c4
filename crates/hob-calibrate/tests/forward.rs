//! Errors of vision, speech and diffusion against the shared table of measurements, where it is at hand.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]
#![allow(clippy::disallowed_methods)] // Tests may look for measurements outside the repository.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hob_calibrate::{Library, MeasuredTable, Outcome, Score, Target};
use hob_catalog::Catalog;
use hob_estimate::Efficiencies;

/// Scenarios of this kind of model.
const SCENARIOS: [&str; 5] = ["MLPerf", "vision", "text-to-", "one denoiser", "full pipeline"];

/// What each stratum reaches in sample: rows, median error and 90th percentile in percent, and the least and most share
/// inside the 80 % band. A change for the better tightens these.
const REACHED: [(Target, &str, usize, f64, f64, f64, f64); 6] = [
    (Target::VisionThroughput, "offline", 200, 6.0, 17.0, 75.0, 100.0),
    (Target::VisionThroughput, "server", 150, 9.0, 24.0, 75.0, 100.0),
    (Target::VisionLatency, "singlestream", 65, 7.0, 35.0, 75.0, 100.0),
    (Target::VisionLatency, "framework", 36, 8.5, 25.0, 75.0, 100.0),
    (Target::DiffusionLatency, "image", 110, 15.0, 40.0, 70.0, 100.0),
    (Target::DiffusionLatency, "video", 130, 9.5, 30.0, 70.0, 100.0),
];

#[test]
fn measured_speeds_are_met() {
    let shared = std::env::var_os("HOB_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")), PathBuf::from);
    let path = shared.join("truth/infer_throughput.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no measurements at {}", path.display());
        return;
    };
    let table = MeasuredTable::read(&text).unwrap();
    let efficiencies = Efficiencies::embedded().unwrap();
    let mut library = Library::new(Catalog::embedded());
    let mut strata: BTreeMap<(Target, &str), Vec<Outcome>> = BTreeMap::new();
    let mut unanswered: BTreeMap<String, usize> = BTreeMap::new();
    let rows = table.rows.iter().filter(|row| SCENARIOS.iter().any(|word| row.text("scenario").starts_with(word)));
    for row in rows {
        let answered = library.question(table.kind, row).and_then(|question| {
            let answer = question.ask.answer(&efficiencies)?;
            Ok((question, answer))
        });
        let (question, answer) = match answered {
            Ok(both) => both,
            Err(reason) => {
                *unanswered.entry(reason.to_string()).or_default() += 1;
                continue;
            }
        };
        for (target, measured) in &question.measured {
            let predicted = answer.values.iter().find(|(of, _)| of == target).map(|(_, value)| *value);
            let predicted = predicted.unwrap_or_else(|| panic!("{}: no {target}", question.id));
            let floor = question.ask.floor(*target).unwrap();
            let bound = if target.is_rate() { predicted.mid / floor } else { floor / predicted.mid };
            assert!(bound <= 1.0, "{}: {target} of {predicted:?} beats {floor}", question.id);
            let outcome = Outcome { id: question.id.clone(), predicted, measured: *measured };
            strata.entry((*target, question.stratum)).or_default().push(outcome);
        }
    }
    for (reason, rows) in unanswered {
        println!("{rows} rows: {reason}");
    }
    for (key, outcomes) in &strata {
        println!("{key:?}: {:.1?}", Score::of(outcomes).unwrap());
    }
    for (target, stratum, rows, median, p90, least, most) in REACHED {
        let outcomes = &strata[&(target, stratum)];
        let score = Score::of(outcomes).unwrap();
        assert!(outcomes.len() >= rows, "{target} {stratum}: {score:?}");
        assert!(score.median_abs_pct <= median && score.p90_abs_pct <= p90, "{target} {stratum}: {score:?}");
        assert!((least..=most).contains(&score.inside80_pct), "{target} {stratum}: {score:?}");
    }
}
