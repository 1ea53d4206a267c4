//! What the forward pass keeps on one rank: activations, score matrices, logits.

use crate::arithmetic::{Amount, Source};
use crate::efficiency::Coefficient;
use crate::outcome::{MemoryKind, MemoryTerm};
use crate::strategy::{AttentionKernel, Recompute, TrainMethod, TrainStrategy};
use crate::train::compute::element_width;
use crate::train::profile::TrainProfile;
use crate::train::rates::TrainRates;

/// Micro-batches whose activations a pipeline stage keeps: first and last stage (arXiv 2104.04473; last stage of the
/// interleaved schedule ((v - 1) p + 1) / v).
fn in_flight(strategy: &TrainStrategy) -> (f64, f64) {
    let (p, v) = (f64::from(strategy.pipeline), f64::from(strategy.interleave));
    let most = f64::from(strategy.accumulation);
    (
        (p + (p - 1.0) / v * f64::from(u8::from(v > 1.0))).min(most).max(1.0),
        (((v - 1.0) * p + 1.0) / v).min(most).max(1.0),
    )
}

/// What the forward pass keeps on the fullest stage, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Kept {
    pub activations: f64,
    pub scores: f64,
    pub logits: f64,
    /// Micro-batches behind them.
    pub in_flight: f64,
}

impl Kept {
    pub(crate) fn of(profile: &TrainProfile, strategy: &TrainStrategy, rates: &TrainRates<'_>) -> Self {
        let (first, last) = in_flight(strategy);
        let layers = Layers::of(profile, strategy, rates);
        let at_first = layers.stage(profile, strategy, rates, first, strategy.pipeline == 1);
        let at_last = layers.stage(profile, strategy, rates, last, true);
        if at_first.total() >= at_last.total() { at_first } else { at_last }
    }

    pub(crate) fn total(&self) -> f64 {
        self.activations + self.scores + self.logits
    }

    /// The terms, with their formulae.
    pub(crate) fn terms(&self, strategy: &TrainStrategy, rates: &TrainRates<'_>) -> Vec<MemoryTerm> {
        let batch = f64::from(strategy.micro_batch) / f64::from(strategy.context);
        let band = |value: f64, row: &Coefficient| super::spread(value / row.value.max(f64::MIN_POSITIVE), row);
        let samples = ("micro_batch", Amount::Number(batch));
        // One sample's share is read back from the term: it is the fuller of the first and the last stage.
        let each = |bytes: f64, row: &Coefficient| bytes / (row.value * batch).max(f64::MIN_POSITIVE);
        let row = rates.activation_factor;
        let mut terms = vec![MemoryTerm::new(
            MemoryKind::Activations,
            band(self.activations, row),
            "factor * micro_batch * kept",
            &[("factor", Amount::Number(row.value)), samples, ("kept", Amount::Bytes(each(self.activations, row)))],
            vec![Source::from(row)],
        )];
        for (kind, bytes, row) in [
            (MemoryKind::AttentionScores, self.scores, rates.score_bytes),
            (MemoryKind::Logits, self.logits, rates.logit_bytes),
        ] {
            if bytes > 0.0 {
                let figures =
                    [("each", Amount::Bytes(row.value)), samples, ("elements", Amount::Number(each(bytes, row)))];
                let expression = "each * micro_batch * elements";
                terms.push(MemoryTerm::new(kind, band(bytes, row), expression, &figures, vec![Source::from(row)]));
            }
        }
        terms
    }
}

/// Bytes that the layers keep for one sample on one rank, over all layers.
struct Layers {
    /// Without recompute.
    full: f64,
    /// With the strategy's recompute.
    stored: f64,
    /// Of the largest layer, without recompute.
    largest: f64,
    /// What the layer under work adds.
    at_work: f64,
}

impl Layers {
    fn of(profile: &TrainProfile, strategy: &TrainStrategy, rates: &TrainRates<'_>) -> Self {
        let saved = &profile.saved;
        let tensor = f64::from(strategy.tensor);
        let norm_split = if strategy.sequence_parallel { tensor } else { 1.0 };
        let width = element_width(strategy.precision);
        let adapter_inputs = if strategy.method == TrainMethod::Full { 0.0 } else { saved.adapter_inputs / norm_split };
        // Eager RMS norms keep their input in 32 bits beside the 16.
        let norms = saved.norms + saved.upcast_norms * rates.upcast_norms.value / width;
        let quantised =
            if matches!(strategy.method, TrainMethod::Qlora(_)) { rates.quantised_activations.value } else { 1.0 };
        let full = (norms / norm_split + saved.split / tensor + adapter_inputs) * width * quantised;
        // One layer is at most all of them, and its share of norms is that of the whole.
        let largest = saved.largest_layer * full / (saved.norms + saved.split).max(1.0);
        let (work, selective) = (rates.layer_work.value, rates.selective_share.value);
        // The layer under work holds its activations and their gradients. Where it is kept anyway only the gradients are
        // new.
        let (stored, at_work) = match strategy.recompute {
            Recompute::None => (full, largest * (work - 1.0).max(0.0)),
            Recompute::Selective => (full * selective, largest * (work - selective).max(0.0)),
            Recompute::Full => ((saved.inputs / norm_split * width).min(full), largest * work),
        };
        Self { full, stored, largest, at_work }
    }

    fn stage(
        &self,
        profile: &TrainProfile,
        strategy: &TrainStrategy,
        rates: &TrainRates<'_>,
        flight: f64,
        with_logits: bool,
    ) -> Kept {
        let saved = &profile.saved;
        let tensor = f64::from(strategy.tensor);
        let batch = f64::from(strategy.micro_batch) / f64::from(strategy.context);
        let width = element_width(strategy.precision);
        let layers = f64::from(profile.layers.max(1));
        let share = (layers / f64::from(strategy.pipeline)).ceil() / layers;
        // Recomputing a stage of one layer frees nothing.
        let all = self.full * share * flight + self.largest * (rates.layer_work.value - 1.0).max(0.0);
        let kept = (self.stored * share * flight + self.at_work).min(all) + saved.outside * width;
        let stored_scores = match (strategy.attention, strategy.recompute) {
            (AttentionKernel::Fused, _) => 0.0,
            (AttentionKernel::Eager, Recompute::None) => saved.scores * share * flight,
            (AttentionKernel::Eager, _) => saved.scores_of_layer,
        };
        Kept {
            activations: rates.activation_factor.value * batch * kept,
            scores: rates.score_bytes.value * batch * width * stored_scores / tensor,
            logits: if with_logits { rates.logit_bytes.value * batch * saved.logits / tensor } else { 0.0 },
            in_flight: flight,
        }
    }
}
