//! What one sample costs: bytes to read, and seconds of a core.

use hob_units::{Bytes, Count, Interval, Quantity, Seconds};

use crate::band;
use crate::feed::rates::FeedRates;
use crate::feed::{FeedJob, FeedUse};
use crate::rate_table::cite;

/// Bytes of one pixel in the usual formats. JPEG: 0.42 for small pictures to 0.10 for large ones (inputs of
/// data/pipeline/feed_rates.csv); PNG, WebP and TIFF: pictures of the same rows; raw: three channels of a byte.
fn bytes_per_pixel(format: &str) -> Option<Interval<Count>> {
    let (low, mid, high) = match format {
        "jpeg" => (0.1, 0.2, 0.5),
        "png" => (1.0, 1.6, 2.4),
        "webp" => (0.05, 0.1, 0.3),
        "tiff" => (2.0, 3.0, 4.0),
        "raw" => (3.0, 3.0, 4.0),
        // H.264 and HEVC at 0.05 to 0.3 bits a pixel of each frame.
        "video" => (0.006, 0.0125, 0.04),
        _ => return None,
    };
    Some(Interval { low: Count(low), mid: Count(mid), high: Count(high) })
}

/// Bytes of a stored token: 2 up to a vocabulary of 65536, else 4.
const TOKEN_BYTES: Interval<Count> = Interval { low: Count(2.0), mid: Count(2.0), high: Count(4.0) };
/// Bytes of text behind a token: 3.85 characters in the tokeniser's row, a few more or less by language.
const TEXT_BYTES: Interval<Count> = Interval { low: Count(3.0), mid: Count(4.0), high: Count(6.0) };
/// Bytes of a second of sound: compressed speech, FLAC at 16 kHz, and 48 kHz stereo WAV.
const SOUND_BYTES: Interval<Count> = Interval { low: Count(8e3), mid: Count(16e3), high: Count(192e3) };

/// Bytes to read for one sample; `None` when neither the size nor what it follows from is stated.
pub(crate) fn bytes(job: &FeedJob) -> Option<Interval<Bytes>> {
    if let Some(stated) = job.bytes_per_sample {
        return Some(Interval::exact(stated));
    }
    let (each, count) = match job.format.as_str() {
        "tokens" => (TOKEN_BYTES, job.tokens?),
        "text" => (TEXT_BYTES, job.tokens?),
        "audio" => (SOUND_BYTES, job.seconds?.0),
        "video" => (bytes_per_pixel("video")?, job.pixels? * job.frames?),
        picture => (bytes_per_pixel(picture)?, job.pixels?),
    };
    Some(each.scaled(count))
}

/// Seconds of one core for one sample, with the arithmetic; or what is missing.
pub(crate) fn core_seconds(job: &FeedJob, rates: &FeedRates) -> Result<(Interval<Seconds>, String), String> {
    let mut work = Work { rates, seconds: Interval::exact(Seconds(0.0)), formula: String::new() };
    match job.format.as_str() {
        "jpeg" if job.purpose == FeedUse::Training => work.picture("jpeg-augment", job)?,
        "jpeg" => work.picture("jpeg-decode", job)?,
        "png" | "webp" | "tiff" => {
            work.picture(&format!("{}-decode", job.format), job)?;
            work.augment(job)?;
        }
        "raw" if job.purpose == FeedUse::Training => work.augment(job)?,
        "raw" => return Err("raw pictures for inference cost the CPUs nothing that was measured".to_owned()),
        "tokens" => work.count("tokens", job.tokens.ok_or("the tokens of a sample are not stated")?)?,
        "text" => {
            let tokens = job.tokens.ok_or("the tokens of a sample are not stated")?;
            work.count("bpe", tokens)?;
            work.count("json", bytes(job).map_or(tokens * TEXT_BYTES.mid.0, |bytes| bytes.mid.base()))?;
        }
        "audio" => {
            let seconds = job.seconds.ok_or("the length of a clip is not stated")?;
            work.count("flac", seconds.0)?;
            work.count("log-mel", seconds.0)?;
        }
        "video" => {
            let pixels = job.pixels.ok_or("the pixels of a frame are not stated")?;
            let frames = job.frames.ok_or("the frames of a clip are not stated")?;
            work.count("h264-decode", frames * pixels / (1920.0 * 1080.0))?;
        }
        _ => return Err("no rate is known for reading tables on a core".to_owned()),
    }
    Ok((work.seconds, work.formula))
}

/// Above full HD the table's two rows meet, because decoding varies more than augmentation takes: the cost is kept level.
const AUGMENTED_PIXELS_MAX: f64 = 1920.0 * 1080.0;

/// The table's band around each rate of pictures: other CPUs, libraries and contents.
const AUGMENT_FACTOR: f64 = 1.8;

/// A sum of core time under way.
struct Work<'r> {
    rates: &'r FeedRates,
    seconds: Interval<Seconds>,
    formula: String,
}

impl Work<'_> {
    fn add(&mut self, seconds: Interval<Seconds>, what: &str) {
        self.seconds = band::plus_together(self.seconds, seconds);
        if !self.formula.is_empty() {
            self.formula.push_str(" + ");
        }
        self.formula.push_str(what);
    }

    fn picture(&mut self, key: &str, job: &FeedJob) -> Result<(), String> {
        let pixels = job.pixels.ok_or("the pixels of a picture are not stated")?;
        let found = self.rates.at_pixels(key, pixels).ok_or_else(|| format!("the table has no `{key}`"))?;
        let what =
            format!("1 / {:.1} pictures/s by {} [{}]", found.rate.mid.0, found.row.method, cite(&found.row.provenance));
        self.add(found.rate.inverted(1.0), &what);
        Ok(())
    }

    /// Cropping, flipping and normalising: what decoding with augmentation takes beyond decoding.
    fn augment(&mut self, job: &FeedJob) -> Result<(), String> {
        if job.purpose == FeedUse::Inference {
            return Ok(());
        }
        let pixels = job.pixels.ok_or("the pixels of a picture are not stated")?.min(AUGMENTED_PIXELS_MAX);
        let rate = |key: &str| {
            let found = self.rates.at_pixels(key, pixels).map(|found| found.rate);
            found.ok_or_else(|| format!("the table has no `{key}`"))
        };
        let (both, decode) = (rate("jpeg-augment")?, rate("jpeg-decode")?);
        let seconds = Seconds((1.0 / both.mid.0 - 1.0 / decode.mid.0).max(0.0));
        self.add(Interval::within_factor(seconds, AUGMENT_FACTOR), "augmentation, as the table has it for JPEG");
        Ok(())
    }

    fn count(&mut self, key: &str, count: f64) -> Result<(), String> {
        let found = self.rates.get(key).ok_or_else(|| format!("the table has no `{key}`"))?;
        let what = format!(
            "{count:.0} / {:.3e} each second by {} [{}]",
            found.rate.mid.0,
            found.row.method,
            cite(&found.row.provenance)
        );
        self.add(found.rate.inverted(count), &what);
        Ok(())
    }
}
