//! The coefficients of one framework on one kind of card, looked up once for a search over layouts.

use hob_units::Quantity;

use crate::efficiency::{Coefficient, Efficiencies, Scope};
use crate::hardware::{Hardware, Link};
use crate::refusal::{EstimateError, Fact};
use crate::strategy::{NumberFormat, TrainMethod};
use crate::train::compute::{Peaks, precision_name};
use crate::train::profile::TrainProfile;

/// Everything that an estimate reads from the table and from the card, for one framework, number format and method.
#[derive(Debug, Clone, Copy)]
pub struct TrainRates<'t> {
    pub(crate) framework: &'t str,
    pub(crate) peaks: Peaks,
    /// Bytes a second of the card's memory.
    pub(crate) bandwidth: f64,

    pub(crate) activation_factor: &'t Coefficient,
    pub(crate) layer_work: &'t Coefficient,
    pub(crate) selective_share: &'t Coefficient,
    pub(crate) upcast_norms: &'t Coefficient,
    pub(crate) quantised_activations: &'t Coefficient,
    pub(crate) score_bytes: &'t Coefficient,
    pub(crate) logit_bytes: &'t Coefficient,
    pub(crate) gather_factor: &'t Coefficient,
    pub(crate) context_gib: &'t Coefficient,
    pub(crate) workspace_gib: &'t Coefficient,
    pub(crate) group_gib: &'t Coefficient,
    pub(crate) allocator_slack: &'t Coefficient,
    pub(crate) memory_band: &'t Coefficient,

    pub(crate) gemm_asymptote: &'t Coefficient,
    pub(crate) format_efficiency: &'t Coefficient,
    pub(crate) expert_efficiency: &'t Coefficient,
    pub(crate) attention_efficiency: &'t Coefficient,
    pub(crate) elementwise_factor: &'t Coefficient,
    pub(crate) dequantise_bytes: &'t Coefficient,
    pub(crate) layer_seconds: &'t Coefficient,
    pub(crate) operator_seconds: &'t Coefficient,
    pub(crate) selective_recompute: &'t Coefficient,
    pub(crate) shard_exposure: &'t Coefficient,
    /// Inside a machine, and between machines.
    pub(crate) tensor_exposure: [&'t Coefficient; 2],
    pub(crate) bubble_factor: &'t Coefficient,
    pub(crate) family_speed: &'t Coefficient,
    pub(crate) time_band: &'t Coefficient,
}

impl<'t> TrainRates<'t> {
    /// Looks everything up.
    ///
    /// # Errors
    /// When the card lacks the number format, or the catalog or the table lacks a rate.
    pub fn new(
        profile: &TrainProfile,
        hardware: &Hardware<'_>,
        precision: NumberFormat,
        method: TrainMethod,
        framework: &'t str,
        table: &'t Efficiencies,
    ) -> Result<Self, EstimateError> {
        let gpu = hardware.gpu;
        let bandwidth = gpu.memory_bandwidth.map(Quantity::base).filter(|rate| *rate > 0.0);
        let unknown = EstimateError::UnknownHardware { gpu: gpu.id.clone(), what: Fact::MemoryBandwidth {} };
        let stacked = gpu.memory_type.as_deref().is_some_and(|kind| kind.to_ascii_uppercase().starts_with("HBM"));
        let card = Scope::any().architecture(gpu.architecture).class(if stacked { "hbm" } else { "gddr" });
        let scope = Scope::any().engine(framework).card(&gpu.id).model(&profile.name);
        let class = profile.class();
        let work = if method != TrainMethod::Full && class == "dense" { "adapters" } else { class };
        let get = |name| table.get(name, &scope);
        let of_class = |name, class| table.get(name, &scope.clone().class(class));
        Ok(Self {
            framework,
            peaks: Peaks::of(gpu, precision)?,
            bandwidth: bandwidth.ok_or(unknown)?,
            activation_factor: get("train.activation_factor")?,
            layer_work: get("train.layer_work")?,
            selective_share: get("train.selective_share")?,
            upcast_norms: get("train.upcast_norms")?,
            quantised_activations: get("train.quantised_activations")?,
            score_bytes: get("train.score_bytes")?,
            logit_bytes: get("train.logit_bytes")?,
            gather_factor: get("train.gather_factor")?,
            context_gib: get("train.context_gib")?,
            workspace_gib: get("train.workspace_gib")?,
            group_gib: get("train.group_gib")?,
            allocator_slack: get("train.allocator_slack")?,
            memory_band: of_class("train.memory_band", class)?,
            gemm_asymptote: table.get("train.gemm_asymptote", &card)?,
            format_efficiency: table
                .get("train.format_efficiency", &scope.clone().precision(precision_name(precision)))?,
            expert_efficiency: get("train.expert_efficiency")?,
            attention_efficiency: get("train.attention_efficiency")?,
            elementwise_factor: get("train.elementwise_factor")?,
            dequantise_bytes: get("train.dequantise_bytes")?,
            layer_seconds: get("train.layer_seconds")?,
            operator_seconds: get("train.operator_seconds")?,
            selective_recompute: get("train.selective_recompute")?,
            shard_exposure: get("train.shard_exposure")?,
            tensor_exposure: [
                of_class("train.tensor_exposure", link_class(hardware.inside().0))?,
                of_class("train.tensor_exposure", link_class(hardware.between().0))?,
            ],
            bubble_factor: get("train.bubble_factor")?,
            family_speed: get("train.family_speed")?,
            time_band: of_class("train.time_band", work)?,
        })
    }
}

fn link_class(link: Link) -> &'static str {
    match link {
        Link::Nvlink => "nvlink",
        Link::Pcie => "pcie",
        Link::Rdma => "rdma",
        Link::Ethernet => "ethernet",
    }
}
