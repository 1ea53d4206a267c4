//! `hob probe command`: step times and speeds out of what a training command prints.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use hob_text::Message;
use regex_lite::Regex;

use super::Book;
use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::printable;

/// Readings without which a median says nothing.
const READINGS_MIN: usize = 3;
/// Longest line that is read, in bytes.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// Words of progress bars that count something other than steps.
const OTHER_BARS: [&str; 5] = ["Loading", "Map", "Download", "Generating", "Tokeniz"];

/// What a pattern reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reading {
    StepSeconds,
    TokensPerGpu,
    Tokens,
    Samples,
}

/// How a number of a pattern becomes a reading.
#[derive(Debug, Clone, Copy)]
enum Scale {
    Times(f64),
    Inverse,
}

/// Patterns of common trainers: Megatron; NeMo; Lightning, Accelerate and plain loops; tqdm both ways round; torchtitan and
/// torchtune; DeepSpeed, ms-swift and Hugging Face's Trainer. The first that matches a line reads it.
const PATTERNS: [(&str, Reading, Scale); 10] = [
    (r"(?i)elapsed time per iteration \(ms\):\s*([\d.]+)", Reading::StepSeconds, Scale::Times(1e-3)),
    (r"(?i)step_timing in s['\x22]?\s*[:=]\s*([\d.]+)", Reading::StepSeconds, Scale::Times(1.0)),
    (
        r"(?i)(?:step|iter(?:ation)?)[ _]?time(?:[ _]?ms)?['\x22]?\s*[:=]\s*([\d.]+)\s*ms",
        Reading::StepSeconds,
        Scale::Times(1e-3),
    ),
    (
        r"(?i)(?:step|iter(?:ation)?)[ _]?time(?:[ _]?\(?s(?:ec(?:onds)?)?\)?)?['\x22]?\s*[:=]\s*([\d.]+)",
        Reading::StepSeconds,
        Scale::Times(1.0),
    ),
    (r"([\d.]+)\s*s/(?:it|step)\b", Reading::StepSeconds, Scale::Times(1.0)),
    (r"([\d.]+)\s*(?:it|steps?)/s\b", Reading::StepSeconds, Scale::Inverse),
    (
        r"(?i)(?:\btps|tokens[_ ]per[_ ]sec(?:ond)?[_ ]per[_ ]gpu)['\x22]?\s*[:=]\s*([\d.,]+)",
        Reading::TokensPerGpu,
        Scale::Times(1.0),
    ),
    (r"(?i)tokens[_ ]per[_ ]sec(?:ond)?['\x22]?\s*[:=]\s*([\d.,]+)", Reading::Tokens, Scale::Times(1.0)),
    (r"(?i)([\d.,]+)\s*(?:tokens?|toks?)/s", Reading::Tokens, Scale::Times(1.0)),
    (
        r"(?i)(?:samples[_ ]per[_ ]sec(?:ond)?['\x22]?\s*[:=]\s*([\d.,]+)|([\d.,]+)\s*samples/s)",
        Reading::Samples,
        Scale::Times(1.0),
    ),
];

/// What is run, and when it has said enough.
pub struct Asked {
    pub command: Vec<String>,
    pub readings: usize,
    pub seconds: f64,
}

