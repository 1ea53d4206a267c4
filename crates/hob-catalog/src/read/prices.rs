//! Reads price rows (`prices.csv`, or a user's own price list): one row is one price of one type, region and charge type.

use hob_units::{Currency, Money, Period};
use rust_decimal::Decimal;
use serde::Serialize;

use super::instances::provenance;
use super::words;
use crate::error::{CatalogError, RowError};
use crate::expected::Expected;
use crate::price::{ChargeType, Price, PriceAmount};
use crate::provenance::Provenance;
use crate::table::{Row, Table};

/// Dearest machine for one period that is believed: a hundred million of any currency.
pub(crate) const PRICE_MAX: u64 = 100_000_000;

/// A row without a price: a rule for all types (`*`), or a type whose price was not found, with where to ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PriceNote {
    /// Cloud.
    pub cloud: String,
    /// Instance type, or `*`.
    pub instance: String,
    /// Charge type that it is about.
    pub charge: Option<ChargeType>,
    /// The note, its source and date.
    pub provenance: Provenance,
}

/// What one file of price rows holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct PriceRows {
    pub(crate) prices: Vec<Price>,
    pub(crate) notes: Vec<PriceNote>,
}

/// Reads price rows in the embedded or the documented user form (the second names in the column lists). `machine` sees
/// each row with its cloud, instance type and region, and may refuse it.
pub(crate) fn read(
    file: &str,
    text: &str,
    mut machine: impl FnMut(&Row<'_>, &str, &str, &str) -> Result<(), RowError>,
) -> Result<PriceRows, CatalogError> {
    let table = Table::open(file, text)?;
    table.require(&["cloud", "instance_type|instance", "charge_type|charge", "currency", "unit|per"])?;
    table.require(&["price|price_low|low"])?;
    let mut out = PriceRows::default();
    let mut seen = std::collections::BTreeSet::new();
    table.each_row(|row| {
        let cloud = row.required("cloud", "tencent")?.to_lowercase();
        let instance = row.required("instance_type|instance", "GN7.2XLARGE32")?.to_owned();
        let charge = row.parsed("charge_type|charge", words::CHARGES, words::charge)?;
        let region = row.text("region").unwrap_or_default().to_owned();
        machine(row, &cloud, &instance, &region)?;
        let Some(amount) = amount(row)? else {
            out.notes.push(PriceNote { cloud, instance, charge, provenance: provenance(row)? });
            return Ok(());
        };
        let charge = charge.ok_or_else(|| row.error("charge_type|charge", "", words::CHARGES))?;
        if !seen.insert((cloud.clone(), instance.clone(), region.to_lowercase(), charge, amount.currency())) {
            return Err(row.error("instance_type|instance", &instance, Expected::Unique));
        }
        out.prices.push(Price {
            cloud,
            instance,
            region,
            charge,
            amount,
            per: per(row)?,
            provenance: provenance(row)?,
        });
        Ok(())
    })?;
    Ok(out)
}

fn per(row: &Row<'_>) -> Result<Period, RowError> {
    let period = row.parsed("unit|per", words::PERIODS, words::period)?;
    period.ok_or_else(|| row.error("unit|per", "", words::PERIODS))
}

/// One figure or a range, in the row's currency; `None` when the row states neither.
fn amount(row: &Row<'_>) -> Result<Option<PriceAmount>, RowError> {
    let exact = row.amount("price", PRICE_MAX)?;
    let low = row.amount("price_low|low", PRICE_MAX)?;
    let high = row.amount("price_high|high", PRICE_MAX)?;
    if exact.is_none() && low.is_none() && high.is_none() {
        return Ok(None);
    }
    let currency = currency(row)?.ok_or_else(|| row.error("currency", "", Expected::Like("CNY")))?;
    match (exact, low, high) {
        (Some(price), None, None) => Ok(Some(PriceAmount::Exact(Money::new(price, currency)))),
        (None, Some(low), Some(high)) if low <= high => Ok(Some(between(low, high, currency))),
        (None, Some(low), Some(high)) => {
            Err(row.error("price_low|low", &low.to_string(), Expected::AtMost(high.to_string().into())))
        }
        _ => Err(row.error("price", row.text("price").unwrap_or(""), Expected::OnePriceOrRange)),
    }
}

/// The row's currency. `RMB` and `cny` are no codes, and the error names the one that is meant.
pub(crate) fn currency(row: &Row<'_>) -> Result<Option<Currency>, RowError> {
    let Some(code) = row.text("currency") else { return Ok(None) };
    let meant = |code: &str| match code.to_uppercase().as_str() {
        "RMB" | "CNH" | "YUAN" => "CNY".to_owned(),
        other => other.to_owned(),
    };
    match code.parse() {
        Ok(currency) if code != "RMB" => Ok(Some(currency)),
        _ => {
            let meant = Some(meant(code)).filter(|code| code.parse::<Currency>().is_ok());
            Err(row.error("currency", code, Expected::Like("CNY")).meant(meant.into_iter().collect()))
        }
    }
}

/// A range, or one figure when both ends are equal.
pub(crate) fn between(low: Decimal, high: Decimal, currency: Currency) -> PriceAmount {
    let (low, high) = (Money::new(low, currency), Money::new(high, currency));
    if low.amount == high.amount { PriceAmount::Exact(low) } else { PriceAmount::Range { low, high } }
}
