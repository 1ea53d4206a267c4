//! Reads price rows (`prices.csv`, or a user's own price list): one row is one price of one type, region and charge type.

use hob_units::{Currency, Money, Period};
use rust_decimal::Decimal;
use serde::Serialize;

use super::instances::provenance;
use super::words;
use crate::error::{CatalogError, RowError};
use crate::price::{ChargeType, Price, PriceAmount};
use crate::provenance::Provenance;
use crate::table::{Row, Table};

/// Dearest machine for one period that is believed: a hundred million of any currency.
pub(crate) fn price_max() -> Decimal {
    Decimal::from(100_000_000_u64)
}

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
    /// Lines of `prices`, for errors that show only when the instances are known.
    pub(crate) lines: Vec<u64>,
}

/// Reads price rows in the embedded or the documented user form (the second names in the column lists).
pub(crate) fn read(file: &str, text: &str) -> Result<PriceRows, CatalogError> {
    let table = Table::open(file, text)?;
    table.require(&["cloud", "instance_type|instance", "charge_type|charge", "currency", "unit|per"])?;
    table.require(&["price|price_low|low"])?;
    let mut out = PriceRows::default();
    let mut seen = std::collections::BTreeSet::new();
    table.each_row(|row| {
        let cloud = row.required("cloud", "a cloud, such as `tencent`")?.to_lowercase();
        let instance = row.required("instance_type|instance", "an instance type")?.to_owned();
        let charge = row.parsed("charge_type|charge", words::CHARGE_EXPECTED, words::charge)?;
        let Some(amount) = amount(row)? else {
            out.notes.push(PriceNote { cloud, instance, charge, provenance: provenance(row)? });
            return Ok(());
        };
        let charge = charge.ok_or_else(|| row.error("charge_type|charge", "", words::CHARGE_EXPECTED))?;
        let region = row.text("region").unwrap_or_default().to_owned();
        if !seen.insert((cloud.clone(), instance.clone(), region.to_lowercase(), charge)) {
            return Err(row.error("instance_type|instance", &instance, "a price that no earlier row states"));
        }
        out.lines.push(row.line());
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
    let expected = "`hour`, `day`, `month` or `year`";
    row.parsed("unit|per", expected, words::period)?.ok_or_else(|| row.error("unit|per", "", expected))
}

/// One figure or a range, in the row's currency; `None` when the row states neither.
fn amount(row: &Row<'_>) -> Result<Option<PriceAmount>, RowError> {
    let exact = row.decimal("price", price_max())?;
    let low = row.decimal("price_low|low", price_max())?;
    let high = row.decimal("price_high|high", price_max())?;
    if exact.is_none() && low.is_none() && high.is_none() {
        return Ok(None);
    }
    let code = row.required("currency", "a currency code of three capital letters, such as `CNY`")?;
    let currency: Currency = code
        .parse()
        .map_err(|_| row.error("currency", code, "a currency code of three capital letters, such as `CNY`"))?;
    match (exact, low, high) {
        (Some(price), None, None) => Ok(Some(PriceAmount::Exact(Money::new(price, currency)))),
        (None, Some(low), Some(high)) if low <= high => Ok(Some(between(low, high, currency))),
        (None, Some(low), Some(high)) => {
            Err(row.error("price_low|low", &low.to_string(), format!("at most the high end, {high}")))
        }
        _ => Err(row.error("price", row.text("price").unwrap_or(""), "one price, or both ends of a range, not a mix")),
    }
}

/// A range, or one figure when both ends are equal.
pub(crate) fn between(low: Decimal, high: Decimal, currency: Currency) -> PriceAmount {
    let (low, high) = (Money::new(low, currency), Money::new(high, currency));
    if low.amount == high.amount { PriceAmount::Exact(low) } else { PriceAmount::Range { low, high } }
}
