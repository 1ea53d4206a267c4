//! The tables of frames per second of video engines and CPU cores, of video clocks, and of render scores.

use hob_catalog::{Gpu, GpuArchitecture, Provenance};
use hob_units::{Count, Interval, PerSecond};
use serde::Serialize;

use crate::band;
use crate::rate_table::{self, RateTableError, Row};

/// Which way a video engine works, or what a core does to frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Compressed to frames.
    Decode,
    /// Frames to compressed.
    Encode,
    /// Frames to frames of another size, on a CPU core.
    Scale,
    /// Container, sound and bookkeeping of one video stream, on a CPU core.
    Remux,
}

/// At which video clock a rate holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceClock {
    /// The clock of the chip's own cards: nothing to scale.
    Own,
    /// Not stated by the source.
    NotStated,
    /// In MHz.
    Mhz(f64),
}

/// Frames per second of one engine, or of one core, at 1920 x 1080.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TranscodeRate {
    /// Chip or generation in lower case (`ga100`, `ada`), or `cpu`.
    pub device: String,
    /// `h264`, `hevc`, `av1`.
    pub codec: String,
    /// What is done.
    pub direction: Direction,
    /// `p1` to `p7`, or the CPU encoder's own; empty for decoding.
    pub preset: String,
    /// `hq`, `ll`, `8bit`, `libx264`...
    pub tuning: String,
    /// Frames per second at 1080p.
    pub fps: Interval<PerSecond>,
    /// Clock at which that holds.
    pub clock: ReferenceClock,
    /// Source.
    pub provenance: Provenance,
}

/// Highest video clock of a card.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VideoClock {
    /// GPU id.
    pub gpu: String,
    /// MHz.
    pub mhz: Interval<Count>,
    /// Source.
    pub provenance: Provenance,
}

/// A score of one card in one version of a renderer's benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RenderRate {
    /// GPU id.
    pub gpu: String,
    /// Renderer and back end: `Blender Cycles OptiX`.
    pub renderer: String,
    /// Version; scores of different versions do not compare.
    pub version: String,
    /// Score; more is faster.
    pub score: Interval<Count>,
    /// Source.
    pub provenance: Provenance,
}

/// All rates of transcoding and rendering.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MediaRates {
    /// Engines and cores.
    pub transcode: Vec<TranscodeRate>,
    /// Clocks.
    pub clocks: Vec<VideoClock>,
    /// Render scores.
    pub render: Vec<RenderRate>,
}

const TRANSCODE: (&str, &str) =
    ("data/media/transcode_rates.csv", include_str!("../../../../data/media/transcode_rates.csv"));
const CLOCKS: (&str, &str) = ("data/media/video_clocks.csv", include_str!("../../../../data/media/video_clocks.csv"));
const RENDER: (&str, &str) = ("data/media/render_rates.csv", include_str!("../../../../data/media/render_rates.csv"));

impl MediaRates {
    /// The tables that ship with Hob.
    ///
    /// # Errors
    /// Never in a released binary: a test reads the embedded tables.
    pub fn built_in() -> Result<Self, RateTableError> {
        Ok(Self {
            transcode: rate_table::read(TRANSCODE, transcode_rate)?,
            clocks: rate_table::read(CLOCKS, |row| {
                Ok(VideoClock {
                    gpu: row.text("gpu_id").to_owned(),
                    mhz: row.interval(["video_mhz_low", "video_mhz", "video_mhz_high"])?,
                    provenance: row.provenance()?,
                })
            })?,
            render: rate_table::read(RENDER, |row| {
                Ok(RenderRate {
                    gpu: row.text("gpu_id").to_owned(),
                    renderer: row.text("renderer").to_owned(),
                    version: row.text("version").to_owned(),
                    score: row.interval(["score_low", "score", "score_high"])?,
                    provenance: row.provenance()?,
                })
            })?,
        })
    }

    /// Codecs with at least one rate.
    pub(crate) fn codecs(&self) -> impl Iterator<Item = &str> {
        self.transcode.iter().filter(|row| !row.codec.is_empty()).map(|row| row.codec.as_str())
    }

    /// Whether a public rate of decoding a codec is known, on engines or on cores.
    #[must_use]
    pub fn decodes(&self, codec: &str) -> bool {
        self.transcode.iter().any(|row| row.codec == codec && row.direction == Direction::Decode)
    }

    /// The row of one device; `preset` is empty for all but encoding.
    pub(crate) fn row(&self, device: &str, codec: &str, direction: Direction, preset: &str) -> Option<&TranscodeRate> {
        // High quality, 8 bits and the usual library come first in the table; low-latency tuning is not asked for.
        self.transcode.iter().find(|row| {
            row.device == device
                && row.codec == codec
                && row.direction == direction
                && row.preset == preset
                && !matches!(row.tuning.as_str(), "ll" | "10bit")
        })
    }

