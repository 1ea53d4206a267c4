//! Operator graph x hardware x strategy to memory and time, as intervals.
//!
//! Physics first: bytes over bandwidth and FLOPs over peak, folded over the operator graph, with few efficiencies and
//! overheads from `data/calibration/`. Pure: the same inputs give the same numbers.

mod efficiency;
mod hardware;
mod outcome;
mod serve;
mod strategy;
mod train;

pub use efficiency::{Coefficient, Efficiencies, EfficiencyError, Scope};
pub use hardware::{Hardware, Link};
pub use outcome::{EstimateError, Fit, MemoryEstimate, MemoryKind, MemoryTerm, TimeTerm};
pub use serve::{
    Arrival, LatencyKind, Limit, Percentile4, Percentiles, ServeEstimate, ServeLoad, ServeProfile, capacity,
    estimate_llm,
};
pub use strategy::{
    AttentionKernel, Engine, KvFormat, NumberFormat, OptimizerKind, Recompute, ServeStrategy, Sharding, TrainMethod,
    TrainStrategy, WeightFormat,
};
pub use train::{TrainEstimate, TrainFigures, TrainJob, TrainProfile, TrainRates, estimate_train};
