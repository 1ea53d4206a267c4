//! What a few measurements of one's own machine say about the rest of it.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing)]

use std::collections::BTreeMap;

use hob_calibrate::{
    Asked, Evidence, HoldOut, Library, MeasuredTable, Place, Question, Target, distrusted_by_hand, fit, parts, probe,
    published,
};
use hob_catalog::Catalog;
use hob_estimate::Efficiencies;

const HEADER: &str =
    "id,gpu_class,model,gpu,gpus,tp,engine,precision,scenario,in_len,out_len,concurrency,ttft_ms_p50,tpot_ms_p50\n";

/// Rows of a card, an engine and a model whose time per token is `slower` times what is predicted.
fn questions(card: &str, engine: &str, model: &str, slower: f64) -> Vec<Question> {
    let base = Efficiencies::embedded().unwrap();
    let row = |in_flight: u32, tpot: f64| {
        format!(
            "{model}-{in_flight},{card},{model},{card},1,1,{engine},bf16,aggregated serving,512,256,{in_flight},,{tpot}\n"
        )
    };
    let read = |text: &str| {
        let table = MeasuredTable::read(&format!("{HEADER}{text}")).unwrap();
        let mut library = Library::new(Catalog::embedded());
        table.rows.iter().map(|row| library.question(table.kind, row).unwrap()).collect::<Vec<_>>()
    };
    let loads = [1, 8, 32];
    let predicted: Vec<f64> =
        read(&loads.map(|load| row(load, 50.0)).concat()).iter().map(|question| tpot(question, &base)).collect();
    let text: String = loads.iter().zip(predicted).map(|(load, tpot)| row(*load, tpot * slower * 1e3)).collect();
    read(&text)
}

fn tpot(question: &Question, table: &Efficiencies) -> f64 {
    value(question, Target::ServeTpot, table).unwrap().mid
}

fn value(question: &Question, target: Target, table: &Efficiencies) -> Option<hob_units::Interval<f64>> {
    let answer = question.ask.answer(table).ok()?;
    answer.values.iter().find(|(of, _)| *of == target).map(|(_, value)| *value)
}

#[test]
fn measurements_move_their_own_place_wholly_another_model_half_way_and_another_card_not_at_all() {
    let base = Efficiencies::embedded().unwrap();
    let measured = questions("L20", "vLLM 0.11", "llama3.1-8b", 1.4);
    let probe = probe(&base, &measured);
    let moved = |question: &Question| tpot(question, &probe.table) / tpot(question, &base);
    for question in &measured {
        assert!((moved(question) - 1.4).abs() < 0.09, "{}: {}", question.id, moved(question));
        let (before, after) =
            (value(question, Target::ServeTpot, &base), value(question, Target::ServeTpot, &probe.table));
        let width = |interval: Option<hob_units::Interval<f64>>| interval.map(|ends| ends.high / ends.low).unwrap();
        assert!(width(after) < width(before), "{after:?} is not narrower than {before:?}");
    }
    for (what, other, range) in [
        ("another model", questions("L20", "vLLM 0.11", "qwen2.5-7b", 1.0), 1.15..1.35),
        ("another engine", questions("L20", "SGLang 0.5.6", "qwen2.5-7b", 1.0), 1.05..1.2),
        ("another card", questions("L40", "vLLM 0.11", "llama3.1-8b", 1.0), 0.999..1.001),
    ] {
        for question in &other {
            assert!(range.contains(&moved(question)), "{what}: {}", moved(question));
        }
    }
    let counted = probe.counted(&Place::new("l20", "vllm", measured[0].ask.place().unwrap().model.as_str()));
    assert_eq!((counted.same_model, counted.same_engine, counted.same_card), (3, 3, 3));
    assert_eq!(probe.counted(&Place::new("l40", "vllm", "")).same_card, 0);
}

#[test]
fn one_mistyped_row_does_not_carry_the_rest() {
    let base = Efficiencies::embedded().unwrap();
    let mut measured = questions("L20", "vLLM 0.11", "llama3.1-8b", 1.2);
    measured.extend(questions("L20", "vLLM 0.11", "llama3.1-8b", 1.2));
    measured.push(questions("L20", "vLLM 0.11", "llama3.1-8b", 10.0).pop().unwrap());
    let probe = probe(&base, &measured);
    let moved = tpot(&measured[0], &probe.table) / tpot(&measured[0], &base);
    assert!((1.15..1.35).contains(&moved), "{moved}");
}

#[test]
fn nothing_measured_changes_nothing() {
    let base = Efficiencies::embedded().unwrap();
    let probe = probe(&base, []);
    assert_eq!(probe.table, base);
    assert!(probe.points.is_empty());
}

/// A row of a group in the order of its load.
struct Loaded<'e> {
    asked: &'e Asked,
    row: usize,
    load: f64,
}

