//! Models and machines of the tests.

use hob_catalog::{Availability, Catalog, Confidence, Gpu, InstanceType, Provenance};
use hob_model::{ModelGraph, RecommenderSizes, preset, recommender_graph, vision_preset};

use crate::hardware::Hardware;

/// A model that ships with Hob, or `recommender`: a small DLRM.
pub(super) fn graph(name: &str) -> ModelGraph {
    if name == "recommender" {
        let sizes = RecommenderSizes {
            table_rows: vec![1_000_000; 26],
            width: 128,
            dense_features: 13,
            bottom: vec![512, 256, 128],
            top: vec![1024, 1024, 512, 256, 1],
            lookups_per_table: 1,
        };
        return recommender_graph(name, &sizes).unwrap();
    }
    vision_preset(name).unwrap_or_else(|| preset(name).unwrap_or_else(|| panic!("no {name}")).graph().unwrap())
}

/// A card of the catalog in one machine.
pub(super) struct World {
    gpu: Gpu,
    instance: InstanceType,
}

impl World {
    pub(super) fn new(gpu: &str, gpus: u32) -> Self {
        let gpu = Catalog::embedded().gpu(gpu).unwrap_or_else(|| panic!("no {gpu} in the catalog")).clone();
        let provenance =
            Provenance { source: "test".to_owned(), date: "2026".to_owned(), confidence: Confidence::High, note: None };
        let instance = InstanceType {
            cloud: "own".to_owned(),
            name: "machine".to_owned(),
            family: "machine".to_owned(),
            availability: Availability::Owned,
            gpu: gpu.id.clone(),
            gpu_count: gpus,
            vcpus: None,
            memory: None,
            local_disk: None,
            network: None,
            rdma: None,
            gpu_link: None,
            regions: Vec::new(),
            provenance,
            gpu_share: None,
        };
        Self { gpu, instance }
    }

    pub(super) fn hardware(&self) -> Hardware<'_> {
        Hardware { gpu: &self.gpu, instance: &self.instance, nodes: 1 }
    }
}
