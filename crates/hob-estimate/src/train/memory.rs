//! The sum of all kinds of memory on the fullest GPU.

use hob_units::{Bytes, Interval, Quantity, gib};

use crate::efficiency::{Coefficient, Efficiencies, Scope};
use crate::hardware::Hardware;
use crate::outcome::{EstimateError, Fit, MemoryEstimate, MemoryKind, MemoryTerm};
use crate::strategy::TrainStrategy;
use crate::train::profile::TrainProfile;
use crate::train::{activations, certainty_factor, class_of, states};

/// Memory of the fullest GPU, with the band of its stratum: the fitted errors are of totals, not of terms.
pub(crate) fn estimate(
    profile: &TrainProfile,
    hardware: &Hardware<'_>,
    strategy: &TrainStrategy,
    framework: &str,
    table: &Efficiencies,
) -> Result<MemoryEstimate, EstimateError> {
    let mut terms = states::terms(profile, strategy, framework, table)?;
    let dynamic = activations::terms(profile, strategy, framework, table)?;
    let held: f64 = dynamic.iter().map(|term| term.bytes.mid.base()).sum();
    if strategy.accumulation == 1 && states::is_true_half(framework) {
        // Gradients are freed between steps, and then fill what the backward pass frees of the activations.
        for term in terms.iter_mut().filter(|term| term.kind == MemoryKind::Gradients) {
            let rest = (term.bytes.mid.base() - held).max(0.0);
            term.bytes = Interval::exact(Bytes::from_base(rest));
            term.formula.push_str(", less what the activations leave free");
        }
    }
    terms.extend(dynamic);

    let scope = Scope::any().engine(framework);
    let groups = [strategy.data, strategy.tensor, strategy.pipeline, strategy.context, strategy.expert];
    let groups = groups.iter().filter(|size| **size > 1).count() as f64;
    let mut constant = |kind, name, times: f64| -> Result<(), EstimateError> {
        let row = table.get(name, &scope)?;
        if times > 0.0 {
            let formula = format!("{:.2} {} x {times:.2} [{}]", row.value, row.unit, row.source);
            terms.push(MemoryTerm { kind, bytes: super::spread(times, row), formula });
        }
        Ok(())
    };
    let one = gib(1.0).base();
    constant(MemoryKind::CudaContext, "train.context_gib", one)?;
    constant(MemoryKind::Workspaces, "train.workspace_gib", one)?;
    constant(MemoryKind::Communication, "train.group_gib", one * groups)?;
    constant(MemoryKind::AllocatorSlack, "train.allocator_slack", held)?;

    let band: &Coefficient = table.get("train.memory_band", &scope.class(class_of(profile)))?;
    let mut memory = MemoryEstimate::of(terms, hardware.gpu.memory_total());
    memory.total = Interval::within_factor(memory.total.mid, band.value * certainty_factor(profile.certainty));
    memory.fit = if memory.total.high <= memory.usable {
        Fit::Fits
    } else if memory.total.mid <= memory.usable {
        Fit::Tight
    } else {
        Fit::DoesNot
    };
    Ok(memory)
}
