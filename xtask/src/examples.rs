//! Every workload file in `examples/` runs as it is: `hob plan FILE --json` finds a plan and prints valid JSON.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use crate::command::run_bounded;
use crate::steps::Outcome;
use crate::workspace::Workspace;

/// An unoptimised build plans in seconds; a search that needs this long hangs.
const PLAN_LIMIT: Duration = Duration::from_secs(120);

/// The step: plans every example with the binary of the `build` step.
pub fn check(workspace: &Workspace) -> Result<Outcome> {
    let examples = list(workspace)?;
    let mut problems = Vec::new();
    if examples.is_empty() {
        problems.push("examples/ holds no workload file".to_owned());
    }
    for example in &examples {
        if let Some(problem) = problem(workspace, example) {
            problems.push(format!("{}: {problem}", example.display()));
        }
    }
    Ok(Outcome::new(problems, format!("{} examples", examples.len())))
}

/// The workload files in `examples/`, relative to the root, sorted.
pub fn list(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let mut examples = workspace.files_with_extension(&["toml"])?;
    examples.retain(|file| file.parent() == Some(Path::new("examples")));
    Ok(examples)
}

fn problem(workspace: &Workspace, example: &Path) -> Option<String> {
    let path = workspace.root.join(example);
    let arguments = ["plan".as_ref(), path.as_os_str(), "--json".as_ref()];
    let finished = match run_bounded(&workspace.hob("debug"), &arguments, PLAN_LIMIT) {
        Ok(finished) => finished,
        Err(error) => return Some(format!("`hob plan --json`: {error:#}")),
    };
    if finished.code != Some(0) {
        return Some(format!("`hob plan --json` ended with {:?}\n{}", finished.code, finished.stderr.trim_end()));
    }
    match serde_json::from_slice::<Value>(&finished.stdout) {
        Ok(Value::Object(document)) if document.is_empty() => {
            Some("`hob plan --json` printed an empty object".to_owned())
        }
        Ok(Value::Object(_)) => None,
        Ok(_) => Some("`hob plan --json` printed JSON that is no object".to_owned()),
        Err(error) => Some(format!("`hob plan --json` did not print JSON: {error}")),
    }
}
