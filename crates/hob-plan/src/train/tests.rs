//! Layouts and numbers of machines that the search chooses.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![allow(clippy::disallowed_methods)] // A test prints how long a search takes; nothing depends on it.

use hob_catalog::{Availability, Catalog, Confidence, Gpu, GpuLink, InstanceType, Offer, Provenance};
use hob_estimate::{Fit, Link};
use hob_model::{preset, vision_preset};
use hob_units::BytesPerSec;
use hob_workload::{Work, parse};

use super::*;
use crate::limits::Limits;

/// Machines of `gpu_count` cards, joined by 3.2 Tbit/s of RDMA, or by 25 Gbit/s of Ethernet.
struct Machine {
    gpu: Gpu,
    instance: InstanceType,
}

impl Machine {
    fn new(gpu: &str, gpu_count: u32, rdma: bool) -> Self {
        let gpu = Catalog::embedded().gpu(gpu).unwrap_or_else(|| panic!("no {gpu}")).clone();
        let provenance =
            Provenance { source: "test".to_owned(), date: "2026".to_owned(), confidence: Confidence::High, note: None };
        let instance = InstanceType {
            cloud: "test".to_owned(),
            name: format!("{gpu_count} x {}", gpu.id),
            family: "test".to_owned(),
            availability: Availability::Owned,
            gpu: gpu.id.clone(),
            gpu_count,
            vcpus: None,
            memory: None,
            local_disk: None,
            network: Some(BytesPerSec(3.1e9)),
            rdma: rdma.then_some(BytesPerSec(400e9)),
            gpu_link: None,
            regions: Vec::new(),
            provenance,
            gpu_share: None,
        };
        Self { gpu, instance }
    }

    fn hardware(&self, nodes: u32) -> Hardware<'_> {
        Hardware { gpu: &self.gpu, instance: &self.instance, nodes }
    }
}

