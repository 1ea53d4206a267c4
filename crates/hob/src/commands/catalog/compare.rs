//! `hob catalog compare A B`.

use hob_catalog::Catalog;
use hob_catalog::view::{self, CompareError, ComparedField};
use hob_text::Message;

use super::{document, field, word};
use crate::commands::catalogs::unknown;
use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::table::{Column, render};

/// Shows both side by side.
pub fn run(left: &str, right: &str, catalog: &Catalog, printer: &Printer) -> Result<Code, Failure> {
    let both = view::compare(catalog, left, right).map_err(failure)?;
    if printer.json_wanted() {
        document("comparison", &both, printer);
        return Ok(Code::Done);
    }
    let columns = [
        Column::Words(printer.get("catalog-column-field")),
        Column::Figures(both.left.clone()),
        Column::Figures(both.right.clone()),
        Column::Figures(printer.get("catalog-column-ratio")),
    ];
    let value =
        |text: &Option<String>| text.as_deref().map_or_else(|| printer.get("no-data"), |text| word(text, printer));
    let row = |each: &ComparedField| {
        vec![field(&each.field, printer), value(&each.left), value(&each.right), verdict(each, printer)]
    };
    printer.line(&render(&columns, both.fields.iter().map(row)));
    printer.line("");
    let differ = both.fields.iter().filter(|each| each.left != each.right).count();
    let summary = Message::new("catalog-compare-summary").with("differ", differ).with("all", both.fields.len());
    printer.line(&printer.text(&summary));
    printer.line(&printer.text(&Message::new("catalog-next-show").with("name", &both.right)));
    Ok(Code::Done)
}

/// `1.64x`, `same`, `differs`, or `-` where one side is unknown.
fn verdict(each: &ComparedField, printer: &Printer) -> String {
    match (&each.left, &each.right, each.ratio) {
        (Some(left), Some(right), _) if left == right => printer.get("catalog-compare-same"),
        (_, _, Some(ratio)) => format!("{ratio:.2}x"),
        (Some(_), Some(_), None) => printer.get("catalog-compare-differs"),
        _ => "-".to_owned(),
    }
}

fn failure(error: CompareError) -> Failure {
    match error {
        CompareError::Unknown(error) => unknown(&error),
        CompareError::TwoKinds { gpu, instance } => {
            let what = Message::new("catalog-two-kinds").with("gpu", gpu).with("instance", instance);
            Failure::input("E-TWO-KINDS", what).hint(Message::new("catalog-hint-one-kind"))
        }
    }
}
