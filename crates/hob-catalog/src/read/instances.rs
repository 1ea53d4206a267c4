//! Reads instance rows (`tencent_instances.csv`, or a user's file in the same form): one row is one instance type.

use std::collections::BTreeMap;

use hob_units::{BytesPerSec, gib};
use serde::Serialize;

use super::words;
use crate::error::{CatalogError, RowError};
use crate::expected::Expected;
use crate::gpu::Gpu;
use crate::instance::{Availability, GpuLink, InstanceType};
use crate::provenance::{Confidence, DATE_NOT_STATED, Provenance};
use crate::table::{Row, Table};

/// Bounds above any machine that is sold; a larger value is a slip of units.
pub(crate) const GPU_COUNT_MAX: u32 = 1024;
pub(crate) const VCPUS_MAX: u32 = 100_000;
pub(crate) const MEMORY_GIB_MAX: f64 = 1_000_000.0;
pub(crate) const NETWORK_GBPS_MAX: f64 = 1_000_000.0;

const KNOWN: &[&str] = &[
    "cloud",
    "family",
    "instance_type",
    "name",
    "availability",
    "gpu",
    "gpu_count",
    "gpu_link",
    "gpu_fraction",
    "gpu_memory_gib_each",
    "vcpu",
    "vcpus",
    "memory_gib",
    "local_disk",
    "net_gbps",
    "network_gbps",
    "rdma_gbps",
    "regions",
    "source",
    "source_date",
    "date",
    "confidence",
    "note",
];

/// A family that is known by name only: it exists, its sizes must be asked from the cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KnownFamily {
    /// Cloud.
    pub cloud: String,
    /// Family name.
    pub family: String,
    /// Id of the GPU that it is believed to have.
    pub gpu_believed: Option<String>,
    /// Source, date, and how to learn more.
    pub provenance: Provenance,
}

/// What one file of instance rows holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct InstanceRows {
    pub(crate) instances: Vec<InstanceType>,
    pub(crate) families: Vec<KnownFamily>,
    /// Source columns without a field of their own, by (cloud, name).
    pub(crate) facts: BTreeMap<(String, String), Vec<(String, String)>>,
}

/// Reads instance rows. `gpu` resolves a GPU name; `region` turns a region name into its code.
pub(crate) fn read<'g>(
    file: &str,
    text: &str,
    gpu: impl Fn(&str) -> Result<&'g Gpu, crate::UnknownName>,
    region: impl Fn(&str, &str) -> String,
) -> Result<InstanceRows, CatalogError> {
    let table = Table::open(file, text)?;
    table.require(&["cloud", "instance_type|name", "gpu", "gpu_count"])?;
    let mut out = InstanceRows::default();
    let others = table.other_columns(KNOWN);
    table.each_row(|row| {
        let cloud = row.required("cloud", "tencent")?.to_lowercase();
        let Some(name) = row.text("instance_type|name") else {
            out.families.push(family_only(row, cloud)?);
            return Ok(());
        };
        let gpu_name = row.required("gpu", "a10")?;
        let gpu = gpu(gpu_name)
            .map_err(|unknown| row.error("gpu", gpu_name, Expected::KnownGpu).meant(unknown.did_you_mean))?;
        let key = (cloud.clone(), name.to_owned());
        if out.facts.contains_key(&key) {
            return Err(row.error("instance_type|name", name, Expected::Unique));
        }
        out.facts.insert(key, row.cells(&others));
        out.instances.push(instance(row, cloud, name, gpu, &region)?);
        Ok(())
    })?;
    Ok(out)
}

pub(crate) fn provenance(row: &Row<'_>) -> Result<Provenance, RowError> {
    Ok(Provenance {
        source: row.owned("source").unwrap_or_else(|| row.origin()),
        date: row.owned("source_date|date").unwrap_or_else(|| DATE_NOT_STATED.to_owned()),
        confidence: row.parsed("confidence", words::CONFIDENCES, words::confidence)?.unwrap_or(Confidence::Medium),
        note: row.owned("note"),
    })
}

