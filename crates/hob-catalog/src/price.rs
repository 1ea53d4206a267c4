//! What an instance type costs, where, and under which charge type.

use hob_units::{Money, Period};
use serde::Serialize;

use crate::provenance::Provenance;

/// How the machine is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ChargeType {
    /// By the second or hour, no commitment (Tencent `POSTPAID_BY_HOUR`).
    PayAsYouGo,
    /// By the month, paid before (Tencent `PREPAID`).
    Monthly,
    /// Spare capacity that can be taken back (Tencent `SPOTPAID`).
    Spot,
    /// A commitment for a term, paid whether used or not (reserved instance, savings plan).
    Reserved {
        /// Length of the term in months.
        term_months: u16,
    },
    /// The user's own machine, at the cost that the user states.
    Owned,
}

/// One amount, or the range that the source prints over zones. A price that nobody states has no [`Price`] at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PriceAmount {
    /// One figure.
    Exact(Money),
    /// Lowest and highest over the zones of the region; both in one currency.
    Range {
        /// Lowest.
        low: Money,
        /// Highest.
        high: Money,
    },
}

/// A list price of one whole instance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// Cloud of the instance type.
    pub cloud: String,
    /// Name of the instance type.
    pub instance: String,
    /// Region as the source names it (`ap-guangzhou`, `mainland China`, `us-east-1`).
    pub region: String,
    /// How it is billed.
    pub charge: ChargeType,
    /// How much, for one `per`.
    pub amount: PriceAmount,
    /// The period of the amount.
    pub per: Period,
    /// What the price leaves out ("disks and public network are extra"), source and date.
    pub provenance: Provenance,
}
