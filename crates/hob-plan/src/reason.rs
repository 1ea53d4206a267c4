//! Why an offer was rejected. The words are in the message catalogue.

use hob_estimate::EstimateError;
use hob_text::Message;
use hob_units::{Bytes, Figure, Interval, Money, Seconds, Sentence, Share, apart};
use serde::Serialize;

/// Why an offer was rejected.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Reason {
    /// The model does not fit in any allowed layout.
    Memory {
        /// What the smallest layout needs on the fullest GPU.
        needed: Bytes,
        /// What the card has.
        usable: Bytes,
    },
    /// It fits, and misses a goal even when idle, or at the largest size that was tried.
    TooSlow {
        /// Machines that were tried at most.
        machines: u32,
        /// The goal that it misses, where one is to blame.
        #[serde(flatten)]
        missed: Option<Missed>,
    },
    /// More GPUs or machines than the workload allows, or than the user owns.
    TooMany {
        /// GPUs that would be needed.
        gpus: u32,
        /// Machines that would be needed.
        machines: u32,
    },
    /// Dearer than the budget in every billing mode.
    OverBudget {
        /// Cheapest bill.
        cost: Money,
        /// The budget for the same time.
        budget: Money,
    },
    /// The catalog lacks a figure, or the card lacks what the work needs.
    Unsupported {
        /// What lacks.
        why: Message,
    },
}

impl From<EstimateError> for Reason {
    fn from(error: EstimateError) -> Self {
        Self::Unsupported { why: message(&error.sentence()) }
    }
}

/// A sentence of a room that does not know the catalogue.
#[must_use]
pub fn message(sentence: &Sentence) -> Message {
    sentence.figures.iter().fold(Message::new(sentence.id), |message, (name, figure)| match figure {
        Figure::Text(text) => message.with(name, text),
        Figure::Sentence(inner) => message.with_message(name, self::message(inner)),
    })
}

/// A goal that is missed, and by how much.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missed {
    /// The goal in words.
    pub goal: Message,
    /// The most that it allows.
    pub limit: Seconds,
    /// What is reached.
    pub reached: Seconds,
    /// How surely that keeps the goal.
    pub probability: f64,
}

impl Missed {
    /// A goal and the time that is reached.
    pub(crate) fn new(goal: Message, limit: Seconds, reached: Interval<Seconds>) -> Self {
        Self { goal, limit, reached: reached.mid, probability: reached.probability_at_most(limit) }
    }

    /// The time reached over the limit; near 1 the middle keeps the goal, but not surely enough.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.reached.0 / self.limit.0.max(f64::MIN_POSITIVE)
    }
}

/// A deadline that work of this length misses.
pub(crate) fn late(deadline: Seconds, duration: Interval<Seconds>) -> Missed {
    Missed::new(Message::new("goal-deadline").with("limit", deadline), deadline, duration)
}

impl Reason {
    /// One of the planner's own.
    pub(crate) fn unsupported(id: &str) -> Self {
        Self::Unsupported { why: Message::new(id) }
    }

    /// The sentence for the user.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Memory { needed, usable } => {
                let (needed, usable) = apart(*needed, *usable);
                Message::new("reject-memory").with("needed", needed).with("usable", usable)
            }
            Self::TooSlow { machines, missed: Some(missed) } => Message::new("reject-slow-by")
                .with_message("goal", missed.goal.clone())
                .with("machines", machines)
                .with("reached", missed.reached)
                .with("factor", format!("{:.2}", missed.factor()))
                .with("probability", Share(missed.probability)),
            Self::TooSlow { machines, .. } => Message::new("reject-slow").with("machines", machines),
            Self::TooMany { gpus, machines } => {
                Message::new("reject-too-many").with("gpus", gpus).with("machines", machines)
            }
            Self::OverBudget { cost, budget } => {
                Message::new("reject-budget").with("cost", cost).with("budget", budget)
            }
            Self::Unsupported { why } => why.clone(),
        }
    }

    /// How far a layout came before it failed: of several layouts, the reason shown is that of the one which came furthest.
    pub(crate) fn progress(&self) -> u8 {
        match self {
            Self::Unsupported { .. } => 0,
            Self::Memory { .. } => 1,
            Self::TooSlow { .. } => 2,
            Self::TooMany { .. } => 3,
            Self::OverBudget { .. } => 4,
        }
    }
}

/// Keeps the reason that came further; of two memory reasons the one that lacks less.
pub(crate) fn further(known: Option<Reason>, new: Reason) -> Option<Reason> {
    match (&known, &new) {
        (Some(Reason::Memory { needed: before, .. }), Reason::Memory { needed, .. }) if needed >= before => known,
        (Some(before), new) if before.progress() > new.progress() => known,
        _ => Some(new),
    }
}
