//! Coefficients that measured rows pull away from their priors.
//!
//! A row of the efficiency table with a band is free: its prior is its value, its spread its band. A free row leans on the
//! next wider row of the same name (card on architecture, version on engine, engine on all), so a thin scope inherits.
//! Least squares on log errors with a soft-L1 loss by Levenberg and Marquardt (More 1978, as in MINPACK); each row
//! weighs by the size of its group to the power -1/2, so that one long sweep does not steer the rest.

use hob_estimate::{Coefficient, Efficiencies};
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::storage::Owned;
use nalgebra::{DMatrix, DVector, Dyn};
use serde::Serialize;

use crate::asked::{Asked, group_sizes};
use crate::question::Answer;
use crate::target::Target;

/// Standard deviations in an 80 % band on either side.
pub(crate) const SDS_IN_BAND: f64 = 1.281_551_6;
/// Step of the numeric derivative, in log.
const STEP: f64 = 1e-4;
/// Factor by which a coefficient is moved to see what reads it.
const PROBE: f64 = 1.33;
/// Rounds of the optimiser, each about one Jacobian; more change nothing at three digits.
const PATIENCE: usize = 25;
/// A log error of this many of its target's spreads is distrusted.
const DISTRUSTED_SPREADS: f64 = 6.0;
/// Spread of a prior whose band reaches no further than its value on the sides that can be told.
const SPREAD_MIN: f64 = 0.02;
/// Names of rows that are bands of predictions: they come from held-out errors, not from the fit.
const BANDS: [&str; 3] = ["half_width", "memory_band", "time_band"];

/// A coefficient that the fit moved or kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fitted {
    /// Name and scope, with the fitted value and its band.
    pub coefficient: Coefficient,
    /// Value before.
    pub prior: f64,
    /// Measured values that it bears on.
    pub rows: usize,
}

/// A measured value that lies far from what everything else says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Distrusted {
    /// The row's id.
    pub id: String,
    /// What was measured.
    pub target: Target,
    /// `predicted / measured`.
    pub ratio: f64,
}

/// What a fit finds.
#[derive(Debug, Clone, PartialEq)]
pub struct FitResult {
    /// The table with the fitted values in place.
    pub table: Efficiencies,
    /// Free coefficients.
    pub fitted: Vec<Fitted>,
    /// Far off rows: they hardly pull, and are named.
    pub distrusted: Vec<Distrusted>,
}

/// Spread of log errors that a good model leaves, by target (feasibility study on the same kinds of rows): it sets how a
/// row of one target pulls against one of another.
fn spread(target: Target) -> f64 {
    match target {
        Target::ServeWeights | Target::ServeTotal => 0.05,
        Target::TrainMemory | Target::VisionThroughput | Target::ServeKv => 0.10,
        Target::TrainSpeed | Target::ServeRequestTime | Target::VisionLatency | Target::DecodeSpeed => 0.13,
        Target::DiffusionLatency | Target::ServeTpot => 0.15,
        Target::ServeThroughput => 0.20,
        Target::ServeTtft => 0.35,
    }
}

/// The part of the efficiency table that a target's estimator reads.
fn room(target: Target) -> &'static str {
    match target {
        Target::TrainMemory | Target::TrainSpeed => "train.",
        Target::VisionThroughput | Target::VisionLatency | Target::DiffusionLatency => "media.",
        _ => "serve.",
    }
}

/// Whether held-out errors set the row.
#[must_use]
pub(crate) fn is_band(row: &Coefficient) -> bool {
    row.name.split('.').nth(1).is_some_and(|name| BANDS.contains(&name))
}

/// One free coefficient.
struct Parameter {
    index: usize,
    prior: f64,
    /// Spread of the log of the value, from the prior's band.
    spread: f64,
    /// The next wider free row of the same name.
    parent: Option<usize>,
    /// Observations whose prediction it moves.
    concerns: Vec<usize>,
}

/// One measured value.
struct Observation<'a> {
    asked: &'a Asked,
    target: Target,
    measured: f64,
    /// Of the residual.
    pull: f64,
}

struct Problem<'a> {
    parameters: Vec<Parameter>,
    observations: Vec<Observation<'a>>,
    table: Efficiencies,
    point: DVector<f64>,
}

