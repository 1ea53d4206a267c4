//! The largest load inside latency limits.

use hob_units::PerSecond;

use super::machine::Machine;
use super::profile::ForwardProfile;
use super::service::Curve;
use super::strategy::ForwardStrategy;
use crate::efficiency::Efficiencies;
use crate::hardware::Hardware;
use crate::limit::{LatencyKind, Limit, UTILISATION_MAX};
use crate::outcome::Fit;
use crate::refusal::EstimateError;

/// Halvings of the rate: to a hundred-millionth.
const HALVINGS: u32 = 26;

impl ForwardProfile {
    /// Largest rate of one replica, with batches of at most `strategy.batch`, that keeps every limit with its confidence
    /// and uses at most 85 % of the replica's capacity. `None` when the batch does not fit or even an idle replica misses
    /// a limit.
    ///
    /// # Errors
    /// As [`ForwardProfile::estimate`], and when a limit is on the time of a token: nothing here answers token by token.
    pub fn capacity(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ForwardStrategy,
        limits: &[Limit],
        table: &Efficiencies,
    ) -> Result<Option<PerSecond>, EstimateError> {
        if limits.iter().any(|limit| limit.what != LatencyKind::EndToEnd) {
            return Err(EstimateError::NotTokens { model: self.model.clone() });
        }
        let machine = Machine::new(self, hardware, strategy, table)?;
        let curve = Curve::new(self, &machine, strategy.batch);
        let keeps = |rate: f64| {
            let latency = curve.latency(rate, machine.factor, machine.factor_tail);
            limits
                .iter()
                .all(|limit| latency.at(limit.percentile).probability_at_most(limit.at_most) >= limit.confidence)
        };
        if self.memory(hardware, strategy, table)?.fit == Fit::DoesNot || !keeps(0.0) {
            return Ok(None);
        }
        let most = curve.rate_max() * UTILISATION_MAX;
        if keeps(most) {
            return Ok(Some(PerSecond(most)));
        }
        let (mut kept, mut missed) = (0.0, most);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(kept, missed);
            if keeps(middle) {
                kept = middle;
            } else {
                missed = middle;
            }
        }
        Ok((kept > 0.0).then_some(PerSecond(kept)))
    }
}