/// Runs, reads, stops and records.
pub fn run(asked: &Asked, book: &Book<'_>) -> Result<Code, Failure> {
    book.check(&book.row(&[("step_time_s", "1".to_owned())]))?;
    let name = asked.command.join(" ");
    let readings = watch(asked, book).map_err(|error| {
        let what = Message::new("probe-error-command").with("command", printable(&name)).with("why", error);
        Failure::input("E-COMMAND", what).hint(Message::new("probe-hint-command"))
    })?;
    let gpus = f64::from(book.setting.gpus.max(1));
    // A step's time needs no further word; speeds may be of one card or of all.
    let kinds = [Reading::StepSeconds, Reading::TokensPerGpu, Reading::Tokens, Reading::Samples];
    let enough = kinds.into_iter().find_map(|kind| {
        let values: Vec<f64> = readings.iter().filter(|(of, _)| *of == kind).map(|(_, value)| *value).collect();
        (values.len() >= READINGS_MIN).then_some((kind, values))
    });
    let Some((kind, values)) = enough else {
        let what = Message::new("probe-error-readings").with("command", printable(&name)).with("count", readings.len());
        return Err(Failure {
            code: Code::Outside,
            id: "E-READINGS",
            what,
            hint: Some(Message::new("probe-hint-readings")),
        });
    };
    let settled = median(values.get(values.len() / 3..).unwrap_or(&values));
    let (column, value) = match kind {
        Reading::StepSeconds => ("step_time_s", settled),
        Reading::TokensPerGpu => ("tokens_per_s_per_gpu", settled),
        Reading::Tokens => ("tokens_per_s_per_gpu", settled / gpus),
        Reading::Samples => ("samples_per_s", settled),
    };
    let note = format!("hob probe; {} readings", values.len());
    book.record(vec![book.row(&[(column, format!("{value:.6}")), ("note", note)])])
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs the command until it ends or has said enough; its lines go on to standard error.
fn watch(asked: &Asked, book: &Book<'_>) -> std::io::Result<Vec<(Reading, f64)>> {
    let mut words = asked.command.iter();
    let mut command = Command::new(words.next().map_or("", String::as_str));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that launchers and their workers can be stopped together.
    let mut child = command.process_group(0).spawn()?;
    let (sender, lines) = mpsc::channel();
    let pipes: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ];
    for pipe in pipes.into_iter().flatten() {
        let sender = sender.clone();
        std::thread::spawn(move || forward(pipe, &sender));
    }
    drop(sender);
    let patterns = patterns();
    let mut readings: Vec<(Reading, f64)> = Vec::new();
    let mut first: Option<Instant> = None;
    loop {
        let left = first.map_or(f64::INFINITY, |first| asked.seconds - first.elapsed().as_secs_f64());
        if left <= 0.0 || readings.len() >= asked.readings {
            stop(&mut child);
            break;
        }
        match lines.recv_timeout(Duration::from_secs_f64(left.clamp(0.01, 1.0))) {
            Ok(line) => {
                book.printer.note(&printable(&line));
                if let Some(reading) = read(&patterns, &line) {
                    first.get_or_insert_with(Instant::now);
                    readings.push(reading);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    child.wait()?;
    Ok(readings)
}

/// Sends lines on; progress bars end theirs with a carriage return.
fn forward(pipe: impl Read, sender: &mpsc::Sender<String>) {
    let mut reader = BufReader::new(pipe);
    loop {
        let mut bytes = Vec::new();
        match (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        for line in String::from_utf8_lossy(&bytes).split(['\n', '\r']).filter(|line| !line.trim().is_empty()) {
            if sender.send(line.to_owned()).is_err() {
                return;
            }
        }
    }
}

/// Asks the whole group to end.
fn stop(child: &mut Child) {
    let group = format!("-{}", child.id());
    let asked = Command::new("kill").args(["-TERM", "--", &group]).status();
    if !asked.is_ok_and(|status| status.success()) {
        let _ = child.kill();
    }
}

fn patterns() -> Vec<(Regex, Reading, Scale)> {
    PATTERNS.iter().filter_map(|(text, reading, scale)| Some((Regex::new(text).ok()?, *reading, *scale))).collect()
}

fn read(patterns: &[(Regex, Reading, Scale)], line: &str) -> Option<(Reading, f64)> {
    if OTHER_BARS.iter().any(|word| line.contains(word)) {
        return None;
    }
    patterns.iter().find_map(|(pattern, reading, scale)| {
        let found = pattern.captures_iter(line).last()?;
        let number = found.iter().skip(1).flatten().next()?.as_str().replace(',', "");
        let value: f64 = number.trim_end_matches('.').parse().ok()?;
        let value = match scale {
            Scale::Times(by) => value * by,
            Scale::Inverse => 1.0 / value,
        };
        (value.is_finite() && value > 0.0).then_some((*reading, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_common_trainers_are_read() {
        let patterns = patterns();
        assert_eq!(patterns.len(), PATTERNS.len());
        let lines = [
            (" iteration 10/ 100 | elapsed time per iteration (ms): 512.4 | loss 2.1", Reading::StepSeconds, 0.5124),
            ("train_step_timing in s=3.91", Reading::StepSeconds, 3.91),
            ("step_time: 840.5 ms", Reading::StepSeconds, 0.8405),
            ("step: 5 loss: 2.3 iter_time: 0.84", Reading::StepSeconds, 0.84),
            (" 10%|#  | 10/100 [00:20<03:00,  2.01s/it]", Reading::StepSeconds, 2.01),
            (" 10%|#  | 10/100 [00:02<00:18,  5.00it/s]", Reading::StepSeconds, 0.2),
            ("step: 10  loss: 8.2  memory: 50GiB(53%)  tps: 5,762  mfu: 33.8%", Reading::TokensPerGpu, 5762.0),
            ("tokens_per_second_per_gpu:1201.5", Reading::TokensPerGpu, 1201.5),
            ("throughput 12,000 tokens/s", Reading::Tokens, 12000.0),
            ("{'train_samples_per_second': 12.5}", Reading::Samples, 12.5),
        ];
        for (line, reading, value) in lines {
            let found = read(&patterns, line);
            assert!(
                found.is_some_and(|(of, found)| of == reading && (found - value).abs() < 1e-6),
                "{line}: {found:?}"
            );
        }
        for line in ["Loading checkpoint shards: 3/3 [00:02<00:00, 1.2it/s]", "loss 2.31, lr 1e-4", "epoch 3"] {
            assert_eq!(read(&patterns, line), None, "{line}");
        }
    }
}
