//! Which room may see which. Dependencies run downwards only, and pure rooms never see an outside crate that does I/O.
//!
//! The tables here are the rule; `docs/adr/0002-rooms-and-arrows.md` says why.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::cargo_command;
use crate::steps::Outcome;
use crate::workspace::Workspace;

/// One crate of the workspace and the crates of the workspace that it may depend on.
pub struct Room {
    /// The package's name.
    pub name: &'static str,
    /// Only crates that stand earlier in [`ROOMS`].
    pub may_see: &'static [&'static str],
    /// Whether it is a function of its arguments: no I/O, no clock, no randomness.
    pub is_pure: bool,
}

/// Every room, lowest first.
pub const ROOMS: &[Room] = &[
    Room { name: "hob-units", may_see: &[], is_pure: true },
    Room { name: "hob-text", may_see: &[], is_pure: true },
    Room { name: "hob-catalog", may_see: &["hob-units"], is_pure: true },
    Room { name: "hob-model", may_see: &["hob-units"], is_pure: true },
    Room { name: "hob-workload", may_see: &["hob-units", "hob-text"], is_pure: true },
    Room { name: "hob-estimate", may_see: &["hob-units", "hob-catalog", "hob-model"], is_pure: true },
    Room { name: "hob-calibrate", may_see: &["hob-units", "hob-catalog", "hob-model", "hob-estimate"], is_pure: true },
    Room {
        name: "hob-plan",
        may_see: &["hob-units", "hob-text", "hob-catalog", "hob-model", "hob-workload", "hob-estimate"],
        is_pure: true,
    },
    Room {
        name: "hob",
        may_see: &[
            "hob-units",
            "hob-text",
            "hob-catalog",
            "hob-model",
            "hob-workload",
            "hob-estimate",
            "hob-calibrate",
            "hob-plan",
        ],
        is_pure: false,
    },
    Room { name: "xtask", may_see: &[], is_pure: false },
];

/// Crates that no pure room may reach, however far down: runtimes, networks, argument parsers, terminals, entropy.
const CLOSED_TO_PURE_ROOMS: &[&str] = &[
    "anstream",
    "async-std",
    "clap",
    "clap_builder",
    "comfy-table",
    "console",
    "crossterm",
    "dialoguer",
    "getrandom",
    "hyper",
    "indicatif",
    "inquire",
    "mio",
    "ratatui",
    "reqwest",
    "rusqlite",
    "smol",
    "socket2",
    "sys-locale",
    "terminal_size",
    "termion",
    "tokio",
    "ureq",
];

/// The step: reads the dependency graph of the workspace.
pub fn check(workspace: &Workspace) -> Result<Outcome> {
    let rooms_seen = rooms_seen(&workspace.metadata)?;
    let mut problems = upward_arrows(&rooms_seen);
    for room in ROOMS.iter().filter(|room| room.is_pure && rooms_seen.contains_key(room.name)) {
        problems.extend(impure_reaches(room.name, &linked(workspace, room.name)?));
    }
    Ok(Outcome::new(problems, format!("{} rooms", rooms_seen.len())))
}

/// Per crate of the workspace: the crates of the workspace that its `Cargo.toml` names, for tests and builds as well.
fn rooms_seen(metadata: &Value) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let members: BTreeSet<&str> = list(metadata, "workspace_members")?.iter().filter_map(Value::as_str).collect();
    let mut packages = Vec::new();
    for package in list(metadata, "packages")? {
        if members.contains(text(package, "id")?) {
            packages.push((text(package, "name")?, list(package, "dependencies")?));
        }
    }
    let names: BTreeSet<&str> = packages.iter().map(|(name, _)| *name).collect();
    let mut seen = BTreeMap::new();
    for (name, dependencies) in &packages {
        let wanted = dependencies.iter().filter_map(|dependency| dependency["name"].as_str());
        seen.insert((*name).to_owned(), wanted.filter(|name| names.contains(name)).map(str::to_owned).collect());
    }
    Ok(seen)
}

fn upward_arrows(rooms_seen: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, seen) in rooms_seen {
        let Some(room) = ROOMS.iter().find(|room| room.name == name) else {
            problems.push(format!("{name} has no row in the table of rooms (xtask/src/arrows.rs); add one"));
            continue;
        };
        let allowed = if room.may_see.is_empty() { "no other room".to_owned() } else { room.may_see.join(", ") };
        for dependency in seen {
            if !room.may_see.contains(&dependency.as_str()) {
                problems.push(format!("{name} depends on {dependency}; it may see {allowed}"));
            }
        }
    }
    problems
}

