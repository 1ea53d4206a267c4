//! What a room says by id has words in both languages, with a place for each of its figures and no other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeSet;

use hob_text::{Catalogue, Language};
use hob_units::SentenceForm;

#[track_caller]
fn check(room: &[SentenceForm]) {
    let catalogues = Language::ALL.map(|language| (language, Catalogue::new(language).sentences()));
    let mut ids = BTreeSet::new();
    for (id, figures) in room {
        assert!(ids.insert(id), "`{id}` is declared twice");
        let wanted: BTreeSet<String> = figures.iter().map(|name| (*name).to_owned()).collect();
        for (language, known) in &catalogues {
            assert_eq!(known.get(*id), Some(&wanted), "`{id}` in {language:?}");
        }
    }
    assert!(!ids.is_empty());
}

#[test]
fn refusals_of_the_estimator() {
    check(hob_estimate::SENTENCES);
}

#[test]
fn reasons_for_no_score() {
    check(hob_calibrate::SENTENCES);
}
