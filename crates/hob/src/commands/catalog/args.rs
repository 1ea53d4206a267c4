//! Arguments of `hob catalog`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use hob_catalog::view::SortBy;
use hob_catalog::{Availability, ChargeType, Feature, FractionFilter, GpuArchitecture};
use hob_units::{Bytes, MoneyPer};

/// What to do with the catalog.
#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    /// List GPUs, or instance types with their prices, all or those that pass filters
    #[command(
        after_help = "Examples:\n  hob catalog list --supports fp8 --memory-min \"80 GiB\"              GPUs\n  hob catalog list instances --cloud tencent --region ap-guangzhou   offers of one region\n  hob catalog list instances --gpu A10 --price-max \"CNY 20/hour\" --sort price"
    )]
    List(Box<ListArgs>),
    /// Show one GPU or instance type: every figure with its source and date, software, prices
    #[command(
        after_help = "Examples:\n  hob catalog show A100-80GB             a GPU, in any form that drivers and clouds write\n  hob catalog show t4-1of4               a fraction of a GPU\n  hob catalog show tencent/GN7.2XLARGE32 --json"
    )]
    Show {
        /// GPU, fraction or instance type; `CLOUD/TYPE` where two clouds share a name
        name: String,
    },
    /// Compare two GPUs, or two instance types, side by side, with ratios and prices per TFLOP/s, GiB and GB/s
    #[command(
        after_help = "Examples:\n  hob catalog compare L20 H20            two GPUs\n  hob catalog compare T4 t4-1of4         a card and a fraction of it\n  hob catalog compare GN10Xp.2XLARGE40 p3.2xlarge --json"
    )]
    Compare {
        /// The left one
        left: String,
        /// The right one
        right: String,
    },
    /// Check price lists and SkyPilot catalogs, and write what can be used in Hob's own form
    #[command(
        after_help = "Examples:\n  hob catalog import my-prices.csv                       check only\n  hob catalog import catalogs/v8/aws/vms.csv --out aws.csv   SkyPilot's catalog of one cloud\n  hob catalog import vms.csv --cloud lambda --date 2026-11-01 --out lambda.csv"
    )]
    Import(ImportArgs),
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list
    #[arg(value_enum, default_value = "gpus")]
    pub what: What,
    /// Only what this cloud sells; may be repeated
    #[arg(long, value_name = "CLOUD")]
    pub cloud: Vec<String>,
    /// Only what is sold in this region: code, name or price area; may be repeated
    #[arg(long, value_name = "REGION")]
    pub region: Vec<String>,
    /// Only this GPU, its variants and fractions; may be repeated
    #[arg(long, value_name = "GPU")]
    pub gpu: Vec<String>,
    /// Only this generation; may be repeated
    #[arg(long, value_name = "ARCH", value_parser = architecture())]
    pub arch: Vec<GpuArchitecture>,
    /// Least memory of one GPU, such as "40 GiB"
    #[arg(long, value_name = "SIZE")]
    pub memory_min: Option<Bytes>,
    /// Only GPUs on which this number format or software works; may be repeated
    #[arg(long, value_name = "WHAT", value_parser = feature())]
    pub supports: Vec<Feature>,
    /// Only this way of billing: on-demand, monthly, spot, reserved-MONTHS, owned; may be repeated
    #[arg(long, value_name = "BILLING", value_parser = charge)]
    pub charge: Vec<ChargeType>,
    /// Most for one machine, such as "USD 3/hour"; other currencies and unknown prices are left out
    #[arg(long, value_name = "PRICE")]
    pub price_max: Option<MoneyPer>,
    /// Whether one can have it; all but retired and not_confirmed when not given; may be repeated
    #[arg(long, value_name = "STATUS", value_parser = availability())]
    pub availability: Vec<Availability>,
    /// Whole cards, fractions of cards, or both
    #[arg(long, value_enum, default_value = "any")]
    pub fractions: Fractions,
    /// Order
    #[arg(long, value_enum, default_value = "catalog")]
    pub sort: Sort,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Price lists, or SkyPilot's vms.csv of any cloud
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Cloud of a SkyPilot file; its folder's or its own name when not given
    #[arg(long, value_name = "CLOUD")]
    pub cloud: Option<String>,
    /// Date of the prices where a file states none, such as 2026-11-30
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub date: Option<String>,
    /// Write what can be used to this new file, for `--catalog` and `where.catalogs`
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What to list.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum What {
    /// GPUs and fractions of GPUs
    Gpus,
    /// Instance types with their prices
    Instances,
}

/// Whether fractions are wanted.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Fractions {
    /// Both
    Any,
    /// Whole cards
    None,
    /// Fractions
    Only,
}

impl From<Fractions> for FractionFilter {
    fn from(word: Fractions) -> Self {
        match word {
            Fractions::Any => Self::Any,
            Fractions::None => Self::WholeOnly,
            Fractions::Only => Self::FractionsOnly,
        }
    }
}

/// Order of a list; what is unknown comes last.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Sort {
    /// As in the files
    Catalog,
    /// By name
    Name,
    /// Most GPU memory first
    Memory,
    /// Highest memory bandwidth first
    Bandwidth,
    /// Highest 16-bit rate first
    Compute,
    /// Cheapest hour first, each currency by itself
    Price,
}

impl From<Sort> for SortBy {
    fn from(word: Sort) -> Self {
        match word {
            Sort::Catalog => Self::Catalog,
            Sort::Name => Self::Name,
            Sort::Memory => Self::Memory,
            Sort::Bandwidth => Self::Bandwidth,
            Sort::Compute => Self::Compute,
            Sort::Price => Self::Price,
        }
    }
}

/// One of the words of a fixed list; clap prints them and offers the nearest.
fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(move |each| word(*each)))
        .try_map(move |given| all.iter().copied().find(|each| word(*each) == given).ok_or("not one of the words"))
}

fn architecture() -> impl TypedValueParser<Value = GpuArchitecture> {
    one_of(&GpuArchitecture::ALL, GpuArchitecture::word)
}

fn feature() -> impl TypedValueParser<Value = Feature> {
    one_of(&Feature::ALL, Feature::word)
}

fn availability() -> impl TypedValueParser<Value = Availability> {
    one_of(&Availability::ALL, Availability::word)
}

fn charge(word: &str) -> Result<ChargeType, &'static str> {
    hob_catalog::charge(word).ok_or("give on-demand, monthly, spot, reserved-12 (months) or owned")
}

fn date(text: &str) -> Result<String, jiff::Error> {
    text.parse::<jiff::civil::Date>().map(|date| date.to_string())
}
