//! A workload file in the making: what is asked, what is suggested, and the file that the answers become.
//!
//! Nothing is checked here: an answer is right when the file that holds it reads without a problem at that field, so
//! there is one judge of both. Nothing is asked here either; the caller has the terminal.

mod question;
mod suggest;
mod write;

use crate::guess;
use crate::kind::Kind;
use crate::parse::parse;
use crate::problem::Problem;
use crate::read::Choices;
use crate::words::{KindWords, TaskWords};
use crate::work::Task;

pub use question::{Form, Question};

/// Answers so far, by field path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Draft {
    /// In the order in which they were given; an empty text is a field that is left out on purpose.
    answers: Vec<(String, String)>,
}

impl Draft {
    /// Takes an answer as a person writes it; a second answer to the same field replaces the first.
    pub fn answer(&mut self, path: &str, text: &str) {
        let text = text.trim().to_owned();
        match self.answers.iter_mut().find(|(known, _)| known == path) {
            Some((_, earlier)) => *earlier = text,
            None => self.answers.push((path.to_owned(), text)),
        }
    }

    /// The answer to a field; `None` when it has none or is left out.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&str> {
        let (_, text) = self.answers.iter().find(|(known, _)| known == path)?;
        (!text.is_empty()).then_some(text.as_str())
    }

    /// Whether the field was answered, be it by leaving it out.
    fn is_answered(&self, path: &str) -> bool {
        self.answers.iter().any(|(known, _)| known == path)
    }

    /// Whether a table has any answer.
    fn has_table(&self, table: &str) -> bool {
        self.answers.iter().any(|(known, _)| known.strip_prefix(table).is_some_and(|rest| rest.starts_with('.')))
    }

    /// The kind, once it is answered with a word that is one.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        KindWords::of_word(self.get("kind")?)
    }

    /// The task: answered, or told from the model's name.
    pub(crate) fn task(&self) -> Option<Task> {
        match self.get("task") {
            Some(word) => TaskWords::of_word(word),
            None if self.has_table("model.recommender") => Some(Task::Recommend),
            None => guess::task_of_model(self.get("model").or_else(|| self.get("model.source"))?),
        }
    }

    /// What is asked next; `None` when nothing is left.
    #[must_use]
    pub fn next(&self) -> Option<&'static Question> {
        question::QUESTIONS.iter().find(|question| !self.is_answered(question.path) && question.applies(self))
    }

    /// Answers what is left with what is suggested.
    pub fn take_suggestions(&mut self) {
        while let Some(question) = self.next() {
            let suggestion = question.suggestion(self);
            self.answer(question.path, suggestion);
        }
    }

    /// What is wrong with the answer to a field.
    #[must_use]
    pub fn problems_with(&self, path: &str) -> Vec<Problem> {
        let Err(problems) = parse("", &self.to_toml(None)) else { return Vec::new() };
        let is_here = |problem: &&Problem| problem.field.strip_prefix(path).is_some_and(|rest| !rest.starts_with('_'));
        problems.list().iter().filter(is_here).cloned().collect()
    }
}

#[cfg(test)]
mod tests;
