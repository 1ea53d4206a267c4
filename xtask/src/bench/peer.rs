//! The same question to Hob and to AIConfigurator, in turns on one machine: whole process, start to end.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::bench::Ground;
use crate::bench::processes::once;
use crate::bench::timing::Timing;

const RUNS: usize = 3;
/// Its own example of a default search, on one system; see `peer.toml` for the same as a workload file.
const PEER: &str = "aiconfigurator";
const PEER_ARGUMENTS: [&str; 16] = [
    "cli",
    "default",
    "--model-path",
    "Qwen/Qwen3-32B",
    "--total-gpus",
    "8",
    "--system",
    "h200_sxm",
    "--isl",
    "4000",
    "--osl",
    "500",
    "--ttft",
    "300",
    "--tpot",
    "10",
];

/// Times both in turns. Without the peer there is nothing to compare with.
pub fn side_by_side(ground: &Ground) -> Result<Vec<Timing>> {
    let starts = Command::new(PEER).arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !starts.is_ok_and(|status| status.success()) {
        bail!("`{PEER}` does not start; install it with `pip install aiconfigurator==0.12.0`");
    }
    let file = ground.workspace.root.join("xtask/src/bench/peer.toml");
    let plan = ["plan".into(), file.into_os_string(), "--json".into()];
    let peer = PEER_ARGUMENTS.map(Into::into);
    once(&ground.hob, &plan)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ground.runs.unwrap_or(RUNS) {
        theirs.push(once(Path::new(PEER), &peer)?);
        ours.push(once(&ground.hob, &plan)?);
    }
    let ratios = theirs.iter().zip(&ours).map(|(theirs, ours)| theirs.as_secs_f64() / ours.as_secs_f64()).collect();
    Ok(vec![
        Timing::of_durations("peer", "hob plan, whole catalog", &ours),
        Timing::of_durations("peer", "aiconfigurator cli default, one system", &theirs),
        Timing::of_rates("peer", "the peer's time over ours", "times", ratios),
    ])
}
