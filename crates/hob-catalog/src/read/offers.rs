//! Reads a user's price list: one row is one price of one instance type in one region under one way of billing. A row may
//! say what the machine is (`gpu`, `gpu_count`...), so that a type which the catalog does not have can be planned on.

use std::collections::BTreeMap;

use super::machines::{share, share_error};
use super::{instances, prices};
use crate::catalog::Catalog;
use crate::error::{CatalogError, RowError};
use crate::expected::Expected;
use crate::fraction::{qgpu_share, slice};
use crate::gpu::Gpu;
use crate::instance::Availability;
use crate::overlay::Overlay;
use crate::table::Row;

/// Reads the list against a catalog, and counts its rows.
pub(crate) fn read(file: &str, text: &str, catalog: &Catalog) -> Result<(Overlay, usize), CatalogError> {
    let mut machines = Machines { catalog, overlay: Overlay::default(), places: BTreeMap::new() };
    let rows = prices::read(file, text, |row, cloud, instance, region| machines.take(row, cloud, instance, region))?;
    let count = rows.prices.len() + rows.notes.len();
    Ok((Overlay { prices: rows.prices, ..machines.overlay }, count))
}

struct Machines<'c> {
    catalog: &'c Catalog,
    overlay: Overlay,
    /// (cloud, name) -> place.
    places: BTreeMap<(String, String), usize>,
}

impl Machines<'_> {
    /// Takes the machine that a row describes, or checks that the catalog knows the type.
    fn take(&mut self, row: &Row<'_>, cloud: &str, name: &str, region: &str) -> Result<(), RowError> {
        let known = self.catalog.instance(cloud, name);
        let place = self.places.get(&(cloud.to_owned(), name.to_owned())).copied();
        let Some(written) = row.text("gpu") else {
            if known.is_some() || place.is_some() {
                return Ok(());
            }
            let near = self.catalog.unknown_instance(Some(cloud), name).did_you_mean;
            return Err(row.error("instance_type|instance", name, Expected::KnownInstance(cloud.into())).meant(near));
        };
        let gpu = self.gpu(row, cloud, written)?;
        let code_of = |cloud: &str, name: &str| self.catalog.region_code(cloud, name).to_owned();
        let mut instance = instances::instance(row, cloud.to_owned(), name, &gpu, &code_of)?;
        let region = code_of(cloud, region);
        // A price area, such as mainland China, is no region of its own.
        let is_region = !region.is_empty() && self.catalog.regions.area(cloud, &region).is_none();
        if is_region && !instance.regions.contains(&region) {
            instance.regions.push(region);
        }
        if let Some(earlier) = place.and_then(|place| self.overlay.instances.get_mut(place)) {
            if (&earlier.gpu, earlier.gpu_count) != (&instance.gpu, instance.gpu_count) {
                return Err(row.error("gpu", written, Expected::SameMachine));
            }
            earlier.fill_unknown_from(&instance);
            return Ok(());
        }
        if row.text("availability").is_none() {
            let stated = known.map(|known| known.availability);
            instance.availability =
                if cloud == "own" { Availability::Owned } else { stated.unwrap_or(Availability::OnSale) };
        }
        if self.catalog.gpu(&gpu.id).is_none() && !self.overlay.gpus.iter().any(|each| each.id == gpu.id) {
            self.overlay.gpus.push(gpu);
        }
        self.places.insert((cloud.to_owned(), name.to_owned()), self.overlay.instances.len());
        self.overlay.instances.push(instance);
        Ok(())
    }

    /// The row's GPU, or the share of it that the row states: in qGPU's steps for own machines, any for a cloud's.
    fn gpu(&self, row: &Row<'_>, cloud: &str, written: &str) -> Result<Gpu, RowError> {
        let whole = self
            .catalog
            .resolve_gpu(written)
            .map_err(|unknown| row.error("gpu", written, Expected::KnownGpu).meant(unknown.did_you_mean))?;
        let Some((compute, memory)) = share(row)? else { return Ok(whole.clone()) };
        if cloud == "own" {
            let rule = self.catalog.qgpu_rule();
            return qgpu_share(whole, compute, memory, rule).map_err(|why| share_error(row, why));
        }
        if whole.fraction.is_some() {
            return Err(row.error("gpu", written, Expected::WholeGpu));
        }
        if memory > whole.memory {
            let got = row.text("gpu_share_memory_gib").unwrap_or_default();
            return Err(row.error("gpu_share_memory_gib", got, Expected::AtMost(whole.memory.to_string().into())));
        }
        Ok(slice(whole, compute, memory))
    }
}
