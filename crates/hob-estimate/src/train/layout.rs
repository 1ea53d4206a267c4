//! Whether a layout divides the model and the machines.

use crate::hardware::Hardware;
use crate::refusal::{EstimateError, LayoutFault};
use crate::strategy::TrainStrategy;
use crate::train::profile::TrainProfile;

fn bad(why: LayoutFault) -> EstimateError {
    EstimateError::BadLayout { why }
}

/// Refuses a layout that no framework would start.
pub(crate) fn check(
    profile: &TrainProfile,
    hardware: &Hardware<'_>,
    strategy: &TrainStrategy,
) -> Result<(), EstimateError> {
    let s = strategy;
    let sizes = [
        ("data", s.data),
        ("tensor", s.tensor),
        ("pipeline", s.pipeline),
        ("context", s.context),
        ("expert", s.expert),
        ("interleave", s.interleave),
        ("micro_batch", s.micro_batch),
        ("accumulation", s.accumulation),
    ];
    if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == 0) {
        return Err(bad(LayoutFault::ZeroSize { name }));
    }
    let ranks = [s.data, s.tensor, s.pipeline, s.context].iter().map(|size| u128::from(*size)).product::<u128>();
    if ranks != u128::from(hardware.gpus()) {
        return Err(bad(LayoutFault::RanksAgainstGpus {
            data: s.data,
            tensor: s.tensor,
            pipeline: s.pipeline,
            context: s.context,
            ranks,
            gpus: hardware.gpus(),
        }));
    }
    if profile.forward_flops() <= 0.0 {
        return Err(bad(LayoutFault::EmptySample { model: profile.name.clone() }));
    }
    let splits_heads = s.tensor > 1 || s.context > 1;
    if splits_heads && profile.heads.is_empty() {
        return Err(bad(LayoutFault::NoHeads { model: profile.name.clone() }));
    }
    if let Some(heads) = profile.heads.iter().find(|heads| !heads.is_multiple_of(u64::from(s.tensor))) {
        return Err(bad(LayoutFault::HeadsByTensor { heads: *heads, ranks: u64::from(s.tensor) }));
    }
    let chunks = u64::from(s.pipeline) * u64::from(s.interleave);
    if s.interleave > 1 && s.pipeline == 1 {
        return Err(bad(LayoutFault::InterleaveAlone { interleave: s.interleave }));
    }
    if s.pipeline > 1 && chunks > u64::from(profile.layers) {
        return Err(bad(LayoutFault::StagesOverLayers { stages: chunks, layers: profile.layers.to_string() }));
    }
    if s.expert > 1 {
        let group = u64::from(s.data) * u64::from(s.context);
        if profile.experts.is_empty() {
            return Err(bad(LayoutFault::NoExperts { model: profile.name.clone(), ranks: s.expert }));
        }
        if !group.is_multiple_of(u64::from(s.expert)) {
            return Err(bad(LayoutFault::ExpertRanksByGroup { expert: s.expert, ranks: group }));
        }
        if let Some(count) = profile.experts.iter().find(|count| !count.is_multiple_of(s.expert)) {
            return Err(bad(LayoutFault::ExpertsByRanks { experts: *count, ranks: s.expert }));
        }
    }
    Ok(())
}
