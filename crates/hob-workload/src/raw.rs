//! The file as it is written: one struct for each table, one line for each key.
//!
//! The doc comments become the descriptions of the JSON Schema, so they speak to the user of an editor. Nothing is
//! assumed here and nothing is compared; that is the checked layer's.

use hob_units::{Bytes, BytesPerSec, Money, MoneyPer, Seconds, Share, Tokens};

use crate::read::{
    BudgetText, Choice, Count, Decimal, Either, Exchange, Flag, Fps, Hours, KnownKeys, List, MeasuredFps, PerHour,
    Positive, RateText, Resolution, Text, Weight, Whole, Written, tables,
};
use crate::words;

/// Most GPUs, machines, replicas: above the largest clusters known.
pub(crate) type Machines = Whole<1_000_000>;
/// Ranks, denoising steps, samples per pixel.
pub(crate) type Small = Whole<1_000_000>;
/// Optimizer steps, samples in a step.
pub(crate) type Large = Whole<1_000_000_000_000>;

/// What the model does, as it is written.
pub(crate) type TaskChoice = Choice<words::TaskWords>;

tables! {
    /// A workload for Hob: what is run, how much of it, what is wanted of it, what it may cost and where it may run.
    Root {
        /// Short name. Default: the file's own name.
        name = "name": Text,
        /// Kind of work. Each kind takes its own tables: train: data, train; serve: traffic, serve; batch: batch,
        /// traffic; transcode: video, rendition, transcode; render: render.
        kind = "kind": Choice<words::KindWords>,
        /// `dev` is a try-out: the cheapest that works. `production` has real users: headroom and redundancy. Default: dev.
        stage = "stage": Choice<words::StageWords>,
        /// What the model does. Default: as the model is. (train, serve, batch)
        task = "task": TaskChoice,
        /// The model: a folder or file, a hub id, a preset name, or a parameter count such as `7B`. A table may state
        /// the count beside it. (train, serve, batch)
        model = "model": Either<Text, Model>,
        /// Load and sizes of the requests. (serve, batch)
        traffic = "traffic": Traffic,
        /// Training set and the size of one sample. (train)
        data = "data": Data,
        /// How it is trained, and for how long. (train)
        train = "train": Train,
        /// How it is served. (serve)
        serve = "serve": Serve,
        /// How much is worked through offline. (batch)
        batch = "batch": Batch,
        /// The incoming video and how much of it there is. (transcode)
        video = "video": Video,
        /// What is made of the video, one table for each. (transcode)
        rendition = "rendition": List<Rendition>,
        /// Settings and measurements of the encoder. (transcode)
        transcode = "transcode": Transcode,
        /// What is rendered. (render)
        render = "render": Render,
        /// What is wanted: deadline, latency goals, what to make small.
        objective = "objective": Objective,
        /// What it may cost: an amount for a period (`CNY 20000/month`), or in all (`CNY 50000`).
        budget = "budget": Positive<BudgetText>,
        /// What a day of waiting costs the team, in people's time or lost revenue.
        #[schemars(example = "CNY 5000/day")]
        cost_of_delay = "cost_of_delay": Positive<MoneyPer>,
        /// Share of the time in which the machines are really used, when it is known.
        #[schemars(example = "40%")]
        utilisation = "utilisation": Positive<Share>,
        /// Where it may run: clouds, regions, billing, own machines.
        place = "where": Place,
        /// Limits on the machines.
        constraints = "constraints": Constraints,
    }

    /// A model with its parameter count stated.
    Model {
        /// A folder or file, a hub id or a preset name.
        source = "source": Text,
        /// Parameters, when they are not to be read from the model.
        #[schemars(example = "7B")]
        params = "params": Positive<Count>,
        /// Sizes of a recommender, which no file describes. The source is then only its name.
        recommender = "recommender": Recommender,
    }

    /// Sizes of a recommender in the form of DLRM.
    Recommender {
        /// Rows of each embedding table: `["20M users", "4M products"]`.
        tables = "tables": List<Positive<Count>>,
        /// Width of an embedding. Default: 128.
        width = "width": Small,
        /// Dense features of a sample. Default: 13.
        dense_features = "dense_features": Small,
        /// Outputs of the layers over the dense features; the last equals width. Default: as in
        /// MLPerf, `[512, 256, width]`.
        bottom = "bottom": List<Small>,
        /// Outputs of the layers that score. Default: `[1024, 1024, 512, 256, 1]`.
        top = "top": List<Small>,
        /// Rows of each table for one sample; more than 1 for a history. Default: 1.
        lookups = "lookups": Small,
    }

    /// Load and sizes of the requests.
    Traffic {
        /// Arrivals in the busy hour, or outside all windows. Default: as the busiest window. (serve)
        rate = "rate": Written<RateText>,
        /// Requests in flight at once, when the clients wait for each answer. (serve)
        concurrency = "concurrency": Large,
        /// Parts of the day with a rate of their own. (serve)
        window = "window": List<Window>,
        /// Mean length of a prompt (llm) or a text (embedding). Default: 512 tokens.
        #[schemars(example = "500 tokens")]
        prompt = "prompt": Positive<Tokens>,
        /// Mean length of an answer (llm). Default: 256 tokens.
        #[schemars(example = "300 tokens")]
        output = "output": Positive<Tokens>,
        /// Share of the prompt found in the prefix cache (llm). Default: 0%.
        #[schemars(example = "40%")]
        prefix_hit = "prefix_hit": Written<Share>,
        /// Longest context that must be accepted (llm). Default: as the mean request, twice.
        #[schemars(example = "8192 tokens")]
        context_max = "context_max": Positive<Tokens>,
        /// Width x height of a picture or a video. Default by model: 224x224, 640x640 (YOLO), 512x512 (Stable Diffusion 1),
        /// 1024x1024 (other diffusion), 832x480 (video).
        resolution = "resolution": Positive<Resolution>,
        /// Denoising steps (diffusion). Default by model: 4 (distilled to few steps), 28 (FLUX, SD 3), 30, 50 (video).
        steps = "steps": Small,
        /// Whether classifier-free guidance doubles the work (diffusion). Default by model: true, or false where guidance is
        /// distilled.
        guidance = "guidance": Flag,
        /// Frames of one video (diffusion-video). Default: 81 frames.
        #[schemars(example = "81 frames")]
        frames = "frames": Positive<Count>,
        /// Length of one recording (speech). Default: 30 s.
        #[schemars(example = "30 s")]
        clip = "clip": Positive<Seconds>,
    }

    /// A part of the day with a rate of its own.
    Window {
        /// From hour to hour on the 24-hour clock; past midnight is fine.
        hours = "hours": Positive<Hours>,
        /// Arrivals in these hours.
        rate = "rate": Written<RateText>,
    }

    /// Training set and the size of one sample.
    Data {
        /// Samples in the training set: sequences, images, recordings, rows.
        #[schemars(example = "50000 images")]
        samples = "samples": Positive<Count>,
        /// Length of all the recordings, in place of samples (speech).
        #[schemars(example = "10000 hours")]
        total = "total": Positive<Seconds>,
        /// Tokens of one sequence, padded or packed (text). Default: 2048 tokens (llm), 512 tokens (embedding).
        #[schemars(example = "2048 tokens")]
        sequence = "sequence": Positive<Tokens>,
        /// Width x height of a picture or a video. Default by model: 224x224, 640x640 (YOLO), 512x512 (Stable Diffusion 1),
        /// 1024x1024 (other diffusion), 832x480 (video).
        resolution = "resolution": Positive<Resolution>,
        /// Frames of one video. Default: 81 frames (diffusion-video).
        #[schemars(example = "81 frames")]
        frames = "frames": Positive<Count>,
        /// Length of one recording (speech). Default: 30 s.
        #[schemars(example = "30 s")]
        clip = "clip": Positive<Seconds>,
        /// Mean stored size of one sample.
        #[schemars(example = "300 kB")]
        bytes_per_sample = "bytes_per_sample": Positive<Bytes>,
        /// How a sample is stored; decides what the CPUs have to decode.
        format = "format": Choice<words::FormatWords>,
        /// Where samples are read from.
        storage = "storage": Choice<words::StorageWords>,
    }

    /// How the model is trained, and for how long.
    Train {
        /// `pretrain` from scratch, `full` fine-tune, `lora`, or `qlora` (adapters on 4-bit weights). Default: full, or lora
        /// where a rank is given.
        method = "method": Choice<words::MethodWords>,
        /// Rank of the adapters (lora, qlora). Default: 16.
        rank = "rank": Small,
        /// Passes over the data. One of epochs, tokens, steps. Default by task and method: 1 (pretrain, recommend), 3,
        /// 10 (speech), 100 (vision).
        epochs = "epochs": Decimal,
        /// Tokens in all. One of epochs, tokens, steps.
        #[schemars(example = "2B tokens")]
        tokens = "tokens": Positive<Tokens>,
        /// Optimizer steps. One of epochs, tokens, steps.
        steps = "steps": Large,
        /// Samples in one optimizer step, over all GPUs.
        global_batch = "global_batch": Large,
        /// Optimizer. Default by model: adamw, sgd (convolutional).
        optimizer = "optimizer": Choice<words::OptimizerWords>,
        /// Number format of the arithmetic. Default: as the planner chooses.
        precision = "precision": Choice<words::TrainPrecisionWords>,
    }

    /// How the model is served.
    Serve {
        /// Number format of the weights. Default: as the planner chooses.
        precision = "precision": Choice<words::PrecisionWords>,
        /// Serving engine. Default: as the planner chooses.
        engine = "engine": Choice<words::EngineWords>,
    }

    /// Offline work.
    Batch {
        /// How many requests, images, recordings or texts are worked through.
        #[schemars(example = "1M texts")]
        amount = "amount": Positive<Count>,
        /// Length of all the recordings, in place of amount (speech).
        #[schemars(example = "10000 hours")]
        total = "total": Positive<Seconds>,
        /// Number format of the weights. Default: as the planner chooses.
        precision = "precision": Choice<words::PrecisionWords>,
        /// Serving engine. Default: as the planner chooses.
        engine = "engine": Choice<words::EngineWords>,
    }

    /// The incoming video and how much of it there is.
    Video {
        /// How it is coded. Default: h264.
        codec = "codec": Choice<words::CodecWords>,
        /// Width x height. Default: 1920x1080.
        resolution = "resolution": Positive<Resolution>,
        /// Frames per second. Default: 30 fps.
        #[schemars(example = "30 fps")]
        fps = "fps": Positive<Fps>,
        /// Video that arrives in an hour or a day, for steady work. One of arrives, total.
        arrives = "arrives": Positive<PerHour>,
        /// Length of all the video, for a batch. One of arrives, total.
        #[schemars(example = "1000 hours")]
        total = "total": Positive<Seconds>,
    }

    /// One rendition.
    Rendition {
        /// How it is to be coded. Default: h264.
        codec = "codec": Choice<words::TargetCodecWords>,
        /// Width x height. Default: as the incoming video.
        resolution = "resolution": Positive<Resolution>,
        /// Frames per second. Default: as the incoming video.
        #[schemars(example = "30 fps")]
        fps = "fps": Positive<Fps>,
    }

    /// Settings and measurements of the encoder.
    Transcode {
        /// NVENC preset, `p1` (fastest) to `p7` (best). Default: p4.
        preset = "preset": Choice<words::PresetWords>,
        /// What one encode engine made of the first rendition when you measured it.
        #[schemars(example = "480 fps")]
        measured_encode = "measured_encode": Positive<MeasuredFps>,
        /// What one decode engine made of the incoming video when you measured it.
        #[schemars(example = "900 fps")]
        measured_decode = "measured_decode": Positive<MeasuredFps>,
        /// GPU on which you measured, in any usual spelling.
        measured_gpu = "measured_gpu": Text,
    }

    /// What is rendered.
    Render {
        /// Renderer. Default: blender-cycles.
        renderer = "renderer": Text,
        /// Frames to render.
        #[schemars(example = "3000 frames")]
        frames = "frames": Positive<Count>,
        /// Width x height. Default: 1920x1080.
        resolution = "resolution": Positive<Resolution>,
        /// Samples for each pixel.
        samples = "samples": Small,
        /// GPU memory that the scene needs.
        #[schemars(example = "10 GiB")]
        scene_memory = "scene_memory": Positive<Bytes>,
        /// One frame that you timed, and the GPU on which: `{ frame = "42 s", gpu = "T4" }`.
        measured = "measured": MeasuredFrame,
    }

    /// A frame that was timed.
    MeasuredFrame {
        /// Time of one frame.
        #[schemars(example = "42 s")]
        frame = "frame": Positive<Seconds>,
        /// GPU on which it was timed.
        gpu = "gpu": Text,
    }

    /// What is wanted of the work.
    Objective {
        /// It must be done within this time. (train, batch, transcode, render)
        #[schemars(example = "5 days")]
        deadline = "deadline": Positive<Seconds>,
        /// Time to first token, median. (serve)
        #[schemars(example = "2 s")]
        ttft_p50 = "ttft_p50": Positive<Seconds>,
        /// Time to first token, nine requests in ten. (serve)
        #[schemars(example = "2 s")]
        ttft_p90 = "ttft_p90": Positive<Seconds>,
        /// Time to first token, 95 requests in 100. Default: 2 s (llm without any goal). (serve)
        #[schemars(example = "2 s")]
        ttft_p95 = "ttft_p95": Positive<Seconds>,
        /// Time to first token, 99 requests in 100. (serve)
        #[schemars(example = "2 s")]
        ttft_p99 = "ttft_p99": Positive<Seconds>,
        /// Time per output token after the first, median. (serve)
        #[schemars(example = "200 ms")]
        tpot_p50 = "tpot_p50": Positive<Seconds>,
        /// Time per output token after the first, nine requests in ten. (serve)
        #[schemars(example = "200 ms")]
        tpot_p90 = "tpot_p90": Positive<Seconds>,
        /// Time per output token after the first, 95 requests in 100. Default: 200 ms (llm without any goal). (serve)
        #[schemars(example = "200 ms")]
        tpot_p95 = "tpot_p95": Positive<Seconds>,
        /// Time per output token after the first, 99 requests in 100. (serve)
        #[schemars(example = "200 ms")]
        tpot_p99 = "tpot_p99": Positive<Seconds>,
        /// Whole request, median. (serve)
        #[schemars(example = "20 s")]
        e2e_p50 = "e2e_p50": Positive<Seconds>,
        /// Whole request, nine in ten. (serve)
        #[schemars(example = "20 s")]
        e2e_p90 = "e2e_p90": Positive<Seconds>,
        /// Whole request, 95 in 100. (serve)
        #[schemars(example = "20 s")]
        e2e_p95 = "e2e_p95": Positive<Seconds>,
        /// Whole request, 99 in 100. (serve)
        #[schemars(example = "20 s")]
        e2e_p99 = "e2e_p99": Positive<Seconds>,
        /// What to make small among what meets the goals: `cost`, `time`, `balance`, or `{ cost = 0.7 }`. Default: cost.
        minimise = "minimise": Either<Choice<words::MinimiseWords>, Weights>,
        /// How sure it must be that a goal is met before an offer counts as feasible. Default by stage: 50% (dev),
        /// 80% (production).
        #[schemars(example = "80%")]
        confidence = "confidence": Positive<Share>,
    }

    /// Weight of cost against time.
    Weights {
        /// From 0 (time alone) to 1 (cost alone).
        cost = "cost": Weight,
        /// From 0 (cost alone) to 1 (time alone), in place of cost.
        time = "time": Weight,
    }

    /// Where it may run.
    Place {
        /// Clouds by name. Default: all.
        clouds = "clouds": List<Text>,
        /// Regions by name. Default: all.
        regions = "regions": List<Text>,
        /// Ways of paying. Default: all.
        billing = "billing": List<Choice<words::BillingWords>>,
        /// Your own machines.
        machines = "machines": List<Machine>,
        /// Exchange rates, so that offers in two currencies can be compared: `{ USD_CNY = 7.1 }`.
        exchange = "exchange": Exchange,
        /// Whether offers that are sold by invitation only, retired or not confirmed may win. Default: false.
        allow_invitation_only = "allow_invitation_only": Flag,
        /// Price lists and SkyPilot catalogs to lay over the built-in catalog, relative to this file.
        catalogs = "catalogs": List<Text>,
    }

    /// A machine of your own.
    Machine {
        /// Name. Default: from the GPU.
        name = "name": Text,
        /// GPU, in any usual spelling.
        gpu = "gpu": Text,
        /// GPUs in one machine. Default: 1.
        gpus = "gpus": Machines,
        /// Machines of this kind. Default: 1.
        count = "count": Machines,
        /// Virtual CPUs.
        vcpus = "vcpus": Machines,
        /// Main memory.
        #[schemars(example = "512 GiB")]
        memory = "memory": Positive<Bytes>,
        /// Network of one machine.
        #[schemars(example = "25 Gbit/s")]
        network = "network": Positive<BytesPerSec>,
        /// What it costs with everything in it (depreciation, power, hosting): `CNY 8000/month`.
        #[schemars(example = "CNY 8000/month")]
        cost = "cost": Written<MoneyPer>,
        /// Purchase price, in place of cost; goes with lifetime.
        #[schemars(example = "CNY 300000")]
        price = "price": Written<Money>,
        /// Time over which the purchase price is written off. Default: 5 years.
        #[schemars(example = "5 years")]
        lifetime = "lifetime": Positive<Seconds>,
    }

    /// Limits on the machines.
    Constraints {
        /// Most GPUs in all.
        max_gpus = "max_gpus": Machines,
        /// Most machines.
        max_machines = "max_machines": Machines,
        /// Allowed GPUs, in any usual spelling. Default: all.
        gpus = "gpus": List<Text>,
        /// GPUs that must not be used.
        not_gpus = "not_gpus": List<Text>,
        /// Allowed instance types; `*` stands for any text. Default: all.
        instances = "instances": List<Text>,
        /// Whether one replica, or one training job, may span several machines. Default: true.
        multi_node = "multi_node": Flag,
        /// Replicas at least. Default: 2 in production. (serve)
        min_replicas = "min_replicas": Machines,
    }
}

