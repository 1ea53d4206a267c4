//! The plan as a document: what was understood, the ranked offers, the losers and why, and what to do next.

use hob_catalog::HowToGetPrice;
use hob_estimate::{
    ForwardStrategy, Item, MemoryEstimate, RenderBasis, ServeStrategy, TimeTerm, TrainStrategy, TranscodeStage,
};
use hob_text::Message;
use hob_units::{Bytes, Count, Currency, Interval, Money, PerSecond, Seconds, Share};
use hob_workload::{Assumed, Stage};
use serde::Serialize;

use crate::bill::Bill;
use crate::reason::Reason;
use crate::unit::Output;

/// The whole plan.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// Name of the workload.
    pub workload: String,
    /// Kind of work, as the workload file names it.
    pub kind: &'static str,
    /// Stage that it was planned for.
    pub stage: Stage,
    /// What was understood, one sentence each.
    pub understood: Vec<Message>,
    /// Defaults that were filled in.
    pub assumed: Vec<Assumed>,
    /// Feasible offers with a known price, one list for each currency, best first.
    pub ranked: Vec<PriceGroup>,
    /// Feasible offers whose price nobody states.
    pub unpriced: Vec<Choice>,
    /// Everything else.
    pub rejected: Vec<Rejected>,
    /// What the user should know before acting.
    pub warnings: Vec<Message>,
    /// The first choice as a try-out and for real users.
    pub variants: Vec<Variant>,
    /// When nothing is feasible: the nearest changes of the workload and what each would give.
    pub changes: Vec<Change>,
    /// The way from here to production with the first choice.
    pub path: Vec<PathStep>,
    /// Offers (instance types in a region) looked at.
    pub offers_considered: usize,
}

impl Plan {
    /// Whether anything can do the work.
    #[must_use]
    pub fn is_feasible(&self) -> bool {
        !self.unpriced.is_empty() || self.ranked.iter().any(|group| !group.choices.is_empty())
    }

    /// The first choice: the best of the first currency, else the best without a price.
    #[must_use]
    pub fn first_choice(&self) -> Option<&Choice> {
        self.ranked.iter().find_map(|group| group.choices.first()).or(self.unpriced.first())
    }
}

/// Offers in one currency; two currencies are never compared without the user's rate.
#[derive(Debug, Clone, Serialize)]
pub struct PriceGroup {
    /// Currency of every cost inside.
    pub currency: Currency,
    /// Best first.
    pub choices: Vec<Choice>,
}

/// One way to do the work.
#[derive(Debug, Clone, Serialize)]
pub struct Choice {
    /// Cloud.
    pub cloud: String,
    /// Instance type.
    pub instance: String,
    /// GPU id.
    pub gpu: String,
    /// Region, or price area, as the price names it.
    pub region: String,
    /// How the work is done on it.
    #[serde(flatten)]
    pub solution: Solution,
    /// Under each billing mode, the advised one first.
    pub bills: Vec<Bill>,
    /// What waiting for the end costs the team, when the workload states a cost of delay.
    pub delay_cost: Option<Money>,
    /// Whether no other offer of this currency is both cheaper and faster.
    pub is_pareto: bool,
    /// How its price can be learnt, when nobody states it.
    pub how_to_get_price: Option<HowToGetPrice>,
}

/// How the work is done on one instance type.
#[derive(Debug, Clone, Serialize)]
pub struct Solution {
    /// Machines in all.
    pub machines: u32,
    /// GPUs in all.
    pub gpus: u32,
    /// Layout on them.
    pub layout: Layout,
    /// Memory of the fullest GPU; `None` when nobody states what the work needs.
    pub memory: Option<MemoryEstimate>,
    /// How fast.
    pub speed: Speed,
    /// What is made in the time that a bill covers.
    pub outputs: Vec<Output>,
    /// Goals and the probability with which each is met.
    pub goals: Vec<Goal>,
    /// Where the time goes.
    pub time: Vec<TimeTerm>,
    /// How many times as long a training job takes because the GPUs wait for their data; `None` where nobody knows.
    pub waits_for_data: Option<f64>,
    /// Anything special about this choice (quality of a quantised model, waiting for the network...).
    pub notes: Vec<Message>,
}

