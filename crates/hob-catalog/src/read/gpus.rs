//! Reads `gpus.csv`: one row is one GPU, one board variant, or one fixed fraction of a GPU.

use std::collections::BTreeMap;

use hob_units::{Bytes, BytesPerSec, FlopsPerSec, Share, Watts, gib};

use super::words;
use crate::error::{CatalogError, RowError, UnknownName};
use crate::expected::Expected;
use crate::fraction::{FractionKind, share_of_parent};
use crate::gpu::{ComputeType, Gpu};
use crate::provenance::{Confidence, DATE_NOT_STATED, Provenance};
use crate::table::{Row, Table};

/// Bounds above anything that is built or planned; a larger value is a slip of units.
const MEMORY_GIB_MAX: f64 = 4096.0;
const RATE_TERA_MAX: f64 = 1e6;
const BANDWIDTH_GBS_MAX: f64 = 1e6;
const WATTS_MAX: f64 = 1e5;

const RATES: &[(&str, ComputeType)] = &[
    ("fp64_tflops", ComputeType::Fp64),
    ("fp64_tensor_tflops", ComputeType::Fp64Tensor),
    ("fp32_tflops", ComputeType::Fp32),
    ("tf32_tflops", ComputeType::Tf32),
    ("fp16_tflops", ComputeType::Fp16),
    ("bf16_tflops", ComputeType::Bf16),
    ("fp8_tflops", ComputeType::Fp8),
    ("int8_tops", ComputeType::Int8),
    ("int4_tops", ComputeType::Int4),
    ("fp4_tflops", ComputeType::Fp4),
];

/// Columns with a field of their own; the others are kept as plain facts.
const KNOWN: &[&str] = &[
    "id",
    "vendor",
    "name",
    "architecture",
    "compute_capability",
    "memory_gib",
    "memory_reported_gib",
    "memory_reported_source",
    "memory_type",
    "mem_bw_gbs",
    "fp64_tflops",
    "fp64_tensor_tflops",
    "fp32_tflops",
    "tf32_tflops",
    "fp16_tflops",
    "bf16_tflops",
    "fp8_tflops",
    "int8_tops",
    "int4_tops",
    "fp4_tflops",
    "interconnect",
    "interconnect_gbs",
    "pcie_gen",
    "pcie_lanes",
    "tdp_w",
    "nvenc",
    "nvdec",
    "av1_encode",
    "av1_decode",
    "mig_max_instances",
    "gpus_on_board",
    "min_driver_linux",
    "min_cuda",
    "last_cuda",
    "parent_id",
    "fraction",
    "fraction_kind",
    "aliases",
    "source",
    "source_date",
    "confidence",
    "note",
];

/// What one file of GPU rows holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct GpuRows {
    pub(crate) gpus: Vec<Gpu>,
    /// Other names of a GPU (first) and its id (second).
    pub(crate) aliases: Vec<(String, String)>,
    /// Source columns without a field of their own, by GPU id.
    pub(crate) facts: BTreeMap<String, Vec<(String, String)>>,
    /// The row that says how qGPU divides a card.
    pub(crate) qgpu: Option<Provenance>,
}

/// Reads GPU rows. `parents` answers for whole GPUs of an underlying catalog, so that a user's file may name them.
pub(crate) fn read<'g>(
    file: &str,
    text: &str,
    parents: impl Fn(&str) -> Result<&'g Gpu, UnknownName>,
) -> Result<GpuRows, CatalogError> {
    let table = Table::open(file, text)?;
    table.require(&["id", "memory_gib", "source"])?;
    let mut out = GpuRows::default();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let others = table.other_columns(KNOWN);
    table.each_row(|row| {
        if row.text("fraction_kind") == Some("qgpu") {
            out.qgpu = Some(provenance(row)?);
            return Ok(());
        }
        let mut gpu = gpu(row)?;
        if places.contains_key(&gpu.id) {
            return Err(row.error("id", &gpu.id, Expected::Unique));
        }
        if let Some(parent_id) = row.text("parent_id") {
            let own = places.get(parent_id).and_then(|place| out.gpus.get(*place));
            let parent = own
                .map_or_else(|| parents(parent_id), Ok)
                .map_err(|unknown| row.error("parent_id", parent_id, Expected::KnownGpu).meant(unknown.did_you_mean))?;
            gpu = fraction(row, gpu, parent)?;
        }
        out.facts.insert(gpu.id.clone(), row.cells(&others));
        for alias in row.text("aliases").unwrap_or_default().split('|').filter(|alias| !alias.trim().is_empty()) {
            out.aliases.push((alias.trim().to_owned(), gpu.id.clone()));
        }
        places.insert(gpu.id.clone(), out.gpus.len());
        out.gpus.push(gpu);
        Ok(())
    })?;
    Ok(out)
}

