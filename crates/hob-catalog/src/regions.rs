//! Region names and codes: `Guangzhou`, `广州` and `ap-guangzhou` are one region, which `mainland China` covers.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::error::CatalogError;
use crate::table::Table;

/// One region of a cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Region {
    /// Cloud whose region it is; sites of the same cloud (`tencent-intl`) share its regions.
    pub cloud: String,
    /// Code as the API takes it: `ap-guangzhou`.
    pub code: String,
    /// English name.
    pub name: String,
    /// Chinese name.
    pub name_zh: Option<String>,
    /// Name of the price area that holds it: `mainland China`.
    pub covered_by: Option<String>,
}

/// All known regions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Regions {
    regions: Vec<Region>,
    /// (cloud, lower-case name) -> code.
    codes: BTreeMap<(String, String), String>,
    /// (cloud, lower-case area) -> codes.
    areas: BTreeMap<(String, String), BTreeSet<String>>,
}

/// `tencent-intl` and `tencent-resale` sell the regions of `tencent`.
pub(crate) fn cloud_of_regions(cloud: &str) -> &str {
    if cloud.starts_with("tencent") { "tencent" } else { cloud }
}

impl Regions {
    pub(crate) fn read(file: &str, text: &str) -> Result<Self, CatalogError> {
        let table = Table::open(file, text)?;
        table.require(&["cloud", "code", "name"])?;
        let mut out = Self::default();
        table.each_row(|row| {
            let region = Region {
                cloud: row.required("cloud", "tencent")?.to_owned(),
                code: row.required("code", "ap-guangzhou")?.to_owned(),
                name: row.required("name", "Guangzhou")?.to_owned(),
                name_zh: row.owned("name_zh"),
                covered_by: row.owned("covered_by"),
            };
            for name in [Some(&region.code), Some(&region.name), region.name_zh.as_ref()].into_iter().flatten() {
                out.codes.insert((region.cloud.clone(), name.to_lowercase()), region.code.clone());
            }
            if let Some(area) = &region.covered_by {
                out.areas.entry((region.cloud.clone(), area.to_lowercase())).or_default().insert(region.code.clone());
            }
            out.regions.push(region);
            Ok(())
        })?;
        Ok(out)
    }

    pub(crate) fn all(&self) -> &[Region] {
        &self.regions
    }

    /// The code of a name; the name itself when no region is known by it.
    pub(crate) fn code<'n>(&'n self, cloud: &str, name: &'n str) -> &'n str {
        let key = (cloud_of_regions(cloud).to_owned(), name.to_lowercase());
        self.codes.get(&key).map_or(name, String::as_str)
    }

    /// Codes of a price area; `None` when the name is not one.
    pub(crate) fn area(&self, cloud: &str, name: &str) -> Option<&BTreeSet<String>> {
        self.areas.get(&(cloud_of_regions(cloud).to_owned(), name.to_lowercase()))
    }

    /// Every name that a filter may use, in any cloud.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.regions.iter().flat_map(|region| {
            [Some(region.code.as_str()), Some(region.name.as_str()), region.covered_by.as_deref()].into_iter().flatten()
        })
    }

    /// Codes that a filter word stands for in any cloud, or the word itself.
    pub(crate) fn wanted(&self, word: &str) -> BTreeSet<String> {
        let lower = word.to_lowercase();
        let mut codes: BTreeSet<String> = BTreeSet::new();
        for ((_, name), code) in &self.codes {
            if *name == lower {
                codes.insert(code.clone());
            }
        }
        for ((_, area), members) in &self.areas {
            if *area == lower {
                codes.extend(members.iter().cloned());
            }
        }
        if codes.is_empty() {
            codes.insert(lower);
        }
        codes
    }
}
