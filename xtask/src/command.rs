//! Starting other programs: quietly with their output kept, or with their output passed through.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::workspace::{Workspace, cargo};

/// What a finished program left behind.
pub struct Finished {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error, as text.
    pub stderr: String,
}

/// A cargo command in the workspace's root.
pub fn cargo_command(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo());
    command.args(arguments).current_dir(&workspace.root);
    command
}

/// Runs a cargo command quietly; its output becomes the one problem when it fails.
pub fn cargo_problems(workspace: &Workspace, arguments: &[&str]) -> Result<Vec<String>> {
    let shown = format!("cargo {}", arguments.join(" "));
    let output = cargo_command(workspace, arguments).output().with_context(|| format!("could not start `{shown}`"))?;
    if output.status.success() {
        return Ok(Vec::new());
    }
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok(vec![format!("`{shown}` failed\n{}", text.trim_end())])
}

/// Runs a cargo command with its output passed through; says whether it succeeded.
pub fn cargo_passes(workspace: &Workspace, arguments: &[&str], environment: &[(&str, &str)]) -> Result<bool> {
    let shown = format!("cargo {}", arguments.join(" "));
    let status = cargo_command(workspace, arguments)
        .envs(environment.iter().copied())
        .status()
        .with_context(|| format!("could not start `{shown}`"))?;
    Ok(status.success())
}

/// Runs a program to its end or to the limit, whichever comes first. Reaching the limit is an error, and the program
/// is ended: a check must not hang.
pub fn run_bounded<S: AsRef<OsStr>>(program: &Path, arguments: &[S], limit: Duration) -> Result<Finished> {
    let mut child = Command::new(program)
        .args(arguments)
        // One language and no colours, whatever machine this runs on.
        .env("LC_ALL", "C")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start {}", program.display()))?;
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("did not finish in {} s", limit.as_secs());
        }
        thread::sleep(Duration::from_millis(2));
    };
    let stdout = stdout.join().unwrap_or_default();
    let stderr = String::from_utf8_lossy(&stderr.join().unwrap_or_default()).into_owned();
    Ok(Finished { code: status.code(), stdout, stderr })
}

/// Reads a pipe on its own thread, so that a program that prints much never blocks on a full pipe.
fn reader<R: std::io::Read + Send + 'static>(pipe: Option<R>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A broken pipe ends the text early; the exit code then says what happened.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}
