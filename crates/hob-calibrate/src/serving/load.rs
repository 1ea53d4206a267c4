//! What a row's scenario asked of the replica, and which of its columns measured what.
//!
//! Lengths that a source does not state are those of its data set: AccelMark runs ShareGPT prompts (220 tokens in and
//! out) and one suite of 28,000-token prompts (256 out); LM-Arena chats open with short prompts.

use hob_estimate::{Arrival, ServeLoad};
use hob_units::PerSecond;

use crate::question::Unanswered;
use crate::table::Row;
use crate::target::Target;

/// Mean tokens of a ShareGPT prompt and of its answer.
const SHAREGPT: (f64, f64) = (220.0, 220.0);
/// Mean tokens of AccelMark's long suite.
const LONG_SUITE: (f64, f64) = (28_000.0, 256.0);
/// Mean prompt of an LM-Arena chat.
const ARENA_PROMPT: f64 = 128.0;
/// Prompt and output of a short generation without stated lengths (LitGPT's tables).
const SHORT: (f64, f64) = (32.0, 128.0);
/// More requests than any engine holds: an offline run sends them all at once.
const ALL_AT_ONCE: u32 = 100_000;
/// Engine defaults where a row states no limit of sequences: of a server, and of an offline run tuned for throughput.
const BATCH_SERVER: u32 = 256;
const BATCH_OFFLINE: u32 = 2048;

/// What a measured value is in terms of an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reading {
    /// Median time to first token, where the queue is stable.
    Ttft,
    /// Median time per token after the first.
    Tpot,
    /// The whole request.
    RequestTime,
    /// Output tokens a second of the whole job, where the replica is saturated.
    SaturatedOutput,
    /// Output tokens a second of the whole job.
    Output,
    /// Prompt tokens a second of one prompt after the other.
    Prompt,
    /// Output tokens a second of one request, its prompt's time included.
    WholeSpeed,
    /// Output tokens a second of one request after its first token.
    TokenSpeed,
}

/// A scenario made plain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) load: ServeLoad,
    pub(crate) batch_max: u32,
    pub(crate) readings: Vec<(Target, Reading, f64)>,
}

impl Asked {
    /// The row's scenario, for each of `replicas`.
    pub(crate) fn read(row: &Row, replicas: f64) -> Result<Self, Unanswered> {
        let scenario = row.text("scenario");
        let is = |word: &str| scenario.contains(word);
        let per_gpu = row.text("tok_kind").contains("per GPU");
        let mut asked = if is("prefill") {
            Self::prefill(row)?
        } else if scenario.starts_with("decode tg") {
            Self::closed(row, 1, (1.0, number(row, "out_len")?))
        } else if is("single-stream") || is("single stream") {
            Self::closed(row, 1, lengths(row, if row.says("suite_") { suite(row) } else { SHORT }))
        } else if is("offline") {
            let batch = row.noted("max_num_seqs").unwrap_or(if is("max load") { BATCH_OFFLINE } else { BATCH_SERVER });
            let asked = Self::closed(row, ALL_AT_ONCE, lengths(row, suite(row)));
            Self { batch_max: batch, ..asked }
        } else if let Some(rate) = row.positive("qps") {
            let arrival = Arrival::Open(PerSecond(rate / replicas));
            let batch = row.noted("max_num_seqs").unwrap_or(BATCH_SERVER);
            Self { batch_max: batch, ..Self::new(lengths(row, suite(row)), arrival) }
        } else if is("steady state") {
            // The mean running batch is measured, so the KV room need not be guessed.
            let running = number(row, "batch")?.round().max(1.0) as u32;
            Self::closed(row, running, (ARENA_PROMPT, number(row, "out_len")?))
        } else {
            let in_flight = row.count("concurrency").ok_or(Unanswered::Missing { column: "concurrency" })?;
            let in_flight = if per_gpu { in_flight.saturating_mul(row.count("gpus").unwrap_or(1)) } else { in_flight };
            Self::closed(row, in_flight, lengths(row, shared_prompts(row)))
        };
        asked.measured(row, per_gpu);
        if asked.readings.is_empty() {
            return Err(Unanswered::Missing { column: "tokens_per_s" });
        }
        Ok(asked)
    }

