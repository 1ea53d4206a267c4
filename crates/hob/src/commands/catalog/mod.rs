//! `hob catalog`: what is in the catalog, one entry of it, two side by side, and what a price list would add.

pub mod args;
mod compare;
mod import;
mod list;
mod prices;
mod show;

use std::path::PathBuf;

use hob_catalog::Catalog;
use hob_text::Message;
use serde::Serialize;

use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::Printer;

/// Name and version of every document that `hob catalog --json` prints; its field `view` tells them apart.
const SCHEMA: &str = "hob.catalog/1";

/// Does what was asked, on the built-in catalog with `paths` over it.
pub fn run(command: &args::CatalogCommand, paths: &[PathBuf], printer: &Printer) -> Result<Code, Failure> {
    let catalog = super::catalogs::layered(paths, printer)?;
    let catalog: &Catalog = &catalog;
    match command {
        args::CatalogCommand::List(filters) => list::run(filters, catalog, printer),
        args::CatalogCommand::Show { name } => show::run(name, catalog, printer),
        args::CatalogCommand::Compare { left, right } => compare::run(left, right, catalog, printer),
        args::CatalogCommand::Import(files) => import::run(files, catalog, printer),
    }
}

fn document<T: Serialize>(view: &'static str, body: &T, printer: &Printer) {
    #[derive(Serialize)]
    struct View<'b, T> {
        view: &'static str,
        #[serde(flatten)]
        body: &'b T,
    }
    printer.json(SCHEMA, &View { view, body });
}

/// Words of a field id such as `field-peak:bf16`; what follows the colon is a number format or a way of billing.
fn field(id: &str, printer: &Printer) -> String {
    match id.split_once(':') {
        Some((id, of)) => printer.text(&Message::new(id).with("of", word(of, printer))),
        None => printer.get(id),
    }
}

/// A word of the catalog in the user's language; names and figures stay as they are.
fn word(text: &str, printer: &Printer) -> String {
    if let Some(months) = text.strip_prefix("reserved-") {
        return printer.text(&Message::new("catalog-word-reserved").with("months", months));
    }
    let id = format!("catalog-word-{text}");
    if printer.catalogue().knows(&id) { printer.get(&id) } else { text.to_owned() }
}
