//! GPUs, instance types, prices and software compatibility: embedded facts and importers.
//!
//! Facts are text under `data/catalog/`, one row each with its source and date, compiled in. A user's own files lay over
//! them. This crate never asks a network, never guesses a price and never turns an unknown into zero.

mod gpu;
mod instance;
mod price;
mod provenance;

pub use gpu::{ComputeType, Fraction, Gpu, GpuArchitecture, Vendor};
pub use instance::{Availability, GpuLink, InstanceType};
pub use price::{ChargeType, Price, PriceAmount};
pub use provenance::{Confidence, Provenance};
