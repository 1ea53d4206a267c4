//! One streamed answer of an OpenAI-compatible endpoint, with the times at which its tokens came.

use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest wait for a connection, and for a whole answer: a probe is over long before.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(120);
/// Bytes of one answer: thousands of tokens with a kilobyte each.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// Bytes of an error or a list that are read.
const BODY_BYTES_MAX: u64 = 1 << 20;
/// Letters of a refusal that are repeated.
const REFUSAL_CHARS_MAX: usize = 300;

/// Why there was no answer.
#[derive(Debug, Clone)]
pub enum Fault {
    /// No connection, or it broke.
    Unreachable(String),
    /// A status that is not 200, with what the endpoint said.
    Refused(u16, String),
    /// An answer without a token.
    Empty,
}

/// What one request took.
#[derive(Debug, Clone, Copy)]
pub struct Timed {
    /// Seconds to the first token.
    pub ttft: f64,
    /// Seconds for each token after it; `None` for a single token.
    pub tpot: Option<f64>,
    /// Tokens of the prompt by the endpoint's count.
    pub prompt: Option<f64>,
    /// Tokens of the answer.
    pub output: f64,
}

/// A client of one model at one endpoint.
#[derive(Debug, Clone)]
pub struct Client {
    agent: ureq::Agent,
    base: String,
    key: Option<String>,
    /// Name of the model at the endpoint.
    pub model: String,
    chat: bool,
    /// Asks for answers of full length, which plain endpoints refuse.
    full_length: bool,
}

impl Client {
    /// For an address such as `localhost:8000` or `http://host:8000/v1`.
    pub fn new(url: &str, key: Option<String>) -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(ANSWER))
            .http_status_as_error(false)
            .build();
        let url = url.trim_end_matches('/');
        let url = ["/chat/completions", "/completions", "/v1"]
            .iter()
            .fold(url, |url, end| url.strip_suffix(end).unwrap_or(url));
        let base = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        Self { agent: agent.into(), base, key, model: String::new(), chat: false, full_length: true }
    }

    /// A document that the endpoint has at a path; `None` when it has none.
    pub fn document(&self, path: &str) -> Result<Option<Value>, Fault> {
        let request = self.agent.get(format!("{}{path}", self.base));
        let request = match &self.key {
            Some(key) => request.header("authorization", format!("Bearer {key}")),
            None => request,
        };
        let mut response = request.call().map_err(|error| Fault::Unreachable(error.to_string()))?;
        if response.status().as_u16() != 200 {
            return Ok(None);
        }
        let text = response.body_mut().with_config().limit(BODY_BYTES_MAX).read_to_string();
        Ok(text.ok().and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Finds out what the endpoint takes, with one request that is not counted.
    pub fn settle(&mut self, prompt: &str, output: u32) -> Result<Timed, Fault> {
        let mut last = Fault::Empty;
        for (chat, full_length) in [(false, true), (true, true), (false, false), (true, false)] {
            (self.chat, self.full_length) = (chat, full_length);
            match self.ask(prompt, output) {
                // A path or a field that it does not know.
                Err(fault @ Fault::Refused(400 | 404 | 405 | 422, _)) => last = fault,
                other => return other,
            }
        }
        Err(last)
    }

    /// Sends one prompt and reads the answer as it comes.
    pub fn ask(&self, prompt: &str, output: u32) -> Result<Timed, Fault> {
        let mut body = json!({
            "model": self.model,
            "max_tokens": output,
            "temperature": 0,
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        if let Some(fields) = body.as_object_mut() {
            let (field, value) = match self.chat {
                true => ("messages", json!([{ "role": "user", "content": prompt }])),
                false => ("prompt", json!(prompt)),
            };
            fields.insert(field.to_owned(), value);
            if self.full_length {
                fields.insert("ignore_eos".to_owned(), json!(true));
            }
        }
        let path = if self.chat { "/v1/chat/completions" } else { "/v1/completions" };
        let request = self.agent.post(format!("{}{path}", self.base)).header("content-type", "application/json");
        let request = match &self.key {
            Some(key) => request.header("authorization", format!("Bearer {key}")),
            None => request,
        };
        let started = Instant::now();
        let mut response = request.send(body.to_string()).map_err(|error| Fault::Unreachable(error.to_string()))?;
        let status = response.status().as_u16();
        if status != 200 {
            let text = response.body_mut().with_config().limit(BODY_BYTES_MAX).read_to_string().unwrap_or_default();
            return Err(Fault::Refused(status, text.chars().take(REFUSAL_CHARS_MAX).collect()));
        }
        read(response.into_body().into_reader(), started)
    }
}

/// Reads server-sent events until the answer is done.
fn read(body: impl Read, started: Instant) -> Result<Timed, Fault> {
    let mut lines = BufReader::new(body.take(ANSWER_BYTES_MAX));
    let (mut first, mut last, mut pieces) = (None, started, 0_u32);
    let (mut prompt, mut output) = (None, None);
    let mut line = String::new();
    loop {
        line.clear();
        if lines.read_line(&mut line).map_err(|error| Fault::Unreachable(error.to_string()))? == 0 {
            break;
        }
        let Some(event) = line.trim().strip_prefix("data:").map(str::trim) else { continue };
        if event == "[DONE]" {
            break;
        }
        let Ok(event) = serde_json::from_str::<Value>(event) else { continue };
        if has_text(&event) {
            last = Instant::now();
            first.get_or_insert(last);
            pieces += 1;
        }
        let usage = |field: &str| event.pointer(&format!("/usage/{field}")).and_then(Value::as_f64);
        prompt = usage("prompt_tokens").or(prompt);
        output = usage("completion_tokens").or(output);
    }
    let first = first.ok_or(Fault::Empty)?;
    let output = output.unwrap_or(f64::from(pieces)).max(1.0);
    let rest = (last - first).as_secs_f64();
    let tpot = (output > 1.0 && rest > 0.0).then(|| rest / (output - 1.0));
    Ok(Timed { ttft: (first - started).as_secs_f64(), tpot, prompt, output })
}

/// Whether an event carries tokens: of a completion, of a chat, or of a chat's reasoning.
fn has_text(event: &Value) -> bool {
    let places = ["/choices/0/text", "/choices/0/delta/content", "/choices/0/delta/reasoning_content"];
    places.iter().any(|place| event.pointer(place).and_then(Value::as_str).is_some_and(|text| !text.is_empty()))
}
