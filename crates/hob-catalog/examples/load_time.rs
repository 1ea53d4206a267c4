//! Prints how long the embedded catalog takes to load, to offer, and to look up: `cargo run --release --example load_time`.
#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use std::time::Instant;

use hob_catalog::{Catalog, Compat, OfferFilter};

fn main() {
    let start = Instant::now();
    let catalog = Catalog::embedded();
    println!("load {:?}", start.elapsed());
    let start = Instant::now();
    let offers = catalog.offers(&OfferFilter::default()).len();
    println!("{offers} offers in {:?}", start.elapsed());
    let start = Instant::now();
    println!("{:?} in {:?}", catalog.resolve_gpu("A100-80GB").map(|gpu| &gpu.id), start.elapsed());
    let start = Instant::now();
    println!("{} compat rows in {:?}", Compat::embedded().facts().count(), start.elapsed());
    println!(
        "{} gpus, {} instances, {} prices",
        catalog.gpus().count(),
        catalog.instances().count(),
        catalog.prices().count()
    );
}