fn family_only(row: &Row<'_>, cloud: String) -> Result<KnownFamily, RowError> {
    Ok(KnownFamily {
        cloud,
        family: row.required("family", "PNV4")?.to_owned(),
        gpu_believed: row.owned("gpu"),
        provenance: provenance(row)?,
    })
}

pub(crate) fn instance(
    row: &Row<'_>,
    cloud: String,
    name: &str,
    gpu: &Gpu,
    region: &impl Fn(&str, &str) -> String,
) -> Result<InstanceType, RowError> {
    let counted = row.number("gpu_count", f64::from(GPU_COUNT_MAX))?;
    // The pages count a vGPU as its fraction (0.25); here it is one fraction.
    let gpu_count = match counted {
        Some(count) if gpu.fraction.is_some() && count > 0.0 && count < 1.0 => 1,
        Some(count) if count >= 1.0 && count.fract() == 0.0 => count as u32,
        _ => {
            let got = row.text("gpu_count").unwrap_or_default();
            return Err(row.error("gpu_count", got, Expected::Whole(1, GPU_COUNT_MAX)));
        }
    };
    let gbps = |columns| -> Result<Option<BytesPerSec>, RowError> {
        Ok(row.number(columns, NETWORK_GBPS_MAX)?.map(|gbps| BytesPerSec(gbps * 1e9 / 8.0)))
    };
    let stated_link = row.parsed("gpu_link", words::LINKS, words::gpu_link)?;
    Ok(InstanceType {
        family: row.owned("family").unwrap_or_else(|| family_of(name)),
        availability: row
            .parsed("availability", words::AVAILABILITIES, words::availability)?
            .unwrap_or(Availability::OnSale),
        gpu: gpu.id.clone(),
        gpu_count,
        vcpus: row.whole("vcpu|vcpus", VCPUS_MAX)?.filter(|count| *count > 0),
        memory: row.number("memory_gib", MEMORY_GIB_MAX)?.filter(|amount| *amount > 0.0).map(gib),
        local_disk: row.owned("local_disk"),
        network: gbps("net_gbps|network_gbps")?.filter(|rate| rate.0 > 0.0),
        rdma: gbps("rdma_gbps")?,
        gpu_link: link(stated_link, gpu, gpu_count),
        regions: row
            .text("regions")
            .unwrap_or_default()
            .split('|')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(|name| region(&cloud, name))
            .collect(),
        provenance: provenance(row)?,
        gpu_share: gpu.fraction.as_ref().map(|fraction| fraction.compute),
        name: name.to_owned(),
        cloud,
    })
}

/// The stated link; else PCIe for cards whose NVLink is a bridge that one buys apart, or leads to the CPU: a bridge that
/// nobody states is not counted on.
pub(crate) fn link(stated: Option<GpuLink>, gpu: &Gpu, gpu_count: u32) -> Option<GpuLink> {
    let is_optional =
        gpu.interconnect.as_deref().is_some_and(|words| words.contains("bridge") || words.contains("C2C"));
    stated.or_else(|| (gpu_count > 1 && is_optional).then_some(GpuLink::Pcie))
}

/// `GN7` of `GN7.2XLARGE32`, `gn7i` of `ecs.gn7i-c16g1.4xlarge`, `a2-highgpu` of `a2-highgpu-1g`.
pub(crate) fn family_of(name: &str) -> String {
    let name = name.strip_prefix("ecs.").unwrap_or(name);
    if let Some(series) = name.strip_prefix("Standard_") {
        return series.chars().filter(|c| !c.is_ascii_digit()).collect();
    }
    let head = name.split(['.', '_']).next().unwrap_or(name);
    if name.contains('.') {
        return head.split('-').next().unwrap_or(head).to_owned();
    }
    head.rsplit_once('-').map_or(head, |(family, _)| family).to_owned()
}
