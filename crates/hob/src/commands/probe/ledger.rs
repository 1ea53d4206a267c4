//! The ledger: a table of measurements that the user owns, one kind a file, written only at its end.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use hob_text::Message;

use super::super::measured;
use crate::failure::Failure;
use crate::printer::Printer;

/// Cells of one row by column.
pub type Cells = BTreeMap<String, String>;

/// What a ledger measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Requests of a language model, batches and pictures.
    Serving,
    /// Steps.
    Training,
    /// Peak memory while training.
    Memory,
}

const SERVING: [&str; 23] = [
    "id",
    "gpu_class",
    "model",
    "gpu",
    "gpus",
    "tp",
    "pp",
    "dp",
    "engine",
    "precision",
    "scenario",
    "in_len",
    "out_len",
    "concurrency",
    "batch",
    "samples_per_s",
    "tokens_per_s",
    "ttft_ms_p50",
    "ttft_ms_p99",
    "tpot_ms_p50",
    "tpot_ms_p99",
    "latency_ms_p50",
    "note",
];
const RUN: [&str; 25] = [
    "id",
    "gpu_class",
    "model",
    "seq_len",
    "method",
    "gpu",
    "gpus",
    "dp",
    "tp",
    "pp",
    "vp",
    "cp",
    "ep",
    "sp",
    "sharding",
    "micro_batch",
    "grad_accum",
    "global_batch",
    "precision",
    "optimizer",
    "recompute",
    "attn",
    "framework",
    "mem_kind",
    "note",
];
const SPEED: [&str; 3] = ["tokens_per_s_per_gpu", "samples_per_s", "step_time_s"];
const PEAK: [&str; 1] = ["peak_gib"];

impl Kind {
    const ALL: [Self; 3] = [Self::Serving, Self::Training, Self::Memory];

    /// The kind whose columns hold all of these and measure something.
    pub fn of(columns: &[&str]) -> Option<Self> {
        let has = |column: &str| columns.contains(&column);
        let serves = ["concurrency", "in_len", "scenario", "batch"].iter().any(|column| has(column));
        match () {
            () if has("peak_gib") => Some(Self::Memory),
            () if has("tokens_per_s_per_gpu") || has("step_time_s") => Some(Self::Training),
            () if has("samples_per_s") && !serves => Some(Self::Training),
            () if columns.iter().any(|column| SERVING.get(15..22).is_some_and(|all| all.contains(column))) => {
                Some(Self::Serving)
            }
            () => None,
        }
    }

    /// Its columns, in the file's order.
    pub fn columns(self) -> Vec<&'static str> {
        match self {
            Self::Serving => SERVING.to_vec(),
            Self::Training => RUN.iter().chain(&SPEED).copied().collect(),
            Self::Memory => RUN.iter().chain(&PEAK).copied().collect(),
        }
    }

    /// Every column of any kind.
    pub fn every_column() -> Vec<&'static str> {
        let mut all: Vec<&str> = Self::ALL.into_iter().flat_map(Self::columns).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn file(self) -> &'static str {
        match self {
            Self::Serving => "hob-ledger-serving.csv",
            Self::Training => "hob-ledger-training.csv",
            Self::Memory => "hob-ledger-memory.csv",
        }
    }
}

/// A ledger that rows can be appended to.
#[derive(Debug)]
pub struct Ledger {
    /// Where it lies.
    pub path: PathBuf,
    header: Vec<String>,
    is_new: bool,
}

impl Ledger {
    /// An existing file, which must have the columns of this kind, or a new one.
    pub fn open(path: Option<&Path>, kind: Kind, printer: &Printer) -> Result<Self, Failure> {
        let path = path.unwrap_or(Path::new(kind.file())).to_path_buf();
        if !path.exists() {
            return Ok(Self { path, header: kind.columns().into_iter().map(str::to_owned).collect(), is_new: true });
        }
        let header = measured::read(&path, printer)?.columns;
        if let Some(missing) = kind.columns().into_iter().find(|column| !header.iter().any(|name| name == column)) {
            let what = Message::new("probe-error-ledger").with("path", path.display()).with("column", missing);
            return Err(
                Failure::input("E-LEDGER", what).hint(Message::new("probe-hint-ledger").with("file", kind.file()))
            );
        }
        Ok(Self { path, header, is_new: false })
    }

    /// Rows as text, under a header when `with_header`.
    pub fn text(&self, rows: &[Cells], with_header: bool) -> String {
        let mut lines = Vec::new();
        if with_header {
            lines.push(self.header.clone());
        }
        let cell = |row: &Cells, column: &String| row.get(column).cloned().unwrap_or_default();
        lines.extend(rows.iter().map(|row| self.header.iter().map(|column| cell(row, column)).collect()));
        lines.iter().map(|cells| cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\n").collect()
    }

    /// Appends rows.
    pub fn append(&self, rows: &[Cells]) -> Result<(), Failure> {
        let written = OpenOptions::new().create(true).append(true).open(&self.path);
        let written = written.and_then(|mut file| file.write_all(self.text(rows, self.is_new).as_bytes()));
        written.map_err(|error| Failure {
            code: crate::exit::Code::Outside,
            id: "E-LEDGER",
            what: Message::new("probe-error-write").with("path", self.path.display()).with("why", error),
            hint: None,
        })
    }
}

/// A cell as CSV (RFC 4180).
fn quoted(cell: &str) -> String {
    let plain = !cell.contains([',', '"', '\n', '\r']);
    if plain { cell.to_owned() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}
