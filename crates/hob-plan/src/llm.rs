//! Layouts of a language model on one instance type, online or offline: which fits, which keeps the goals, with how many
//! replicas.

use std::collections::BTreeMap;

use hob_estimate::{
    ArithmeticBlock, Arrival, Efficiencies, Engine, EstimateError, Fit, Hardware, KvFormat, LatencyKind, Limit,
    Percentile4, ServeEstimate, ServeLoad, ServeProfile, ServeStrategy, WeightFormat,
};
use hob_model::ModelGraph;
use hob_text::Message;
use hob_units::{Interval, PerSecond, Seconds, Share};
use hob_workload::{Goal as Latency, Percentile, Precision, Serve, Slo, Stage, Workload};

use crate::bill::Need;
use crate::document::{Goal, Layout, Solution, Speed, deadline_goal};
use crate::fewest::{MACHINES_MAX, fewest};
use crate::limits::Limits;
use crate::load;
use crate::reason::{Missed, Reason, further, late};
use crate::search::{Asked, Found};
use crate::unit::{Output, Unit};

/// Most sequences in one step: the engine's own default (vLLM `max_num_seqs` 256; engine documentation, 2025).
const BATCH_MAX: u32 = 256;
/// Most tokens in one step with chunked prefill (vLLM V1 default on large cards, 8192; engine documentation, 2025).
const TOKENS_MAX: u32 = 8192;
/// Share of the card that vLLM takes by default (engine documentation, 2025).
const MEMORY_UTILIZATION: f64 = 0.9;
/// Machines that one replica may span: pipeline stages between machines, tensor ranks inside them.
const MACHINES_OF_ONE: [u32; 3] = [1, 2, 4];

/// The search for one workload; profiles are folded once for each format.
pub(crate) struct LlmSearch<'a> {
    workload: &'a Workload,
    serve: &'a Serve,
    load: ServeLoad,
    asked: Asked,
    limits: Vec<Limit>,
    profiles: BTreeMap<(WeightFormat, KvFormat), ServeProfile>,
    table: &'a Efficiencies,
}

impl<'a> LlmSearch<'a> {
    /// Folds the model for every format that the workload allows. `amount` is the number of requests of an offline job.
    ///
    /// # Errors
    /// When the model cannot be served as a language model.
    pub(crate) fn new(
        workload: &'a Workload,
        serve: &'a Serve,
        amount: Option<f64>,
        graph: &ModelGraph,
        table: &'a Efficiencies,
    ) -> Result<Self, EstimateError> {
        let llm = serve.traffic.llm;
        let rate = load::peak(&serve.traffic);
        let asked = Asked::of(&serve.traffic, amount);
        let mean = (llm.prompt.0 + llm.output.0) as f64;
        // What nobody asked for is not kept room for beyond what the model takes.
        let usual = graph.context_max.map_or(2.0 * mean, |limit| (limit as f64).min(2.0 * mean));
        let load = ServeLoad {
            prompt: llm.prompt.0 as f64,
            output: llm.output.0 as f64,
            context_max: llm.context_max.map_or(usual, |tokens| tokens.0 as f64),
            prefix_hit: llm.prefix_hit.0,
            arrival: Arrival::Open(rate),
        };
        let mut profiles = BTreeMap::new();
        for format in formats(serve.precision, workload.stage, graph) {
            for kv in [KvFormat::Half, KvFormat::Fp8] {
                profiles.insert((format, kv), ServeProfile::new(graph, format, kv)?);
            }
        }
        let confidence = workload.objective.confidence.0;
        let limits = workload.objective.slo.iter().map(|slo| limit(slo, confidence)).collect();
        Ok(Self { workload, serve, load, asked, limits, profiles, table })
    }

    /// The layout with the fewest machines (or the shortest time, when that is the objective); among equals the least
    /// quantised, then the smallest tensor group. An 8-bit KV cache and several machines for one replica are tried only
    /// when nothing simpler works.
    ///
    /// # Errors
    /// The reason why none works: that of the layout which came furthest.
    pub(crate) fn best(&self, hardware: &Hardware<'_>, limits: &Limits) -> Result<Found, Reason> {
        let mut failure: Option<Reason> = None;
        for kv in [KvFormat::Half, KvFormat::Fp8] {
            for machines in MACHINES_OF_ONE {
                if machines > 1 && !limits.multi_node {
                    continue;
                }
                match self.best_with(&Hardware { nodes: machines, ..*hardware }, kv, limits) {
                    Ok(found) => return Ok(found),
                    Err(reason) => failure = further(failure, reason),
                }
            }
        }
        Err(failure.unwrap_or_else(|| Reason::unsupported("reject-no-layout")))
    }

