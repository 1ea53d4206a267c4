#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![allow(clippy::disallowed_methods)] // Tests may look for measurements outside the repository.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hob_catalog::{
    Availability, ComputeType, Confidence, Gpu, GpuArchitecture, GpuLink, InstanceType, Provenance, Vendor,
};
use hob_model::{
    Attention, Block, Certainty, Dtype, Extent, KvCache, ModelGraph, ModelKind, NormKind, OpKind, Operator, Origin,
    Part, PartRole, Shape, Site, Span,
};
use hob_units::{Bytes, BytesPerSec, FlopsPerSec, PerSecond, Seconds, gib};

use super::*;
use crate::limit::LatencyKind;
use crate::outcome::Fit;
use crate::percentile::Percentile4;
use crate::strategy::{Engine, KvFormat, WeightFormat};

/// Sizes of a decoder, from its published config.
#[derive(Clone, Copy)]
struct Sizes {
    hidden: u64,
    layers: u32,
    heads: u64,
    kv_heads: u64,
    head: u64,
    ffn: u64,
    vocabulary: u64,
    experts: (u32, u32),
    qk_norm: bool,
    latent: bool,
}

const LLAMA_8B: Sizes = Sizes {
    hidden: 4096,
    layers: 32,
    heads: 32,
    kv_heads: 8,
    head: 128,
    ffn: 14336,
    vocabulary: 128_256,
    experts: (1, 1),
    qk_norm: false,
    latent: false,
};
const LLAMA_70B: Sizes = Sizes { hidden: 8192, layers: 80, heads: 64, ffn: 28672, ..LLAMA_8B };
const QWEN3_32B: Sizes =
    Sizes { hidden: 5120, layers: 64, heads: 64, ffn: 25600, vocabulary: 151_936, qk_norm: true, ..LLAMA_8B };
const QWEN3_235B: Sizes =
    Sizes { hidden: 4096, layers: 94, heads: 64, kv_heads: 4, ffn: 1536, experts: (128, 8), ..QWEN3_32B };
/// Routed experts and latent attention of DeepSeek-V3, its three dense layers and shared experts left out.
const DEEPSEEK_V3: Sizes = Sizes {
    hidden: 7168,
    layers: 61,
    heads: 128,
    kv_heads: 128,
    head: 128,
    ffn: 2048,
    vocabulary: 129_280,
    experts: (256, 8),
    qk_norm: false,
    latent: true,
};

fn op(name: &str, site: Site, kind: OpKind) -> Operator {
    Operator {
        name: name.into(),
        kind,
        site,
        extent: Extent::Tokens,
        dtype: Dtype::Bf16,
        copies: 1,
        active: 1,
        tied: false,
    }
}

fn model(sizes: Sizes) -> ModelGraph {
    let linear = |site, inputs, outputs| op("linear", site, OpKind::Linear { inputs, outputs, bias: false });
    let norm = |name, width| op(name, Site::Norm, OpKind::Norm { norm: NormKind::Rms, width, parameters: width });
    let (h, q) = (sizes.hidden, sizes.heads * sizes.head);
    let mut ops = vec![norm("input", h), norm("post", h)];
    let attention = if sizes.latent {
        ops.extend([
            linear(Site::AttentionInput, h, 1536),
            linear(Site::AttentionInput, 1536, sizes.heads * 192),
            linear(Site::AttentionInput, h, 576),
            linear(Site::AttentionInput, 512, sizes.heads * 256),
        ]);
        Attention {
            heads: sizes.heads,
            kv_heads: sizes.kv_heads,
            qk_dim: 192,
            v_dim: 128,
            span: Span::Causal,
            cache: KvCache::Latent { width: 576 },
        }
    } else {
        ops.push(linear(Site::AttentionInput, h, q + 2 * sizes.kv_heads * sizes.head));
        Attention {
            heads: sizes.heads,
            kv_heads: sizes.kv_heads,
            qk_dim: sizes.head,
            v_dim: sizes.head,
            span: Span::Causal,
            cache: KvCache::KeyValue,
        }
    };
    if sizes.qk_norm {
        ops.extend([norm("q_norm", sizes.head), norm("k_norm", sizes.head)]);
    }
    ops.push(op("core", Site::AttentionCore, OpKind::Attention(attention)));
    ops.push(linear(Site::AttentionOutput, q, h));
    for mut mlp in [linear(Site::MlpInput, h, 2 * sizes.ffn), linear(Site::MlpOutput, sizes.ffn, h)] {
        (mlp.copies, mlp.active) = sizes.experts;
        ops.push(mlp);
    }
    let part = |name: &str, role, repeat, ops| Part {
        name: name.into(),
        role,
        blocks: vec![Block { name: name.into(), repeat, ops }],
    };
    let table = op("embed", Site::Embedding, OpKind::Embedding { rows: sizes.vocabulary, width: h });
    ModelGraph {
        name: "test".into(),
        family: "llama".into(),
        kind: ModelKind::CausalLm,
        origin: Origin::HfConfig,
        certainty: Certainty::Exact,
        hidden: Some(h),
        vocabulary: Some(sizes.vocabulary),
        context_max: None,
        quantization: None,
        stored: None,
        parts: vec![
            part("embedding", PartRole::Embedding, 1, vec![table]),
            part("decoder", PartRole::Decoder, sizes.layers, ops),
            part("head", PartRole::Head, 1, vec![linear(Site::Head, h, sizes.vocabulary)]),
        ],
        unknowns: Vec::new(),
        native_shape: Shape::default(),
    }
}

