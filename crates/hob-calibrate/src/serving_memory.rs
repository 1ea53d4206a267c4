//! Memory while serving as questions.

use hob_estimate::{
    Arrival, Efficiencies, Engine, EstimateError, KvFormat, Scope, ServeFootprint, ServeLoad, ServeProfile,
    ServeStrategy,
};
use hob_units::{Bytes, Interval, Quantity, gib};

use crate::library::Library;
use crate::machine::Machine;
use crate::question::{Answer, Ask, Question, Unanswered};
use crate::serving::{RowEngine, served};
use crate::table::Row;
use crate::target::Target;

/// Engine defaults (vLLM) where a row does not state them; its first engine took fewer sequences.
const UTILIZATION: f64 = 0.9;
const BATCH_MAX: u32 = 1024;
const BATCH_MAX_V0: u32 = 256;
const TOKENS_MAX: u32 = 8192;
/// Mean prompt of ShareGPT, and prompts of AccelMark's long suite.
const PROMPT: f64 = 220.0;
const PROMPT_LONG: f64 = 28_000.0;
/// Output tokens of the Qwen tables, whose contexts are prompt and output together.
const OUTPUT: f64 = 2048.0;

/// The row as a question.
pub(crate) fn question(row: &Row, library: &mut Library<'_>) -> Result<Question, Unanswered> {
    let served = served(row, library)?;
    let engine = row.text("engine");
    let measured = measured(row)?;
    if row.text("what").starts_with("file size") || engine.starts_with("DeepSpeed") {
        let profile = ServeProfile::new(&served.graph, served.weights, KvFormat::Half)?;
        let ranks = row.count("tp").unwrap_or(1);
        return Ok(asked(row, "file", measured, Box::new(WeightsAsk { profile, ranks })));
    }
    let engine = RowEngine::read(engine)?;
    let gpus = row.count("gpus").ok_or(Unanswered::Missing { column: "gpus" })?;
    let (tensor, pipeline) = if engine.engine.splits_layers() { (1, gpus) } else { (gpus, 1) };
    let batch_max = if engine.engine == Engine::VllmV0 { BATCH_MAX_V0 } else { BATCH_MAX };
    let strategy = ServeStrategy {
        engine: engine.engine,
        tensor,
        pipeline,
        weights: served.weights,
        kv: KvFormat::Half,
        batch_max: row.noted("max_num_seqs").unwrap_or(batch_max),
        tokens_max: TOKENS_MAX,
        memory_utilization: utilization(row),
    };
    let context = row.positive("context_tokens");
    let prompt = context.map_or(if row.says("28K context") { PROMPT_LONG } else { PROMPT }, |all| all - OUTPUT);
    let context_max = context.or(noted(row, "max_model_len").map(f64::from)).unwrap_or(prompt + PROMPT);
    let load = ServeLoad {
        prompt: prompt.max(1.0),
        output: PROMPT,
        context_max,
        prefix_hit: 0.0,
        arrival: Arrival::Closed(1),
    };
    let ask = MemoryAsk {
        profile: ServeProfile::new(&served.graph, strategy.weights, strategy.kv)?,
        machine: Machine::with(row, library.catalog, gpus)?,
        strategy,
        load,
        counts_tokens: row.positive("kv_gib").is_none(),
    };
    let family = engine.engine.serving_id().unwrap_or_default();
    Ok(asked(row, family, measured, Box::new(ask)))
}

fn asked(row: &Row, engine: &str, measured: Vec<(Target, f64)>, ask: Box<dyn Ask>) -> Question {
    Question {
        id: row.text("id").to_owned(),
        line: row.line,
        engine: engine.to_owned(),
        stratum: "memory",
        measured,
        ran_out: (row.text("total_gib") == "OOM").then_some(true),
        ask,
    }
}