    fn best_with(&self, hardware: &Hardware<'_>, kv: KvFormat, limits: &Limits) -> Result<Found, Reason> {
        let mut best: Option<Found> = None;
        let mut failure: Option<Reason> = None;
        for ((format, _), profile) in self.profiles.iter().filter(|((_, stored), _)| *stored == kv) {
            for tensor in tensor_sizes(hardware) {
                let strategy = ServeStrategy {
                    engine: engine(self.serve.engine.as_deref()),
                    tensor,
                    pipeline: hardware.nodes,
                    weights: *format,
                    kv,
                    batch_max: BATCH_MAX,
                    tokens_max: TOKENS_MAX,
                    memory_utilization: MEMORY_UTILIZATION,
                };
                match self.attempt(hardware, profile, strategy, limits) {
                    Ok(found)
                        if best.as_ref().is_none_or(|known| found.is_better(known, self.workload, self.asked)) =>
                    {
                        best = Some(found)
                    }
                    Ok(_) => {}
                    Err(reason) => failure = further(failure, reason),
                }
            }
        }
        best.ok_or_else(|| failure.unwrap_or_else(|| Reason::unsupported("reject-no-layout")))
    }

    fn attempt(
        &self,
        hardware: &Hardware<'_>,
        profile: &ServeProfile,
        strategy: ServeStrategy,
        limits: &Limits,
    ) -> Result<Found, Reason> {
        let replica = Replica { search: self, hardware, profile, strategy };
        let alone = replica.at(Arrival::Closed(1))?;
        if alone.memory.fit == Fit::DoesNot || alone.kv_slots == 0 {
            return Err(Reason::Memory { needed: alone.memory.total.mid, usable: alone.memory.usable });
        }
        let placed = match self.asked {
            Asked::Rate(rate) => replica.for_rate(rate, limits)?,
            Asked::InFlight(in_flight) => replica.for_in_flight(in_flight, limits)?,
            Asked::Amount(amount) => replica.for_amount(amount, alone.kv_slots, limits)?,
        };
        let notes = placed.estimate.quality_note.map(Message::new);
        let kv_note = (strategy.kv == KvFormat::Fp8).then(|| Message::new("quality-kv-fp8"));
        let solution = Solution {
            machines: placed.machines,
            gpus: placed.machines.saturating_mul(hardware.instance.gpu_count),
            layout: Layout::Serve { replicas: placed.replicas, strategy },
            memory: Some(placed.estimate.memory),
            speed: placed.speed,
            outputs: placed.outputs,
            goals: placed.goals,
            time: [placed.estimate.prefill, placed.estimate.decode_step].concat(),
            waits_for_data: None,
            notes: notes.into_iter().chain(kv_note).collect(),
        };
        Ok(Found { solution, need: placed.need })
    }

    /// The arithmetic of one replica of a layout that was found.
    ///
    /// # Errors
    /// As the estimate.
    pub(crate) fn arithmetic(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ServeStrategy,
        replicas: u32,
    ) -> Result<Vec<ArithmeticBlock>, EstimateError> {
        let Some(profile) = self.profiles.get(&(strategy.weights, strategy.kv)) else { return Ok(Vec::new()) };
        let at = |arrival| ServeLoad { arrival, ..self.load };
        let shared = |all: f64| (all / f64::from(replicas.max(1))).ceil().max(1.0) as u32;
        let arrival = match self.asked {
            Asked::Rate(rate) => Arrival::Open(PerSecond(rate.0 / f64::from(replicas.max(1)))),
            Asked::InFlight(in_flight) => Arrival::Closed(shared(in_flight as f64)),
            Asked::Amount(amount) => {
                let alone = profile.estimate(hardware, strategy, &at(Arrival::Closed(1)), self.table)?;
                let slots = u32::try_from(alone.kv_slots.min(u64::from(strategy.batch_max))).unwrap_or(u32::MAX);
                Arrival::Closed(slots.clamp(1, shared(amount)))
            }
        };
        profile.arithmetic(hardware, strategy, &at(arrival), &self.limits, self.table)
    }