fn provenance() -> Provenance {
    Provenance { source: "datasheet".into(), date: "2023".into(), confidence: Confidence::High, note: None }
}

/// `memory` and `reported` in GiB, `bandwidth` in GB/s, `half` and `eight` bit peaks in TFLOP/s.
fn card(id: &str, memory: f64, reported: f64, bandwidth: f64, half: f64, eight: f64) -> Gpu {
    let peaks = [(ComputeType::Bf16, half), (ComputeType::Fp8, eight), (ComputeType::Int8, eight)];
    Gpu {
        id: id.into(),
        vendor: Vendor::Nvidia,
        name: id.into(),
        architecture: GpuArchitecture::Hopper,
        compute_capability: Some((9, 0)),
        memory: gib(memory),
        memory_reported: Some(gib(reported)),
        memory_type: None,
        memory_bandwidth: Some(BytesPerSec(bandwidth * 1e9)),
        peak: peaks.map(|(kind, rate)| (kind, FlopsPerSec(rate * 1e12))).into_iter().collect::<BTreeMap<_, _>>(),
        interconnect: None,
        interconnect_bandwidth: Some(BytesPerSec(900e9)),
        pcie_generation: Some(5),
        pcie_lanes: Some(16),
        tdp: None,
        nvenc: None,
        nvdec: None,
        av1_encode: None,
        av1_decode: None,
        mig_instances_max: None,
        gpus_on_board: 1,
        driver_linux_min: None,
        cuda_min: None,
        cuda_last: None,
        fraction: None,
        provenance: provenance(),
    }
}

fn h100() -> Gpu {
    card("h100-sxm", 80.0, 79.1, 3350.0, 989.4, 1978.9)
}
fn h200() -> Gpu {
    card("h200-sxm", 141.0, 139.8, 4800.0, 989.4, 1978.9)
}

fn t4() -> Gpu {
    let mut gpu = card("t4", 16.0, 14.6, 320.0, 65.0, 0.0);
    gpu.architecture = GpuArchitecture::Turing;
    gpu.compute_capability = Some((7, 5));
    gpu.peak = BTreeMap::from([(ComputeType::Fp16, FlopsPerSec(65e12)), (ComputeType::Int8, FlopsPerSec(130e12))]);
    gpu.interconnect_bandwidth = None;
    gpu
}

fn machine(gpus: u32) -> InstanceType {
    InstanceType {
        cloud: "own".into(),
        name: "box".into(),
        family: "box".into(),
        availability: Availability::Owned,
        gpu: "gpu".into(),
        gpu_count: gpus,
        vcpus: None,
        memory: None,
        local_disk: None,
        network: None,
        rdma: None,
        gpu_link: Some(GpuLink::Nvswitch),
        regions: Vec::new(),
        provenance: provenance(),
        gpu_share: None,
    }
}

fn strategy(tensor: u32, weights: WeightFormat) -> ServeStrategy {
    ServeStrategy {
        engine: Engine::Vllm,
        tensor,
        pipeline: 1,
        weights,
        kv: KvFormat::Half,
        batch_max: 256,
        tokens_max: 8192,
        memory_utilization: 0.9,
    }
}

fn load(prompt: f64, output: f64, arrival: Arrival) -> ServeLoad {
    ServeLoad { prompt, output, context_max: prompt + output, prefix_hit: 0.0, arrival }
}

fn run(sizes: Sizes, gpu: &Gpu, strategy: &ServeStrategy, load: &ServeLoad) -> Result<ServeEstimate, EstimateError> {
    let instance = machine(strategy.tensor.max(8));
    let hardware = Hardware { gpu, instance: &instance, nodes: strategy.pipeline.max(1) };
    estimate_llm(&model(sizes), &hardware, strategy, load, &Efficiencies::embedded().unwrap())
}

