//! The first choice as a try-out and for real users.

use hob_units::Share;
use hob_workload::{Stage, Work, Workload};

use crate::document::{Plan, Variant};
use crate::plan::{Inputs, core};

/// Both stages; the one that was asked for is the plan itself.
pub(crate) fn both(workload: &Workload, inputs: &Inputs<'_>, plan: &Plan) -> Vec<Variant> {
    [Stage::Dev, Stage::Production]
        .into_iter()
        .map(|stage| {
            let choice = if stage == workload.stage {
                plan.first_choice().cloned()
            } else {
                core(&at(workload, stage), inputs).ok().and_then(|other| other.first_choice().cloned())
            };
            Variant { stage, choice }
        })
        .collect()
}

/// The same workload at another stage: what the user left out takes that stage's default, what the user stated stays.
pub(crate) fn at(workload: &Workload, stage: Stage) -> Workload {
    let mut other = workload.clone();
    other.stage = stage;
    let assumed = |field: &str| workload.assumed.iter().any(|assumed| assumed.field == field);
    if assumed("objective.confidence") {
        other.objective.confidence = Share(if stage == Stage::Production { 0.8 } else { 0.5 });
    }
    if matches!(workload.work, Work::Serve(_)) {
        match (stage, workload.constraints.min_replicas) {
            (Stage::Dev, Some(_)) if assumed("constraints.min_replicas") => other.constraints.min_replicas = None,
            (Stage::Production, None) if workload.constraints.max_gpus.is_none_or(|most| most >= 2) => {
                other.constraints.min_replicas = Some(2);
            }
            _ => {}
        }
    }
    other
}