    /// What `requests` requests make.
    fn outputs(&self, requests: f64) -> Vec<Output> {
        vec![
            Output::new(Unit::MillionOutputTokens, requests * self.load.output / 1e6),
            Output::new(Unit::ThousandRequests, requests / 1e3),
        ]
    }

    fn goals(&self, estimate: &ServeEstimate) -> Vec<Goal> {
        self.limits.iter().map(|limit| goal(limit, band(estimate, limit))).collect()
    }
}

/// One layout on one kind of machine.
struct Replica<'a> {
    search: &'a LlmSearch<'a>,
    hardware: &'a Hardware<'a>,
    profile: &'a ServeProfile,
    strategy: ServeStrategy,
}

/// Replicas for what is asked.
struct Placed {
    machines: u32,
    replicas: u32,
    estimate: ServeEstimate,
    speed: Speed,
    goals: Vec<Goal>,
    outputs: Vec<Output>,
    need: Need,
}

/// An offline job on a number of replicas.
struct Job {
    replicas: u32,
    estimate: ServeEstimate,
    rate: Interval<PerSecond>,
    duration: Interval<Seconds>,
}

impl Replica<'_> {
    fn at(&self, arrival: Arrival) -> Result<ServeEstimate, Reason> {
        let load = ServeLoad { arrival, ..self.search.load };
        Ok(self.profile.estimate(self.hardware, &self.strategy, &load, self.search.table)?)
    }

    /// Replicas on one machine; one replica may also span several machines.
    fn per_machine(&self) -> u32 {
        (self.hardware.gpus() / self.strategy.tensor.saturating_mul(self.strategy.pipeline)).max(1)
    }

    /// Machines for so many replicas, and the replicas that these machines hold. Replicas that are wanted for redundancy
    /// stand on machines of their own.
    fn machines(&self, replicas: u32, apart: u32, limits: &Limits) -> Result<(u32, u32), Reason> {
        let per_machine = self.per_machine();
        let groups = replicas.div_ceil(per_machine).max(apart);
        let machines = groups.saturating_mul(self.hardware.nodes);
        limits.check(machines, self.hardware.instance.gpu_count)?;
        Ok((machines, groups.saturating_mul(per_machine)))
    }

    fn replicas_min(&self) -> u32 {
        self.search.workload.constraints.min_replicas.unwrap_or(1).max(1)
    }

    fn for_rate(&self, rate: PerSecond, limits: &Limits) -> Result<Placed, Reason> {
        let search = self.search;
        let capacity = self
            .profile
            .capacity(self.hardware, &self.strategy, &search.load, &search.limits, search.table)?
            .filter(|capacity| capacity.0 > 0.0)
            .ok_or_else(|| self.too_slow(1))?;
        let wanted = (rate.0 / capacity.0).ceil().max(1.0);
        if wanted > f64::from(MACHINES_MAX) {
            return Err(self.too_slow(MACHINES_MAX));
        }
        let least = self.replicas_min();
        let (machines, replicas) = self.machines((wanted as u32).max(least), least, limits)?;
        let estimate = self.at(Arrival::Open(PerSecond(rate.0 / f64::from(replicas))))?;
        let traffic = &search.serve.traffic;
        let used = search.workload.utilisation.unwrap_or_else(|| load::machine_hours(traffic, machines, least));
        let requests = load::in_a_month(traffic, search.workload.utilisation);
        Ok(self.service(machines, replicas, PerSecond(capacity.0 * f64::from(replicas)), estimate, requests, used))
    }

    /// The fewest replicas on which the requests in flight keep every goal.
    fn for_in_flight(&self, in_flight: u64, limits: &Limits) -> Result<Placed, Reason> {
        let each = |replicas: u32| u32::try_from(in_flight.div_ceil(u64::from(replicas))).unwrap_or(u32::MAX);
        let keeps = |replicas: u32| -> Result<bool, Reason> {
            let estimate = self.at(Arrival::Closed(each(replicas)))?;
            let goals = self.search.goals(&estimate);
            let confidence = self.search.workload.objective.confidence.0;
            Ok(!estimate.saturated && goals.iter().all(|goal| goal.probability >= confidence))
        };
        let most = u32::try_from(in_flight).unwrap_or(u32::MAX).min(MACHINES_MAX);
        let enough = fewest(most, keeps)?.ok_or_else(|| self.too_slow(most))?;
        let least = self.replicas_min();
        let (machines, replicas) = self.machines(enough.max(least), least, limits)?;
        let estimate = self.at(Arrival::Closed(each(replicas)))?;
        let rate = PerSecond(estimate.requests_per_second.mid.0 * f64::from(replicas));
        let used = self.search.workload.utilisation.unwrap_or(Share(1.0));
        let requests = rate.0 * Seconds::from_hours(hob_units::HOURS_PER_MONTH).0 * used.0;
        Ok(self.service(machines, replicas, rate, estimate, requests, used))
    }

    fn service(
        &self,
        machines: u32,
        replicas: u32,
        capacity: PerSecond,
        estimate: ServeEstimate,
        requests_a_month: f64,
        used: Share,
    ) -> Placed {
        let speed = Speed::Service {
            capacity,
            ttft_p95: Some(estimate.ttft.p95),
            tpot_p95: Some(estimate.tpot.p95),
            end_to_end_p95: estimate.end_to_end.p95,
        };
        let (goals, outputs) = (self.search.goals(&estimate), self.search.outputs(requests_a_month));
        Placed { machines, replicas, estimate, speed, goals, outputs, need: Need::Always(used) }
    }

    /// An offline job keeps as many sequences in flight as fit. A replica without a request would stand idle, so that there
    /// are never more replicas than requests.
    fn for_amount(&self, amount: f64, kv_slots: u64, limits: &Limits) -> Result<Placed, Reason> {
        let slots = u32::try_from(kv_slots.min(u64::from(self.strategy.batch_max))).unwrap_or(u32::MAX).max(1);
        let full = self.at(Arrival::Closed(slots))?;
        let job = |groups: u32| self.job(amount, groups, slots, &full);
        let objective = &self.search.workload.objective;
        let nodes = self.hardware.nodes.max(1);
        let useful = amount.ceil().max(1.0) / f64::from(self.per_machine());
        let most = useful.ceil().min(f64::from(MACHINES_MAX / nodes)) as u32;
        let groups = match objective.deadline {
            None => 1,
            Some(deadline) => {
                let sure = |duration: Interval<Seconds>| duration.probability_at_most(deadline);
                let keeps = |groups: u32| Ok::<_, Reason>(sure(job(groups)?.duration) >= objective.confidence.0);
                match fewest(most, keeps)? {
                    Some(groups) => groups,
                    None => {
                        let duration = job(most)?.duration;
                        let missed = Some(late(deadline, duration));
                        return Err(Reason::TooSlow { machines: most.saturating_mul(nodes), missed });
                    }
                }
            }
        };
        let machines = groups.saturating_mul(nodes);
        limits.check(machines, self.hardware.instance.gpu_count)?;
        let Job { replicas, estimate, rate, duration } = job(groups)?;
        let goals = objective.deadline.map(|deadline| deadline_goal(deadline, duration));
        Ok(Placed {
            machines,
            replicas,
            estimate,
            speed: Speed::Job { duration, step: None, items_per_second: rate, mfu: None },
            goals: goals.into_iter().collect(),
            outputs: self.search.outputs(amount),
            need: Need::Once(duration),
        })
    }

    /// An offline job on so many groups of machines; `full` is one replica with all its `slots` taken.
    fn job(&self, amount: f64, groups: u32, slots: u32, full: &ServeEstimate) -> Result<Job, Reason> {
        let requests = amount.ceil().max(1.0);
        let replicas = f64::from(groups.saturating_mul(self.per_machine())).min(requests);
        let in_flight = f64::from(slots).min((requests / replicas).ceil()) as u32;
        let estimate = if in_flight == slots { full.clone() } else { self.at(Arrival::Closed(in_flight))? };
        let rate: Interval<PerSecond> = estimate.requests_per_second.scaled(replicas);
        // The first ones in flight take their whole time, at the end of which the others follow at the replicas' pace.
        let others = (amount - f64::from(in_flight) * replicas).max(0.0);
        let duration = rate.inverted::<Seconds>(others).plus_independent(estimate.end_to_end.p95);
        if !duration.mid.0.is_finite() || !duration.high.0.is_finite() {
            return Err(Reason::unsupported("reject-no-speed"));
        }
        Ok(Job { replicas: replicas as u32, estimate, rate, duration })
    }

    /// The first limit that an idle replica misses, and what it reaches there.
    fn too_slow(&self, machines: u32) -> Reason {
        let missed = self.at(Arrival::Closed(1)).ok().and_then(|idle| {
            let missed = self.search.limits.iter().find(|limit| {
                band(&idle, limit).probability_at_most(limit.at_most) < self.search.workload.objective.confidence.0
            })?;
            let reached = band(&idle, missed);
            Some(Missed::new(goal(missed, reached).what, missed.at_most, reached))
        });
        Reason::TooSlow { machines, missed }
    }
}

