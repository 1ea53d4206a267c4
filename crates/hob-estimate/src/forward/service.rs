//! Latency under load, with batches that form by themselves.
//!
//! Whenever the replica is free it takes all waiting items, at most a full batch. Arrivals are Poisson. Three waits add
//! up: the rest of the batch that is running (uniform over its length), what does not fit into the next batch, and the
//! batch itself. The overflow is a random walk with a drift of `batch - rate x time` items and a variance of
//! `rate x time` in each batch: exponential, with the mean of the diffusion limit and the chance that follows from the
//! walk's overshoot of 0.583 standard deviations (Siegmund, Sequential Analysis, 1985, ch. 8).

use hob_units::{Interval, PerSecond, Seconds, Share};
use serde::Serialize;

use super::machine::Machine;
use super::profile::ForwardProfile;
use super::strategy::ForwardStrategy;
use crate::efficiency::Efficiencies;
use crate::hardware::Hardware;
use crate::percentile::{Percentile4, Percentiles, Wait};
use crate::refusal::EstimateError;

/// Beyond this utilisation a queue is called saturated and its wait is held, as a lower bound.
const SATURATED: f64 = 0.99;

/// Halvings when the batch is solved for: to a millionth of the largest.
const HALVINGS: u32 = 20;

/// Mean overshoot of a random walk with normal steps over a barrier, in standard deviations of a step:
/// `-zeta(1/2) / sqrt(2 pi)` (Siegmund 1985).
pub(super) const OVERSHOOT: f64 = 0.582_6;

/// What one replica does under a load. Intervals are 80 %.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForwardService {
    /// Share of the replica's capacity that is asked for; above 1 it cannot keep up.
    pub utilisation: Interval<Share>,
    /// More is asked than the replica can do: latencies are lower bounds.
    pub saturated: bool,
    /// Wait, forming of the batch, and the batch.
    pub latency: Percentiles,
    /// Items in a batch, on average.
    pub batch: f64,
}

/// Seconds of a batch by its size, between the sizes at which it was computed.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    /// Size and seconds, rising.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Sizes are powers of two and the largest.
    pub(super) fn new(profile: &ForwardProfile, machine: &Machine, most: u32) -> Self {
        let powers = (0..u32::BITS).map(|power| 1_u64 << power).take_while(|size| *size < u64::from(most));
        let sizes = powers.map(|size| size as f64).chain([f64::from(most.max(1))]);
        Self { points: sizes.map(|size| (size, profile.batch_seconds(machine, size))).collect() }
    }

    pub(super) fn most(&self) -> f64 {
        self.points.last().map_or(1.0, |(size, _)| *size)
    }

    pub(super) fn seconds(&self, batch: f64) -> f64 {
        let mut before: Option<(f64, f64)> = None;
        for &(size, seconds) in &self.points {
            if batch <= size {
                return match before {
                    Some((from, start)) => start + (seconds - start) * (batch - from) / (size - from),
                    None => seconds,
                };
            }
            before = Some((size, seconds));
        }
        before.map_or(f64::INFINITY, |(_, seconds)| seconds)
    }

    /// Items a second with full batches.
    pub(super) fn rate_max(&self) -> f64 {
        self.most() / self.seconds(self.most())
    }

    /// The queue when every batch takes `slower` times as long.
    pub(super) fn point(&self, rate: f64, slower: f64) -> Point {
        let most = self.most();
        let utilisation = rate * slower / self.rate_max();
        let rate = rate.min(self.rate_max() / slower * SATURATED);
        let seconds = |batch: f64| self.seconds(batch) * slower;
        // What arrives during a batch is the next one, or one item where nothing came: the mean of max(1, Poisson).
        let next = |arriving: f64| arriving + (-arriving).exp();
        let batch = smallest(most, |batch| next(rate * seconds(batch)));
        let arriving = rate * seconds(batch);
        let busy = (arriving / batch).min(1.0);
        // A long batch is followed by another: a random walk that returns by 1 - (rate x seconds of an item) each time.
        let item = (seconds((batch + 1.0).min(most)) - seconds((batch - 1.0).max(1.0)))
            / ((batch + 1.0).min(most) - (batch - 1.0).max(1.0)).max(1.0);
        let kept = (rate * item).min(SATURATED);
        // What does not fit into a full batch is the overflow's, below.
        let variance = (arriving / (1.0 - kept * kept)).min((most - batch).powi(2));
        // An item is more often in a large batch than in a small one.
        let seen = (batch + variance / batch).min(most);
        let service = seconds(seen);
        // Of its own batch and of the rest of the one before, which is half of one on average.
        let spread = 1.5 * item * variance.sqrt();
        let load = utilisation.min(SATURATED);
        // Drift over standard deviation of a step of the walk, both in items.
        let chance = (-2.0 * (1.0 - load) / load.max(1e-9) * OVERSHOOT * (load * most).sqrt()).exp();
        let mean = load / (2.0 * (1.0 - load)) / rate.max(f64::MIN_POSITIVE);
        let overflow = Wait { chance: chance * load, mean };
        Point { utilisation, rate, batch, item, variance, seen, service, spread, busy, overflow }
    }

    pub(super) fn latency(&self, rate: f64, factor: f64, tail: f64) -> Percentiles {
        let points = [1.0 / factor, 1.0, factor].map(|slower| self.point(rate, slower));
        let [low, mid, high] = points;
        let band = |p: Percentile4, wider: f64| {
            let interval =
                Interval { low: Seconds(low.latency(p)), mid: Seconds(mid.latency(p)), high: Seconds(high.latency(p)) };
            interval.widened(wider)
        };
        Percentiles {
            p50: band(Percentile4::P50, 1.0),
            p90: band(Percentile4::P90, 1.0),
            p95: band(Percentile4::P95, tail),
            p99: band(Percentile4::P99, tail),
        }
    }
}

