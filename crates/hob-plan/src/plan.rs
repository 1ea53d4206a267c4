//! From a workload to its plan.

use std::collections::BTreeMap;

use hob_catalog::{Catalog, Offer, OwnMachineError, UnknownName};
use hob_estimate::{Efficiencies, EstimateError, Hardware};
use hob_model::ModelGraph;
use hob_text::Message;
use hob_units::{Currency, Seconds, Share};
use hob_workload::{Budget, Serve, Task, Train, Work, Workload};
use thiserror::Error;

use crate::bill::{Need, bills};
use crate::document::{Choice, Plan, PriceGroup, Reason, Rejected, Solution};
use crate::serve::ServeSearch;
use crate::train::TrainSearch;
use crate::{offers, rank};

/// Why there is no plan at all.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PlanError {
    /// The workload names something that the catalog does not know.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// An own machine cannot be planned on.
    #[error(transparent)]
    Machine(#[from] OwnMachineError),
    /// The model cannot be estimated.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// This kind of work has no planner.
    #[error("{kind} cannot be planned yet")]
    Kind {
        /// The kind as the workload file names it.
        kind: &'static str,
    },
}

/// Machines of one job that are tried.
const MACHINES_TRIED: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// How the work is done on one instance type and for how long it is needed, or why it cannot be.
type Outcome = Result<(Solution, Need), Reason>;

/// Searches every allowed offer. `today` (an ISO date) marks what the user states now.
///
/// # Errors
/// When the workload names something unknown, or the model cannot be estimated at all.
pub fn plan(
    workload: &Workload,
    graph: &ModelGraph,
    catalog: &Catalog,
    table: &Efficiencies,
    today: &str,
) -> Result<Plan, PlanError> {
    let catalog = offers::with_machines(catalog, &workload.place.machines, today)?;
    let allowed = offers::allowed(&catalog, workload)?;
    let outcomes = match &workload.work {
        Work::Train(train) => train_outcomes(workload, train, graph, &allowed, table),
        Work::Serve(serve) if matches!(serve.task, None | Some(Task::Llm)) => {
            serve_outcomes(workload, serve, graph, &allowed, table)?
        }
        Work::Serve(_) => return Err(PlanError::Kind { kind: "serve of this task" }),
        Work::Batch { .. } => return Err(PlanError::Kind { kind: "batch" }),
        Work::Transcode(_) => return Err(PlanError::Kind { kind: "transcode" }),
        Work::Render(_) => return Err(PlanError::Kind { kind: "render" }),
    };
    Ok(assemble(workload, graph, &allowed, &outcomes))
}

/// The key under which hardware is estimated once, whatever its region.
fn key(offer: &Offer<'_>) -> (String, String) {
    (offer.instance.cloud.clone(), offer.instance.name.clone())
}

