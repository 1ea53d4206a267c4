//! The machines that an estimate runs on.

use hob_catalog::{Gpu, GpuLink, InstanceType};
use hob_units::BytesPerSec;
use serde::Serialize;

/// A number of equal machines.
#[derive(Debug, Clone, Copy)]
pub struct Hardware<'a> {
    /// The GPU, or the fraction of one.
    pub gpu: &'a Gpu,
    /// The machine.
    pub instance: &'a InstanceType,
    /// Machines that work together on one job or one replica.
    pub nodes: u32,
}

/// What carries bytes between two GPUs, slowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// TCP over the machine's network card.
    Ethernet,
    /// RDMA (InfiniBand or RoCE).
    Rdma,
    /// PCIe inside one machine.
    Pcie,
    /// NVLink, with or without a switch.
    Nvlink,
}

/// Payload bytes per second and lane, one way: PCIe base specification rates after line coding.
const PCIE_LANE_BYTES: [(u8, f64); 5] = [(1, 0.25e9), (2, 0.5e9), (3, 0.985e9), (4, 1.969e9), (5, 3.938e9)];

/// Network assumed when the catalog does not state one: 10 Gbit/s, the smallest that GPU instances are sold with.
const NETWORK_UNKNOWN: BytesPerSec = BytesPerSec(1.25e9);

impl Hardware<'_> {
    /// GPUs over all machines.
    #[must_use]
    pub fn gpus(&self) -> u32 {
        self.instance.gpu_count.saturating_mul(self.nodes)
    }

    /// How GPUs of one machine reach each other, and the bandwidth of one GPU, one way.
    #[must_use]
    pub fn inside(&self) -> (Link, BytesPerSec) {
        let pcie_only = self.instance.gpu_link == Some(GpuLink::Pcie);
        match self.gpu.interconnect_bandwidth {
            Some(both_ways) if !pcie_only && self.gpu.fraction.is_none() => (Link::Nvlink, both_ways * 0.5),
            _ => (Link::Pcie, self.pcie()),
        }
    }

    /// How machines reach each other, and the bandwidth of one whole machine, one way.
    #[must_use]
    pub fn between(&self) -> (Link, BytesPerSec) {
        match self.instance.rdma {
            Some(rdma) if rdma.0 > 0.0 => (Link::Rdma, rdma),
            _ => (Link::Ethernet, self.instance.network.unwrap_or(NETWORK_UNKNOWN)),
        }
    }

    /// Bandwidth of one GPU's PCIe port, one way.
    #[must_use]
    pub fn pcie(&self) -> BytesPerSec {
        let generation = self.gpu.pcie_generation.unwrap_or(3);
        let lane = PCIE_LANE_BYTES.iter().rev().find(|(g, _)| *g <= generation).map_or(0.985e9, |(_, rate)| *rate);
        BytesPerSec(lane * f64::from(self.gpu.pcie_lanes.unwrap_or(16)))
    }
}
