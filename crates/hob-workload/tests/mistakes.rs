//! Each kind of mistake is found where it stands, and all of them in one go.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use hob_text::{Catalogue, Language};
use hob_workload::{Code, Colour, parse, parse_bytes};

/// Parses `text` and compares the problems: code, line, field.
#[track_caller]
fn check(text: &str, wanted: &[(&str, usize, &str)]) {
    let problems = match parse("hob.toml", text) {
        Ok(workload) => panic!("no problem found; read as {workload:#?}"),
        Err(problems) => problems,
    };
    let found: Vec<_> = problems.list().iter().map(|p| (p.code.code(), p.line, p.field.as_str())).collect();
    let shown = problems.render(Colour::Plain, &Catalogue::new(Language::En));
    assert_eq!(found, wanted, "\n{shown}");
    for language in Language::ALL {
        let catalogue = Catalogue::new(language);
        for problem in problems.list() {
            for message in [Some(&problem.what), problem.expected.as_ref()].into_iter().flatten().chain(&problem.hints)
            {
                assert!(catalogue.knows(&message.id), "`{}` in {language:?}", message.id);
                assert!(!catalogue.text(message).contains("{$"), "{}", catalogue.text(message));
            }
        }
    }
}

/// A file with one more line or table.
#[track_caller]
fn serve(more: &str, wanted: &[(&str, usize, &str)]) {
    check(&format!("kind = \"serve\"\nmodel = \"Qwen/Qwen2.5-7B\"\ntraffic.rate = \"12 req/s\"\n{more}\n"), wanted);
}

#[track_caller]
fn train(more: &str, wanted: &[(&str, usize, &str)]) {
    check(&format!("kind = \"train\"\nmodel = \"Qwen/Qwen2.5-7B\"\n{more}\n"), wanted);
}

#[test]
fn three_mistakes_are_three_problems() {
    let text = "kind = \"serve\"\nmodle = \"7B\"\nmodel = \"7B\"\n[traffic]\nrate = 12\nprompt = \"500 tokenz\"\n";
    check(text, &[("W005", 2, "modle"), ("W009", 5, "traffic.rate"), ("W009", 6, "traffic.prompt")]);
}

#[test]
fn the_file_as_a_whole() {
    check("", &[("W003", 1, "")]);
    check("# nothing\n", &[("W003", 1, "")]);
    check("kind = \"serve\nmodel = \"7B\"\n", &[("W004", 1, "")]);
    check("kind = \"train\"\nkind = \"serve\"\n", &[("W004", 2, "")]);
    check(&"[".repeat(100_000), &[("W004", 1, "")]);
    let large = "#".repeat(hob_workload::FILE_BYTES_MAX + 1);
    check(&large, &[("W001", 1, "")]);
    let problems = parse_bytes("hob.toml", b"kind = \"serve\"\nname = \"\xff\"\n").unwrap_err();
    assert_eq!((problems.list()[0].code, problems.list()[0].line), (Code::NotUtf8, 2));
}

#[test]
fn kinds() {
    check("model = \"7B\"\n", &[("W012", 1, "kind")]);
    check("knd = \"serve\"\n", &[("W005", 1, "knd")]);
    check("kind = \"srve\"\n", &[("W010", 1, "kind")]);
    check("kind = 3\n", &[("W008", 1, "kind")]);
    train("[traffic]\nrate = \"x\"", &[("W006", 3, "traffic")]);
    serve("[objective]\ndeadline = \"5 days\"", &[("W006", 5, "objective.deadline")]);
    train("[objective]\nttft_p95 = \"2 s\"", &[("W006", 4, "objective.ttft_p95")]);
    check("kind = \"render\"\nmodel = \"7B\"\n[render]\nframes = 10\n", &[("W006", 2, "model")]);
}

#[test]
fn keys_in_the_wrong_place() {
    serve("rate = \"3 req/s\"", &[("W007", 4, "rate")]);
    train("[data]\nsamples = 5\nbudget = \"CNY 5\"", &[("W007", 5, "data.budget")]);
    serve("[objective]\nttft_p94 = \"2 s\"", &[("W005", 5, "objective.ttft_p94")]);
}

