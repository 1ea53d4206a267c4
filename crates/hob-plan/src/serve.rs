//! Layouts of an LLM service on one instance type: which fits, which keeps the goals, with how many replicas.

use std::collections::BTreeMap;

use hob_estimate::{
    Arrival, Efficiencies, Engine, Hardware, KvFormat, LatencyKind, Limit, Percentile4, ServeEstimate, ServeLoad,
    ServeProfile, ServeStrategy, WeightFormat,
};
use hob_model::ModelGraph;
use hob_text::Message;
use hob_units::PerSecond;
use hob_workload::{Goal as Latency, Percentile, Precision, Serve, Slo, Stage, Workload};

use crate::document::{Goal, Layout, Reason, Speed};

/// Most sequences in one step: the engine's own default (vLLM `max_num_seqs` 256; engine documentation, 2025).
const BATCH_MAX: u32 = 256;
/// Most tokens in one step with chunked prefill (vLLM V1 default on large cards, 8192; engine documentation, 2025).
const TOKENS_MAX: u32 = 8192;
/// Share of the card that vLLM takes by default (engine documentation, 2025).
const MEMORY_UTILIZATION: f64 = 0.9;

/// A layout that works, before it is priced.
pub(crate) struct Found {
    /// Machines in all.
    pub machines: u32,
    /// Layout.
    pub layout: Layout,
    /// Estimate at the asked rate, spread over the replicas.
    pub estimate: ServeEstimate,
    /// Speed.
    pub speed: Speed,
    /// Goals.
    pub goals: Vec<Goal>,
    /// Caveats.
    pub notes: Vec<Message>,
}

/// The search for one workload; profiles are folded once for each weight format.
pub(crate) struct ServeSearch<'a> {
    workload: &'a Workload,
    load: ServeLoad,
    rate: PerSecond,
    limits: Vec<Limit>,
    profiles: BTreeMap<WeightFormat, ServeProfile>,
    table: &'a Efficiencies,
}

impl<'a> ServeSearch<'a> {
    /// Folds the model for every weight format that the workload allows.
    ///
    /// # Errors
    /// When the model cannot be served as a language model.
    pub(crate) fn new(
        workload: &'a Workload,
        serve: &'a Serve,
        graph: &ModelGraph,
        table: &'a Efficiencies,
    ) -> Result<Self, hob_estimate::EstimateError> {
        let llm = serve.traffic.llm;
        let rate = peak_rate(serve);
        let mean = (llm.prompt.0 + llm.output.0) as f64;
        let load = ServeLoad {
            prompt: llm.prompt.0 as f64,
            output: llm.output.0 as f64,
            context_max: llm.context_max.map_or(2.0 * mean, |tokens| tokens.0 as f64),
            prefix_hit: llm.prefix_hit.0,
            arrival: Arrival::Open(rate),
        };
        let mut profiles = BTreeMap::new();
        for format in formats(serve.precision, workload.stage, graph) {
            profiles.insert(format, ServeProfile::new(graph, format, KvFormat::Half)?);
        }
        let confidence = workload.objective.confidence.0;
        let limits = workload.objective.slo.iter().map(|slo| limit(slo, confidence)).collect();
        Ok(Self { workload, load, rate, limits, profiles, table })
    }

    /// The layout with the fewest machines on this hardware; among equals the least quantised, then the one with the
    /// most room.
    ///
    /// # Errors
    /// The reason why none works: that of the layout which came furthest.
    pub(crate) fn best(&self, hardware: &Hardware<'_>) -> Result<Found, Reason> {
        let mut best: Option<Found> = None;
        let mut failure: Option<Reason> = None;
        for (format, profile) in &self.profiles {
            for tensor in tensor_sizes(hardware.gpus()) {
                let strategy = ServeStrategy {
                    engine: Engine::Vllm,
                    tensor,
                    pipeline: 1,
                    weights: *format,
                    kv: KvFormat::Half,
                    batch_max: BATCH_MAX,
                    tokens_max: TOKENS_MAX,
                    memory_utilization: MEMORY_UTILIZATION,
                };
                match self.attempt(hardware, profile, strategy) {
                    Ok(found) => {
                        if best.as_ref().is_none_or(|previous| found.machines < previous.machines) {
                            best = Some(found);
                        }
                    }
                    Err(reason) => {
                        if failure.as_ref().is_none_or(|previous| progress(&reason) > progress(previous)) {
                            failure = Some(reason);
                        }
                    }
                }
            }
        }
        best.ok_or_else(|| {
            failure.unwrap_or_else(|| Reason::Unsupported { why: "no layout divides the GPUs".to_owned() })
        })
    }

