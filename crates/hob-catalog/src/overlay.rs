//! A user's own facts, read and checked against a catalog, ready to lie over it.

use std::collections::BTreeSet;

use crate::catalog::Catalog;
use crate::error::CatalogError;
use crate::gpu::Gpu;
use crate::instance::InstanceType;
use crate::price::Price;
use crate::provenance::DATE_NOT_STATED;
use crate::read::{self, ImportReport, OwnMachine, machines::OwnMachineError};
use crate::table::Table;

/// Facts that add to a catalog or replace its rows of the same name.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// GPUs, by id.
    pub gpus: Vec<Gpu>,
    /// Other names of GPUs (first) and the ids that they mean (second).
    pub aliases: Vec<(String, String)>,
    /// Instance types, by cloud and name.
    pub instances: Vec<InstanceType>,
    /// Prices; each replaces what the catalog has for the same type, region and charge type.
    pub prices: Vec<Price>,
}

/// The forms of file that can be laid over a catalog, told apart by their columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileForm {
    /// `id, memory_gib, source...`, as `gpus.csv`.
    Gpus,
    /// `cloud, instance_type, gpu, gpu_count...`, as `tencent_instances.csv`.
    Instances,
    /// `cloud, instance, region, charge, price, currency, per...`, and `gpu, gpu_count...` for machines that the catalog
    /// does not know.
    Prices,
    /// SkyPilot's catalog of one cloud.
    SkyPilot,
    /// `name, gpu, gpu_count...`: own machines.
    Machines,
}

impl FileForm {
    /// The form of a file, from its header.
    ///
    /// # Errors
    /// When the file is empty or its columns are of no known form.
    pub fn of(file: &str, text: &str) -> Result<Self, CatalogError> {
        let table = Table::open(file, text)?;
        let has = |column| table.has(column);
        if has("instancetype") && has("acceleratorname") {
            Ok(Self::SkyPilot)
        } else if (has("charge") || has("charge_type")) && has("currency") {
            Ok(Self::Prices)
        } else if has("cloud") && has("gpu") && has("gpu_count") {
            Ok(Self::Instances)
        } else if has("name") && has("gpu") && has("gpu_count") {
            Ok(Self::Machines)
        } else if has("id") && has("memory_gib") {
            Ok(Self::Gpus)
        } else {
            Err(CatalogError::UnknownForm { file: file.to_owned(), found: table.shown_header().to_owned() })
        }
    }
}

impl Overlay {
    /// Reads any of the forms. `cloud` names the cloud of a SkyPilot file (its own rows do not).
    ///
    /// # Errors
    /// The file's first wrong rows, each with line, column and expectation.
    pub fn read(catalog: &Catalog, file: &str, text: &str, cloud: &str) -> Result<(Self, ImportReport), CatalogError> {
        let mut report = ImportReport::default();
        let overlay = match FileForm::of(file, text)? {
            FileForm::SkyPilot => {
                let overlay;
                (overlay, report) = read::skypilot::read(file, text, &cloud.to_lowercase(), catalog)?;
                overlay
            }
            FileForm::Gpus => {
                let rows = read::gpus::read(file, text, |id| catalog.resolve_gpu(id))?;
                report.rows = rows.gpus.len();
                Self { gpus: rows.gpus, aliases: rows.aliases, ..Self::default() }
            }
            FileForm::Instances => {
                let rows = read::instances::read(
                    file,
                    text,
                    |name| catalog.resolve_gpu(name),
                    |cloud, name| catalog.region_code(cloud, name).to_owned(),
                )?;
                report.rows = rows.instances.len() + rows.families.len();
                Self { instances: rows.instances, ..Self::default() }
            }
            FileForm::Prices => {
                let overlay;
                (overlay, report.rows) = read::offers::read(file, text, catalog)?;
                overlay
            }
            FileForm::Machines => {
                let mut all = Self::default();
                read::machines::read(file, text, |machine| {
                    let one = Self::own_machines(catalog, std::slice::from_ref(machine))?;
                    all.gpus.extend(one.gpus);
                    all.instances.extend(one.instances);
                    all.prices.extend(one.prices);
                    Ok(())
                })?;
                report.rows = all.instances.len();
                all
            }
        };
        report.gpus = overlay.gpus.len();
        report.instances = overlay.instances.len();
        report.prices = overlay.prices.len();
        report.regions_new = overlay.regions_new(catalog);
        Ok((overlay, report))
    }

    /// Own machines as instance types of the cloud `own`. A machine without a cost has no price.
    ///
    /// # Errors
    /// An unknown GPU, a share that cannot be cut, or no GPU at all.
    pub fn own_machines(catalog: &Catalog, machines: &[OwnMachine]) -> Result<Self, OwnMachineError> {
        read::machines::overlay(machines, |name| catalog.resolve_gpu(name), catalog.qgpu_rule())
    }

    /// Both together; of two rows for the same thing the later one's stays.
    #[must_use]
    pub fn and(mut self, later: Self) -> Self {
        self.gpus.retain(|own| !later.gpus.iter().any(|gpu| gpu.id == own.id));
        let machine = |each: &InstanceType| (each.cloud.clone(), each.name.to_lowercase());
        let machines: BTreeSet<_> = later.instances.iter().map(machine).collect();
        self.instances.retain(|own| !machines.contains(&machine(own)));
        let sale =
            |each: &Price| (each.cloud.clone(), each.instance.to_lowercase(), each.region.to_lowercase(), each.charge);
        let sales: BTreeSet<_> = later.prices.iter().map(sale).collect();
        self.prices.retain(|own| !sales.contains(&sale(own)));
        self.gpus.extend(later.gpus);
        self.aliases.extend(later.aliases);
        self.instances.extend(later.instances);
        self.prices.extend(later.prices);
        self
    }

    /// The same facts, those of an unknown date with this one.
    #[must_use]
    pub fn dated(mut self, date: &str) -> Self {
        let instances = self.instances.iter_mut().map(|instance| &mut instance.provenance);
        for provenance in instances.chain(self.prices.iter_mut().map(|price| &mut price.provenance)) {
            if provenance.date == DATE_NOT_STATED {
                date.clone_into(&mut provenance.date);
            }
        }
        self
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.gpus.is_empty() && self.instances.is_empty() && self.prices.is_empty()
    }

    /// Regions that the catalog has never heard of: new ones, or slips of the pen.
    fn regions_new(&self, catalog: &Catalog) -> BTreeSet<String> {
        let sold = self.instances.iter().flat_map(|instance| instance.regions.iter());
        let named: BTreeSet<&String> = sold.chain(self.prices.iter().map(|price| &price.region)).collect();
        let is_new = |name: &&String| !name.is_empty() && catalog.resolve_region(name).is_err();
        named.into_iter().filter(is_new).cloned().collect()
    }
}