#[test]
fn quantities() {
    serve("budget = \"20000/month\"", &[("W009", 4, "budget")]);
    serve("budget = \"CNY -5/month\"", &[("W009", 4, "budget")]);
    serve("budget = \"CNY 0/month\"", &[("W011", 4, "budget")]);
    serve("utilisation = \"140%\"", &[("W011", 4, "utilisation")]);
    serve("utilisation = 0.4", &[("W009", 4, "utilisation")]);
    train("[data]\nsamples = nan", &[("W009", 4, "data.samples")]);
    train("[data]\nsamples = inf", &[("W009", 4, "data.samples")]);
    train("[data]\nsamples = -3", &[("W009", 4, "data.samples")]);
    train("[train]\nepochs = nan", &[("W011", 4, "train.epochs")]);
    train("[train]\nepochs = 0", &[("W011", 4, "train.epochs")]);
    train("[train]\nglobal_batch = 99999999999999999999", &[("W011", 4, "train.global_batch")]);
    train("[train]\nglobal_batch = 1.5", &[("W008", 4, "train.global_batch")]);
    train("[data]\nresolution = \"1920\"", &[("W009", 4, "data.resolution")]);
    train("[data]\nresolution = \"0x5\"", &[("W009", 4, "data.resolution")]);
    train("[where]\nclouds = \"tencent\"", &[("W008", 4, "where.clouds")]);
    train(
        "[where]\nexchange = { USD_CNY = 0, usd = 1 }",
        &[("W011", 4, "where.exchange.USD_CNY"), ("W005", 4, "where.exchange.usd")],
    );
    train("train = 5", &[("W008", 3, "train")]);
    train("[where]\nbilling = [\"spott\"]", &[("W010", 4, "where.billing[1]")]);
}

#[test]
fn what_must_be_there() {
    check("kind = \"serve\"\n", &[("W012", 1, "model"), ("W013", 1, "traffic.rate")]);
    check("kind = \"serve\"\nmodel = \"7B\"\n[traffic]\nprompt = \"5 tokens\"\n", &[("W013", 3, "traffic.rate")]);
    check("kind = \"batch\"\nmodel = \"7B\"\n", &[("W012", 1, "batch.amount")]);
    check("kind = \"transcode\"\n", &[("W012", 1, "video")]);
    check("kind = \"transcode\"\n[video]\ncodec = \"h264\"\n", &[("W012", 1, "rendition"), ("W014", 2, "video.total")]);
    check("kind = \"render\"\n", &[("W012", 1, "render")]);
    check("kind = \"render\"\n[render]\n", &[("W012", 2, "render.frames")]);
    train("objective.deadline = \"5 days\"", &[("W014", 3, "objective.deadline")]);
    train("[[where.machines]]\nname = \"a\"", &[("W012", 3, "where.machines[1].gpu")]);
}

#[test]
fn contradictions() {
    train("[train]\nepochs = 3\ntokens = \"2B tokens\"", &[("W015", 5, "train.tokens")]);
    train("[train]\nmethod = \"full\"\nrank = 8", &[("W016", 5, "train.rank")]);
    train("[constraints]\ngpus = [\"T4\"]\nnot_gpus = [\"t4\"]", &[("W016", 5, "constraints.not_gpus[1]")]);
    train("[where]\nexchange = { USD_CNY = 7.1, CNY_USD = 7.1 }", &[("W016", 4, "where.exchange.USD_CNY")]);
    serve("[constraints]\nmax_gpus = 1\nmin_replicas = 2", &[("W016", 6, "constraints.min_replicas")]);
    serve("[objective]\nttft_p50 = \"3 s\"\nttft_p99 = \"1 s\"", &[("W016", 5, "objective.ttft_p50")]);
    serve("[objective]\nttft_p95 = \"3 s\"\ne2e_p95 = \"1 s\"", &[("W016", 5, "objective.ttft_p95")]);
    serve("traffic.context_max = \"100 tokens\"", &[("W016", 4, "traffic.context_max")]);
    serve("traffic.concurrency = 5", &[("W015", 4, "traffic.concurrency")]);
    serve("task = \"speech\"\ntraffic.steps = 5", &[("W019", 5, "traffic.steps")]);
    let machines = "[[where.machines]]\nname = \"a\"\ngpu = \"T4\"\n[[where.machines]]\nname = \"a\"\ngpu = \"A10\"";
    train(machines, &[("W021", 7, "where.machines[2].name")]);
}

#[test]
fn measurements_and_totals() {
    let video =
        "[video]\ntotal = \"1 hour\"\n[[rendition]]\ncodec = \"hevc\"\n[transcode]\nmeasured_encode = \"480 fps\"\n";
    check(&format!("kind = \"transcode\"\n{video}"), &[("W012", 7, "transcode.measured_gpu")]);
    train("[data]\nsamples = 5\nclip = \"30 s\"\ntotal = \"5 hours\"", &[("W015", 6, "data.total")]);
    train("[data]\ntotal = \"5 hours\"", &[("W012", 4, "data.clip")]);
    train(
        "task = \"llm\"\ndata.total = \"5 hours\"\ndata.clip = \"5 s\"",
        &[("W019", 4, "data.total"), ("W019", 5, "data.clip")],
    );
}

