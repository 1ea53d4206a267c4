//! Models that answer in one pass or a fixed number of passes, online or offline: one GPU for each replica, the batch that
//! carries most inside the goals, and how many replicas.

use hob_catalog::ComputeType;
use hob_estimate::{
    ArithmeticBlock, Efficiencies, EstimateError, Fit, ForwardEngine, ForwardEstimate, ForwardProfile, ForwardShape,
    ForwardStrategy, Guidance, Hardware, Item, Limit, NumberFormat,
};
use hob_model::{ModelGraph, companions};
use hob_text::Message;
use hob_units::{HOURS_PER_MONTH, Interval, PerSecond, Seconds, Share};
use hob_workload::{Precision, Serve, Task, Workload};

use crate::bill::Need;
use crate::document::{Goal, Layout, Solution, Speed};
use crate::farm::farm;
use crate::fewest::{MACHINES_MAX, fewest};
use crate::limits::Limits;
use crate::llm::{goal, limit};
use crate::load;
use crate::reason::{Missed, Reason, further};
use crate::search::{Asked, Found, number_format};
use crate::unit::{Output, Unit};

/// Batches that are tried; past the largest, throughput has long flattened.
const BATCHES: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// The search for one workload; the model is folded once.
pub(crate) struct ForwardSearch<'a> {
    workload: &'a Workload,
    serve: &'a Serve,
    asked: Asked,
    limits: Vec<Limit>,
    profile: ForwardProfile,
    item: Item,
    shape: ForwardShape,
    table: &'a Efficiencies,
}

/// A batch size and what it carries on one replica.
struct Batch {
    strategy: ForwardStrategy,
    estimate: ForwardEstimate,
    /// Items a second inside the goals.
    capacity: PerSecond,
}

impl<'a> ForwardSearch<'a> {
    /// Folds the model at the workload's sizes. `amount` is the number of items of an offline job.
    ///
    /// # Errors
    /// When the model has no pass of this kind.
    pub(crate) fn new(
        workload: &'a Workload,
        serve: &'a Serve,
        amount: Option<f64>,
        graph: &ModelGraph,
        table: &'a Efficiencies,
    ) -> Result<Self, EstimateError> {
        let shape = shape(serve, graph);
        let profile = ForwardProfile::new(graph, &companions(graph), shape)?;
        let confidence = workload.objective.confidence.0;
        let limits = workload.objective.slo.iter().map(|slo| limit(slo, confidence)).collect();
        let asked = Asked::of(&serve.traffic, amount);
        let item = profile.item();
        Ok(Self { workload, serve, asked, limits, profile, item, shape, table })
    }

    /// The batch that needs the fewest machines (or answers soonest, when that is the objective).
    ///
    /// # Errors
    /// Why none works.
    pub(crate) fn best(&self, hardware: &Hardware<'_>, limits: &Limits) -> Result<Found, Reason> {
        let precision = precision(self.serve.precision, hardware);
        let mut best: Option<Found> = None;
        let mut failure: Option<Reason> = None;
        for batch in BATCHES {
            let strategy = ForwardStrategy::one_gpu(engine(self.serve.engine.as_deref()), precision, batch);
            match self.attempt(hardware, strategy, limits) {
                Ok(found) if best.as_ref().is_none_or(|known| found.is_better(known, self.workload, self.asked)) => {
                    best = Some(found)
                }
                Ok(_) => {}
                Err(reason) => {
                    // A larger batch needs more memory still.
                    let is_memory = matches!(reason, Reason::Memory { .. });
                    failure = further(failure, reason);
                    if is_memory {
                        break;
                    }
                }
            }
        }
        best.ok_or_else(|| failure.unwrap_or_else(|| Reason::unsupported("reject-no-batch")))
    }

    fn attempt(&self, hardware: &Hardware<'_>, strategy: ForwardStrategy, limits: &Limits) -> Result<Found, Reason> {
        let estimate = self.profile.estimate(hardware, &strategy, self.table)?;
        if estimate.memory.fit == Fit::DoesNot {
            return Err(Reason::Memory { needed: estimate.memory.total.mid, usable: estimate.memory.usable });
        }
        match self.asked {
            Asked::Rate(rate) => {
                let capacity = self
                    .profile
                    .capacity(hardware, &strategy, &self.limits, self.table)?
                    .filter(|capacity| capacity.0 > 0.0)
                    .ok_or_else(|| self.too_slow(&estimate))?;
                self.for_rate(hardware, Batch { strategy, estimate, capacity }, rate, limits)
            }
            Asked::InFlight(in_flight) => self.for_in_flight(hardware, strategy, estimate, in_flight, limits),
            Asked::Amount(amount) => self.for_amount(hardware, strategy, estimate, amount, limits),
        }
    }

