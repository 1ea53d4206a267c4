//! The card and the machine that a row was measured on.

use std::sync::Arc;

use hob_catalog::{Availability, Catalog, Confidence, Gpu, InstanceType, Provenance};
use hob_estimate::Hardware;
use hob_units::{Bytes, BytesPerSec};

use crate::question::Unanswered;
use crate::table::Row;

/// GPUs of one machine when the row does not say: the common eight, or a whole NVLink rack for Grace cards.
const GPUS_OF_MACHINE: u32 = 8;
const GPUS_OF_RACK: u32 = 72;
/// Links of measured clusters, which rows do not state: 1.6 Tbit/s of RDMA and a 25 Gbit/s network for each machine
/// (eight 200 Gbit/s adapters, the layout of DGX A100; NVIDIA data sheet, 2020).
const RDMA: BytesPerSec = BytesPerSec(200e9);
const NETWORK: BytesPerSec = BytesPerSec(3.125e9);
/// Memory sizes of a class and of a card that differ by less than this share are the same card.
const MEMORY_NEAR: f64 = 0.15;

/// Equal machines of one card.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The card.
    pub gpu: Arc<Gpu>,
    instance: Arc<InstanceType>,
    nodes: u32,
}

impl Machine {
    /// The row's card and its GPUs in equal machines.
    ///
    /// # Errors
    /// When the catalog has no such card, or the row no number of GPUs.
    pub fn of(row: &Row, catalog: &Catalog) -> Result<Self, Unanswered> {
        let gpus = row.count("gpus").ok_or(Unanswered::Missing { column: "gpus" })?;
        Self::with(row, catalog, gpus)
    }

    /// The row's card, this many times.
    ///
    /// # Errors
    /// When the catalog has no such card.
    pub fn with(row: &Row, catalog: &Catalog, gpus: u32) -> Result<Self, Unanswered> {
        let gpu = card(row.text("gpu_class"), catalog)
            .or_else(|| catalog.resolve_gpu(row.text("gpu")).ok())
            .ok_or_else(|| Unanswered::UnknownGpu { name: row.text("gpu_class").to_owned() })?;
        let whole = if gpu.id.starts_with("gb") { GPUS_OF_RACK } else { GPUS_OF_MACHINE };
        let in_machine = if gpus.is_multiple_of(whole) { whole } else { gpus };
        Ok(Self { gpu: Arc::new(gpu.clone()), instance: Arc::new(owned(gpu, in_machine)), nodes: gpus / in_machine })
    }

    /// As the estimator takes it.
    #[must_use]
    pub fn hardware(&self) -> Hardware<'_> {
        Hardware { gpu: &self.gpu, instance: &self.instance, nodes: self.nodes }
    }

    /// GPUs over all machines.
    #[must_use]
    pub fn gpus(&self) -> u32 {
        self.hardware().gpus()
    }
}

/// A class such as `A100-80-SXM`: name, memory in GB, form; `?` where the source did not state it.
fn card<'c>(class: &str, catalog: &'c Catalog) -> Option<&'c Gpu> {
    if let Ok(gpu) = catalog.resolve_gpu(class) {
        return Some(gpu);
    }
    let class = class.split('(').next().unwrap_or(class);
    let words: Vec<&str> = class.split('-').filter(|word| *word != "?").collect();
    let size = words.iter().find_map(|word| word.trim_end_matches('S').parse::<f64>().ok().filter(|gb| *gb >= 16.0));
    let named: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let (name, rest) = named.split_first()?;
    let form = rest.iter().find(|word| ["sxm", "pcie", "nvl"].contains(&word.as_str()));
    let whole = || catalog.gpus().filter(|gpu| gpu.fraction.is_none());
    let first = |gpu: &&Gpu| gpu.id.split('-').next().is_some_and(|id| id.trim_end_matches("sxm2") == name);
    let close = |gpu: &&Gpu| {
        size.is_none_or(|gb| {
            (gpu.memory.as_gib() / gb - 1.0).abs() < MEMORY_NEAR || (gpu.memory.as_gib() - gb).abs() < 1.0
        })
    };
    let of_form = |gpu: &&Gpu| form.is_none_or(|form| gpu.id.contains(form.as_str()));
    // A form that was not stated is most often the server module.
    let plain = |gpu: &&Gpu| form.is_some() || gpu.id.contains("sxm") || gpu.id == *name;
    whole()
        .filter(first)
        .filter(close)
        .filter(of_form)
        .min_by_key(|gpu| (!plain(gpu), Bytes(gpu.memory.0), gpu.id.len()))
}

fn owned(gpu: &Gpu, gpus: u32) -> InstanceType {
    InstanceType {
        cloud: "own".to_owned(),
        name: "measured".to_owned(),
        family: "measured".to_owned(),
        availability: Availability::Owned,
        gpu: gpu.id.clone(),
        gpu_count: gpus,
        vcpus: None,
        memory: None,
        local_disk: None,
        network: Some(NETWORK),
        rdma: Some(RDMA),
        gpu_link: None,
        regions: Vec::new(),
        provenance: Provenance {
            source: "the row".to_owned(),
            date: String::new(),
            confidence: Confidence::Low,
            note: None,
        },
        gpu_share: None,
    }
}
