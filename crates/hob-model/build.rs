//! Embeds every config of `data/models` that `index.csv` lists, so that adding a preset is one file and one row.
#![allow(clippy::disallowed_methods, reason = "a build script reads files; the crate itself does not")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../data/models").canonicalize()?;
    let index = folder.join("index.csv");
    println!("cargo::rerun-if-changed={}", index.display());
    let mut table = String::from("&[\n");
    // The first two columns, file and hub id, hold no comma and no quote.
    for row in fs::read_to_string(&index)?.lines().skip(1).filter(|row| !row.trim().is_empty()) {
        let mut columns = row.split(',');
        let (Some(file), Some(hub_id)) = (columns.next(), columns.next()) else {
            return Err(format!("a row of {} has fewer than two columns: {row}", index.display()).into());
        };
        let config = folder.join(file);
        println!("cargo::rerun-if-changed={}", config.display());
        if !config.is_file() {
            return Err(format!("{} lists {file}, which is not there", index.display()).into());
        }
        writeln!(table, "    ({hub_id:?}, include_str!({:?})),", config.display().to_string())?;
    }
    table.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("presets.rs"), table)?;
    Ok(())
}
