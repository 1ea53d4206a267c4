//! Whether a layout divides the model and the machines.

use crate::hardware::Hardware;
use crate::outcome::EstimateError;
use crate::strategy::TrainStrategy;
use crate::train::profile::TrainProfile;

fn bad(why: String) -> EstimateError {
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
        ("micro batch", s.micro_batch),
        ("accumulation", s.accumulation),
    ];
    if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == 0) {
        return Err(bad(format!("{name} is 0; at least 1 was expected")));
    }
    let ranks = [s.data, s.tensor, s.pipeline, s.context].iter().map(|size| u128::from(*size)).product::<u128>();
    if ranks != u128::from(hardware.gpus()) {
        return Err(bad(format!(
            "data {} x tensor {} x pipeline {} x context {} is {ranks} ranks on {} GPUs",
            s.data,
            s.tensor,
            s.pipeline,
            s.context,
            hardware.gpus()
        )));
    }
    if profile.forward_flops() <= 0.0 {
        return Err(bad(format!("one sample of {} is empty at this size", profile.name)));
    }
    let splits_heads = s.tensor > 1 || s.context > 1;
    if splits_heads && profile.heads.is_empty() {
        return Err(bad(format!("{} has no attention heads for tensor or context parallelism to split", profile.name)));
    }
    if let Some(heads) = profile.heads.iter().find(|heads| !heads.is_multiple_of(u64::from(s.tensor))) {
        return Err(bad(format!("tensor {} does not divide {heads} attention heads", s.tensor)));
    }
    let chunks = u64::from(s.pipeline) * u64::from(s.interleave);
    if s.interleave > 1 && s.pipeline == 1 {
        return Err(bad(format!("interleave {} needs pipeline stages", s.interleave)));
    }
    if s.pipeline > 1 && chunks > u64::from(profile.layers) {
        return Err(bad(format!("{} layers are fewer than {chunks} pipeline chunks", profile.layers)));
    }
    if s.expert > 1 {
        let group = u64::from(s.data) * u64::from(s.context);
        if profile.experts.is_empty() {
            return Err(bad(format!("{} has no experts to spread over {} ranks", profile.name, s.expert)));
        }
        if !group.is_multiple_of(u64::from(s.expert)) {
            return Err(bad(format!("expert {} does not divide {group} data-parallel ranks", s.expert)));
        }
        if let Some(count) = profile.experts.iter().find(|count| !count.is_multiple_of(s.expert)) {
            return Err(bad(format!("expert {} does not divide {count} experts", s.expert)));
        }
    }
    Ok(())
}
