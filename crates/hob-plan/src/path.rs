//! The path from a plan to production: a small validation, a load test, a cost check, a ramp in steps. Each step is a
//! command and the gates that must hold before the next one.

use hob_estimate::{Engine, KvFormat, ServeStrategy, WeightFormat};
use hob_model::{ModelGraph, OpKind, Operator, Site};
use hob_text::{Argument, Message};
use hob_units::Quantity;
use hob_workload::{Serve, Train, Work, Workload};

use crate::document::{Choice, Layout, PathStep, Plan, Speed};
use crate::load;

/// Requests of a load test: enough for a 95th percentile that 50 requests lie above.
const TEST_REQUESTS: u32 = 1000;
/// Optimizer steps of a validation: the first ones compile and warm up; fifty show the steady time.
const TEST_STEPS: u32 = 50;

/// The path for the plan's first choice.
pub(crate) fn of(workload: &Workload, model: Option<&ModelGraph>, plan: &Plan) -> Vec<PathStep> {
    let Some(choice) = plan.first_choice() else { return Vec::new() };
    let mut steps = match (&workload.work, &choice.solution.layout) {
        (Work::Serve(serve) | Work::Batch { serve, .. }, Layout::Serve { replicas, strategy }) => {
            let whole_experts = model.is_some_and(|graph| needs_whole_experts(graph, strategy));
            llm(serve, strategy, whole_experts, *replicas, choice)
        }
        (Work::Serve(_), Layout::Forward { .. }) => service(choice),
        (Work::Transcode(_) | Work::Render(_), _) => measured(choice),
        (Work::Train(train), Layout::Train { .. }) => training(train, choice),
        _ => Vec::new(),
    };
    steps.extend(cost_check(choice));
    if matches!(workload.work, Work::Serve(_)) {
        steps.push(PathStep {
            what: Message::new("path-ramp"),
            command: None,
            gates: vec![Message::new("path-ramp-gate")],
        });
    }
    steps
}

/// Whether each GPU must hold whole experts and not a slice of each: engines refuse slices that cut through the blocks of an
/// 8-bit checkpoint (vLLM issue 17569, SGLang's `fp8.py`). Either way a GPU holds the same bytes, and the partial sums are
/// added up in one all-reduce, so that the estimate is the same.
fn needs_whole_experts(graph: &ModelGraph, strategy: &ServeStrategy) -> bool {
    let stored = graph.quantization.as_ref().filter(|_| strategy.weights == WeightFormat::AsStored);
    let Some((dtype, block)) = stored.and_then(|stored| Some((stored.dtype, stored.block?))) else { return false };
    let slices = block.max(1).saturating_mul(u64::from(strategy.tensor));
    let is_cut = |op: &Operator| match op.kind {
        OpKind::Linear { inputs, .. } => op.copies > 1 && op.site == Site::MlpOutput && !inputs.is_multiple_of(slices),
        _ => false,
    };
    strategy.tensor > 1 && graph.operators().any(|(_, op)| op.dtype == dtype && is_cut(op))
}

fn llm(serve: &Serve, strategy: &ServeStrategy, whole_experts: bool, replicas: u32, choice: &Choice) -> Vec<PathStep> {
    let mut steps = vec![PathStep {
        what: Message::new("path-start-engine"),
        command: engine_command(serve, strategy, whole_experts),
        gates: vec![Message::new("path-starts-gate")],
    }];
    if let Speed::Service { ttft_p95, tpot_p95, end_to_end_p95, .. } = choice.solution.speed {
        let rate = load::peak(&serve.traffic).0 / f64::from(replicas.max(1));
        let llm = serve.traffic.llm;
        let pace = match serve.traffic.concurrency {
            Some(in_flight) if rate <= 0.0 => {
                format!("--max-concurrency {}", in_flight.div_ceil(u64::from(replicas.max(1))))
            }
            _ => format!("--request-rate {rate:.2}"),
        };
        let of = |time: Option<hob_units::Interval<hob_units::Seconds>>| {
            time.map_or_else(|| "-".to_owned(), |time| time.high.to_string())
        };
        let predicted = Message::new("path-load-test-gate")
            .with("ttft", of(ttft_p95))
            .with("tpot", of(tpot_p95))
            .with("e2e", end_to_end_p95.high);
        let goals: Vec<Message> = choice.solution.goals.iter().map(|goal| goal.what.clone()).collect();
        steps.push(PathStep {
            what: Message::new("path-load-test"),
            command: Some(format!(
                "vllm bench serve --model {} --dataset-name random --random-input-len {} --random-output-len {} \
                 --num-prompts {TEST_REQUESTS} {pace}",
                serve.model.source, llm.prompt.0, llm.output.0
            )),
            gates: if goals.is_empty() { vec![predicted] } else { goals },
        });
    }
    steps
}

