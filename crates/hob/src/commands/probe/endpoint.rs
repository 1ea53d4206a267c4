//! `hob probe endpoint`: requests with 1, 8 and 32 in flight.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use hob_text::Message;

use super::Book;
use super::ledger::Cells;
use super::stream::{Client, Fault, Timed};
use crate::exit::Code;
use crate::failure::Failure;

/// Requests in flight, and the share of the time that each gets. Three spread loads give nearly all that a probe can tell
/// (feasibility study on published rows: five give no more).
const LEVELS: [(u32, f64); 3] = [(1, 0.2), (8, 0.35), (32, 0.45)];
/// Failures of one of the requests in flight after which it gives up.
const FAILURES_MAX: u32 = 3;
/// Words that prompts are made of, each about one token.
const WORDS: [&str; 16] = [
    "river", "green", "seven", "paper", "music", "north", "table", "light", "water", "stone", "quick", "house",
    "cloud", "train", "apple", "world",
];

/// What is asked of the endpoint.
pub struct Asked {
    pub url: String,
    pub seconds: f64,
    pub requests: Option<u32>,
    pub prompt: u32,
    pub output: u32,
    pub served_model: Option<String>,
}

/// Measures and records.
pub fn run(asked: &Asked, book: &Book<'_>) -> Result<Code, Failure> {
    if asked.url.starts_with("https://") {
        let failure = Failure::input("E-ENDPOINT", Message::new("probe-error-https").with("url", &asked.url));
        return Err(failure.hint(Message::new("probe-hint-https")));
    }
    let key = std::env::var("OPENAI_API_KEY").ok().filter(|key| !key.is_empty());
    let mut client = Client::new(&asked.url, key);
    let refused = |fault: Fault| failure(&asked.url, fault);
    let models = client.document("/v1/models").map_err(refused)?;
    let first = models.as_ref().and_then(|models| models.pointer("/data/0/id")).and_then(|id| id.as_str());
    client.model = asked.served_model.clone().or(first.map(str::to_owned)).unwrap_or(book.setting.model.clone());
    let engine = engine(&client, book)?;
    let cells = |load: u32, measured: &[(&str, String)]| {
        let stated = [
            ("id", format!("{}-{load}", book.now)),
            ("engine", engine.clone()),
            ("in_len", asked.prompt.to_string()),
            ("out_len", asked.output.to_string()),
            ("concurrency", load.to_string()),
        ];
        book.row(&stated.into_iter().chain(measured.iter().cloned()).collect::<Vec<_>>())
    };
    book.check(&cells(1, &[("tpot_ms_p50", "20".to_owned())]))?;
    client.settle(&prompt(asked.prompt, 0), asked.output).map_err(refused)?;
    let mut rows: Vec<Cells> = Vec::new();
    for (load, share) in LEVELS {
        let progress =
            Message::new("probe-progress").with("count", load).with("seconds", format!("{:.0}", asked.seconds * share));
        book.printer.note(&book.printer.text(&progress));
        let (timed, fault) = level(&client, asked, load, asked.seconds * share);
        match (measured(&timed), fault) {
            (Some(measured), _) => rows.push(cells(load, &measured)),
            (None, Some(fault)) if rows.is_empty() => return Err(refused(fault)),
            // What was measured before it failed is kept.
            (None, _) => {
                let message = Message::new("probe-level-failed").with("count", load);
                book.printer.note(&book.printer.text(&message));
            }
        }
    }
    if rows.is_empty() {
        return Err(refused(Fault::Empty));
    }
    book.record(rows)
}

/// What the user says, else what the endpoint says of itself (vLLM does).
fn engine(client: &Client, book: &Book<'_>) -> Result<String, Failure> {
    if let Some(engine) = &book.setting.engine {
        return Ok(engine.clone());
    }
    let version = client.document("/version").ok().flatten();
    let version = version.as_ref().and_then(|version| version.get("version")).and_then(|version| version.as_str());
    version.map(|version| format!("vllm {version}")).ok_or_else(|| {
        Failure::input("E-ENGINE", Message::new("probe-error-engine")).hint(Message::new("probe-hint-engine"))
    })
}

