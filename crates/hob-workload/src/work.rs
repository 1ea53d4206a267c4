//! What a workload file says once it is read and checked. Every field is either the user's or a stated default.

use hob_units::{Bytes, Money, MoneyPer, PerSecond, Seconds, Share, Tokens};
use serde::Serialize;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Workload {
    /// Short name; from the file, else from the file's stem.
    pub name: String,
    /// The work itself.
    pub work: Work,
    /// What is wanted of it.
    pub objective: Objective,
    /// What it may cost.
    pub budget: Option<Budget>,
    /// Where it may run.
    pub place: Place,
    /// `dev` or `production`.
    pub stage: Stage,
    /// Limits on the machines.
    pub constraints: Constraints,
    /// What a day of waiting costs the team (people, lost revenue).
    pub cost_of_delay: Option<MoneyPer>,
    /// Share of the time in which the machines are really used, when the user knows it (pay-as-you-go is stopped outside).
    pub utilisation: Option<Share>,
    /// Fields that the user left out, and what they were taken to be.
    pub assumed: Vec<Assumed>,
}

/// A default that was filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assumed {
    /// Field path as the user would write it: `traffic.prompt`.
    pub field: String,
    /// Value as the user would write it: `"512 tokens"`.
    pub value: String,
    /// Message id of the reason, in the catalogue.
    pub why: &'static str,
}

/// The kinds of work.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Work {
    /// Training to a deadline or for least money.
    Train(Train),
    /// An online service with latency goals.
    Serve(Serve),
    /// The same models offline, with a deadline instead of latency. `traffic` holds the sizes; `amount` how many items.
    Batch {
        /// Model, task, sizes.
        serve: Serve,
        /// Requests, images, clips or windows to work through.
        amount: f64,
    },
    /// Video transcoding.
    Transcode(Transcode),
    /// Frame rendering.
    Render(Render),
}

/// Which model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelRef {
    /// Path, hub id, preset or parameter count, as `hob inspect` takes it.
    pub source: String,
    /// Parameters that the user states beside it (`7B`), as a count.
    pub params: Option<f64>,
    /// Sizes of a recommender, for which no common file format exists; `source` is then only its name.
    pub recommender: Option<Recommender>,
}

/// Sizes of a recommender in the form of DLRM: embedding tables, one net over dense features, one net that scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recommender {
    /// Rows of each embedding table.
    pub table_rows: Vec<u64>,
    /// Width of an embedding.
    pub width: u64,
    /// Dense features of a sample.
    pub dense_features: u64,
    /// Outputs of the layers of the net over the dense features; the last equals `width`.
    pub bottom: Vec<u64>,
    /// Outputs of the layers of the net that scores.
    pub top: Vec<u64>,
    /// Rows looked up in each table for a sample.
    pub lookups_per_table: u64,
}

/// Number format that the user asks for; `None` in the fields below means that the planner may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The names are the formats' own.
pub enum Precision {
    Fp32,
    Tf32,
    Fp16,
    Bf16,
    Fp8,
    Int8,
    Int4,
    Fp4,
}

/// How weights are trained.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "method")]
pub enum Method {
    /// From scratch, all weights.
    Pretrain,
    /// All weights of a given model.
    Full,
    /// Low-rank adapters on 16-bit weights.
    Lora {
        /// Rank of the adapters.
        rank: u32,
    },
    /// Low-rank adapters on 4-bit weights.
    Qlora {
        /// Rank of the adapters.
        rank: u32,
    },
}

/// Optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names are the optimizers' own.
pub enum Optimizer {
    AdamW,
    AdamW8bit,
    Sgd,
    Adafactor,
    Lion,
    Muon,
}

/// A training job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Train {
    /// The model.
    pub model: ModelRef,
    /// What is trained.
    pub method: Method,
    /// Training set and its sizes.
    pub data: Data,
    /// How long it is trained.
    pub length: TrainLength,
    /// Samples (sequences, images, clips) in one optimizer step over all GPUs.
    pub global_batch: Option<u64>,
    /// Optimizer.
    pub optimizer: Optimizer,
    /// Number format; `None`: the planner chooses.
    pub precision: Option<Precision>,
}

