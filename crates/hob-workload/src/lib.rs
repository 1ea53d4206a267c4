//! The workload file: `hob.toml` to a checked description of the work.
//!
//! Text in, a [`Workload`] or a list of located problems out. This crate opens no file, knows no GPU and no price; every
//! command of Hob takes the same description.

mod check;
mod closest;
mod draft;
mod guess;
mod kind;
mod parse;
mod places;
mod problem;
mod raw;
mod read;
mod reference;
mod render;
mod schema;
mod source;
mod words;
mod work;

pub use check::not_used;
pub use draft::{Draft, Form, Question};
pub use kind::Kind;
pub use parse::{FILE_BYTES_MAX, parse, parse_bytes};
pub use problem::{Code, MAX_PROBLEMS, Problem, Problems};
pub use reference::key_tables;
pub use render::Colour;
pub use schema::{schema, schema_text};
pub use work::{
    Assumed, Balance, Billing, Budget, Constraints, Data, DiffusionInput, Goal, LlmTraffic, Machine, MachineCost,
    Media, Method, Minimise, ModelRef, Objective, Optimizer, Percentile, Place, Precision, RateWindow, Recommender,
    Render, Serve, Slo, Stage, Task, Traffic, Train, TrainLength, Transcode, Work, Workload,
};