fn provenance(row: &Row<'_>) -> Result<Provenance, RowError> {
    let confidence = row.parsed("confidence", words::CONFIDENCES, words::confidence)?;
    Ok(Provenance {
        source: row.owned("source").unwrap_or_else(|| row.origin()),
        date: row.owned("source_date|date").unwrap_or_else(|| DATE_NOT_STATED.to_owned()),
        confidence: confidence.unwrap_or(Confidence::Medium),
        note: row.owned("note"),
    })
}

fn gpu(row: &Row<'_>) -> Result<Gpu, RowError> {
    let id = row.required("id", "a100-sxm-40")?;
    let is_id = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c));
    if id.len() > 64 || !is_id(id) {
        return Err(row.error("id", id, Expected::Id));
    }
    let memory = row.number("memory_gib", MEMORY_GIB_MAX)?.filter(|gib| *gib > 0.0);
    let memory =
        memory.ok_or_else(|| row.error("memory_gib", row.text("memory_gib").unwrap_or(""), above(MEMORY_GIB_MAX)))?;
    let reported = row.number("memory_reported_gib", MEMORY_GIB_MAX)?.filter(|gib| *gib > 0.0);
    if reported.is_some_and(|reported| reported > memory * 1.01) {
        let got = row.text("memory_reported_gib").unwrap_or_default();
        return Err(row.error("memory_reported_gib", got, Expected::AtMost(memory.to_string().into())));
    }
    let mut provenance = provenance(row)?;
    if let (Some(_), Some(source)) = (reported, row.text("memory_reported_source")) {
        append(&mut provenance.note, &format!("driver-reported memory: {source}"));
    }
    let mut peak = BTreeMap::new();
    for (column, compute) in RATES {
        if let Some(tera) = row.number(column, RATE_TERA_MAX)?.filter(|tera| *tera > 0.0) {
            peak.insert(*compute, FlopsPerSec(tera * 1e12));
        }
    }
    let bandwidth = |column| -> Result<Option<BytesPerSec>, RowError> {
        Ok(row.number(column, BANDWIDTH_GBS_MAX)?.filter(|rate| *rate > 0.0).map(|rate| BytesPerSec(rate * 1e9)))
    };
    let small = |column| -> Result<Option<u8>, RowError> { Ok(row.whole(column, 255)?.map(|number| number as u8)) };
    let flag = |column| row.parsed(column, Expected::OneOf(&["yes", "no"]), words::yes_no);
    Ok(Gpu {
        id: id.to_owned(),
        vendor: row.parsed("vendor", Expected::Like("NVIDIA"), words::vendor)?.unwrap_or(crate::gpu::Vendor::Other),
        name: row.text("name").unwrap_or(id).to_owned(),
        architecture: words::architecture(row.text("architecture").unwrap_or_default()),
        compute_capability: compute_capability(row)?,
        memory: gib(memory),
        memory_reported: reported.map(gib),
        memory_type: row.owned("memory_type"),
        memory_bandwidth: bandwidth("mem_bw_gbs")?,
        peak,
        interconnect: row.owned("interconnect"),
        interconnect_bandwidth: bandwidth("interconnect_gbs")?,
        pcie_generation: small("pcie_gen")?,
        pcie_lanes: small("pcie_lanes")?,
        tdp: row.number("tdp_w", WATTS_MAX)?.filter(|watts| *watts > 0.0).map(Watts),
        nvenc: small("nvenc")?,
        nvdec: small("nvdec")?,
        av1_encode: flag("av1_encode")?,
        av1_decode: flag("av1_decode")?,
        mig_instances_max: small("mig_max_instances")?,
        gpus_on_board: small("gpus_on_board")?.unwrap_or(1).max(1),
        driver_linux_min: row.owned("min_driver_linux"),
        cuda_min: row.owned("min_cuda"),
        cuda_last: row.owned("last_cuda"),
        fraction: None,
        provenance,
    })
}

