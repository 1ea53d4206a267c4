//! Keeps the bans of `crates/clippy.toml` in force: no pure crate may replace them with a file of its own, and the places
//! that lift them are few and known.

use std::path::Path;

use anyhow::Result;

use crate::arrows::ROOMS;
use crate::steps::Outcome;
use crate::workspace::{Workspace, is_test_file};

/// How many source files of a pure crate may lift the bans outside tests: its one edge file, where it has one.
fn edge_files_max(room: &str) -> usize {
    match room {
        // Both read what the user names: price lists and own facts; model folders.
        "hob-catalog" | "hob-model" => 1,
        _ => 0,
    }
}

/// The step: looks at the clippy files and at the source of every pure room.
pub fn check(workspace: &Workspace) -> Result<Outcome> {
    let files = workspace.files()?;
    let mut problems = Vec::new();
    let mut edges = Vec::new();
    for room in ROOMS.iter().filter(|room| room.is_pure) {
        let folder = Path::new("crates").join(room.name);
        let own_files = files.iter().filter(|file| file.starts_with(&folder));
        let mut lifting = Vec::new();
        for file in own_files {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if matches!(name, "clippy.toml" | ".clippy.toml") {
                problems.push(format!("{} replaces the bans of crates/clippy.toml; remove it", file.display()));
            }
            let is_source = file.starts_with(folder.join("src")) && name.ends_with(".rs") && !is_test_file(file);
            if is_source && lifts_a_ban(&workspace.read(file)?) {
                lifting.push(file.display().to_string());
            }
        }
        if lifting.len() > edge_files_max(room.name) {
            problems.push(format!(
                "{} may lift the bans in {} file(s), and lifts them in {}",
                room.name,
                edge_files_max(room.name),
                lifting.join(", ")
            ));
        }
        edges.extend(lifting);
    }
    let note = if edges.is_empty() { "no edge file".to_owned() } else { format!("edge: {}", edges.join(", ")) };
    Ok(Outcome::new(problems, note))
}

/// Whether the text allows a disallowed method or type before its tests begin.
fn lifts_a_ban(text: &str) -> bool {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut attributes = code.split("allow(").skip(1).chain(code.split("expect(").skip(1));
    attributes.any(|rest| {
        let inside = rest.split(')').next().unwrap_or_default();
        inside.contains("clippy::disallowed_")
    })
}

#[cfg(test)]
mod tests {
    use super::lifts_a_ban;

    #[test]
    fn a_lifted_ban_is_seen_wherever_it_stands() {
        assert!(lifts_a_ban("#![allow(clippy::disallowed_methods, reason = \"edge\")]\n"));
        assert!(lifts_a_ban("#[expect(\n    clippy::disallowed_types,\n    reason = \"edge\"\n)]\nfn a() {}\n"));
        assert!(lifts_a_ban("#[allow(clippy::panic, clippy::disallowed_methods)]\nfn a() {}\n"));
    }

    #[test]
    fn tests_and_other_lints_do_not_count() {
        assert!(!lifts_a_ban("fn a() {}\n#[cfg(test)]\nmod tests {\n    #![allow(clippy::disallowed_methods)]\n}\n"));
        assert!(!lifts_a_ban("#[allow(clippy::too_many_arguments)]\nfn a() {}\n"));
    }
}
