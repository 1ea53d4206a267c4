//! The message catalogue: every sentence a user meets, in English and Simplified Chinese.
//!
//! Decisions name a sentence by its id and give the figures; only the printer turns that into words. Sentences live in
//! `locales/<language>/*.ftl` (Project Fluent), and a test demands that both languages know the same ids and variables.

mod catalogue;
mod message;

pub use catalogue::Catalogue;
pub use message::{Argument, Language, Message};
