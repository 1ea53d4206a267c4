//! What one GPU, board or fixed fraction of a GPU can do.

use std::collections::BTreeMap;
use std::fmt;

use hob_units::{Bytes, BytesPerSec, FlopsPerSec, Share, Watts};
use serde::Serialize;

use crate::fraction::FractionKind;
use crate::provenance::Provenance;

/// Who makes the chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Vendor {
    /// NVIDIA.
    Nvidia,
    /// AMD.
    Amd,
    /// Intel.
    Intel,
    /// Any other maker.
    Other,
}

/// GPU generation. Efficiencies are tabled by it; an unknown generation inherits from its neighbours with a wider band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The names are the vendors' own.
pub enum GpuArchitecture {
    Kepler,
    Maxwell,
    Pascal,
    Volta,
    Turing,
    Ampere,
    Ada,
    Hopper,
    Blackwell,
    Cdna3,
    Other,
}

impl GpuArchitecture {
    /// All of them, oldest first.
    pub const ALL: [Self; 11] = [
        Self::Kepler,
        Self::Maxwell,
        Self::Pascal,
        Self::Volta,
        Self::Turing,
        Self::Ampere,
        Self::Ada,
        Self::Hopper,
        Self::Blackwell,
        Self::Cdna3,
        Self::Other,
    ];

    /// Its name as a word for filters: `ampere`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Kepler => "kepler",
            Self::Maxwell => "maxwell",
            Self::Pascal => "pascal",
            Self::Volta => "volta",
            Self::Turing => "turing",
            Self::Ampere => "ampere",
            Self::Ada => "ada",
            Self::Hopper => "hopper",
            Self::Blackwell => "blackwell",
            Self::Cdna3 => "cdna3",
            Self::Other => "other",
        }
    }
}

/// Number type of a matrix unit's peak rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The names are the number formats' own.
pub enum ComputeType {
    Fp64,
    Fp64Tensor,
    Fp32,
    Tf32,
    Fp16,
    Bf16,
    Fp8,
    Int8,
    Int4,
    Fp4,
}

/// A fixed share of a parent GPU (vGPU, qGPU, MIG): an offer of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fraction {
    /// Id of the whole GPU.
    pub parent: String,
    /// Share of the parent's compute.
    #[serde(rename = "compute_share")]
    pub compute: Share,
    /// Share of the parent's memory.
    #[serde(rename = "memory_share")]
    pub memory: Share,
    /// How it is cut, which decides whether it may borrow what its neighbours leave idle.
    pub kind: FractionKind,
}

/// One GPU model, board variant or fraction. Rates are dense peaks (no 2:4 sparsity) as the vendor states them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gpu {
    /// Stable id: `h20`, `a100-sxm-40`, `t4-1of4`.
    pub id: String,
    /// Maker.
    pub vendor: Vendor,
    /// Name as marketed.
    pub name: String,
    /// Generation.
    pub architecture: GpuArchitecture,
    /// CUDA compute capability, major and minor.
    pub compute_capability: Option<(u8, u8)>,
    /// Marketed memory of the row (whole board for multi-GPU boards, see `gpus_on_board`).
    #[serde(rename = "memory_bytes")]
    pub memory: Bytes,
    /// Memory that a driver reports as total; less than marketed. `None` when nobody stated it.
    #[serde(rename = "memory_reported_bytes")]
    pub memory_reported: Option<Bytes>,
    /// `HBM3`, `GDDR6`...
    pub memory_type: Option<String>,
    /// Peak memory bandwidth.
    #[serde(rename = "memory_bandwidth_bytes_per_second")]
    pub memory_bandwidth: Option<BytesPerSec>,
    /// Dense peak by number type; an absent type is not supported or not known.
    #[serde(rename = "peak_flops_per_second")]
    pub peak: BTreeMap<ComputeType, FlopsPerSec>,
    /// GPU-to-GPU link (`NVLink 4`); `None` when there is only PCIe.
    pub interconnect: Option<String>,
    /// Bandwidth of that link per GPU, both directions together.
    #[serde(rename = "interconnect_bandwidth_bytes_per_second")]
    pub interconnect_bandwidth: Option<BytesPerSec>,
    /// PCIe generation.
    pub pcie_generation: Option<u8>,
    /// PCIe lanes.
    pub pcie_lanes: Option<u8>,
    /// Board power.
    #[serde(rename = "tdp_watts")]
    pub tdp: Option<Watts>,
    /// Video encode engines on the row's board; `Some(0)` means none, `None` means not known. A MIG slice holds whole
    /// engines; any other fraction shares all engines of the card in time.
    pub nvenc: Option<u8>,
    /// Video decode engines, as above.
    pub nvdec: Option<u8>,
    /// Whether the encode engines do AV1.
    pub av1_encode: Option<bool>,
    /// Whether the decode engines do AV1.
    pub av1_decode: Option<bool>,
    /// Most MIG instances; `Some(0)` means MIG is not supported.
    pub mig_instances_max: Option<u8>,
    /// GPUs on the row's board (2 for K80, 4 for A16); rates and memory are of the whole board.
    pub gpus_on_board: u8,
    /// First Linux driver branch or version that supports the chip.
    pub driver_linux_min: Option<String>,
    /// First CUDA toolkit that targets the chip.
    pub cuda_min: Option<String>,
    /// Last CUDA toolkit that targets the chip; `None` means current ones still do.
    pub cuda_last: Option<String>,
    /// Set when the row is a share of another GPU; rates above are then already the share's.
    pub fraction: Option<Fraction>,
    /// Where the row comes from.
    pub provenance: Provenance,
}

impl Gpu {
    /// Dense peak for a number type, if the chip has it.
    #[must_use]
    pub fn peak(&self, compute: ComputeType) -> Option<FlopsPerSec> {
        self.peak.get(&compute).copied()
    }

    /// Memory that software can address: what the driver reports, or, when that is not known, 0.96 of the marketed size
    /// (the mean ratio of the cards whose driver total is known).
    #[must_use]
    pub fn memory_total(&self) -> Bytes {
        self.memory_reported.unwrap_or(self.memory * 0.96)
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}
