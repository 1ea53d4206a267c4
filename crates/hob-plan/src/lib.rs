//! Search over strategies and instances: ranked, priced, explained offers.
//!
//! Pure: a workload, a model graph, a catalog and a table of efficiencies in; one immutable [`Plan`] out. It never
//! converts a currency that the user gave no rate for, and an offer whose price nobody knows is ranked apart.

mod bill;
mod changes;
mod document;
mod explain;
mod farm;
mod feed;
mod fewest;
mod forward;
mod limits;
mod llm;
mod load;
mod misfits;
mod offers;
mod path;
mod plan;
mod price;
mod rank;
mod reason;
mod render;
mod search;
mod train;
mod transcode;
mod unit;
mod variants;
mod warnings;

pub use bill::{Bill, Exchange, UnitCost};
pub use document::{
    Change, Choice, Goal, Layout, PathStep, Plan, PriceGroup, Rejected, Solution, Speed, Variant, VideoUnit,
};
pub use explain::{Explanation, explain};
pub use misfits::task_of;
pub use plan::{Inputs, PlanError, plan};
pub use reason::{Missed, Reason, message};
pub use unit::{Output, Unit};