/// Keeps `load` requests in flight for `seconds`; what they took, and the last failure.
fn level(client: &Client, asked: &Asked, load: u32, seconds: f64) -> (Vec<Timed>, Option<Fault>) {
    let started = Instant::now();
    let sent = AtomicU32::new(0);
    let most = asked.requests.unwrap_or(u32::MAX).max(load);
    let one = || {
        let (mut timed, mut failures, mut last) = (Vec::new(), 0, None);
        while failures < FAILURES_MAX && (timed.is_empty() || started.elapsed().as_secs_f64() < seconds) {
            let number = sent.fetch_add(1, Ordering::Relaxed);
            if number >= most {
                break;
            }
            match client.ask(&prompt(asked.prompt, load.wrapping_mul(100_003).wrapping_add(number)), asked.output) {
                Ok(request) => timed.push(request),
                Err(fault) => (failures, last) = (failures + 1, Some(fault)),
            }
        }
        // The first ones of all start together, as no later ones do.
        if timed.len() > 1 {
            timed.remove(0);
        }
        (timed, last)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..load).map(|_| scope.spawn(one)).collect();
        let mut all = (Vec::new(), None);
        for (timed, fault) in threads.into_iter().filter_map(|thread| thread.join().ok()) {
            all.0.extend(timed);
            all.1 = fault.or(all.1);
        }
        all
    })
}

/// Medians and 99th percentiles of what requests took.
fn measured(timed: &[Timed]) -> Option<Vec<(&'static str, String)>> {
    let sorted = |values: Vec<f64>| {
        let mut values = values;
        values.sort_by(f64::total_cmp);
        values
    };
    let at = |values: &[f64], share: f64| {
        values.get(((values.len().checked_sub(1)?) as f64 * share).round() as usize).copied()
    };
    let ttft = sorted(timed.iter().map(|request| request.ttft).collect());
    let tpot = sorted(timed.iter().filter_map(|request| request.tpot).collect());
    let ms = |seconds: f64| format!("{:.3}", seconds * 1e3);
    let mut cells = vec![
        ("ttft_ms_p50", ms(at(&ttft, 0.5)?)),
        ("ttft_ms_p99", ms(at(&ttft, 0.99)?)),
        ("tpot_ms_p50", ms(at(&tpot, 0.5)?)),
        ("tpot_ms_p99", ms(at(&tpot, 0.99)?)),
        ("out_len", format!("{:.0}", at(&sorted(timed.iter().map(|request| request.output).collect()), 0.5)?)),
        ("note", format!("hob probe; {} requests", timed.len())),
    ];
    // The endpoint's own count of the prompt, where it gives one.
    let prompts = sorted(timed.iter().filter_map(|request| request.prompt).collect());
    cells.extend(at(&prompts, 0.5).map(|prompt| ("in_len", format!("{prompt:.0}"))));
    Some(cells)
}

/// A prompt that no cache has seen: the number stands first.
fn prompt(words: u32, number: u32) -> String {
    let mut state = number.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let mut text = format!("{number}");
    for _ in 1..words {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push(' ');
        text.push_str(WORDS.get((state >> 28) as usize).copied().unwrap_or("word"));
    }
    text
}

fn failure(url: &str, fault: Fault) -> Failure {
    let (what, hint) = match fault {
        Fault::Unreachable(why) => (Message::new("probe-error-unreachable").with("why", why), "probe-hint-unreachable"),
        Fault::Refused(status, why) => {
            (Message::new("probe-error-refused").with("status", status).with("why", why), "probe-hint-refused")
        }
        Fault::Empty => (Message::new("probe-error-empty"), "probe-hint-refused"),
    };
    Failure { code: Code::Outside, id: "E-ENDPOINT", what: what.with("url", url), hint: Some(Message::new(hint)) }
}
