//! Files and parts of files that a program writes. `verify` compares them, `fix` writes them again.
//!
//! To hook a generator, add one row to [`GENERATED`].

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::command::run_bounded;
use crate::decisions;
use crate::steps::Outcome;
use crate::workspace::Workspace;

/// Where the text comes from.
enum Source {
    /// Standard output of the binary under these arguments.
    Hob(&'static [&'static str]),
    /// A function of this crate.
    Own(fn(&Workspace) -> Result<String>),
}

/// Where the text goes.
enum Place {
    /// The whole file.
    File,
    /// Between the lines `<!-- generated: NAME -->` and `<!-- end -->` of a page that a person writes.
    Part(&'static str),
}

struct Generated {
    path: &'static str,
    place: Place,
    source: Source,
}

/// One row per generated text.
const GENERATED: &[Generated] = &[
    Generated { path: "docs/schema/hob.schema.json", place: Place::File, source: Source::Hob(&["schema"]) },
    Generated {
        path: "docs/src/workload-file.md",
        place: Place::Part("keys"),
        source: Source::Hob(&["schema", "--keys"]),
    },
    Generated { path: "docs/src/cli-reference.md", place: Place::File, source: Source::Hob(&["reference"]) },
    Generated {
        path: "docs/src/SUMMARY.md",
        place: Place::Part("decisions"),
        source: Source::Own(decisions::contents),
    },
];

/// No generator has more to do than print what is compiled in.
const GENERATOR_LIMIT: Duration = Duration::from_secs(30);

/// The step: compares every row with its file.
pub fn check(workspace: &Workspace) -> Result<Outcome> {
    let mut problems = Vec::new();
    for row in GENERATED {
        match wanted(workspace, row) {
            Err(error) => problems.push(format!("{}: {error:#}", row.path)),
            Ok(wanted) if current(workspace, row) != wanted => {
                problems.push(format!("{} is out of date; `cargo xtask fix` writes it again", row.path));
            }
            Ok(_) => {}
        }
    }
    Ok(Outcome::new(problems, format!("{} texts", GENERATED.len())))
}

/// Writes every row that differs and prints its path; a row that cannot be made is named and does not hold up the rest.
/// Gives whether all could be made.
pub fn write(workspace: &Workspace) -> Result<bool> {
    let mut is_complete = true;
    for row in GENERATED {
        let wanted = match wanted(workspace, row) {
            Ok(wanted) => wanted,
            Err(error) => {
                eprintln!("could not generate {}: {error:#}", row.path);
                is_complete = false;
                continue;
            }
        };
        if current(workspace, row) == wanted {
            continue;
        }
        let path = workspace.root.join(row.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
        }
        fs::write(&path, wanted).with_context(|| format!("could not write {}", row.path))?;
        println!("wrote {}", row.path);
    }
    Ok(is_complete)
}

/// What stands in the file now; a file that is not there yet is empty.
fn current(workspace: &Workspace, row: &Generated) -> String {
    fs::read_to_string(workspace.root.join(row.path)).unwrap_or_default()
}

/// What the whole file should say.
fn wanted(workspace: &Workspace, row: &Generated) -> Result<String> {
    let text = match &row.source {
        Source::Own(make) => make(workspace)?,
        Source::Hob(arguments) => printed_by_hob(&workspace.hob("debug"), arguments)?,
    };
    match row.place {
        Place::File => Ok(text),
        Place::Part(name) => with_part(&workspace.read(Path::new(row.path))?, name, &text),
    }
}

fn printed_by_hob(hob: &Path, arguments: &[&str]) -> Result<String> {
    let shown = format!("hob {}", arguments.join(" "));
    let finished = run_bounded(hob, arguments, GENERATOR_LIMIT).with_context(|| format!("`{shown}`"))?;
    if finished.code != Some(0) {
        bail!("`{shown}` ended with {:?}\n{}", finished.code, finished.stderr.trim_end());
    }
    if finished.stdout.is_empty() {
        bail!("`{shown}` printed nothing");
    }
    String::from_utf8(finished.stdout).with_context(|| format!("`{shown}` did not print UTF-8"))
}

/// The page with the text between its two marks replaced.
fn with_part(page: &str, name: &str, text: &str) -> Result<String> {
    let begin = format!("<!-- generated: {name} -->\n");
    let end = "<!-- end -->";
    let (before, rest) = page.split_once(&begin).with_context(|| format!("has no line `{}`", begin.trim_end()))?;
    let (_, after) =
        rest.split_once(end).with_context(|| format!("has no line `{end}` after `{}`", begin.trim_end()))?;
    Ok(format!("{before}{begin}\n{}\n\n{end}{after}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::with_part;

    #[test]
    fn replaces_only_what_stands_between_the_marks() {
        let page = "a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n";
        let written = with_part(page, "x", "new\n").expect("both marks are there");
        assert_eq!(written, "a\n<!-- generated: x -->\n\nnew\n\n<!-- end -->\nb\n");
        assert_eq!(with_part(&written, "x", "new\n").expect("both marks are there"), written);
    }

    #[test]
    fn a_missing_mark_is_an_error() {
        assert!(with_part("a\n", "x", "new").is_err());
        assert!(with_part("<!-- generated: x -->\nold\n", "x", "new").is_err());
    }
}
