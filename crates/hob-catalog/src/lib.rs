//! GPUs, instance types, prices and software compatibility: embedded facts and importers.
//!
//! Facts are text under `data/catalog/`, one row each with its source and date, compiled in. A user's own files lay over
//! them. This crate never asks a network, never guesses a price and never turns an unknown into zero.

mod catalog;
mod compat;
mod embedded;
mod error;
mod expected;
pub mod files;
mod fraction;
mod gpu;
mod instance;
mod names;
mod offer;
mod overlay;
mod price;
mod provenance;
mod read;
mod regions;
mod table;
pub mod view;
mod write;

pub use catalog::Catalog;
pub use compat::{Answer, Compat, CompatFact, Feature, Support};
pub use error::{CatalogError, NameKind, ROW_ERRORS_KEPT_MAX, RowError, UnknownName};
pub use expected::Expected;
pub use fraction::{FractionError, FractionKind, qgpu_share};
pub use gpu::{ComputeType, Fraction, Gpu, GpuArchitecture, Vendor};
pub use instance::{Availability, GpuLink, InstanceType};
pub use offer::{FractionFilter, HowToGetPrice, Offer, OfferFilter};
pub use overlay::{FileForm, Overlay};
pub use price::{ChargeType, Price, PriceAmount};
pub use provenance::{Confidence, Provenance};
pub use read::instances::KnownFamily;
pub use read::machines::OwnMachineError;
pub use read::prices::PriceNote;
pub use read::words::{charge, charge_word};
pub use read::{ImportReport, OwnCost, OwnMachine};
pub use regions::Region;
pub use table::{FILE_BYTES_MAX, FILE_ROWS_MAX};
pub use write::{WriteError, price_list};