/// What a room links or builds with, as `cargo tree` prints it: one package a line, its depth before its name.
///
/// `cargo metadata` has the same graph, but lists optional packages that no feature switches on.
fn linked(workspace: &Workspace, room: &str) -> Result<String> {
    let arguments = ["tree", "--locked", "-p", room, "--edges", "normal,build", "--prefix", "depth"];
    let output = cargo_command(workspace, &arguments).output().context("could not start `cargo tree`")?;
    if !output.status.success() {
        bail!("`cargo tree -p {room}` failed\n{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    String::from_utf8(output.stdout).context("`cargo tree` did not print UTF-8")
}

fn impure_reaches(room: &str, tree: &str) -> Vec<String> {
    let mut problems = BTreeSet::new();
    let mut chain: Vec<&str> = Vec::new();
    for line in tree.lines() {
        // Lines without a depth are headings such as `[build-dependencies]`.
        let Some(end_of_depth) = line.find(|letter: char| !letter.is_ascii_digit()) else { continue };
        let (depth, rest) = line.split_at(end_of_depth);
        let (Ok(depth), Some(name)) = (depth.parse::<usize>(), rest.split_whitespace().next()) else { continue };
        chain.truncate(depth);
        chain.push(name);
        if CLOSED_TO_PURE_ROOMS.contains(&name) {
            problems.insert(format!("{room} is pure and reaches {name}: {}", chain.join(" -> ")));
        }
    }
    problems.into_iter().collect()
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key].as_array().with_context(|| format!("cargo metadata has no list `{key}`"))
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key].as_str().with_context(|| format!("cargo metadata has no text `{key}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The problems of a workspace in which each named crate depends on each named other.
    fn check_arrows(arrows: &[(&str, &str)], expected: &[&str]) {
        let names: BTreeSet<&str> = arrows.iter().flat_map(|(from, to)| [*from, *to]).collect();
        let packages: Vec<Value> = names
            .iter()
            .map(|name| {
                let own = arrows.iter().filter(|(from, _)| from == name);
                let dependencies: Vec<Value> = own.map(|(_, to)| json!({ "name": to, "kind": "dev" })).collect();
                json!({ "id": format!("id:{name}"), "name": name, "dependencies": dependencies })
            })
            .collect();
        let members: Vec<String> =
            names.iter().filter(|name| **name != "clap").map(|name| format!("id:{name}")).collect();
        let seen = rooms_seen(&json!({ "packages": packages, "workspace_members": members })).expect("complete");
        assert_eq!(upward_arrows(&seen), expected);
    }

    #[test]
    fn this_workspace_has_no_upward_arrow() {
        let workspace = Workspace::find().expect("cargo metadata answers");
        let outcome = check(&workspace).expect("the graph reads");
        assert!(outcome.problems.is_empty(), "{:#?}", outcome.problems);
    }

    #[test]
    fn the_table_itself_runs_downwards() {
        for (position, room) in ROOMS.iter().enumerate() {
            for seen in room.may_see {
                let is_below = ROOMS.iter().take(position).any(|lower| lower.name == *seen);
                assert!(is_below, "{} may see {seen}, which does not stand below it", room.name);
            }
        }
    }

    #[test]
    fn arrows_are_judged_by_the_table() {
        check_arrows(&[("hob-plan", "hob-units"), ("hob", "hob-plan"), ("hob", "clap")], &[]);
        check_arrows(&[("hob-model", "hob-plan")], &["hob-model depends on hob-plan; it may see hob-units"]);
        check_arrows(&[("hob-units", "hob-text")], &["hob-units depends on hob-text; it may see no other room"]);
        check_arrows(
            &[("hob-new", "hob-units")],
            &["hob-new has no row in the table of rooms (xtask/src/arrows.rs); add one"],
        );
    }

    #[test]
    fn a_pure_room_must_not_reach_a_runtime_through_others() {
        let tree = "\
0hob-units v0.1.0
1a v1.0.0
2b v1.0.0
3serde v1.0.0
[build-dependencies]
3tokio v1.0.0
1tokio v1.0.0 (*)
1clap_lex v1.0.0
";
        assert_eq!(
            impure_reaches("hob-units", tree),
            [
                "hob-units is pure and reaches tokio: hob-units -> a -> b -> tokio",
                "hob-units is pure and reaches tokio: hob-units -> tokio",
            ]
        );
    }
}
