//! `hob catalog show NAME`.

use std::collections::BTreeSet;

use hob_catalog::view::{self, Entry, FeatureRow, GpuDetail, InstanceDetail, OfferRow};
use hob_catalog::{Answer, Catalog, Compat, Provenance};
use hob_text::Message;
use serde::Serialize;

use super::prices::{by_region, by_type, how_to_get};
use super::{document, field, word};
use crate::commands::catalogs::unknown;
use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::table::{Column, render};

/// Prices that are printed; `--json` has all.
const OFFERS_SHOWN: usize = 24;

/// Shows one entry.
pub fn run(name: &str, catalog: &Catalog, printer: &Printer) -> Result<Code, Failure> {
    let entry = view::show(catalog, Compat::embedded(), name).map_err(|error| unknown(&error))?;
    if printer.json_wanted() {
        #[derive(Serialize)]
        struct Body<'e> {
            entry: &'e Entry,
        }
        document("entry", &Body { entry: &entry }, printer);
        return Ok(Code::Done);
    }
    match &entry {
        Entry::Gpu(detail) => gpu_heading(detail, printer),
        Entry::Instance(detail) => instance_heading(detail, printer),
    }
    printer.line("");
    specs(&view::specs(catalog, &entry), printer);
    match &entry {
        Entry::Gpu(detail) => gpu(detail, printer),
        Entry::Instance(detail) => instance(detail, catalog, printer),
    }
    Ok(Code::Done)
}

fn gpu_heading(detail: &GpuDetail, printer: &Printer) {
    let gpu = &detail.gpu;
    let message = match &gpu.fraction {
        Some(fraction) => Message::new("catalog-show-fraction")
            .with("compute", fraction.compute)
            .with("memory", fraction.memory)
            .with("parent", &fraction.parent),
        None => Message::new("catalog-show-gpu")
            .with("vendor", format!("{:?}", gpu.vendor).to_uppercase())
            .with("arch", format!("{:?}", gpu.architecture)),
    };
    printer.wrapped(&printer.text(&message.with("name", &gpu.name).with("id", &gpu.id)), 0);
}

fn instance_heading(detail: &InstanceDetail, printer: &Printer) {
    let instance = &detail.instance;
    let message = match instance.gpu_share {
        Some(share) => Message::new("catalog-show-instance-fraction").with("share", share),
        None => Message::new("catalog-show-instance"),
    };
    let name = format!("{}/{}", instance.cloud, instance.name);
    printer
        .line(&printer.text(&message.with("name", name).with("count", instance.gpu_count).with("gpu", &instance.gpu)));
}

/// Two columns: what, and its value or "no data".
fn specs(fields: &[(String, Option<String>)], printer: &Printer) {
    let columns =
        [Column::Words(printer.get("catalog-column-field")), Column::Words(printer.get("catalog-column-value"))];
    let row = |(id, value): &(String, Option<String>)| {
        let value = value.as_deref().map_or_else(|| printer.get("no-data"), |value| word(value, printer));
        vec![field(id, printer), value]
    };
    printer.line(&render(&columns, fields.iter().map(row)));
}

fn gpu(detail: &GpuDetail, printer: &Printer) {
    other_facts(&detail.other_facts, printer);
    if !detail.fractions.is_empty() {
        let names = detail.fractions.join(", ");
        printer.wrapped(&printer.text(&Message::new("catalog-show-fractions").with("names", names)), 0);
    }
    software(&detail.features, printer);
    if let (Some(first), Some(last)) = (&detail.cuda_first, &detail.cuda_last) {
        let message = Message::new("catalog-show-cuda").with("first", &first.subject_version);
        printer.line(&printer.text(&message.with("last", &last.subject_version)));
    }
    if let (Some(last), Some(driver)) = (&detail.cuda_last, &detail.driver_for_cuda_last) {
        let message = Message::new("catalog-show-driver").with("cuda", &last.subject_version);
        printer.line(&printer.text(&message.with("driver", &driver.object_version)));
    }
    if let Some(driver) = &detail.driver_last {
        printer.line(&printer.text(&Message::new("catalog-show-driver-last").with("driver", &driver.object_version)));
    }
    prices(&detail.offers, by_type, printer);
    sources(&detail.gpu.provenance, &detail.offers, printer);
    printer.line(&printer.text(&Message::new("catalog-next-list").with("name", &detail.gpu.id)));
}

