//! The user's own machines: one row, or one entry of a workload file, is one kind of machine.

use hob_units::{Bytes, BytesPerSec, Money, MoneyPer, Period, Share, Watts, gib};
use rust_decimal::Decimal;
use serde::Serialize;

use super::instances::{GPU_COUNT_MAX, MEMORY_GIB_MAX, NETWORK_GBPS_MAX, VCPUS_MAX, link};
use super::prices::{PRICE_MAX, currency};
use super::words;
use crate::UnknownName;
use crate::error::{CatalogError, RowError};
use crate::expected::Expected;
use crate::fraction::{FractionError, qgpu_share};
use crate::gpu::Gpu;
use crate::instance::{Availability, GpuLink, InstanceType};
use crate::overlay::Overlay;
use crate::price::{ChargeType, Price, PriceAmount};
use crate::provenance::{Confidence, DATE_NOT_STATED, Provenance};
use crate::table::{Row, Table};

/// Longest life of a machine that is believed: 30 years.
const LIFETIME_MONTHS_MAX: u32 = 360;
/// More watts than any machine draws.
const WATTS_MAX: f64 = 1e6;

/// What an own machine costs its owner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnCost {
    /// Nobody stated it; it is not zero.
    Unknown,
    /// The user's own figure, all in.
    Stated(MoneyPer),
    /// Bought, and written off evenly over its life, with its electricity.
    Bought {
        /// Purchase price.
        price: Money,
        /// Months over which it is written off.
        lifetime_months: u32,
        /// Power under load.
        power: Option<Watts>,
        /// Price of one kWh, in the same currency.
        electricity_kwh: Option<Money>,
    },
}

impl OwnCost {
    /// Cost of one hour; `None` when it is unknown or the currencies differ. Purchase price over the hours of the
    /// lifetime (average months), plus power times the price of electricity when both are stated.
    #[must_use]
    pub fn per_hour(&self) -> Option<Money> {
        match self {
            Self::Unknown => None,
            Self::Stated(cost) => cost.per(Period::Hour).map(|cost| cost.money),
            Self::Bought { price, lifetime_months, power, electricity_kwh } => {
                let hours = f64::from(*lifetime_months) * Period::Month.hours();
                let write_off = price.times(1.0 / hours)?.rounded(6);
                match (power, electricity_kwh) {
                    (Some(watts), Some(kwh)) => write_off.checked_add(kwh.times(watts.0 / 1000.0)?.rounded(6)),
                    _ => Some(write_off),
                }
            }
        }
    }
}

/// One kind of machine that the user owns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnMachine {
    /// The user's name for it.
    pub name: String,
    /// GPU, in any form that [`crate::Catalog::resolve_gpu`] reads.
    pub gpu: String,
    /// Whole GPUs in the machine.
    pub gpu_count: u32,
    /// Share of each GPU that may be used, with its memory (qGPU steps); `None` for the whole.
    pub gpu_share: Option<(Share, Bytes)>,
    /// Virtual CPUs.
    pub vcpus: Option<u32>,
    /// Main memory.
    pub memory: Option<Bytes>,
    /// Local disk, in words.
    pub local_disk: Option<String>,
    /// Network of the whole machine.
    pub network: Option<BytesPerSec>,
    /// RDMA network of the whole machine.
    pub rdma: Option<BytesPerSec>,
    /// How the GPUs reach each other, when the user states it.
    pub gpu_link: Option<GpuLink>,
    /// What it costs.
    pub cost: OwnCost,
    /// Where the user states it: file and line.
    pub source: String,
    /// Date of the statement.
    pub date: String,
}

/// Why an own machine cannot be planned on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OwnMachineError {
    /// The GPU is not in the catalog.
    #[error("machine `{machine}`: {unknown}")]
    Gpu {
        /// The machine.
        machine: String,
        /// The name and its neighbours.
        unknown: UnknownName,
    },
    /// The share cannot be cut.
    #[error("machine `{machine}`: {why}")]
    Share {
        /// The machine.
        machine: String,
        /// Why.
        why: crate::FractionError,
    },
    /// The count is 0 or absurd.
    #[error("machine `{machine}`: {got} GPUs; a machine has 1 to {GPU_COUNT_MAX}")]
    Count {
        /// The machine.
        machine: String,
        /// The count.
        got: u32,
    },
}

