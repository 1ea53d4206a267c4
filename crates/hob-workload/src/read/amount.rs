//! Amounts of things that hob-units has no type for: counts, rates, pictures, hours of the day.

use hob_text::Message;
use hob_units::{PerSecond, Seconds, split_number};

use super::quantity::Quantity;
use super::trouble;

/// Arrivals: requests, images, clips in a span of time.
#[derive(Debug, Clone)]
pub(crate) struct RateText;

impl Quantity for RateText {
    type Value = PerSecond;
    const EXPECTED: &'static str = "workload-expected-rate";
    const EXAMPLES: &'static [&'static str] = &["12 req/s", "3000 images/hour"];
    const PATTERN: &'static str = r"^\s*[+]?[0-9.][0-9_,.eE+]*\s*[^/]*/\s*[A-Za-z]+\s*$";
    const UNIT: Option<&'static str> = Some("req/s");
    fn parse(text: &str) -> Option<PerSecond> {
        // `2M images/day`: the count is read with its prefix, and the rate with the plain number.
        let (amount, per) = text.rsplit_once('/')?;
        let count = parse_count(amount)?;
        format!("{count} x/{per}").parse().ok()
    }
    fn trouble(text: &str) -> Message {
        match split_number(text) {
            Some((number, unit)) if number >= 0.0 && !unit.contains('/') => Message::new("workload-why-no-per"),
            _ => trouble::of_quantity(text),
        }
    }
    const UNITS: &'static [&'static str] = &["req/s", "images/s", "req/min", "req/hour", "req/day"];
    const MOST: f64 = 1e9; // all web searches of the world are some 1e5
    fn base(value: &PerSecond) -> f64 {
        value.0
    }
}

/// A count of things: `1.5M images`, `30 frames`, `20000`.
#[derive(Debug, Clone)]
pub(crate) struct Count;

impl Quantity for Count {
    type Value = f64;
    const EXPECTED: &'static str = "workload-expected-count";
    const EXAMPLES: &'static [&'static str] = &["1.5M images", "30 frames", "20000 clips"];
    const PATTERN: &'static str = r"^\s*[+]?[0-9.][0-9_,.eE+]*\s*[^0-9/]*$";
    const UNIT: Option<&'static str> = None;
    const BARE: bool = true;
    fn parse(text: &str) -> Option<f64> {
        parse_count(text)
    }
    const MOST: f64 = COUNT_MAX;
    fn base(value: &f64) -> f64 {
        *value
    }
}

/// Beyond this a count is no count of anything here (15T tokens is 1.5e13).
const COUNT_MAX: f64 = 1e16;

/// A count with an optional prefix and an optional noun; the noun may be any word.
pub(crate) fn parse_count(text: &str) -> Option<f64> {
    let (number, rest) = split_number(text)?;
    let first = rest.split_whitespace().next().unwrap_or("");
    let factor = match first {
        "k" | "K" | "thousand" => 1e3,
        "M" | "million" => 1e6,
        "B" | "G" | "billion" => 1e9,
        "T" | "trillion" => 1e12,
        _ if rest.starts_with('万') => 1e4,
        _ if rest.starts_with('亿') => 1e8,
        _ => 1.0,
    };
    let is_noun = rest.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-' | '_'));
    let value = number * factor;
    (is_noun && value >= 0.0).then_some(value)
}

/// Frame rate of a video: `30 fps`, or the bare number, since the key says it.
#[derive(Debug, Clone)]
pub(crate) struct Fps;

/// Frames that an engine made in a second when it was measured, written like a frame rate.
#[derive(Debug, Clone)]
pub(crate) struct MeasuredFps;

impl Quantity for MeasuredFps {
    type Value = f64;
    const EXPECTED: &'static str = Fps::EXPECTED;
    const EXAMPLES: &'static [&'static str] = &["480 fps"];
    const PATTERN: &'static str = Fps::PATTERN;
    const UNIT: Option<&'static str> = Fps::UNIT;
    const BARE: bool = true;
    fn parse(text: &str) -> Option<f64> {
        Fps::parse(text)
    }
    const UNITS: &'static [&'static str] = Fps::UNITS;
    const MOST: f64 = 1e5; // the fastest published engine makes 2389
    const LEAST: f64 = 0.01;
    fn base(value: &f64) -> f64 {
        *value
    }
}

impl Quantity for Fps {
    type Value = f64;
    const EXPECTED: &'static str = "workload-expected-fps";
    const EXAMPLES: &'static [&'static str] = &["30 fps", "60 fps"];
    const PATTERN: &'static str = r"^\s*[0-9.]+\s*(fps|frames/s)\s*$";
    const UNIT: Option<&'static str> = Some("fps");
    const BARE: bool = true;
    fn parse(text: &str) -> Option<f64> {
        let (number, unit) = split_number(text)?;
        let known = matches!(unit.to_ascii_lowercase().as_str(), "" | "fps" | "frames/s");
        (known && number >= 0.0).then_some(number)
    }
    const UNITS: &'static [&'static str] = &["fps"];
    const MOST: f64 = 1000.0; // high-speed cameras
    const LEAST: f64 = 0.1; // time lapse
    fn base(value: &f64) -> f64 {
        *value
    }
}