    fn least(&self) -> u32 {
        self.workload.constraints.min_replicas.unwrap_or(1).max(1)
    }

    fn for_rate(
        &self,
        hardware: &Hardware<'_>,
        batch: Batch,
        rate: PerSecond,
        limits: &Limits,
    ) -> Result<Found, Reason> {
        let wanted = (rate.0 / batch.capacity.0).ceil().max(1.0);
        if wanted > f64::from(MACHINES_MAX) {
            return Err(self.too_slow(&batch.estimate));
        }
        let (machines, replicas) = limits.machines((wanted as u32).max(self.least()), hardware, self.least())?;
        let share = PerSecond(rate.0 / f64::from(replicas));
        let service = self.profile.service(hardware, &batch.strategy, share, self.table)?;
        let goals = self.limits.iter().map(|limit| goal(limit, service.latency.at(limit.percentile))).collect();
        let speed = Speed::Service {
            capacity: PerSecond(batch.capacity.0 * f64::from(replicas)),
            ttft_p95: None,
            tpot_p95: None,
            end_to_end_p95: service.latency.p95,
        };
        let used = load::machine_hours(&self.serve.traffic, machines, self.least());
        let used = self.workload.utilisation.unwrap_or(used);
        let items = load::in_a_month(&self.serve.traffic, self.workload.utilisation);
        Ok(self.found(
            hardware,
            batch.strategy,
            batch.estimate,
            (machines, replicas),
            speed,
            goals,
            items,
            Need::Always(used),
        ))
    }

    /// So many items are always in flight: each replica works through its share in rounds of one batch.
    fn for_in_flight(
        &self,
        hardware: &Hardware<'_>,
        strategy: ForwardStrategy,
        estimate: ForwardEstimate,
        in_flight: u64,
        limits: &Limits,
    ) -> Result<Found, Reason> {
        let latency = |replicas: u32| -> Interval<Seconds> {
            let each = in_flight.div_ceil(u64::from(replicas.max(1)));
            estimate.batch_latency.scaled(each.div_ceil(u64::from(strategy.batch)) as f64)
        };
        let goals =
            |replicas: u32| -> Vec<Goal> { self.limits.iter().map(|limit| goal(limit, latency(replicas))).collect() };
        let confidence = self.workload.objective.confidence.0;
        let keeps = |replicas: u32| Ok::<_, Reason>(goals(replicas).iter().all(|goal| goal.probability >= confidence));
        let most = u32::try_from(in_flight.div_ceil(u64::from(strategy.batch))).unwrap_or(u32::MAX).min(MACHINES_MAX);
        let enough = fewest(most, keeps)?.ok_or_else(|| self.too_slow(&estimate))?;
        let (machines, replicas) = limits.machines(enough.max(self.least()), hardware, self.least())?;
        let rate = PerSecond(in_flight as f64 / latency(replicas).mid.0.max(f64::MIN_POSITIVE));
        let speed =
            Speed::Service { capacity: rate, ttft_p95: None, tpot_p95: None, end_to_end_p95: latency(replicas) };
        let used = self.workload.utilisation.unwrap_or(Share(1.0));
        let items = rate.0 * Seconds::from_hours(HOURS_PER_MONTH).0 * used.0;
        let goals = goals(replicas);
        Ok(self.found(hardware, strategy, estimate, (machines, replicas), speed, goals, items, Need::Always(used)))
    }

    fn for_amount(
        &self,
        hardware: &Hardware<'_>,
        strategy: ForwardStrategy,
        estimate: ForwardEstimate,
        amount: f64,
        limits: &Limits,
    ) -> Result<Found, Reason> {
        let gpus = hardware.instance.gpu_count;
        let one: Interval<PerSecond> = estimate.items_per_second.scaled(f64::from(gpus));
        let farm = farm(self.workload, limits, gpus, one, amount)?;
        let speed = Speed::Job {
            duration: farm.duration,
            step: Some(estimate.batch_latency),
            items_per_second: one.scaled(f64::from(farm.machines)),
            mfu: None,
        };
        let placed = (farm.machines, farm.machines.saturating_mul(gpus));
        Ok(self.found(hardware, strategy, estimate, placed, speed, farm.goals, amount, Need::Once(farm.duration)))
    }