/// Measure first: nobody publishes rates of whole machines.
fn measured(choice: &Choice) -> Vec<PathStep> {
    let measures = choice.solution.notes.iter().filter(|note| note.id.starts_with("measure-"));
    measures
        .map(|measure| PathStep {
            what: Message::new(measure.id.clone()),
            command: measure.args.get("command").and_then(Argument::as_text).map(str::to_owned),
            gates: vec![Message::new("path-measure-gate")],
        })
        .collect()
}

fn service(choice: &Choice) -> Vec<PathStep> {
    let goals: Vec<Message> = choice.solution.goals.iter().map(|goal| goal.what.clone()).collect();
    let start = PathStep { what: Message::new("path-start-engine"), command: None, gates: vec![memory_gate(choice)] };
    let time = choice.solution.speed.time();
    let predicted = Message::new("path-request-gate").with("e2e", time.high);
    let test = PathStep {
        what: Message::new("path-load-test"),
        command: None,
        gates: if goals.is_empty() { vec![predicted] } else { goals },
    };
    vec![start, test]
}

/// The command that starts one replica, as the engine's documentation of 2026 names its flags.
fn engine_command(serve: &Serve, strategy: &ServeStrategy, whole_experts: bool) -> Option<String> {
    let model = &serve.model.source;
    let (tensor, pipeline) = (strategy.tensor, strategy.pipeline);
    let llm = serve.traffic.llm;
    let context = llm.context_max.map_or(2 * (llm.prompt.0 + llm.output.0), |tokens| tokens.0);
    let is_fp8 = strategy.weights == WeightFormat::Fp8;
    let is_kv_fp8 = strategy.kv == KvFormat::Fp8;
    let flag = |wanted: bool, text: &'static str| if wanted { text } else { "" };
    let pipelined = |name: &str| if pipeline > 1 { format!(" {name} {pipeline}") } else { String::new() };
    let longest = |name: &str| format!(" {name} {context}");
    // Weights of these formats come from a checkpoint that the user makes or picks.
    if matches!(strategy.weights, WeightFormat::Int4 | WeightFormat::Int8 | WeightFormat::Fp4) {
        return None;
    }
    match strategy.engine {
        Engine::Vllm => Some(format!(
            "vllm serve {model} --tensor-parallel-size {tensor}{}{}{}{}{} --max-num-seqs {} --gpu-memory-utilization {}",
            pipelined("--pipeline-parallel-size"),
            flag(whole_experts, " --enable-expert-parallel"),
            longest("--max-model-len"),
            flag(is_fp8, " --quantization fp8"),
            flag(is_kv_fp8, " --kv-cache-dtype fp8"),
            strategy.batch_max,
            strategy.memory_utilization
        )),
        Engine::Sglang => Some(format!(
            "python -m sglang.launch_server --model-path {model} --tp {tensor}{}{}{}{}{}",
            pipelined("--pp-size"),
            if whole_experts { format!(" --ep-size {tensor}") } else { String::new() },
            longest("--context-length"),
            flag(is_fp8, " --quantization fp8"),
            flag(is_kv_fp8, " --kv-cache-dtype fp8_e5m2"),
        )),
        _ => None,
    }
}

