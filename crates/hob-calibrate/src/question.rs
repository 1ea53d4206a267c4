//! A measured row as something that the estimator can be asked.

use hob_estimate::{Efficiencies, EstimateError};
use hob_units::Interval;
use serde::Serialize;
use thiserror::Error;

use crate::target::Target;

/// Why a row cannot be asked for, or gets no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Unanswered {
    /// A column is empty or not a number, and nothing stands for it.
    #[error("`{column}` does not say enough")]
    Missing {
        /// Its name.
        column: &'static str,
    },
    /// The catalog has no such card.
    #[error("the catalog has no card `{name}`")]
    UnknownGpu {
        /// As the row states it.
        name: String,
    },
    /// No preset has this name, and the columns do not give its sizes.
    #[error("no model `{name}` is known, and the columns do not give its sizes")]
    UnknownModel {
        /// As the row states it.
        name: String,
    },
    /// The row was measured under something that no strategy can say.
    #[error("{what} cannot be said to the estimator")]
    Outside {
        /// `offload`, `a second model in memory`...
        what: String,
    },
    /// The columns contradict each other.
    #[error("{what}")]
    Contradiction {
        /// What contradicts what.
        what: String,
    },
    /// The estimator refuses.
    #[error("{why}")]
    Refused {
        /// Its reason.
        why: String,
    },
}

impl Unanswered {
    /// A word for counting: `unknown_gpu`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "missing",
            Self::UnknownGpu { .. } => "unknown_gpu",
            Self::UnknownModel { .. } => "unknown_model",
            Self::Outside { .. } => "outside",
            Self::Contradiction { .. } => "contradiction",
            Self::Refused { .. } => "refused",
        }
    }
}

impl From<EstimateError> for Unanswered {
    fn from(error: EstimateError) -> Self {
        Self::Refused { why: error.to_string() }
    }
}

/// What the estimator says to one question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Predicted values.
    pub values: Vec<(Target, Interval<f64>)>,
    /// Needed share of the memory that the card has for it, where fitting was asked.
    pub filled: Option<f64>,
}

/// A resolved job: everything about a row but the efficiency table.
pub trait Ask {
    /// Prediction with a table of efficiencies.
    ///
    /// # Errors
    /// When the estimator refuses.
    fn answer(&self, table: &Efficiencies) -> Result<Answer, EstimateError>;

    /// What no hardware beats for a target: every byte once at full bandwidth and every FLOP at full peak, whichever is
    /// longer, and no overhead. `None` where physics gives no bound.
    fn floor(&self, target: Target) -> Option<f64>;
}

/// A row that can be asked for.
pub struct Question {
    /// The row's id.
    pub id: String,
    /// Line in its file, from 1.
    pub line: u64,
    /// The engine family that its coefficients are looked up by: `vllm`, `megatron`.
    pub engine: String,
    /// A class that is reported and widened apart: `dense`, `moe`, `fine_tuning`, `image`, `video`...
    pub stratum: &'static str,
    /// What was measured.
    pub measured: Vec<(Target, f64)>,
    /// Whether it ran out of memory; `None` where that was not measured.
    pub ran_out: Option<bool>,
    /// The question itself.
    pub ask: Box<dyn Ask>,
}

/// A measurement this much better than physics allows is named, not scored; less may be rounding or a boost clock.
const BEATS_PHYSICS: f64 = 1.02;

impl Question {
    /// Measured targets that no hardware can have reached.
    pub fn beats_physics(&self) -> impl Iterator<Item = Target> {
        self.measured.iter().filter(|(target, measured)| self.is_beyond(*target, *measured)).map(|(target, _)| *target)
    }

    pub(crate) fn is_beyond(&self, target: Target, measured: f64) -> bool {
        self.ask.floor(target).is_some_and(|floor| {
            if target.is_rate() { measured > floor * BEATS_PHYSICS } else { measured * BEATS_PHYSICS < floor }
        })
    }
}
