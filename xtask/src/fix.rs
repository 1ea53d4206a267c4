//! `cargo xtask fix`: rewrites what a program can rewrite. What it cannot fix, `verify` names.

use anyhow::Result;

use crate::command::cargo_passes;
use crate::generated;
use crate::workspace::Workspace;

/// Applies clippy's suggestions, formats, and writes the generated docs again.
pub fn run(workspace: &Workspace) -> Result<bool> {
    let clippy = ["clippy", "--fix", "--allow-dirty", "--allow-staged", "--workspace", "--all-targets", "--quiet"];
    let is_linted = cargo_passes(workspace, &clippy, &[])?;
    // Formatting comes after clippy, whose rewrites are not formatted.
    let is_formatted = cargo_passes(workspace, &["fmt", "--all"], &[])?;
    let is_built = cargo_passes(workspace, &["build", "--package", "hob", "--quiet"], &[])?;
    let is_generated = generated::write(workspace)?;
    Ok(is_linted && is_formatted && is_built && is_generated)
}
