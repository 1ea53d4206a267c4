//! A user's own facts, read and checked against a catalog, ready to lie over it.

use crate::catalog::Catalog;
use crate::error::{CatalogError, RowError, RowErrors};
use crate::gpu::Gpu;
use crate::instance::InstanceType;
use crate::price::Price;
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
    /// `cloud, instance, region, charge, price, currency, per...`.
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
        let overlay = match FileForm::of(file, text)? {
            FileForm::SkyPilot => return read::skypilot::read(file, text, &cloud.to_lowercase(), catalog),
            FileForm::Gpus => {
                let rows = read::gpus::read(file, text, |id| catalog.resolve_gpu(id))?;
                Self { gpus: rows.gpus, aliases: rows.aliases, ..Self::default() }
            }
            FileForm::Instances => {
                let rows = read::instances::read(
                    file,
                    text,
                    |name| catalog.resolve_gpu(name),
                    |cloud, name| catalog.region_code(cloud, name).to_owned(),
                )?;
                Self { instances: rows.instances, ..Self::default() }
            }
            FileForm::Prices => Self { prices: priced(catalog, file, text)?, ..Self::default() },
            FileForm::Machines => {
                let machines = read::machines::read(file, text)?;
                Self::own_machines(catalog, &machines).map_err(|error| {
                    let row = RowError::new(file, 0, "gpu", "", error.to_string());
                    CatalogError::Rows { file: file.to_owned(), count: 1, errors: vec![row] }
                })?
            }
        };
        let report = ImportReport {
            rows: overlay.gpus.len() + overlay.instances.len() + overlay.prices.len(),
            instances: overlay.instances.len(),
            prices: overlay.prices.len(),
            ..ImportReport::default()
        };
        Ok((overlay, report))
    }

    /// Own machines as instance types of the cloud `own`. A machine without a cost has no price.
    ///
    /// # Errors
    /// An unknown GPU, a share that cannot be cut, or no GPU at all.
    pub fn own_machines(catalog: &Catalog, machines: &[OwnMachine]) -> Result<Self, OwnMachineError> {
        read::machines::overlay(machines, |name| catalog.resolve_gpu(name), catalog.qgpu_rule())
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.gpus.is_empty() && self.instances.is_empty() && self.prices.is_empty()
    }
}

/// A user's price list, each row for an instance type that the catalog knows.
fn priced(catalog: &Catalog, file: &str, text: &str) -> Result<Vec<Price>, CatalogError> {
    let rows = read::prices::read(file, text)?;
    let mut errors = RowErrors::default();
    for (price, line) in rows.prices.iter().zip(&rows.lines) {
        if catalog.instance(&price.cloud, &price.instance).is_none() {
            let unknown = catalog.unknown_instance(Some(&price.cloud), &price.instance);
            let expected = format!("an instance type of `{}` in the catalog", price.cloud);
            let error = RowError::new(file, *line, "instance", &price.instance, expected);
            errors.push(error.hinted(unknown.hint()));
        }
    }
    errors.finish(file, rows.prices)
}
