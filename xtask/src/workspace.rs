//! The workspace as cargo sees it, and the list of files that belong to it.
//!
//! Reads only; every other module takes its paths from here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Where the workspace lies, where its build output goes, and its dependency graph.
pub struct Workspace {
    /// The folder of the root `Cargo.toml`.
    pub root: PathBuf,
    /// Where cargo puts build output (`CARGO_TARGET_DIR` is honoured).
    pub target: PathBuf,
    /// The answer of `cargo metadata`, format version 1.
    pub metadata: Value,
}

impl Workspace {
    /// Asks cargo. The lock file is taken as it is: a stale one is an error, since nothing here may change it.
    pub fn find() -> Result<Workspace> {
        let output = Command::new(cargo())
            .args(["metadata", "--format-version", "1", "--locked"])
            .output()
            .context("could not start cargo; install the Rust toolchain from https://rustup.rs")?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            bail!(
                "`cargo metadata --locked` failed; when it says that the lock file needs an update, run `cargo check` \
                 and commit Cargo.lock\n{message}"
            );
        }
        Workspace::from_metadata(serde_json::from_slice(&output.stdout).context("cargo metadata did not print JSON")?)
    }

    fn from_metadata(metadata: Value) -> Result<Workspace> {
        let folder = |key: &str| -> Result<PathBuf> {
            let text = metadata[key].as_str().with_context(|| format!("cargo metadata has no `{key}`"))?;
            Ok(PathBuf::from(text))
        };
        Ok(Workspace { root: folder("workspace_root")?, target: folder("target_directory")?, metadata })
    }

    /// Every file that git tracks or would track, relative to the root, sorted. Without git (an unpacked archive), every
    /// file outside the build output.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&self.root)
            .output();
        let mut files = BTreeSet::new();
        match listed {
            Ok(output) if output.status.success() => {
                let names = String::from_utf8(output.stdout).context("git lists a file whose name is not UTF-8")?;
                files.extend(names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from));
            }
            _ => walk(&self.root, &self.root, &self.target, &mut files)?,
        }
        // A tracked file that was just deleted is still listed, and a link to a folder is no file.
        Ok(files.into_iter().filter(|file| self.root.join(file).is_file()).collect())
    }

    /// The files of [`Workspace::files`] whose name ends with one of the given extensions.
    pub fn files_with_extension(&self, extensions: &[&str]) -> Result<Vec<PathBuf>> {
        let mut files = self.files()?;
        files.retain(|file| {
            file.extension().and_then(|extension| extension.to_str()).is_some_and(|ext| extensions.contains(&ext))
        });
        Ok(files)
    }

    /// The text of one file of the workspace, its path in every error.
    pub fn read(&self, file: &Path) -> Result<String> {
        std::fs::read_to_string(self.root.join(file)).with_context(|| format!("could not read {}", file.display()))
    }

    /// Where cargo leaves the binary `hob` under the given profile's folder (`debug` or `release`).
    pub fn hob(&self, profile_folder: &str) -> PathBuf {
        self.target.join(profile_folder).join(format!("hob{}", std::env::consts::EXE_SUFFIX))
    }
}

/// Whether a Rust file holds tests only, by where it lies or by its name: `tests.rs`, `price_tests.rs`.
pub fn is_test_file(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_in_test_folder = file.iter().any(|part| part == "tests" || part == "benches");
    is_in_test_folder || name == "tests.rs" || name.ends_with("_tests.rs")
}

/// The cargo that started this program, so that `cargo +toolchain xtask` keeps its toolchain.
pub fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

fn walk(root: &Path, folder: &Path, target: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let is_output = path == target || path.ends_with("target") || path.ends_with(".git");
        if is_output || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            walk(root, &path, target, files)?;
        } else if let Ok(relative) = path.strip_prefix(root) {
            files.insert(relative.to_owned());
        }
    }
    Ok(())
}
