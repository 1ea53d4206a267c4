//! How many machines may be used.

use hob_catalog::Offer;
use hob_estimate::Hardware;
use hob_workload::Workload;

use crate::reason::Reason;

/// The cloud that stands for the user's own machines.
pub(crate) const OWN: &str = "own";

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
        let owned = (offer.instance.cloud == OWN)
            .then(|| workload.place.machines.iter().find(|machine| machine.name == offer.instance.name))
            .flatten()
            .map(|machine| machine.count);
        let machines_max = match (constraints.max_machines, owned) {
            (Some(allowed), Some(owned)) => Some(allowed.min(owned)),
            (allowed, owned) => allowed.or(owned),
        };
        Self { gpus_max: constraints.max_gpus, machines_max, multi_node: constraints.multi_node }
    }

    /// Machines for so many replicas of one GPU each, and the replicas that these machines hold: a machine that is rented
    /// anyway runs as many as it holds. `apart` replicas that are wanted for redundancy stand on machines of their own.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(crate) fn machines(&self, replicas: u32, hardware: &Hardware<'_>, apart: u32) -> Result<(u32, u32), Reason> {
        let of_one = hardware.instance.gpu_count.max(1);
        let machines = replicas.div_ceil(of_one).max(apart);
        self.check(machines, of_one)?;
        Ok((machines, machines.saturating_mul(of_one)))
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