/// Size of one sample and where samples come from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Data {
    /// Samples in the training set.
    pub samples: Option<f64>,
    /// Tokens of one sequence, for text (the padded or packed length).
    pub sequence: Option<Tokens>,
    /// Height and width in pixels, for pictures and video.
    pub resolution: Option<(u64, u64)>,
    /// Frames, for video.
    pub frames: Option<u64>,
    /// Length of a clip, for speech.
    pub clip: Option<Seconds>,
    /// Mean stored size of one sample.
    pub bytes_per_sample: Option<Bytes>,
    /// How it is stored: `jpeg`, `png`, `raw`, `tokens`, `audio`, `video`, `table`...
    pub format: Option<String>,
    /// Where it is read from: `local`, `cloud-disk`, `object-storage`, `memory`.
    pub storage: Option<String>,
}

/// When training ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "until")]
pub enum TrainLength {
    /// After passes over the data.
    Epochs {
        /// How many.
        epochs: f64,
    },
    /// After a number of tokens.
    Tokens {
        /// How many.
        tokens: Tokens,
    },
    /// After optimizer steps.
    Steps {
        /// How many.
        steps: u64,
    },
}

/// What a served model does; decides the unit of its speed. `None` in [`Serve`]: told from the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The names say it.
pub enum Task {
    Llm,
    Embedding,
    Vision,
    Speech,
    DiffusionImage,
    DiffusionVideo,
    /// Recommendation scoring.
    Recommend,
}

/// An online service.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Serve {
    /// The model.
    pub model: ModelRef,
    /// What it does.
    pub task: Option<Task>,
    /// How much is asked of it, and how large the pieces are.
    pub traffic: Traffic,
    /// Number format of the weights; `None`: the planner chooses.
    pub precision: Option<Precision>,
    /// Serving engine by name (`vllm`, `sglang`, `trtllm`, `tensorrt`, `pytorch`...); `None`: the planner chooses.
    pub engine: Option<String>,
}

/// Load and sizes. Only the sizes that the task needs are used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Traffic {
    /// Arrivals in the busy hour.
    pub rate: Option<PerSecond>,
    /// Requests in flight at once, when the clients form a closed loop.
    pub concurrency: Option<u64>,
    /// Rates by hour of the day; outside all windows the rate is `rate`.
    pub windows: Vec<RateWindow>,
    /// Prompt and answer lengths.
    pub llm: LlmTraffic,
    /// Height and width in pixels (vision, diffusion).
    pub resolution: Option<(u64, u64)>,
    /// Diffusion settings.
    pub diffusion: DiffusionInput,
    /// Length of one audio clip (speech).
    pub clip: Option<Seconds>,
}

/// Token lengths of one request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LlmTraffic {
    /// Mean prompt length.
    pub prompt: Tokens,
    /// Mean answer length.
    pub output: Tokens,
    /// Share of prompt tokens found in the prefix cache.
    pub prefix_hit: Share,
    /// Longest context that must be accepted; `None`: twice the mean request.
    pub context_max: Option<Tokens>,
}

/// Settings of a diffusion request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DiffusionInput {
    /// Denoising steps.
    pub steps: u32,
    /// Whether classifier-free guidance doubles the work (false for guidance-distilled models).
    pub guidance: bool,
    /// Frames of a video (1 for images).
    pub frames: u64,
}

/// A part of the day with its own rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RateWindow {
    /// First hour, 0 to 23.
    pub from_hour: u8,
    /// Hour at which it ends, 1 to 24; smaller than `from_hour` runs past midnight.
    pub to_hour: u8,
    /// Arrivals in that part.
    pub rate: PerSecond,
}

/// Video transcoding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transcode {
    /// Incoming video.
    pub input: Media,
    /// Renditions to make of it.
    pub outputs: Vec<Media>,
    /// Hours of video that arrive each hour (live or steady), when it is a stream.
    pub hours_per_hour: Option<f64>,
    /// Hours of video in all, when it is a batch.
    pub hours: Option<f64>,
    /// Encode speed/quality preset of NVENC, `p1` (fastest) to `p7`.
    pub preset: String,
    /// Rate of one encode engine measured by the user, frames per second for the first rendition.
    pub measured_encode_fps: Option<f64>,
    /// Rate of one decode engine measured by the user, frames per second of the input.
    pub measured_decode_fps: Option<f64>,
    /// GPU on which both were measured, in any spelling that the catalog knows.
    pub measured_gpu: Option<String>,
}

/// One video format.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Media {
    /// `h264`, `hevc`, `av1`, `vp9`...
    pub codec: String,
    /// Height and width in pixels.
    pub resolution: (u64, u64),
    /// Frames per second.
    pub fps: f64,
}

