//! Which offers a workload allows: clouds, regions, billing modes, GPUs, instance types, own machines.

use std::collections::BTreeSet;

use hob_catalog::{
    Availability, Catalog, ChargeType, Offer, OfferFilter, Overlay, OwnCost, OwnMachine, OwnMachineError, UnknownName,
};
use hob_workload::{Billing, Machine, MachineCost, Workload};

/// The catalog with the workload's own machines laid over it.
///
/// # Errors
/// When a machine's GPU is not known.
pub(crate) fn with_machines(catalog: &Catalog, machines: &[Machine], today: &str) -> Result<Catalog, OwnMachineError> {
    let own: Vec<OwnMachine> = machines
        .iter()
        .map(|machine| OwnMachine {
            name: machine.name.clone(),
            gpu: machine.gpu.clone(),
            gpu_count: machine.gpus,
            gpu_share: None,
            vcpus: machine.vcpus,
            memory: machine.memory,
            local_disk: None,
            network: machine.network,
            rdma: None,
            gpu_link: None,
            cost: match machine.cost {
                None => OwnCost::Unknown,
                Some(MachineCost::Rate(rate)) => OwnCost::Stated(rate),
                Some(MachineCost::Purchase { price, years }) => OwnCost::Bought {
                    price,
                    lifetime_months: (years * 12.0).round().clamp(1.0, 1200.0) as u32,
                    power: None,
                    electricity_kwh: None,
                },
            },
            source: "where.machines of the workload file".to_owned(),
            date: today.to_owned(),
        })
        .collect();
    Ok(catalog.clone().with_overlay(Overlay::own_machines(catalog, &own)?))
}

/// All offers that the workload allows.
///
/// # Errors
/// When it names a cloud, region or GPU that the catalog does not know.
pub(crate) fn allowed<'c>(catalog: &'c Catalog, workload: &Workload) -> Result<Vec<Offer<'c>>, UnknownName> {
    let place = &workload.place;
    let constraints = &workload.constraints;
    let mut filter = OfferFilter::default();
    for cloud in &place.clouds {
        filter.clouds.insert(catalog.resolve_cloud(cloud)?.to_owned());
    }
    if !place.machines.is_empty() && !filter.clouds.is_empty() {
        filter.clouds.insert("own".to_owned());
    }
    for region in &place.regions {
        catalog.resolve_region(region)?;
    }
    filter.regions.clone_from(&place.regions);
    filter.gpus = gpu_ids(catalog, &constraints.gpus)?;
    filter.charges = place.billing.iter().flat_map(|billing| charges(*billing)).collect();
    if place.allow_invitation_only {
        filter.availability =
            [Availability::OnSale, Availability::Limited, Availability::InvitationOnly, Availability::Owned].into();
    }
    let refused = gpu_ids(catalog, &constraints.not_gpus)?;
    let mut offers = catalog.offers(&filter);
    offers.retain(|offer| {
        let named = constraints.instances.is_empty()
            || constraints.instances.iter().any(|pattern| matches_pattern(pattern, &offer.instance.name));
        named && !refused.contains(&offer.gpu.id)
    });
    Ok(offers)
}

/// Ids of the GPUs that the names can mean.
fn gpu_ids(catalog: &Catalog, names: &[String]) -> Result<BTreeSet<String>, UnknownName> {
    let mut ids = BTreeSet::new();
    for name in names {
        let candidates = catalog.gpu_candidates(name);
        if candidates.is_empty() {
            ids.insert(catalog.resolve_gpu(name)?.id.clone());
        }
        ids.extend(candidates.into_iter().map(|gpu| gpu.id.clone()));
    }
    Ok(ids)
}

fn charges(billing: Billing) -> Vec<ChargeType> {
    match billing {
        Billing::PayAsYouGo => vec![ChargeType::PayAsYouGo, ChargeType::Owned],
        Billing::Monthly => vec![ChargeType::Monthly, ChargeType::Owned],
        Billing::Spot => vec![ChargeType::Spot],
        // The terms that clouds sell.
        Billing::Reserved => [12, 24, 36, 60].map(|term_months| ChargeType::Reserved { term_months }).to_vec(),
    }
}

/// Whether `name` matches a pattern in which `*` stands for any text, without regard to case.
pub(crate) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut last = "";
    let mut starred = false;
    for piece in pieces {
        starred = true;
        last = piece;
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    if starred { last.is_empty() || name.ends_with(last) } else { rest.is_empty() }
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("GN7.*", "GN7.2XLARGE32", true),
            ("gn7.2xlarge32", "GN7.2XLARGE32", true),
            ("GN7", "GN7.2XLARGE32", false),
            ("*XLARGE32", "GN7.2XLARGE32", true),
            ("*XLARGE*0", "GN7.2XLARGE40", true),
            ("*XLARGE*0", "GN7.2XLARGE32", false),
            ("*", "anything", true),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} on {name}");
        }
    }
}