fn workload(model: &str, train: &str, rest: &str) -> Workload {
    let task = if vision_preset(model).is_some() { "vision" } else { "llm" };
    let sizes = if task == "llm" {
        "samples = \"100000 sequences\"\nsequence = \"4096 tokens\""
    } else {
        "samples = \"100000 images\"\nresolution = \"1280x1280\""
    };
    let text = format!(
        "kind = \"train\"\ntask = \"{task}\"\nmodel = \"{model}\"\n[data]\n{sizes}\n[train]\nepochs = 1\n{train}\n{rest}"
    );
    parse("test.toml", &text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

fn graph(model: &str) -> ModelGraph {
    vision_preset(model).unwrap_or_else(|| preset(model).unwrap().graph().unwrap())
}

/// The layout on `nodes` machines, or why there is none.
fn on(model: &str, train: &str, machine: &Machine, nodes: u32) -> Result<(TrainStrategy, Found), Reason> {
    let workload = workload(model, train, "");
    let Work::Train(work) = &workload.work else { panic!() };
    let table = Efficiencies::embedded().unwrap();
    let search = TrainSearch::new(&workload, work, &graph(model), &table);
    let found = search.best(&machine.hardware(nodes))?;
    let Layout::Train { strategy } = found.layout else { panic!() };
    assert_eq!(
        strategy.data * strategy.tensor * strategy.pipeline * strategy.context,
        machine.instance.gpu_count * nodes,
        "{strategy:?}"
    );
    assert!(found.estimate.memory.fit != Fit::DoesNot, "{strategy:?}");
    Ok((strategy, found))
}

const LLAMA_8B: &str = "meta-llama/Meta-Llama-3.1-8B";
const LLAMA_70B: &str = "meta-llama/Meta-Llama-3.1-70B";
const FULL: &str = "method = \"full\"\nglobal_batch = 64";
const LORA: &str = "method = \"lora\"\nrank = 16\nglobal_batch = 64";
const QLORA: &str = "method = \"qlora\"\nrank = 16\nglobal_batch = 64";

#[test]
fn what_fits_simply_is_laid_out_simply() {
    let (strategy, _) = on(LLAMA_8B, LORA, &Machine::new("a100-sxm-80", 8, true), 1).unwrap();
    assert_eq!((strategy.tensor, strategy.pipeline, strategy.context), (1, 1, 1));
    assert_eq!(strategy.sharding, Sharding::None);
    let (strategy, _) = on("resnet50", "global_batch = 256", &Machine::new("t4", 4, false), 1).unwrap();
    assert_eq!((strategy.data, strategy.tensor, strategy.pipeline), (4, 1, 1));
}

#[test]
fn what_does_not_fit_is_sharded() {
    let (strategy, _) = on(LLAMA_8B, FULL, &Machine::new("a100-sxm-80", 8, true), 1).unwrap();
    assert!(strategy.sharding >= Sharding::Zero2 || strategy.tensor * strategy.pipeline > 1, "{strategy:?}");
    assert!(matches!(on(LLAMA_70B, FULL, &Machine::new("a100-sxm-80", 8, true), 1), Err(Reason::Memory { .. })));
    let (_, found) = on(LLAMA_70B, FULL, &Machine::new("h100-sxm", 8, true), 4).unwrap();
    assert!(found.estimate.mfu.mid.0 > 0.3, "{:?}", found.estimate.mfu);
}

#[test]
fn a_slow_network_is_kept_out_of_the_way() {
    let (fast, slow) = (Machine::new("a100-sxm-80", 8, true), Machine::new("a100-sxm-80", 8, false));
    let (_, with) = on(LLAMA_70B, FULL, &fast, 4).unwrap();
    let (strategy, without) = on(LLAMA_70B, FULL, &slow, 4).unwrap();
    assert!(strategy.sharding != Sharding::Zero3, "weights would be gathered over Ethernet: {strategy:?}");
    assert!(without.estimate.step.mid.0 > with.estimate.step.mid.0);
    assert!(without.estimate.waits_for_network.0 < 0.7, "{:?} in {strategy:?}", without.estimate.waits_for_network);
}

#[test]
fn tensor_parallelism_needs_nvlink_unless_nothing_else_fits() {
    let mut machine = Machine::new("a10", 4, false);
    machine.instance.gpu_link = Some(GpuLink::Pcie);
    assert_eq!(machine.hardware(1).inside().0, Link::Pcie);
    let (strategy, _) = on(LLAMA_8B, LORA, &machine, 1).unwrap();
    assert_eq!(strategy.tensor, 1, "{strategy:?}");
}

#[test]
fn old_cards_compute_in_fp16() {
    for card in ["v100-sxm2-32", "t4"] {
        let (strategy, _) = on(LLAMA_8B, QLORA, &Machine::new(card, 1, false), 1).unwrap();
        assert_eq!(strategy.precision, NumberFormat::Fp16, "{card}");
        let wish = format!("{QLORA}\nprecision = \"bf16\"");
        assert!(matches!(on(LLAMA_8B, &wish, &Machine::new(card, 1, false), 1), Err(Reason::Unsupported { .. })));
    }
    let (strategy, _) = on(LLAMA_8B, QLORA, &Machine::new("a10", 1, false), 1).unwrap();
    assert_eq!(strategy.precision, NumberFormat::Bf16);
    let fp8 = format!("{FULL}\nprecision = \"fp8\"");
    assert!(matches!(on(LLAMA_8B, &fp8, &Machine::new("a100-sxm-80", 8, true), 1), Err(Reason::Unsupported { .. })));
    assert!(on(LLAMA_8B, &fp8, &Machine::new("h100-sxm", 8, true), 1).is_ok());
}

#[test]
fn memory_that_lacks_is_that_of_the_smallest_layout() {
    let card = Machine::new("t4", 1, false);
    let Err(Reason::Memory { needed, usable }) = on(LLAMA_8B, FULL, &card, 1) else { panic!() };
    assert!(needed > usable);
    // States alone: 8 B parameters x 16 bytes.
    assert!((120.0..160.0).contains(&needed.as_gib()), "{needed}");
}

#[test]
fn more_memory_or_more_machines_never_slow_a_job_down() {
    let machine = Machine::new("h100-sxm", 8, true);
    let mut large = Machine::new("h100-sxm", 8, true);
    large.gpu.memory = large.gpu.memory + large.gpu.memory;
    for (model, train) in [(LLAMA_8B, FULL), (LLAMA_8B, LORA), (LLAMA_70B, FULL)] {
        let mut before = f64::INFINITY;
        for nodes in [1, 2, 4, 8] {
            let Ok((strategy, found)) = on(model, train, &machine, nodes) else { continue };
            let step = found.estimate.step.mid.0;
            // A simple layout may be preferred to one that is a little faster.
            assert!(step < before * 1.1, "{model} on {nodes}: {step} after {before}: {strategy:?}");
            before = step;
            let (_, roomy) = on(model, train, &large, nodes).unwrap();
            assert!(roomy.estimate.step.mid.0 < step * 1.1, "{model} on {nodes}");
        }
    }
}

/// Machines by objective.
fn machines(rest: &str, allowed: &str) -> Result<u32, Reason> {
    let workload = workload(LLAMA_8B, FULL, &format!("{rest}\n[constraints]\nmulti_node = true\n{allowed}"));
    let Work::Train(work) = &workload.work else { panic!() };
    let table = Efficiencies::embedded().unwrap();
    let search = TrainSearch::new(&workload, work, &graph(LLAMA_8B), &table);
    let machine = Machine::new("h100-sxm", 8, true);
    let offer = Offer {
        instance: &machine.instance,
        gpu: &machine.gpu,
        region: String::new(),
        regions: Vec::new(),
        prices: Vec::new(),
        how_to_get_price: None,
    };
    search.best_fleet(&machine.hardware(1), &Limits::of(&workload, &offer)).map(|found| found.machines)
}

#[test]
fn the_objective_chooses_the_number_of_machines() {
    let cheapest = machines("[objective]\nminimise = \"cost\"", "").unwrap();
    let fastest = machines("[objective]\nminimise = \"time\"", "").unwrap();
    assert!(cheapest <= 2 && fastest >= 4, "{cheapest} and {fastest}");
    assert!(machines("[objective]\nminimise = \"time\"", "max_gpus = 16").unwrap() <= 2);
    let hurried = machines("[objective]\nminimise = \"cost\"\ndeadline = \"1 hour\"", "").unwrap();
    assert!(hurried > cheapest, "{hurried} and {cheapest}");
    assert!(matches!(
        machines("[objective]\nminimise = \"cost\"\ndeadline = \"1 minute\"", ""),
        Err(Reason::TooSlow { missed: Some(_), .. })
    ));
}

#[test]
fn one_search_is_fast() {
    let table = Efficiencies::embedded().unwrap();
    for (model, train) in [(LLAMA_8B, LORA), (LLAMA_70B, FULL), ("mistralai/Mixtral-8x22B-v0.1", FULL)] {
        let workload = workload(model, train, "[objective]\nminimise = \"time\"");
        let Work::Train(work) = &workload.work else { panic!() };
        let search = TrainSearch::new(&workload, work, &graph(model), &table);
        for (card, nodes) in [("t4", 1), ("a100-sxm-40", 1), ("a100-sxm-80", 8), ("h100-sxm", 64)] {
            let machine = Machine::new(card, 8, true);
            let start = std::time::Instant::now();
            let found = search.best(&machine.hardware(nodes));
            println!("{:?} {model} on {nodes} x 8 {card}: {:?}", start.elapsed(), found.map(|found| found.layout));
        }
    }
}
