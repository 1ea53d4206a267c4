//! What work makes, in the units in which its cost is compared.

use serde::Serialize;

/// A unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names say it.
pub enum Unit {
    MillionOutputTokens,
    MillionTokens,
    ThousandRequests,
    ThousandImages,
    ThousandSequences,
    AudioHour,
    VideoClip,
    VideoHour,
    ThousandFrames,
    Epoch,
}

impl Unit {
    /// Id of its words in the message catalogue.
    #[must_use]
    pub fn text_id(self) -> &'static str {
        match self {
            Self::MillionOutputTokens => "unit-million-output-tokens",
            Self::MillionTokens => "unit-million-tokens",
            Self::ThousandRequests => "unit-thousand-requests",
            Self::ThousandImages => "unit-thousand-images",
            Self::ThousandSequences => "unit-thousand-sequences",
            Self::AudioHour => "unit-audio-hour",
            Self::VideoClip => "unit-video-clip",
            Self::VideoHour => "unit-video-hour",
            Self::ThousandFrames => "unit-thousand-frames",
            Self::Epoch => "unit-epoch",
        }
    }
}

/// How much of one unit is made in the time that a bill covers: a month of a service, or the whole job.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Output {
    /// Unit.
    pub unit: Unit,
    /// How many.
    pub amount: f64,
}

impl Output {
    /// So many of a unit.
    pub(crate) fn new(unit: Unit, amount: f64) -> Self {
        Self { unit, amount }
    }
}
