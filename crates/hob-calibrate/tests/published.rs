//! The published tables that ship with Hob.
#![allow(clippy::unwrap_used)]

use hob_calibrate::{Evidence, TableKind, distrusted_by_hand, published};
use hob_catalog::Catalog;

#[test]
fn every_published_row_has_an_id_and_a_source() {
    let tables = published().unwrap();
    let kinds: Vec<TableKind> = tables.iter().map(|table| table.kind).collect();
    assert_eq!(
        kinds,
        [TableKind::TrainMemory, TableKind::TrainThroughput, TableKind::InferMemory, TableKind::InferThroughput]
    );
    for row in tables.iter().flat_map(|table| &table.rows) {
        assert!(!row.text("id").is_empty() && !row.text("source").is_empty(), "line {}", row.line);
    }
}

#[test]
fn rows_that_a_person_distrusts_exist_and_say_why() {
    let tables = published().unwrap();
    let ids: Vec<&str> = tables.iter().flat_map(|table| &table.rows).map(|row| row.text("id")).collect();
    let distrusted = distrusted_by_hand();
    assert!(!distrusted.is_empty());
    for (id, reason) in distrusted {
        assert!(ids.contains(&id.as_str()), "{id} is in no table");
        assert!(reason.len() > 10, "{id}: {reason}");
    }
}

#[test]
fn the_fit_does_not_learn_from_what_is_distrusted_or_beats_physics() {
    let tables = published().unwrap();
    let evidence = Evidence::read(tables.iter().map(|table| (table, 1.0)), Catalog::embedded());
    assert!(evidence.asked.len() > 600, "{}", evidence.asked.len());
    let by_hand = distrusted_by_hand();
    for (asked, trusted) in evidence.asked.iter().zip(&evidence.trusted) {
        let beyond = asked.question.beats_physics().next().is_some();
        assert_eq!(*trusted, !beyond && !by_hand.contains_key(&asked.question.id), "{}", asked.question.id);
    }
}
