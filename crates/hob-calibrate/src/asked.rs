//! Rows that a fit learns from: questions with the group that they are held out by.

use std::collections::BTreeMap;

use crate::library::Library;
use crate::question::{Question, Unanswered};
use crate::table::{MeasuredTable, Row};
use crate::target::Target;

/// What decides which rows are held out together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HoldOut {
    /// Model, card and source: a new project on a new machine.
    Group,
    /// Every row of a model.
    Model,
    /// Every row of a card.
    GpuClass,
    /// Every row of an engine family.
    Engine,
}

/// A question with the columns by which rows belong together.
pub struct Asked {
    /// The question.
    pub question: Question,
    /// Model, card and source.
    pub group: String,
    /// Model as the row names it.
    pub model: String,
    /// Card class.
    pub gpu_class: String,
    /// `A`: stated in full; `B`, `C`: less.
    pub quality: String,
    /// How much the row counts beside one of a published table.
    pub weight: f64,
}

impl Asked {
    /// The row's question.
    ///
    /// # Errors
    /// When the row cannot be asked for.
    pub fn read(table: &MeasuredTable, row: &Row, library: &mut Library<'_>) -> Result<Self, Unanswered> {
        let question = library.question(table.kind, row)?;
        let text = |column: &str| row.text(column).to_owned();
        // Rows of one file of one project are one source, whatever the commit.
        let source = text("source");
        let group = [text("model"), text("gpu_class"), source].join("|");
        Ok(Self {
            question,
            group,
            model: text("model"),
            gpu_class: text("gpu_class"),
            quality: text("quality"),
            weight: 1.0,
        })
    }

    /// What is held out with this row.
    #[must_use]
    pub fn key(&self, by: HoldOut) -> &str {
        match by {
            HoldOut::Group => &self.group,
            HoldOut::Model => &self.model,
            HoldOut::GpuClass => &self.gpu_class,
            HoldOut::Engine => &self.question.engine,
        }
    }
}

/// Puts whole groups into `parts` parts: the largest group first, each into the part that is smallest so far, so that the
/// parts are near equal and the same on every machine.
#[must_use]
pub fn parts(asked: &[Asked], by: HoldOut, parts: usize) -> Vec<usize> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for row in asked {
        *sizes.entry(row.key(by)).or_default() += 1;
    }
    let mut largest: Vec<(&str, usize)> = sizes.into_iter().collect();
    largest.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let mut filled = vec![0; parts.max(1)];
    let mut part_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (group, size) in largest {
        let smallest = filled.iter().enumerate().min_by_key(|(part, size)| (**size, *part)).map_or(0, |(part, _)| part);
        if let Some(part) = filled.get_mut(smallest) {
            *part += size;
        }
        part_of.insert(group, smallest);
    }
    asked.iter().map(|row| part_of.get(row.key(by)).copied().unwrap_or(0)).collect()
}

/// Rows of a target in each group.
pub(crate) fn group_sizes<'a>(asked: &[&'a Asked]) -> BTreeMap<(&'a str, Target), usize> {
    let mut sizes = BTreeMap::new();
    for row in asked {
        for (target, _) in &row.question.measured {
            *sizes.entry((row.group.as_str(), *target)).or_default() += 1;
        }
    }
    sizes
}
