//! Whatever the bytes are, reading them ends in a workload or in problems that can be drawn.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use hob_text::{Catalogue, Language};
use hob_workload::{Code, Colour, FILE_BYTES_MAX, Problems, Workload, parse_bytes, schema};
use proptest::prelude::*;

/// Reads, and draws what is wrong as text and as data.
fn read(bytes: &[u8]) -> Result<Workload, Problems> {
    thread_local! {
        static SENTENCES: Catalogue = Catalogue::new(Language::Zh);
    }
    let read = parse_bytes("hob.toml", bytes);
    if let Err(problems) = &read {
        assert!(!problems.list().is_empty());
        SENTENCES.with(|catalogue| {
            assert!(!problems.render(Colour::Plain, catalogue).is_empty());
            assert!(problems.to_json(catalogue)["problems"].is_array());
        });
    }
    read
}

/// Keys that take a value of their own, out of the schema: path, and what the schema says of it.
fn keys() -> Vec<(String, serde_json::Value)> {
    fn walk(
        schema: &serde_json::Value,
        at: &serde_json::Value,
        above: &str,
        keys: &mut Vec<(String, serde_json::Value)>,
    ) {
        for (name, property) in at["properties"].as_object().into_iter().flatten() {
            let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
            let text = property.to_string();
            let reference = text.split_once("\"$ref\":\"#").and_then(|(_, rest)| rest.split('"').next());
            match reference {
                Some(pointer) if property["type"] != "array" => {
                    walk(schema, schema.pointer(pointer).unwrap(), &path, keys);
                }
                _ => keys.push((path, property.clone())),
            }
        }
    }
    let schema = schema();
    let mut keys = Vec::new();
    walk(&schema, &schema, "", &mut keys);
    keys
}

#[test]
fn what_the_schema_offers_is_taken() {
    assert!(!schema().to_string().contains("null"), "TOML has no null");
    let mut offered = 0;
    for (path, property) in keys() {
        let lists = [&property["examples"], &property["enum"], &property["items"]["enum"]];
        for value in lists.into_iter().filter_map(|list| list.as_array()).flatten() {
            let Some(word) = value.as_str() else { continue };
            offered += 1;
            let value = if property["type"] == "array" { format!("['{word}']") } else { format!("'{word}'") };
            for kind in ["train", "serve", "batch", "transcode", "render"] {
                let text = if path == "kind" {
                    format!("kind = {value}")
                } else {
                    format!("kind = '{kind}'\n{path} = {value}")
                };
                let Err(problems) = read(text.as_bytes()) else { continue };
                let refused =
                    [Code::WrongForm, Code::BadQuantity, Code::UnknownWord, Code::OutOfRange, Code::UnknownKey];
                let found = problems.list().iter().find(|p| p.field.starts_with(&path) && refused.contains(&p.code));
                assert_eq!(found, None, "{path} = {value}");
            }
        }
    }
    assert!(offered > 150, "{offered}");
}

/// Values that no field should choke on, and a few that some take.
const VALUES: &[&str] = &[
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "0.0",
    "1e308",
    "-1e308",
    "1e-308",
    "9223372036854775807",
    "0xff",
    "true",
    "[]",
    "{}",
    "[[]]",
    "''",
    "'0'",
    "'0 s'",
    "'1e308 days'",
    "'1e400 s'",
    "'1e-300 s'",
    "'-5 days'",
    "'NaN days'",
    "'inf GiB'",
    "'99999999999999999999999999999999 tokens'",
    "'1e300 tokens'",
    "'1e300 GiB'",
    "'CNY 1e9/month'",
    "'CNY 79228162514264337593543950335'",
    "'CNY 99999999999999999999999999999999999'",
    "'CNY -1'",
    "'1e300%'",
    "'1e300 req/s'",
    "'1 req/1e300'",
    "'1e300 hours/hour'",
    "'99999999999x1'",
    "'0x0'",
    "'-1x-1'",
    "'１２ req／s'",
    "'每秒十二次'",
    "'\u{202e}'",
    "1979-05-27T07:32:00Z",
    "'5 days'",
    "'12 req/s'",
    "'500 tokens'",
];

