//! What a cloud (or a user's own rack) rents out as one machine.

use hob_units::{Bytes, BytesPerSec, Share};
use serde::Serialize;

use crate::provenance::Provenance;

/// Whether one can have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// Anyone can order it.
    OnSale,
    /// On sale, older generation or limited.
    Limited,
    /// By allow-list or invitation.
    InvitationOnly,
    /// No longer sold.
    Retired,
    /// Named somewhere; sizes or sale status are not known. Never offered as a fact.
    NotConfirmed,
    /// The user's own machine.
    Owned,
}

impl Availability {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::OnSale, Self::Limited, Self::InvitationOnly, Self::Retired, Self::NotConfirmed, Self::Owned];

    /// The word of the files: `on_sale`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::OnSale => "on_sale",
            Self::Limited => "limited",
            Self::InvitationOnly => "invitation_only",
            Self::Retired => "retired",
            Self::NotConfirmed => "not_confirmed",
            Self::Owned => "owned",
        }
    }
}

/// One instance type. Capacity fields are of the whole machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InstanceType {
    /// Cloud: `tencent`, `aws`, `azure`, `gcp`, `alibaba`, `nebius`, `lambda`, `own`, or any imported name.
    pub cloud: String,
    /// Type name as the cloud's API takes it; unique within the cloud.
    pub name: String,
    /// Family: `PNV4`, `GN7`, `p5`.
    pub family: String,
    /// Whether one can have it.
    pub availability: Availability,
    /// Id of the GPU (or of the GPU fraction) in the catalog.
    pub gpu: String,
    /// How many of that GPU or fraction.
    pub gpu_count: u32,
    /// Virtual CPUs.
    pub vcpus: Option<u32>,
    /// Main memory.
    #[serde(rename = "memory_bytes")]
    pub memory: Option<Bytes>,
    /// Local disk in words of the source (`4 x 6400 GB NVMe`); `None` when not stated.
    pub local_disk: Option<String>,
    /// Private network of the whole machine.
    #[serde(rename = "network_bytes_per_second")]
    pub network: Option<BytesPerSec>,
    /// RDMA network of the whole machine; `Some(0)` means none, `None` means not known.
    #[serde(rename = "rdma_bytes_per_second")]
    pub rdma: Option<BytesPerSec>,
    /// How the GPUs of the machine reach each other when that differs from the GPU row (`PCIe only`, `NVLink`).
    pub gpu_link: Option<GpuLink>,
    /// Region names or codes where it is sold.
    pub regions: Vec<String>,
    /// Where the row comes from.
    pub provenance: Provenance,
    /// Share of one GPU each unit holds, when the GPU is a fraction.
    pub gpu_share: Option<Share>,
}

impl InstanceType {
    /// Takes from another row of the same machine what this one does not state.
    pub(crate) fn fill_unknown_from(&mut self, other: &Self) {
        self.vcpus = self.vcpus.or(other.vcpus);
        self.memory = self.memory.or(other.memory);
        self.local_disk = self.local_disk.take().or_else(|| other.local_disk.clone());
        self.network = self.network.or(other.network);
        self.rdma = self.rdma.or(other.rdma);
        self.gpu_link = self.gpu_link.or(other.gpu_link);
        for region in &other.regions {
            if !self.regions.contains(region) {
                self.regions.push(region.clone());
            }
        }
    }
}

/// How GPUs inside one machine reach each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuLink {
    /// Through PCIe and, for peers on another root, host memory.
    Pcie,
    /// NVLink bridges or mesh without a switch.
    Nvlink,
    /// NVLink through NVSwitch: full bandwidth between any pair.
    Nvswitch,
}

impl GpuLink {
    /// The word of the files: `nvswitch`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pcie => "pcie",
            Self::Nvlink => "nvlink",
            Self::Nvswitch => "nvswitch",
        }
    }
}
