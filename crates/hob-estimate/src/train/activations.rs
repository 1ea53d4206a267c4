//! What the forward pass keeps on one rank: activations, score matrices, logits.

use hob_units::{Bytes, Interval, Quantity};

use crate::efficiency::{Efficiencies, Scope};
use crate::outcome::{EstimateError, MemoryKind, MemoryTerm};
use crate::strategy::{AttentionKernel, NumberFormat, Recompute, TrainMethod, TrainStrategy};
use crate::train::profile::TrainProfile;

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

/// Activation terms of the fullest stage.
pub(crate) fn terms(
    profile: &TrainProfile,
    strategy: &TrainStrategy,
    framework: &str,
    table: &Efficiencies,
) -> Result<Vec<MemoryTerm>, EstimateError> {
    let scope = Scope::any().engine(framework);
    let saved = &profile.saved;
    let tensor = f64::from(strategy.tensor);
    let norm_split = if strategy.sequence_parallel { tensor } else { 1.0 };
    let batch = f64::from(strategy.micro_batch) / f64::from(strategy.context);
    let width = if matches!(strategy.precision, NumberFormat::Fp32 | NumberFormat::Tf32) { 2.0 } else { 1.0 };
    let adapter_inputs = if strategy.method == TrainMethod::Full { 0.0 } else { saved.adapter_inputs / norm_split };

    let full = (saved.norms / norm_split + saved.split / tensor + adapter_inputs) * width;
    // One layer is at most all of them, and its share of norms is that of the whole.
    let layer = saved.largest_layer * full / (saved.norms + saved.split).max(1.0);
    let work = table.get("train.layer_work", &scope)?;
    let selective = table.get("train.selective_share", &scope)?;
    let stored = match strategy.recompute {
        Recompute::None => full,
        Recompute::Selective => full * selective.value,
        Recompute::Full => (saved.inputs / norm_split * width).min(full),
    };
    // The layer under work holds its activations and their gradients. Where it is kept anyway only the gradients are new.
    let at_work = match strategy.recompute {
        Recompute::None => layer * (work.value - 1.0).max(0.0),
        Recompute::Selective => layer * (work.value - selective.value).max(0.0),
        Recompute::Full => layer * work.value,
    };

    let eager = strategy.attention == AttentionKernel::Eager;
    let score = table.get("train.score_bytes", &scope)?;
    let logit = table.get("train.logit_bytes", &scope)?;
    let activation = table.get("train.activation_factor", &scope)?;
    let layers = f64::from(profile.layers.max(1));
    let stage = (layers / f64::from(strategy.pipeline)).ceil() / layers;
    let stored_scores = match (eager, strategy.recompute) {
        (false, _) => 0.0,
        (true, Recompute::None) => saved.scores * stage,
        (true, _) => saved.scores_of_layer,
    };
    let (first, last) = in_flight(strategy);
    let of_stage = |flight: f64, with_logits: bool| {
        // Recomputing a stage of one layer frees nothing.
        let all = full * stage * flight + layer * (work.value - 1.0).max(0.0);
        let kept = (stored * stage * flight + at_work).min(all) + saved.outside * width;
        let kept = activation.value * batch * kept;
        let flight_of_scores = if strategy.recompute == Recompute::None { flight } else { 1.0 };
        let scores = score.value * batch * width * stored_scores / tensor * flight_of_scores;
        let logits = if with_logits { logit.value * batch * saved.logits / tensor } else { 0.0 };
        (kept, scores, logits)
    };
    let sum = |(a, b, c): (f64, f64, f64)| a + b + c;
    let (at_first, at_last) = (of_stage(first, strategy.pipeline == 1), of_stage(last, true));
    let flight = if sum(at_first) >= sum(at_last) { first } else { last };
    let (kept, scores, logits) = if sum(at_first) >= sum(at_last) { at_first } else { at_last };

    let band = |value: f64, row: &crate::efficiency::Coefficient| -> Interval<Bytes> {
        super::spread(value / row.value.max(f64::MIN_POSITIVE), row)
    };
    let mut terms = vec![MemoryTerm {
        kind: MemoryKind::Activations,
        bytes: band(kept, activation),
        formula: format!(
            "{:.2} x {} of {:.0} MB a sample x {batch} samples x {flight:.2} in flight, and one layer at work [{}]",
            activation.value,
            match strategy.recompute {
                Recompute::None => "all",
                Recompute::Selective => "part",
                Recompute::Full => "layer inputs",
            },
            full / 1e6,
            activation.source
        ),
    }];
    if scores > 0.0 {
        terms.push(MemoryTerm {
            kind: MemoryKind::AttentionScores,
            bytes: band(scores, score),
            formula: format!(
                "{:.1} bytes x {stored_scores:.2e} scores a sample x {batch} [{}]",
                score.value, score.source
            ),
        });
    }
    if logits > 0.0 {
        terms.push(MemoryTerm {
            kind: MemoryKind::Logits,
            bytes: band(logits, logit),
            formula: format!(
                "{:.1} bytes x {:.2e} tokens x vocabulary x {batch} / tensor {tensor} [{}]",
                logit.value, saved.logits, logit.source
            ),
        });
    }
    debug_assert!(terms.iter().all(|term| term.bytes.mid.base() >= 0.0));
    Ok(terms)
}
