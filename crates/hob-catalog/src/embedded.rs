//! The facts that are compiled in. A new file of another cloud is one line here.

/// `gpus.csv`.
pub(crate) const GPUS: (&str, &str) = ("data/catalog/gpus.csv", include_str!("../../../data/catalog/gpus.csv"));
/// `tencent_instances.csv`.
pub(crate) const INSTANCES: (&str, &str) =
    ("data/catalog/tencent_instances.csv", include_str!("../../../data/catalog/tencent_instances.csv"));
/// `prices.csv`.
pub(crate) const PRICES: (&str, &str) = ("data/catalog/prices.csv", include_str!("../../../data/catalog/prices.csv"));
/// `regions.csv`.
pub(crate) const REGIONS: (&str, &str) =
    ("data/catalog/regions.csv", include_str!("../../../data/catalog/regions.csv"));
/// `compat.csv`.
pub(crate) const COMPAT: (&str, &str) = ("data/catalog/compat.csv", include_str!("../../../data/catalog/compat.csv"));

/// Cloud, file and text of each catalog in SkyPilot's form.
pub(crate) const SKYPILOT: &[(&str, &str, &str)] = &[
    ("aws", "data/catalog/skypilot/aws.csv", include_str!("../../../data/catalog/skypilot/aws.csv")),
    ("azure", "data/catalog/skypilot/azure.csv", include_str!("../../../data/catalog/skypilot/azure.csv")),
    ("gcp", "data/catalog/skypilot/gcp.csv", include_str!("../../../data/catalog/skypilot/gcp.csv")),
    ("alibaba", "data/catalog/skypilot/alibaba.csv", include_str!("../../../data/catalog/skypilot/alibaba.csv")),
    ("nebius", "data/catalog/skypilot/nebius.csv", include_str!("../../../data/catalog/skypilot/nebius.csv")),
    ("lambda", "data/catalog/skypilot/lambda.csv", include_str!("../../../data/catalog/skypilot/lambda.csv")),
];
