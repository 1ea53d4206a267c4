//! The workload file: `hob.toml` to a checked description of the work.
//!
//! Text in, a [`Workload`] or a list of located problems out. This crate opens no file, knows no GPU and no price; every
//! command of Hob takes the same description.

mod work;

pub use work::{
    Assumed, Balance, Billing, Budget, Constraints, Data, DiffusionInput, Goal, LlmTraffic, Machine, MachineCost,
    Media, Method, Minimise, ModelRef, Objective, Optimizer, Percentile, Place, Precision, RateWindow, Render, Serve,
    Slo, Stage, Task, Traffic, Train, TrainLength, Transcode, Work, Workload,
};