/// Frame rendering.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Render {
    /// Renderer: `blender-cycles`, `octane`, `v-ray`, `unreal`...
    pub renderer: String,
    /// Frames to render.
    pub frames: f64,
    /// Time of one frame on a GPU that the user measured.
    pub measured_frame: Option<(Seconds, String)>,
    /// Height and width in pixels.
    pub resolution: (u64, u64),
    /// Samples for each pixel.
    pub samples: Option<u32>,
    /// GPU memory that the scene needs.
    pub scene_memory: Option<Bytes>,
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Objective {
    /// The work must be done within this time (train, batch, transcode, render).
    pub deadline: Option<Seconds>,
    /// Latency goals (serve).
    pub slo: Vec<Slo>,
    /// What to make small among what meets the goals.
    pub minimise: Minimise,
    /// Confidence with which a goal must be met for an offer to be called feasible (0.8 in production, 0.5 in dev).
    pub confidence: Share,
}

/// One latency goal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Slo {
    /// What is bounded.
    pub goal: Goal,
    /// At which percentile of requests.
    pub percentile: Percentile,
    /// The bound.
    pub at_most: Seconds,
}

/// What a latency goal bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Time to first token.
    Ttft,
    /// Time per output token after the first.
    Tpot,
    /// Whole request.
    EndToEnd,
}

/// A percentile of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names say it.
pub enum Percentile {
    P50,
    P90,
    P95,
    P99,
}

/// What to make small.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Minimise {
    /// Money.
    Cost,
    /// Time to done, or latency.
    Time,
    /// Both, weighed.
    Balance(Balance),
}

/// Weight of cost against time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Balance {
    /// 1 is cost alone, 0 is time alone.
    pub cost_weight: f64,
}

/// What it may cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// For a period.
    Rate(MoneyPer),
    /// In all.
    Total(Money),
}

impl Budget {
    /// Its currency.
    #[must_use]
    pub fn currency(self) -> hob_units::Currency {
        match self {
            Self::Rate(rate) => rate.money.currency,
            Self::Total(money) => money.currency,
        }
    }
}

/// Where it may run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// Clouds by name; empty: all in the catalog.
    pub clouds: Vec<String>,
    /// Regions by name; empty: all.
    pub regions: Vec<String>,
    /// Billing modes; empty: all.
    pub billing: Vec<Billing>,
    /// The user's own machines.
    pub machines: Vec<Machine>,
    /// Exchange rates that the user states: one unit of the first costs this many of the second.
    pub exchange: Vec<(hob_units::Currency, hob_units::Currency, f64)>,
    /// Whether offers whose sale is by invitation only, retired or not confirmed may win.
    pub allow_invitation_only: bool,
    /// Price list files and SkyPilot catalogs to lay over the catalog, relative to the workload file.
    pub catalogs: Vec<String>,
}

/// How a machine is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The names say it.
pub enum Billing {
    PayAsYouGo,
    Monthly,
    Spot,
    Reserved,
}

/// A machine of the user's own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// Name.
    pub name: String,
    /// GPU, in any spelling the catalog knows.
    pub gpu: String,
    /// GPUs in one machine.
    pub gpus: u32,
    /// Machines of this kind.
    pub count: u32,
    /// Virtual CPUs.
    pub vcpus: Option<u32>,
    /// Main memory.
    pub memory: Option<Bytes>,
    /// Network of one machine.
    pub network: Option<hob_units::BytesPerSec>,
    /// What it costs, when the user knows.
    pub cost: Option<MachineCost>,
}

/// What an owned machine costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineCost {
    /// A rate that already holds everything (depreciation, power, hosting).
    Rate(MoneyPer),
    /// Purchase price spread evenly over a lifetime.
    Purchase {
        /// Price of one machine.
        price: Money,
        /// Years over which it is written off.
        years: f64,
    },
}

/// How grown-up the work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Try-outs: the cheapest that works, spot welcome.
    Dev,
    /// Real users: headroom, redundancy, no spot for a service without fallback.
    Production,
}

/// Limits on the machines.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Constraints {
    /// Most GPUs in all.
    pub max_gpus: Option<u32>,
    /// Most machines.
    pub max_machines: Option<u32>,
    /// Allowed GPUs, in any spelling; empty: all.
    pub gpus: Vec<String>,
    /// GPUs that must not be used.
    pub not_gpus: Vec<String>,
    /// Allowed instance types (`*` matches any text); empty: all.
    pub instances: Vec<String>,
    /// Whether one replica may span several machines.
    pub multi_node: bool,
    /// Replicas at least (production services want 2).
    pub min_replicas: Option<u32>,
}
