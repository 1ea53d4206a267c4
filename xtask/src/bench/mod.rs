//! `cargo xtask bench`: times the release binary as a user starts it, one process per run, and prints a table.
//!
//! A figure holds for the machine and the load under which it was taken. To quote one against another program, measure
//! both side by side.

mod peer;
mod processes;
mod sharded_model;
mod timing;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::bench::timing::Timing;
use crate::command::cargo_passes;
use crate::workspace::Workspace;

/// What every bench gets.
pub struct Ground<'a> {
    /// The workspace, for its examples and its build folder.
    pub workspace: &'a Workspace,
    /// The release binary.
    pub hob: PathBuf,
    /// How many runs the user asked for; each bench has its own number otherwise.
    pub runs: Option<usize>,
}

struct Bench {
    name: &'static str,
    says: &'static str,
    run: fn(&Ground) -> Result<Vec<Timing>>,
    /// Needs a program that is not ours: runs only when it is named.
    only_named: bool,
}

/// One row per bench.
const BENCHES: &[Bench] = &[
    Bench { name: "start", says: "`hob --version`, process start to end", run: processes::start, only_named: false },
    Bench {
        name: "plan",
        says: "`hob plan` over the whole catalog, process start to end",
        run: processes::plan,
        only_named: false,
    },
    Bench {
        name: "plans-per-second",
        says: "finished `hob plan` processes in a second, on one core and on all",
        run: processes::plans_per_second,
        only_named: false,
    },
    Bench {
        name: "inspect-400b",
        says: "`hob inspect` on a sharded 405B dense and a 480B mixture-of-experts model",
        run: sharded_model::inspect,
        only_named: false,
    },
    Bench {
        name: "peer",
        says: "the same question to `hob plan` and to AIConfigurator 0.12, in turns (only when named)",
        run: peer::side_by_side,
        only_named: true,
    },
];

/// The version of the JSON that `--json` prints.
const JSON_VERSION: u64 = 1;

/// Runs the named benches, or all.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<bool> {
    let mut names = Vec::new();
    let mut is_json = false;
    let mut runs = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--json" => is_json = true,
            "--runs" => {
                let number = rest.next().context("`--runs` needs a number")?;
                runs =
                    Some(number.parse().ok().filter(|runs| *runs > 0).context("`--runs` needs a number above zero")?);
            }
            "--list" => {
                for bench in BENCHES {
                    println!("{:<17} {}", bench.name, bench.says);
                }
                return Ok(true);
            }
            name if BENCHES.iter().any(|bench| bench.name == name) => names.push(name),
            unknown => bail!("no bench `{unknown}`; `cargo xtask bench --list` names them"),
        }
    }

    eprintln!("building the release binary");
    if !cargo_passes(workspace, &["build", "--release", "--package", "hob", "--locked", "--quiet"], &[])? {
        bail!("the release binary does not build");
    }
    let ground = Ground { workspace, hob: workspace.hob("release"), runs };
    let mut timings = Vec::new();
    for bench in BENCHES.iter().filter(|bench| names.contains(&bench.name) || names.is_empty() && !bench.only_named) {
        eprintln!("{}: {}", bench.name, bench.says);
        timings.extend((bench.run)(&ground).with_context(|| format!("bench `{}`", bench.name))?);
    }
    if is_json {
        let rows: Vec<_> = timings.iter().map(Timing::to_json).collect();
        println!("{:#}", serde_json::json!({ "version": JSON_VERSION, "timings": rows }));
    } else {
        print!("{}", timing::table(&timings));
    }
    Ok(true)
}