fn memory_gate(choice: &Choice) -> Message {
    match &choice.solution.memory {
        Some(memory) => Message::new("path-memory-gate").with("bytes", memory.total.high.min(memory.usable)),
        None => Message::new("path-starts-gate"),
    }
}

fn training(train: &Train, choice: &Choice) -> Vec<PathStep> {
    let machines = choice.solution.machines;
    let of_one = choice.solution.gpus / machines.max(1);
    let nodes = if machines > 1 {
        format!("--nnodes {machines} --rdzv-backend c10d --rdzv-endpoint $HEAD:29500 ")
    } else {
        "--standalone ".to_owned()
    };
    let mut steps = vec![PathStep {
        what: Message::new("path-short-training").with("steps", TEST_STEPS).with("model", &train.model.source),
        command: Some(format!("torchrun {nodes}--nproc-per-node {of_one} train.py --max-steps {TEST_STEPS}")),
        gates: vec![memory_gate(choice)],
    }];
    if let Speed::Job { step: Some(step), .. } = choice.solution.speed {
        steps.push(PathStep {
            what: Message::new("path-step-time"),
            command: None,
            gates: vec![Message::new("path-step-time-gate").with("low", step.low).with("high", step.high)],
        });
    }
    let is_spot = choice.bills.first().is_some_and(|bill| bill.charge == hob_catalog::ChargeType::Spot);
    steps.push(PathStep {
        what: Message::new(if is_spot { "path-restart-spot" } else { "path-restart" }),
        command: None,
        gates: vec![Message::new("path-restart-gate")],
    });
    steps
}

/// After a day, the bill says whether the price was right.
fn cost_check(choice: &Choice) -> Option<PathStep> {
    let bill = choice.bills.first()?;
    let is_long = choice.solution.speed.time().mid.base() > 86_400.0;
    let (gate, cost) = match bill.for_whole_job {
        true if is_long => ("path-cost-day-gate", bill.hour.times(24.0)?),
        true => ("path-cost-gate", bill.cost_high),
        false => ("path-cost-day-gate", bill.cost_high.times(1.0 / DAYS_PER_MONTH)?),
    };
    Some(PathStep {
        what: Message::new("path-cost"),
        command: None,
        gates: vec![Message::new(gate).with("cost", cost)],
    })
}

/// Days of an average month.
const DAYS_PER_MONTH: f64 = hob_units::HOURS_PER_MONTH / 24.0;

#[cfg(test)]
mod tests {
    use hob_model::preset;

    use super::*;

    /// Whether this checkpoint on so many tensor ranks needs whole experts on each.
    fn check(model: &str, tensor: u32, weights: WeightFormat, wanted: bool) {
        let graph = preset(model).unwrap().graph().unwrap();
        let strategy = ServeStrategy {
            engine: Engine::Vllm,
            tensor,
            pipeline: 1,
            weights,
            kv: KvFormat::Half,
            batch_max: 256,
            tokens_max: 8192,
            memory_utilization: 0.9,
        };
        assert_eq!(needs_whole_experts(&graph, &strategy), wanted, "{model} on {tensor} as {weights:?}");
    }

    #[test]
    fn experts_are_not_cut_through_their_blocks() {
        // Experts of 1,536 in blocks of 128: slices of 384 are whole blocks, slices of 192 are not.
        check("MiniMax-M2.5", 4, WeightFormat::AsStored, false);
        check("MiniMax-M2.5", 8, WeightFormat::AsStored, true);
        check("MiniMax-M2.5", 8, WeightFormat::Half, false);
        // 2,048: slices of 256.
        check("DeepSeek-V3", 8, WeightFormat::AsStored, false);
        check("DeepSeek-V3", 32, WeightFormat::AsStored, true);
        // Its experts are in four bits; only the other matrices are in blocks of 128.
        check("DeepSeek-V4-Flash", 32, WeightFormat::AsStored, false);
        // Neither experts nor blocks.
        check("Llama-3.1-8B", 8, WeightFormat::AsStored, false);
    }
}