    /// One engine of `gpu` at 1080p, scaled to the card's clock.
    pub(crate) fn engine(
        &self,
        gpu: &Gpu,
        codec: &str,
        direction: Direction,
        preset: &str,
    ) -> Option<(Interval<PerSecond>, &TranscodeRate)> {
        let device = device(gpu);
        let row = self.row(&device, codec, direction, preset);
        let (fps, row) = match row {
            Some(row) => (row.fps, row),
            None => self.between(&device, codec, direction, preset)?,
        };
        Some((band::product(fps, self.clock_ratio(gpu, row.clock)), row))
    }

    /// A preset that nobody published, from its two neighbours: geometric mean, and an interval that spans both.
    fn between(
        &self,
        device: &str,
        codec: &str,
        direction: Direction,
        preset: &str,
    ) -> Option<(Interval<PerSecond>, &TranscodeRate)> {
        let number: u8 = preset.strip_prefix('p')?.parse().ok()?;
        let faster = self.row(device, codec, direction, &format!("p{}", number.checked_sub(1)?))?;
        let slower = self.row(device, codec, direction, &format!("p{}", number.checked_add(1)?))?;
        let mid = PerSecond((faster.fps.mid.0 * slower.fps.mid.0).sqrt());
        Some((Interval { low: slower.fps.low, mid, high: faster.fps.high }, slower))
    }

    /// Clock of the card over the clock of the row. NVIDIA states that engine rates are almost linear in it.
    fn clock_ratio(&self, gpu: &Gpu, reference: ReferenceClock) -> Interval<Count> {
        let card = gpu.fraction.as_ref().map_or(&gpu.id, |fraction| &fraction.parent);
        let known = self.clocks.iter().find(|clock| clock.gpu == *card);
        match (reference, known) {
            (ReferenceClock::Own, _) => Interval::exact(Count(1.0)),
            (ReferenceClock::Mhz(mhz), Some(clock)) => {
                let ratio: Interval<Count> = clock.mhz.scaled(1.0 / mhz);
                // The decode note has lower clocks than the encode note for the same card: above 1 is not promised.
                let cap = |ratio: Count| Count(ratio.0.min(1.0));
                Interval { low: cap(ratio.low), mid: cap(ratio.mid), high: Count(ratio.high.0.max(cap(ratio.mid).0)) }
            }
            _ => CLOCK_RATIO_UNKNOWN,
        }
    }
}

/// Video clock over the reference card's where either is not known: the cards of `data/media/video_clocks.csv` run from
/// 0.73 (L4) and 0.75 (T4) over 0.80 (P4, A40, P40) to 1 (the GeForce cards that the rates were measured on).
const CLOCK_RATIO_UNKNOWN: Interval<Count> = Interval { low: Count(0.72), mid: Count(0.8), high: Count(1.0) };

/// Name under which the table has the card's video engines. Two chips differ from their generation: compute capability
/// 8.0 is GA100 (Turing's decoder, no encoder), 10.x the data-centre Blackwells.
pub(crate) fn device(gpu: &Gpu) -> String {
    match (gpu.architecture, gpu.compute_capability) {
        (GpuArchitecture::Ampere, Some((8, 0))) => "ga100".to_owned(),
        (GpuArchitecture::Blackwell, Some((10, _))) => "gb100".to_owned(),
        (architecture, _) => format!("{architecture:?}").to_lowercase(),
    }
}

fn transcode_rate(row: &Row<'_>) -> Result<TranscodeRate, RateTableError> {
    let direction = match row.text("direction") {
        "decode" => Direction::Decode,
        "encode" => Direction::Encode,
        "scale" => Direction::Scale,
        "remux" => Direction::Remux,
        other => return Err(row.error(format!("direction: `{other}` is not decode, encode, scale or remux"))),
    };
    if (row.text("width"), row.text("height")) != ("1920", "1080") {
        return Err(row.error("rates are stated at 1920 x 1080".to_owned()));
    }
    let clock = match row.text("clock_mhz") {
        "own" => ReferenceClock::Own,
        _ => row.number("clock_mhz")?.map_or(ReferenceClock::NotStated, ReferenceClock::Mhz),
    };
    let lower = |column| row.text(column).to_lowercase();
    Ok(TranscodeRate {
        device: lower("architecture"),
        codec: lower("codec"),
        direction,
        preset: lower("preset"),
        tuning: lower("tuning"),
        fps: row.interval(["fps_low", "fps", "fps_high"])?,
        clock,
        provenance: row.provenance()?,
    })
}
