//! The one way out: stdout is data, stderr is the rest.

use std::io::{self, IsTerminal, Write};

use hob_text::{Catalogue, Language, Message};
use serde::Serialize;

use crate::cli::{Colour, Global, LanguageChoice};
use crate::exit::Code;
use crate::failure::Failure;

/// Width used when standard output is not a terminal; the house promises that tables fit it.
pub const WIDTH_DEFAULT: usize = 100;

/// Prints in the user's language.
#[derive(Debug)]
pub struct Printer {
    catalogue: Catalogue,
    json: bool,
    colour_errors: bool,
}

impl Printer {
    /// From the global flags; `--lang` wins over the locale.
    pub fn new(global: &Global) -> Self {
        let language = match global.lang {
            Some(LanguageChoice::En) => Language::En,
            Some(LanguageChoice::Zh) => Language::Zh,
            None => sys_locale::get_locale().map_or(Language::En, |locale| Language::of_locale(&locale)),
        };
        let colour_errors = match global.color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        Self { catalogue: Catalogue::new(language), json: global.json, colour_errors }
    }

    /// Whether the user asked for JSON.
    pub fn json_wanted(&self) -> bool {
        self.json
    }

    /// Whether problems of a workload file are coloured.
    pub fn problem_colour(&self) -> hob_workload::Colour {
        if self.colour_errors { hob_workload::Colour::Ansi } else { hob_workload::Colour::Plain }
    }

    /// The sentences of the user's language.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Words of a message.
    pub fn text(&self, message: &Message) -> String {
        self.catalogue.text(message)
    }

    /// Words of a message without variables.
    pub fn get(&self, id: &str) -> String {
        self.catalogue.get(id)
    }

    /// One line of data. A reader that went away ends the program quietly, as in `hob ... | head`.
    pub fn line(&self, text: &str) {
        if let Err(error) = writeln!(io::stdout().lock(), "{text}") {
            if error.kind() == io::ErrorKind::BrokenPipe {
                std::process::exit(Code::Done as i32);
            }
            self.note(&format!("{}: {error}", self.get("word-error")));
            std::process::exit(Code::Outside as i32);
        }
    }

    /// A sentence in as many lines as the width needs, all indented.
    pub fn wrapped(&self, text: &str, indent: usize) {
        let indent = " ".repeat(indent);
        let options = textwrap::Options::new(WIDTH_DEFAULT).initial_indent(&indent).subsequent_indent(&indent);
        self.line(&textwrap::fill(text.trim_start(), options));
    }

    /// A versioned document: `{"schema": "hob.NAME/1", ...fields}`.
    pub fn json<T: Serialize>(&self, schema: &'static str, body: &T) {
        #[derive(Serialize)]
        struct Document<'a, T> {
            schema: &'static str,
            #[serde(flatten)]
            body: &'a T,
        }
        match serde_json::to_string_pretty(&Document { schema, body }) {
            Ok(text) => self.line(&text),
            Err(error) => self.note(&error.to_string()),
        }
    }

    /// One line beside the data.
    pub fn note(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// A failure: `error[E-...]: what` and `hint: action`.
    pub fn failure(&self, failure: &Failure) {
        let (red, cyan, plain) = if self.colour_errors { ("\x1b[1;31m", "\x1b[36m", "\x1b[0m") } else { ("", "", "") };
        let what = printable(&self.text(&failure.what));
        self.note(&format!("{red}{}[{}]{plain}: {what}", self.get("word-error"), failure.id));
        if let Some(hint) = &failure.hint {
            self.note(&format!("{cyan}{}{plain}: {}", self.get("word-hint"), self.text(hint)));
        }
        if self.json {
            let hint = failure.hint.as_ref().map(|hint| self.text(hint));
            self.json("hob.error/1", &ErrorDocument { code: failure.id, exit_code: failure.code as u8, what, hint });
        }
    }
}

/// A failure for a program to read.
#[derive(Serialize)]
struct ErrorDocument {
    code: &'static str,
    exit_code: u8,
    what: String,
    hint: Option<String>,
}

/// Longest text from a file that a line holds; names in published models stay under 200 letters.
const PRINTED_CHARS_MAX: usize = 600;

/// A text that names things from a file, as it may stand on a terminal: control characters are written out, so that a
/// hostile file cannot colour, move or hide anything, and what is too long to read is cut.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(PRINTED_CHARS_MAX));
    for (count, letter) in text.chars().enumerate() {
        if count == PRINTED_CHARS_MAX {
            shown.push_str("...");
            break;
        }
        // Line breaks may be ours.
        if letter.is_control() && letter != '\n' {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}
