//! Memory of one GPU, and the largest batch that fits.

use hob_units::{Bytes, Interval, Quantity};

use super::machine::{format_of, weight_bytes};
use super::profile::ForwardProfile;
use super::strategy::ForwardStrategy;
use super::work::Quantised;
use crate::arithmetic::{Amount, Source};
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
        let (peak, what) = if decoded > widest { (decoded, "decoded") } else { (widest, "largest") };

        let (number, bytes_of) = (Amount::Number, Amount::Bytes);
        let quantised = bytes(Quantised::EightAndFour);
        let mut terms = vec![
            MemoryTerm::new(
                MemoryKind::Weights,
                Interval::within_factor(Bytes::from_base(weights), 1.02),
                "never * plain + eight * eight_bytes + other * other_bytes",
                &[
                    ("never", number(parameters.never)),
                    ("plain", bytes_of(plain)),
                    ("eight", number(parameters.eight)),
                    ("eight_bytes", bytes_of(bytes(Quantised::Eight))),
                    ("other", number(parameters.eight_and_four)),
                    ("other_bytes", bytes_of(quantised)),
                ],
                Vec::new(),
            ),
            MemoryTerm::new(
                MemoryKind::Activations,
                scaled(live, peak),
                if decoded > widest { "factor * decoded" } else { "factor * largest" },
                &[("factor", number(live.value)), (what, bytes_of(peak))],
                vec![Source::from(live)],
            ),
            MemoryTerm::new(MemoryKind::Workspaces, scaled(workspace, 1.0), "", &[], vec![Source::from(workspace)]),
            MemoryTerm::new(MemoryKind::CudaContext, scaled(context, 1.0), "", &[], vec![Source::from(context)]),
        ];
        if parameters.companions > 0.0 {
            terms.push(MemoryTerm::new(
                MemoryKind::Companions,
                Interval::within_factor(Bytes::from_base(parameters.companions * plain), 1.02),
                "parameters * plain",
                &[("parameters", number(parameters.companions)), ("plain", bytes_of(plain))],
                Vec::new(),
            ));
        }
        if self.cache > 0.0 {
            terms.push(MemoryTerm::new(
                MemoryKind::KvCache,
                Interval::within_factor(Bytes::from_base(self.cache * plain * batch), 1.1),
                "batch * cached * plain",
                &[("batch", number(batch)), ("cached", number(self.cache)), ("plain", bytes_of(plain))],
                Vec::new(),
            ));
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
