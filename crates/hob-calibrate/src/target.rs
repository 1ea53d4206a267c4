//! What is predicted and scored.

use std::fmt;

use serde::Serialize;

use crate::table::{Row, TableKind};

/// One measured quantity. Values of a target are base units: bytes, seconds, or units a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Peak bytes of the fullest GPU while training, by the counter that the row names.
    TrainMemory,
    /// Samples a second of the whole training job.
    TrainSpeed,
    /// Median seconds for each output token after the first, under load.
    ServeTpot,
    /// Median seconds to the first token where the queue is stable.
    ServeTtft,
    /// Seconds of a whole request, `ttft + (output - 1) x tpot`.
    ServeRequestTime,
    /// Tokens a second of the whole replica where it is saturated or run offline.
    ServeThroughput,
    /// Output tokens a second of one request alone.
    DecodeSpeed,
    /// Bytes of weights on one GPU while serving.
    ServeWeights,
    /// Bytes, or tokens, of KV room.
    ServeKv,
    /// Bytes of all GPUs together while serving.
    ServeTotal,
    /// Pictures, clips or sentences a second of the whole machine.
    VisionThroughput,
    /// Seconds of one batch.
    VisionLatency,
    /// Seconds of one batch of generated images or clips.
    DiffusionLatency,
}

impl Target {
    /// Its name in reports and documents: `train_memory`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TrainMemory => "train_memory",
            Self::TrainSpeed => "train_speed",
            Self::ServeTpot => "serve_tpot",
            Self::ServeTtft => "serve_ttft",
            Self::ServeRequestTime => "serve_request_time",
            Self::ServeThroughput => "serve_throughput",
            Self::DecodeSpeed => "decode_speed",
            Self::ServeWeights => "serve_weights",
            Self::ServeKv => "serve_kv",
            Self::ServeTotal => "serve_total",
            Self::VisionThroughput => "vision_throughput",
            Self::VisionLatency => "vision_latency",
            Self::DiffusionLatency => "diffusion_latency",
        }
    }

    /// What a row measured, by the columns that it fills; a verdict on memory is none of them. For rows that became no
    /// question: a question says it with values.
    #[must_use]
    pub fn measured_by(kind: TableKind, row: &Row) -> Vec<Self> {
        let columns: &[(Self, &[&str])] = match kind {
            TableKind::TrainMemory => &[(Self::TrainMemory, &["peak_gib"])],
            TableKind::TrainThroughput => {
                &[(Self::TrainSpeed, &["tokens_per_s_per_gpu", "samples_per_s", "step_time_s"])]
            }
            TableKind::InferThroughput => &[
                (Self::ServeTpot, &["tpot_ms_p50"]),
                (Self::ServeTtft, &["ttft_ms_p50"]),
                (Self::ServeThroughput, &["tokens_per_s"]),
                (Self::VisionThroughput, &["samples_per_s"]),
            ],
            TableKind::InferMemory => &[
                (Self::ServeWeights, &["weights_gib"]),
                (Self::ServeKv, &["kv_gib", "kv_tokens"]),
                (Self::ServeTotal, &["total_gib"]),
            ],
        };
        let measured =
            columns.iter().filter(|(_, columns)| columns.iter().any(|column| row.positive(column).is_some()));
        measured.map(|(target, _)| *target).collect()
    }

    /// Whether more is faster: such a value cannot exceed what physics allows; the others cannot fall below it.
    #[must_use]
    pub fn is_rate(self) -> bool {
        matches!(self, Self::TrainSpeed | Self::ServeThroughput | Self::DecodeSpeed | Self::VisionThroughput)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
