//! Language models under load as questions.

mod engine;
mod load;
mod model;

use std::sync::LazyLock;

use hob_catalog::GpuArchitecture;
use hob_estimate::{Arrival, Efficiencies, EstimateError, ServeEstimate, ServeLoad, ServeProfile, ServeStrategy};
use hob_model::ModelGraph;
use hob_units::{Interval, PerSecond, Quantity};

use crate::library::Library;
use crate::machine::Machine;
use crate::probe::Place;
use crate::question::{Answer, Ask, Question, Unanswered, Unsayable};
use crate::table::Row;
use crate::target::Target;

pub(crate) use engine::RowEngine;
use load::{Asked, Reading};
pub(crate) use model::served;

/// Most ranks of plain tensor parallelism. Measurements over more GPUs spread experts and attention in ways that their
/// sources do not state.
const TENSOR_MAX: u32 = 8;
/// Tokens of one step, and share of memory, that engines take when nothing is stated.
const TOKENS_MAX: u32 = 8192;
const MEMORY_UTILIZATION: f64 = 0.92;

/// Full bandwidth and full peak, whichever is longer, and no overhead. Only the experts that one token passes are read.
const IDEAL: &str = "name,engine,architecture,precision,class,low,value,high,unit,source,source_date
serve.launch_overlap,,,,,1,1,1,exponent,physics,
serve.tile_rows,,,,,1,1,1,rows,physics,
serve.prompt_batch,,,,,0,0,0,prefills,physics,
serve.overlap,,,,,64,64,64,exponent,physics,
serve.weight_bandwidth,,,,,1,1,1,share,physics,
serve.kv_bandwidth,,,,,1,1,1,share,physics,
serve.decode_gemm,,,,,1,1,1,share,physics,
serve.expert_spread,,,,,0,0,0,exponent,physics,
serve.kernel_seconds,,,,,0,0,0,seconds,physics,
serve.host_seconds,,,,,0,0,0,seconds,physics,
serve.step_seconds,,,,,0,0,0,seconds,physics,
serve.allreduce_seconds,,,,,0,0,0,seconds,physics,
serve.send_seconds,,,,,0,0,0,seconds,physics,
serve.link_bandwidth,,,,,1,1,1,share,physics,
serve.prefill_gemm,,,,,1,1,1,share,physics,
serve.prefill_moe,,,,,1,1,1,share,physics,
serve.prefill_attention,,,,,1,1,1,share,physics,
serve.prefill_passes,,,,,0,0,0,tensors,physics,
serve.request_seconds,,,,,0,0,0,seconds,physics,
serve.first_steps,,,,,0,0,0,steps,physics,
serve.wait_weight,,,,,0,0,0,prefills,physics,
serve.wait_exponent,,,,,1,1,1,exponent,physics,
serve.half_width,,,,,1,1,1,factor,physics,
serve.tpot_spread,,,,,0,0,0,deviation,physics,
serve.activation_factor,,,,,0,0,0,tensors,physics,
serve.sampler_copies,,,,,0,0,0,copies,physics,
serve.workspace_bytes,,,,,0,0,0,bytes,physics,
serve.non_torch_bytes,,,,,0,0,0,bytes,physics,
";

static PHYSICS: LazyLock<Option<Efficiencies>> = LazyLock::new(|| Efficiencies::parse(IDEAL).ok());

/// The row as a question.
pub(crate) fn question(row: &Row, library: &mut Library<'_>) -> Result<Question, Unanswered> {
    let engine = RowEngine::read(row.text("engine"))?;
    let served = served(row, library)?;
    let layout = Layout::read(row, engine)?;
    let machine = Machine::with(row, library.catalog, layout.tensor * layout.pipeline)?;
    let asked = Asked::read(row, f64::from(layout.replicas))?;
    let strategy = ServeStrategy {
        engine: engine.engine,
        tensor: layout.tensor,
        pipeline: layout.pipeline,
        weights: served.weights,
        kv: engine.kv(served.small_floats),
        batch_max: asked.batch_max,
        tokens_max: TOKENS_MAX,
        memory_utilization: MEMORY_UTILIZATION,
    };
    let stratum = stratum(&served.graph, machine.gpu.architecture);
    let ask = ServeAsk {
        profile: ServeProfile::new(&served.graph, strategy.weights, strategy.kv)?,
        machine,
        strategy,
        load: asked.load,
        replicas: f64::from(layout.replicas),
        readings: asked.readings.clone(),
    };
    Ok(Question {
        id: row.text("id").to_owned(),
        line: row.line,
        engine: engine.engine.serving_id().unwrap_or_default().to_owned(),
        stratum,
        measured: asked.readings.iter().map(|(target, _, value)| (*target, *value)).collect(),
        ran_out: None,
        ask: Box::new(ask),
    })
}

