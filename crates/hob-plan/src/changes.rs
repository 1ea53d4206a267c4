//! What to do when nothing fits: the workload with one change at a time, planned again.

use hob_text::Message;
use hob_units::{Bytes, Quantity, Seconds, Tokens};
use hob_workload::{Method, Optimizer, Precision, Work, Workload};

use crate::document::{Change, Plan, Rejected};
use crate::plan::{Inputs, core};
use crate::reason::Reason;

/// One change of the workload file.
struct Candidate {
    id: &'static str,
    field: &'static str,
    value: String,
    workload: Workload,
}

/// Rank of an adapter when the user has none: the common choice of fine-tuning guides.
const RANK: u32 = 16;

/// Every single change that is worth trying: those that suffice first (cheapest first), then those that come nearest.
pub(crate) fn nearest(workload: &Workload, inputs: &Inputs<'_>) -> Vec<Change> {
    let mut changes: Vec<Change> = candidates(workload)
        .into_iter()
        .filter_map(|candidate| {
            let plan = core(&candidate.workload, inputs).ok()?;
            Some(Change {
                what: Message::new(candidate.id).with("value", &candidate.value),
                field: candidate.field.to_owned(),
                value: candidate.value,
                choice: plan.first_choice().cloned(),
                still_needed: still_needed(&plan),
            })
        })
        .collect();
    let cost = |change: &Change| {
        change.choice.as_ref().map(|choice| choice.bills.first().map_or(f64::MAX, |bill| bill.cost.as_f64_for_score()))
    };
    let lack = |change: &Change| {
        change.still_needed.map_or(f64::INFINITY, |(needed, usable)| needed.base() / usable.base().max(1.0))
    };
    changes.sort_by(|a, b| match (cost(a), cost(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => lack(a).total_cmp(&lack(b)),
    });
    changes
}

/// The offer that lacks least memory, when memory is what lacks.
fn still_needed(plan: &Plan) -> Option<(Bytes, Bytes)> {
    let memory = Reason::Memory { needed: Bytes(0), usable: Bytes(0) }.progress();
    let is_other = |loser: &Rejected| loser.reason.progress() > memory;
    if plan.is_feasible() || plan.rejected.iter().any(is_other) {
        return None;
    }
    let lacks = plan.rejected.iter().filter_map(|loser| match loser.reason {
        Reason::Memory { needed, usable } => Some((needed, usable)),
        _ => None,
    });
    lacks.min_by(|a, b| {
        let ratio = |(needed, usable): &(Bytes, Bytes)| needed.base() / usable.base().max(1.0);
        ratio(a).total_cmp(&ratio(b))
    })
}

fn candidates(workload: &Workload) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut add = |id, field, value: String, change: &dyn Fn(&mut Workload)| {
        let mut workload = workload.clone();
        change(&mut workload);
        found.push(Candidate { id, field, value, workload });
    };
    match &workload.work {
        Work::Train(train) => {
            if matches!(train.method, Method::Full | Method::Pretrain) {
                add("change-method", "method", "lora".to_owned(), &|workload| {
                    set_method(workload, Method::Lora { rank: RANK });
                });
            }
            if !matches!(train.method, Method::Qlora { .. }) {
                add("change-method", "method", "qlora".to_owned(), &|workload| {
                    set_method(workload, Method::Qlora { rank: RANK });
                });
            }
            if train.optimizer == Optimizer::AdamW {
                add("change-optimizer", "optimizer", "adamw-8bit".to_owned(), &|workload| {
                    if let Work::Train(train) = &mut workload.work {
                        train.optimizer = Optimizer::AdamW8bit;
                    }
                });
            }
            if let Some(sequence) = train.data.sequence.filter(|sequence| sequence.0 > 1) {
                let half = Tokens(sequence.0 / 2);
                add("change-sequence", "data.sequence", half.to_string(), &|workload| {
                    if let Work::Train(train) = &mut workload.work {
                        train.data.sequence = Some(half);
                    }
                });
            }
        }
        Work::Serve(serve) | Work::Batch { serve, .. } => {
            for (precision, word) in [(Precision::Fp8, "fp8"), (Precision::Int4, "int4")] {
                if serve.precision != Some(precision) {
                    add("change-precision", "precision", word.to_owned(), &|workload| {
                        if let Work::Serve(serve) | Work::Batch { serve, .. } = &mut workload.work {
                            serve.precision = Some(precision);
                        }
                    });
                }
            }
            if let Some(longest) = serve.traffic.llm.context_max {
                let half = Tokens(longest.0 / 2);
                add("change-context", "traffic.context_max", half.to_string(), &|workload| {
                    if let Work::Serve(serve) | Work::Batch { serve, .. } = &mut workload.work {
                        serve.traffic.llm.context_max = Some(half);
                    }
                });
            }
        }
        Work::Transcode(_) | Work::Render(_) => {}
    }
    if !workload.objective.slo.is_empty() {
        add("change-slo", "objective", "x 2".to_owned(), &|workload| {
            workload.objective.slo.iter_mut().for_each(|slo| slo.at_most = Seconds(slo.at_most.0 * 2.0));
        });
    }
    if let Some(deadline) = workload.objective.deadline {
        let double = Seconds(deadline.0 * 2.0);
        add("change-deadline", "objective.deadline", double.to_string(), &|workload| {
            workload.objective.deadline = Some(double);
        });
    }
    if workload.budget.is_some() {
        add("change-budget", "budget", "-".to_owned(), &|workload| workload.budget = None);
    }
    let limits = &workload.constraints;
    if limits.max_gpus.is_some() || limits.max_machines.is_some() {
        add("change-limit", "constraints.max_gpus", "-".to_owned(), &|workload| {
            workload.constraints.max_gpus = None;
            workload.constraints.max_machines = None;
        });
    }
    if !limits.multi_node {
        add("change-multi-node", "constraints.multi_node", "true".to_owned(), &|workload| {
            workload.constraints.multi_node = true;
        });
    }
    if !limits.gpus.is_empty() || !limits.not_gpus.is_empty() || !limits.instances.is_empty() {
        add("change-gpus", "constraints.gpus", "-".to_owned(), &|workload| {
            workload.constraints.gpus.clear();
            workload.constraints.not_gpus.clear();
            workload.constraints.instances.clear();
        });
    }
    if !workload.place.clouds.is_empty() || !workload.place.regions.is_empty() || !workload.place.billing.is_empty() {
        add("change-clouds", "where", "-".to_owned(), &|workload| {
            workload.place.clouds.clear();
            workload.place.regions.clear();
            workload.place.billing.clear();
        });
    }
    found
}

fn set_method(workload: &mut Workload, method: Method) {
    if let Work::Train(train) = &mut workload.work {
        train.method = method;
    }
}