/// Tables by path, with their keys: in the order in which a file has them.
const TABLES: &[(&str, &[&str])] = &[
    ("", Root::KEYS),
    ("model", Model::KEYS),
    ("traffic", Traffic::KEYS),
    ("traffic.window", Window::KEYS),
    ("data", Data::KEYS),
    ("train", Train::KEYS),
    ("serve", Serve::KEYS),
    ("batch", Batch::KEYS),
    ("video", Video::KEYS),
    ("rendition", Rendition::KEYS),
    ("transcode", Transcode::KEYS),
    ("render", Render::KEYS),
    ("objective", Objective::KEYS),
    ("where", Place::KEYS),
    ("constraints", Constraints::KEYS),
];

/// Tables whose keys mean something only beside each other; a misplaced key is not sent there.
const LISTS: &[&str] = &["model", "traffic.window", "rendition"];

/// The table in which a key belongs, when exactly one table has it; `""` is the top of the file.
pub(crate) fn table_with_key(key: &str) -> Option<&'static str> {
    let single = TABLES.iter().filter(|(path, _)| !LISTS.contains(path));
    let mut homes = single.filter(|(_, keys)| keys.contains(&key)).map(|(path, _)| *path);
    let first = homes.next()?;
    homes.next().is_none().then_some(first)
}

/// Place of a table in a file.
pub(crate) fn place_of(table: &str) -> Option<usize> {
    TABLES.iter().position(|(path, _)| *path == table)
}

/// The keys of a table, in their order; none where the table is not known.
pub(crate) fn keys_of(table: &str) -> &'static [&'static str] {
    TABLES.iter().find(|(path, _)| *path == table).map_or(&[], |(_, keys)| keys)
}
