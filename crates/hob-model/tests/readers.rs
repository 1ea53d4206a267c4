//! The readers on small files: what they say about valid ones, and how they refuse broken ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::print_stdout, reason = "a skipped test says so")]
#![allow(clippy::disallowed_methods, reason = "tests write and read their own files")]

// The fuzz targets' own entries: what a fuzzer feeds is what the tests feed.
#[path = "../../../fuzz/src/lib.rs"]
mod entries;
#[path = "readers/folders.rs"]
mod folders;
#[path = "readers/gguf_architectures.rs"]
mod gguf_architectures;
#[path = "readers/hostile.rs"]
mod hostile;
#[path = "readers/mtp.rs"]
mod mtp;
#[path = "readers/mutated.rs"]
mod mutated;
#[path = "readers/samples.rs"]
mod samples;
#[path = "readers/valid.rs"]
mod valid;
#[path = "readers/writers.rs"]
mod writers;
