//! A pass, or a rate under a latency limit, that the estimator is asked for.

use hob_estimate::{Efficiencies, EstimateError, ForwardProfile, ForwardStrategy, LatencyKind, Limit, Percentile4};
use hob_units::{Interval, PerSecond, Quantity, Seconds};

use crate::machine::Machine;
use crate::probe::Place;
use crate::question::{Answer, Ask};
use crate::target::Target;

/// Batches that a server is tried with.
const BATCHES: [u32; 5] = [1, 4, 16, 64, 256];

/// What is run, and where.
pub(super) struct Run {
    pub(super) profile: ForwardProfile,
    pub(super) machine: Machine,
    pub(super) strategy: ForwardStrategy,
}

impl Run {
    /// Replicas that the machine holds.
    fn replicas(&self) -> f64 {
        f64::from(self.machine.gpus()) / f64::from(self.strategy.sequence_parallel.max(1))
    }

    fn place(&self) -> Place {
        Place::new(&self.machine.gpu.id, self.strategy.engine.id(), self.profile.model())
    }

    fn floor(&self, target: Target) -> Option<f64> {
        let seconds = self.profile.floor_seconds(&self.machine.hardware(), &self.strategy)?.0;
        match target {
            Target::VisionLatency | Target::DiffusionLatency => Some(seconds),
            Target::VisionThroughput => Some(f64::from(self.strategy.batch) * self.replicas() / seconds),
            _ => None,
        }
    }
}

/// Full batches, one after another.
pub(super) struct Batches {
    pub(super) run: Run,
    /// What a batch's time is called.
    pub(super) latency: Target,
}

impl Ask for Batches {
    fn answer(&self, table: &Efficiencies) -> Result<Answer, EstimateError> {
        let Run { profile, machine, strategy } = &self.run;
        let found = profile.estimate(&machine.hardware(), strategy, table)?;
        let rate: Interval<PerSecond> = found.items_per_second.scaled(self.run.replicas());
        let mut values = vec![(self.latency, plain(found.batch_latency))];
        if self.latency == Target::VisionLatency {
            values.push((Target::VisionThroughput, plain(rate)));
        }
        Ok(Answer { values, filled: None })
    }

    fn floor(&self, target: Target) -> Option<f64> {
        self.run.floor(target)
    }

    fn place(&self) -> Option<Place> {
        Some(self.run.place())
    }
}

/// The rate at which 99 % of requests keep a limit, with the batch that serves it best.
pub(super) struct UnderLimit {
    pub(super) run: Run,
    pub(super) at_most: Seconds,
}

impl Ask for UnderLimit {
    fn answer(&self, table: &Efficiencies) -> Result<Answer, EstimateError> {
        let Run { profile, machine, strategy } = &self.run;
        let limit =
            Limit { what: LatencyKind::EndToEnd, percentile: Percentile4::P99, at_most: self.at_most, confidence: 0.5 };
        let mut best = 0.0_f64;
        for batch in BATCHES.into_iter().filter(|batch| *batch <= strategy.batch) {
            let strategy = ForwardStrategy { batch, ..*strategy };
            let rate = profile.capacity(&machine.hardware(), &strategy, &[limit], table)?;
            best = best.max(rate.map_or(0.0, |rate| rate.0));
        }
        if best <= 0.0 {
            return Ok(Answer::default());
        }
        let alone = profile.estimate(&machine.hardware(), strategy, table)?.batch_latency;
        let rate = Interval::within_factor(PerSecond(best * self.run.replicas()), alone.high.0 / alone.mid.0);
        Ok(Answer { values: vec![(Target::VisionThroughput, plain(rate))], filled: None })
    }

    fn floor(&self, target: Target) -> Option<f64> {
        self.run.floor(target)
    }

    fn place(&self) -> Option<Place> {
        Some(self.run.place())
    }
}

fn plain<Q: Quantity>(interval: Interval<Q>) -> Interval<f64> {
    Interval { low: interval.low.base(), mid: interval.mid.base(), high: interval.high.base() }
}
