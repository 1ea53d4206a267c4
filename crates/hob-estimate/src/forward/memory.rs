//! Memory of one GPU, and the largest batch that fits.

use hob_units::{Bytes, Interval, Quantity};

use super::machine::{format_of, weight_bytes};
use super::profile::ForwardProfile;
use super::strategy::ForwardStrategy;
use super::work::Quantised;
use crate::efficiency::{Coefficient, Efficiencies, Scope};
use crate::hardware::Hardware;
use crate::outcome::{Fit, MemoryEstimate, MemoryKind, MemoryTerm};
use crate::refusal::EstimateError;
use crate::strategy::NumberFormat;

/// Larger batches than any server forms.
const BATCH_MAX: u32 = 1 << 16;

impl ForwardProfile {
    /// Memory of the fullest GPU.
    pub(super) fn memory(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ForwardStrategy,
        table: &Efficiencies,
    ) -> Result<MemoryEstimate, EstimateError> {
        let engine = Scope::any().engine(strategy.engine.id());
        let get = |name| table.get(name, &engine);
        let (live, context, workspace) =
            (get("media.activation_factor")?, get("media.context_bytes")?, get("media.workspace_bytes")?);
        let bytes = |quantised| weight_bytes(format_of(quantised, strategy.precision));
        let parameters = &self.parameters;
        let weights = parameters.never * bytes(Quantised::Never)
            + parameters.eight * bytes(Quantised::Eight)
            + parameters.eight_and_four * bytes(Quantised::EightAndFour);
        let plain = bytes(Quantised::Never);
        let batch = f64::from(strategy.batch.max(1));
        let ranks = f64::from(strategy.sequence_parallel.max(1));
        let widest = self.widest * batch / ranks * plain;
        // Both are never alive together: the decoder runs after the last step.
        let folded = self.shape.folded();
        let decoded = self
            .decoders
            .iter()
            .map(|decoder| decoder.peak_activation_bytes(&folded, strategy.tiling).base() * batch * plain / 2.0)
            .fold(0.0, f64::max);
        let (peak, what) = if decoded > widest { (decoded, "autoencoder") } else { (widest, "widest operator") };

        let term = |kind, bytes: Interval<Bytes>, formula: String| MemoryTerm { kind, bytes, formula };
        let mut terms = vec![
            term(
                MemoryKind::Weights,
                Interval::within_factor(Bytes::from_base(weights), 1.02),
                format!("parameters x bytes, {} each where quantised", bytes(Quantised::EightAndFour)),
            ),
            term(
                MemoryKind::Activations,
                scaled(live, peak),
                format!(
                    "{} x {batch} items x input and output of the {what} / {ranks} GPUs [{}]",
                    live.value, live.source
                ),
            ),
            term(MemoryKind::Workspaces, scaled(workspace, 1.0), format!("engine's workspaces [{}]", workspace.source)),
            term(MemoryKind::CudaContext, scaled(context, 1.0), format!("CUDA context [{}]", context.source)),
        ];
        if parameters.companions > 0.0 {
            let bytes = Bytes::from_base(parameters.companions * plain);
            let formula = format!("text encoders and autoencoder, {plain} bytes a parameter");
            terms.push(term(MemoryKind::Companions, Interval::within_factor(bytes, 1.02), formula));
        }
        if self.cache > 0.0 {
            let bytes = Bytes::from_base(self.cache * plain * batch);
            let formula = format!("{batch} windows x keys and values of the window and its text");
            terms.push(term(MemoryKind::KvCache, Interval::within_factor(bytes, 1.1), formula));
        }
        let driver = hardware.gpu.memory_total().base() / f64::from(hardware.gpu.gpus_on_board.max(1));
        Ok(MemoryEstimate::of(terms, Bytes::from_base(driver)))
    }

    /// Largest batch whose upper end of memory fits, at most 65536; `strategy.batch` is not read. `None` when not even
    /// one item fits.
    ///
    /// # Errors
    /// When the table lacks a coefficient.
    pub fn batch_max(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ForwardStrategy,
        table: &Efficiencies,
    ) -> Result<Option<u32>, EstimateError> {
        let fits = |batch| {
            let memory = self.memory(hardware, &ForwardStrategy { batch, ..*strategy }, table)?;
            Ok::<bool, EstimateError>(memory.fit == Fit::Fits)
        };
        if !fits(1)? {
            return Ok(None);
        }
        let (mut fit, mut over) = (1, BATCH_MAX + 1);
        while over - fit > 1 {
            let middle = u32::midpoint(fit, over);
            if fits(middle)? {
                fit = middle;
            } else {
                over = middle;
            }
        }
        Ok(Some(fit))
    }
}

/// Message id of what a format does to answers; `None` for 16 bits and wider.
pub(super) fn quality_note(format: NumberFormat) -> Option<&'static str> {
    match format {
        NumberFormat::Fp32 | NumberFormat::Tf32 | NumberFormat::Fp16 | NumberFormat::Bf16 => None,
        NumberFormat::Fp8 => Some("quality-fp8"),
        NumberFormat::Int8 => Some("quality-int8"),
        NumberFormat::Int4 => Some("quality-int4"),
        NumberFormat::Fp4 => Some("quality-fp4"),
    }
}

fn scaled(row: &Coefficient, by: f64) -> Interval<Bytes> {
    let at = |value: f64| Bytes::from_base(value * by);
    Interval { low: at(row.low), mid: at(row.value), high: at(row.high) }
}
