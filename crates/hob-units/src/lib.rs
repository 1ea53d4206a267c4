//! Quantities with their units in the type.
//!
//! Every number that crosses a module boundary in Hob is one of these types. A quantity parses from the form that a
//! person writes (`80 GiB`, `12 req/s`, `CNY 20000/month`, `5 days`), prints in the same form, and serialises as a bare
//! number in its base unit (`Quantity::UNIT`). This crate sees nothing: no clock, no file, no environment.

mod bytes;
mod interval;
mod money;
mod parse;
mod quantity;
mod sentence;
mod time;

pub use bytes::{Bytes, BytesPerSec, apart, gib};
pub use interval::{Interval, IntervalError};
pub use money::{Currency, Money, MoneyPer, Period};
pub use parse::{ParseQuantityError, split_number};
pub use quantity::{Count, Flops, FlopsPerSec, PerSecond, Quantity, Share, Tokens, Watts};
pub use sentence::{Figure, Say, Sentence, SentenceForm};
pub use time::{HOURS_PER_MONTH, Seconds};