/// Fits the free rows of `priors` to what was measured.
#[must_use]
pub fn fit(priors: &Efficiencies, asked: &[&Asked]) -> FitResult {
    let mut result = FitResult { table: priors.clone(), fitted: Vec::new(), distrusted: Vec::new() };
    for room in ["train.", "serve.", "media."] {
        let problem = Problem::new(priors, asked, room);
        if problem.observations.is_empty() || problem.parameters.is_empty() {
            continue;
        }
        let (problem, _) =
            LevenbergMarquardt::new().with_patience(PATIENCE).with_ftol(1e-6).with_xtol(1e-5).minimize(problem);
        problem.report(&mut result);
    }
    result
        .fitted
        .sort_by(|a, b| (&a.coefficient.name, &a.coefficient.scope).cmp(&(&b.coefficient.name, &b.coefficient.scope)));
    result.distrusted.sort_by(|a, b| (&a.id, a.target).cmp(&(&b.id, b.target)));
    result
}

impl<'a> Problem<'a> {
    fn new(priors: &Efficiencies, asked: &[&'a Asked], of: &str) -> Self {
        let parameters = parameters(priors, of);
        let sizes = group_sizes(asked);
        let mut observations = Vec::new();
        for row in asked {
            for (target, measured) in row.question.measured.iter().filter(|(target, _)| room(*target) == of) {
                let size = sizes.get(&(row.group.as_str(), *target)).copied().unwrap_or(1);
                // Weights multiply squares.
                let pull = (row.weight / (size as f64).sqrt()).sqrt() / spread(*target);
                observations.push(Observation { asked: row, target: *target, measured: *measured, pull });
            }
        }
        let point = DVector::zeros(parameters.len());
        let mut problem = Self { parameters, observations, table: priors.clone(), point };
        // What has no answer at the start has none later: sizes and formats refuse, not coefficients.
        let mut kept = problem.errors(&problem.table, problem.all()).into_iter().map(f64::is_finite);
        problem.observations.retain(|_| kept.next().unwrap_or(false));
        problem.find_concerns();
        problem
    }

    fn all(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.observations.len()
    }

    /// A prediction that a third more and a third less of a coefficient leave as it is does not read it.
    fn find_concerns(&mut self) {
        let base = self.errors(&self.table, self.all());
        let mut table = self.table.clone();
        let mut concerns = Vec::with_capacity(self.parameters.len());
        for parameter in &self.parameters {
            let moved = [PROBE, 1.0 / PROBE].map(|by| {
                table.set(parameter.index, parameter.prior * by);
                self.errors(&table, self.all())
            });
            table.set(parameter.index, parameter.prior);
            let moves = |at: &usize| moved.iter().any(|errors| errors.get(*at) != base.get(*at));
            concerns.push(self.all().filter(moves).collect());
        }
        for (parameter, concerns) in self.parameters.iter_mut().zip(concerns) {
            parameter.concerns = concerns;
        }
    }

    /// Log errors of the observations at these places; `NaN` without an answer.
    fn errors(&self, table: &Efficiencies, places: impl IntoIterator<Item = usize>) -> Vec<f64> {
        let mut last: Option<(*const Asked, Option<Answer>)> = None;
        let mut error = |observation: &Observation<'_>| {
            let of = std::ptr::from_ref(observation.asked);
            if last.as_ref().is_none_or(|(known, _)| *known != of) {
                last = Some((of, observation.asked.question.ask.answer(table).ok()));
            }
            let answer = last.as_ref().and_then(|(_, answer)| answer.as_ref());
            let value = answer.and_then(|answer| answer.values.iter().find(|(of, _)| *of == observation.target));
            value.map_or(f64::NAN, |(_, value)| (value.mid / observation.measured).ln())
        };
        places.into_iter().filter_map(|at| self.observations.get(at)).map(&mut error).collect()
    }

    /// `(theta - theta of the parent) / spread`.
    fn prior_residual(&self, parameter: &Parameter, at: usize) -> f64 {
        let own = self.point.get(at).copied().unwrap_or(0.0);
        let parent = parameter.parent.and_then(|parent| self.point.get(parent)).copied().unwrap_or(0.0);
        (own - parent) / parameter.spread
    }

    fn report(&self, result: &mut FitResult) {
        let spreads = self.posterior();
        for (at, parameter) in self.parameters.iter().enumerate() {
            let Some(row) = self.table.rows().get(parameter.index) else { continue };
            let spread = spreads.as_ref().and_then(|spreads| spreads.get(at)).copied().unwrap_or(parameter.spread);
            let factor = (SDS_IN_BAND * spread.min(parameter.spread)).exp();
            let mut coefficient = row.clone();
            coefficient.value = rounded(row.value);
            (coefficient.low, coefficient.high) = (rounded(row.value / factor), rounded(row.value * factor));
            coefficient.low = coefficient.low.min(coefficient.value);
            coefficient.high = coefficient.high.max(coefficient.value);
            let rows = parameter.concerns.len();
            result.fitted.push(Fitted { coefficient, prior: parameter.prior, rows });
        }
        for fitted in &result.fitted {
            result.table = result.table.clone().overlaid([fitted.coefficient.clone()]);
        }
        let errors = self.errors(&self.table, self.all());
        for (observation, error) in self.observations.iter().zip(errors) {
            if error.abs() > DISTRUSTED_SPREADS * spread(observation.target) {
                let id = observation.asked.question.id.clone();
                result.distrusted.push(Distrusted { id, target: observation.target, ratio: rounded(error.exp()) });
            }
        }
    }

