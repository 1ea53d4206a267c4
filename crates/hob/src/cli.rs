//! Arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "hob",
    version,
    about = "Plan, run and pay for GPU compute",
    after_help = "Examples:\n  hob new\n  hob plan examples/essay-grader.toml\n  hob inspect Qwen/Qwen2.5-7B\n  hob inspect 7B --lang zh"
)]
pub struct Cli {
    /// Flags that every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// Print a versioned JSON document instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Language of the output; the locale decides when it is not given
    #[arg(long, global = true, env = "HOB_LANG", value_name = "LANG")]
    pub lang: Option<LanguageChoice>,
    /// Price list, SkyPilot catalog or other catalog file to lay over the built-in catalog; may be repeated
    #[arg(long = "catalog", global = true, value_name = "FILE")]
    pub catalogs: Vec<PathBuf>,
    /// When to colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Colour,
}

/// A language.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LanguageChoice {
    /// English
    En,
    /// Simplified Chinese
    Zh,
}

/// What puts rows of a table of measurements into one group.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum By {
    /// The card
    GpuClass,
    /// The model
    Model,
    /// The framework or engine
    Engine,
    /// The scenario, or the method of training
    Scenario,
}

/// What a fit must not have seen of a row that it predicts.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum HeldOutBy {
    /// Rows of the same model, card and source
    Group,
    /// Rows of the same model
    Model,
    /// Rows of the same card
    GpuClass,
    /// Rows of the same framework or engine
    Engine,
}

/// When to colour.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find which instance, how many, in which layout and billing mode does the work, and what it costs
    #[command(
        after_help = "Examples:\n  hob plan examples/essay-grader.toml              ranked offers\n  hob plan hob.toml --explain 1                    the arithmetic behind the first one\n  hob plan hob.toml --json                         the whole plan, `hob.plan/1`\n  hob plan hob.toml --html                         a page with charts, hob.html"
    )]
    Plan {
        /// Workload file
        file: PathBuf,
        /// Show the whole arithmetic of one ranked offer, with its sources
        #[arg(long, value_name = "N")]
        explain: Option<usize>,
        /// Write one self-contained page with charts; `-` is standard output, the default a file named after FILE
        #[arg(long, value_name = "OUT", num_args = 0..=1, conflicts_with_all = ["explain", "json"])]
        html: Option<Option<PathBuf>>,
        /// Table of your own measurements (`hob probe` writes one), which tightens the offers that it bears on; may be
        /// repeated
        #[arg(long, value_name = "TABLE")]
        measured: Vec<PathBuf>,
    },
    /// Measure your own machine, and tighten what is predicted for it
    #[command(
        after_help = "Examples:\n  hob probe endpoint http://localhost:8000 --model Qwen/Qwen2.5-7B --gpu L20\n  hob probe command --model 7B --gpu H20 --set micro_batch=4 -- python train.py\n  hob probe point --model llama3.1-8b --gpu L40 --engine vllm concurrency=8 tpot_ms_p50=21\n  hob plan hob.toml --measured hob-ledger-serving.csv"
    )]
    Probe {
        /// How to measure
        #[command(subcommand)]
        command: crate::commands::probe::args::ProbeCommand,
    },
    /// Show what a model is made of: parameters, bytes, FLOPs, KV cache, and what was not understood
    #[command(
        after_help = "Examples:\n  hob inspect Qwen/Qwen2.5-7B          a preset, by hub id or short name\n  hob inspect ./my-model               a folder, config.json, .safetensors, .gguf or .onnx\n  hob inspect 7B --json                only a parameter count is known"
    )]
    Inspect {
        /// Folder, file, preset name, or a bare parameter count such as `7B`
        model: String,
    },
    /// Write a workload file: asks on a terminal, or takes the answers from flags
    #[command(
        after_help = "Examples:\n  hob new                                                  asks what it needs\n  hob new --kind serve --model Qwen/Qwen2.5-7B --rate \"2 req/s\"\n  hob new --kind train --model 7B --set train.method=qlora --out tune.toml"
    )]
    New(Box<NewFlags>),
    /// Score predictions against a table of measured runs
    #[command(
        after_help = "Examples:\n  hob evaluate runs.csv                                    every target that the table measures\n  hob evaluate runs.csv --by engine --where quality=A      in groups, over some rows\n  hob evaluate runs.csv --json                             scores and reasons, `hob.evaluation/1`"
    )]
    Evaluate {
        /// CSV file with a header; its columns tell what was measured
        table: PathBuf,
        /// Score in groups as well
        #[arg(long, value_name = "GROUP")]
        by: Option<By>,
        /// Predict each row by a fit that never saw what it shares with others; fits four times
        #[arg(long, value_name = "WHAT", conflicts_with = "by")]
        held_out: Option<HeldOutBy>,
        /// Only rows whose column matches, with `*` and `?`; may be given several times
        #[arg(long = "where", value_name = "COLUMN=GLOB")]
        filters: Vec<String>,
    },
    /// Fit the coefficients of the predictions to published measurements, and to your own
    #[command(
        after_help = "Examples:\n  hob calibrate                                      what the published rows say, and how well it predicts\n  hob calibrate --with mine.csv --weight 3           your own rows count three times\n  hob calibrate --out fitted.csv                     write the coefficients"
    )]
    Calibrate {
        /// Table of your own measured runs, in the form of `hob evaluate`; may be given several times
        #[arg(long, value_name = "TABLE")]
        with: Vec<PathBuf>,
        /// How much a row of your own counts beside a published one
        #[arg(long, default_value_t = 1.0, value_parser = weight)]
        weight: f64,
        /// File for the fitted coefficients
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// List, show and compare GPUs, instance types and prices, or import a price list
    #[command(
        after_help = "Examples:\n  hob catalog list --cloud tencent\n  hob catalog show L20\n  hob catalog compare L20 H20 --lang zh"
    )]
    Catalog {
        /// What to do
        #[command(subcommand)]
        command: crate::commands::catalog::args::CatalogCommand,
    },
    /// Print the JSON Schema of the workload file, by which editors complete and check it
    Schema {
        /// Print the keys as tables of the book instead
        #[arg(long, hide = true)]
        keys: bool,
    },
    /// Print this command line as a page of the book
    #[command(hide = true)]
    Reference,
    /// Print the completion script of a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}