fn max_rate(sizes: Sizes, gpu: &Gpu, strategy: &ServeStrategy, load: &ServeLoad, limits: &[Limit]) -> Option<f64> {
    let instance = machine(8);
    let hardware = Hardware { gpu, instance: &instance, nodes: 1 };
    let table = Efficiencies::embedded().unwrap();
    capacity(&model(sizes), &hardware, strategy, load, limits, &table).unwrap().map(|rate| rate.0)
}

#[test]
fn one_stream_of_an_8b_model_on_an_h100() {
    let estimate =
        run(LLAMA_8B, &h100(), &strategy(1, WeightFormat::Half), &load(512.0, 256.0, Arrival::Closed(1))).unwrap();
    let tpot = estimate.tpot.p50.mid.as_ms();
    assert!((6.0..10.0).contains(&tpot), "{tpot} ms");
    assert_eq!(estimate.memory.fit, Fit::Fits);
    assert!(!estimate.saturated);
    // 131072 bytes a token: 2 x 32 layers x 8 heads x 128 x 2 bytes.
    let profile = ServeProfile::new(&model(LLAMA_8B), WeightFormat::Half, KvFormat::Half).unwrap();
    assert_eq!(profile.kv_bytes_stored(1.0, 1.0), 131_072.0);
    assert_eq!(profile.kv_bytes_stored(1.0, 16.0), 131_072.0 / 8.0, "heads are replicated beyond their number");
    let latent = ServeProfile::new(&model(DEEPSEEK_V3), WeightFormat::Fp8, KvFormat::Half).unwrap();
    assert_eq!(latent.kv_bytes_stored(1.0, 8.0), 576.0 * 2.0 * 61.0, "a latent is not split");
}

#[test]
fn deepseek_v3_needs_eight_large_cards_in_fp8() {
    let asked = load(1000.0, 500.0, Arrival::Closed(8));
    let fits =
        |gpu: &Gpu, tensor| run(DEEPSEEK_V3, gpu, &strategy(tensor, WeightFormat::Fp8), &asked).unwrap().kv_slots > 0;
    let h20 = card("h20", 96.0, 95.1, 4000.0, 148.0, 296.0);
    assert!(fits(&h200(), 8) && fits(&h20, 8));
    assert!(!fits(&h200(), 4) && !fits(&h20, 4) && !fits(&h100(), 8));
}

#[test]
fn more_load_is_never_faster_and_more_memory_never_holds_less() {
    let layout = strategy(1, WeightFormat::Half);
    let mut last = (0.0, 0.0, 0.0);
    for rate in [0.0, 0.1, 1.0, 3.0, 5.0, 8.0, 12.0, 20.0, 50.0, 1000.0] {
        let e = run(LLAMA_8B, &h100(), &layout, &load(1000.0, 300.0, Arrival::Open(PerSecond(rate)))).unwrap();
        let now = (e.ttft.p90.mid.0, e.tpot.p90.mid.0, e.requests_per_second.mid.0);
        assert!(now.0 >= last.0 && now.1 >= last.1 && now.2 >= last.2, "at {rate}/s: {now:?} after {last:?}");
        assert!(e.ttft.p99.mid >= e.ttft.p50.mid && e.end_to_end.p99.mid >= e.end_to_end.p50.mid);
        last = now;
    }
    let mut throughput = 0.0;
    for in_flight in 1..300 {
        let e = run(LLAMA_8B, &h100(), &layout, &load(1000.0, 300.0, Arrival::Closed(in_flight))).unwrap();
        let now = e.output_tokens_per_second.mid.0;
        assert!(now >= throughput * 0.999_999, "{in_flight} in flight: {now} after {throughput}");
        throughput = now;
    }
    let mut slots = 0;
    for memory in [10.0, 16.0, 20.0, 24.0, 48.0, 80.0, 141.0] {
        let gpu = card("card", memory, memory * 0.98, 3350.0, 989.4, 1978.9);
        let now = run(LLAMA_8B, &gpu, &layout, &load(1000.0, 300.0, Arrival::Closed(1))).unwrap().kv_slots;
        assert!(now >= slots);
        slots = now;
    }
    assert!(slots > 400);
}