#[test]
fn every_field_survives_every_value() {
    let keys = keys();
    assert!(keys.len() > 80, "the schema has more keys than {}", keys.len());
    for kind in ["train", "serve", "batch", "transcode", "render"] {
        for (path, _) in keys.iter().filter(|(path, _)| path != "kind") {
            for value in VALUES {
                let _ = read(format!("kind = '{kind}'\n{path} = {value}\n").as_bytes());
            }
        }
    }
}

#[test]
fn no_amount_is_taken_that_overflows_later() {
    let fields = [
        ("train", "objective.deadline", "1e30 days"),
        ("train", "data.sequence", "1e30 tokens"),
        ("train", "data.bytes_per_sample", "1e30 GiB"),
        ("train", "data.samples", "1e30 images"),
        ("train", "budget", "CNY 9999999999999999999999"),
        ("train", "objective.deadline", "1e-30 s"),
        ("serve", "traffic.rate", "1e30 req/s"),
        ("transcode", "video.arrives", "1e30 hours/hour"),
        ("transcode", "video.fps", "1e30 fps"),
    ];
    for (kind, field, value) in fields {
        let problems = read(format!("kind = '{kind}'\n{field} = '{value}'\n").as_bytes()).unwrap_err();
        let found = problems.list().iter().find(|problem| problem.field == field);
        assert_eq!(found.map(|problem| problem.code), Some(Code::OutOfRange), "{field} = {value}");
    }
}

#[test]
fn what_editors_leave_in_a_file_is_no_mistake() {
    let plain = include_str!("../../../examples/essay-grader.toml");
    let wanted = read(plain.as_bytes()).unwrap();
    assert_eq!(read(plain.replace('\n', "\r\n").as_bytes()).unwrap(), wanted);
    assert_eq!(read(format!("\u{feff}{plain}").as_bytes()).unwrap(), wanted);
    assert_eq!(read(plain.trim_end().as_bytes()).unwrap(), wanted);
}

#[test]
fn a_mark_before_the_text_does_not_shift_the_caret() {
    let problems = read("\u{feff}kind = 'serve'\r\nmodel = '7B'\r\ntraffic.rate = 5\r\n".as_bytes()).unwrap_err();
    let [problem] = problems.list() else { panic!("{problems}") };
    assert_eq!((problem.line, problem.column), (3, 16));
}

#[test]
fn huge_and_deep_files_end_early() {
    assert_eq!(read(&vec![b'a'; 10 << 20]).unwrap_err().list()[0].code, Code::TooLarge);
    for open in ["[", "{a=", "[[a]]\n", "a.", "x = [", "[a.b]\n"] {
        assert!(read(open.repeat(100_000 / open.len()).as_bytes()).is_err());
    }
    let keys: String = (0..20_000).map(|index| format!("k{index} = 1\n")).collect();
    let problems = read(keys.as_bytes()).unwrap_err();
    assert_eq!(problems.list().len(), hob_workload::MAX_PROBLEMS);
    let one_line = format!("kind = 'serve'\nname = [{}]\n", "1,".repeat(FILE_BYTES_MAX / 4));
    assert!(read(one_line.as_bytes()).is_err());
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("kind = 'serve'\n".to_owned()),
        Just("[traffic]\n".to_owned()),
        Just("[[traffic.window]]\n".to_owned()),
        Just("[[rendition]]\n".to_owned()),
        Just("hours = '22-08'\n".to_owned()),
        proptest::sample::select(VALUES.to_vec()).prop_map(|value| format!("rate = {value}\n")),
        "[a-z_]{1,12} = [0-9.'\\[\\]{}a-z -]{0,12}\n",
        "\\PC{0,24}",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let _ = read(&bytes);
    }

    #[test]
    fn any_pieces_of_a_file(text in pieces()) {
        let _ = read(text.as_bytes());
    }

    /// A good file, cut and with some bytes changed.
    #[test]
    fn damaged_files(cut in 0usize..1200, changes in proptest::collection::vec((0usize..1200, any::<u8>()), 0..4)) {
        let mut bytes = include_bytes!("../../../examples/essay-grader.toml").to_vec();
        for (at, byte) in changes {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        bytes.truncate(cut);
        let _ = read(&bytes);
    }
}
