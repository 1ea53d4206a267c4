//! Arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "hob",
    version,
    about = "Plan, run and pay for GPU compute",
    after_help = "Examples:\n  hob plan examples/essay-grader.toml\n  hob inspect Qwen/Qwen2.5-7B\n  hob inspect 7B --lang zh"
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
        after_help = "Examples:\n  hob plan examples/essay-grader.toml              ranked offers\n  hob plan hob.toml --explain 1                    the arithmetic behind the first one\n  hob plan hob.toml --json                         the whole plan, `hob.plan/1`"
    )]
    Plan {
        /// Workload file
        file: PathBuf,
        /// Show the whole arithmetic of one ranked offer, with its sources
        #[arg(long, value_name = "N")]
        explain: Option<usize>,
    },
    /// Show what a model is made of: parameters, bytes, FLOPs, KV cache, and what was not understood
    #[command(
        after_help = "Examples:\n  hob inspect Qwen/Qwen2.5-7B          a preset, by hub id or short name\n  hob inspect ./my-model               a folder, config.json, .safetensors, .gguf or .onnx\n  hob inspect 7B --json                only a parameter count is known"
    )]
    Inspect {
        /// Folder, file, preset name, or a bare parameter count such as `7B`
        model: String,
    },
    /// Print the JSON Schema of the workload file
    #[command(hide = true)]
    Schema,
    /// Print this command line as a page of the book
    #[command(hide = true)]
    Reference,
    /// Print the completion script of a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}