#[test]
fn capacity_is_the_edge_of_the_estimate() {
    let layout = strategy(1, WeightFormat::Half);
    let limit =
        |what, ms, confidence| Limit { what, percentile: Percentile4::P90, at_most: Seconds::from_ms(ms), confidence };
    let at = |rate: f64| load(1000.0, 300.0, Arrival::Open(PerSecond(rate)));
    let limits = [limit(LatencyKind::Ttft, 400.0, 0.8), limit(LatencyKind::Tpot, 25.0, 0.8)];
    let rate = max_rate(LLAMA_8B, &h100(), &layout, &at(0.0), &limits).unwrap();
    let keeps = |rate: f64| {
        let e = run(LLAMA_8B, &h100(), &layout, &at(rate)).unwrap();
        e.ttft.p90.probability_at_most(Seconds::from_ms(400.0)) >= 0.8
            && e.tpot.p90.probability_at_most(Seconds::from_ms(25.0)) >= 0.8
    };
    assert!(rate > 0.5 && keeps(rate) && !keeps(rate * 1.01), "{rate}/s");
    let free = max_rate(LLAMA_8B, &h100(), &layout, &at(0.0), &[]).unwrap();
    assert!(free > rate);
    let surer = [limit(LatencyKind::Ttft, 400.0, 0.9), limit(LatencyKind::Tpot, 25.0, 0.9)];
    assert!(max_rate(LLAMA_8B, &h100(), &layout, &at(0.0), &surer).unwrap_or(0.0) <= rate);
    assert_eq!(max_rate(LLAMA_8B, &h100(), &layout, &at(0.0), &[limit(LatencyKind::Ttft, 1.0, 0.5)]), None);
    assert_eq!(max_rate(LLAMA_70B, &h100(), &layout, &at(0.0), &[]), None, "does not fit one card");
}

#[test]
fn what_a_card_or_a_layout_cannot_do_is_refused() {
    let asked = load(500.0, 100.0, Arrival::Closed(4));
    let refused = |gpu: &Gpu, layout: ServeStrategy| run(LLAMA_8B, gpu, &layout, &asked).unwrap_err().to_string();
    assert!(refused(&t4(), strategy(1, WeightFormat::Fp8)).contains("fp8"));
    assert!(refused(&h100(), strategy(3, WeightFormat::Half)).contains("heads-by-tensor"));
    let by = |engine, tensor| refused(&h100(), ServeStrategy { engine, ..strategy(tensor, WeightFormat::Half) });
    assert!(by(Engine::Diffusers, 1).contains("engine"));
    assert!(by(Engine::LlamaCpp, 2).contains("layers-in-turn"));
    let int4 = run(LLAMA_8B, &t4(), &strategy(1, WeightFormat::Int4), &asked).unwrap();
    assert_eq!(int4.quality_note, Some("quality-int4"));
    assert!(int4.kv_slots > 0);
    let wild = ServeLoad {
        prompt: f64::NAN,
        output: -1.0,
        context_max: 0.0,
        prefix_hit: 7.0,
        arrival: Arrival::Open(PerSecond(f64::NAN)),
    };
    let bounded = run(LLAMA_8B, &h100(), &strategy(1, WeightFormat::Half), &wild).unwrap();
    assert!(bounded.ttft.p99.high.0.is_finite());
}

#[test]
fn pipeline_stages_hold_less_and_a_batch_of_prompts_runs_faster() {
    let asked = load(1000.0, 300.0, Arrival::Closed(64));
    let layout = |pipeline| ServeStrategy { pipeline, ..strategy(8, WeightFormat::Half) };
    let (one, two) =
        (run(LLAMA_70B, &h100(), &layout(1), &asked).unwrap(), run(LLAMA_70B, &h100(), &layout(2), &asked).unwrap());
    assert!(two.memory.total.mid < one.memory.total.mid && two.kv_slots > one.kv_slots);
    assert!(two.memory.total.mid > Bytes(0));
}

/// Rows that break physics or state another layout than they ran (see the calibration notes).
const DISTRUSTED: [&str; 13] = [
    "IT1699", "IT2298", "IT1863", "IT1538", "IT1608", "IT1649", "IT1609", "IT1703", "IT1533", "IT1732", "IT1529",
    "IT2199", "IT1504",
];

