//! Work that falls into independent pieces: how many equal machines do it in time.

use hob_text::Message;
use hob_units::{Interval, PerSecond, Quantity, Seconds};
use hob_workload::Workload;

use crate::document::Goal;
use crate::limits::Limits;
use crate::reason::Reason;

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
        return Err(Reason::Unsupported { why: "the speed is not known".to_owned() });
    }
    let Some(deadline) = workload.objective.deadline else {
        limits.check(1, gpus_of_one)?;
        return Ok(Farm { machines: 1, duration: alone, goals: Vec::new() });
    };
    let with = |machines: u32| -> Interval<Seconds> { alone.scaled(1.0 / f64::from(machines)) };
    let sure = |machines: u32| with(machines).probability_at_most(deadline) >= workload.objective.confidence.0;
    let too_slow = || {
        let best = with(MACHINES_MAX);
        Reason::TooSlow {
            machines: MACHINES_MAX,
            reached: Some(best.mid),
            probability: Some(best.probability_at_most(deadline)),
        }
    };
    // Between the optimistic and the pessimistic end, the smallest number is found by halving.
    let most = (alone.high.base() / deadline.0.max(f64::MIN_POSITIVE)).ceil() * 2.0;
    if most > f64::from(MACHINES_MAX) {
        return Err(too_slow());
    }
    let (mut few, mut enough) = (0_u32, (most as u32).max(1));
    while !sure(enough) {
        enough = enough.saturating_mul(2);
        if enough > MACHINES_MAX {
            return Err(too_slow());
        }
    }
    while few + 1 < enough {
        let middle = few.midpoint(enough);
        if sure(middle) {
            enough = middle;
        } else {
            few = middle;
        }
    }
    limits.check(enough, gpus_of_one)?;
    let duration = with(enough);
    let goal = Goal {
        what: Message::new("goal-deadline").with("limit", deadline),
        probability: duration.probability_at_most(deadline),
    };
    Ok(Farm { machines: enough, duration, goals: vec![goal] })
}

/// More machines than this for one workload is a sign of a wrong unit; also bounds the arithmetic.
pub(crate) const MACHINES_MAX: u32 = 10_000;