    fn new((prompt, output): (f64, f64), arrival: Arrival) -> Self {
        let load = ServeLoad { prompt, output, context_max: prompt + output, prefix_hit: 0.0, arrival };
        Self { load, batch_max: BATCH_SERVER, readings: Vec::new() }
    }

    fn closed(row: &Row, in_flight: u32, lengths: (f64, f64)) -> Self {
        let batch_max = row.noted("max_num_seqs").unwrap_or_else(|| in_flight.max(BATCH_SERVER));
        Self { batch_max, ..Self::new(lengths, Arrival::Closed(in_flight)) }
    }

    fn prefill(row: &Row) -> Result<Self, Unanswered> {
        Ok(Self::closed(row, 1, (number(row, "in_len")?, 1.0)))
    }

    /// Which columns measured what.
    fn measured(&mut self, row: &Row, per_gpu: bool) {
        let scenario = row.text("scenario");
        let output = self.load.output;
        let gpus = if per_gpu { f64::from(row.count("gpus").unwrap_or(1)) } else { 1.0 };
        let tokens = row.positive("tokens_per_s").map(|rate| rate * gpus);
        let seconds = |column| row.positive(column).map(|ms| ms / 1e3);
        let alone = self.load.arrival == Arrival::Closed(1);
        let mut add = |target, reading, value: Option<f64>| {
            self.readings.extend(value.map(|value| (target, reading, value)));
        };
        if scenario.contains("prefill") {
            return add(Target::ServeThroughput, Reading::Prompt, tokens);
        }
        let (ttft, tpot) = (seconds("ttft_ms_p50"), seconds("tpot_ms_p50"));
        if alone && scenario != "aggregated serving" {
            match row.text("tok_kind") {
                // Prompt and output tokens over the whole time.
                kind if kind.starts_with('(') => {
                    let share = output / (self.load.prompt + output);
                    add(Target::DecodeSpeed, Reading::WholeSpeed, tokens.map(|rate| rate * share));
                }
                _ if tpot.is_some() => add(Target::DecodeSpeed, Reading::TokenSpeed, tpot.map(|time| 1.0 / time)),
                _ if scenario.starts_with("decode tg") => add(Target::DecodeSpeed, Reading::TokenSpeed, tokens),
                _ => add(Target::DecodeSpeed, Reading::WholeSpeed, tokens),
            }
            return add(Target::ServeTtft, Reading::Ttft, ttft);
        }
        let saturates = ["offline", "steady", "static", "ShareGPT 3000"].iter().any(|word| scenario.contains(word));
        let reading = if saturates { Reading::Output } else { Reading::SaturatedOutput };
        let request = ttft.zip(tpot).map(|(first, rest)| first + (output - 1.0) * rest);
        let whole = match (self.load.arrival, request) {
            (Arrival::Closed(in_flight), Some(time)) => Some(f64::from(in_flight) * output / time),
            _ => None,
        };
        add(Target::ServeThroughput, reading, tokens.or(whole));
        add(Target::ServeTpot, Reading::Tpot, tpot);
        add(Target::ServeTtft, Reading::Ttft, ttft);
        if matches!(self.load.arrival, Arrival::Closed(_)) {
            add(Target::ServeRequestTime, Reading::RequestTime, request);
        }
    }
}

fn number(row: &Row, column: &'static str) -> Result<f64, Unanswered> {
    row.positive(column).ok_or(Unanswered::Missing { column })
}

/// Stated lengths, or those of the data set.
fn lengths(row: &Row, otherwise: (f64, f64)) -> (f64, f64) {
    (row.positive("in_len").unwrap_or(otherwise.0), row.positive("out_len").unwrap_or(otherwise.1))
}

fn suite(row: &Row) -> (f64, f64) {
    if row.says("28K context") { LONG_SUITE } else { SHAREGPT }
}

/// ShareGPT prompts; the answer's length follows from requests and tokens a second.
fn shared_prompts(row: &Row) -> (f64, f64) {
    let answer =
        row.positive("tokens_per_s").zip(row.positive("samples_per_s")).map(|(tokens, requests)| tokens / requests);
    (SHAREGPT.0, answer.unwrap_or(SHAREGPT.1))
}
