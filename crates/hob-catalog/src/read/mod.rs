//! Readers: one for each form of catalog file. They take text and a name for it, and touch nothing.

pub(crate) mod gpus;
pub(crate) mod instances;
pub(crate) mod machines;
pub(crate) mod offers;
pub(crate) mod prices;
pub(crate) mod skypilot;
pub(crate) mod words;

pub use machines::{OwnCost, OwnMachine};
pub use skypilot::ImportReport;
