//! Reads a cloud's catalog in SkyPilot's column form, so that any cloud that SkyPilot covers can be planned on.
//!
//! Columns: `InstanceType, vCPUs, MemoryGiB, AcceleratorName, AcceleratorCount, GpuInfo, Price, SpotPrice, Region` in any
//! order, others ignored. Prices are in USD for one hour unless a `Currency` column says otherwise. The rows of a
//! region's zones fold to one price, or to a range. Embedded files add `Gpu, GpuLink, NetworkGbps, RdmaGbps`.

use std::collections::{BTreeMap, BTreeSet};

use hob_units::{Bytes, BytesPerSec, Currency, Period, Share, gib};
use rust_decimal::Decimal;
use serde::Serialize;

use super::gpus::mib;
use super::instances::{GPU_COUNT_MAX, MEMORY_GIB_MAX, NETWORK_GBPS_MAX, VCPUS_MAX, family_of, link};
use super::prices::{PRICE_MAX, between, currency};
use super::words;
use crate::error::{CatalogError, RowError};
use crate::expected::Expected;
use crate::fraction::slice;
use crate::gpu::Gpu;
use crate::instance::{Availability, InstanceType};
use crate::overlay::Overlay;
use crate::price::{ChargeType, Price};
use crate::provenance::{Confidence, DATE_NOT_STATED, Provenance};
use crate::table::{Row, Table, read_decimal};

/// Accelerator names that are kept in a report; the rest are counted.
const UNKNOWN_NAMES_MAX: usize = 50;
/// Two shares of one card that differ by less are one: sources print 0.1667, 0.167 or 0.17.
const SHARE_TOLERANCE: f64 = 0.02;

/// What an import took and what it left out, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Rows read.
    pub rows: usize,
    /// Fractions of GPUs taken that the catalog does not have, or GPUs of a GPU file.
    pub gpus: usize,
    /// Instance types taken.
    pub instances: usize,
    /// Prices taken, after zones were folded.
    pub prices: usize,
    /// Rows of machines without an accelerator.
    pub rows_without_gpu: usize,
    /// Rows that price an accelerator without a machine.
    pub rows_without_instance: usize,
    /// Prices of zero, taken as unknown.
    pub prices_zero: usize,
    /// Accelerators that the catalog does not know, with their rows.
    pub unknown_accelerators: BTreeMap<String, usize>,
    /// Regions that the catalog did not know before.
    pub regions_new: BTreeSet<String>,
}

/// A folded price: lowest and highest of the zones.
struct Fold {
    low: Decimal,
    high: Decimal,
    provenance: Provenance,
}

/// What the reader asks the underlying catalog.
pub(crate) trait Accelerators {
    /// The GPU of an id.
    fn by_id(&self, id: &str) -> Option<&Gpu>;
    /// The whole GPU of an accelerator name with the given memory each; the one that the instance type is known to have
    /// wins.
    fn by_accelerator(&self, name: &str, memory: Option<Bytes>, cloud: &str, instance: &str) -> Option<&Gpu>;
    /// The known fraction of a whole GPU nearest to a share.
    fn fraction_near(&self, parent: &str, share: f64) -> Option<&Gpu>;
}

/// Reads one cloud's file.
pub(crate) fn read(
    file: &str,
    text: &str,
    cloud: &str,
    known: &dyn Accelerators,
) -> Result<(Overlay, ImportReport), CatalogError> {
    let table = Table::open(file, text)?;
    table.require(&["instancetype", "acceleratorname", "acceleratorcount", "region", "price|spotprice"])?;
    let mut import = Import::empty(cloud, known);
    table.each_row(|row| import.row(row))?;
    Ok(import.finish())
}

type PriceKey = (String, String, ChargeType, Currency);

struct Import<'k> {
    cloud: &'k str,
    known: &'k dyn Accelerators,
    report: ImportReport,
    gpus: BTreeMap<String, Gpu>,
    instances: Vec<InstanceType>,
    places: BTreeMap<String, usize>,
    folds: BTreeMap<PriceKey, Fold>,
}