fn above(max: f64) -> Expected {
    Expected::Positive(max as u64)
}

/// NVIDIA's `8.9`; other makers' targets (`gfx942`) have none.
fn compute_capability(row: &Row<'_>) -> Result<Option<(u8, u8)>, RowError> {
    let Some(text) = row.text("compute_capability") else { return Ok(None) };
    if text.starts_with("gfx") {
        return Ok(None);
    }
    let pair = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    pair.map(Some).ok_or_else(|| row.error("compute_capability", text, Expected::Like("8.9")))
}

/// Fills a fraction row's empty cells from the whole card.
fn fraction(row: &Row<'_>, own: Gpu, parent: &Gpu) -> Result<Gpu, RowError> {
    if parent.fraction.is_some() {
        return Err(row.error("parent_id", &parent.id, Expected::WholeGpu));
    }
    let compute = row.number("fraction", 1.0)?.filter(|share| *share > 0.0);
    let compute =
        compute.ok_or_else(|| row.error("fraction", row.text("fraction").unwrap_or(""), Expected::Positive(1)))?;
    if own.memory.0 > parent.memory.0 {
        let got = row.text("memory_gib").unwrap_or_default();
        return Err(row.error("memory_gib", got, Expected::AtMost(parent.memory.to_string().into())));
    }
    let kind = row.parsed("fraction_kind", Expected::OneOf(&["vgpu", "mig"]), |word| match word {
        "vgpu" => Some(FractionKind::TimeSliced),
        "mig" => Some(FractionKind::Mig),
        _ => None,
    })?;
    let kind = kind.unwrap_or(FractionKind::TimeSliced);
    let derived = share_of_parent(parent, kind, Share(compute), own.memory);
    let peak = if own.peak.is_empty() { derived.peak } else { own.peak };
    let mut provenance = own.provenance;
    append(&mut provenance.note, kind.note());
    Ok(Gpu {
        id: own.id,
        name: own.name,
        compute_capability: own.compute_capability.or(derived.compute_capability),
        memory_reported: own.memory_reported.or(derived.memory_reported),
        memory_bandwidth: own.memory_bandwidth.or(derived.memory_bandwidth),
        peak,
        driver_linux_min: own.driver_linux_min.or(derived.driver_linux_min),
        cuda_min: own.cuda_min.or(derived.cuda_min),
        cuda_last: own.cuda_last.or(derived.cuda_last),
        provenance,
        memory: own.memory,
        vendor: derived.vendor,
        architecture: derived.architecture,
        memory_type: derived.memory_type,
        interconnect: None,
        interconnect_bandwidth: None,
        pcie_generation: derived.pcie_generation,
        pcie_lanes: derived.pcie_lanes,
        tdp: derived.tdp,
        nvenc: own.nvenc.or(derived.nvenc),
        nvdec: own.nvdec.or(derived.nvdec),
        av1_encode: derived.av1_encode,
        av1_decode: derived.av1_decode,
        mig_instances_max: Some(0),
        gpus_on_board: 1,
        fraction: derived.fraction,
    })
}

pub(crate) fn append(note: &mut Option<String>, more: &str) {
    *note = Some(match note.take() {
        Some(before) => format!("{before}; {more}"),
        None => more.to_owned(),
    });
}

/// Bytes of a `MiB` count.
pub(crate) fn mib(count: f64) -> Bytes {
    gib(count / 1024.0)
}
