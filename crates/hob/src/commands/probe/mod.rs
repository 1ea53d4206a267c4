//! `hob probe`: measures the user's own machine, keeps the rows in a ledger, and says what they change.

pub mod args;
mod command;
mod endpoint;
mod ledger;
mod show;
mod stream;

use std::path::{Path, PathBuf};

use hob_calibrate::{Library, MeasuredTable};
use hob_catalog::Catalog;
use hob_estimate::Efficiencies;
use hob_text::Message;

use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::Printer;
use args::{ProbeCommand, Setting};
use ledger::{Cells, Kind, Ledger};

/// Measures, appends and prints.
pub fn run(command: ProbeCommand, catalogs: &[PathBuf], printer: &Printer) -> Result<Code, Failure> {
    let catalog = super::catalogs::layered(catalogs, printer)?;
    match command {
        ProbeCommand::Endpoint { url, setting, seconds, requests, prompt, output, served_model } => {
            let asked = endpoint::Asked { url, seconds: bounded(seconds), requests, prompt, output, served_model };
            endpoint::run(&asked, &Book::new(setting, Kind::Serving, &catalog, printer)?)
        }
        ProbeCommand::Command { setting, readings, seconds, command } => {
            let asked = command::Asked { command, readings: readings.max(1), seconds: bounded(seconds) };
            command::run(&asked, &Book::new(setting, Kind::Training, &catalog, printer)?)
        }
        ProbeCommand::Point { setting, values } => point(setting, &values, &catalog, printer),
    }
}

/// Longest that a probe may take.
const SECONDS_MAX: f64 = 3600.0;

fn bounded(seconds: f64) -> f64 {
    if seconds > 1.0 { seconds.min(SECONDS_MAX) } else { 1.0 }
}

fn point(mut setting: Setting, values: &[String], catalog: &Catalog, printer: &Printer) -> Result<Code, Failure> {
    setting.set.extend(values.iter().cloned());
    let pairs = pairs(&setting.set)?;
    let columns: Vec<&str> = pairs.keys().map(String::as_str).collect();
    let kind = Kind::of(&columns).ok_or_else(|| {
        Failure::input("E-POINT", Message::new("probe-error-nothing")).hint(Message::new("probe-hint-nothing"))
    })?;
    let book = Book::new(setting, kind, catalog, printer)?;
    let row = book.row(&[]);
    book.check(&row)?;
    book.record(vec![row])
}

/// `COLUMN=VALUE`s.
fn pairs(texts: &[String]) -> Result<Cells, Failure> {
    let mut cells = Cells::new();
    for text in texts {
        let Some((column, value)) = text.split_once('=') else {
            let what = Message::new("probe-error-pair").with("text", text);
            return Err(Failure::input("E-POINT", what).hint(Message::new("probe-hint-nothing")));
        };
        let every = Kind::every_column();
        if !every.contains(&column) {
            let near = every.iter().min_by_key(|known| strsim::damerau_levenshtein(known, column)).copied();
            let what = Message::new("probe-error-column").with("column", column);
            let hint = Message::new("hint-did-you-mean").with("names", near.unwrap_or_default());
            return Err(Failure::input("E-POINT", what).hint(hint));
        }
        cells.insert(column.to_owned(), value.to_owned());
    }
    Ok(cells)
}

/// What runs where, and the ledger that it is written to.
struct Book<'a> {
    setting: Setting,
    kind: Kind,
    extra: Cells,
    ledger: Ledger,
    catalog: &'a Catalog,
    printer: &'a Printer,
    /// When it is measured, in UTC.
    now: String,
}

impl<'a> Book<'a> {
    fn new(setting: Setting, kind: Kind, catalog: &'a Catalog, printer: &'a Printer) -> Result<Self, Failure> {
        let extra = pairs(&setting.set)?;
        let ledger = Ledger::open(setting.ledger.as_deref(), kind, printer)?;
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        Ok(Self { setting, kind, extra, ledger, catalog, printer, now })
    }

    /// A row of this setting with these cells; what the user set wins.
    fn row(&self, cells: &[(&str, String)]) -> Cells {
        let Setting { model, gpu, gpus, engine, precision, .. } = &self.setting;
        let mut row = Cells::new();
        let mut put = |column: &str, value: &str| row.insert(column.to_owned(), value.to_owned());
        put("id", &self.now);
        put("gpu_class", gpu);
        put("gpu", gpu);
        put("gpus", &gpus.to_string());
        put("model", model);
        put("precision", precision);
        if self.kind == Kind::Serving {
            put("engine", engine.as_deref().unwrap_or_default());
            put("scenario", "aggregated serving");
        } else {
            put("framework", engine.as_deref().unwrap_or("pytorch"));
        }
        for (column, value) in cells {
            put(column, value);
        }
        row.extend(self.extra.clone());
        row
    }

    /// Whether a row of this setting can be asked for, before anything is measured.
    fn check(&self, row: &Cells) -> Result<(), Failure> {
        let malformed =
            |error| super::measured::malformed(&self.ledger.path.display().to_string(), error, self.printer);
        let table = MeasuredTable::read(&self.ledger.text(std::slice::from_ref(row), true)).map_err(malformed)?;
        let mut library = Library::new(self.catalog);
        for row in &table.rows {
            library.question(table.kind, row).map_err(|reason| {
                let why = self.printer.text(&hob_plan::message(&reason.sentence()));
                Failure::input("E-PROBE", Message::new("probe-error-setting").with("why", why))
                    .hint(Message::new("probe-hint-setting"))
            })?;
        }
        Ok(())
    }

    /// Appends the rows, reads the ledger again and shows predicted against measured.
    fn record(&self, rows: Vec<Cells>) -> Result<Code, Failure> {
        self.ledger.append(&rows)?;
        let base = Efficiencies::embedded()
            .map_err(|error| Failure::input("E-TABLE", Message::new("error-plain").with("why", error)))?;
        let file = self.ledger.path.clone();
        let probe = super::learnt::learn(&[file], self.catalog, &base, self.printer)?;
        let added: Vec<&str> = rows.iter().filter_map(|row| row.get("id")).map(String::as_str).collect();
        show::probe(&probe, &added, Path::new(&self.ledger.path), self.printer);
        Ok(Code::Done)
    }
}
