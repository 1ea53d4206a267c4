//! Prices in a table: one row for each price, and one for an offer whose price nobody states.

use std::collections::BTreeSet;

use hob_catalog::view::{OfferRow, PriceCell};
use hob_text::Message;
use hob_units::{Money, Share};

use super::word;
use crate::printer::Printer;
use crate::table::{Column, render};

/// The hour, or both ends of it: `CNY 7.81..8.68`.
pub fn hour(price: &PriceCell, printer: &Printer) -> String {
    match (price.hour_low, price.hour_high) {
        (Some(low), Some(high)) => band(low, high),
        _ => printer.get("no-data"),
    }
}

fn band(low: Money, high: Money) -> String {
    let (low, high) = (low.to_string(), high.to_string());
    if low == high {
        return low;
    }
    let amount = high.split_once(' ').map_or(high.as_str(), |(_, amount)| amount);
    format!("{low}..{amount}")
}

/// `2 x a10`, `1 x t4-1of4 (25%)`.
pub fn gpus(id: &str, count: u32, share: Option<Share>) -> String {
    let share = share.map_or_else(String::new, |share| format!(" ({share})"));
    format!("{count} x {id}{share}")
}

/// The date without its remark: `2022` of `2022 (undated page)`.
pub fn day(date: &str) -> &str {
    date.split(" (").next().unwrap_or(date)
}

/// Offers of one GPU, each with its type and hour.
pub fn by_type(offers: &[&OfferRow], printer: &Printer) -> String {
    let columns = [
        Column::LongNames(printer.get("catalog-column-name")),
        Column::Names(printer.get("catalog-column-gpus")),
        Column::Words(printer.get("catalog-column-region")),
        Column::Names(printer.get("catalog-column-billing")),
        Column::Figures(printer.get("catalog-column-hour")),
        Column::Names(printer.get("catalog-column-as-of")),
    ];
    let row = |offer: &OfferRow, rest: [String; 3]| {
        let name = format!("{}/{}", offer.cloud, offer.instance);
        [name, gpus(&offer.gpu, offer.gpu_count, None), region(offer)].into_iter().chain(rest).collect()
    };
    let priced = |price: &PriceCell| [word(&price.charge, printer), hour(price, printer), day(&price.date).to_owned()];
    let unpriced = || ["-".to_owned(), printer.get("no-data"), "-".to_owned()];
    let rows = offers.iter().flat_map(|offer| each_price(offer, priced, unpriced).map(|rest| row(offer, rest)));
    render(&columns, rows)
}

/// Offers of one type, with the amounts as their sources list them.
pub fn by_region(offers: &[&OfferRow], printer: &Printer) -> String {
    let columns = [
        Column::Words(printer.get("catalog-column-region")),
        Column::Names(printer.get("catalog-column-billing")),
        Column::Figures(printer.get("catalog-column-listed")),
        Column::Figures(printer.get("catalog-column-hour")),
        Column::Names(printer.get("catalog-column-as-of")),
    ];
    let priced = |price: &PriceCell| {
        let listed = band(price.amount.low(), price.amount.high());
        let listed = format!("{listed}/{}", word(price.per.word(), printer));
        [word(&price.charge, printer), listed, hour(price, printer), day(&price.date).to_owned()]
    };
    let no_data = || printer.get("no-data");
    let unpriced = || ["-".to_owned(), no_data(), no_data(), "-".to_owned()];
    let rows = offers.iter().flat_map(|offer| {
        each_price(offer, priced, unpriced).map(|rest| [region(offer)].into_iter().chain(rest).collect())
    });
    render(&columns, rows)
}

/// One row for each price of an offer; one for an offer without a price.
fn each_price<T>(
    offer: &OfferRow,
    priced: impl Fn(&PriceCell) -> T,
    unpriced: impl Fn() -> T,
) -> impl Iterator<Item = T> {
    let rows: Vec<T> = offer.prices.iter().map(priced).collect();
    let none = rows.is_empty().then(unpriced);
    rows.into_iter().chain(none)
}

/// The region, or `-` where no source names one.
pub fn region(offer: &OfferRow) -> String {
    if offer.region.is_empty() { "-".to_owned() } else { offer.region.clone() }
}

/// How to get the prices that are not known, once for each way.
pub fn how_to_get(offers: &[OfferRow], printer: &Printer) {
    let ways: BTreeSet<&str> =
        offers.iter().filter_map(|offer| offer.how_to_get_price).map(|how| how.text_id()).collect();
    for way in ways {
        printer.wrapped(&printer.text(&Message::new("catalog-list-no-price").with("how", printer.get(way))), 0);
    }
}
