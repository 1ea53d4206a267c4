//! Scores of a table: rows asked, answered, errors, bands, and rows that no hardware can have measured.

use std::collections::BTreeMap;

use hob_estimate::Efficiencies;
use serde::Serialize;

use crate::library::Library;
use crate::question::{Question, Unanswered};
use crate::score::{Outcome, Score};
use crate::table::{MeasuredTable, Row};
use crate::target::Target;

/// Share of a card's memory from which a verdict is near the limit.
const NEAR_LIMIT: f64 = 0.75;

/// How rows are grouped beside the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// By card.
    GpuClass,
    /// By model.
    Model,
    /// By engine family.
    Engine,
    /// By scenario.
    Scenario,
}

impl Grouping {
    /// The row's group; a row that became no question has its engine as the table writes it.
    fn key(self, row: &Row, question: Option<&Question>) -> String {
        match self {
            Self::GpuClass => row.text("gpu_class").to_owned(),
            Self::Model => row.text("model").to_owned(),
            Self::Engine => question.map_or_else(|| row.text("engine").to_owned(), |question| question.engine.clone()),
            Self::Scenario if row.text("scenario").is_empty() => row.text("method").to_owned(),
            Self::Scenario => row.text("scenario").to_owned(),
        }
    }
}

/// Score of one target, over all rows or one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetScore {
    /// What.
    pub target: Target,
    /// The group; `None` over all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Rows that measured it.
    pub rows: usize,
    /// Those of them that were predicted and scored.
    pub answered: usize,
    /// Errors; `None` where no row was scored.
    #[serde(flatten)]
    pub score: Option<Score>,
}

/// Verdicts on fitting, in percent; `None` where no row bears on it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct VerdictScore {
    /// Rows with a verdict.
    pub rows: usize,
    /// Runs out of memory that were foreseen.
    pub caught_pct: Option<f64>,
    /// Runs that fitted and were refused.
    pub false_alarm_pct: Option<f64>,
    /// Right verdicts among rows that ran out or needed more than three quarters of the card.
    pub right_near_limit_pct: Option<f64>,
}

/// A row without a score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unscored {
    /// The row's id.
    pub id: String,
    /// Line in the file.
    pub line: u64,
    /// Why: a sentence of the catalogue, by id and figures.
    #[serde(serialize_with = "as_sentence")]
    pub reason: Unanswered,
}

fn as_sentence<S: serde::Serializer>(reason: &Unanswered, serializer: S) -> Result<S::Ok, S::Error> {
    reason.sentence().serialize(serializer)
}

/// What a table says about the predictions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Rows that were asked.
    pub asked: usize,
    /// Rows with at least one answer.
    pub answered: usize,
    /// Scores: all rows of a target first, then its groups.
    pub targets: Vec<TargetScore>,
    /// Verdicts on fitting, when the table has any.
    pub train_oom: Option<VerdictScore>,
    /// Rows without an answer.
    pub unanswered: Vec<Unscored>,
    /// Rows that beat physics, with the target that does.
    pub beyond_physics: Vec<(String, Target)>,
    /// Every scored prediction.
    #[serde(skip)]
    pub outcomes: Vec<(Target, String, Outcome)>,
}

#[derive(Default)]
struct Verdicts {
    caught: (usize, usize),
    false_alarm: (usize, usize),
    near: (usize, usize),
}

