//! Every example is read, says what its name says, and assumes only what it leaves out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

use std::path::Path;

use hob_text::{Catalogue, Language};
use hob_workload::{Colour, Work, parse};

#[test]
fn every_example_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    names.sort();
    assert!(!names.is_empty());
    for path in names {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let workload = parse(name, &text)
            .unwrap_or_else(|problems| panic!("\n{}", problems.render(Colour::Plain, &Catalogue::new(Language::En))));
        assert_eq!(Some(workload.name.as_str()), name.strip_suffix(".toml"), "{name}");
        assert!(text.starts_with("#:schema ../docs/schema/hob.schema.json\n# "), "{name} has no head");
        assert!(text.contains(&format!("# Run it: hob plan examples/{name}\n")), "{name} says how it is run");
        for assumed in &workload.assumed {
            for language in Language::ALL {
                assert!(Catalogue::new(language).knows(assumed.why), "`{}` of {name}", assumed.why);
            }
        }
    }
}

#[test]
fn the_essay_grader_sleeps_at_night() {
    let workload = parse("essay-grader.toml", include_str!("../../../examples/essay-grader.toml")).unwrap();
    let Work::Serve(serve) = workload.work else { panic!("it serves") };
    assert_eq!(serve.traffic.windows.len(), 1);
    let night = serve.traffic.windows[0];
    assert_eq!((night.from_hour, night.to_hour), (22, 8));
    assert!(night.rate < serve.traffic.rate.unwrap());
}
