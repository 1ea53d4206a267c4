//! The plan as a document: what was understood, the ranked offers, the losers and why.

use hob_catalog::{ChargeType, HowToGetPrice};
use hob_estimate::{MemoryEstimate, ServeStrategy, TimeTerm, TrainStrategy};
use hob_text::Message;
use hob_units::{Currency, Interval, Money, MoneyPer, PerSecond, Seconds, Share};
use hob_workload::Assumed;
use serde::Serialize;

/// The whole plan.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// Name of the workload.
    pub workload: String,
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
    /// Offers (instance types in a region) looked at.
    pub offers_considered: usize,
}

/// Offers in one currency; two currencies are never compared without the user's rate.
#[derive(Debug, Clone, Serialize)]
pub struct PriceGroup {
    /// Currency of every amount inside.
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
    /// Region as the price names it.
    pub region: String,
    /// How the work is done on it.
    #[serde(flatten)]
    pub solution: Solution,
    /// Under each billing mode, cheapest first.
    pub bills: Vec<Bill>,
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
    /// Memory of the fullest GPU.
    pub memory: MemoryEstimate,
    /// How fast.
    pub speed: Speed,
    /// Goals and the probability with which each is met.
    pub goals: Vec<Goal>,
    /// Where the time goes.
    pub time: Vec<TimeTerm>,
    /// Anything special about this choice (quality of a quantised model...).
    pub notes: Vec<Message>,
}

/// How the work is laid out.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Layout {
    /// Equal replicas behind a router.
    Serve {
        /// Replicas.
        replicas: u32,
        /// Each one's layout.
        strategy: ServeStrategy,
    },
    /// One training job.
    Train {
        /// Its layout.
        strategy: TrainStrategy,
    },
}

/// How fast a choice is.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Speed {
    /// A service at the asked rate.
    Service {
        /// Largest rate of all replicas inside the goals.
        capacity: PerSecond,
        /// Time to first token, 95th percentile.
        ttft_p95: Interval<Seconds>,
        /// Time per output token, 95th percentile.
        tpot_p95: Interval<Seconds>,
        /// Whole request, 95th percentile.
        end_to_end_p95: Interval<Seconds>,
    },
    /// A job with an end.
    Job {
        /// From start to end.
        duration: Interval<Seconds>,
        /// One optimizer step.
        step: Interval<Seconds>,
        /// Samples in a second.
        samples_per_second: Interval<PerSecond>,
        /// Share of the peak that is used.
        mfu: Interval<Share>,
    },
}

/// A goal of the workload and how surely it is met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Goal {
    /// What is asked, in words.
    pub what: Message,
    /// Probability that the truth keeps it.
    pub probability: f64,
}

/// What a choice costs under one billing mode, for all its machines.
#[derive(Debug, Clone, Serialize)]
pub struct Bill {
    /// Mode.
    pub charge: ChargeType,
    /// List price; the upper end where the source prints a range.
    pub price: MoneyPer,
    /// Lower end where the source prints a range.
    pub price_low: Option<MoneyPer>,
    /// For one average month at the stated utilisation, or for the whole job.
    pub cost: Money,
    /// Whether `cost` is for the whole job (else for a month).
    pub for_whole_job: bool,
    /// Source of the price.
    pub source: String,
    /// Date of the price.
    pub date: String,
    /// Share of the time in use above which this mode beats pay-as-you-go, for commitments.
    pub break_even: Option<Share>,
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

/// Why an offer was rejected. Its words are in the message catalogue.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Reason {
    /// The model does not fit in any allowed layout.
    Memory {
        /// What the best layout needs on the fullest GPU.
        needed: hob_units::Bytes,
        /// What the card has.
        usable: hob_units::Bytes,
    },
    /// It fits, and is too slow for a goal even when idle or at the largest allowed size.
    TooSlow {
        /// Machines that were tried at most.
        machines: u32,
    },
    /// More GPUs or machines than the workload allows.
    TooMany {
        /// GPUs that would be needed.
        gpus: u32,
    },
    /// Dearer than the budget in every billing mode.
    OverBudget {
        /// Cheapest bill.
        cost: Money,
    },
    /// The catalog lacks a figure, or the card lacks the arithmetic.
    Unsupported {
        /// Words of the estimate.
        why: String,
    },
}

impl Reason {
    /// The sentence for the user.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Memory { needed, usable } => {
                Message::new("reject-memory").with("needed", needed).with("usable", usable)
            }
            Self::TooSlow { machines } => Message::new("reject-slow").with("machines", machines),
            Self::TooMany { gpus } => Message::new("reject-too-many").with("gpus", gpus),
            Self::OverBudget { cost } => Message::new("reject-budget").with("cost", cost),
            Self::Unsupported { why } => Message::new("reject-unsupported").with("why", why),
        }
    }
}
