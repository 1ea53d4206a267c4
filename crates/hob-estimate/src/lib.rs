//! Operator graph x hardware x strategy to memory and time, as intervals.
//!
//! Physics first: bytes over bandwidth and FLOPs over peak, folded over the operator graph, with few efficiencies and
//! overheads from `data/calibration/`. Pure: the same inputs give the same numbers.

mod arithmetic;
mod band;
mod efficiency;
mod feed;
mod forward;
mod hardware;
mod limit;
mod outcome;
mod percentile;
mod rate_table;
mod refusal;
mod render;
mod serve;
mod strategy;
mod train;
mod transcode;

pub use arithmetic::{Amount, ArithmeticBlock, ArithmeticStep, Source};
pub use efficiency::{Coefficient, Efficiencies, EfficiencyError, Scope};
pub use feed::{
    CloudDisk, FeedEstimate, FeedJob, FeedRate, FeedRates, FeedRemedy, FeedStage, FeedTerm, FeedUse, FeedVerdict,
    FeedWay, estimate_feed, feed_verdict,
};
pub use forward::{
    ForwardEngine, ForwardEstimate, ForwardProfile, ForwardService, ForwardShape, ForwardStrategy, Guidance, Item,
};
pub use hardware::{Hardware, Link};
pub use limit::{LatencyKind, Limit};
pub use outcome::{Fit, MemoryEstimate, MemoryKind, MemoryTerm, TimeTerm};
pub use percentile::{Percentile4, Percentiles};
pub use rate_table::RateTableError;
pub use refusal::{EstimateError, Fact, LayoutFault, MediaTask, SENTENCES};
pub use render::{RenderBasis, RenderEstimate, RenderJob, RenderMemory, estimate_render, has_render_scores};
pub use serve::{Arrival, ServeEstimate, ServeFootprint, ServeLoad, ServeProfile, capacity, estimate_llm};
pub use strategy::{
    AttentionKernel, Engine, KvFormat, NumberFormat, OptimizerKind, Recompute, ServeStrategy, Sharding, TrainMethod,
    TrainStrategy, WeightFormat,
};
pub use train::{TrainEstimate, TrainJob, TrainProfile, TrainRates, estimate_train};
pub use transcode::{
    Direction, Measured, Measurement, MediaRates, ReferenceClock, RenderRate, TranscodeEstimate, TranscodeJob,
    TranscodeRate, TranscodeStage, TranscodeTerm, Video, VideoClock, estimate_transcode, estimate_transcode_cpu,
};