/// Asks for every row of `table` and scores the answers.
#[must_use]
pub fn evaluate(
    table: &MeasuredTable,
    library: &mut Library<'_>,
    efficiencies: &Efficiencies,
    by: Option<Grouping>,
) -> Evaluation {
    let mut evaluation = Evaluation {
        asked: table.rows.len(),
        answered: 0,
        targets: Vec::new(),
        train_oom: None,
        unanswered: Vec::new(),
        beyond_physics: Vec::new(),
        outcomes: Vec::new(),
    };
    let mut verdicts = Verdicts::default();
    let mut asked_for: Vec<(Target, String)> = Vec::new();
    for row in &table.rows {
        let asked = library.question(table.kind, row).and_then(|question| {
            let answer = question.ask.answer(efficiencies)?;
            Ok((question, answer))
        });
        let (question, answer) = match asked {
            Ok(both) => both,
            Err(reason) => {
                let group = by.map(|by| by.key(row, None)).unwrap_or_default();
                asked_for
                    .extend(Target::measured_by(table.kind, row).into_iter().map(|target| (target, group.clone())));
                evaluation.unanswered.push(Unscored { id: row.text("id").to_owned(), line: row.line, reason });
                continue;
            }
        };
        evaluation.answered += 1;
        let group = by.map(|by| by.key(row, Some(&question))).unwrap_or_default();
        for (target, measured) in &question.measured {
            asked_for.push((*target, group.clone()));
            let Some((_, predicted)) = answer.values.iter().find(|(of, _)| of == target) else { continue };
            if question.is_beyond(*target, *measured) {
                evaluation.beyond_physics.push((question.id.clone(), *target));
                continue;
            }
            let outcome = Outcome { id: question.id.clone(), predicted: *predicted, measured: *measured };
            evaluation.outcomes.push((*target, group.clone(), outcome));
        }
        if let (Some(ran_out), Some(filled)) = (question.ran_out, answer.filled) {
            verdicts.add(ran_out, filled);
        }
    }
    evaluation.targets = scores(&asked_for, &evaluation.outcomes, by.is_some());
    evaluation.train_oom = verdicts.score();
    evaluation
}

/// Rows that measured something, and those of them that have a score.
type Found<'o> = (usize, Vec<&'o Outcome>);

fn scores(asked_for: &[(Target, String)], outcomes: &[(Target, String, Outcome)], grouped: bool) -> Vec<TargetScore> {
    let mut by_target: BTreeMap<Target, BTreeMap<&str, Found<'_>>> = BTreeMap::new();
    for (target, group) in asked_for {
        by_target.entry(*target).or_default().entry(group).or_default().0 += 1;
    }
    for (target, group, outcome) in outcomes {
        by_target.entry(*target).or_default().entry(group).or_default().1.push(outcome);
    }
    let score = |target, group: Option<&str>, rows, outcomes: &[&Outcome]| {
        let score = Score::of(outcomes.iter().copied());
        TargetScore { target, group: group.map(str::to_owned), rows, answered: outcomes.len(), score }
    };
    let mut scores = Vec::new();
    for (target, groups) in &by_target {
        let rows = groups.values().map(|(rows, _)| rows).sum();
        let all: Vec<&Outcome> = groups.values().flat_map(|(_, outcomes)| outcomes).copied().collect();
        scores.push(score(*target, None, rows, &all));
        if grouped {
            scores.extend(groups.iter().map(|(group, (rows, outcomes))| score(*target, Some(group), *rows, outcomes)));
        }
    }
    scores
}

impl Verdicts {
    fn add(&mut self, ran_out: bool, filled: f64) {
        let refused = filled > 1.0;
        let count = |pair: &mut (usize, usize), hit: bool| {
            pair.0 += usize::from(hit);
            pair.1 += 1;
        };
        count(if ran_out { &mut self.caught } else { &mut self.false_alarm }, refused);
        if ran_out || filled > NEAR_LIMIT {
            count(&mut self.near, refused == ran_out);
        }
    }

    fn score(&self) -> Option<VerdictScore> {
        let share = |(hits, of): (usize, usize)| (of > 0).then(|| 100.0 * hits as f64 / of as f64);
        let rows = self.caught.1 + self.false_alarm.1;
        (rows > 0).then(|| VerdictScore {
            rows,
            caught_pct: share(self.caught),
            false_alarm_pct: share(self.false_alarm),
            right_near_limit_pct: share(self.near),
        })
    }
}