    fn attempt(
        &self,
        hardware: &Hardware<'_>,
        profile: &ServeProfile,
        strategy: ServeStrategy,
    ) -> Result<Found, Reason> {
        let unsupported = |error: hob_estimate::EstimateError| Reason::Unsupported { why: error.to_string() };
        let estimate = |load: &ServeLoad| profile.estimate(hardware, &strategy, load, self.table).map_err(unsupported);

        let alone = estimate(&self.load)?;
        if alone.memory.fit == hob_estimate::Fit::DoesNot || alone.kv_slots == 0 {
            return Err(Reason::Memory { needed: alone.memory.total.mid, usable: alone.memory.usable });
        }
        let capacity = profile
            .capacity(hardware, &strategy, &self.load, &self.limits, self.table)
            .map_err(unsupported)?
            .filter(|capacity| capacity.0 > 0.0)
            .ok_or(Reason::TooSlow { machines: 1 })?;

        let constraints = &self.workload.constraints;
        let replicas_min = constraints.min_replicas.unwrap_or(1).max(1);
        let wanted = (self.rate.0 / capacity.0).ceil().max(1.0);
        if wanted > f64::from(REPLICAS_MAX) {
            return Err(Reason::TooSlow { machines: REPLICAS_MAX });
        }
        let replicas = (wanted as u32).max(replicas_min);
        let per_machine = (hardware.gpus() / strategy.tensor).max(1);
        // Replicas that are wanted for redundancy stand on machines of their own.
        let machines = replicas.div_ceil(per_machine).max(replicas_min);
        let gpus = machines.saturating_mul(hardware.gpus());
        if constraints.max_gpus.is_some_and(|most| gpus > most)
            || constraints.max_machines.is_some_and(|most| machines > most)
        {
            return Err(Reason::TooMany { gpus });
        }
        // A machine that is rented anyway runs as many replicas as it holds.
        let replicas = machines.saturating_mul(per_machine);
        let share = ServeLoad { arrival: Arrival::Open(PerSecond(self.rate.0 / f64::from(replicas))), ..self.load };
        let estimate = estimate(&share)?;
        let goals = self.goals(&estimate);
        let notes = estimate.quality_note.map(Message::new).into_iter().collect();
        let speed = Speed::Service {
            capacity: PerSecond(capacity.0 * f64::from(replicas)),
            ttft_p95: estimate.ttft.p95,
            tpot_p95: estimate.tpot.p95,
            end_to_end_p95: estimate.end_to_end.p95,
        };
        Ok(Found { machines, layout: Layout::Serve { replicas, strategy }, estimate, speed, goals, notes })
    }

    fn goals(&self, estimate: &ServeEstimate) -> Vec<Goal> {
        self.limits
            .iter()
            .map(|limit| {
                let band = match limit.what {
                    LatencyKind::Ttft => estimate.ttft,
                    LatencyKind::Tpot => estimate.tpot,
                    LatencyKind::EndToEnd => estimate.end_to_end,
                };
                let name = match limit.what {
                    LatencyKind::Ttft => "TTFT",
                    LatencyKind::Tpot => "TPOT",
                    LatencyKind::EndToEnd => "end-to-end",
                };
                let what = Message::new("goal-latency")
                    .with("name", name)
                    .with("percentile", format!("{:?}", limit.percentile).to_lowercase())
                    .with("limit", limit.at_most);
                Goal { what, probability: band.at(limit.percentile).probability_at_most(limit.at_most) }
            })
            .collect()
    }
}

/// More replicas than this for one service is a sign of a wrong unit; also bounds the arithmetic.
const REPLICAS_MAX: u32 = 10_000;

/// How far a layout came before it failed: the reason shown is that of the one which came furthest.
fn progress(reason: &Reason) -> u8 {
    match reason {
        Reason::Unsupported { .. } => 0,
        Reason::Memory { .. } => 1,
        Reason::TooSlow { .. } => 2,
        Reason::TooMany { .. } => 3,
        Reason::OverBudget { .. } => 4,
    }
}

/// Highest rate of the day.
pub(crate) fn peak_rate(serve: &Serve) -> PerSecond {
    let windows = serve.traffic.windows.iter().map(|window| window.rate.0);
    let stated = serve.traffic.rate.map_or(0.0, |rate| rate.0);
    PerSecond(windows.fold(stated, f64::max))
}

/// Powers of two up to the number of GPUs, and that number itself when a machine has another count.
fn tensor_sizes(gpus: u32) -> Vec<u32> {
    (0..=5).map(|power| 1_u32 << power).filter(|tensor| *tensor <= gpus).collect()
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

fn limit(slo: &Slo, confidence: f64) -> Limit {
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
