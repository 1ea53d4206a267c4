//! `hob plan FILE --explain N`: every line of the arithmetic can be computed again from the figures that stand in it, and
//! every name in it has words in both languages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn hob(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hob")).args(arguments).env_remove("HOB_LANG").env("LC_ALL", "C").output().unwrap()
}

/// Recomputes an expression: `+ - * / ^`, brackets and functions over named figures.
struct Reckoning<'a> {
    rest: &'a str,
    figures: &'a BTreeMap<String, f64>,
}

impl Reckoning<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn sum(&mut self) -> f64 {
        let mut value = self.product();
        loop {
            if self.eat("+ ") {
                value += self.product();
            } else if self.eat("- ") {
                value -= self.product();
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut value = self.power();
        loop {
            if self.eat("*") {
                value *= self.power();
            } else if self.eat("/") {
                value /= self.power();
            } else {
                return value;
            }
        }
    }

    fn power(&mut self) -> f64 {
        let base = self.factor();
        if self.eat("^") { base.powf(self.factor()) } else { base }
    }

    fn factor(&mut self) -> f64 {
        if self.eat("-") {
            return -self.factor();
        }
        if self.eat("(") {
            let value = self.sum();
            assert!(self.eat(")"), "no bracket before `{}`", self.rest);
            return value;
        }
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if let Ok(number) = word.parse() {
            return number;
        }
        if !self.rest.starts_with('(') {
            return *self.figures.get(word).unwrap_or_else(|| panic!("`{word}` has no figure"));
        }
        self.eat("(");
        let mut arguments = vec![self.sum()];
        while self.eat(",") {
            arguments.push(self.sum());
        }
        assert!(self.eat(")"), "no bracket before `{}`", self.rest);
        match (word, arguments.as_slice()) {
            ("min", [a, b]) => a.min(*b),
            ("max", [a, b]) => a.max(*b),
            ("ln", [a]) => a.ln(),
            ("exp", [a]) => a.exp(),
            ("sqrt", [a]) => a.sqrt(),
            ("ceil", [a]) => a.ceil(),
            ("floor", [a]) => a.floor(),
            ("normal", [z]) => hob_units::Interval::within_factor(hob_units::Count(1.0), 1.281_551_565_544_6_f64.exp())
                .probability_at_most(hob_units::Count(z.exp())),
            _ => panic!("unknown function `{word}`"),
        }
    }
}

fn number(amount: &Value) -> f64 {
    let value = &amount["value"];
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

#[track_caller]
fn check(name: &str, file: &Path) {
    let file = file.to_str().unwrap();
    let output = hob(&["plan", file, "--explain", "1", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(document["schema"], "hob.explain/1", "{name}");
    let mut computed = 0;
    for block in document["blocks"].as_array().unwrap() {
        for step in block["steps"].as_array().unwrap() {
            let expression = step["expression"].as_str().unwrap();
            if expression.is_empty() {
                continue;
            }
            let figures = step["figures"].as_array().unwrap().iter();
            let figures = figures.map(|pair| (pair[0].as_str().unwrap().to_owned(), number(&pair[1]))).collect();
            let mut reckoning = Reckoning { rest: expression, figures: &figures };
            let (again, told) = (reckoning.sum(), number(&step["value"]));
            let halved = matches!(step["what"].as_str(), Some("running" | "mean-batch"));
            assert_eq!(reckoning.rest, "", "{name}: {expression}");
            // Batches that follow from themselves are found by halving, to a millionth of the largest.
            assert!(
                (again - told).abs() <= 1e-5 * told.abs() + if halved { 1e-3 } else { 1e-12 },
                "{name} {}: {again} is not {told}: {step}",
                block["title"]
            );
            computed += 1;
        }
    }
    assert!(computed > 3 || name.contains("farm"), "{name}: only {computed} lines");
    for language in ["en", "zh"] {
        let output = hob(&["plan", file, "--explain", "1", "--lang", language]);
        let text = String::from_utf8(output.stdout).unwrap();
        for block in document["blocks"].as_array().unwrap() {
            assert!(!block["steps"].as_array().unwrap().is_empty() || block["title"] == "network", "{name}: {block}");
        }
        assert!(!text.contains('{'), "{name} {language}: a name without words\n{text}");
    }
}

#[test]
fn every_example_can_be_reckoned_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "toml") {
            check(path.file_stem().unwrap().to_str().unwrap(), &path);
        }
    }
}

#[test]
fn other_kinds_of_work_can_be_reckoned_again() {
    let serve = "kind = \"serve\"\ntask = \"llm\"\n";
    for (name, text) in [
        ("closed-loop", format!("{serve}model = \"Qwen/Qwen2.5-72B\"\n[traffic]\nconcurrency = 40\nprompt = \"2000 tokens\"\noutput = \"400 tokens\"\n[objective]\ntpot_p90 = \"200 ms\"\n")),
        ("rare", format!("{serve}model = \"Qwen/Qwen2.5-7B\"\n[traffic]\nrate = \"1 req/day\"\nprompt = \"2000 tokens\"\noutput = \"400 tokens\"\n")),
        ("experts", format!("{serve}model = \"mistralai/Mixtral-8x7B-v0.1\"\n[serve]\nengine = \"trtllm\"\nprecision = \"int4\"\n[traffic]\nrate = \"3 req/s\"\nprompt = \"2000 tokens\"\noutput = \"400 tokens\"\n[objective]\nttft_p99 = \"9 s\"\n")),
        ("pretrain", "kind = \"train\"\nmodel = \"70B\"\n[data]\nsequence = \"4096 tokens\"\n[train]\nmethod = \"pretrain\"\ntokens = \"20B tokens\"\n[constraints]\nmulti_node = true\n[where]\nclouds = [\"aws\", \"tencent\"]\n".to_owned()),
    ] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
        std::fs::write(&path, format!("name = \"{name}\"\n{text}")).unwrap();
        check(name, &path);
    }
}