    /// Standard deviations of the logs after the fit: roots of the diagonal of the inverse normal matrix.
    fn posterior(&self) -> Option<Vec<f64>> {
        let jacobian = self.jacobian()?;
        let covariance = (jacobian.transpose() * jacobian).try_inverse()?;
        Some(covariance.diagonal().iter().map(|variance| variance.max(0.0).sqrt()).collect())
    }
}

fn parameters(priors: &Efficiencies, of: &str) -> Vec<Parameter> {
    let free = |row: &Coefficient| row.name.starts_with(of) && row.value > 0.0 && row.high > row.low && !is_band(row);
    let indices: Vec<usize> = (0..).zip(priors.rows()).filter(|(_, row)| free(row)).map(|(index, _)| index).collect();
    let row = |index: usize| priors.rows().get(index);
    let parent = |child: &Coefficient| {
        let wider = |index: &usize| {
            let row = row(*index)?;
            let score = row.scope.matches(&child.scope)?;
            (row.name == child.name && row.scope != child.scope).then_some(score)
        };
        let at = (0..).zip(&indices).filter_map(|(at, index)| Some((wider(index)?, at)));
        at.max_by_key(|(score, at): &(u32, usize)| (*score, std::cmp::Reverse(*at))).map(|(_, at)| at)
    };
    indices
        .iter()
        .filter_map(|index| {
            let row = row(*index)?;
            let below = if row.low > 0.0 { row.value / row.low } else { row.high / row.value };
            let spread = ((below.ln() + (row.high / row.value).ln()) / (2.0 * SDS_IN_BAND)).max(SPREAD_MIN);
            Some(Parameter { index: *index, prior: row.value, spread, parent: parent(row), concerns: Vec::new() })
        })
        .collect()
}

/// Soft-L1 as a residual whose square is the loss, and its slope: `rho(r) = 2 (sqrt(1 + r^2) - 1)`.
fn softened(residual: f64) -> (f64, f64) {
    let root = (1.0 + residual * residual).sqrt();
    let soft = (2.0 * (root - 1.0)).sqrt().copysign(residual);
    let slope = if soft.abs() < 1e-9 { 1.0 } else { residual / (root * soft) };
    (soft, slope)
}

/// To four significant digits: a file that people read, and the same on every machine.
pub(crate) fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

impl LeastSquaresProblem<f64, Dyn, Dyn> for Problem<'_> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;
    type ParameterStorage = Owned<f64, Dyn>;

    fn set_params(&mut self, point: &DVector<f64>) {
        self.point.copy_from(point);
        for (parameter, log) in self.parameters.iter().zip(point.iter()) {
            self.table.set(parameter.index, parameter.prior * log.exp());
        }
    }

    fn params(&self) -> DVector<f64> {
        self.point.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        let errors = self.errors(&self.table, self.all());
        let data =
            self.observations.iter().zip(errors).map(|(observation, error)| softened(error * observation.pull).0);
        let priors = self.parameters.iter().enumerate().map(|(at, parameter)| self.prior_residual(parameter, at));
        let all: Vec<f64> = data.chain(priors).collect();
        all.iter().all(|residual| residual.is_finite()).then(|| DVector::from_vec(all))
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let base = self.errors(&self.table, self.all());
        let rows = self.observations.len();
        let mut jacobian = DMatrix::zeros(rows + self.parameters.len(), self.parameters.len());
        let mut table = self.table.clone();
        for (at, parameter) in self.parameters.iter().enumerate() {
            let value = self.table.rows().get(parameter.index)?.value;
            table.set(parameter.index, value * STEP.exp());
            let moved = self.errors(&table, parameter.concerns.iter().copied());
            table.set(parameter.index, value);
            for (row, moved) in parameter.concerns.iter().zip(moved) {
                let (base, pull) = (base.get(*row)?, self.observations.get(*row)?.pull);
                *jacobian.get_mut((*row, at))? = (moved - base) / STEP * pull * softened(base * pull).1;
            }
            *jacobian.get_mut((rows + at, at))? = 1.0 / parameter.spread;
            if let Some(parent) = parameter.parent {
                *jacobian.get_mut((rows + at, parent))? = -1.0 / parameter.spread;
            }
        }
        Some(jacobian)
    }
}
