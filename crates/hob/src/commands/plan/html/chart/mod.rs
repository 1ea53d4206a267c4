//! Charts as inline SVG, drawn by `plotters` and coloured by the page's style sheet.

mod bars;
mod canvas;
mod pareto;
mod rows;
mod scale;
mod utilisation;

use hob_plan::{Choice, Plan};
use hob_workload::Workload;
use maud::{Markup, html};

pub use canvas::DrawError;

use super::super::show::first_regions;
use crate::printer::Printer;

/// Offers whose intervals are drawn.
const OFFERS_SHOWN: usize = 8;

/// All charts of the first choice and of those that it was chosen from.
pub fn all(plan: &Plan, workload: &Workload, printer: &Printer) -> Result<Markup, DrawError> {
    let Some(first) = plan.first_choice() else { return Ok(html! {}) };
    let group = plan.ranked.iter().find(|group| !group.choices.is_empty());
    let is_job = first.bills.first().is_some_and(|bill| bill.for_whole_job);
    let memory = bars::memory(first, printer)?;
    let cost = if is_job { bars::job_bills(first, printer)? } else { utilisation::chart(first, printer)? };
    let pareto = match group {
        Some(group) => pareto::chart(group, printer)?,
        None => None,
    };
    let choices = group.map_or(plan.unpriced.as_slice(), |group| group.choices.as_slice());
    let offers: Vec<(usize, &Choice)> =
        first_regions(choices).into_iter().take(OFFERS_SHOWN).map(|(index, choice, _)| (index + 1, choice)).collect();
    let intervals = bars::intervals(&offers, workload, printer)?;
    Ok(html! {
        @for chart in memory.into_iter().chain(cost).chain(pareto).chain(intervals) { (chart) }
    })
}
