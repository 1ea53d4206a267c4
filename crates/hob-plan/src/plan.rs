//! From a workload to its plan.

use hob_catalog::{Catalog, Offer, OwnMachineError, UnknownName};
use hob_estimate::{Efficiencies, EstimateError, FeedRates, MediaRates};
use hob_model::ModelGraph;
use hob_text::Message;
use hob_workload::{Code, Problem, Work, Workload};
use thiserror::Error;

use crate::document::Plan;
use crate::reason::message;
use crate::search::{Asked, Outcome, Search, is_llm};
use crate::{changes, load, misfits, offers, path, price, variants, warnings};

/// Everything that a plan is made from, beside the workload.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The model that the workload names; `None` for work without one.
    pub model: Option<&'a ModelGraph>,
    /// GPUs, instance types and prices.
    pub catalog: &'a Catalog,
    /// Efficiencies and overheads.
    pub efficiencies: &'a Efficiencies,
    /// Rates of video engines and renderers.
    pub media: &'a MediaRates,
    /// Rates of disks, networks and CPUs that feed a GPU.
    pub feed: &'a FeedRates,
    /// Date (ISO) of what the user states now.
    pub today: &'a str,
}

/// Why there is no plan at all.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PlanError {
    /// Fields of the workload that do not fit the catalog, the model or each other.
    #[error("the workload does not fit: {}", .0.iter().map(|problem| problem.field.as_str()).collect::<Vec<_>>().join(", "))]
    Misfits(Vec<Problem>),
    /// The workload names something that the catalog does not know.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// An own machine cannot be planned on.
    #[error(transparent)]
    Machine(#[from] OwnMachineError),
    /// The model cannot be estimated.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// The work needs a model and none was given.
    #[error("this kind of work needs a model")]
    NoModel,
}

/// Searches every allowed offer, prices and ranks what works, and says what to do.
///
/// # Errors
/// When the workload names something unknown, or the model cannot be estimated at all.
pub fn plan(workload: &Workload, inputs: &Inputs<'_>) -> Result<Plan, PlanError> {
    let misfits = misfits::of(workload, inputs);
    if !misfits.is_empty() {
        return Err(PlanError::Misfits(misfits));
    }
    let catalog = offers::with_machines(inputs.catalog, &workload.place.machines, inputs.today)?;
    let inputs = &Inputs { catalog: &catalog, ..*inputs };
    let mut plan = core(workload, inputs).map_err(|error| of_kind(error, workload))?;
    if let Some(apart) = budget_apart(workload, &plan) {
        return Err(PlanError::Misfits(vec![apart]));
    }
    plan.understood = understood(workload, inputs);
    plan.variants = variants::both(workload, inputs, &plan);
    if plan.is_feasible() {
        plan.warnings = warnings::of(workload, inputs, &plan);
        plan.path = path::of(workload, inputs.model, &plan);
    } else {
        plan.changes = changes::nearest(workload, inputs);
    }
    Ok(plan)
}

/// A task that the model is not made for is a mistake in the file.
fn of_kind(error: PlanError, workload: &Workload) -> PlanError {
    use EstimateError::{NoItemSize, NotALanguageModel, NotTokens};
    let PlanError::Estimate(why @ (NotALanguageModel { .. } | NoItemSize { .. } | NotTokens { .. })) = error else {
        return error;
    };
    let states_task = match &workload.work {
        Work::Serve(serve) | Work::Batch { serve, .. } => serve.task.is_some(),
        _ => false,
    };
    let (field, other) = if states_task { ("task", "model") } else { ("model", "kind") };
    let problem = Problem::of_field(Code::Contradiction, field).with("other", other);
    PlanError::Misfits(vec![problem.hint(message(&why.sentence()))])
}

/// A budget that binds no offer: everything that is left is priced in other currencies, and no rate is stated.
fn budget_apart(workload: &Workload, plan: &Plan) -> Option<Problem> {
    let budget = workload.budget?.currency();
    if plan.ranked.is_empty() || plan.ranked.iter().any(|group| group.currency == budget) {
        return None;
    }
    let others = plan.ranked.iter().map(|group| group.currency.to_string()).collect::<Vec<_>>();
    let rates = others.iter().map(|other| format!("{other}_{budget} = ...")).collect::<Vec<_>>().join(", ");
    let rate = Message::new("workload-hint-write").with("text", format!("where.exchange = {{ {rates} }}"));
    let problem = Problem::of_field(Code::BudgetApart, "budget").with("budget", budget);
    Some(problem.with("currencies", others.join(", ")).hint(rate))
}

/// The search alone: ranked, priced and rejected, without advice. `inputs.catalog` holds the user's machines already.
pub(crate) fn core(workload: &Workload, inputs: &Inputs<'_>) -> Result<Plan, PlanError> {
    let allowed = offers::allowed(inputs.catalog, workload)?;
    let search = Search::new(workload, inputs)?;
    let outcomes: Vec<Outcome> = search.outcomes(workload, &allowed);
    let pairs: Vec<(&Offer<'_>, Outcome)> = allowed.iter().zip(outcomes).collect();
    let priced = price::price(workload, pairs);
    Ok(Plan {
        workload: workload.name.clone(),
        kind: kind(&workload.work),
        stage: workload.stage,
        understood: Vec::new(),
        assumed: workload.assumed.clone(),
        ranked: priced.ranked,
        unpriced: priced.unpriced,
        rejected: priced.rejected,
        warnings: Vec::new(),
        variants: Vec::new(),
        changes: Vec::new(),
        path: Vec::new(),
        offers_considered: allowed.len(),
    })
}

fn understood(workload: &Workload, inputs: &Inputs<'_>) -> Vec<Message> {
    let model = inputs.model.map(|graph| {
        Message::new("plan-understood-model")
            .with("name", &graph.name)
            .with("parameters", format!("{:.3} B", graph.parameters() as f64 / 1e9))
    });
    let (serve, amount) = match &workload.work {
        Work::Serve(serve) => (Some(serve), None),
        Work::Batch { serve, amount } => (Some(serve), Some(*amount)),
        Work::Train(_) | Work::Transcode(_) | Work::Render(_) => (None, None),
    };
    let load = serve.map(|serve| match Asked::of(&serve.traffic, amount) {
        Asked::Rate(peak) => {
            Message::new("plan-understood-load").with("peak", peak).with("mean", load::mean(&serve.traffic))
        }
        Asked::InFlight(count) => Message::new("plan-understood-concurrency").with("count", count),
        Asked::Amount(amount) => Message::new("plan-understood-amount").with("amount", amount),
    });
    let lengths = serve.filter(|serve| is_llm(serve, inputs)).map(|serve| {
        let llm = serve.traffic.llm;
        Message::new("plan-understood-lengths")
            .with("prompt", llm.prompt.0)
            .with("output", llm.output.0)
            .with("hit", llm.prefix_hit)
    });
    [model, load, lengths].into_iter().flatten().collect()
}

fn kind(work: &Work) -> &'static str {
    match work {
        Work::Train(_) => "train",
        Work::Serve(_) => "serve",
        Work::Batch { .. } => "batch",
        Work::Transcode(_) => "transcode",
        Work::Render(_) => "render",
    }
}