impl<'k> Import<'k> {
    fn empty(cloud: &'k str, known: &'k dyn Accelerators) -> Self {
        Self {
            cloud,
            known,
            report: ImportReport::default(),
            gpus: BTreeMap::new(),
            instances: Vec::new(),
            places: BTreeMap::new(),
            folds: BTreeMap::new(),
        }
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), RowError> {
        self.report.rows += 1;
        let Some(accelerator) = row.text("acceleratorname") else {
            self.report.rows_without_gpu += 1;
            return Ok(());
        };
        let Some(name) = row.text("instancetype") else {
            self.report.rows_without_instance += 1;
            return Ok(());
        };
        let region = row.required("region", "us-east-1")?;
        let provenance = provenance(row);
        if let Some(place) = self.places.get(name).copied() {
            let instance = self.instances.get_mut(place);
            if let Some(instance) = instance.filter(|each| !each.regions.iter().any(|known| known == region)) {
                instance.regions.push(region.to_owned());
            }
        } else {
            let Some((gpu, gpu_count)) = self.gpu(row, accelerator, name)? else {
                let names = &mut self.report.unknown_accelerators;
                if names.contains_key(accelerator) || names.len() < UNKNOWN_NAMES_MAX {
                    *names.entry(accelerator.to_owned()).or_default() += 1;
                }
                return Ok(());
            };
            let instance = instance(row, self.cloud, name, region, &gpu, gpu_count, provenance.clone())?;
            self.places.insert(name.to_owned(), self.instances.len());
            self.instances.push(instance);
            if self.known.by_id(&gpu.id).is_none() {
                self.gpus.insert(gpu.id.clone(), gpu);
            }
        }
        let currency = currency(row)?.unwrap_or(Currency::USD);
        for (column, charge) in [("price", ChargeType::PayAsYouGo), ("spotprice", ChargeType::Spot)] {
            let Some(price) = self.price(row, column)? else { continue };
            let fold = self
                .folds
                .entry((name.to_owned(), region.to_owned(), charge, currency))
                .or_insert_with(|| Fold { low: price, high: price, provenance: provenance.clone() });
            fold.low = fold.low.min(price);
            fold.high = fold.high.max(price);
        }
        Ok(())
    }

    /// A price above zero; zero is counted and left unknown.
    fn price(&mut self, row: &Row<'_>, column: &str) -> Result<Option<Decimal>, RowError> {
        let read = |cell: &str| {
            if cell.eq_ignore_ascii_case("nan") {
                // What pandas writes for an empty cell.
                return Some(None);
            }
            read_decimal(cell).filter(|price| *price >= Decimal::ZERO && *price <= PRICE_MAX.into()).map(Some)
        };
        let price = row.parsed(column, Expected::AmountOrZero(PRICE_MAX), read)?;
        match price.flatten() {
            Some(price) if price.is_zero() => {
                self.report.prices_zero += 1;
                Ok(None)
            }
            other => Ok(other),
        }
    }

    /// The row's GPU and how many of it; `None` when the catalog does not know the accelerator.
    fn gpu(&self, row: &Row<'_>, accelerator: &str, instance: &str) -> Result<Option<(Gpu, u32)>, RowError> {
        let expected = || Expected::Whole(1, GPU_COUNT_MAX);
        let count = row.number("acceleratorcount", f64::from(GPU_COUNT_MAX))?;
        let count = count.ok_or_else(|| row.error("acceleratorcount", "", expected()))?;
        let info = row.text("gpuinfo").map(memory_each).unwrap_or_default();
        if let Some(id) = row.text("gpu") {
            let gpu = self.known.by_id(id).ok_or_else(|| row.error("gpu", id, Expected::KnownGpu))?;
            let whole = if gpu.fraction.is_some() && count < 1.0 { 1 } else { count as u32 };
            return Ok((whole >= 1).then(|| (gpu.clone(), whole)));
        }
        if count >= 1.0 {
            if count.fract() != 0.0 {
                return Err(row.error("acceleratorcount", row.text("acceleratorcount").unwrap_or(""), expected()));
            }
            let found = self.known.by_accelerator(accelerator, info, self.cloud, instance);
            return Ok(found.map(|gpu| (gpu.clone(), count as u32)));
        }
        let Some(parent) = self.known.by_accelerator(accelerator, None, self.cloud, instance) else { return Ok(None) };
        if parent.fraction.is_some() {
            return Ok(Some((parent.clone(), 1)));
        }
        let by_memory = info.map(|memory| memory.0 as f64 / parent.memory_total().0.max(1) as f64);
        let Some(share) = Some(count).filter(|count| *count > 0.0).or(by_memory) else { return Ok(None) };
        Ok((share <= 1.0).then(|| (self.fraction(parent, share, info), 1)))
    }

