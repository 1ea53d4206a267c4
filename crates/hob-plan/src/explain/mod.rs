//! One offer's whole arithmetic: memory, time, queue, machines and money, each line with its expression, figures and
//! sources. It is worked out again for the one offer that is asked for, so that a plan stays short.

mod machines;
mod money;

use hob_catalog::Offer;
use hob_estimate::{Amount, ArithmeticBlock, ArithmeticStep, Hardware, MemoryEstimate};
use hob_units::Quantity;
use hob_workload::Workload;
use serde::Serialize;

use crate::document::{Choice, Layout};
use crate::limits::Limits;
use crate::offers;
use crate::plan::{Inputs, PlanError};
use crate::search::Search;

/// The arithmetic of one offer.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// The offer.
    pub choice: Choice,
    /// Titled blocks in reading order.
    pub blocks: Vec<ArithmeticBlock>,
}

/// Explains one choice of the plan of `workload`.
///
/// # Errors
/// As [`crate::plan()`].
pub fn explain(workload: &Workload, inputs: &Inputs<'_>, choice: &Choice) -> Result<Explanation, PlanError> {
    let catalog = offers::with_machines(inputs.catalog, &workload.place.machines, inputs.today)?;
    let inputs = &Inputs { catalog: &catalog, ..*inputs };
    let allowed = offers::allowed(inputs.catalog, workload)?;
    let search = Search::new(workload, inputs)?;
    let mut blocks: Vec<ArithmeticBlock> = choice.solution.memory.as_ref().map(memory).into_iter().collect();
    if let Some(offer) = allowed.iter().find(|offer| is_of(offer, choice)) {
        blocks.extend(time(&search, offer, choice)?);
        blocks.extend(machines::block(workload, inputs, choice));
        let limits = Limits::of(workload, offer);
        if let Ok(found) = search.on(workload, offer, &limits) {
            blocks.extend(money::blocks(choice, offer, found.need));
        }
    }
    Ok(Explanation { choice: choice.clone(), blocks })
}

fn is_of(offer: &Offer<'_>, choice: &Choice) -> bool {
    offer.instance.cloud == choice.cloud
        && offer.instance.name == choice.instance
        && offer.gpu.id == choice.gpu
        && offer.region == choice.region
}

/// The terms and their sum.
fn memory(memory: &MemoryEstimate) -> ArithmeticBlock {
    let mut steps: Vec<ArithmeticStep> = memory.terms.iter().map(|term| term.formula.clone()).collect();
    let figures: Vec<(&'static str, Amount)> =
        memory.terms.iter().map(|term| (term.kind.id(), Amount::Bytes(term.bytes.mid.base()))).collect();
    let sum: Vec<&str> = figures.iter().map(|(name, _)| *name).collect();
    steps.push(ArithmeticStep::new("memory-total", Amount::Bytes(memory.total.mid.base()), &sum.join(" + "), &figures));
    steps.push(ArithmeticStep::new("memory-high", Amount::Bytes(memory.total.high.base()), "", &[]));
    steps.push(ArithmeticStep::new("memory-usable", Amount::Bytes(memory.usable.base()), "", &[]));
    ArithmeticBlock::new("memory", steps)
}

fn time(search: &Search<'_>, offer: &Offer<'_>, choice: &Choice) -> Result<Vec<ArithmeticBlock>, PlanError> {
    let on = |nodes| Hardware { gpu: offer.gpu, instance: offer.instance, nodes };
    let blocks = match (search, &choice.solution.layout) {
        (Search::Llm(search), Layout::Serve { replicas, strategy }) => {
            search.arithmetic(&on(strategy.pipeline), strategy, *replicas)?
        }
        (Search::Forward(search), Layout::Forward { replicas, strategy, .. }) => {
            search.arithmetic(&on(1), strategy, *replicas)?
        }
        (Search::Train(_, search, _), Layout::Train { strategy }) => {
            search.arithmetic(&on(choice.solution.machines), strategy)?
        }
        // Tables of rates state their arithmetic in words.
        _ => {
            let steps = choice.solution.time.iter().map(|term| {
                ArithmeticStep::stated(
                    term.what,
                    Amount::Seconds(term.time.mid.base()),
                    term.formula.as_deref().unwrap_or_default(),
                )
            });
            vec![ArithmeticBlock::new("time", steps.collect())]
        }
    };
    Ok(blocks)
}
