//! How far predictions lie from measurements.

use hob_units::Interval;
use serde::Serialize;

/// One prediction beside what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The row's id.
    pub id: String,
    /// Predicted, in base units.
    pub predicted: Interval<f64>,
    /// Measured, in base units.
    pub measured: f64,
}

impl Outcome {
    /// `predicted / measured - 1`.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.predicted.mid / self.measured - 1.0
    }

    /// Whether the measurement lies in the 80 % band.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        self.predicted.low <= self.measured && self.measured <= self.predicted.high
    }
}

/// Errors of many predictions, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Score {
    /// Median of `|predicted / measured - 1|`.
    pub median_abs_pct: f64,
    /// Its 90th percentile.
    pub p90_abs_pct: f64,
    /// Median of `predicted / measured - 1`.
    pub bias_pct: f64,
    /// Share of measurements inside their 80 % bands.
    pub inside80_pct: f64,
}

impl Score {
    /// Over the outcomes; `None` when there are none.
    #[must_use]
    pub fn of<'o>(outcomes: impl IntoIterator<Item = &'o Outcome>) -> Option<Self> {
        let outcomes: Vec<&Outcome> = outcomes.into_iter().collect();
        let signed: Vec<f64> = outcomes.iter().map(|outcome| outcome.error()).collect();
        let absolute = signed.iter().map(|error| error.abs()).collect();
        let inside = outcomes.iter().filter(|outcome| outcome.is_inside()).count();
        let absolute = sorted(absolute);
        Some(Self {
            median_abs_pct: 100.0 * quantile(&absolute, 0.5)?,
            p90_abs_pct: 100.0 * quantile(&absolute, 0.9)?,
            bias_pct: 100.0 * quantile(&sorted(signed), 0.5)?,
            inside80_pct: 100.0 * inside as f64 / outcomes.len() as f64,
        })
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Quantile of sorted values with linear interpolation between neighbours (Hyndman and Fan, type 7).
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = sorted.len().checked_sub(1)? as f64 * share.clamp(0.0, 1.0);
    let below = sorted.get(place.floor() as usize)?;
    let above = sorted.get(place.ceil() as usize)?;
    Some(below + (above - below) * place.fract())
}
