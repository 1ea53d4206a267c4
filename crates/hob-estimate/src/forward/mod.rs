//! Models that answer in one pass or a fixed number of passes: images, detection, embeddings, speech, recommenders,
//! diffusion images and video.
//!
//! One roofline over the operators is shared by all: each operator takes its FLOPs over peak or its bytes over bandwidth,
//! whichever is longer; launches and a batch's fixed cost stand beside it. On top of it stands a queue with dynamic
//! batching. This module never knows prices and never reads the clock.

mod arithmetic;
mod capacity;
mod estimate;
mod machine;
mod memory;
mod pass;
mod phases;
mod profile;
mod service;
mod shape;
mod strategy;
#[cfg(test)]
mod tests;
mod work;

pub use estimate::ForwardEstimate;
pub use profile::ForwardProfile;
pub use service::ForwardService;
pub use shape::{ForwardShape, Guidance, Item};
pub use strategy::{ForwardEngine, ForwardStrategy};
