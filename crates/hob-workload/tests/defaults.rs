//! What is left out is assumed, and every assumption is shown as the user would write it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use hob_text::{Catalogue, Language};
use hob_workload::{Colour, Workload, parse, schema};
use serde_json::Value as Json;
use toml::{Table, Value};

/// Files that say as little as each kind and task allows.
const SHORTEST: &[&str] = &[
    "kind = \"serve\"\nmodel = \"7B\"\ntraffic.rate = \"1 req/s\"",
    "kind = \"serve\"\nmodel = \"7B\"\ntask = \"llm\"\nstage = \"production\"\ntraffic.rate = \"1 req/s\"",
    "kind = \"serve\"\nmodel = \"7B\"\ntask = \"embedding\"\ntraffic.concurrency = 5",
    "kind = \"serve\"\nmodel = \"resnet50\"\ntraffic.window = [{ hours = \"0-24\", rate = \"0.25 req/s\" }]",
    "kind = \"serve\"\nmodel = \"yolo11m\"\ntraffic.rate = \"1 image/s\"",
    "kind = \"serve\"\nmodel = \"openai/whisper-small\"\ntraffic.rate = \"1 clip/s\"",
    "kind = \"serve\"\nmodel = \"sdxl\"\ntraffic.rate = \"1 image/s\"",
    "kind = \"serve\"\nmodel = \"black-forest-labs/FLUX.1-schnell\"\ntraffic.rate = \"1 image/s\"",
    "kind = \"serve\"\nmodel = \"Wan-AI/Wan2.1-T2V-14B-Diffusers\"\ntraffic.rate = \"1 video/hour\"",
    "kind = \"serve\"\nmodel = { recommender = { tables = [\"1M users\"] } }\ntraffic.rate = \"1 row/s\"",
    "kind = \"train\"\nmodel = \"7B\"",
    "kind = \"train\"\nmodel = \"7B\"\ntask = \"llm\"\ntrain.rank = 8",
    "kind = \"train\"\nmodel = \"7B\"\ntask = \"llm\"\ntrain.method = \"qlora\"",
    "kind = \"train\"\nmodel = \"7B\"\ntask = \"llm\"\ntrain.method = \"pretrain\"",
    "kind = \"train\"\nmodel = \"bge-large\"",
    "kind = \"train\"\nmodel = \"yolo11m\"",
    "kind = \"train\"\nmodel = \"openai/whisper-small\"\ndata.total = \"100 hours\"",
    "kind = \"train\"\nmodel = \"sdxl\"",
    "kind = \"train\"\nmodel = \"Wan-AI/Wan2.1-T2V-14B-Diffusers\"",
    "kind = \"train\"\nmodel.recommender = { tables = [5], width = 64 }",
    "kind = \"batch\"\nmodel = \"7B\"\nbatch.amount = 5",
    "kind = \"batch\"\nmodel = \"openai/whisper-small\"\nbatch.total = \"100 hours\"",
    "kind = \"transcode\"\nvideo.total = \"1 hour\"\nrendition = [{ codec = \"hevc\" }, { resolution = \"720p\" }]",
    "kind = \"render\"\nrender.frames = 5",
    "kind = \"render\"\nrender.frames = 5\nwhere.machines = [{ gpu = \"T4\", price = \"CNY 50000\" }]",
];

fn read(text: &str) -> Workload {
    parse("shortest.toml", text)
        .unwrap_or_else(|problems| panic!("{text}\n{}", problems.render(Colour::Plain, &Catalogue::new(Language::En))))
}

/// Splits `where.machines[2].gpu` into names and places in lists (from 1).
fn steps(path: &str) -> impl Iterator<Item = (&str, Option<usize>)> {
    path.split('.').map(|step| match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
        Some((name, place)) => (name, Some(place.parse().unwrap())),
        None => (step, None),
    })
}

/// Writes a value into a file as a user would: bare where TOML reads it bare, else in quotes.
fn write(file: &mut Table, path: &str, value: &str) {
    let value = match format!("value = {value}").parse::<Table>() {
        Ok(read) => read["value"].clone(),
        Err(_) => Value::String(value.to_owned()),
    };
    let (path, key) = path.rsplit_once('.').unwrap_or(("", path));
    let mut table = file;
    for (name, place) in steps(path).filter(|(name, _)| !name.is_empty()) {
        let next = table.entry(name).or_insert_with(|| Value::Table(Table::new()));
        table = match place {
            Some(place) => next[place - 1].as_table_mut().unwrap(),
            None => next.as_table_mut().unwrap(),
        };
    }
    assert!(table.insert(key.to_owned(), value).is_none(), "{key} was assumed and was there");
}

#[test]
fn a_file_that_states_what_was_assumed_says_the_same() {
    for text in SHORTEST {
        let assumed = read(text);
        let mut file: Table = text.parse().unwrap();
        // A model that is a name alone has no place for more keys; its table is the same model.
        for default in &assumed.assumed {
            write(&mut file, &default.field, &default.value);
        }
        let stated = read(&toml::to_string(&file).unwrap());
        assert_eq!(stated.assumed, [], "still assumed when stated:\n{file}");
        assert_eq!(stated, Workload { assumed: Vec::new(), ..assumed }, "{file}");
    }
}

/// What the schema says of a field.
fn described<'a>(schema: &'a Json, path: &str) -> &'a str {
    let mut at = schema;
    let mut description = "";
    for (name, place) in steps(path) {
        let property = &at["properties"][name];
        description = property["description"].as_str().unwrap_or("");
        let inner = if place.is_some() { &property["items"] } else { property };
        let choices = [&inner["allOf"], &inner["anyOf"]];
        let listed = choices.into_iter().filter_map(Json::as_array).flatten();
        let reference = std::iter::once(inner).chain(listed).find_map(|inner| inner["$ref"].as_str());
        at = reference.map_or(inner, |reference| schema.pointer(reference.trim_start_matches('#')).unwrap());
    }
    description
}

#[test]
fn the_schema_tells_every_default() {
    let schema = schema();
    for text in SHORTEST {
        for default in &read(text).assumed {
            let described = described(&schema, &default.field);
            let (_, told) = described.split_once("Default").unwrap_or_default();
            let is_told = told.contains(&default.value) || told.starts_with(": as ") || told.starts_with(": the file");
            assert!(is_told, "`{}` = {}: {described}", default.field, default.value);
        }
    }
}

#[test]
fn every_reason_is_a_sentence_of_both_languages() {
    for text in SHORTEST {
        for default in read(text).assumed {
            for language in Language::ALL {
                assert!(Catalogue::new(language).knows(default.why), "{}", default.why);
            }
        }
    }
}
