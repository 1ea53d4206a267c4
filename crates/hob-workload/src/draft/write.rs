//! Answers to the text of a file.

use hob_text::{Catalogue, Message};
use toml::{Table, Value};

use crate::raw;

use super::question::QUESTIONS;
use super::{Draft, Form};

/// Tables with a comment of their own in the file; so have a few keys at the top.
const COMMENTED: [&str; 12] = [
    "stage",
    "model",
    "budget",
    "traffic",
    "traffic.window",
    "batch",
    "data",
    "train",
    "video",
    "rendition",
    "render",
    "objective",
];

/// One line of the file: `key = value` below a table.
struct Line<'a> {
    /// Table as it is headed, `rendition[1]`; empty at the top.
    table: &'a str,
    key: &'a str,
    value: String,
}

impl Draft {
    /// The file. With a catalogue, comments say in its language what a newcomer needs.
    #[must_use]
    pub fn to_toml(&self, comments: Option<(&Catalogue, &str)>) -> String {
        let mut text = String::new();
        if let Some((catalogue, file)) = comments {
            for id in ["new-comment-head", "new-comment-assumed", "new-comment-schema"] {
                comment(catalogue, &Message::new(id).with("file", file), &mut text);
            }
            text.push('\n');
        }
        let mut lines: Vec<Line<'_>> = self.answers.iter().filter_map(|(path, text)| line(path, text)).collect();
        lines.sort_by_key(|line| (place_of_table(line.table), line.table, place_of_key(line)));
        let mut table = "";
        for line in &lines {
            if line.table != table {
                table = line.table;
                text.push('\n');
                explain(comments, bare(table), &mut text);
                text.push_str(&heading(table));
            }
            if table.is_empty() {
                explain(comments, line.key, &mut text);
            }
            text.push_str(&format!("{} = {}\n", key(line.key), line.value));
        }
        text
    }
}

fn line<'a>(path: &'a str, text: &str) -> Option<Line<'a>> {
    let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
    (!text.is_empty()).then(|| Line { table, key, value: literal(path, text) })
}

/// Tables in the order of the reference, the top first.
fn place_of_table(table: &str) -> usize {
    let name = bare(table.split('.').next().unwrap_or(table));
    raw::place_of(name).unwrap_or(usize::MAX)
}

fn place_of_key(line: &Line<'_>) -> usize {
    let known = raw::keys_of(bare(line.table)).iter().position(|known| *known == line.key);
    known.unwrap_or(usize::MAX)
}

/// `rendition[1]` without its place in the list.
fn bare(table: &str) -> &str {
    table.split('[').next().unwrap_or(table)
}

/// `[traffic]`, `[[rendition]]`.
fn heading(table: &str) -> String {
    let names: Vec<String> = table.split('.').map(|name| key(bare(name))).collect();
    let names = names.join(".");
    if table.ends_with(']') { format!("[[{names}]]\n") } else { format!("[{names}]\n") }
}

/// A key, in quotes where TOML wants them.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_bare { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// An answer as TOML writes it.
fn literal(path: &str, text: &str) -> String {
    match QUESTIONS.iter().find(|question| question.path == path).map(|question| question.form) {
        Some(Form::Text | Form::Word) => quoted(text),
        Some(Form::List) => list(text),
        Some(Form::Amount) | None => bare_value(text).unwrap_or_else(|| quoted(text)),
    }
}

fn list(text: &str) -> String {
    if text.starts_with('[') && bare_value(text).is_some() {
        return text.to_owned();
    }
    let items: Vec<String> =
        text.split([',', '，']).map(str::trim).filter(|item| !item.is_empty()).map(quoted).collect();
    format!("[{}]", items.join(", "))
}

/// The text, when TOML reads it as a number, a flag, a list or a table, and as nothing more.
fn bare_value(text: &str) -> Option<String> {
    let file: Table = format!("value = {text}").parse().ok()?;
    let is_plain = !text.contains(['\n', '\r', '#']) && file.len() == 1;
    let is_bare = !matches!(file.get("value")?, Value::String(_) | Value::Datetime(_));
    (is_plain && is_bare).then(|| text.to_owned())
}

fn explain(comments: Option<(&Catalogue, &str)>, name: &str, text: &mut String) {
    let Some((catalogue, _)) = comments.filter(|_| COMMENTED.contains(&name)) else { return };
    comment(catalogue, &Message::new(format!("new-comment-{}", name.replace('.', "-"))), text);
}

fn comment(catalogue: &Catalogue, message: &Message, text: &mut String) {
    for line in catalogue.text(message).lines() {
        text.push_str(&format!("# {line}\n"));
    }
}
