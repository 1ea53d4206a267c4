//! One search for each kind of work, and its outcome on each kind of hardware.

use std::collections::BTreeMap;

use hob_catalog::Offer;
use hob_estimate::{FeedRates, Hardware, NumberFormat};
use hob_model::ModelKind;
use hob_text::Message;
use hob_units::PerSecond;
use hob_workload::{Minimise, Precision, Serve, Task, Traffic, Train, TrainLength, Work, Workload};

use crate::bill::Need;
use crate::document::{Goal, Solution, Speed, deadline_goal};
use crate::feed::{Slower, feed};
use crate::forward::ForwardSearch;
use crate::limits::Limits;
use crate::llm::LlmSearch;
use crate::load;
use crate::plan::{Inputs, PlanError};
use crate::reason::{Reason, late};
use crate::render::RenderSearch;
use crate::train::TrainSearch;
use crate::transcode::TranscodeSearch;
use crate::unit::{Output, Unit};

/// How the work is done on one kind of hardware, and for how long it is needed.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub solution: Solution,
    pub need: Need,
}

impl Found {
    /// Whether this layout is to be preferred on the same hardware: by time when that is the objective, by machine hours
    /// for a job, by machines for a service. A gain of less than 2 % is none.
    pub(crate) fn is_better(&self, known: &Self, workload: &Workload, asked: Asked) -> bool {
        let (new, known) = (&self.solution, &known.solution);
        let (time, before) = (new.speed.time().mid.0, known.speed.time().mid.0);
        match (workload.objective.minimise, asked) {
            (Minimise::Time, _) => time < before * 0.98,
            (_, Asked::Amount(_)) => f64::from(new.machines) * time < f64::from(known.machines) * before * 0.98,
            _ => new.machines < known.machines,
        }
    }
}

/// The number format that the user wishes, as estimates name it.
pub(crate) fn number_format(precision: Precision) -> NumberFormat {
    match precision {
        Precision::Fp32 => NumberFormat::Fp32,
        Precision::Tf32 => NumberFormat::Tf32,
        Precision::Fp16 => NumberFormat::Fp16,
        Precision::Bf16 => NumberFormat::Bf16,
        Precision::Fp8 => NumberFormat::Fp8,
        Precision::Int8 => NumberFormat::Int8,
        Precision::Int4 => NumberFormat::Int4,
        Precision::Fp4 => NumberFormat::Fp4,
    }
}

/// What is asked of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asked {
    /// So many requests a second at the peak.
    Rate(PerSecond),
    /// So many requests in flight, always.
    InFlight(u64),
    /// So many requests in all.
    Amount(f64),
}

impl Asked {
    /// An offline job when an amount is given; a closed loop when only the requests in flight are known.
    pub(crate) fn of(traffic: &Traffic, amount: Option<f64>) -> Self {
        let rate = load::peak(traffic);
        match (amount, traffic.concurrency) {
            (Some(amount), _) => Self::Amount(amount),
            (None, Some(in_flight)) if rate.0 <= 0.0 => Self::InFlight(in_flight.max(1)),
            _ => Self::Rate(rate),
        }
    }
}

/// Or why it cannot be done.
pub(crate) type Outcome = Result<Found, Reason>;