/// Answers to what `hob new` would ask. It asks when the kind or the model is not among them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Answers")]
pub struct NewFlags {
    /// Kind of work: train, serve, batch, transcode, render
    #[arg(long)]
    pub kind: Option<String>,
    /// Model: a name, a hub id, a folder or file, or a count such as `7B`
    #[arg(long)]
    pub model: Option<String>,
    /// What the model does; told from the model when not given
    #[arg(long)]
    pub task: Option<String>,
    /// A try-out (dev) or real users (production)
    #[arg(long)]
    pub stage: Option<String>,
    /// Arrivals in the busy hour, `2 req/s` (serve)
    #[arg(long)]
    pub rate: Option<String>,
    /// How it is trained: pretrain, full, lora, qlora (train)
    #[arg(long)]
    pub method: Option<String>,
    /// Size of the training set, `50000 images` (train)
    #[arg(long)]
    pub samples: Option<String>,
    /// How much is worked through, `1M texts` (batch)
    #[arg(long)]
    pub amount: Option<String>,
    /// Time within which it must be done, `5 days` (all but serve)
    #[arg(long)]
    pub deadline: Option<String>,
    /// What it may cost, `CNY 20000/month` or `CNY 50000`
    #[arg(long)]
    pub budget: Option<String>,
    /// A cloud on which it may run; may be given several times
    #[arg(long)]
    pub cloud: Vec<String>,
    /// Any other key of the workload file, `traffic.prompt=800 tokens`; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// File to write; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "hob.toml", help_heading = "File")]
    pub out: PathBuf,
    /// Write over a file that is there
    #[arg(long, help_heading = "File")]
    pub force: bool,
}

/// A weight of rows: above zero, and not so large that nothing else counts.
fn weight(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|weight| (0.001..=1000.0).contains(weight)).ok_or_else(|| "0.001..1000".to_owned())
}