/// Blackwell's engines and expert models are fitted on few rows, and widened apart.
fn stratum(graph: &ModelGraph, architecture: GpuArchitecture) -> &'static str {
    match architecture {
        GpuArchitecture::Blackwell => "blackwell",
        _ if graph.active_parameters() < graph.parameters() * 9 / 10 => "moe",
        _ => "dense",
    }
}

/// How a row's GPUs share the model.
struct Layout {
    tensor: u32,
    pipeline: u32,
    replicas: u32,
}

impl Layout {
    fn read(row: &Row, engine: RowEngine) -> Result<Self, Unanswered> {
        let gpus = row.count("gpus").ok_or(Unanswered::Missing { column: "gpus" })?;
        if engine.engine.splits_layers() {
            return Ok(Self { tensor: 1, pipeline: gpus, replicas: 1 });
        }
        let pipeline = row.count("pp").unwrap_or(1);
        let replicas = row.count("dp").unwrap_or(1);
        let tensor = row.count("tp").unwrap_or((gpus / (pipeline * replicas)).max(1));
        if tensor > TENSOR_MAX || row.text("ep").contains("group") {
            return Err(Unanswered::Outside { what: Unsayable::UnstatedLayout { gpus } });
        }
        Ok(Self { tensor, pipeline, replicas })
    }
}

/// A language model under one load.
struct ServeAsk {
    profile: ServeProfile,
    machine: Machine,
    strategy: ServeStrategy,
    load: ServeLoad,
    replicas: f64,
    readings: Vec<(Target, Reading, f64)>,
}

impl ServeAsk {
    fn estimate(&self, table: &Efficiencies) -> Result<ServeEstimate, EstimateError> {
        self.profile.estimate(&self.machine.hardware(), &self.strategy, &self.load, table)
    }

    fn value(&self, reading: Reading, estimate: &ServeEstimate) -> Option<Interval<f64>> {
        match reading {
            Reading::Ttft => (!estimate.saturated).then(|| plain(estimate.ttft.p50)),
            Reading::Tpot => Some(plain(estimate.tpot.p50)),
            Reading::RequestTime => Some(plain(estimate.end_to_end.p50)),
            Reading::SaturatedOutput if !estimate.saturated => None,
            Reading::SaturatedOutput | Reading::Output => {
                let tokens: Interval<PerSecond> = estimate.output_tokens_per_second.scaled(self.replicas);
                (tokens.mid.0 > 0.0).then(|| plain(tokens))
            }
            Reading::Prompt => Some(inverse(plain(estimate.ttft.p50), self.load.prompt)),
            Reading::WholeSpeed => Some(inverse(plain(estimate.end_to_end.p50), self.load.output)),
            Reading::TokenSpeed => Some(inverse(plain(estimate.tpot.p50), 1.0)),
        }
    }

    fn measured(&self, target: Target) -> Option<f64> {
        self.readings.iter().find(|(of, _, _)| *of == target).map(|(_, _, value)| *value)
    }
}

impl Ask for ServeAsk {
    fn answer(&self, table: &Efficiencies) -> Result<Answer, EstimateError> {
        let estimate = self.estimate(table)?;
        let values = self.readings.iter();
        let values = values.filter_map(|(target, reading, _)| Some((*target, self.value(*reading, &estimate)?)));
        Ok(Answer { values: values.collect(), filled: None })
    }

    fn floor(&self, target: Target) -> Option<f64> {
        let (_, reading, _) = self.readings.iter().find(|(of, _, _)| *of == target)?;
        let closed = matches!(self.load.arrival, Arrival::Closed(_));
        // Arrivals at random leave moments when a request is alone.
        let arrival = if closed { self.load.arrival } else { Arrival::Closed(1) };
        let load = ServeLoad { arrival, ..self.load };
        let ideal = self.profile.estimate(&self.machine.hardware(), &self.strategy, &load, PHYSICS.as_ref()?).ok()?;
        let floor = self.value(*reading, &ideal)?.mid;
        match *reading {
            // Stages can work on different chunks of one prompt.
            Reading::Prompt => Some(floor * f64::from(self.strategy.pipeline)),
            // Prefills of the others that do not delay the first token delay the rest: the whole is bounded.
            Reading::Tpot if closed => {
                let first = self.measured(Target::ServeTtft)?;
                Some((plain(ideal.end_to_end.p50).mid - first) / (self.load.output - 1.0).max(1.0))
            }
            _ => Some(floor),
        }
    }

    fn place(&self) -> Option<Place> {
        let engine = self.strategy.engine.serving_id().unwrap_or_default();
        Some(Place::new(&self.machine.gpu.id, engine, self.profile.model()))
    }
}

fn plain<Q: Quantity>(band: Interval<Q>) -> Interval<f64> {
    Interval { low: band.low.base(), mid: band.mid.base(), high: band.high.base() }
}

/// `amount` over a time.
fn inverse(time: Interval<f64>, amount: f64) -> Interval<f64> {
    Interval { low: amount / time.high, mid: amount / time.mid, high: amount / time.low }
}