/// Measured bytes; totals over all GPUs, whichever the row counts.
fn measured(row: &Row) -> Result<Vec<(Target, f64)>, Unanswered> {
    let bytes = |column| row.positive(column).map(|size| gib(size).base());
    let summed = row.text("what").contains("summed over GPUs");
    let gpus = if summed { 1.0 } else { f64::from(row.count("gpus").unwrap_or(1)) };
    let values = [
        (Target::ServeWeights, bytes("weights_gib")),
        (Target::ServeKv, bytes("kv_gib").or(row.positive("kv_tokens"))),
        (Target::ServeTotal, bytes("total_gib").map(|total| total * gpus)),
    ];
    let measured: Vec<(Target, f64)> =
        values.into_iter().filter_map(|(target, value)| Some((target, value?))).collect();
    let is_verdict = row.text("total_gib") == "OOM";
    if measured.is_empty() && !is_verdict { Err(Unanswered::Missing { column: "total_gib" }) } else { Ok(measured) }
}

/// The share of memory that the engine was given: `gpu_memory_utilization 0.9`, `util 0.9`, `mem_fraction_static 0.93`.
fn utilization(row: &Row) -> f64 {
    let names = ["gpu_memory_utilization ", "gpu_mem_util=", "util ", "mem_fraction_static "];
    let stated = names.iter().find_map(|name| {
        let (_, rest) = row.text("note").split_once(name)?;
        rest.split(|c: char| !(c.is_ascii_digit() || c == '.')).next()?.trim_end_matches('.').parse().ok()
    });
    stated.filter(|share| (0.1..=1.0).contains(share)).unwrap_or(UTILIZATION)
}

/// The count after `name ` in the note.
fn noted(row: &Row, name: &str) -> Option<u32> {
    let (_, rest) = row.text("note").split_once(&format!("{name} "))?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Weights alone: a file, or ranks that each keep the whole embedding and head (DeepSpeed's automatic tensor split).
struct WeightsAsk {
    profile: ServeProfile,
    ranks: u32,
}

impl Ask for WeightsAsk {
    fn answer(&self, table: &Efficiencies) -> Result<Answer, EstimateError> {
        let split = self.profile.weights_on_gpu(self.ranks, 1).base();
        let edges = self.profile.edge_weights().base() * (1.0 - 1.0 / f64::from(self.ranks.max(1)));
        let band = table.get("serve.half_width", &Scope::any().class("weights"))?.value;
        let weights = Interval::within_factor(Bytes::from_base(split + edges), band);
        Ok(Answer { values: vec![(Target::ServeWeights, plain(weights))], filled: None })
    }

    fn floor(&self, _: Target) -> Option<f64> {
        None
    }
}

/// A replica's memory.
struct MemoryAsk {
    profile: ServeProfile,
    machine: Machine,
    strategy: ServeStrategy,
    load: ServeLoad,
    counts_tokens: bool,
}

impl Ask for MemoryAsk {
    fn answer(&self, table: &Efficiencies) -> Result<Answer, EstimateError> {
        let hardware = self.machine.hardware();
        let ServeFootprint { weights, kv_room, kv_tokens, total } =
            self.profile.footprint(&hardware, &self.strategy, &self.load, table)?;
        let mut values = vec![(Target::ServeWeights, plain(weights)), (Target::ServeTotal, plain(total))];
        let room = kv_room.map(|room| match kv_tokens {
            Some(tokens) if self.counts_tokens => {
                let factor = room.factor();
                Interval { low: tokens / factor, mid: tokens, high: tokens * factor }
            }
            _ => plain(room),
        });
        values.extend(room.map(|room| (Target::ServeKv, room)));
        let memory = self.machine.gpu.memory_total().base() * f64::from(self.machine.gpus());
        Ok(Answer { values, filled: Some(total.mid.base() / memory) })
    }

    fn floor(&self, _: Target) -> Option<f64> {
        None
    }
}

fn plain(band: Interval<Bytes>) -> Interval<f64> {
    Interval { low: band.low.base(), mid: band.mid.base(), high: band.high.base() }
}
