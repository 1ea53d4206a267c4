//! Work that falls into independent pieces: how many equal machines do it in time.

use hob_text::Message;
use hob_units::{Interval, PerSecond, Seconds, Share};
use hob_workload::Workload;

use crate::document::{Goal, deadline_goal};
use crate::fewest::{MACHINES_MAX, fewest};
use crate::limits::Limits;
use crate::reason::{Missed, Reason};

/// A number of machines and what they reach.
pub(crate) struct Farm {
    /// Machines.
    pub machines: u32,
    /// Start to end.
    pub duration: Interval<Seconds>,
    /// The deadline, when there is one.
    pub goals: Vec<Goal>,
}

/// The fewest machines that finish `amount` pieces before the deadline with the wanted confidence; without a deadline, one.
/// Throughput grows with the number of machines, since no piece waits for another.
pub(crate) fn farm(
    workload: &Workload,
    limits: &Limits,
    gpus_of_one: u32,
    one: Interval<PerSecond>,
    amount: f64,
) -> Result<Farm, Reason> {
    let alone: Interval<Seconds> = one.inverted(amount);
    let wide_enough = alone.mid.0.is_finite() && alone.high.0.is_finite();
    if !wide_enough {
        return Err(Reason::unsupported("reject-no-speed"));
    }
    let Some(deadline) = workload.objective.deadline else {
        limits.check(1, gpus_of_one)?;
        return Ok(Farm { machines: 1, duration: alone, goals: Vec::new() });
    };
    let goal = deadline_goal(deadline, alone).what;
    let machines = machines(alone, deadline, workload.objective.confidence, goal)?;
    limits.check(machines, gpus_of_one)?;
    let duration: Interval<Seconds> = alone.scaled(1.0 / f64::from(machines));
    Ok(Farm { machines, duration, goals: vec![deadline_goal(deadline, duration)] })
}

/// The fewest machines that do the work of one hour of arrivals within an hour, with the wanted confidence. `alone` is the
/// time that one machine takes for it.
pub(crate) fn keeping_up(
    workload: &Workload,
    limits: &Limits,
    gpus_of_one: u32,
    alone: Interval<Seconds>,
) -> Result<Farm, Reason> {
    let hour = Seconds::from_hours(1.0);
    let least = workload.constraints.min_replicas.unwrap_or(1).max(1);
    let what = Message::new("goal-keeps-up");
    let machines = machines(alone, hour, workload.objective.confidence, what.clone())?.max(least);
    limits.check(machines, gpus_of_one)?;
    let duration: Interval<Seconds> = alone.scaled(1.0 / f64::from(machines));
    let goal = Goal { what, probability: duration.probability_at_most(hour) };
    Ok(Farm { machines, duration, goals: vec![goal] })
}

/// The smallest number of machines that together take at most `limit` surely enough.
fn machines(alone: Interval<Seconds>, limit: Seconds, confidence: Share, goal: Message) -> Result<u32, Reason> {
    let with = |machines: u32| -> Interval<Seconds> { alone.scaled(1.0 / f64::from(machines)) };
    let sure = |machines: u32| Ok::<_, Reason>(with(machines).probability_at_most(limit) >= confidence.0);
    fewest(MACHINES_MAX, sure)?.ok_or_else(|| {
        let best = with(MACHINES_MAX);
        Reason::TooSlow { machines: MACHINES_MAX, missed: Some(Missed::new(goal, limit, best)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a band of a factor of two, the number of machines is what the confidence asks for, and no more.
    fn check(alone_hours: f64, limit_hours: f64, confidence: f64, wanted: Option<u32>) {
        let alone = Interval::within_factor(Seconds::from_hours(alone_hours), 2.0);
        let goal = Message::new("goal-keeps-up");
        let found = machines(alone, Seconds::from_hours(limit_hours), Share(confidence), goal).ok();
        assert_eq!(found, wanted, "{alone_hours} h of work in {limit_hours} h at {confidence}");
    }

    #[test]
    fn machines_are_as_many_as_the_confidence_asks_for() {
        check(10.0, 10.1, 0.5, Some(1));
        check(10.0, 1.01, 0.5, Some(10));
        check(10.0, 1.01, 0.9, Some(20));
        check(10.0, 20.2, 0.9, Some(1));
        check(1e9, 1.0, 0.5, None);
    }
}
