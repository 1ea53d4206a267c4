//! A share of a GPU as a GPU of its own, with rates derived from the whole card.

use hob_units::{Bytes, Share, gib};
use serde::Serialize;
use thiserror::Error;

use crate::gpu::{Fraction, Gpu};
use crate::provenance::{Confidence, DATE_NOT_STATED, Provenance};
use crate::read::gpus::append;

/// How the share is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FractionKind {
    /// vGPU and cloud slices: memory is cut hard, compute is shared in time.
    TimeSliced,
    /// NVIDIA MIG: compute, memory and memory bandwidth are cut hard.
    Mig,
    /// Tencent qGPU on TKE: compute and memory are isolated in the kernel, in steps of 5 % and 1 GiB.
    Qgpu,
}

impl FractionKind {
    /// What was derived, for the row's provenance.
    pub(crate) fn note(self) -> &'static str {
        match self {
            Self::TimeSliced | Self::Qgpu => {
                "peak rates, memory bandwidth and power are the whole card's times the share of compute (a neighbour at \
                 work is assumed)"
            }
            Self::Mig => {
                "peak rates and power are the whole card's times the share of compute slices, memory bandwidth times \
                 the share of memory"
            }
        }
    }
}

/// Why a share of a card cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FractionError {
    /// Not a multiple of 5 % from 5 % to 100 %.
    #[error("qGPU shares compute in steps of 5%, from 5% to 100%; {got} is not one")]
    ComputeStep {
        /// What was asked.
        got: String,
    },
    /// Not whole GiB, none, or more than the card has.
    #[error("qGPU shares memory in whole GiB, from 1 GiB to the card's {whole}; {got} is not one")]
    MemoryStep {
        /// What was asked.
        got: String,
        /// The card's memory.
        whole: String,
    },
    /// The card is itself a share, or not NVIDIA's.
    #[error("qGPU shares whole NVIDIA cards; {gpu} is not one")]
    NotWhole {
        /// The card.
        gpu: String,
    },
}

/// The share as a GPU; id, name and provenance are the parent's until the caller sets them.
pub(crate) fn share_of_parent(parent: &Gpu, kind: FractionKind, compute: Share, memory: Bytes) -> Gpu {
    let memory_share = Share(memory.0 as f64 / parent.memory.0.max(1) as f64);
    // A MIG slice gets whole video engines in proportion to its compute slices; the others take turns on all of them.
    let whole = |count: u8| (f64::from(count) * compute.0 + 1e-9).floor() as u8;
    let engines = |count: Option<u8>| if kind == FractionKind::Mig { count.map(whole) } else { count };
    let bandwidth_share = if kind == FractionKind::Mig { memory_share } else { compute };
    Gpu {
        memory,
        memory_reported: parent.memory_reported.map(|reported| reported * memory_share.0),
        memory_bandwidth: parent.memory_bandwidth.map(|rate| rate * bandwidth_share.0),
        peak: parent.peak.iter().map(|(compute_type, rate)| (*compute_type, *rate * compute.0)).collect(),
        interconnect: None,
        interconnect_bandwidth: None,
        tdp: parent.tdp.map(|watts| watts * compute.0),
        nvenc: engines(parent.nvenc),
        nvdec: engines(parent.nvdec),
        mig_instances_max: Some(0),
        gpus_on_board: 1,
        fraction: Some(Fraction { parent: parent.id.clone(), compute, memory: memory_share, kind }),
        ..parent.clone()
    }
}

/// A cloud's slice of a whole card, of which no more is known than its share.
pub(crate) fn slice(parent: &Gpu, compute: Share, memory: Bytes) -> Gpu {
    let mut gpu = share_of_parent(parent, FractionKind::TimeSliced, compute, memory);
    let percent = compute.0 * 100.0;
    gpu.id = format!("{}-{percent:.0}pct", parent.id);
    gpu.name = format!("{} {percent:.0}% slice", parent.name);
    append(&mut gpu.provenance.note, FractionKind::TimeSliced.note());
    gpu
}

/// A qGPU share of a whole card.
///
/// # Errors
/// When the share is not in qGPU's steps (source: the `qgpu` row of `gpus.csv`), or the card is not a whole NVIDIA one.
pub fn qgpu_share(
    parent: &Gpu,
    compute: Share,
    memory: Bytes,
    rule: Option<&Provenance>,
) -> Result<Gpu, FractionError> {
    if parent.fraction.is_some() || parent.vendor != crate::gpu::Vendor::Nvidia || parent.gpus_on_board != 1 {
        return Err(FractionError::NotWhole { gpu: parent.id.clone() });
    }
    let percent = (compute.0 * 100.0).round();
    if (percent - compute.0 * 100.0).abs() > 1e-6 || !(5.0..=100.0).contains(&percent) || percent % 5.0 != 0.0 {
        return Err(FractionError::ComputeStep { got: compute.to_string() });
    }
    let whole_gib = memory.as_gib().round();
    if gib(whole_gib) != memory || memory.0 == 0 || memory.0 > parent.memory.0 {
        return Err(FractionError::MemoryStep { got: memory.to_string(), whole: parent.memory.to_string() });
    }
    let mut gpu = share_of_parent(parent, FractionKind::Qgpu, compute, memory);
    gpu.id = format!("{}-qgpu-{percent:.0}pct-{whole_gib:.0}gib", parent.id);
    gpu.name = format!("{} qGPU {percent:.0}% {whole_gib:.0} GiB", parent.name);
    gpu.provenance = rule.cloned().unwrap_or(Provenance {
        source: "asked for".to_owned(),
        date: DATE_NOT_STATED.to_owned(),
        confidence: Confidence::Low,
        note: None,
    });
    append(&mut gpu.provenance.note, FractionKind::Qgpu.note());
    Ok(gpu)
}
