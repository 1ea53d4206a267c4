//! From the raw layer to the checked one: what must be there, what excludes what, and the stated defaults.

mod media;
mod model;
mod objective;
mod place;
mod recommender;
mod serve;
mod sizes;
mod train;
mod windows;

pub(crate) use model::likely_task;
pub use sizes::not_used;
pub(crate) use sizes::word as word_of_task;

use std::ops::Range;

use hob_text::Message;

use crate::kind::Kind;
use crate::problem::{Code, Problem};
use crate::raw;
use crate::read::{Located, Reader};
use crate::work::{Assumed, Budget, Constraints, Stage, Task, Work, Workload};

/// What the checks share.
pub(crate) struct Check<'r> {
    pub reader: &'r mut Reader,
    pub assumed: Vec<Assumed>,
    pub kind: Kind,
    pub stage: Stage,
    /// The task that sizes are assumed for: stated, or told from the model's name.
    pub task: Option<Task>,
    /// Where a problem with something that is not there is shown: the line that names the kind.
    pub anchor: Range<usize>,
    /// Whether the whole file could be read; else what seems missing may stand in the part that could not.
    pub whole: bool,
}

impl Check<'_> {
    /// Notes a default.
    pub(crate) fn assume(&mut self, field: &str, value: impl Into<String>, why: &'static str) {
        self.assumed.push(Assumed { field: field.to_owned(), value: value.into(), why });
    }

    /// The user's value, or a noted default.
    pub(crate) fn or<T>(&mut self, given: Option<T>, field: &str, default: T, shown: &str, why: &'static str) -> T {
        given.unwrap_or_else(|| {
            self.assume(field, shown, why);
            default
        })
    }

    /// Reports something that is not there, unless it may stand in a part that could not be read.
    pub(crate) fn absent(&mut self, problem: Problem) {
        if self.whole {
            self.reader.report(problem);
        }
    }

    /// A field that cannot be assumed.
    pub(crate) fn missing(&mut self, field: &str, expected: Message) {
        let problem = Problem::new(Code::Missing, self.anchor.clone(), field).with("kind", self.kind);
        self.absent(problem.expected(expected));
    }

    /// Two fields that exclude each other.
    pub(crate) fn exclusive<A, B>(&mut self, first: &Located<A>, second: &Located<B>) {
        let problem = Problem::new(Code::Exclusive, second.span.clone(), second.field.clone());
        self.reader.report(problem.with("other", &first.field));
    }

    /// Two fields that cannot both hold.
    pub(crate) fn contradiction<A>(&mut self, at: &Located<A>, other: &str, why: Message) {
        let problem = Problem::new(Code::Contradiction, at.span.clone(), at.field.clone());
        self.reader.report(problem.with("other", other).hint(why));
    }
}

/// Everything below the kind. `None` when something that cannot be assumed is not there.
pub(crate) fn check(root: &raw::Root, check: &mut Check<'_>, stem: &str) -> Option<Workload> {
    let default_name = if stem.is_empty() { "hob" } else { stem };
    let name = root.name.as_ref().map(|name| name.value.0.clone());
    let name = check.or(name, "name", default_name.to_owned(), default_name, "assumed-name-from-file");
    if root.stage.is_none() {
        check.assume("stage", "dev", "assumed-stage");
    }
    let work = match check.kind {
        Kind::Train => train::train(root, check).map(Work::Train),
        Kind::Serve => serve::serve(root, check).map(Work::Serve),
        Kind::Batch => serve::batch(root, check),
        Kind::Transcode => media::transcode(root, check).map(Work::Transcode),
        Kind::Render => media::render(root, check).map(Work::Render),
    };
    let objective = objective::objective(root, check);
    endless_budget(root, check);
    let place = place::place(root.place.as_ref(), check);
    let constraints = constraints(root.constraints.as_ref(), check);
    let utilisation = root.utilisation.as_ref().and_then(|share| {
        objective::at_most_all(share.value.value, share, check);
        (share.value.value.0 <= 1.0).then_some(share.value.value)
    });
    Some(Workload {
        name,
        work: work?,
        objective,
        budget: root.budget.as_ref().map(|budget| budget.value.value),
        place,
        stage: check.stage,
        constraints,
        cost_of_delay: root.cost_of_delay.as_ref().map(|cost| cost.value.value),
        utilisation,
        assumed: std::mem::take(&mut check.assumed),
    })
}

/// A budget in all bounds nothing where the work has no end.
fn endless_budget(root: &raw::Root, check: &mut Check<'_>) {
    let Some(budget) = &root.budget else { return };
    let Budget::Total(money) = budget.value.value else { return };
    let arrives = root.video.as_ref().is_some_and(|video| video.value.arrives.is_some());
    let endless = match check.kind {
        Kind::Serve => "kind",
        Kind::Transcode if arrives => "video.arrives",
        _ => return,
    };
    let problem = Problem::new(Code::Contradiction, budget.span.clone(), "budget").with("other", endless);
    let rate = Message::new("workload-hint-write").with("text", format!("\"{money}/month\""));
    check.reader.report(problem.hint(Message::new("workload-why-endless")).hint(rate));
}

fn constraints(raw: Option<&Located<raw::Constraints>>, check: &mut Check<'_>) -> Constraints {
    let empty = raw::Constraints::default();
    let raw = raw.map_or(&empty, |raw| &raw.value);
    let gpus = place::texts(raw.gpus.as_ref());
    if let Some(not) = &raw.not_gpus {
        for barred in &not.value.0 {
            if gpus.iter().any(|gpu| gpu.eq_ignore_ascii_case(&barred.value.0)) {
                check.contradiction(barred, "constraints.gpus", Message::new("workload-why-both-lists"));
            }
        }
    }
    if let (Some(replicas), Some(most)) = (&raw.min_replicas, &raw.max_gpus)
        && replicas.value.0 > most.value.0
    {
        let why = Message::new("workload-why-replicas").with("replicas", replicas.value.0).with("gpus", most.value.0);
        check.contradiction(replicas, &most.field, why);
    }
    let max_gpus = raw.max_gpus.as_ref().map(|most| most.value.as_u32());
    let mut min_replicas = raw.min_replicas.as_ref().map(|least| least.value.as_u32());
    let may_assume_two = max_gpus.is_none_or(|most| most >= 2);
    if check.kind == Kind::Serve && check.stage == Stage::Production && min_replicas.is_none() && may_assume_two {
        min_replicas = Some(2);
        check.assume("constraints.min_replicas", "2", "assumed-two-replicas");
    }
    let multi_node = raw.multi_node.as_ref().map(|flag| flag.value.0);
    Constraints {
        max_gpus,
        max_machines: raw.max_machines.as_ref().map(|most| most.value.as_u32()),
        gpus,
        not_gpus: place::texts(raw.not_gpus.as_ref()),
        instances: place::texts(raw.instances.as_ref()),
        multi_node: check.or(multi_node, "constraints.multi_node", true, "true", "assumed-multi-node"),
        min_replicas,
    }
}