    fn fraction(&self, parent: &Gpu, share: f64, memory: Option<Bytes>) -> Gpu {
        let near = self.known.fraction_near(&parent.id, share);
        let is_near = |gpu: &&Gpu| {
            gpu.fraction.as_ref().is_some_and(|fraction| (fraction.compute.0 - share).abs() < SHARE_TOLERANCE)
        };
        if let Some(gpu) = near.filter(is_near) {
            return gpu.clone();
        }
        slice(parent, Share(share), memory.unwrap_or(parent.memory * share))
    }

    fn finish(self) -> (Overlay, ImportReport) {
        let prices: Vec<Price> = self
            .folds
            .into_iter()
            .map(|((instance, region, charge, currency), fold)| Price {
                cloud: self.cloud.to_owned(),
                instance,
                region,
                charge,
                amount: between(fold.low, fold.high, currency),
                per: Period::Hour,
                provenance: fold.provenance,
            })
            .collect();
        let gpus = self.gpus.into_values().collect();
        (Overlay { gpus, instances: self.instances, prices, ..Overlay::default() }, self.report)
    }
}

fn provenance(row: &Row<'_>) -> Provenance {
    Provenance {
        source: row.owned("source").unwrap_or_else(|| row.origin()),
        date: row.owned("asof|date").unwrap_or_else(|| DATE_NOT_STATED.to_owned()),
        confidence: Confidence::Medium,
        note: row.text("networksource").map(|source| format!("network: {source}")),
    }
}

fn instance(
    row: &Row<'_>,
    cloud: &str,
    name: &str,
    region: &str,
    gpu: &Gpu,
    gpu_count: u32,
    provenance: Provenance,
) -> Result<InstanceType, RowError> {
    let gbps = |column| -> Result<Option<BytesPerSec>, RowError> {
        Ok(row.number(column, NETWORK_GBPS_MAX)?.map(|gbps| BytesPerSec(gbps * 1e9 / 8.0)))
    };
    let stated_link = row.parsed("gpulink", words::LINKS, words::gpu_link)?;
    // SkyPilot prints odd vCPU counts of shared machines with a fraction.
    let vcpus = row.number("vcpus", f64::from(VCPUS_MAX))?.map(|count| count.round() as u32);
    Ok(InstanceType {
        cloud: cloud.to_owned(),
        name: name.to_owned(),
        family: family_of(name),
        availability: Availability::OnSale,
        gpu: gpu.id.clone(),
        gpu_count,
        vcpus: vcpus.filter(|count| *count > 0),
        memory: row.number("memorygib", MEMORY_GIB_MAX)?.filter(|amount| *amount > 0.0).map(gib),
        local_disk: None,
        network: gbps("networkgbps")?.filter(|rate| rate.0 > 0.0),
        rdma: gbps("rdmagbps")?,
        gpu_link: link(stated_link, gpu, gpu_count),
        regions: vec![region.to_owned()],
        provenance,
        gpu_share: gpu.fraction.as_ref().map(|fraction| fraction.compute),
    })
}

/// Memory of one GPU, from `{'Gpus': [{... 'MemoryInfo': {'SizeInMiB': 81920}}]...}` or the short `8x 81920 MiB`.
fn memory_each(info: &str) -> Option<Bytes> {
    const KEY: &str = "SizeInMiB";
    let digits = match info.find(KEY) {
        Some(place) => info.get(place + KEY.len()..)?.trim_start_matches(|c: char| !c.is_ascii_digit()),
        None => info.strip_suffix("MiB")?.trim_end().rsplit(' ').next()?,
    };
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let count: f64 = digits.get(..end)?.parse().ok()?;
    (count > 0.0 && count < 1e8).then(|| mib(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_each_form() {
        let check = |info: &str, gib: Option<f64>| {
            assert_eq!(memory_each(info).map(Bytes::as_gib), gib, "{info}");
        };
        check("8x 81920 MiB", Some(80.0));
        check("vGPU 4096 MiB", Some(4.0));
        check(
            "{'Gpus': [{'Name': 'V100', 'Manufacturer': 'NVIDIA', 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': 16384}}], \
             'TotalGpuMemoryInMiB': 131072}",
            Some(16.0),
        );
        check("{\"Gpus\": [{\"MemoryInfo\": {\"SizeInMiB\": 24576.0}}]}", Some(24.0));
        check("V100", None);
        check("", None);
        check("SizeInMiB", None);
        check("SizeInMiB: 999999999999999999999999", None);
    }
}
