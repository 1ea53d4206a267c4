//! What an instance type costs, where, and under which charge type.

use std::fmt;

use hob_units::{Currency, Money, MoneyPer, Period};
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

impl PriceAmount {
    /// Currency of the amount.
    #[must_use]
    pub fn currency(&self) -> Currency {
        match self {
            Self::Exact(money) => money.currency,
            Self::Range { low, .. } => low.currency,
        }
    }

    /// Lower end; the figure itself when there is one.
    #[must_use]
    pub fn low(&self) -> Money {
        match self {
            Self::Exact(money) => *money,
            Self::Range { low, .. } => *low,
        }
    }

    /// Upper end; the figure itself when there is one.
    #[must_use]
    pub fn high(&self) -> Money {
        match self {
            Self::Exact(money) => *money,
            Self::Range { high, .. } => *high,
        }
    }
}

impl fmt::Display for PriceAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(money) => money.fmt(f),
            Self::Range { low, high } => f.pad(&format!("{low} .. {high}")),
        }
    }
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

impl Price {
    /// Lower and upper end for another period (months are average months). `None` on overflow.
    #[must_use]
    pub fn per(&self, period: Period) -> Option<(Money, Money)> {
        let at = |money| MoneyPer { money, per: self.per }.per(period).map(|price| price.money);
        Some((at(self.amount.low())?, at(self.amount.high())?))
    }
}
