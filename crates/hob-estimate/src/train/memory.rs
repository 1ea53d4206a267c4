//! The sum of all kinds of memory on the fullest GPU.

use hob_units::{Bytes, Interval, Quantity, gib};

use crate::arithmetic::{Amount, Source};
use crate::efficiency::Coefficient;
use crate::hardware::Hardware;
use crate::outcome::{Fit, MemoryEstimate, MemoryKind, MemoryTerm};
use crate::strategy::TrainStrategy;
use crate::train::activations::Kept;
use crate::train::profile::TrainProfile;
use crate::train::rates::TrainRates;
use crate::train::states::{States, frees_gradients};
use crate::train::{certainty_factor, spread};

/// Bytes of the fullest rank, by kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sum {
    states: States,
    kept: Kept,
    /// Communication groups that the rank is in.
    groups: f64,
}

impl Sum {
    pub(crate) fn of(profile: &TrainProfile, strategy: &TrainStrategy, rates: &TrainRates<'_>) -> Self {
        let mut states = States::of(profile, strategy, rates.framework);
        let kept = Kept::of(profile, strategy, rates);
        if strategy.accumulation == 1 && frees_gradients(rates.framework) {
            states.gradients = (states.gradients - kept.total()).max(0.0);
        }
        let groups = [strategy.data, strategy.tensor, strategy.pipeline, strategy.context, strategy.expert];
        Self { states, kept, groups: groups.iter().filter(|size| **size > 1).count() as f64 }
    }

    /// Overheads: kind, coefficient, and what it is multiplied with.
    fn constants<'t>(&self, rates: &TrainRates<'t>) -> [(MemoryKind, &'t Coefficient, f64); 4] {
        let one = gib(1.0).base();
        [
            (MemoryKind::CudaContext, rates.context_gib, one),
            (MemoryKind::Workspaces, rates.workspace_gib, one),
            (MemoryKind::Communication, rates.group_gib, one * self.groups),
            (MemoryKind::AllocatorSlack, rates.allocator_slack, self.kept.total()),
        ]
    }

    /// All of it.
    pub(crate) fn total(&self, rates: &TrainRates<'_>) -> f64 {
        let constants: f64 = self.constants(rates).iter().map(|(_, row, times)| row.value * times).sum();
        self.states.total(rates) + self.kept.total() + constants
    }

    /// The breakdown with formulae, and the total with the band of its stratum: the fitted errors are of totals, not of
    /// terms.
    pub(crate) fn explain(
        &self,
        profile: &TrainProfile,
        hardware: &Hardware<'_>,
        strategy: &TrainStrategy,
        rates: &TrainRates<'_>,
    ) -> MemoryEstimate {
        let mut terms = self.states.terms(profile, strategy, rates);
        let kept = self.kept.total();
        if strategy.accumulation == 1 && frees_gradients(rates.framework) {
            // Gradients take the place of activations that the backward pass has freed.
            for term in terms.iter_mut().filter(|term| term.kind == MemoryKind::Gradients) {
                let all = Amount::Bytes(term.bytes.mid.base() + kept);
                let figures = [("all_gradients", all), ("freed", Amount::Bytes(kept))];
                *term = MemoryTerm::new(term.kind, term.bytes, "all_gradients - freed", &figures, Vec::new());
            }
        }
        terms.extend(self.kept.terms(strategy, rates));
        for (kind, row, times) in self.constants(rates).into_iter().filter(|(_, _, times)| *times > 0.0) {
            let bytes = spread(times, row);
            let source = vec![Source::from(row)];
            terms.push(match kind {
                MemoryKind::AllocatorSlack => {
                    let figures = [("factor", Amount::Number(row.value)), ("kept", Amount::Bytes(times))];
                    MemoryTerm::new(kind, bytes, "factor * kept", &figures, source)
                }
                MemoryKind::Communication => {
                    let one = Amount::Bytes(row.value * gib(1.0).base());
                    let figures = [("groups", Amount::Number(self.groups)), ("each", one)];
                    MemoryTerm::new(kind, bytes, "groups * each", &figures, source)
                }
                _ => MemoryTerm::new(kind, bytes, "", &[], source),
            });
        }
        let mut memory = MemoryEstimate::of(terms, hardware.gpu.memory_total());
        memory.total = Interval::within_factor(Bytes::from_base(self.total(rates)), band(profile, rates));
        memory.fit = fit(memory.total, memory.usable);
        memory
    }
}

/// Factor between the middle of a total and the ends of its interval.
pub(crate) fn band(profile: &TrainProfile, rates: &TrainRates<'_>) -> f64 {
    rates.memory_band.value * certainty_factor(profile.certainty)
}

/// The verdict on a total.
pub(crate) fn fit(total: Interval<Bytes>, usable: Bytes) -> Fit {
    if total.high <= usable {
        Fit::Fits
    } else if total.mid <= usable {
        Fit::Tight
    } else {
        Fit::DoesNot
    }
}
