//! `hob catalog list`.

use std::collections::BTreeSet;

use hob_catalog::view::{GpuFilter, GpuRow, OfferRow, list_gpus, list_offers};
use hob_catalog::{Answer, Catalog, Compat, Feature, Gpu, OfferFilter};
use hob_text::Message;
use hob_units::{Currency, FlopsPerSec, Money, Period};
use serde::Serialize;

use super::args::{ListArgs, What};
use super::prices::{day, gpus, hour, how_to_get, region};
use super::{document, word};
use crate::commands::catalogs::unknown;
use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::table::{Column, render};

/// Lists what passes the filters.
pub fn run(args: &ListArgs, catalog: &Catalog, printer: &Printer) -> Result<Code, Failure> {
    let cards = card_filter(args, catalog)?;
    let offers = offer_filter(args, catalog)?;
    match args.what {
        What::Gpus => list_cards(args, GpuFilter { offers, ..cards }, catalog, printer),
        What::Instances => list_instances(args, &cards, offers.unwrap_or_default(), catalog, printer),
    }
    Ok(Code::Done)
}

/// What the user asks of the card itself. A name stands for its variants and their fractions.
fn card_filter(args: &ListArgs, catalog: &Catalog) -> Result<GpuFilter, Failure> {
    let mut ids = BTreeSet::new();
    for name in &args.gpu {
        let preferred = catalog.resolve_gpu(name).map_err(|error| unknown(&error))?;
        let meant: Vec<&Gpu> = catalog.gpu_candidates(name);
        for gpu in meant.into_iter().chain([preferred]) {
            ids.extend(catalog.fractions_of(&gpu.id).iter().map(|fraction| fraction.id.clone()));
            ids.insert(gpu.id.clone());
        }
    }
    Ok(GpuFilter {
        ids,
        architectures: args.arch.iter().copied().collect(),
        memory_min: args.memory_min,
        fractions: args.fractions.into(),
        supports: args.supports.clone(),
        offers: None,
    })
}

/// What the user asks of the offer; `None` when nothing.
fn offer_filter(args: &ListArgs, catalog: &Catalog) -> Result<Option<OfferFilter>, Failure> {
    let mut filter = OfferFilter::default();
    for name in &args.cloud {
        filter.clouds.insert(catalog.resolve_cloud(name).map_err(|error| unknown(&error))?.to_owned());
    }
    for name in &args.region {
        catalog.resolve_region(name).map_err(|error| unknown(&error))?;
        filter.regions.push(name.clone());
    }
    filter.availability = args.availability.iter().copied().collect();
    filter.charges.clone_from(&args.charge);
    filter.hour_max = args.price_max.and_then(|price| price.per(Period::Hour)).map(|price| price.money);
    let names_no_place = args.cloud.is_empty() && args.region.is_empty();
    let names_no_terms = args.availability.is_empty() && args.charge.is_empty() && args.price_max.is_none();
    Ok((!(names_no_place && names_no_terms)).then_some(filter))
}

fn list_cards(args: &ListArgs, filter: GpuFilter, catalog: &Catalog, printer: &Printer) {
    let rows = list_gpus(catalog, Compat::embedded(), &filter, args.sort.into());
    if printer.json_wanted() {
        #[derive(Serialize)]
        struct Body {
            gpus: Vec<GpuRow>,
        }
        document("gpus", &Body { gpus: rows }, printer);
        return;
    }
    let [first, ..] = rows.as_slice() else {
        printer.line(&printer.get("catalog-list-none"));
        return;
    };
    let hours = rows.iter().flat_map(|row| row.gpu_hour_min.iter().map(|hour| hour.currency));
    let currencies: BTreeSet<Currency> = hours.collect();
    let cells = rows.iter().map(|row| card_row(row, &currencies, catalog, printer));
    printer.line(&render(&card_columns(&currencies, printer), cells));
    printer.line("");
    printer.line(&printer.text(&Message::new("catalog-list-gpus").with("count", rows.len())));
    printer.line(&printer.text(&Message::new("catalog-next-show").with("name", &first.id)));
}

/// One column of prices for each currency: they are never compared.
fn card_columns(currencies: &BTreeSet<Currency>, printer: &Printer) -> Vec<Column> {
    let figures = |id: &str| Column::Figures(printer.get(id));
    let mut columns = vec![
        Column::Names(printer.get("catalog-column-name")),
        Column::Names(printer.get("catalog-column-arch")),
        figures("catalog-column-share"),
        figures("catalog-column-gib"),
        figures("catalog-column-gbs"),
        figures("catalog-column-16-bit"),
        figures("catalog-column-fp8"),
    ];
    let hour = |currency| printer.text(&Message::new("catalog-column-gpu-hour").with("currency", currency));
    columns.extend(currencies.iter().map(|currency| Column::Figures(hour(currency))));
    columns
}

