//! The field's classic mistakes, told when the first choice or the workload makes one.

use hob_estimate::Fit;
use hob_text::Message;
use hob_units::{Quantity, Seconds, Share};
use hob_workload::{Method, Work, Workload};

use crate::bill::Bill;
use crate::document::{Choice, Plan, Speed};
use crate::load;
use crate::plan::{Inputs, core};

/// A restriction that makes the work this many times dearer is told.
const DEARER_TOLD: f64 = 1.3;
/// Memory of which less than this share is used is told, for work that does not turn spare memory into speed.
const MEMORY_USED_TOLD: f64 = 0.3;
/// A band from half to double the middle, or wider, is told.
const FACTOR_TOLD: f64 = 2.0;

/// Every warning about the plan's first choice.
pub(crate) fn of(workload: &Workload, inputs: &Inputs<'_>, plan: &Plan) -> Vec<Message> {
    let Some(choice) = plan.first_choice() else { return Vec::new() };
    let mut found: Vec<Message> = [
        dear_restriction(workload, inputs, choice),
        memory_unused(choice),
        memory_tight(choice),
        cheap_but_slow(plan, choice),
        stops_at_night(workload, choice),
        unknown_prices(plan),
        budget_unchecked(workload, plan),
        context_too_long(workload, inputs),
        wide_band(choice),
    ]
    .into_iter()
    .flatten()
    .collect();
    found.extend(choice.solution.notes.iter().filter(|note| note.id.starts_with("note-")).cloned());
    found
}

/// A flagship card for a small model: the allowed GPUs cost much more than another one that meets the same goals.
fn dear_restriction(workload: &Workload, inputs: &Inputs<'_>, choice: &Choice) -> Option<Message> {
    if workload.constraints.gpus.is_empty() && workload.constraints.instances.is_empty() {
        return None;
    }
    let mut free = workload.clone();
    free.constraints.gpus.clear();
    free.constraints.instances.clear();
    let other = core(&free, inputs).ok()?;
    let cheaper = other.first_choice()?;
    let (ours, theirs) = (choice.bills.first()?.cost, cheaper.bills.first()?.cost);
    let ratio = ours.as_f64_for_score() / theirs.as_f64_for_score();
    (ours.currency == theirs.currency && ratio > DEARER_TOLD).then(|| {
        Message::new("warning-dear-restriction")
            .with("ours", ours)
            .with("theirs", theirs)
            .with("instance", &cheaper.instance)
            .with("gpu", &cheaper.gpu)
    })
}

/// Memory bought and not used. A language-model service fills what is left with its KV cache, so it is not meant here.
fn memory_unused(choice: &Choice) -> Option<Message> {
    let memory = choice.solution.memory.as_ref()?;
    let share = memory.total.mid.base() / memory.usable.base().max(1.0);
    let is_job = matches!(choice.solution.speed, Speed::Job { .. });
    (is_job && share < MEMORY_USED_TOLD)
        .then(|| Message::new("warning-memory-unused").with("share", Share(share)).with("usable", memory.usable))
}

fn memory_tight(choice: &Choice) -> Option<Message> {
    let memory = choice.solution.memory.as_ref()?;
    let risk = 1.0 - memory.total.probability_at_most(memory.usable);
    (memory.fit == Fit::Tight).then(|| Message::new("warning-memory-tight").with("risk", Share(risk)))
}

/// A cheap machine that costs weeks of people's time.
fn cheap_but_slow(plan: &Plan, choice: &Choice) -> Option<Message> {
    let delay = choice.delay_cost?;
    let ours = choice.bills.first()?.cost;
    let bill = |choice: &Choice| choice.bills.first().map(|bill: &Bill| bill.cost.amount);
    let group = plan.ranked.iter().find(|group| group.currency == ours.currency)?;
    let cheapest = group.choices.iter().min_by_key(|choice| bill(choice))?;
    let their_delay = cheapest.delay_cost?;
    if cheapest.bills.first()?.cost.amount >= ours.amount || their_delay.amount <= delay.amount {
        return None;
    }
    let longer: Seconds = Seconds(cheapest.solution.speed.time().mid.0 - choice.solution.speed.time().mid.0);
    Some(
        Message::new("warning-cheap-but-slow")
            .with("instance", &cheapest.instance)
            .with("saved", ours.checked_sub(cheapest.bills.first()?.cost)?)
            .with("longer", longer)
            .with("delay", their_delay.checked_sub(delay)?),
    )
}

/// The bill of a service with a quiet time is true only when somebody stops the machines.
fn stops_at_night(workload: &Workload, choice: &Choice) -> Option<Message> {
    let Work::Serve(serve) = &workload.work else { return None };
    let least = workload.constraints.min_replicas.unwrap_or(1);
    let used = load::machine_hours(&serve.traffic, choice.solution.machines, least);
    let bill = choice.bills.first()?;
    let is_by_the_hour = bill.cost.amount < bill.month.amount;
    (workload.utilisation.is_none() && used.0 < 1.0 && is_by_the_hour)
        .then(|| Message::new("warning-stop-machines").with("share", used).with("month", bill.month))
}

/// Offers in a currency without a rate are not held against the budget.
fn budget_unchecked(workload: &Workload, plan: &Plan) -> Option<Message> {
    let budget = workload.budget?.currency();
    let others = plan.ranked.iter().map(|group| group.currency).filter(|currency| *currency != budget);
    let others = others.map(|currency| currency.to_string()).collect::<Vec<_>>().join(", ");
    (!others.is_empty())
        .then(|| Message::new("warning-budget-unchecked").with("budget", budget).with("currencies", others))
}

/// Training on longer sequences than the model was made for needs its positions to be scaled.
fn context_too_long(workload: &Workload, inputs: &Inputs<'_>) -> Option<Message> {
    let Work::Train(train) = &workload.work else { return None };
    let (limit, tokens) = (inputs.model?.context_max?, train.data.sequence?.0);
    let pretrains = matches!(train.method, Method::Pretrain);
    (tokens > limit && !pretrains).then(|| Message::new("warning-context").with("tokens", tokens).with("limit", limit))
}

fn unknown_prices(plan: &Plan) -> Option<Message> {
    let is_priced = plan.ranked.iter().any(|group| !group.choices.is_empty());
    (!is_priced && !plan.unpriced.is_empty()).then(|| Message::new("warning-no-price"))
}

fn wide_band(choice: &Choice) -> Option<Message> {
    let factor = choice.solution.speed.time().factor();
    (factor > FACTOR_TOLD).then(|| Message::new("warning-wide").with("factor", format!("{factor:.1}")))
}
