//! Search over strategies and instances: ranked, priced, explained offers.
//!
//! Pure: a workload, a model graph, a catalog and a table of efficiencies in; one immutable [`Plan`] out. It never
//! converts a currency that the user gave no rate for, and an offer whose price nobody knows is ranked apart.

mod bill;
mod document;
mod offers;
mod plan;
mod rank;
mod serve;
mod train;

pub use document::{Bill, Choice, Goal, Layout, Plan, PriceGroup, Reason, Rejected, Solution, Speed};
pub use plan::{PlanError, plan};
