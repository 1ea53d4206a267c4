//! `hob probe` against a stand-in endpoint and a stand-in trainer, and the plan that uses what it found.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use tempfile::tempdir;

fn hob(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hob"));
    command.args(arguments).current_dir(folder).env_remove("HOB_LANG").env_remove("OPENAI_API_KEY").env("LC_ALL", "C");
    command.output().unwrap()
}

#[track_caller]
fn done(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn fails(output: &Output, code: i32, words: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in {text}");
    }
}

const FIRST: Duration = Duration::from_millis(30);
/// No faster than an L20 can read the weights.
const EACH: Duration = Duration::from_millis(25);
const TOKENS: u32 = 12;

/// An endpoint that answers each prompt with twelve tokens at a known pace; the address.
fn endpoint(completions: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream, completions));
        }
    });
    address
}

fn serve(mut stream: TcpStream, completions: bool) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let (mut request, mut size) = (String::new(), 0);
    lines.read_line(&mut request).unwrap();
    loop {
        let mut header = String::new();
        if lines.read_line(&mut header).unwrap() == 0 || header.trim().is_empty() {
            break;
        }
        if let Some(length) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            size = length.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; size];
    lines.read_exact(&mut body).unwrap();
    let mut answer = |status: &str, kind: &str, body: &str| {
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
        stream.write_all((head + body).as_bytes()).unwrap();
        stream.flush().unwrap();
    };
    match request.split(' ').nth(1).unwrap() {
        "/v1/models" => answer("200 OK", "application/json", r#"{"data": [{"id": "served"}]}"#),
        "/version" => answer("200 OK", "application/json", r#"{"version": "0.11.0"}"#),
        path if path == (if completions { "/v1/completions" } else { "/v1/chat/completions" }) => {
            assert!(String::from_utf8(body).unwrap().contains("\"served\""));
            answer("200 OK", "text/event-stream", "");
            thread::sleep(FIRST);
            for token in 0..TOKENS {
                if token > 0 {
                    thread::sleep(EACH);
                }
                let event = if completions {
                    r#"{"choices": [{"text": " a"}]}"#
                } else {
                    r#"{"choices": [{"delta": {"content": " a"}}]}"#
                };
                let _ = stream.write_all(format!("data: {event}\n\n").as_bytes());
            }
            let usage =
                format!(r#"{{"choices": [], "usage": {{"prompt_tokens": 33, "completion_tokens": {TOKENS}}}}}"#);
            let _ = stream.write_all(format!("data: {usage}\n\ndata: [DONE]\n\n").as_bytes());
        }
        _ => answer("404 Not Found", "text/plain", "no such path"),
    }
}

const MODEL: [&str; 4] = ["--model", "Qwen/Qwen2.5-7B", "--gpu", "L20"];

#[test]
fn an_endpoint_is_measured_and_the_plan_uses_it() {
    for completions in [true, false] {
        let folder = tempdir().unwrap();
        let url = endpoint(completions);
        let probe = ["probe", "endpoint", &url, "--seconds", "3", "--prompt", "32", "--output", "12"];
        let text = done(&hob(folder.path(), &[&probe[..], &MODEL[..]].concat()));
        assert!(text.contains("serve_tpot") && text.contains("Rows added to hob-ledger-serving.csv: 3. "), "{text}");
        let ledger = folder.path().join("hob-ledger-serving.csv");
        let mut rows = csv_rows(&std::fs::read_to_string(&ledger).unwrap());
        assert_eq!(rows.len(), 3);
        for (row, load) in rows.iter_mut().zip(["1", "8", "32"]) {
            let mut cell = |column: &str| row.remove(column).unwrap();
            assert_eq!(
                (cell("concurrency").as_str(), cell("in_len").as_str(), cell("out_len").as_str()),
                (load, "33", "12")
            );
            assert_eq!((cell("engine").as_str(), cell("model").as_str()), ("vllm 0.11.0", "Qwen/Qwen2.5-7B"));
            let (ttft, tpot): (f64, f64) = (cell("ttft_ms_p50").parse().unwrap(), cell("tpot_ms_p50").parse().unwrap());
            // A busy machine makes it slower, never faster.
            assert!(ttft >= 29.0 && tpot >= 24.0, "{ttft} {tpot}");
        }
        let evaluated = done(&hob(folder.path(), &["evaluate", "hob-ledger-serving.csv"]));
        assert!(evaluated.contains("3 of 3 rows answered"), "{evaluated}");
    }
}

fn csv_rows(text: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    lines.map(|cells| header.iter().cloned().zip(cells).collect()).collect()
}

/// Cards of priced offers of the example, the first choice's and another.
const MEASURED: &str = "v100-sxm2-32";
const OTHER: &str = "a100-sxm-40";

#[test]
fn typed_in_points_move_the_plan_and_narrow_it() {
    let folder = tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/essay-grader.toml");
    let example = example.to_str().unwrap();
    for (load, tpot) in [("1", "24"), ("8", "27"), ("32", "42")] {
        let load = format!("concurrency={load}");
        let tpot = format!("tpot_ms_p50={tpot}");
        let point = ["probe", "point", "--engine", "vllm 0.11", "in_len=1500", "out_len=300", &load, &tpot];
        let setting = ["--model", "Qwen/Qwen2.5-7B", "--gpu", MEASURED];
        done(&hob(folder.path(), &[&point[..], &setting[..]].concat()));
    }
    let ledger = "hob-ledger-serving.csv";
    let plan = |more: &[&str]| -> serde_json::Value {
        serde_json::from_str(&done(&hob(folder.path(), &[&["plan", example, "--json"], more].concat()))).unwrap()
    };
    let factor = |plan: &serde_json::Value, gpu: &str| {
        let choices = plan.pointer("/ranked/0/choices").unwrap().as_array().unwrap();
        let choice = choices.iter().find(|choice| choice["gpu"] == gpu)?;
        let tpot = choice.pointer("/speed/tpot_p95")?;
        let end = |name: &str| tpot[name].as_f64().unwrap();
        Some((end("high") / end("low"), choice["notes"].to_string()))
    };
    let (before, after) = (plan(&[]), plan(&["--measured", ledger]));
    let ((was, _), (is, notes)) = (factor(&before, MEASURED).unwrap(), factor(&after, MEASURED).unwrap());
    assert!(is < was, "{is} is no narrower than {was}");
    assert!(notes.contains("Tightened by 3 of your measurements of this model"), "{notes}");
    assert_eq!(factor(&before, OTHER).unwrap(), factor(&after, OTHER).unwrap(), "another card keeps what it had");
    for (language, words) in [("en", "Tightened by 3 of your measurements"), ("zh", "3 行实测收紧")] {
        let text = done(&hob(folder.path(), &["plan", example, "--measured", ledger, "--lang", language]));
        assert!(!text.contains("plan-understood") && text.contains(words), "{text}");
    }
}

#[test]
fn a_training_command_is_read_and_stopped() {
    let folder = tempdir().unwrap();
    let probe = ["probe", "command", "--model", "Qwen/Qwen2.5-7B", "--gpu", "H20", "--readings", "6"];
    let setting = ["--set", "seq_len=2048", "--set", "micro_batch=1", "--set", "method=lora"];
    let script = "i=0; while true; do i=$((i+1)); echo \"step $i step_time: 0.9$i\"; sleep 0.05; done";
    let output = hob(folder.path(), &[&probe[..], &setting[..], &["--json", "--", "sh", "-c", script]].concat());
    let document: serde_json::Value = serde_json::from_str(&done(&output)).unwrap();
    assert_eq!(document["schema"], "hob.probe/1");
    assert_eq!(document["points"][0]["target"], "train_speed");
    let measured = document["points"][0]["measured"].as_f64().unwrap();
    assert!((measured - 1.0 / 0.95).abs() < 0.02, "{measured}");
    let rows = csv_rows(&std::fs::read_to_string(folder.path().join("hob-ledger-training.csv")).unwrap());
    assert_eq!(rows[0]["framework"], "pytorch");
}

#[test]
fn what_cannot_be_measured_is_said_before_or_with_the_way_out() {
    let folder = tempdir().unwrap();
    let run = |arguments: &[&str]| hob(folder.path(), arguments);
    let with = |arguments: &[&str]| run(&[arguments, &MODEL[..]].concat());
    fails(&with(&["probe", "endpoint", "http://127.0.0.1:9"]), 5, &["E-ENDPOINT", "hint"]);
    fails(&with(&["probe", "endpoint", "https://host"]), 2, &["E-ENDPOINT", "TLS", "hint"]);
    fails(&with(&["probe", "point", "tpot_p50=3"]), 2, &["E-POINT", "tpot_ms_p50"]);
    fails(&with(&["probe", "point", "concurrency=3"]), 2, &["E-POINT", "hint"]);
    let unknown = ["probe", "point", "--model", "Qwen/Qwen2.5-7B", "--gpu", "no-such-card", "--engine", "vllm"];
    fails(&run(&[&unknown[..], &["concurrency=1", "tpot_ms_p50=3"]].concat()), 2, &["E-PROBE", "no-such-card", "hint"]);
    let command = ["probe", "command", "--set", "seq_len=512", "--set", "micro_batch=1"];
    let quiet = [&command[..], &MODEL[..], &["--", "true"]].concat();
    fails(&run(&quiet), 5, &["E-READINGS", "hint"]);
    let absent = [&command[..], &MODEL[..], &["--", "no-such-program-here"]].concat();
    fails(&run(&absent), 2, &["E-COMMAND", "hint"]);
    std::fs::write(folder.path().join("other.csv"), "id,gpu_class,model,peak_gib\n").unwrap();
    let other = ["probe", "point", "--ledger", "other.csv", "--engine", "vllm", "concurrency=1", "tpot_ms_p50=30"];
    fails(&with(&other), 2, &["E-LEDGER", "hint"]);
    assert!(!folder.path().join("hob-ledger-serving.csv").exists(), "nothing was measured");
}
