//! Problems as a person reads them: the line, the caret, what was expected, what to do.
//!
//! The drawing is annotate-snippets'. Colour and language are arguments; nothing is decided here.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use hob_text::{Catalogue, Message};

use crate::problem::{Problem, Problems};

/// Columns of the output; every output of Hob fits this.
const WIDTH: usize = 100;

/// Whether to write terminal colours. The caller knows the terminal and the user's wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Text alone.
    Plain,
    /// ANSI colours.
    Ansi,
}

impl Problems {
    /// All problems with their source lines, sentences in the catalogue's language.
    #[must_use]
    pub fn render(&self, colour: Colour, catalogue: &Catalogue) -> String {
        let base = match colour {
            Colour::Plain => Renderer::plain(),
            Colour::Ansi => Renderer::styled(),
        };
        let renderer = base.term_width(WIDTH);
        let mut parts: Vec<String> =
            self.list().iter().map(|problem| self.render_one(&renderer, problem, catalogue)).collect();
        if self.left_off() > 0 {
            let more = Message::new("workload-more-problems").with("count", self.left_off().to_string());
            parts.push(catalogue.text(&more));
        }
        let mut text = parts.join("\n\n");
        text.push('\n');
        text
    }

    fn render_one(&self, renderer: &Renderer, problem: &Problem, catalogue: &Catalogue) -> String {
        // Only the line at hand is handed over: the drawing then costs the same for every problem of a large file.
        let line = self.lines().line(self.text(), problem.line);
        let source = self.text().get(line.clone()).unwrap_or("");
        let start = problem.span.start.saturating_sub(line.start).min(source.len());
        let end = problem.span.end.saturating_sub(line.start).min(source.len()).max(start);
        let name = |id: &'static str| catalogue.get(id);
        let label = problem.expected.as_ref().map(|expected| catalogue.text(expected));

        let mut annotation = AnnotationKind::Primary.span(start..end);
        if let Some(label) = &label
            && short_enough(source, label)
        {
            annotation = annotation.label(label.clone());
        }
        let snippet =
            Snippet::source(source).line_start(problem.line).path(self.file_name().to_owned()).annotation(annotation);
        let title = Level::ERROR
            .with_name(name("word-error"))
            .primary_title(catalogue.text(&problem.what))
            .id(problem.code.code());
        let mut group = Group::with_title(title).element(snippet);
        if let Some(label) = label
            && !short_enough(source, &label)
        {
            group = group.element(Level::NOTE.with_name(name("workload-word-expected")).message(folded(&label)));
        }
        for hint in &problem.hints {
            let hint = folded(&catalogue.text(hint));
            group = group.element(Level::HELP.with_name(name("word-hint")).message(hint));
        }
        renderer.render(&[group])
    }
}

/// Whether the label still fits beside the caret; else it gets a line of its own.
fn short_enough(source: &str, label: &str) -> bool {
    const MARGIN: usize = 12; // line number, bars and the caret itself
    // Chinese characters take two columns, so bytes are the safer count (three per character) than characters.
    source.len() + label.len() + MARGIN <= WIDTH
}

/// A sentence below the drawing, in as many lines as it needs.
fn folded(sentence: &str) -> String {
    const MARGIN: usize = 22; // line number, `= expected: ` and its alignment
    textwrap::fill(sentence, WIDTH - MARGIN)
}
