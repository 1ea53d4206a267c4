//! The workload file: hob.toml to a checked description of the work.
