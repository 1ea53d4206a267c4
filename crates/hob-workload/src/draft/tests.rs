//! What is suggested runs, what is answered is what is read, and whatever is answered the file is TOML.

use hob_text::{Catalogue, Language};
use proptest::prelude::*;

use super::Draft;
use super::question::{Form, QUESTIONS};
use crate::Colour;
use crate::kind::Kind;
use crate::parse::parse;
use crate::read::Choices;
use crate::words::TaskWords;

/// Every kind, with every task that a named model can have.
fn beginnings() -> Vec<Draft> {
    let mut beginnings = Vec::new();
    for kind in Kind::ALL {
        let tasks: Vec<&str> = match kind {
            Kind::Transcode | Kind::Render => vec![""],
            _ => TaskWords::WORDS.iter().map(|(word, _)| *word).filter(|word| *word != "recommend").collect(),
        };
        for task in tasks {
            let mut draft = Draft::default();
            draft.answer("kind", kind.word());
            if !task.is_empty() {
                draft.answer("task", task);
            }
            beginnings.push(draft);
        }
    }
    beginnings
}

#[test]
fn what_is_suggested_is_a_file_without_a_problem() {
    for language in Language::ALL {
        let catalogue = Catalogue::new(language);
        for mut draft in beginnings() {
            draft.take_suggestions();
            let text = draft.to_toml(Some((&catalogue, "hob.toml")));
            let workload = parse("hob.toml", &text)
                .unwrap_or_else(|problems| panic!("{text}\n{}", problems.render(Colour::Plain, &catalogue)));
            let answered = |field: &str| draft.get(field).is_some();
            assert!(!workload.assumed.iter().any(|assumed| answered(&assumed.field)), "{text}");
            assert!(!text.contains("{new-") && !text.contains("{$"), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        }
    }
}

#[test]
fn every_question_is_asked_of_somebody_in_both_languages() {
    let mut asked = std::collections::BTreeSet::new();
    for mut draft in beginnings() {
        draft.answer("traffic.window[1].rate", "1 req/s");
        draft.answer("render.measured.frame", "5 s");
        while let Some(question) = draft.next() {
            asked.insert(question.path);
            draft.answer(question.path, question.suggestion(&draft));
            assert_eq!(draft.problems_with(question.path), [], "{}", question.path);
            assert!(question.may_be_empty || !question.suggestion(&draft).is_empty(), "{}", question.path);
            assert_eq!(question.form == Form::Word, !question.words().is_empty(), "{}", question.path);
            for language in Language::ALL {
                assert!(Catalogue::new(language).knows(question.ask), "{}", question.ask);
            }
        }
    }
    let given = ["kind", "task", "traffic.window[1].rate", "render.measured.frame"];
    assert_eq!(asked.len() + given.len(), QUESTIONS.len());
}

#[test]
fn what_takes_the_place_of_a_question_is_not_asked() {
    let check = |answers: &[(&str, &str)], not_asked: &str| {
        let mut draft = Draft::default();
        answers.iter().for_each(|(path, text)| draft.answer(path, text));
        draft.take_suggestions();
        assert_eq!(draft.get(not_asked), None);
        let text = draft.to_toml(None);
        assert!(parse("hob.toml", &text).is_ok(), "{text}");
    };
    check(&[("kind", "serve"), ("traffic.concurrency", "50")], "traffic.rate");
    check(&[("kind", "train"), ("train.tokens", "2B tokens")], "train.epochs");
    check(&[("kind", "transcode"), ("video.arrives", "40 hours/hour")], "video.total");
    check(&[("kind", "batch"), ("task", "speech"), ("batch.total", "100 hours")], "batch.amount");
    check(&[("kind", "train"), ("model.recommender.tables", "[\"1M users\"]"), ("task", "recommend")], "model");
    check(&[("kind", "serve"), ("objective.minimise.cost", "0.7")], "objective.minimise");
}

#[test]
fn a_wrong_answer_is_told_at_its_field() {
    let mut draft = Draft::default();
    draft.answer("kind", "serve");
    draft.answer("traffic.rate", "12");
    draft.answer("model", "123");
    assert_eq!(draft.problems_with("traffic.rate").len(), 1);
    assert_eq!(draft.problems_with("model"), []);
}

proptest! {
    #[test]
    fn any_answers_make_a_file_that_holds_them(
        answers in proptest::collection::vec((0..QUESTIONS.len(), "\\PC{0,20}|[0-9]{1,4}( s|%)?|true|\\[1\\]|1979-05-27"), 0..12),
        set in proptest::collection::vec(("[a-z.\\[\\]1\" ]{1,12}", "\\PC{0,12}"), 0..2),
    ) {
        let mut draft = Draft::default();
        for (index, text) in &answers {
            draft.answer(QUESTIONS[*index].path, text);
        }
        let file: toml::Table = draft.to_toml(None).parse().unwrap();
        for question in QUESTIONS.iter().filter(|question| question.form == Form::Text) {
            let Some(text) = draft.get(question.path) else { continue };
            let names = question.path.split('.');
            let mut value = &toml::Value::Table(file.clone());
            for name in names {
                value = &value[name];
            }
            prop_assert_eq!(value.as_str(), Some(text));
        }
        // Paths that nobody has may clash with others; they end in a file or in problems.
        for (path, text) in &set {
            draft.answer(path, text);
        }
        let _ = parse("hob.toml", &draft.to_toml(Some((&Catalogue::new(Language::En), "hob.toml"))));
    }
}