/// Video that arrives in a span of time: `40 hours/hour`, `500 hours/day`.
#[derive(Debug, Clone)]
pub(crate) struct PerHour;

impl Quantity for PerHour {
    /// Hours of video in one hour.
    type Value = f64;
    const EXPECTED: &'static str = "workload-expected-hours-per-hour";
    const EXAMPLES: &'static [&'static str] = &["40 hours/hour", "500 hours/day"];
    const PATTERN: &'static str = r"^\s*[0-9.][0-9_,.]*\s*[A-Za-z]+\s*/\s*[A-Za-z]+\s*$";
    const UNIT: Option<&'static str> = Some("hours/hour");
    fn parse(text: &str) -> Option<f64> {
        let (length, per) = text.split_once('/')?;
        let length: Seconds = length.parse().ok()?;
        let per: Seconds = format!("1 {}", per.trim()).parse().ok()?;
        Some(length.0 / per.0)
    }
    const UNITS: &'static [&'static str] = &["hours/hour", "hours/day"];
    const MOST: f64 = 1e9;
    fn base(value: &f64) -> f64 {
        *value
    }
}

/// Width and height: `1920x1080`, `1080p`.
#[derive(Debug, Clone)]
pub(crate) struct Resolution;

impl Quantity for Resolution {
    /// Height and width in pixels.
    type Value = (u64, u64);
    const EXPECTED: &'static str = "workload-expected-resolution";
    const EXAMPLES: &'static [&'static str] = &["1920x1080", "1080p", "1024x1024"];
    const PATTERN: &'static str = r"^\s*([0-9]+\s*[xX×*]\s*[0-9]+|[0-9]+[pP]|2[kK]|4[kK]|8[kK])\s*$";
    const UNIT: Option<&'static str> = None;
    fn parse(text: &str) -> Option<Self::Value> {
        parse_resolution(text)
    }
    fn trouble(_: &str) -> Message {
        Message::new("workload-why-resolution")
    }
    const MOST: f64 = f64::INFINITY; // the reader bounds each side
    fn base(_: &Self::Value) -> f64 {
        1.0
    }
}

/// Height and width of a text that gives width and height, or a usual name.
pub(crate) fn parse_resolution(text: &str) -> Option<(u64, u64)> {
    /// From the smallest icons to the largest sensors and mosaics in use; beyond it is a slip.
    const SIDES: std::ops::RangeInclusive<u64> = 16..=65_536;
    let text = text.trim().to_lowercase();
    let named = match text.as_str() {
        "360p" => Some((360, 640)),
        "480p" => Some((480, 854)),
        "540p" => Some((540, 960)),
        "720p" => Some((720, 1280)),
        "1080p" => Some((1080, 1920)),
        "1440p" | "2k" => Some((1440, 2560)),
        "2160p" | "4k" => Some((2160, 3840)),
        "4320p" | "8k" => Some((4320, 7680)),
        _ => None,
    };
    named.or_else(|| {
        let (width, height) = text.split_once(['x', '×', '*'])?;
        let side = |side: &str| side.trim().parse::<u64>().ok().filter(|side| SIDES.contains(side));
        Some((side(height)?, side(width)?))
    })
}

/// Hours of the day: `22-08`.
#[derive(Debug, Clone)]
pub(crate) struct Hours;

impl Quantity for Hours {
    /// First hour, and the hour at which it ends.
    type Value = (u8, u8);
    const EXPECTED: &'static str = "workload-expected-hours";
    const EXAMPLES: &'static [&'static str] = &["22-08", "09-18"];
    const PATTERN: &'static str = r"^\s*[0-9]{1,2}(:00)?\s*[-–]\s*[0-9]{1,2}(:00)?\s*$";
    const UNIT: Option<&'static str> = None;
    fn parse(text: &str) -> Option<(u8, u8)> {
        let (from, to) = text.split_once(['-', '–'])?;
        let hour = |text: &str| -> Option<u8> {
            let text = text.trim();
            let digits = text.strip_suffix(":00").unwrap_or(text);
            let plain = digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse().ok())?.filter(|hour| *hour <= 24)
        };
        let (from, to) = (hour(from)? % 24, hour(to)?);
        // Midnight as an end is 24, so that a window that ends there does not look like one that runs around the day.
        let to = if to == 0 { 24 } else { to };
        (from != to).then_some((from, to))
    }
    fn trouble(_: &str) -> Message {
        Message::new("workload-why-hours")
    }
    const MOST: f64 = f64::INFINITY; // a clock has no more hours
    fn base(_: &Self::Value) -> f64 {
        1.0
    }
}