/// Own machines as instance types of the cloud `own`, with one price each where the cost is known.
pub(crate) fn overlay<'g>(
    machines: &[OwnMachine],
    gpu: impl Fn(&str) -> Result<&'g Gpu, UnknownName>,
    qgpu: Option<&Provenance>,
) -> Result<Overlay, OwnMachineError> {
    let mut out = Overlay::default();
    for machine in machines {
        let name = machine.name.clone();
        if machine.gpu_count == 0 || machine.gpu_count > GPU_COUNT_MAX {
            return Err(OwnMachineError::Count { machine: name, got: machine.gpu_count });
        }
        let whole = gpu(&machine.gpu).map_err(|unknown| OwnMachineError::Gpu { machine: name.clone(), unknown })?;
        let gpu = match machine.gpu_share {
            None => whole.clone(),
            Some((compute, memory)) => {
                let share = qgpu_share(whole, compute, memory, qgpu)
                    .map_err(|why| OwnMachineError::Share { machine: name.clone(), why })?;
                out.gpus.push(share.clone());
                share
            }
        };
        let provenance = Provenance {
            source: machine.source.clone(),
            date: machine.date.clone(),
            confidence: Confidence::High,
            note: None,
        };
        if let Some(cost) = machine.cost.per_hour() {
            out.prices.push(Price {
                cloud: "own".to_owned(),
                instance: name.clone(),
                region: String::new(),
                charge: ChargeType::Owned,
                amount: PriceAmount::Exact(cost),
                per: Period::Hour,
                provenance: Provenance { note: cost_note(&machine.cost), ..provenance.clone() },
            });
        }
        out.instances.push(InstanceType {
            cloud: "own".to_owned(),
            family: "own".to_owned(),
            name,
            availability: Availability::Owned,
            gpu: gpu.id.clone(),
            gpu_count: machine.gpu_count,
            vcpus: machine.vcpus,
            memory: machine.memory,
            local_disk: machine.local_disk.clone(),
            network: machine.network,
            rdma: machine.rdma,
            gpu_link: link(machine.gpu_link, &gpu, machine.gpu_count),
            regions: Vec::new(),
            provenance,
            gpu_share: gpu.fraction.as_ref().map(|fraction| fraction.compute),
        });
    }
    Ok(out)
}

fn cost_note(cost: &OwnCost) -> Option<String> {
    match cost {
        OwnCost::Unknown | OwnCost::Stated(_) => None,
        OwnCost::Bought { price, lifetime_months, power, electricity_kwh } => {
            let power = match (power, electricity_kwh) {
                (Some(watts), Some(kwh)) => format!(", and {watts} at {kwh} per kWh"),
                _ => ", without electricity".to_owned(),
            };
            Some(format!("{price} over {lifetime_months} months{power}"))
        }
    }
}

/// Reads a file of own machines; `each` takes one, or says why it cannot.
pub(crate) fn read(
    file: &str,
    text: &str,
    mut each: impl FnMut(&OwnMachine) -> Result<(), OwnMachineError>,
) -> Result<(), CatalogError> {
    let table = Table::open(file, text)?;
    table.require(&["name", "gpu", "gpu_count"])?;
    let mut seen = std::collections::BTreeSet::new();
    table.each_row(|row| {
        let machine = machine(row)?;
        if !seen.insert(machine.name.clone()) {
            return Err(row.error("name", &machine.name, Expected::Unique));
        }
        each(&machine).map_err(|error| row_error(row, error))
    })
}

fn row_error(row: &Row<'_>, error: OwnMachineError) -> RowError {
    match error {
        OwnMachineError::Gpu { unknown, .. } => {
            row.error("gpu", &unknown.name, Expected::KnownGpu).meant(unknown.did_you_mean)
        }
        OwnMachineError::Share { why, .. } => share_error(row, why),
        OwnMachineError::Count { got, .. } => {
            row.error("gpu_count", &got.to_string(), Expected::Whole(1, GPU_COUNT_MAX))
        }
    }
}

/// The wrong cell of a share that cannot be cut.
pub(crate) fn share_error(row: &Row<'_>, why: FractionError) -> RowError {
    match why {
        FractionError::ComputeStep { got } => row.error("gpu_share_percent", &got, Expected::QgpuCompute),
        FractionError::MemoryStep { got, whole } => {
            row.error("gpu_share_memory_gib", &got, Expected::QgpuMemory(whole.into()))
        }
        FractionError::NotWhole { gpu } => row.error("gpu", &gpu, Expected::QgpuCard),
    }
}

