//! Writes facts as a price list: Hob's own form, one row for each price, which [`crate::Overlay::read`] reads back to the
//! same facts.

use std::collections::BTreeSet;

use hob_units::BytesPerSec;
use serde::Serialize;
use thiserror::Error;

use crate::catalog::Catalog;
use crate::gpu::Gpu;
use crate::instance::{Availability, GpuLink, InstanceType};
use crate::overlay::Overlay;
use crate::price::{Price, PriceAmount};
use crate::provenance::{Confidence, Provenance};
use crate::read::words::charge_word;

/// Why facts cannot be written as a price list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WriteError {
    /// They describe a whole GPU, which has a form of its own.
    #[error("`{gpu}` is a GPU of its own, which a price list cannot describe")]
    Gpu {
        /// The GPU.
        gpu: String,
    },
    /// A value that CSV cannot hold.
    #[error("{why}")]
    Csv {
        /// Why.
        why: String,
    },
}

/// One row; the order of the fields is the order of the columns.
#[derive(Debug, Clone, Default, Serialize)]
struct PriceListRow<'o> {
    cloud: &'o str,
    instance: &'o str,
    gpu: Option<&'o str>,
    gpu_share_percent: Option<f64>,
    gpu_share_memory_gib: Option<f64>,
    gpu_count: Option<u32>,
    vcpus: Option<u32>,
    memory_gib: Option<f64>,
    local_disk: Option<&'o str>,
    network_gbps: Option<f64>,
    rdma_gbps: Option<f64>,
    gpu_link: Option<GpuLink>,
    availability: Option<Availability>,
    region: &'o str,
    charge: Option<String>,
    price: Option<String>,
    low: Option<String>,
    high: Option<String>,
    currency: Option<String>,
    per: Option<&'static str>,
    source: &'o str,
    date: &'o str,
    confidence: Option<Confidence>,
    note: Option<&'o str>,
}

/// The facts of an overlay as the text of a price list. `catalog` is the one that the overlay was read against.
///
/// # Errors
/// When the overlay describes whole GPUs.
pub fn price_list(catalog: &Catalog, overlay: &Overlay) -> Result<String, WriteError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let csv = |error: &dyn std::fmt::Display| WriteError::Csv { why: error.to_string() };
    if let Some(gpu) = overlay.gpus.iter().find(|gpu| share_of(catalog, gpu).is_none()) {
        return Err(WriteError::Gpu { gpu: gpu.id.clone() });
    }
    let mut written: BTreeSet<(&str, &str)> = BTreeSet::new();
    for instance in &overlay.instances {
        let machine = machine(catalog, overlay, instance)?;
        let own = overlay.prices.iter().filter(|price| is_of(price, instance));
        let mut priced: BTreeSet<&str> = BTreeSet::new();
        for price in own {
            priced.insert(catalog.region_code(&price.cloud, &price.region));
            writer.serialize(with_price(&machine, price)).map_err(|error| csv(&error))?;
        }
        let unpriced = instance.regions.iter().map(String::as_str).filter(|region| !priced.contains(region));
        let nowhere = instance.regions.is_empty() && priced.is_empty();
        for region in unpriced.chain(nowhere.then_some("")) {
            writer.serialize(PriceListRow { region, ..machine.clone() }).map_err(|error| csv(&error))?;
        }
        written.insert((&instance.cloud, &instance.name));
    }
    for price in overlay.prices.iter().filter(|price| !written.contains(&(&*price.cloud, &*price.instance))) {
        let row = PriceListRow { cloud: &price.cloud, instance: &price.instance, ..PriceListRow::default() };
        writer.serialize(with_price(&row, price)).map_err(|error| csv(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| csv(&error))?;
    String::from_utf8(bytes).map_err(|error| csv(&error))
}

fn is_of(price: &Price, instance: &InstanceType) -> bool {
    price.cloud == instance.cloud && price.instance == instance.name
}

/// The columns that say what the machine is.
fn machine<'o>(
    catalog: &'o Catalog,
    overlay: &'o Overlay,
    instance: &'o InstanceType,
) -> Result<PriceListRow<'o>, WriteError> {
    let own = overlay.gpus.iter().find(|gpu| gpu.id == instance.gpu);
    let (gpu, share) = match own {
        None => (instance.gpu.as_str(), None),
        Some(gpu) => share_of(catalog, gpu).ok_or_else(|| WriteError::Gpu { gpu: gpu.id.clone() })?,
    };
    let gbps = |rate: BytesPerSec| rate.0 * 8.0 / 1e9;
    Ok(PriceListRow {
        cloud: &instance.cloud,
        instance: &instance.name,
        gpu: Some(gpu),
        gpu_share_percent: share.map(|(percent, _)| percent),
        gpu_share_memory_gib: share.map(|(_, memory)| memory),
        gpu_count: Some(instance.gpu_count),
        vcpus: instance.vcpus,
        memory_gib: instance.memory.map(|memory| memory.as_gib()),
        local_disk: instance.local_disk.as_deref(),
        network_gbps: instance.network.map(gbps),
        rdma_gbps: instance.rdma.map(gbps),
        gpu_link: instance.gpu_link,
        availability: Some(instance.availability),
        ..sourced(PriceListRow::default(), &instance.provenance)
    })
}

/// Id of the whole card, with the share in percent and the share's memory in GiB.
fn share_of<'o>(catalog: &Catalog, gpu: &'o Gpu) -> Option<(&'o str, Option<(f64, f64)>)> {
    let fraction = gpu.fraction.as_ref()?;
    let parent = catalog.gpu(&fraction.parent).filter(|parent| parent.fraction.is_none());
    parent.map(|_| (fraction.parent.as_str(), Some((fraction.compute.0 * 100.0, gpu.memory.as_gib()))))
}

fn with_price<'o>(machine: &PriceListRow<'o>, price: &'o Price) -> PriceListRow<'o> {
    let (exact, low, high) = match price.amount {
        PriceAmount::Exact(money) => (Some(money), None, None),
        PriceAmount::Range { low, high } => (None, Some(low), Some(high)),
    };
    let amount = |money: hob_units::Money| money.amount.to_string();
    PriceListRow {
        region: &price.region,
        charge: Some(charge_word(price.charge)),
        price: exact.map(amount),
        low: low.map(amount),
        high: high.map(amount),
        currency: Some(price.amount.currency().to_string()),
        per: Some(price.per.word()),
        ..sourced(machine.clone(), &price.provenance)
    }
}

fn sourced<'o>(row: PriceListRow<'o>, provenance: &'o Provenance) -> PriceListRow<'o> {
    PriceListRow {
        source: &provenance.source,
        date: &provenance.date,
        confidence: Some(provenance.confidence),
        note: provenance.note.as_deref(),
        ..row
    }
}
