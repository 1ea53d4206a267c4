//! The keys of the workload file as tables of the book, out of the schema: what is printed is what is read.

use serde_json::Value;

use crate::schema::schema;

/// One section for each table of the file, one row for each key.
#[must_use]
pub fn key_tables() -> String {
    let schema = schema();
    let mut page = String::new();
    section(&schema, &schema, "", &mut page);
    page
}

/// A table's rows, and then the sections of the tables in it.
fn section(schema: &Value, table: &Value, heading: &str, page: &mut String) {
    let name = if heading.is_empty() { "At the top".to_owned() } else { format!("`{heading}`") };
    page.push_str(&format!("### {name}\n\n| key | written as | what it says |\n|---|---|---|\n"));
    let mut below = Vec::new();
    for (key, property) in table["properties"].as_object().into_iter().flatten() {
        let is_list = property["type"] == "array";
        let inner = if is_list { &property["items"] } else { property };
        let path = heading.trim_matches(['[', ']']);
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let heading = if is_list { format!("[[{path}]]") } else { format!("[{path}]") };
        let written = match target(schema, inner) {
            Some(inner) => {
                below.push((heading.clone(), inner));
                let short = examples(property);
                if short.is_empty() { format!("`{heading}`") } else { format!("{short} or `{heading}`") }
            }
            None if is_list => format!("list: {}", examples(inner)),
            None => examples(inner),
        };
        let what = property["description"].as_str().unwrap_or("").replace('|', "\\|");
        page.push_str(&format!("| `{key}` | {written} | {what} |\n"));
    }
    for (heading, table) in below {
        page.push('\n');
        section(schema, table, &heading, page);
    }
}

/// The table to which a property refers, be it as one of two forms.
fn target<'a>(schema: &'a Value, property: &Value) -> Option<&'a Value> {
    let choices = [&property["anyOf"], &property["allOf"]];
    let forms = std::iter::once(property).chain(choices.into_iter().filter_map(Value::as_array).flatten());
    let reference = forms.into_iter().find_map(|form| form["$ref"].as_str())?;
    schema.pointer(reference.trim_start_matches('#'))
}

/// How a value is written: all words of a choice, else an example or two.
fn examples(property: &Value) -> String {
    const SHOWN: usize = 2;
    let given: Vec<&str> = property["examples"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !given.is_empty() {
        let shown = if property["enum"].is_array() { given.len() } else { SHOWN };
        return given.into_iter().take(shown).map(|text| format!("`\"{text}\"`")).collect::<Vec<_>>().join(", ");
    }
    let form = |form: &Value| match form["type"].as_str() {
        Some("string") => "text",
        Some("integer") => "whole number",
        Some("number") => "number",
        Some("boolean") => "`true`, `false`",
        Some("object") => "table of rates",
        _ => "",
    };
    let short = property["anyOf"].as_array().into_iter().flatten().find(|short| short["$ref"].is_null());
    short.map_or_else(|| form(property).to_owned(), examples)
}