/// Compute and memory of the share of a card that a row states; `None` for the whole card.
pub(crate) fn share(row: &Row<'_>) -> Result<Option<(Share, Bytes)>, RowError> {
    let compute = row.number("gpu_share_percent", 100.0)?.filter(|percent| *percent > 0.0);
    let memory = row.number("gpu_share_memory_gib", MEMORY_GIB_MAX)?.filter(|memory| *memory > 0.0);
    match (compute, memory) {
        (Some(percent), Some(memory)) => Ok(Some((Share(percent / 100.0), gib(memory)))),
        (None, None) => Ok(None),
        _ => {
            let got = row.text("gpu_share_percent").unwrap_or("");
            Err(row.error("gpu_share_percent", got, Expected::With("gpu_share_memory_gib")))
        }
    }
}

fn machine(row: &Row<'_>) -> Result<OwnMachine, RowError> {
    let gbps = |column| -> Result<Option<BytesPerSec>, RowError> {
        Ok(row.number(column, NETWORK_GBPS_MAX)?.map(|gbps| BytesPerSec(gbps * 1e9 / 8.0)))
    };
    let gpu_share = share(row)?;
    let counted = row.whole("gpu_count", GPU_COUNT_MAX)?.filter(|count| *count > 0);
    let gpu_count = counted.ok_or_else(|| {
        let got = row.text("gpu_count").unwrap_or_default();
        row.error("gpu_count", got, Expected::Whole(1, GPU_COUNT_MAX))
    })?;
    Ok(OwnMachine {
        name: row.required("name", "rack-a")?.to_owned(),
        gpu: row.required("gpu", "a10")?.to_owned(),
        gpu_count,
        gpu_share,
        vcpus: row.whole("vcpus", VCPUS_MAX)?.filter(|count| *count > 0),
        memory: row.number("memory_gib", MEMORY_GIB_MAX)?.filter(|amount| *amount > 0.0).map(gib),
        local_disk: row.owned("local_disk"),
        network: gbps("network_gbps")?.filter(|rate| rate.0 > 0.0),
        rdma: gbps("rdma_gbps")?,
        gpu_link: row.parsed("gpu_link", words::LINKS, words::gpu_link)?,
        cost: cost(row)?,
        source: row.owned("source").unwrap_or_else(|| row.origin()),
        date: row.owned("date").unwrap_or_else(|| DATE_NOT_STATED.to_owned()),
    })
}

fn cost(row: &Row<'_>) -> Result<OwnCost, RowError> {
    let stated = row.amount("cost", PRICE_MAX)?;
    let bought = row.amount("purchase_price", PRICE_MAX)?;
    let money = |amount: Decimal| -> Result<Money, RowError> {
        let currency = currency(row)?.ok_or_else(|| row.error("currency", "", Expected::Like("CNY")))?;
        Ok(Money::new(amount, currency))
    };
    match (stated, bought) {
        (None, None) => Ok(OwnCost::Unknown),
        (Some(amount), None) => {
            let per = row.parsed("per", words::PERIODS, words::period)?;
            let per = per.ok_or_else(|| row.error("per", "", words::PERIODS))?;
            Ok(OwnCost::Stated(MoneyPer { money: money(amount)?, per }))
        }
        (None, Some(amount)) => {
            let lifetime = row.whole("lifetime_months", LIFETIME_MONTHS_MAX)?.filter(|months| *months > 0);
            let lifetime_months = lifetime.ok_or_else(|| {
                let got = row.text("lifetime_months").unwrap_or_default();
                row.error("lifetime_months", got, Expected::Whole(1, LIFETIME_MONTHS_MAX))
            })?;
            let electricity = row.amount("electricity_kwh", PRICE_MAX)?;
            Ok(OwnCost::Bought {
                price: money(amount)?,
                lifetime_months,
                power: row.number("power_w", WATTS_MAX)?.filter(|watts| *watts > 0.0).map(Watts),
                electricity_kwh: electricity.map(money).transpose()?,
            })
        }
        (Some(_), Some(_)) => {
            let got = row.text("cost").unwrap_or_default();
            Err(row.error("cost", got, Expected::Without("purchase_price")))
        }
    }
}
