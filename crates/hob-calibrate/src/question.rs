//! A measured row as something that the estimator can be asked.

use hob_estimate::{Efficiencies, EstimateError};
use hob_units::Interval;

use crate::probe::Place;
use crate::target::Target;

hob_units::sentences! {
    /// Why a row cannot be asked for, or gets no answer. The words are in the message catalogue (`evaluate.ftl`).
    pub enum Unanswered {
        /// A column is empty or not a number, and nothing stands for it.
        Missing { column: &'static str } = "unanswered-missing",
        /// The catalog has no such card.
        UnknownGpu { name: String } = "unanswered-unknown-gpu",
        /// No preset has this name, and the columns do not give its sizes.
        UnknownModel { name: String } = "unanswered-unknown-model",
        /// The row was measured under something that no strategy can say.
        Outside { what: Unsayable } = "unanswered-outside",
        /// The parallel degrees do not multiply to the GPUs.
        Layout { layout: String, gpus: u32 } = "unanswered-layout",
        /// The global batch is below one micro batch for each rank.
        Batch { global: u32, ranks: u32, micro: u32 } = "unanswered-batch",
        /// The estimator refuses.
        Refused { why: EstimateError } = "unanswered-refused",
    }

    /// What a run can have that no strategy can say.
    pub enum Unsayable {
        OffloadedActivations {} = "unsayable-offloaded-activations",
        OffloadedParameters {} = "unsayable-offloaded-parameters",
        FourModels {} = "unsayable-four-models",
        FrozenInt8 {} = "unsayable-frozen-int8",
        StepInsideBackward {} = "unsayable-step-inside-backward",
        LayersOneAfterAnother {} = "unsayable-layers-one-after-another",
        UnstatedLayout { gpus: u32 } = "unsayable-unstated-layout",
        UnstatedLoad {} = "unsayable-unstated-load",
        Precision { name: String } = "unsayable-precision",
        Engine { name: String } = "unsayable-engine",
        Scenario { name: String } = "unsayable-scenario",
        Option { name: &'static str } = "unsayable-option",
    }
}

impl From<EstimateError> for Unanswered {
    fn from(error: EstimateError) -> Self {
        Self::Refused { why: error }
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
pub trait Ask: Send + Sync {
    /// Prediction with a table of efficiencies.
    ///
    /// # Errors
    /// When the estimator refuses.
    fn answer(&self, table: &Efficiencies) -> Result<Answer, EstimateError>;

    /// What no hardware beats for a target: every byte once at full bandwidth and every FLOP at full peak, whichever is
    /// longer, and no overhead. `None` where physics gives no bound.
    fn floor(&self, target: Target) -> Option<f64>;

    /// Where coefficients for it are looked up; `None` where no card was part of it.
    fn place(&self) -> Option<Place> {
        None
    }
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
