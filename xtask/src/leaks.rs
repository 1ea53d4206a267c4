//! No trace of one machine in the repository: no absolute path of a home or work folder, no private package registry.
//!
//! A path or a host that only one machine knows breaks the build everywhere else, and tells strangers about it.

use std::path::Path;

use anyhow::Result;

use crate::steps::Outcome;
use crate::workspace::Workspace;

/// Folders that only one machine has. Each is found where a path begins, not inside an address or a longer path.
/// Written in two parts, so that this file does not find itself.
const MACHINE_FOLDERS: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("C:", "\\Users"),
];

/// Files where a path is the subject, each with the reason.
const MAY_NAME_PATHS: &[(&str, &str)] = &[];

/// Settings that point a package manager somewhere else; they belong to a machine, not to the repository.
const REGISTRY_SETTINGS: &[&str] = &["replace-with", "index-url", "[source.", "[registries", "registry="];

/// The only sources that a lock file may name.
const PUBLIC_SOURCES: &[&str] =
    &["registry+https://github.com/rust-lang/crates.io-index", "https://registry.npmjs.org/"];

/// The step: reads every text file of the workspace.
pub fn check(workspace: &Workspace) -> Result<Outcome> {
    let here = workspace.root.display().to_string();
    let files = workspace.files()?;
    let mut problems = Vec::new();
    for file in &files {
        let bytes = std::fs::read(workspace.root.join(file))?;
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        for (number, line) in text.lines().enumerate() {
            if let Some(found) = leak(file, line, &here) {
                problems.push(format!("{}:{}: {found}", file.display(), number + 1));
            }
        }
    }
    Ok(Outcome::new(problems, format!("{} files", files.len())))
}

/// What leaks in one line, if anything does.
fn leak(file: &Path, line: &str, here: &str) -> Option<String> {
    let may_name_paths = MAY_NAME_PATHS.iter().any(|(path, _)| file == Path::new(path));
    if !may_name_paths {
        let folder = MACHINE_FOLDERS.iter().chain([&here]).find(|folder| begins_a_path(line, folder));
        if let Some(folder) = folder {
            return Some(format!("names `{folder}`, a path of one machine"));
        }
    }
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_lock = name.ends_with(".lock") || name.ends_with("-lock.json") || name.ends_with("-lock.yaml");
    let source = line.trim().strip_prefix("source = \"").or_else(|| line.trim().strip_prefix("\"resolved\": \""));
    if let Some(source) = source
        && is_lock
        && !PUBLIC_SOURCES.iter().any(|public| source.starts_with(public))
    {
        return Some(format!(
            "takes a package from `{}`, which is not the public registry",
            source.trim_end_matches('"')
        ));
    }
    let is_setting =
        file.starts_with(".cargo") || file.starts_with(".ci") || matches!(name, ".npmrc" | "pip.conf" | ".yarnrc.yml");
    let setting = REGISTRY_SETTINGS.iter().find(|setting| line.contains(*setting));
    match setting {
        Some(setting) if is_setting => Some(format!("`{setting}` points at a package registry of one machine")),
        _ => None,
    }
}

/// Whether the folder stands in the line where a path begins: not behind a letter, a digit or another path part.
fn begins_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(position, _)| {
        let before = line.get(..position).and_then(|before| before.chars().next_back());
        !before.is_some_and(|letter| letter.is_alphanumeric() || "._-~/}$".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, line: &str, is_leak: bool) {
        let found = leak(Path::new(file), line, "/srv/checkout");
        assert_eq!(found.is_some(), is_leak, "{file}: {line}: {found:?}");
    }

    #[test]
    fn machine_paths_leak() {
        check("README.md", concat!("see /wo", "rk/main/docs"), true);
        check("data/a.csv", concat!("a,\"/ro", "ot/.cargo\",b"), true);
        check("docs/a.md", "built in /srv/checkout", true);
        check("docs/a.md", concat!("https://example.com/wo", "rk/a and frame/ho", "me/b"), false);
        check("docs/a.md", concat!("$DIR/wo", "rk/a, ~/wo", "rk/a and ../wo", "rk/a"), false);
    }

    #[test]
    fn private_registries_leak() {
        check("Cargo.lock", "source = \"registry+https://github.com/rust-lang/crates.io-index\"", false);
        check("Cargo.lock", "source = \"registry+https://crates.example.internal/index\"", true);
        check(
            "console/package-lock.json",
            "      \"resolved\": \"https://registry.npmjs.org/a/-/a-1.0.0.tgz\",",
            false,
        );
        check("console/package-lock.json", "      \"resolved\": \"https://npm.example.internal/a-1.0.0.tgz\",", true);
        check(".cargo/config.toml", "replace-with = \"mirror\"", true);
        check("docs/a.md", "cargo's replace-with setting", false);
    }
}
