//! How many machines a training job runs on.

use hob_estimate::Hardware;
use hob_workload::Minimise;

use super::{Found, TrainSearch};
use crate::limits::Limits;
use crate::reason::{Reason, late};

/// Machines of one job that are tried.
const MACHINES_TRIED: [u32; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
/// More machines must be this much better in the objective to be preferred.
const WORTH: f64 = 0.02;
/// Numbers of machines in a row that are no better: then still more will not be.
const PATIENCE: u32 = 2;

impl TrainSearch<'_> {
    /// The number of machines, and the layout on them, that is best by the objective among those that meet every goal surely
    /// enough. Cost goes with machine time, so that the least cost is rarely more than the fewest machines.
    ///
    /// # Errors
    /// Why no number of machines does.
    pub(crate) fn best_fleet(&self, one: &Hardware<'_>, limits: &Limits) -> Result<Found, Reason> {
        let confidence = self.workload.objective.confidence.0;
        let mut best: Option<(f64, Found)> = None;
        let mut last = Reason::unsupported("reject-no-layout");
        let mut worse = 0;
        for machines in MACHINES_TRIED {
            if let Err(reason) = limits.check(machines, one.instance.gpu_count) {
                if machines == 1 {
                    last = reason;
                }
                break;
            }
            if machines > 1 && !limits.multi_node {
                break;
            }
            match self.best(&Hardware { nodes: machines, ..*one }) {
                Err(reason) => last = reason,
                Ok(found) if found.goals.iter().any(|goal| goal.probability < confidence) => {
                    let deadline = self.workload.objective.deadline;
                    let missed = deadline.map(|deadline| late(deadline, found.duration));
                    last = Reason::TooSlow { machines, missed };
                }
                Ok(found) => {
                    let score = self.weigh(&found);
                    if best.as_ref().is_none_or(|(known, _)| score < known - WORTH) {
                        best = Some((score, found));
                        worse = 0;
                    } else {
                        worse += 1;
                    }
                }
            }
            if worse >= PATIENCE {
                break;
            }
        }
        best.map(|(_, found)| found).ok_or(last)
    }

    /// Logarithm of machine time and time, weighed as the objective says.
    fn weigh(&self, found: &Found) -> f64 {
        let cost = match self.workload.objective.minimise {
            Minimise::Cost => 1.0,
            Minimise::Time => 0.0,
            Minimise::Balance(balance) => balance.cost_weight.clamp(0.0, 1.0),
        };
        found.duration.mid.0.max(f64::MIN_POSITIVE).ln() + cost * f64::from(found.machines).ln()
    }
}