#[test]
fn measured_time_per_token_is_met_in_the_middle() {
    let shared = std::env::var_os("HOB_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = shared.join("truth/infer_throughput.csv");
    let Ok(mut reader) = csv::Reader::from_path(&path) else {
        println!("skipped: no measurements at {}", path.display());
        return;
    };
    let header = reader.headers().unwrap().clone();
    let mut errors: BTreeMap<&str, Vec<(f64, f64, f64)>> = BTreeMap::new();
    for record in reader.records().map(Result::unwrap) {
        let field = |name: &str| {
            header.iter().position(|column| column == name).and_then(|at| record.get(at)).unwrap_or_default()
        };
        let number = |name: &str| field(name).parse::<f64>().ok();
        let sizes = match field("model") {
            "llama3.1-8b" => LLAMA_8B,
            "llama3.1-70b" => LLAMA_70B,
            "qwen3-32b" => QWEN3_32B,
            "qwen3-235b-a22b" => QWEN3_235B,
            _ => continue,
        };
        let (gpu, reported) = match field("gpu") {
            "H100-SXM-80GB" => (h100(), "h100"),
            "H200-SXM-141GB" => (h200(), "h200"),
            _ => continue,
        };
        let eight = field("model") == "llama3.1-8b" && field("engine") == "vllm 0.12.0" && reported == "h200";
        if field("scenario") != "aggregated serving" || eight || DISTRUSTED.contains(&field("id")) {
            continue;
        }
        let (Some(prompt), Some(output), Some(in_flight), Some(tensor), Some(tpot)) =
            (number("in_len"), number("out_len"), number("concurrency"), number("tp"), number("tpot_ms_p50"))
        else {
            continue;
        };
        let engine = match field("engine").split(' ').next() {
            Some("vllm") => ("vllm", Engine::Vllm),
            Some("sglang") => ("sglang", Engine::Sglang),
            Some("trtllm") => ("tensorrt_llm", Engine::TensorrtLlm),
            _ => continue,
        };
        let weights = if field("precision") == "fp8" { WeightFormat::Fp8 } else { WeightFormat::Half };
        if number("gpus") != Some(tensor) || !(1.0..=8.0).contains(&tensor) {
            continue;
        }
        let layout = ServeStrategy {
            engine: engine.1,
            batch_max: 1024,
            memory_utilization: 0.92,
            ..strategy(tensor as u32, weights)
        };
        let e = run(sizes, &gpu, &layout, &load(prompt, output, Arrival::Closed(in_flight as u32))).unwrap();
        let ratio = e.tpot.p50.mid.as_ms() / tpot;
        let ttft = number("ttft_ms_p50").map_or(1.0, |ms| e.ttft.p50.mid.as_ms() / ms);
        let whole = number("ttft_ms_p50").map_or(1.0, |ms| e.end_to_end.p50.mid.as_ms() / (ms + tpot * (output - 1.0)));
        for group in ["all", engine.0] {
            errors.entry(group).or_default().push((ratio, ttft, whole));
        }
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    for (group, rows) in &errors {
        let off = |pick: fn(&(f64, f64, f64)) -> f64| median(rows.iter().map(|row| (pick(row) - 1.0).abs()).collect());
        let bias = median(rows.iter().map(|row| row.0).collect());
        let inside = rows.iter().filter(|row| (1.0 / 1.35..=1.35).contains(&row.0)).count();
        println!(
            "{group}: {} rows, TPOT {:.3} (bias {bias:.3}, {inside} inside the band), TTFT {:.3}, request {:.3}",
            rows.len(),
            off(|r| r.0),
            off(|r| r.1),
            off(|r| r.2)
        );
    }
    let all = errors.remove("all").unwrap_or_default();
    assert!(all.len() > 200, "only {} rows", all.len());
    let error = median(all.iter().map(|row| (row.0 - 1.0).abs()).collect());
    assert!(error < 0.25, "median error of time per token {error}");
}

#[test]
fn zz_speed() {
    let table = Efficiencies::embedded().unwrap();
    let (gpu, instance) = (h100(), machine(8));
    let hardware = Hardware { gpu: &gpu, instance: &instance, nodes: 1 };
    let layout = strategy(8, WeightFormat::Fp8);
    let profile = ServeProfile::new(&model(QWEN3_235B), WeightFormat::Fp8, KvFormat::Half).unwrap();
    let t = std::time::Instant::now();
    for i in 0..2000 {
        std::hint::black_box(
            profile.estimate(&hardware, &layout, &load(1000.0, 300.0, Arrival::Closed(i % 100 + 1)), &table).unwrap(),
        );
    }
    println!("estimate {:?}", t.elapsed() / 2000);
    let t = std::time::Instant::now();
    let l = [Limit {
        what: LatencyKind::Ttft,
        percentile: Percentile4::P90,
        at_most: Seconds::from_ms(400.0),
        confidence: 0.8,
    }];
    for _ in 0..500 {
        std::hint::black_box(
            profile.capacity(&hardware, &layout, &load(1000.0, 300.0, Arrival::Closed(1)), &l, &table).unwrap(),
        );
    }
    println!("capacity {:?}", t.elapsed() / 500);
}
