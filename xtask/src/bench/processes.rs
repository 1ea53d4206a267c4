//! Benches that start the binary on what lies in the repository: its version, and a plan for every example.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::bench::Ground;
use crate::bench::timing::Timing;
use crate::examples;

const START_RUNS: usize = 200;
const PLAN_RUNS: usize = 20;
/// Long enough to hold many plans, short enough that several fit into a coffee break.
const WINDOW: Duration = Duration::from_secs(1);
const WINDOWS: usize = 5;

/// How long it takes to start the binary and end it again.
pub fn start(ground: &Ground) -> Result<Vec<Timing>> {
    let durations = repeat(&ground.hob, &["--version".into()], ground.runs.unwrap_or(START_RUNS))?;
    Ok(vec![Timing::of_durations("start", "hob --version", &durations)])
}

/// How long one plan takes, per example.
pub fn plan(ground: &Ground) -> Result<Vec<Timing>> {
    let mut timings = Vec::new();
    for (name, arguments) in plan_commands(ground)? {
        let durations = repeat(&ground.hob, &arguments, ground.runs.unwrap_or(PLAN_RUNS))?;
        timings.push(Timing::of_durations("plan", name, &durations));
    }
    Ok(timings)
}

/// How many plans finish in a second when processes run one after the other, and when one runs on each core. The
/// examples take turns.
pub fn plans_per_second(ground: &Ground) -> Result<Vec<Timing>> {
    let commands: Vec<Vec<OsString>> = plan_commands(ground)?.into_iter().map(|(_, arguments)| arguments).collect();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut timings = Vec::new();
    for workers in if cores == 1 { vec![1] } else { vec![1, cores] } {
        let mut rates = Vec::new();
        for _ in 0..ground.runs.unwrap_or(WINDOWS) {
            rates.push(rate(&ground.hob, &commands, workers)?);
        }
        let case = if workers == 1 { "1 at a time".to_owned() } else { format!("{workers} at a time") };
        timings.push(Timing::of_rates("plans-per-second", case, "plans/s", rates));
    }
    Ok(timings)
}

/// Plans a second over one window: all that were begun inside it, over the time until the last of them ended.
fn rate(hob: &Path, commands: &[Vec<OsString>], workers: usize) -> Result<f64> {
    let start = Instant::now();
    let worker = |offset: usize| -> Result<usize> {
        let mut finished = 0;
        for arguments in commands.iter().cycle().skip(offset) {
            if start.elapsed() >= WINDOW {
                break;
            }
            once(hob, arguments)?;
            finished += 1;
        }
        Ok(finished)
    };
    let counts: Result<Vec<usize>> = thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|offset| scope.spawn(move || worker(offset))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap_or_else(|_| bail!("a worker thread died"))).collect()
    });
    let plans: usize = counts?.into_iter().sum();
    Ok(plans as f64 / start.elapsed().as_secs_f64())
}

fn plan_commands(ground: &Ground) -> Result<Vec<(String, Vec<OsString>)>> {
    let mut commands = Vec::new();
    for example in examples::list(ground.workspace)? {
        let path = ground.workspace.root.join(&example).into_os_string();
        commands.push((example.display().to_string(), vec!["plan".into(), path, "--json".into()]));
    }
    if commands.is_empty() {
        bail!("examples/ holds no workload file");
    }
    Ok(commands)
}

/// Times a command so many times, after one run that warms the disk cache.
pub fn repeat(hob: &Path, arguments: &[OsString], runs: usize) -> Result<Vec<Duration>> {
    once(hob, arguments)?;
    (0..runs).map(|_| once(hob, arguments)).collect()
}

/// From before the process starts until it has ended. What it prints is thrown away; a failure is an error.
pub fn once(program: &Path, arguments: &[OsString]) -> Result<Duration> {
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("could not start {}", program.display()))?;
    let duration = start.elapsed();
    if !status.success() {
        let shown: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
        bail!("`{} {}` ended with {status}", program.display(), shown.join(" "));
    }
    Ok(duration)
}