/// The search for one workload.
pub(crate) enum Search<'a> {
    /// A language model, online or offline.
    Llm(LlmSearch<'a>),
    /// Any other model, online or offline.
    Forward(Box<ForwardSearch<'a>>),
    /// Video to make into other video.
    Transcode(TranscodeSearch<'a>),
    /// Frames to render.
    Render(RenderSearch<'a>),
    /// A training job.
    Train(&'a Train, Box<TrainSearch<'a>>, &'a FeedRates),
}

impl<'a> Search<'a> {
    /// Prepares what does not depend on the hardware.
    ///
    /// # Errors
    /// When this kind of work cannot be planned or the model cannot be estimated.
    pub(crate) fn new(workload: &'a Workload, inputs: &Inputs<'a>) -> Result<Self, PlanError> {
        let model = || inputs.model.ok_or(PlanError::NoModel);
        let table = inputs.efficiencies;
        match &workload.work {
            Work::Train(train) => {
                Ok(Self::Train(train, Box::new(TrainSearch::new(workload, train, model()?, table)), inputs.feed))
            }
            Work::Serve(serve) if is_llm(serve, inputs) => {
                Ok(Self::Llm(LlmSearch::new(workload, serve, None, model()?, table)?))
            }
            Work::Batch { serve, amount } if is_llm(serve, inputs) => {
                Ok(Self::Llm(LlmSearch::new(workload, serve, Some(*amount), model()?, table)?))
            }
            Work::Serve(serve) => {
                Ok(Self::Forward(Box::new(ForwardSearch::new(workload, serve, None, model()?, table)?)))
            }
            Work::Batch { serve, amount } => {
                Ok(Self::Forward(Box::new(ForwardSearch::new(workload, serve, Some(*amount), model()?, table)?)))
            }
            Work::Transcode(transcode) => {
                Ok(Self::Transcode(TranscodeSearch::new(workload, transcode, inputs.catalog, inputs.media)?))
            }
            Work::Render(render) => {
                Ok(Self::Render(RenderSearch::new(workload, render, inputs.catalog, inputs.media)?))
            }
        }
    }

    /// The outcome on one offer.
    pub(crate) fn on(&self, workload: &Workload, offer: &Offer<'_>, limits: &Limits) -> Outcome {
        let hardware = Hardware { gpu: offer.gpu, instance: offer.instance, nodes: 1 };
        match self {
            Self::Llm(search) => search.best(&hardware, limits),
            Self::Forward(search) => search.best(&hardware, limits),
            Self::Transcode(search) => search.best(&hardware, limits),
            Self::Render(search) => search.best(&hardware, limits),
            Self::Train(train, search, rates) => train_on(workload, train, search, rates, offer, limits),
        }
    }

    /// The outcome for each offer, in the same order. Hardware that is the same under several names, and an instance type
    /// that is sold in several regions, is searched once.
    pub(crate) fn outcomes(&self, workload: &Workload, offers: &[Offer<'_>]) -> Vec<Outcome> {
        let mut known: BTreeMap<(Machine, Limits), Outcome> = BTreeMap::new();
        offers
            .iter()
            .map(|offer| {
                let limits = Limits::of(workload, offer);
                known.entry((Machine::of(offer), limits)).or_insert_with(|| self.on(workload, offer, &limits)).clone()
            })
            .collect()
    }
}

/// Whether tokens are generated: the task says so, or the model is a language model and the task is left out.
pub(crate) fn is_llm(serve: &Serve, inputs: &Inputs<'_>) -> bool {
    let of_model = inputs.model.is_none_or(|graph| matches!(graph.kind, ModelKind::CausalLm | ModelKind::Unknown));
    serve.task.map_or(of_model, |task| task == Task::Llm)
}

/// Everything of an offer that an estimate reads.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    gpu: String,
    gpu_count: u32,
    vcpus: Option<u32>,
    memory: Option<u64>,
    rest: String,
}

impl Machine {
    fn of(offer: &Offer<'_>) -> Self {
        let instance = offer.instance;
        let links = (instance.gpu_link, instance.network, instance.rdma, &instance.local_disk);
        Self {
            gpu: instance.gpu.clone(),
            gpu_count: instance.gpu_count,
            vcpus: instance.vcpus,
            memory: instance.memory.map(|memory| memory.0),
            rest: format!("{links:?}"),
        }
    }
}

/// The layout and the number of machines that are best by the objective.
fn train_on(
    workload: &Workload,
    train: &Train,
    search: &TrainSearch<'_>,
    rates: &FeedRates,
    offer: &Offer<'_>,
    limits: &Limits,
) -> Outcome {
    let one = Hardware { gpu: offer.gpu, instance: offer.instance, nodes: 1 };
    let found = search.best_fleet(&one, limits)?;
    let waits = found.estimate.waits_for_network;
    let network = (waits.0 > NETWORK_WAIT_TOLD).then(|| Message::new("note-waits-for-network").with("share", waits));
    let samples = found.duration.mid.0 * found.estimate.samples_per_second.mid.0;
    let fed = feed(train, &one, found.machines, found.estimate.samples_per_second, rates);
    let slower = fed.as_ref().and_then(|fed| fed.slower);
    let waits_for_data = slower.map(Slower::times);
    let (duration, speed) = match slower {
        Some(slower) => (slower.stretch(found.duration), fed_speed(found.speed, slower)),
        None => (found.duration, found.speed),
    };
    let goals: Vec<Goal> =
        workload.objective.deadline.map(|deadline| deadline_goal(deadline, duration)).into_iter().collect();
    if goals.iter().any(|goal| goal.probability < workload.objective.confidence.0) {
        let missed = workload.objective.deadline.map(|deadline| late(deadline, duration));
        return Err(Reason::TooSlow { machines: found.machines, missed });
    }
    let notes = network.into_iter().chain(fed.map(|fed| fed.notes).unwrap_or_default()).collect();
    let solution = Solution {
        machines: found.machines,
        gpus: found.machines.saturating_mul(offer.instance.gpu_count),
        layout: found.layout,
        memory: Some(found.estimate.memory),
        outputs: trained(train, samples),
        speed,
        goals,
        time: found.estimate.terms,
        waits_for_data,
        notes,
    };
    Ok(Found { solution, need: Need::Once(duration) })
}

/// The speed of a job whose GPUs wait for their data.
fn fed_speed(speed: Speed, slower: Slower) -> Speed {
    match speed {
        Speed::Job { duration, step, items_per_second, mfu } => Speed::Job {
            duration: slower.stretch(duration),
            step,
            items_per_second: slower.slow_down(items_per_second),
            mfu,
        },
        other => other,
    }
}

/// A wait for the network of more than this share of a step is told: a third of what the GPUs cost.
const NETWORK_WAIT_TOLD: f64 = 0.33;

/// Passes over the data and tokens of one training job.
fn trained(train: &Train, samples: f64) -> Vec<Output> {
    let epochs = match train.length {
        TrainLength::Epochs { epochs } => Some(epochs),
        _ => train.data.samples.filter(|all| *all > 0.0).map(|all| samples / all),
    };
    let tokens = train.data.sequence.map(|sequence| samples * sequence.0 as f64);
    let epoch = epochs.map(|epochs| Output::new(Unit::Epoch, epochs));
    epoch.into_iter().chain(tokens.map(|tokens| Output::new(Unit::MillionTokens, tokens / 1e6))).collect()
}