/// Published rows of one card, engine version and model that measure `target`, by load. Groups too small to hold rows out
/// of are left out.
fn groups(evidence: &Evidence, target: Target) -> BTreeMap<String, Vec<Loaded<'_>>> {
    let tables = published().unwrap();
    let rows: BTreeMap<&str, _> =
        tables.iter().flat_map(|table| &table.rows).map(|row| (row.text("id"), row)).collect();
    let mut groups: BTreeMap<String, Vec<Loaded<'_>>> = BTreeMap::new();
    for (row, asked) in evidence.asked.iter().enumerate().filter(|(row, _)| evidence.trusted[*row]) {
        if !asked.question.measured.iter().any(|(of, _)| *of == target) {
            continue;
        }
        let text = rows[asked.question.id.as_str()];
        let load = text.positive("concurrency").or(text.positive("micro_batch")).unwrap_or(1.0);
        let load = load + text.positive("in_len").or(text.positive("gpus")).unwrap_or(0.0) * 1e-6;
        groups.entry(format!("{} {}", asked.group, text.text("engine"))).or_default().push(Loaded { asked, row, load });
    }
    for rows in groups.values_mut() {
        rows.sort_by(|a, b| a.load.total_cmp(&b.load).then(a.row.cmp(&b.row)));
    }
    groups.retain(|_, rows| rows.len() >= 8);
    groups
}

/// Scores of the rest of each group after `count` of its rows, at spread loads, were measured.
#[derive(Debug)]
struct Reach {
    groups: usize,
    /// Median over groups of the median absolute error, in percent.
    median_pct: f64,
    inside80_pct: f64,
}

fn reach<'t>(evidence: &Evidence, target: Target, count: usize, table_of: &dyn Fn(usize) -> &'t Efficiencies) -> Reach {
    let (mut medians, mut inside, mut rows) = (Vec::new(), 0, 0);
    for group in groups(evidence, target).into_values() {
        let base = table_of(group[0].row);
        let places: Vec<usize> = (0..count).map(|at| at * (group.len() - 1) / (count - 1).max(1)).collect();
        let measured = places.iter().map(|at| &group[*at].asked.question);
        let table = if count == 0 { base.clone() } else { probe(base, measured).table };
        let mut errors = Vec::new();
        for (_, loaded) in group.iter().enumerate().filter(|(at, _)| !places.contains(at)) {
            let question = &loaded.asked.question;
            let measured = question.measured.iter().find(|(of, _)| *of == target).unwrap().1;
            let Some(predicted) = value(question, target, &table) else { continue };
            errors.push((predicted.mid / measured - 1.0).abs());
            rows += 1;
            inside += usize::from(predicted.low <= measured && measured <= predicted.high);
        }
        errors.sort_by(f64::total_cmp);
        let Some(median) = errors.get(errors.len() / 2) else { continue };
        medians.push(100.0 * median);
    }
    medians.sort_by(f64::total_cmp);
    Reach {
        groups: medians.len(),
        median_pct: medians[medians.len() / 2],
        inside80_pct: 100.0 * f64::from(inside as u32) / f64::from(rows as u32),
    }
}

fn evidence() -> Evidence {
    let tables = published().unwrap();
    assert!(!distrusted_by_hand().is_empty());
    Evidence::read(tables.iter().map(|table| (table, 1.0)), Catalog::embedded())
}

/// On the table that ships, which was fitted to these rows as well. Steps of training gain on it and not on tables that never
/// saw them: published groups mix sizes of cluster and lengths of sequence, whose errors differ by more than one factor can
/// carry.
#[test]
fn a_few_rows_of_a_group_predict_the_rest_of_it() {
    let evidence = evidence();
    let base = Efficiencies::embedded().unwrap();
    for (target, most_pct) in [(Target::ServeTpot, 5.0), (Target::ServeRequestTime, 5.0), (Target::TrainSpeed, 6.0)] {
        let before = reach(&evidence, target, 0, &|_| &base);
        let after = reach(&evidence, target, 5, &|_| &base);
        println!("{target}: {before:?} before, {after:?} with five rows measured");
        assert!(after.median_pct <= most_pct && after.median_pct < before.median_pct, "{target}: {after:?}");
        assert!(after.groups >= 10, "{target}: {after:?}");
        assert!((70.0..=95.0).contains(&after.inside80_pct), "{target}: {after:?}");
    }
}

/// On tables fitted without the group, and without the card.
#[test]
#[ignore = "fits eight times, which takes minutes"]
fn a_few_rows_of_a_group_or_a_card_that_no_fit_saw_predict_the_rest_of_it() {
    let evidence = evidence();
    let priors = Efficiencies::embedded().unwrap();
    for (by, most_pct) in [(HoldOut::Group, 5.5), (HoldOut::GpuClass, 7.0)] {
        let part_of = parts(&evidence.asked, by, 4);
        let fitted = |part: usize| {
            let seen = evidence.asked.iter().enumerate();
            let seen = seen.filter(|(row, _)| part_of[*row] != part && evidence.trusted[*row]);
            fit(&priors, &seen.map(|(_, asked)| asked).collect::<Vec<_>>()).table
        };
        let tables: Vec<Efficiencies> = (0..4).map(fitted).collect();
        for target in [Target::ServeTpot, Target::ServeTtft, Target::ServeRequestTime, Target::TrainSpeed] {
            for count in [0, 1, 3, 5] {
                let after = reach(&evidence, target, count, &|row| &tables[part_of[row]]);
                println!("{by:?} {target}, {count} rows: {after:?}");
                let is_reached = target != Target::ServeTpot || count < 5 || after.median_pct <= most_pct;
                assert!(is_reached, "{by:?} {after:?}");
            }
        }
    }
}
