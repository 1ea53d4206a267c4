//! Links in Markdown files: each relative one leads to a file and to a heading that exist, and the book's table of
//! contents names every page. Addresses on the web are not followed, so that the check needs no network.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::steps::Outcome;
use crate::workspace::Workspace;

const BOOK: &str = "docs/src";
const CONTENTS: &str = "docs/src/SUMMARY.md";

/// The step: reads every Markdown file.
pub fn check(workspace: &Workspace) -> Result<Outcome> {
    let pages = workspace.files_with_extension(&["md"])?;
    let mut problems = Vec::new();
    let mut links = 0;
    for page in &pages {
        for target in targets(&workspace.read(page)?) {
            links += 1;
            if let Some(problem) = broken(workspace, page, &target)? {
                problems.push(format!("{}: `{target}` {problem}", page.display()));
            }
        }
    }
    problems.extend(missing_from_contents(workspace, &pages)?);
    Ok(Outcome::new(problems, format!("{links} links in {} pages", pages.len())))
}

/// Why a link is broken, or `None` when it leads somewhere or is an address on the web.
fn broken(workspace: &Workspace, page: &Path, target: &str) -> Result<Option<String>> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(None);
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let folder = page.parent().unwrap_or(Path::new(""));
    let path = if file.is_empty() { page.to_owned() } else { folder.join(file) };
    if !workspace.root.join(&path).exists() {
        return Ok(Some("leads to no file".to_owned()));
    }
    let is_page = path.extension().is_some_and(|extension| extension == "md");
    if heading.is_empty() || !is_page || headings(&workspace.read(&path)?).contains(heading) {
        return Ok(None);
    }
    Ok(Some(format!("leads to no heading of {}", path.display())))
}

/// Pages of the book that its table of contents does not name; readers would never find them.
fn missing_from_contents(workspace: &Workspace, pages: &[PathBuf]) -> Result<Vec<String>> {
    let contents = targets(&workspace.read(Path::new(CONTENTS))?);
    let named: BTreeSet<PathBuf> = contents.iter().map(|target| Path::new(BOOK).join(target)).collect();
    let is_missing = |page: &&PathBuf| page.starts_with(BOOK) && *page != Path::new(CONTENTS) && !named.contains(*page);
    Ok(pages.iter().filter(is_missing).map(|page| format!("{CONTENTS} does not name {}", page.display())).collect())
}

/// The targets of all links and images, outside code.
fn targets(markdown: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for line in prose(markdown) {
        let mut rest = without_code_spans(line);
        while let Some(position) = rest.find("](") {
            rest = rest.split_off(position + 2);
            let end = rest.find(')').unwrap_or(rest.len());
            let target = rest.get(..end).unwrap_or_default().split_whitespace().next().unwrap_or_default();
            targets.push(target.trim_matches(['<', '>']).to_owned());
        }
    }
    targets
}

/// The anchors of all headings, as mdBook and GitHub make them.
fn headings(markdown: &str) -> BTreeSet<String> {
    let lines = prose(markdown).filter(|line| line.starts_with('#'));
    lines.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).flat_map(char::to_lowercase).collect()
}

/// The lines outside fenced code.
fn prose(markdown: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    markdown.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence {
            is_code = !is_code;
        }
        !is_code && !is_fence
    })
}

fn without_code_spans(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_outside_code() {
        let page = "[a](a.md#b) and ![c](c.png \"title\") `[no](no.md)`\n```\n[no](no.md)\n```\n[d](<d.md>)\n";
        assert_eq!(targets(page), ["a.md#b", "c.png", "d.md"]);
    }

    #[test]
    fn makes_anchors_as_mdbook_does() {
        let expected = ["exit-codes-0-to-6", "hob-plan", "内存"].map(str::to_owned);
        assert_eq!(headings("# Exit codes: 0 to 6\n## `hob plan`\n```\n# no\n```\n### 内存\n"), expected.into());
    }
}