fn card_row(row: &GpuRow, currencies: &BTreeSet<Currency>, catalog: &Catalog, printer: &Printer) -> Vec<String> {
    let no_data = || printer.get("no-data");
    let tera = |rate: FlopsPerSec| number(rate.0 / 1e12);
    // No rate means that the chip does not have the format, when a row says so.
    let no_rate = |feature| match catalog.gpu(&row.id).map(|gpu| Compat::embedded().support(gpu, feature).answer) {
        Some(Answer::No) => "-".to_owned(),
        _ => no_data(),
    };
    let hour = |currency: &Currency| {
        let hour = row.gpu_hour_min.iter().find(|hour| hour.currency == *currency).map(Money::to_string);
        hour.map_or_else(no_data, |hour| hour.trim_start_matches(currency.code()).trim().to_owned())
    };
    let mut cells = vec![
        row.id.clone(),
        row.architecture.word().to_owned(),
        row.share.map_or_else(|| "-".to_owned(), |share| share.to_string()),
        number(row.memory.as_gib()),
        row.memory_bandwidth.map_or_else(no_data, |rate| number(rate.0 / 1e9)),
        row.peak_16_bit.map_or_else(|| no_rate(Feature::Fp16), tera),
        row.peak_fp8.map_or_else(|| no_rate(Feature::Fp8), tera),
    ];
    cells.extend(currencies.iter().map(hour));
    cells
}

/// Whole from ten upwards, one decimal below.
fn number(value: f64) -> String {
    if value >= 10.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// What a list of offers does not show, and why.
#[derive(Serialize)]
struct LeftOut {
    /// Offers without a known price, or without one of the asked kind.
    unpriced: usize,
    /// Offers whose prices are all in other currencies than the highest price.
    other_currency: usize,
}

fn list_instances(args: &ListArgs, cards: &GpuFilter, filter: OfferFilter, catalog: &Catalog, printer: &Printer) {
    let passing = catalog.gpus().filter(|gpu| cards.passes(gpu, Compat::embedded()));
    let filter = OfferFilter { gpus: passing.map(|gpu| gpu.id.clone()).collect(), ..filter };
    // An empty set would be no restriction.
    let mut rows = if filter.gpus.is_empty() { Vec::new() } else { list_offers(catalog, &filter, args.sort.into()) };
    let left_out = left_out(&filter, catalog);
    if !filter.charges.is_empty() {
        rows.retain(|row| !row.prices.is_empty());
    }
    if printer.json_wanted() {
        #[derive(Serialize)]
        struct Body {
            offers: Vec<OfferRow>,
            left_out: LeftOut,
        }
        document("instances", &Body { offers: rows, left_out }, printer);
        return;
    }
    print_instances(&rows, printer);
    for (id, count) in
        [("catalog-left-out-unpriced", left_out.unpriced), ("catalog-left-out-currency", left_out.other_currency)]
    {
        if count > 0 {
            printer.line(&printer.text(&Message::new(id).with("count", count)));
        }
    }
    if let Some(first) = rows.first() {
        let name = format!("{}/{}", first.cloud, first.instance);
        printer.line(&printer.text(&Message::new("catalog-next-show").with("name", name)));
    }
}

fn left_out(filter: &OfferFilter, catalog: &Catalog) -> LeftOut {
    let mut out = LeftOut { unpriced: 0, other_currency: 0 };
    if filter.gpus.is_empty() || (filter.charges.is_empty() && filter.hour_max.is_none()) {
        return out;
    }
    let all = catalog.offers(&OfferFilter { hour_max: None, ..filter.clone() });
    for offer in &all {
        let is_other = |max: Money| offer.prices.iter().all(|price| price.amount.currency() != max.currency);
        if offer.prices.is_empty() {
            out.unpriced += 1;
        } else if filter.hour_max.is_some_and(is_other) {
            out.other_currency += 1;
        }
    }
    out
}

fn print_instances(rows: &[OfferRow], printer: &Printer) {
    if rows.is_empty() {
        printer.line(&printer.get("catalog-list-none"));
        return;
    }
    let table: Vec<Vec<String>> = rows.iter().flat_map(|row| offer_rows(row, printer)).collect();
    let count = table.len();
    printer.line(&render(&offer_columns(printer), table));
    printer.line("");
    let types: BTreeSet<(&str, &str)> = rows.iter().map(|row| (row.cloud.as_str(), row.instance.as_str())).collect();
    let dates: BTreeSet<&str> = rows.iter().flat_map(|row| &row.prices).map(|price| day(&price.date)).collect();
    let summary = match (dates.first(), dates.last()) {
        (Some(first), Some(last)) if first == last => Message::new("catalog-list-instances").with("dates", first),
        (Some(first), Some(last)) => Message::new("catalog-list-instances").with("dates", format!("{first}..{last}")),
        _ => Message::new("catalog-list-unpriced"),
    };
    printer.line(&printer.text(&summary.with("count", count).with("types", types.len())));
    how_to_get(rows, printer);
}

fn offer_columns(printer: &Printer) -> Vec<Column> {
    vec![
        Column::LongNames(printer.get("catalog-column-name")),
        Column::Names(printer.get("catalog-column-gpus")),
        Column::Words(printer.get("catalog-column-region")),
        Column::Names(printer.get("catalog-column-billing")),
        Column::Figures(printer.get("catalog-column-hour")),
    ]
}

/// One row for each price, so that a line stands for itself; one for an offer without a price.
fn offer_rows(offer: &OfferRow, printer: &Printer) -> Vec<Vec<String>> {
    let no_data = || printer.get("no-data");
    let row = |billing: String, price: String| {
        vec![
            format!("{}/{}", offer.cloud, offer.instance),
            gpus(&offer.gpu, offer.gpu_count, offer.gpu_share),
            region(offer),
            billing,
            price,
        ]
    };
    if offer.prices.is_empty() {
        return vec![row("-".to_owned(), no_data())];
    }
    offer.prices.iter().map(|price| row(word(&price.charge, printer), hour(price, printer))).collect()
}