/// Middles of a load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    utilisation: f64,
    /// What is asked, held below saturation.
    pub(super) rate: f64,
    pub(super) batch: f64,
    /// Seconds that one more item adds to a batch.
    pub(super) item: f64,
    /// Of the number of items in a batch.
    pub(super) variance: f64,
    /// The batch that an item is in, on average.
    pub(super) seen: f64,
    /// Seconds of that batch.
    pub(super) service: f64,
    /// Standard deviation of the time in batches.
    pub(super) spread: f64,
    /// Share of time in which a batch runs.
    pub(super) busy: f64,
    pub(super) overflow: Wait,
}

impl Point {
    /// What is left of the batch that runs: `P(rest > t) = busy x (1 - t / service)`.
    pub(super) fn rest(&self, percentile: Percentile4) -> f64 {
        self.service * (1.0 - percentile.above() / self.busy.max(f64::MIN_POSITIVE)).max(0.0)
    }

    pub(super) fn latency(&self, percentile: Percentile4) -> f64 {
        let middle = self.rest(Percentile4::P50);
        let further = (self.rest(percentile) - middle).hypot(percentile.z() * self.spread);
        self.service + middle + further + self.overflow.at(percentile)
    }
}

/// The smallest batch in `1..=most` at which `needed(batch) <= batch`.
fn smallest(most: f64, needed: impl Fn(f64) -> f64) -> f64 {
    if needed(1.0) <= 1.0 {
        return 1.0;
    }
    let (mut low, mut high) = (1.0, most);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if needed(middle) <= middle {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

impl ForwardProfile {
    /// Latency of one replica under `rate` items a second that arrive at random, with batches of at most
    /// `strategy.batch`.
    ///
    /// # Errors
    /// As [`ForwardProfile::estimate`].
    pub fn service(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ForwardStrategy,
        rate: PerSecond,
        table: &Efficiencies,
    ) -> Result<ForwardService, EstimateError> {
        let machine = Machine::new(self, hardware, strategy, table)?;
        let curve = Curve::new(self, &machine, strategy.batch);
        let asked = if rate.0 > 0.0 { rate.0.min(1e15) } else { 0.0 };
        let point = curve.point(asked, 1.0);
        Ok(ForwardService {
            utilisation: Interval::within_factor(Share(point.utilisation), machine.factor),
            saturated: point.utilisation >= SATURATED,
            latency: curve.latency(asked, machine.factor, machine.factor_tail),
            batch: point.batch,
        })
    }
}
