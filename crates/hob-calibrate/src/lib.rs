//! Measured rows against predictions.
//!
//! One way through: a table's rows become [`Question`]s (what to ask the estimator, and what was measured), the
//! estimator answers with intervals, and [`Score`]s say how far they lie from the measurements. Scoring a user's table,
//! proving accuracy on rows that a fit never saw, fitting and probing are four readings of the same questions.
//! Pure: tables enter as text.

mod asked;
mod calibrate;
mod cross;
mod evaluate;
mod filter;
mod fit;
mod forward;
mod library;
mod machine;
mod probe;
mod question;
mod score;
mod serving;
mod serving_memory;
mod table;
mod target;
mod training;

pub use asked::{Asked, HoldOut, parts};
pub use calibrate::{
    Calibration, Evidence, HeldOutScore, PARTS, calibrate, cross_validate, distrusted_by_hand, held_out_scores,
    published,
};
pub use cross::{HeldOut, Workers, held_out, in_turn, with_bands};
pub use evaluate::{Evaluation, Grouping, TargetScore, Unscored, VerdictScore, evaluate};
pub use filter::{Filter, FilterError, UnknownColumn};
pub use fit::{Distrusted, FitResult, Fitted, fit};
pub use library::Library;
pub use machine::Machine;
pub use probe::{Counted, Place, Point, Probe, probe};
pub use question::{Answer, Ask, Question, SENTENCES, Unanswered, Unsayable};
pub use score::{Outcome, Score};
pub use table::{MeasuredTable, Row, TableError, TableKind};
pub use target::Target;
