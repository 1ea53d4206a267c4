//! How long source files are, without their tests. A file that grows beyond the bound is to be split by noun.

use anyhow::Result;

use crate::steps::Outcome;
use crate::workspace::{Workspace, is_test_file};

/// Longest source file without its tests. A longer one swallows more than one noun.
const LINES_MAX: usize = 600;

/// The step: measures every Rust file outside test folders.
pub fn check(workspace: &Workspace) -> Result<Outcome> {
    let mut lengths = Vec::new();
    let mut problems = Vec::new();
    for file in workspace.files_with_extension(&["rs"])? {
        if is_test_file(&file) {
            continue;
        }
        let lines = lines_without_tests(&workspace.read(&file)?);
        lengths.push(lines);
        if lines > LINES_MAX {
            problems.push(format!("{}: {lines} lines without tests, at most {LINES_MAX}; split it", file.display()));
        }
    }
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    let longest = lengths.last().copied().unwrap_or(0);
    Ok(Outcome::new(problems, format!("{} files, median {median} lines, longest {longest}", lengths.len())))
}

/// Lines before the test module that ends the file, if it has one written out.
fn lines_without_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let begins_tests = |pair: &[&str]| match pair {
        [attribute, module] => {
            attribute.trim() == "#[cfg(test)]" && module.starts_with("mod ") && module.trim_end().ends_with('{')
        }
        _ => false,
    };
    lines.windows(2).position(begins_tests).unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::lines_without_tests;

    #[test]
    fn counts_up_to_the_test_module() {
        assert_eq!(lines_without_tests("a\nb\n#[cfg(test)]\nmod tests {\n}\n"), 2);
        assert_eq!(lines_without_tests("a\nb\nc\n"), 3);
        assert_eq!(lines_without_tests("a\n#[cfg(test)]\nmod tests;\nb\n"), 4);
    }
}
