//! The JSON Schema of the workload file, for editors.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::raw::Root;

/// The schema.
#[must_use]
pub fn schema() -> Value {
    // Draft 7 is what the TOML plug-ins of the usual editors check with.
    let settings = SchemaSettings::draft07();
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<Root>();
    RecursiveTransform(without_null).transform(&mut schema);
    schema.insert("title".to_owned(), json!("Hob workload"));
    schema.insert("required".to_owned(), json!(["kind"]));
    schema.to_value()
}

/// The schema as the file in the book: indented, with a line break at the end.
#[must_use]
pub fn schema_text() -> String {
    // A JSON value always prints.
    let mut text = serde_json::to_string_pretty(&schema()).unwrap_or_default();
    text.push('\n');
    text
}

/// An absent key is an `Option` here, which a schema calls null; TOML has no null, so nothing may be it. Descriptions lose
/// the line breaks of their doc comments.
fn without_null(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    let Some(Value::Array(choices)) = schema.get_mut("anyOf") else { return };
    choices.retain(|choice| choice != &json!({ "type": "null" }));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        schema.remove("anyOf");
        for (key, value) in only {
            schema.insert(key, value);
        }
    }
}
