//! The table of what a core, disk, connection or account delivers.

use hob_catalog::Provenance;
use hob_units::{Interval, PerSecond, Quantity};
use serde::Serialize;

use crate::rate_table::{self, RateTableError, Row};

/// What one core, disk, connection, account or GPU delivers each second, in samples or bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeedRate {
    /// Word that the estimate asks for (`jpeg-augment`, `cloud-hssd`); empty for rows that are there to compare.
    pub key: String,
    /// Size at which the rate holds: pixels of a picture, GB of a disk.
    pub size: Option<f64>,
    /// Method in words.
    pub method: String,
    /// Of one `core`, `disk`, `connection`, `account`, `bucket`, `instance` or `gpu`.
    pub per: String,
    /// Lower end, in things, bytes or seconds of sound each second; a limit that promises nothing has none.
    pub low: Option<PerSecond>,
    /// Middle, or the limit.
    pub mid: PerSecond,
    /// Upper end.
    pub high: PerSecond,
    /// Source.
    pub provenance: Provenance,
}

/// All rates of feeding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeedRates {
    /// Rows in the order of the table.
    pub rows: Vec<FeedRate>,
}

const TABLE: (&str, &str) = ("data/pipeline/feed_rates.csv", include_str!("../../../../data/pipeline/feed_rates.csv"));

/// A rate with the row that it was taken from.
pub(crate) struct Found<'r> {
    pub rate: Interval<PerSecond>,
    pub row: &'r FeedRate,
}

impl FeedRates {
    /// The table that ships with Hob.
    ///
    /// # Errors
    /// Never in a released binary: a test reads the embedded table.
    pub fn built_in() -> Result<Self, RateTableError> {
        Ok(Self { rows: rate_table::read(TABLE, feed_rate)? })
    }

    /// The rate that is stated without a size.
    pub(crate) fn get(&self, key: &str) -> Option<Found<'_>> {
        let row = self.rows.iter().find(|row| row.key == key)?;
        Some(Found { rate: row.band(), row })
    }

    /// Rows of a key by size.
    fn by_size(&self, key: &str) -> Vec<AtSize<'_>> {
        let of_key = self.rows.iter().filter(|row| row.key == key);
        let mut rows: Vec<AtSize<'_>> = of_key.filter_map(|row| Some((row.size?, row))).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        rows
    }

    /// Pictures a second at a number of pixels: a power law between two rows. Above the largest row the rate falls with
    /// the pixels; below the smallest one only the upper end rises, since the work that each picture costs whatever its
    /// size was not measured.
    pub(crate) fn at_pixels(&self, key: &str, pixels: f64) -> Option<Found<'_>> {
        let rows = self.by_size(key);
        let (first, last) = (rows.first()?, rows.last()?);
        if pixels <= first.0 {
            let band = first.1.band();
            let high = PerSecond(band.high.0 * first.0 / pixels);
            return Some(Found { rate: Interval { high, ..band }, row: first.1 });
        }
        if pixels >= last.0 {
            return Some(Found { rate: last.1.band().scaled(last.0 / pixels), row: last.1 });
        }
        let (below, above) = around(&rows, pixels)?;
        let part = (pixels / below.0).ln() / (above.0 / below.0).ln();
        let power = |a: PerSecond, b: PerSecond| PerSecond(a.0 * (b.0 / a.0).powf(part));
        Some(Found { rate: between(below.1.band(), above.1.band(), power), row: below.1 })
    }

    /// A disk's bytes a second at a capacity in GB: straight between two rows, level outside.
    pub(crate) fn at_capacity(&self, key: &str, gb: f64) -> Option<Found<'_>> {
        let rows = self.by_size(key);
        let (first, last) = (rows.first()?, rows.last()?);
        if gb <= first.0 || gb >= last.0 {
            let row = if gb <= first.0 { first.1 } else { last.1 };
            return Some(Found { rate: row.band(), row });
        }
        let (below, above) = around(&rows, gb)?;
        let part = (gb - below.0) / (above.0 - below.0);
        let straight = |a: PerSecond, b: PerSecond| PerSecond(a.0 + (b.0 - a.0) * part);
        Some(Found { rate: between(below.1.band(), above.1.band(), straight), row: below.1 })
    }
}

/// A size and its row.
type AtSize<'r> = (f64, &'r FeedRate);

/// The two rows that `size` lies between.
fn around<'r>(rows: &[AtSize<'r>], size: f64) -> Option<(AtSize<'r>, AtSize<'r>)> {
    let above = rows.iter().position(|(at, _)| *at > size)?;
    Some((*rows.get(above.checked_sub(1)?)?, *rows.get(above)?))
}

fn between(
    a: Interval<PerSecond>,
    b: Interval<PerSecond>,
    mix: impl Fn(PerSecond, PerSecond) -> PerSecond,
) -> Interval<PerSecond> {
    Interval { low: mix(a.low, b.low), mid: mix(a.mid, b.mid), high: mix(a.high, b.high) }
}

impl FeedRate {
    /// As an interval; a limit bounds all three ends alike.
    fn band(&self) -> Interval<PerSecond> {
        Interval { low: self.low.unwrap_or(self.mid), mid: self.mid, high: self.high }
    }
}

fn feed_rate(row: &Row<'_>) -> Result<FeedRate, RateTableError> {
    let factor = match row.text("unit") {
        "images/s" | "frames/s" | "tokens/s" | "requests/s" => 1.0,
        "MB/s" => 1e6,
        "audio hours/s" => 3600.0,
        other => return Err(row.error(format!("unit: `{other}` is not one that is known"))),
    };
    let cell = |column| Ok(row.number(column)?.map(|number| PerSecond(number * factor)));
    let missing = || row.error("rate is empty".to_owned());
    let (low, mid, high) = (cell("rate_low")?, cell("rate")?, cell("rate_high")?);
    let (mid, high) = (mid.ok_or_else(missing)?, high.ok_or_else(missing)?);
    Interval::new(low.unwrap_or(mid), mid, high).map_err(|error| row.error(error.to_string()))?;
    if mid.base() <= 0.0 {
        return Err(missing());
    }
    Ok(FeedRate {
        key: row.text("key").to_owned(),
        size: row.number("size")?,
        method: row.text("method").to_owned(),
        per: row.text("per").to_owned(),
        low,
        mid,
        high,
        provenance: row.provenance()?,
    })
}
