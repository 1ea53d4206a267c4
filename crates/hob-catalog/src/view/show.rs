//! One GPU or one instance type with every fact and its source.

use hob_units::Bytes;
use serde::Serialize;

use super::list::{OfferRow, PriceCell};
use crate::catalog::Catalog;
use crate::compat::{Answer, Compat, CompatFact, Feature};
use crate::error::{NameKind, UnknownName};
use crate::gpu::Gpu;
use crate::instance::{Availability, InstanceType};
use crate::offer::OfferFilter;
use crate::provenance::Provenance;
use crate::read::prices::PriceNote;

/// Whether one feature works, and what says so.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureRow {
    /// Name of the feature.
    pub feature: &'static str,
    /// The answer.
    pub answer: Answer,
    /// The floor or list that decides: `compute_capability >= 8.0`.
    pub needs: Option<String>,
    /// Source, date and note of that row.
    pub provenance: Option<Provenance>,
}

/// Everything that is known of a GPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GpuDetail {
    /// The row.
    pub gpu: Gpu,
    /// Memory that software can address (see [`Gpu::memory_total`]).
    #[serde(rename = "memory_total_bytes")]
    pub memory_total: Bytes,
    /// Source columns without a field of their own.
    pub other_facts: Vec<(String, String)>,
    /// Ids of its fixed fractions.
    pub fractions: Vec<String>,
    /// What runs on it.
    pub features: Vec<FeatureRow>,
    /// First CUDA toolkit whose compiler targets it.
    pub cuda_first: Option<CompatFact>,
    /// Last CUDA toolkit whose compiler targets it.
    pub cuda_last: Option<CompatFact>,
    /// Driver for full use of that last toolkit.
    pub driver_for_cuda_last: Option<CompatFact>,
    /// Last driver branch, when support has ended.
    pub driver_last: Option<CompatFact>,
    /// Offers with it.
    pub offers: Vec<OfferRow>,
}

/// Everything that is known of an instance type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InstanceDetail {
    /// The row.
    pub instance: InstanceType,
    /// Its GPU or fraction; `None` only when an overlay built in code names one that is not there.
    pub gpu: Option<Gpu>,
    /// Source columns without a field of their own.
    pub other_facts: Vec<(String, String)>,
    /// Its offers, by region.
    pub offers: Vec<OfferRow>,
    /// Resellers' prices: a hint, never ranked.
    pub price_hints: Vec<PriceCell>,
    /// What the sources say about its prices without stating one, and the cloud's rules for all types.
    pub price_notes: Vec<PriceNote>,
    /// What runs on its GPU.
    pub features: Vec<FeatureRow>,
}

/// One entry of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Entry {
    /// A GPU or a fraction.
    Gpu(Box<GpuDetail>),
    /// An instance type.
    Instance(Box<InstanceDetail>),
}

/// The entry of a name: a GPU's, or else an instance type's.
///
/// # Errors
/// When the catalog knows neither, with the nearest names of both.
pub fn show(catalog: &Catalog, compat: &Compat, name: &str) -> Result<Entry, UnknownName> {
    if let Ok(instance) = catalog.resolve_instance(name) {
        return Ok(Entry::Instance(Box::new(instance_detail(catalog, compat, instance))));
    }
    match catalog.resolve_gpu(name) {
        Ok(gpu) => Ok(Entry::Gpu(Box::new(gpu_detail(catalog, compat, gpu)))),
        Err(error) => Err(unknown(catalog, name, error)),
    }
}

/// Nearest GPUs, then nearest instance types.
pub(super) fn unknown(catalog: &Catalog, name: &str, mut error: UnknownName) -> UnknownName {
    let near = catalog.unknown_instance(None, name).did_you_mean;
    if error.did_you_mean.is_empty() {
        error.kind = NameKind::Instance;
        error.did_you_mean = near;
    } else {
        error.did_you_mean.extend(near.into_iter().take(1));
    }
    error
}

/// All availabilities: what is retired is shown too when it is asked for by name.
fn all_availabilities() -> std::collections::BTreeSet<Availability> {
    Availability::ALL.into()
}

fn gpu_detail(catalog: &Catalog, compat: &Compat, gpu: &Gpu) -> GpuDetail {
    let filter = OfferFilter { gpus: [gpu.id.clone()].into(), ..OfferFilter::default() };
    let toolkits = gpu.compute_capability.and_then(|capability| compat.cuda_range(capability));
    GpuDetail {
        memory_total: gpu.memory_total(),
        other_facts: catalog.gpu_facts(&gpu.id).to_vec(),
        fractions: catalog.fractions_of(&gpu.id).iter().map(|fraction| fraction.id.clone()).collect(),
        features: features(compat, gpu),
        cuda_first: toolkits.map(|(first, _)| first.clone()),
        cuda_last: toolkits.map(|(_, last)| last.clone()),
        driver_for_cuda_last: toolkits.and_then(|(_, last)| compat.driver_for_cuda(&last.subject_version)).cloned(),
        driver_last: compat.last_driver(gpu.architecture).cloned(),
        offers: catalog.offers(&filter).iter().map(OfferRow::of).collect(),
        gpu: gpu.clone(),
    }
}

fn instance_detail(catalog: &Catalog, compat: &Compat, instance: &InstanceType) -> InstanceDetail {
    let filter = OfferFilter {
        clouds: [instance.cloud.clone()].into(),
        instances: vec![instance.name.clone()],
        availability: all_availabilities(),
        ..OfferFilter::default()
    };
    let offers = catalog.offers(&filter);
    let is_about = |note: &&PriceNote| {
        note.cloud == instance.cloud && (note.instance == "*" || note.instance.eq_ignore_ascii_case(&instance.name))
    };
    let gpu = catalog.gpu(&instance.gpu).cloned();
    InstanceDetail {
        features: gpu.as_ref().map(|gpu| features(compat, gpu)).unwrap_or_default(),
        gpu,
        other_facts: catalog.instance_facts(instance).to_vec(),
        offers: offers.iter().map(OfferRow::of).collect(),
        price_hints: catalog.hints_of(instance).map(PriceCell::of).collect(),
        price_notes: catalog.price_notes().filter(is_about).cloned().collect(),
        instance: instance.clone(),
    }
}

fn features(compat: &Compat, gpu: &Gpu) -> Vec<FeatureRow> {
    let row = |feature: &Feature| {
        let support = compat.support(gpu, *feature);
        FeatureRow {
            feature: feature.name(),
            answer: support.answer,
            needs: support.fact.map(|fact| format!("{} {} {}", fact.object, fact.op, fact.object_version)),
            provenance: support.fact.map(|fact| fact.provenance.clone()),
        }
    };
    Feature::ALL.iter().map(row).collect()
}
