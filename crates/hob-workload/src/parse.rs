//! Text to a workload, or to everything that is wrong with it.

use std::collections::BTreeSet;
use std::ops::Range;

use hob_text::Message;
use toml::de::{DeTable, DeValue};

use crate::check::{Check, check, likely_task};
use crate::closest::closest;
use crate::kind::{Kind, instead, kind_with_table, kinds_of};
use crate::problem::{Code, Problem, Problems};
use crate::raw::Root;
use crate::read::{At, Choices, KnownKeys, Read, Reader, half_width, join};
use crate::source::Lines;
use crate::words::KindWords;
use crate::work::{Stage, Workload};

/// Largest workload file. Real ones have some hundred lines; this leaves room for a long list of own machines.
pub const FILE_BYTES_MAX: usize = 1 << 20;

/// Reads a workload file that came as bytes.
///
/// # Errors
/// Everything that is wrong with the file, located.
pub fn parse_bytes(file_name: &str, bytes: &[u8]) -> Result<Workload, Problems> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(too_large(file_name, bytes.len()));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(file_name, text),
        Err(error) => {
            let good = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default()).into_owned();
            let end = good.len();
            let problem = Problem::new(Code::NotUtf8, end..end, "").with("byte", end + 1);
            let problem = problem.hint(Message::new("workload-hint-save-utf8"));
            Err(Problems::new(file_name, &good, vec![problem]))
        }
    }
}

/// Reads a workload file.
///
/// # Errors
/// Everything that is wrong with the file, located.
pub fn parse(file_name: &str, text: &str) -> Result<Workload, Problems> {
    if text.len() > FILE_BYTES_MAX {
        return Err(too_large(file_name, text.len()));
    }
    // Editors on Windows put a mark before the text, which counts in the offsets of the parser as well.
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader::default();
    let lines = Lines::new(text);
    for error in &errors {
        reader.report(syntax_problem(text, &lines, error));
    }
    let workload = if table.get_ref().is_empty() && errors.is_empty() {
        let problem = Problem::new(Code::Empty, 0..0, "").hint(Message::new("workload-hint-new"));
        reader.report(problem);
        None
    } else {
        read_table(file_name, table.into_inner(), errors.is_empty(), &mut reader)
    };
    drop_follow_ons(text, &lines, &mut reader);
    match workload {
        Some(workload) if reader.problems.is_empty() => Ok(workload),
        _ => {
            if reader.problems.is_empty() {
                // Nothing was wrong and yet nothing came out: not to happen, but an empty list would be worse.
                reader.report(Problem::new(Code::Empty, 0..0, "").hint(Message::new("workload-hint-new")));
            }
            Err(Problems::new(file_name, text, reader.problems))
        }
    }
}

fn too_large(file_name: &str, bytes: usize) -> Problems {
    let problem = Problem::new(Code::TooLarge, 0..0, "").with("bytes", bytes).with("max", FILE_BYTES_MAX);
    Problems::new(file_name, "", vec![problem])
}

fn syntax_problem(text: &str, lines: &Lines, error: &toml::de::Error) -> Problem {
    let end = text.trim_end().len();
    let problem = Problem::new(Code::Syntax, error.span().unwrap_or(end..end), "").with("why", error.message());
    let line = lines.line(text, lines.position(text, problem.span.start).0);
    // What follows a `#` may be in any characters.
    let code = text.get(line).and_then(|line| line.split('#').next()).unwrap_or_default().trim();
    let plain = half_width(code).filter(|plain| toml::from_str::<toml::Table>(plain).is_ok());
    problem.hint(plain.map(|plain| Message::new("workload-hint-half-width").with("text", plain)))
}

/// Takes out what is wrong only because the line around it is no TOML.
fn drop_follow_ons(text: &str, lines: &Lines, reader: &mut Reader) {
    let line = |problem: &Problem| lines.position(text, problem.span.start).0;
    let is_syntax = |problem: &Problem| problem.code == Code::Syntax;
    let broken: BTreeSet<usize> = reader.problems.iter().filter(|problem| is_syntax(problem)).map(line).collect();
    reader.problems.retain(|problem| is_syntax(problem) || !broken.contains(&line(problem)));
}

fn read_table(file_name: &str, mut table: DeTable<'_>, whole: bool, reader: &mut Reader) -> Option<Workload> {
    let (kind, anchor) = kind(&table, whole, reader);
    if let Some(kind) = kind {
        drop_other_kinds(&mut table, kind, reader);
    }
    let value = DeValue::Table(table);
    let root = Root::read(&At { value: &value, span: 0..0, field: String::new() }, reader)?;
    let stated = root.task.as_ref().map(|task| task.value.value);
    let mut shared = Check {
        reader,
        assumed: Vec::new(),
        kind: kind?,
        stage: root.stage.as_ref().map_or(Stage::Dev, |stage| stage.value.value),
        task: stated.or_else(|| likely_task(&root)),
        anchor,
        whole,
    };
    check(&root, &mut shared, stem(file_name))
}

/// The file's kind and the place where it is stated. Reports when there is none; a wrong word is reported by its reader.
fn kind(table: &DeTable<'_>, whole: bool, reader: &mut Reader) -> (Option<Kind>, Range<usize>) {
    if let Some(value) = table.get("kind") {
        let kind = match value.get_ref() {
            DeValue::String(word) => KindWords::of_word(word),
            _ => None,
        };
        return (kind, value.span());
    }
    let meant = table.keys().find_map(|key| kind_with_table(key.get_ref()));
    // `knd = "serve"` is reported as a key that is not known; that the kind is missing follows from it.
    let is_misspelt = table.keys().any(|key| {
        !Root::KEYS.contains(&key.get_ref().as_ref())
            && closest(key.get_ref(), Root::KEYS.iter().copied()) == Some("kind")
    });
    if whole && !is_misspelt {
        let expected = Message::new("workload-expected-word").with("words", KindWords::listed());
        let hint = meant.map(|kind| Message::new("workload-hint-write").with("text", format!("kind = \"{kind}\"")));
        reader.report(Problem::new(Code::Missing, 0..0, "kind").with("kind", "").expected(expected).hint(hint));
    }
    (None, 0..0)
}

/// Takes out what belongs to other kinds, each with a problem, so that it is not checked as well.
fn drop_other_kinds(table: &mut DeTable<'_>, kind: Kind, reader: &mut Reader) {
    drop_below("", table, kind, reader);
    for (key, value) in table.iter_mut() {
        if let DeValue::Table(inner) = value.get_mut() {
            drop_below(key.get_ref(), inner, kind, reader);
        }
    }
}

fn drop_below(above: &str, table: &mut DeTable<'_>, kind: Kind, reader: &mut Reader) {
    let mut foreign = Vec::new();
    for key in table.keys() {
        let path = join(above, key.get_ref());
        let Some(kinds) = kinds_of(&path).filter(|kinds| !kinds.contains(&kind)) else { continue };
        let listed = kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(", ");
        let hint = instead(&path, kind)
            .map(|instead| Message::new("workload-hint-kind-takes").with("kind", kind).with("instead", instead));
        let problem = Problem::new(Code::OtherKind, key.span(), path).with("kinds", listed).with("kind", kind);
        reader.report(problem.hint(hint));
        foreign.push(key.get_ref().to_string());
    }
    for key in foreign {
        table.remove(key.as_str());
    }
}

/// The file's name without folders and ending.
fn stem(file_name: &str) -> &str {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