fn instance(detail: &InstanceDetail, catalog: &Catalog, printer: &Printer) {
    other_facts(&detail.other_facts, printer);
    software(&detail.features, printer);
    prices(&detail.offers, by_region, printer);
    for hint in &detail.price_hints {
        let message = Message::new("catalog-show-hint").with("price", hint.amount).with("date", &hint.date);
        printer.line(&printer.text(&message.with("per", word(hint.per.word(), printer))));
    }
    for note in detail.price_notes.iter().filter_map(|note| note.provenance.note.as_deref()) {
        printer.wrapped(&printer.text(&Message::new("catalog-show-note").with("note", note)), 0);
    }
    sources(&detail.instance.provenance, &detail.offers, printer);
    let gpu = catalog.gpu(&detail.instance.gpu);
    if let Some(gpu) = gpu {
        printer.line(&printer.text(&Message::new("catalog-next-show").with("name", &gpu.id)));
    }
}

/// Columns of the source that have no field of their own, under their own names.
fn other_facts(facts: &[(String, String)], printer: &Printer) {
    if facts.is_empty() {
        return;
    }
    printer.line("");
    printer.line(&printer.get("catalog-show-other"));
    for (column, value) in facts {
        printer.wrapped(&format!("{column}: {value}"), 2);
    }
}

fn software(features: &[FeatureRow], printer: &Printer) {
    if features.is_empty() {
        return;
    }
    let words = |id: &str| Column::Words(printer.get(id));
    let columns = [
        Column::Names(printer.get("catalog-column-software")),
        words("catalog-column-works"),
        words("catalog-column-needs"),
        words("catalog-column-source"),
        words("catalog-column-as-of"),
    ];
    let row = |feature: &FeatureRow| {
        let answer = match feature.answer {
            Answer::Yes => "yes",
            Answer::No => "no",
            Answer::Unknown => "unknown",
        };
        let source = feature.provenance.as_ref();
        let dash = || "-".to_owned();
        vec![
            feature.feature.to_owned(),
            word(answer, printer),
            feature.needs.clone().unwrap_or_else(dash),
            source.map_or_else(dash, |source| source.source.clone()),
            source.map_or_else(dash, |source| source.date.clone()),
        ]
    };
    printer.line("");
    printer.line(&printer.get("catalog-show-software"));
    printer.line(&render(&columns, features.iter().map(row)));
}

/// What is priced comes first.
fn prices(offers: &[OfferRow], table: fn(&[&OfferRow], &Printer) -> String, printer: &Printer) {
    printer.line("");
    if offers.is_empty() {
        printer.line(&printer.get("catalog-show-prices-none"));
        return;
    }
    printer.line(&printer.get("catalog-show-prices"));
    let shown = shown(offers);
    printer.line(&table(&shown, printer));
    if offers.len() > shown.len() {
        let more = offers.len() - shown.len();
        printer.line(&printer.text(&Message::new("catalog-show-more").with("count", more)));
    }
    how_to_get(offers, printer);
}

fn shown(offers: &[OfferRow]) -> Vec<&OfferRow> {
    let (priced, unpriced): (Vec<&OfferRow>, Vec<&OfferRow>) =
        offers.iter().partition(|offer| !offer.prices.is_empty());
    priced.into_iter().chain(unpriced).take(OFFERS_SHOWN).collect()
}

/// The row's own source, then each source of a shown price once.
fn sources(own: &Provenance, offers: &[OfferRow], printer: &Printer) {
    printer.line("");
    let confidence = word(&format!("{:?}", own.confidence).to_lowercase(), printer);
    let message = Message::new("catalog-show-source").with("source", &own.source).with("date", &own.date);
    printer.wrapped(&printer.text(&message.with("confidence", confidence)), 0);
    if let Some(note) = &own.note {
        printer.wrapped(&printer.text(&Message::new("catalog-show-source-note").with("note", note)), 0);
    }
    let prices = shown(offers).into_iter().flat_map(|offer| &offer.prices);
    let cited: BTreeSet<(&str, &str)> = prices.map(|price| (price.source.as_str(), price.date.as_str())).collect();
    for (source, date) in cited {
        let message = Message::new("catalog-show-price-source").with("source", source).with("date", date);
        printer.wrapped(&printer.text(&message), 0);
    }
}
