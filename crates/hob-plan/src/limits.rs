//! How many machines may be used.

use hob_catalog::Offer;
use hob_workload::Workload;

use crate::reason::Reason;

/// Bounds on the number of machines of one instance type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Limits {
    gpus_max: Option<u32>,
    machines_max: Option<u32>,
    /// Whether one replica or job may span machines.
    pub multi_node: bool,
}

impl Limits {
    /// What the workload allows, and what the user owns of it.
    pub(crate) fn of(workload: &Workload, offer: &Offer<'_>) -> Self {
        let constraints = &workload.constraints;
        let owned = (offer.instance.cloud == "own")
            .then(|| workload.place.machines.iter().find(|machine| machine.name == offer.instance.name))
            .flatten()
            .map(|machine| machine.count);
        let machines_max = match (constraints.max_machines, owned) {
            (Some(allowed), Some(owned)) => Some(allowed.min(owned)),
            (allowed, owned) => allowed.or(owned),
        };
        Self { gpus_max: constraints.max_gpus, machines_max, multi_node: constraints.multi_node }
    }

    /// # Errors
    /// When so many machines of so many GPUs are too many.
    pub(crate) fn check(&self, machines: u32, gpus_of_one: u32) -> Result<(), Reason> {
        let gpus = machines.saturating_mul(gpus_of_one);
        let too_many =
            self.gpus_max.is_some_and(|most| gpus > most) || self.machines_max.is_some_and(|most| machines > most);
        if too_many { Err(Reason::TooMany { gpus, machines }) } else { Ok(()) }
    }
}
