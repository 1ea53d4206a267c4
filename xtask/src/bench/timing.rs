//! Samples and what is said about them: the least, the median and the 90th percentile.

use std::time::Duration;

use serde_json::{Value, json};

/// All samples of one case of one bench.
pub struct Timing {
    bench: &'static str,
    case: String,
    unit: &'static str,
    /// Sorted.
    samples: Vec<f64>,
}

impl Timing {
    /// From durations; shown in milliseconds.
    pub fn of_durations(bench: &'static str, case: impl Into<String>, durations: &[Duration]) -> Timing {
        let samples = durations.iter().map(|duration| duration.as_secs_f64() * 1e3).collect();
        Timing::new(bench, case.into(), "ms", samples)
    }

    /// From rates, each counted over one window of time.
    pub fn of_rates(bench: &'static str, case: impl Into<String>, unit: &'static str, rates: Vec<f64>) -> Timing {
        Timing::new(bench, case.into(), unit, rates)
    }

    fn new(bench: &'static str, case: String, unit: &'static str, mut samples: Vec<f64>) -> Timing {
        samples.sort_by(f64::total_cmp);
        Timing { bench, case, unit, samples }
    }

    /// One row of `--json`.
    pub fn to_json(&self) -> Value {
        json!({
            "bench": self.bench,
            "case": self.case,
            "unit": self.unit,
            "runs": self.samples.len(),
            "min": self.percentile(0),
            "median": self.percentile(50),
            "p90": self.percentile(90),
        })
    }

    /// The smallest sample that is not below this share of all samples (nearest rank); `None` without samples.
    fn percentile(&self, percent: usize) -> Option<f64> {
        let rank = (self.samples.len() * percent).div_ceil(100);
        self.samples.get(rank.saturating_sub(1)).copied()
    }
}

/// The table that a person reads.
pub fn table(timings: &[Timing]) -> String {
    let width = |text: fn(&Timing) -> usize| timings.iter().map(text).max().unwrap_or(0).max(5);
    let bench_width = width(|timing| timing.bench.len());
    let case_width = width(|timing| timing.case.chars().count());
    let mut lines = format!(
        "{:<bench_width$}  {:<case_width$}  {:>5}  {:>9}  {:>9}  {:>9}  UNIT\n",
        "BENCH", "CASE", "RUNS", "MIN", "MEDIAN", "P90"
    );
    for timing in timings {
        let shown = |percent| timing.percentile(percent).map_or("no data".to_owned(), |sample| format!("{sample:.2}"));
        lines.push_str(&format!(
            "{:<bench_width$}  {:<case_width$}  {:>5}  {:>9}  {:>9}  {:>9}  {}\n",
            timing.bench,
            timing.case,
            timing.samples.len(),
            shown(0),
            shown(50),
            shown(90),
            timing.unit
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_by_nearest_rank() {
        let ten = Timing::of_rates("a", "b", "1/s", (1..=10).rev().map(f64::from).collect());
        assert_eq!([0, 50, 90, 100].map(|percent| ten.percentile(percent)), [1.0, 5.0, 9.0, 10.0].map(Some));
        assert_eq!(Timing::of_rates("a", "b", "1/s", vec![3.0]).percentile(90), Some(3.0));
        assert_eq!(Timing::of_rates("a", "b", "1/s", Vec::new()).percentile(50), None);
    }

    #[test]
    fn the_table_lines_up() {
        let timing = Timing::of_durations("start", "hob --version", &[Duration::from_millis(2)]);
        let expected = "\
BENCH  CASE            RUNS        MIN     MEDIAN        P90  UNIT
start  hob --version      1       2.00       2.00       2.00  ms
";
        assert_eq!(table(&[timing]), expected);
    }
}
