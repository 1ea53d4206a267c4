//! Arguments of `hob probe`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// How to measure.
#[derive(Debug, Subcommand)]
pub enum ProbeCommand {
    /// Send requests to an OpenAI-compatible endpoint with 1, 8 and 32 in flight
    Endpoint {
        /// Address, `http://localhost:8000`; a key is taken from OPENAI_API_KEY
        url: String,
        /// What runs where
        #[command(flatten)]
        setting: Setting,
        /// Seconds in all
        #[arg(long, default_value_t = 60.0)]
        seconds: f64,
        /// Most requests with each number in flight
        #[arg(long, value_name = "N")]
        requests: Option<u32>,
        /// Tokens of a prompt, about; the endpoint's own count is recorded
        #[arg(long, default_value_t = 512)]
        prompt: u32,
        /// Tokens of an answer
        #[arg(long, default_value_t = 128)]
        output: u32,
        /// Name of the model at the endpoint; its first one when not given
        #[arg(long, value_name = "NAME")]
        served_model: Option<String>,
    },
    /// Run a training command, and read step times or tokens a second out of what it prints; then stop it
    Command {
        /// What runs where
        #[command(flatten)]
        setting: Setting,
        /// Readings after which it is stopped
        #[arg(long, value_name = "N", default_value_t = 30)]
        readings: usize,
        /// Seconds after the first reading in which it is stopped at the latest
        #[arg(long, default_value_t = 60.0)]
        seconds: f64,
        /// The command, after `--`
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Type in what you measured
    Point {
        /// What runs where
        #[command(flatten)]
        setting: Setting,
        /// Columns of the table, `concurrency=8 tpot_ms_p50=21.5`
        #[arg(required = true, value_name = "COLUMN=VALUE")]
        values: Vec<String>,
    },
}

/// What runs where.
#[derive(Debug, Clone, Args)]
pub struct Setting {
    /// Model: a name or hub id, as the workload file has it
    #[arg(long)]
    pub model: String,
    /// Card, as the catalog names it
    #[arg(long)]
    pub gpu: String,
    /// How many of them
    #[arg(long, default_value_t = 1)]
    pub gpus: u32,
    /// Engine and version, `vllm 0.11`, or training framework; asked of the endpoint, `pytorch` for training
    #[arg(long)]
    pub engine: Option<String>,
    /// Number format of the weights
    #[arg(long, default_value = "bf16")]
    pub precision: String,
    /// Table to append to; `hob-ledger-serving.csv`, `-training.csv` or `-memory.csv` when not given
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// Any other column, `tp=2` or `seq_len=4096`; may be repeated
    #[arg(long, value_name = "COLUMN=VALUE")]
    pub set: Vec<String>,
}
