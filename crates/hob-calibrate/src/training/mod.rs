//! Training runs as questions: memory and speed.

mod layout;
mod model;
mod samples;

use std::sync::Arc;

use hob_catalog::ComputeType;
use hob_estimate::{Efficiencies, EstimateError, MemoryKind, NumberFormat, TrainMethod, TrainProfile, TrainStrategy};
use hob_model::{ModelGraph, Shape};
use hob_units::{Interval, Quantity, gib};

use crate::library::Library;
use crate::machine::Machine;
use crate::probe::Place;
use crate::question::{Answer, Ask, Question, Unanswered};
use crate::table::Row;
use crate::target::Target;

/// Words in the column `framework`, else in the source, by which a framework is known, and its name in the table of
/// efficiencies. A recipe of a project that trains with another's engine takes that engine's name.
const FRAMEWORKS: [(&str, &str); 15] = [
    ("torchtitan", "torchtitan"),
    ("fms-fsdp", "torchtitan"),
    ("torchtune", "torchtune"),
    ("litgpt", "litgpt"),
    ("megatron-bridge", "nemo"),
    ("megatron", "megatron"),
    ("2205.05198", "megatron"),
    ("nemo", "nemo"),
    ("training_results", "nemo"),
    ("ms-swift", "ms-swift"),
    ("deepspeed", "deepspeed"),
    ("qwenlm/qwen", "deepspeed"),
    ("colossalai", "colossalai"),
    ("llm-foundry", "llm-foundry"),
    ("deepseek-ai", "megatron"),
];
/// What a run without any of them is taken for.
const PLAIN: &str = "pytorch";

/// The row as a question.
pub(crate) fn question(row: &Row, library: &mut Library<'_>) -> Result<Question, Unanswered> {
    let framework = framework(row);
    let stated = row.text("peak_gib");
    let machine = Machine::of(row, library.catalog)?;
    let graph = model::graph(row, library)?;
    let strategy = layout::strategy(row, framework, machine.gpus())?;
    let shape = samples::shape(row, &graph)?;
    let mut measured = Vec::new();
    if let Some(peak) = row.positive("peak_gib") {
        measured.push((Target::TrainMemory, gib(peak).base()));
    } else if let Some(rate) = samples::rate(row, &shape, &strategy, machine.gpus()) {
        measured.push((Target::TrainSpeed, rate));
    } else if stated != "OOM" {
        let column = if stated.is_empty() { "tokens_per_s_per_gpu" } else { "peak_gib" };
        return Err(Unanswered::Missing { column });
    }
    let profile = TrainProfile::new(&graph, &shape);
    let stratum = match strategy.method {
        _ if profile.is_convolutional() => "vision",
        TrainMethod::Full if profile.experts().is_empty() => "dense",
        TrainMethod::Full => "moe",
        _ => "fine_tuning",
    };
    Ok(Question {
        id: row.text("id").to_owned(),
        line: row.line,
        engine: framework.to_owned(),
        stratum,
        measured,
        ran_out: (!stated.is_empty()).then_some(stated == "OOM"),
        ask: Box::new(Run { elsewhere: layout::elsewhere(row), graph, shape, profile, machine, strategy, framework }),
    })
}

fn framework(row: &Row) -> &'static str {
    let known = |text: &str| {
        let text = text.to_ascii_lowercase();
        FRAMEWORKS.iter().find(|(word, _)| text.contains(word)).map(|(_, name)| *name)
    };
    known(row.text("framework")).or_else(|| known(row.text("source"))).unwrap_or(PLAIN)
}

/// A training run with its layout.
struct Run {
    graph: Arc<ModelGraph>,
    shape: Shape,
    profile: TrainProfile,
    machine: Machine,
    strategy: TrainStrategy,
    framework: &'static str,
    /// Kinds of memory that the row's counter does not see, or that lie in the host's memory.
    elsewhere: Vec<MemoryKind>,
}

impl Ask for Run {
    fn answer(&self, table: &Efficiencies) -> Result<Answer, EstimateError> {
        let hardware = self.machine.hardware();
        let estimate = self.profile.estimate(&hardware, &self.strategy, self.framework, table)?;
        let of = |kinds: &[MemoryKind]| -> f64 {
            let terms = estimate.memory.terms.iter().filter(|term| kinds.contains(&term.kind));
            terms.map(|term| term.bytes.mid.base()).sum()
        };
        let total = estimate.memory.total;
        let factor = total.factor();
        let counted = total.mid.base() - of(&self.elsewhere);
        // A card runs out on what is in use: memory that the allocator holds back is given back before.
        let mut unused: Vec<MemoryKind> = layout::ON_HOST.into_iter().filter(|kind| self.is_elsewhere(*kind)).collect();
        unused.push(MemoryKind::AllocatorSlack);
        let needed = total.mid.base() - of(&unused);
        let rate = estimate.samples_per_second;
        Ok(Answer {
            values: vec![
                (Target::TrainMemory, Interval { low: counted / factor, mid: counted, high: counted * factor }),
                (Target::TrainSpeed, Interval { low: rate.low.0, mid: rate.mid.0, high: rate.high.0 }),
            ],
            filled: Some(needed / estimate.memory.usable.base()),
        })
    }

    /// Memory: weights and optimizer state alone. Speed: the model's own arithmetic at full peak, without recompute.
    fn floor(&self, target: Target) -> Option<f64> {
        if target == Target::TrainMemory {
            let offloaded = layout::ON_HOST.iter().any(|kind| self.is_elsewhere(*kind));
            return (!offloaded).then(|| self.profile.states(&self.strategy, self.framework).base());
        }
        let compute = match self.strategy.precision {
            NumberFormat::Fp32 => ComputeType::Fp32,
            NumberFormat::Tf32 => ComputeType::Tf32,
            NumberFormat::Fp16 => ComputeType::Fp16,
            NumberFormat::Fp8 => ComputeType::Fp8,
            NumberFormat::Fp4 => ComputeType::Fp4,
            NumberFormat::Bf16 | NumberFormat::Int8 | NumberFormat::Int4 => ComputeType::Bf16,
        };
        let peak = self.machine.gpu.peak(compute)?.base() * f64::from(self.machine.gpus());
        let passes = if self.strategy.method == TrainMethod::Full { 3.0 } else { 2.0 };
        let shape = Shape { outputs: self.shape.tokens, past: 0, ..self.shape };
        Some(peak / (passes * self.graph.flops(&shape).base()))
    }

    fn place(&self) -> Option<Place> {
        let engine = self.framework;
        Some(Place::new(&self.machine.gpu.id, engine, self.profile.model()))
    }
}

impl Run {
    fn is_elsewhere(&self, kind: MemoryKind) -> bool {
        self.elsewhere.contains(&kind)
    }
}
