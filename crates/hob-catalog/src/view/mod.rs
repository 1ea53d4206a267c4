//! What `hob catalog` shows, as plain values: rows to list, one entry with its sources, two entries side by side. The binary
//! only renders them, as tables or as JSON; field ids are words of the message catalogue.

mod compare;
mod list;
mod show;

pub use compare::{CompareError, ComparedField, Comparison, compare, specs};
pub use list::{GpuFilter, GpuRow, OfferRow, PriceCell, SortBy, list_gpus, list_offers};
pub use show::{Entry, FeatureRow, GpuDetail, InstanceDetail, show};
