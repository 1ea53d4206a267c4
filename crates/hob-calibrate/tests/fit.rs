//! The fit on made-up measurements whose truth is known.
#![allow(clippy::unwrap_used)]

use hob_calibrate::{
    Answer, Ask, Asked, HeldOut, HoldOut, Question, Score, Target, fit, held_out, in_turn, parts, with_bands,
};
use hob_estimate::{Efficiencies, EstimateError, Scope};
use hob_units::Interval;

const TABLE: &str = "\
name,engine,architecture,precision,class,low,value,high,unit,source,source_date
train.gemm,,,,,0.25,0.5,1.0,share,made up,2026
train.gemm,narrow,,,,0.4,0.5,0.625,share,made up,2026
train.gemm,other,,,,0.4,0.5,0.625,share,made up,2026
train.fixed,,,,,1,1,1,share,made up,2026
train.time_band,,,,,1.5,1.5,1.5,factor,made up,2026
";

/// A speed that is `work` times the coefficient of an engine.
struct Speed {
    engine: &'static str,
    work: f64,
}

impl Ask for Speed {
    fn answer(&self, table: &Efficiencies) -> Result<Answer, EstimateError> {
        let scope = Scope::any().engine(self.engine);
        let mid = self.work * table.get("train.gemm", &scope)?.value * table.get("train.fixed", &scope)?.value;
        let band = table.get("train.time_band", &scope)?.value;
        let predicted = Interval { low: mid / band, mid, high: mid * band };
        Ok(Answer { values: vec![(Target::TrainSpeed, predicted)], filled: None })
    }

    fn floor(&self, _: Target) -> Option<f64> {
        None
    }
}

fn asked(id: usize, engine: &'static str, measured_share: f64) -> Asked {
    let work = 10.0 + id as f64;
    Asked {
        question: Question {
            id: format!("row {id:03}"),
            line: 1,
            engine: engine.to_owned(),
            stratum: "dense",
            measured: vec![(Target::TrainSpeed, work * measured_share)],
            ran_out: None,
            ask: Box::new(Speed { engine, work }),
        },
        group: format!("group {}", id / 2),
        model: String::new(),
        gpu_class: String::new(),
        quality: "A".to_owned(),
        weight: 1.0,
    }
}

fn gemm(table: &Efficiencies, engine: &str) -> f64 {
    table.find("train.gemm", &Scope::any().engine(engine)).unwrap().value
}

#[test]
fn measurements_pull_their_own_row_and_its_unmeasured_siblings_inherit() {
    let priors = Efficiencies::parse(TABLE).unwrap();
    let rows: Vec<Asked> = (0..60).map(|id| asked(id, "narrow", 0.8)).collect();
    let found = fit(&priors, &rows.iter().collect::<Vec<_>>());
    let (narrow, all, other) = (gemm(&found.table, "narrow"), gemm(&found.table, ""), gemm(&found.table, "other"));
    assert!((narrow - 0.8).abs() < 0.02, "{narrow}");
    assert!(all > 0.65 && all < narrow, "the parent follows in part: {all}");
    assert!((other / all - 1.0).abs() < 0.01, "an engine without rows inherits from its parent: {other} {all}");
    assert_eq!(found.fitted.len(), 3, "a row without a band stays");
    assert!(found.distrusted.is_empty());
}

#[test]
fn a_mis_stated_row_hardly_pulls_and_is_named() {
    let priors = Efficiencies::parse(TABLE).unwrap();
    let mut rows: Vec<Asked> = (0..30).map(|id| asked(id, "narrow", 0.6)).collect();
    rows.push(asked(30, "narrow", 6.0));
    let found = fit(&priors, &rows.iter().collect::<Vec<_>>());
    assert!((gemm(&found.table, "narrow") - 0.6).abs() < 0.04, "{}", gemm(&found.table, "narrow"));
    let named: Vec<&str> = found.distrusted.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(named, ["row 030"]);
}

#[test]
fn without_measurements_the_priors_stay() {
    let priors = Efficiencies::parse(TABLE).unwrap();
    assert_eq!(fit(&priors, &[]).table, priors);
}

#[test]
fn groups_stay_whole_and_parts_are_near_equal() {
    let rows: Vec<Asked> = (0..41).map(|id| asked(id, "narrow", 0.6)).collect();
    let part_of = parts(&rows, HoldOut::Group, 4);
    for pair in part_of.chunks(2).filter(|pair| pair.len() == 2) {
        assert_eq!(pair[0], pair[1]);
    }
    for part in 0..4 {
        let size = part_of.iter().filter(|of| **of == part).count();
        assert!((9..=12).contains(&size), "{size}");
    }
}

/// Groups that scatter by a known factor: the band must become about as wide as holds four in five of them.
#[test]
fn bands_hold_four_in_five_of_the_held_out_errors() {
    let priors = Efficiencies::parse(TABLE).unwrap();
    let scatter = |id: usize| (((id / 2) * 37 % 101) as f64 / 50.0 - 1.0) * 0.3;
    let rows: Vec<Asked> = (0..202).map(|id| asked(id, "narrow", 0.5 * scatter(id).exp())).collect();
    let held: Vec<HeldOut> = held_out(&priors, &rows, &[], HoldOut::Group, 4, in_turn);
    assert_eq!(held.len(), rows.len());
    let table = with_bands(&priors, &rows, &held, None);
    let band = table.find("train.time_band", &Scope::any()).unwrap().value;
    // Errors are uniform in +-0.3 of log: 80 % lie within 0.24.
    assert!((band.ln() - 0.24).abs() < 0.03, "{band}");
    assert!(Score::of(held.iter().map(|prediction| &prediction.outcome)).unwrap().inside80_pct > 99.0);
}