/// How the work is laid out.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Layout {
    /// Equal replicas of a language model behind a router.
    Serve {
        /// Replicas.
        replicas: u32,
        /// Each one's layout.
        strategy: ServeStrategy,
    },
    /// Equal replicas of a model that answers in whole passes, one GPU each.
    Forward {
        /// Replicas.
        replicas: u32,
        /// What is counted.
        item: Item,
        /// Each one's layout.
        strategy: ForwardStrategy,
    },
    /// Files spread over equal machines.
    Transcode {
        /// What makes the video.
        unit: VideoUnit,
        /// The stage that bounds it.
        limit: TranscodeStage,
    },
    /// Frames spread over equal machines.
    Render {
        /// What the time of a frame rests on.
        basis: RenderBasis,
    },
    /// One training job.
    Train {
        /// Its layout.
        strategy: TrainStrategy,
    },
}

impl Layout {
    /// The engine or framework that the times are of, as the table of efficiencies spells it; `None` where no such table
    /// is read.
    #[must_use]
    pub fn engine(&self) -> Option<&'static str> {
        match self {
            Self::Serve { strategy, .. } => strategy.engine.serving_id(),
            Self::Forward { strategy, .. } => Some(strategy.engine.id()),
            Self::Train { .. } => Some(crate::train::FRAMEWORK),
            Self::Transcode { .. } | Self::Render { .. } => None,
        }
    }
}

/// What makes the video.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VideoUnit {
    /// The card's video engines.
    Engines,
    /// The machine's CPU cores.
    Cores,
}

/// How fast a choice is.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Speed {
    /// A service at the asked load.
    Service {
        /// Largest rate of all replicas inside the goals.
        capacity: PerSecond,
        /// Time to first token, 95th percentile; `None` where there are no tokens.
        ttft_p95: Option<Interval<Seconds>>,
        /// Time per output token, 95th percentile; `None` where there are no tokens.
        tpot_p95: Option<Interval<Seconds>>,
        /// Whole request, 95th percentile.
        end_to_end_p95: Interval<Seconds>,
    },
    /// Video that arrives all the time.
    Stream {
        /// Hours of video that all machines make in an hour.
        video_hours_per_hour: Interval<Count>,
        /// Time that all machines take for what arrives in an hour.
        hour_takes: Interval<Seconds>,
    },
    /// A job with an end.
    Job {
        /// From start to end.
        duration: Interval<Seconds>,
        /// One optimizer step, or one batch.
        step: Option<Interval<Seconds>>,
        /// Samples, requests, images, frames... in a second, all machines.
        items_per_second: Interval<PerSecond>,
        /// Share of the peak arithmetic that is used.
        mfu: Option<Interval<Share>>,
    },
}

impl Speed {
    /// The time that an objective makes small: a request's 95th percentile, or the whole job.
    #[must_use]
    pub fn time(&self) -> Interval<Seconds> {
        match self {
            Self::Service { end_to_end_p95, .. } => *end_to_end_p95,
            Self::Stream { hour_takes, .. } => *hour_takes,
            Self::Job { duration, .. } => *duration,
        }
    }
}

/// A goal of the workload and how surely it is met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Goal {
    /// What is asked, in words.
    pub what: Message,
    /// Probability that the truth keeps it.
    pub probability: f64,
}

/// A deadline and how surely work of this length keeps it.
pub(crate) fn deadline_goal(deadline: Seconds, duration: Interval<Seconds>) -> Goal {
    let what = Message::new("goal-deadline").with("limit", deadline);
    Goal { what, probability: duration.probability_at_most(deadline) }
}

/// An offer that cannot do it.
#[derive(Debug, Clone, Serialize)]
pub struct Rejected {
    /// Cloud.
    pub cloud: String,
    /// Instance type.
    pub instance: String,
    /// GPU id.
    pub gpu: String,
    /// Why.
    pub reason: Reason,
}

/// The first choice at one stage.
#[derive(Debug, Clone, Serialize)]
pub struct Variant {
    /// Stage.
    pub stage: Stage,
    /// The best offer at that stage; `None` when nothing is feasible.
    pub choice: Option<Choice>,
}

/// A change of the workload that may make it feasible.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    /// What is changed, in words.
    pub what: Message,
    /// Field of the workload file, as the user writes it.
    pub field: String,
    /// Its new value, as the user writes it.
    pub value: String,
    /// The best offer after the change; `None` when it still does not suffice.
    pub choice: Option<Choice>,
    /// When it does not suffice and memory is what lacks: the least need on any card, and what that card has.
    pub still_needed: Option<(Bytes, Bytes)>,
}

/// One step of the path to follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathStep {
    /// What the step is for.
    pub what: Message,
    /// What to run; `None` where it is a matter of the user's own tools.
    pub command: Option<String>,
    /// What must hold before the next step, all of it.
    pub gates: Vec<Message>,
}