fn band(estimate: &ServeEstimate, limit: &Limit) -> Interval<Seconds> {
    let percentiles = match limit.what {
        LatencyKind::Ttft => estimate.ttft,
        LatencyKind::Tpot => estimate.tpot,
        LatencyKind::EndToEnd => estimate.end_to_end,
    };
    percentiles.at(limit.percentile)
}

/// A latency goal and how surely it is met.
pub(crate) fn goal(limit: &Limit, reached: Interval<Seconds>) -> Goal {
    let name = match limit.what {
        LatencyKind::Ttft => "TTFT",
        LatencyKind::Tpot => "TPOT",
        LatencyKind::EndToEnd => "end-to-end",
    };
    let what = Message::new("goal-latency")
        .with("name", name)
        .with("percentile", format!("{:?}", limit.percentile).to_lowercase())
        .with("limit", limit.at_most);
    Goal { what, probability: reached.probability_at_most(limit.at_most) }
}

/// Powers of two up to the GPUs of one machine; all of them when one replica spans machines.
fn tensor_sizes(hardware: &Hardware<'_>) -> Vec<u32> {
    let gpus = hardware.instance.gpu_count;
    if hardware.nodes > 1 {
        return vec![gpus];
    }
    (0..=5).map(|power| 1_u32 << power).filter(|tensor| *tensor <= gpus).collect()
}