fn serve_outcomes(
    workload: &Workload,
    serve: &Serve,
    graph: &ModelGraph,
    allowed: &[Offer<'_>],
    table: &Efficiencies,
) -> Result<BTreeMap<(String, String), Outcome>, EstimateError> {
    let search = ServeSearch::new(workload, serve, graph, table)?;
    let need = Need::Always(workload.utilisation.unwrap_or(Share(1.0)));
    let mut outcomes = BTreeMap::new();
    for offer in allowed {
        outcomes.entry(key(offer)).or_insert_with(|| {
            let hardware = Hardware { gpu: offer.gpu, instance: offer.instance, nodes: 1 };
            search.best(&hardware).map(|found| {
                let solution = Solution {
                    machines: found.machines,
                    gpus: found.machines.saturating_mul(offer.instance.gpu_count),
                    layout: found.layout,
                    memory: found.estimate.memory,
                    speed: found.speed,
                    goals: found.goals,
                    time: found.estimate.decode_step,
                    notes: found.notes,
                };
                (solution, need)
            })
        });
    }
    Ok(outcomes)
}

fn train_outcomes(
    workload: &Workload,
    train: &Train,
    graph: &ModelGraph,
    allowed: &[Offer<'_>],
    table: &Efficiencies,
) -> BTreeMap<(String, String), Outcome> {
    let search = TrainSearch::new(workload, train, graph, table);
    let mut outcomes = BTreeMap::new();
    for offer in allowed {
        outcomes.entry(key(offer)).or_insert_with(|| train_on(workload, &search, offer));
    }
    outcomes
}

/// The fewest machines on which every goal is met surely enough; without a goal, the fewest on which it fits.
fn train_on(workload: &Workload, search: &TrainSearch<'_>, offer: &Offer<'_>) -> Outcome {
    let constraints = &workload.constraints;
    let confidence = workload.objective.confidence.0;
    let mut last = Reason::Unsupported { why: "no layout divides the GPUs".to_owned() };
    for machines in MACHINES_TRIED {
        let gpus = machines.saturating_mul(offer.instance.gpu_count);
        if constraints.max_gpus.is_some_and(|most| gpus > most)
            || constraints.max_machines.is_some_and(|most| machines > most)
            || (machines > 1 && !constraints.multi_node)
        {
            break;
        }
        let hardware = Hardware { gpu: offer.gpu, instance: offer.instance, nodes: machines };
        match search.best(&hardware) {
            Err(reason) => last = reason,
            Ok(found) if found.goals.iter().any(|goal| goal.probability < confidence) => {
                last = Reason::TooSlow { machines };
            }
            Ok(found) => {
                let duration: Seconds = found.duration.mid;
                let solution = Solution {
                    machines,
                    gpus,
                    layout: found.layout,
                    memory: found.estimate.memory,
                    speed: found.speed,
                    goals: found.goals,
                    time: found.estimate.terms,
                    notes: Vec::new(),
                };
                return Ok((solution, Need::Once(duration)));
            }
        }
    }
    Err(last)
}

/// Prices every solution in every region, drops what the budget forbids, ranks the rest.
fn assemble(
    workload: &Workload,
    graph: &ModelGraph,
    allowed: &[Offer<'_>],
    outcomes: &BTreeMap<(String, String), Outcome>,
) -> Plan {
    let mut priced: BTreeMap<Currency, Vec<Choice>> = BTreeMap::new();
    let mut unpriced = Vec::new();
    let mut rejected = Vec::new();
    for offer in allowed {
        let reject = |reason: Reason| Rejected {
            cloud: offer.instance.cloud.clone(),
            instance: offer.instance.name.clone(),
            gpu: offer.gpu.id.clone(),
            reason,
        };
        let (solution, need) = match outcomes.get(&key(offer)) {
            Some(Ok(found)) => found,
            Some(Err(reason)) => {
                rejected.push(reject(reason.clone()));
                continue;
            }
            None => continue,
        };
        let choice = |bills| Choice {
            cloud: offer.instance.cloud.clone(),
            instance: offer.instance.name.clone(),
            gpu: offer.gpu.id.clone(),
            region: offer.region.clone(),
            solution: solution.clone(),
            bills,
            how_to_get_price: offer.how_to_get_price,
        };
        let bills = bills(&offer.prices, solution.machines, *need);
        let Some(first) = bills.first() else {
            unpriced.push(choice(bills));
            continue;
        };
        let (currency, cost) = (first.cost.currency, first.cost);
        match budget(workload, *need) {
            Some(limit) if cost.compare(limit).is_some_and(std::cmp::Ordering::is_gt) => {
                rejected.push(reject(Reason::OverBudget { cost }));
            }
            _ => priced.entry(currency).or_default().push(choice(bills)),
        }
    }
    let ranked = priced
        .into_iter()
        .map(|(currency, mut choices)| {
            rank::sort(&mut choices, workload.objective.minimise);
            PriceGroup { currency, choices }
        })
        .collect();
    // One instance type fails for one reason, whatever the region.
    rejected.sort_by(|a, b| (&a.cloud, &a.instance).cmp(&(&b.cloud, &b.instance)));
    rejected.dedup_by(|a, b| a.cloud == b.cloud && a.instance == b.instance);
    Plan {
        workload: workload.name.clone(),
        understood: vec![
            Message::new("plan-understood-model")
                .with("name", &graph.name)
                .with("parameters", hob_units::Tokens(graph.parameters()).0),
        ],
        assumed: workload.assumed.clone(),
        ranked,
        unpriced,
        rejected,
        warnings: Vec::new(),
        offers_considered: allowed.len(),
    }
}

/// The budget in the terms of a bill: for a month of a service, for the whole of a job.
fn budget(workload: &Workload, need: Need) -> Option<hob_units::Money> {
    match (workload.budget?, need) {
        (Budget::Rate(rate), Need::Always(_)) => rate.per(hob_units::Period::Month).map(|rate| rate.money),
        (Budget::Rate(rate), Need::Once(time)) => {
            rate.per(hob_units::Period::Hour).and_then(|rate| rate.money.times(time.as_hours()))
        }
        (Budget::Total(money), Need::Once(_)) => Some(money),
        (Budget::Total(_), Need::Always(_)) => None,
    }
}