#[test]
fn recommenders() {
    let file = |more: &str| format!("kind = \"train\"\n{more}\n");
    check(&file("[model.recommender]\nwidth = 64"), &[("W012", 2, "model.recommender.tables")]);
    check(
        &file("[model.recommender]\ntables = [5, \"3M users\"]\nwidth = 64\nbottom = [128, 32]"),
        &[("W016", 5, "model.recommender.bottom")],
    );
    check(&file("task = \"llm\"\n[model.recommender]\ntables = [5]"), &[("W016", 2, "task")]);
    check(&file("[model.recommender]\ntables = [0]"), &[("W009", 3, "model.recommender.tables[1]")]);
}

/// The last hint for a text in place of a quantity.
#[track_caller]
fn hint(line: &str, wanted: &str) {
    let text = format!("kind = \"serve\"\nmodel = \"7B\"\ntraffic.rate = \"1 req/s\"\n{line}\n");
    let problems = parse("hob.toml", &text).unwrap_err();
    let [problem] = problems.list() else { panic!("{problems}") };
    assert_eq!(Catalogue::new(Language::En).text(problem.hints.last().unwrap()), wanted);
}

#[test]
fn wrong_units_and_full_width_characters_get_what_was_meant() {
    hint("objective.ttft_p95 = \"2 secs\"", "did you mean `2 s`?");
    hint("traffic.prompt = \"500 tokenz\"", "did you mean `500 tokens`?");
    hint("traffic.prompt = 500", "write \"500 tokens\"");
    hint("utilisation = 0.4", "write \"40%\"");
    hint("budget = \"CNY 20000/weak\"", "the period is one of /hour, /day, /month, /year, where there is one");
    hint("utilisation = \"４０％\"", "TOML takes half-width characters: write \"40%\"");
    hint("budget = “CNY 5”", "TOML takes half-width characters: write budget = \"CNY 5\"");
    hint("budget ＝ \"CNY 5\" # 每月，五元", "TOML takes half-width characters: write budget = \"CNY 5\"");
}

#[test]
fn windows() {
    let window = |hours: &str, rate: &str| format!("[[traffic.window]]\nhours = \"{hours}\"\nrate = \"{rate}\"\n");
    let both = format!("{}{}", window("22-08", "1 req/s"), window("7-9", "2 req/s"));
    serve(&both, &[("W017", 8, "traffic.window[2].hours")]);
    serve(&window("8-8", "1 req/s"), &[("W009", 5, "traffic.window[1].hours")]);
    serve(&window("8-25", "1 req/s"), &[("W009", 5, "traffic.window[1].hours")]);
    let gap = format!("kind = \"serve\"\nmodel = \"7B\"\n{}", window("22-08", "1 req/s"));
    check(&gap, &[("W018", 3, "traffic.rate")]);
    serve("[[traffic.window]]\nhours = \"1-2\"", &[("W012", 4, "traffic.window[1].rate")]);
}

/// Compares a drawing with its file; `HOB_BLESS=1` writes the file.
#[allow(clippy::disallowed_methods)]
#[track_caller]
fn golden(name: &str, drawn: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("HOB_BLESS").is_some() {
        std::fs::write(&path, drawn).unwrap();
    }
    assert_eq!(drawn, std::fs::read_to_string(&path).unwrap(), "\n{drawn}");
}

#[test]
fn problems_are_drawn_with_line_and_caret() {
    let text = "kind = \"serve\"\nmodel = \"7B\"\n[traffic]\nrate = 12\nprompd = \"500 tokens\"\nresolusion_of_everything = 5\n[where]\nbilling = [\"cheap\", \"spott\"]\n";
    let problems = parse("hob.toml", text).unwrap_err();
    let english = problems.render(Colour::Plain, &Catalogue::new(Language::En));
    golden("problems-en.txt", &english);
    let chinese = problems.render(Colour::Plain, &Catalogue::new(Language::Zh));
    golden("problems-zh.txt", &chinese);
    let coloured = problems.render(Colour::Ansi, &Catalogue::new(Language::En));
    assert!(coloured.contains("\u{1b}["));
    assert!(english.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn many_problems_are_counted_and_not_listed() {
    let text: String = (0..500).map(|index| format!("key{index} = 1\n")).collect();
    let problems = parse("hob.toml", &text).unwrap_err();
    assert_eq!(problems.list().len(), hob_workload::MAX_PROBLEMS);
    assert_eq!(problems.left_off(), 401);
}