    #[allow(clippy::too_many_arguments)] // Each is one line of the document that is put together here.
    fn found(
        &self,
        hardware: &Hardware<'_>,
        strategy: ForwardStrategy,
        estimate: ForwardEstimate,
        (machines, replicas): (u32, u32),
        speed: Speed,
        goals: Vec<Goal>,
        items: f64,
        need: Need,
    ) -> Found {
        let solution = Solution {
            machines,
            gpus: machines.saturating_mul(hardware.instance.gpu_count),
            layout: Layout::Forward { replicas, item: self.item, strategy },
            memory: Some(estimate.memory),
            speed,
            outputs: self.outputs(items),
            goals,
            time: estimate.terms,
            waits_for_data: None,
            notes: estimate.quality_note.map(Message::new).into_iter().collect(),
        };
        Found { solution, need }
    }

    /// The arithmetic of one replica of a layout that was found.
    ///
    /// # Errors
    /// As the estimate.
    pub(crate) fn arithmetic(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ForwardStrategy,
        replicas: u32,
    ) -> Result<Vec<ArithmeticBlock>, EstimateError> {
        let rate = match self.asked {
            Asked::Rate(rate) => Some(PerSecond(rate.0 / f64::from(replicas.max(1)))),
            Asked::InFlight(_) | Asked::Amount(_) => None,
        };
        self.profile.arithmetic(hardware, strategy, rate, &self.limits, self.table)
    }

    /// What `items` items are, in the units in which their cost is compared.
    fn outputs(&self, items: f64) -> Vec<Output> {
        match self.item {
            Item::Image => vec![Output::new(Unit::ThousandImages, items / 1e3)],
            Item::Sequence => vec![
                Output::new(Unit::ThousandSequences, items / 1e3),
                Output::new(Unit::MillionTokens, items * self.shape.sequence as f64 / 1e6),
            ],
            Item::AudioClip => vec![Output::new(Unit::AudioHour, items * self.shape.clip.as_hours())],
            Item::VideoClip => vec![Output::new(Unit::VideoClip, items)],
            Item::ImageTextPair | Item::Row => vec![Output::new(Unit::ThousandRequests, items / 1e3)],
        }
    }

    /// What an idle replica reaches where it misses a limit.
    fn too_slow(&self, estimate: &ForwardEstimate) -> Reason {
        let missed = self.limits.iter().find(|limit| {
            estimate.batch_latency.probability_at_most(limit.at_most) < self.workload.objective.confidence.0
        });
        let missed = missed.map(|limit| {
            let what = goal(limit, estimate.batch_latency).what;
            Missed::new(what, limit.at_most, estimate.batch_latency)
        });
        Reason::TooSlow { machines: 1, missed }
    }
}

/// The user's sizes, else the model's own.
fn shape(serve: &Serve, graph: &ModelGraph) -> ForwardShape {
    let native = ForwardShape::native(graph);
    let traffic = &serve.traffic;
    let diffusion = &traffic.diffusion;
    let is_diffusion = matches!(serve.task, Some(Task::DiffusionImage | Task::DiffusionVideo));
    let reads_text = matches!(serve.task, Some(Task::Embedding | Task::Llm) | None);
    ForwardShape {
        resolution: traffic.resolution.or(native.resolution),
        frames: if is_diffusion { diffusion.frames.max(1) } else { native.frames },
        sequence: if reads_text {
            traffic.llm.prompt.0
        } else if serve.task == Some(Task::Vision) {
            0
        } else {
            native.sequence
        },
        clip: traffic.clip.unwrap_or(native.clip),
        steps: if is_diffusion { diffusion.steps } else { native.steps },
        guidance: match (is_diffusion, diffusion.guidance) {
            (true, true) => Guidance::Doubled,
            (true, false) => Guidance::Single,
            (false, _) => native.guidance,
        },
        decode_tokens: native.decode_tokens,
    }
}

/// The user's format, else 16 bits in the form that the card has, else 32 bits.
fn precision(wish: Option<Precision>, hardware: &Hardware<'_>) -> NumberFormat {
    let has = |compute| hardware.gpu.peak(compute).is_some();
    match wish {
        Some(precision) => number_format(precision),
        None if has(ComputeType::Fp16) => NumberFormat::Fp16,
        None if has(ComputeType::Bf16) => NumberFormat::Bf16,
        None => NumberFormat::Fp32,
    }
}

/// The engine by its name in the workload file; plain PyTorch when the planner may choose, since it runs every model.
fn engine(name: Option<&str>) -> ForwardEngine {
    match name {
        Some("tensorrt") => ForwardEngine::Tensorrt,
        Some("onnxruntime") => ForwardEngine::Onnxruntime,
        Some("torch-compile") => ForwardEngine::PytorchCompiled,
        _ => ForwardEngine::Pytorch,
    }
}
