//! Memory, latency and throughput of one replica that always has a full batch.

use hob_units::{Interval, PerSecond, Seconds, Share};
use serde::Serialize;

use super::machine::Machine;
use super::memory::quality_note;
use super::profile::ForwardProfile;
use super::shape::Item;
use super::strategy::ForwardStrategy;
use crate::efficiency::Efficiencies;
use crate::hardware::Hardware;
use crate::outcome::{MemoryEstimate, TimeTerm};
use crate::refusal::EstimateError;

/// What one replica does with full batches. Intervals are 80 %.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForwardEstimate {
    /// What is counted.
    pub item: Item,
    /// Memory of the fullest GPU.
    pub memory: MemoryEstimate,
    /// From a batch's start to its end.
    pub batch_latency: Interval<Seconds>,
    /// Items of this replica.
    pub items_per_second: Interval<PerSecond>,
    /// Seconds of sound that this replica hears each second; `None` for what is not speech.
    pub audio_seconds_per_second: Option<Interval<PerSecond>>,
    /// A recording's latency as a share of its length; `None` for what is not speech.
    pub real_time_factor: Option<Interval<Share>>,
    /// The batch's time by cause.
    pub terms: Vec<TimeTerm>,
    /// Message id of what the number format does to answers.
    pub quality_note: Option<&'static str>,
}

impl ForwardProfile {
    /// Memory and speed of one replica with full batches.
    ///
    /// # Errors
    /// When the card lacks the format or a rate, the layout does not divide the model, or the table lacks a coefficient.
    pub fn estimate(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ForwardStrategy,
        table: &Efficiencies,
    ) -> Result<ForwardEstimate, EstimateError> {
        let machine = Machine::new(self, hardware, strategy, table)?;
        let memory = self.memory(hardware, strategy, table)?;
        let batch = f64::from(strategy.batch);
        let batch_latency = Interval::within_factor(Seconds(self.batch_seconds(&machine, batch)), machine.factor);
        let items_per_second = batch_latency.inverted::<PerSecond>(batch);
        let audio = self.audio_seconds().map(|clip| clip.0.max(f64::MIN_POSITIVE));
        Ok(ForwardEstimate {
            item: self.item,
            memory,
            batch_latency,
            items_per_second,
            audio_seconds_per_second: audio.map(|clip| items_per_second.scaled(clip)),
            real_time_factor: audio.map(|clip| batch_latency.scaled(1.0 / clip)),
            terms: self.terms(&machine, batch),
            quality_note: quality_note(strategy.precision),
        })
    }
}