/// The engine by its name in the workload file; vLLM when the planner may choose.
fn engine(name: Option<&str>) -> Engine {
    match name {
        Some("sglang") => Engine::Sglang,
        Some("trtllm" | "tensorrt-llm") => Engine::TensorrtLlm,
        Some("llama.cpp" | "llamacpp") => Engine::LlamaCpp,
        Some("transformers") => Engine::Transformers,
        _ => Engine::Vllm,
    }
}

/// Weight formats to try, least quantised first. Without a wish, real users get no 4-bit weights: 16 bits (or as stored),
/// then fp8. Try-outs may.
fn formats(wish: Option<Precision>, stage: Stage, graph: &ModelGraph) -> Vec<WeightFormat> {
    match wish {
        Some(Precision::Fp8) => vec![WeightFormat::Fp8],
        Some(Precision::Int8) => vec![WeightFormat::Int8],
        Some(Precision::Int4) => vec![WeightFormat::Int4],
        Some(Precision::Fp4) => vec![WeightFormat::Fp4],
        Some(Precision::Fp32 | Precision::Tf32 | Precision::Fp16 | Precision::Bf16) => vec![WeightFormat::Half],
        None if graph.quantization.is_some() => vec![WeightFormat::AsStored],
        None if stage == Stage::Production => vec![WeightFormat::Half, WeightFormat::Fp8],
        None => vec![WeightFormat::Half, WeightFormat::Fp8, WeightFormat::Int4],
    }
}

/// A goal of the workload as the estimate takes it.
pub(crate) fn limit(slo: &Slo, confidence: f64) -> Limit {
    let what = match slo.goal {
        Latency::Ttft => LatencyKind::Ttft,
        Latency::Tpot => LatencyKind::Tpot,
        Latency::EndToEnd => LatencyKind::EndToEnd,
    };
    let percentile = match slo.percentile {
        Percentile::P50 => Percentile4::P50,
        Percentile::P90 => Percentile4::P90,
        Percentile::P95 => Percentile4::P95,
        Percentile::P99 => Percentile4::P99,
    };
    Limit { what, percentile, at_most: slo.at_most, confidence }
}
