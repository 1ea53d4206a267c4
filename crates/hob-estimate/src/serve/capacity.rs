//! The largest load inside latency limits.

use hob_units::PerSecond;

use super::load::{Arrival, ServeLoad};
use super::profile::ServeProfile;
use super::queue::Replica;
use crate::efficiency::Efficiencies;
use crate::hardware::Hardware;
use crate::limit::{LatencyKind, Limit, UTILISATION_MAX};
use crate::refusal::EstimateError;
use crate::strategy::ServeStrategy;

/// Halvings of the rate: to a hundred-millionth.
const HALVINGS: u32 = 26;

impl ServeProfile {
    /// Largest open-loop rate of one replica that keeps every limit with its confidence and uses at most 85 % of the
    /// replica's capacity; `load.arrival` is not read. `None` when the model does not fit or even an idle replica
    /// misses a limit.
    ///
    /// # Errors
    /// As [`ServeProfile::estimate`].
    pub fn capacity(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ServeStrategy,
        load: &ServeLoad,
        limits: &[Limit],
        table: &Efficiencies,
    ) -> Result<Option<PerSecond>, EstimateError> {
        let replica = Replica::new(self, hardware, strategy, load, table)?;
        if !replica.fits() || !replica.keeps(0.0, limits) {
            return Ok(None);
        }
        let most = replica.rate_max() * UTILISATION_MAX;
        if replica.keeps(most, limits) {
            return Ok(Some(PerSecond(most)));
        }
        let (mut kept, mut missed) = (0.0, most);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(kept, missed);
            if replica.keeps(middle, limits) {
                kept = middle;
            } else {
                missed = middle;
            }
        }
        Ok((kept > 0.0).then_some(PerSecond(kept)))
    }
}

impl Replica<'_> {
    fn keeps(&self, rate: f64, limits: &[Limit]) -> bool {
        let point = self.at(Arrival::Open(PerSecond(rate)));
        limits.iter().all(|limit| {
            let latency = match limit.what {
                LatencyKind::Ttft => self.ttft(&point),
                LatencyKind::Tpot => self.tpot(&point),
                LatencyKind::EndToEnd => self.end_to_end(&point),
            };
            latency.at(limit.percentile).probability_at_most(limit.at_most) >= limit.confidence
        })
    }
}
