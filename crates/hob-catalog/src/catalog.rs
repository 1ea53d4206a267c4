//! The catalog: GPUs, instance types and prices, and how they are found by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use hob_units::Bytes;

use crate::embedded;
use crate::error::{CatalogError, NameKind, UnknownName};
use crate::gpu::Gpu;
use crate::instance::InstanceType;
use crate::names::{self, NameIndex};
use crate::overlay::Overlay;
use crate::price::Price;
use crate::provenance::Provenance;
use crate::read;
use crate::read::instances::KnownFamily;
use crate::read::prices::PriceNote;
use crate::read::skypilot::Accelerators;
use crate::regions::{Region, Regions};

/// Prices of this cloud are a reseller's: a hint that is shown and never ranks.
const RESALE: &str = "tencent-resale";
/// Sites that sell the machines of another cloud at prices of their own.
const SITES: &[(&str, &str)] = &[("tencent-intl", "tencent")];
/// Memory that a source and this catalog state for one card may differ by ECC and by rounding.
const MEMORY_TOLERANCE: f64 = 0.10;

type Facts = Vec<(String, String)>;

/// GPUs, instance types and prices, each with its source. Immutable; a user's files make a new one.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    gpus: Vec<Gpu>,
    gpu_places: BTreeMap<String, usize>,
    aliases: Vec<(String, String)>,
    names: NameIndex,
    gpu_facts: BTreeMap<String, Facts>,
    qgpu: Option<Provenance>,
    instances: Vec<InstanceType>,
    /// (cloud, lower-case name) -> place.
    instance_places: BTreeMap<(String, String), usize>,
    instance_facts: BTreeMap<(String, String), Facts>,
    families: Vec<KnownFamily>,
    prices: Vec<Price>,
    /// (cloud, lower-case instance name) -> places.
    price_places: BTreeMap<(String, String), Vec<usize>>,
    hints: Vec<Price>,
    notes: Vec<PriceNote>,
    pub(crate) regions: Regions,
    problems: Vec<CatalogError>,
}

fn key(cloud: &str, name: &str) -> (String, String) {
    (cloud.to_ascii_lowercase(), name.to_ascii_lowercase())
}

impl Catalog {
    /// The facts that are compiled in, read on first use.
    #[must_use]
    pub fn embedded() -> &'static Self {
        static EMBEDDED: OnceLock<Catalog> = OnceLock::new();
        EMBEDDED.get_or_init(Self::read_embedded)
    }

    /// Embedded files that could not be read. Always empty: a test says so.
    #[must_use]
    pub fn problems(&self) -> &[CatalogError] {
        &self.problems
    }

    fn read_embedded() -> Self {
        let mut out = Self::default();
        let mut problems = Vec::new();
        let mut good = |error: CatalogError| problems.push(error);
        let (file, text) = embedded::REGIONS;
        out.regions = Regions::read(file, text).map_err(&mut good).unwrap_or_default();
        let (file, text) = embedded::GPUS;
        if let Ok(rows) =
            read::gpus::read(file, text, |id| Err(UnknownName::new(NameKind::Gpu, id, Vec::new()))).map_err(&mut good)
        {
            out.gpus = rows.gpus;
            out.aliases = rows.aliases;
            out.gpu_facts = rows.facts;
            out.qgpu = rows.qgpu;
        }
        out.index_gpus();
        let (file, text) = embedded::INSTANCES;
        let rows = read::instances::read(
            file,
            text,
            |name| out.resolve_gpu(name),
            |cloud, name| out.regions.code(cloud, name).to_owned(),
        );
        if let Ok(rows) = rows.map_err(&mut good) {
            out.instances = rows.instances;
            out.instance_facts = rows.facts;
            out.families = rows.families;
        }
        for (cloud, file, text) in embedded::SKYPILOT {
            if let Ok((overlay, _)) = read::skypilot::read(file, text, cloud, &out).map_err(&mut good) {
                out.instances.extend(overlay.instances);
                out.prices.extend(overlay.prices);
            }
        }
        let (file, text) = embedded::PRICES;
        if let Ok(rows) = read::prices::read(file, text, |_, _, _, _| Ok(())).map_err(&mut good) {
            let (hints, prices): (Vec<Price>, Vec<Price>) =
                rows.prices.into_iter().partition(|price| price.cloud == RESALE);
            out.hints = hints;
            out.prices.extend(prices);
            out.notes = rows.notes;
        }
        out.problems = problems;
        out.index_instances();
        out.add_sites();
        out.index_prices();
        out
    }

    /// A site has an instance type of its own for each type that it prices.
    fn add_sites(&mut self) {
        for (site, cloud) in SITES {
            let mut sold: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for price in self.prices.iter().filter(|price| price.cloud == *site) {
                let regions = sold.entry(&price.instance).or_default();
                if !price.region.is_empty() {
                    regions.insert(&price.region);
                }
            }
            let added: Vec<InstanceType> = sold
                .into_iter()
                .filter_map(|(name, regions)| {
                    let shape = self.instance(cloud, name)?;
                    let regions = regions.into_iter().map(str::to_owned).collect();
                    Some(InstanceType { cloud: (*site).to_owned(), regions, ..shape.clone() })
                })
                .collect();
            for instance in added {
                self.instance_places.insert(key(&instance.cloud, &instance.name), self.instances.len());
                self.instances.push(instance);
            }
        }
    }

    fn index_gpus(&mut self) {
        self.gpu_places = self.gpus.iter().enumerate().map(|(place, gpu)| (gpu.id.clone(), place)).collect();
        self.names = NameIndex::build(&self.gpus, &self.aliases);
    }

    fn index_instances(&mut self) {
        let places = self.instances.iter().enumerate();
        self.instance_places = places.map(|(place, each)| (key(&each.cloud, &each.name), place)).collect();
    }

    fn index_prices(&mut self) {
        self.price_places = BTreeMap::new();
        for (place, price) in self.prices.iter().enumerate() {
            self.price_places.entry(key(&price.cloud, &price.instance)).or_default().push(place);
        }
    }

    /// The catalog with a user's facts over it: rows of the same name are replaced, others added. A row of a known
    /// machine that leaves something out (SkyPilot states no network) keeps what the catalog knows of it.
    #[must_use]
    pub fn with_overlay(mut self, overlay: Overlay) -> Self {
        for gpu in overlay.gpus {
            self.gpu_facts.remove(&gpu.id);
            match self.gpu_places.get(&gpu.id).and_then(|place| self.gpus.get_mut(*place)) {
                Some(slot) => *slot = gpu,
                None => {
                    self.gpu_places.insert(gpu.id.clone(), self.gpus.len());
                    self.gpus.push(gpu);
                }
            }
        }
        self.aliases.extend(overlay.aliases);
        self.index_gpus();
        for mut instance in overlay.instances {
            let key = key(&instance.cloud, &instance.name);
            match self.instance_places.get(&key).and_then(|place| self.instances.get_mut(*place)) {
                Some(slot) if slot.gpu == instance.gpu && slot.gpu_count == instance.gpu_count => {
                    instance.fill_unknown_from(slot);
                    *slot = instance;
                }
                Some(slot) => {
                    self.instance_facts.remove(&(slot.cloud.clone(), slot.name.clone()));
                    *slot = instance;
                }
                None => {
                    self.instance_places.insert(key, self.instances.len());
                    self.instances.push(instance);
                }
            }
        }
        let same = |price: &Price| {
            let region = self.regions.code(&price.cloud, &price.region).to_lowercase();
            (key(&price.cloud, &price.instance), region, price.charge)
        };
        let replaced: BTreeSet<_> = overlay.prices.iter().map(same).collect();
        let kept: Vec<bool> = self.prices.iter().map(|price| !replaced.contains(&same(price))).collect();
        let mut kept = kept.into_iter();
        self.prices.retain(|_| kept.next().unwrap_or(true));
        self.prices.extend(overlay.prices);
        self.index_prices();
        self
    }

    /// All GPUs and fractions, embedded ones first, in file order.
    pub fn gpus(&self) -> impl Iterator<Item = &Gpu> {
        self.gpus.iter()
    }

    /// All instance types.
    pub fn instances(&self) -> impl Iterator<Item = &InstanceType> {
        self.instances.iter()
    }

    /// All prices that may rank.
    pub fn prices(&self) -> impl Iterator<Item = &Price> {
        self.prices.iter()
    }

    /// Prices of one instance type.
    pub fn prices_of(&self, instance: &InstanceType) -> impl Iterator<Item = &Price> {
        let places = self.price_places.get(&key(&instance.cloud, &instance.name));
        places.into_iter().flatten().filter_map(|place| self.prices.get(*place))
    }

    /// Resellers' prices of one instance type: a hint to show, never to rank.
    pub fn hints_of(&self, instance: &InstanceType) -> impl Iterator<Item = &Price> {
        let is_site = instance.cloud == "tencent";
        self.hints.iter().filter(move |price| is_site && price.instance.eq_ignore_ascii_case(&instance.name))
    }

    /// Rows without a price: rules of a cloud (`*`) and types whose price was not found.
    pub fn price_notes(&self) -> impl Iterator<Item = &PriceNote> {
        self.notes.iter()
    }

    /// Families that are known by name only.
    pub fn families(&self) -> impl Iterator<Item = &KnownFamily> {
        self.families.iter()
    }

    /// All regions with a name.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        self.regions.all()
    }

    /// Code of a region name (`Guangzhou`, `广州`); the name itself when it is not known.
    #[must_use]
    pub fn region_code<'n>(&'n self, cloud: &str, name: &'n str) -> &'n str {
        self.regions.code(cloud, name)
    }

    /// Source columns of a GPU that have no field of their own (`chip`, `l2_mib`, `ecc`...).
    #[must_use]
    pub fn gpu_facts(&self, id: &str) -> &[(String, String)] {
        self.gpu_facts.get(id).map_or(&[], Vec::as_slice)
    }

    /// Source columns of an instance type that have no field of their own (`cpu`, `zones`, `net_pps`...).
    #[must_use]
    pub fn instance_facts(&self, instance: &InstanceType) -> &[(String, String)] {
        let key = (instance.cloud.clone(), instance.name.clone());
        self.instance_facts.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Source of the rule by which qGPU shares a card.
    #[must_use]
    pub fn qgpu_rule(&self) -> Option<&Provenance> {
        self.qgpu.as_ref()
    }

    /// The GPU of an exact id.
    #[must_use]
    pub fn gpu(&self, id: &str) -> Option<&Gpu> {
        self.gpu_places.get(id).and_then(|place| self.gpus.get(*place))
    }

    /// The GPU that a name means, in the forms that people, drivers and other catalogs write. A name that fits several
    /// variants (`A100-80GB`) means the SXM one, then the one with less memory; [`Self::gpu_candidates`] has them all.
    ///
    /// # Errors
    /// When no GPU has such a name, with the nearest ones.
    pub fn resolve_gpu(&self, name: &str) -> Result<&Gpu, UnknownName> {
        let trimmed = name.trim();
        if let Some(gpu) = self.gpu(trimmed) {
            return Ok(gpu);
        }
        self.gpu_candidates(trimmed)
            .into_iter()
            .next()
            .ok_or_else(|| UnknownName::new(NameKind::Gpu, trimmed, self.names.nearest(&self.gpus, trimmed)))
    }

    /// All GPUs that a name may mean, the preferred one first.
    #[must_use]
    pub fn gpu_candidates(&self, name: &str) -> Vec<&Gpu> {
        let places = self.names.candidates(&self.gpus, name);
        places.into_iter().filter_map(|place| self.gpus.get(place)).collect()
    }

    /// Fixed fractions of a whole GPU, smallest share of compute first.
    #[must_use]
    pub fn fractions_of(&self, parent: &str) -> Vec<&Gpu> {
        let of_parent = |gpu: &&Gpu| gpu.fraction.as_ref().is_some_and(|fraction| fraction.parent == parent);
        let mut found: Vec<&Gpu> = self.gpus.iter().filter(of_parent).collect();
        let share = |gpu: &Gpu| gpu.fraction.as_ref().map_or(0.0, |fraction| fraction.compute.0);
        found.sort_by(|a, b| share(a).total_cmp(&share(b)).then_with(|| a.id.cmp(&b.id)));
        found
    }

    /// The instance type of an exact name in one cloud, without regard to case.
    #[must_use]
    pub fn instance(&self, cloud: &str, name: &str) -> Option<&InstanceType> {
        self.instance_places.get(&key(cloud, name)).and_then(|place| self.instances.get(*place))
    }

    /// The instance type that a name means: `GN7.2XLARGE32` in any cloud, or `tencent/GN7.2XLARGE32`. Of several clouds
    /// the first in the catalog wins (a cloud before its other sites).
    ///
    /// # Errors
    /// When no instance type has such a name, with the nearest ones.
    pub fn resolve_instance(&self, name: &str) -> Result<&InstanceType, UnknownName> {
        let name = name.trim();
        if let Some((cloud, name)) = name.split_once(['/', ':']) {
            return self.instance(cloud, name).ok_or_else(|| self.unknown_instance(Some(cloud), name));
        }
        let found = self.instances.iter().find(|instance| instance.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| self.unknown_instance(None, name))
    }

    pub(crate) fn unknown_instance(&self, cloud: Option<&str>, name: &str) -> UnknownName {
        let of_cloud = |each: &&InstanceType| cloud.is_none_or(|cloud| each.cloud.eq_ignore_ascii_case(cloud));
        let known = self.instances.iter().filter(of_cloud).map(|each| each.name.as_str());
        UnknownName::new(NameKind::Instance, name, names::nearest(name, known))
    }

    /// Names of the clouds that have instance types.
    #[must_use]
    pub fn clouds(&self) -> BTreeSet<&str> {
        self.instances.iter().map(|instance| instance.cloud.as_str()).collect()
    }

    /// Checks a cloud's name.
    ///
    /// # Errors
    /// When no instance type is of that cloud, with the nearest names.
    pub fn resolve_cloud(&self, name: &str) -> Result<&str, UnknownName> {
        let clouds = self.clouds();
        let found = clouds.iter().find(|cloud| cloud.eq_ignore_ascii_case(name.trim())).copied();
        found.ok_or_else(|| UnknownName::new(NameKind::Cloud, name, names::nearest(name, clouds.iter().copied())))
    }

    /// Checks a region's name or code, or a price area (`mainland China`), and gives the codes that it stands for.
    ///
    /// # Errors
    /// When nothing is sold there, with the nearest names.
    pub fn resolve_region(&self, name: &str) -> Result<BTreeSet<String>, UnknownName> {
        let wanted = self.regions.wanted(name.trim());
        let sold = self.instances.iter().flat_map(|instance| instance.regions.iter().map(String::as_str));
        let priced = self.prices.iter().map(|price| price.region.as_str());
        let known: BTreeSet<&str> = sold.chain(priced).chain(self.regions.names()).collect();
        if wanted.iter().any(|code| known.iter().any(|known| known.eq_ignore_ascii_case(code))) {
            return Ok(wanted);
        }
        Err(UnknownName::new(NameKind::Region, name, names::nearest(name, known.into_iter())))
    }
}

impl Accelerators for Catalog {
    fn by_id(&self, id: &str) -> Option<&Gpu> {
        self.gpu(id)
    }

    fn by_accelerator(&self, name: &str, memory: Option<Bytes>, cloud: &str, instance: &str) -> Option<&Gpu> {
        let fits = |gpu: &&Gpu| {
            memory.is_none_or(|memory| (memory.0 as f64 / gpu.memory.0.max(1) as f64 - 1.0).abs() < MEMORY_TOLERANCE)
        };
        if let Some(known) = self.instance(cloud, instance) {
            let gpu = self.gpu(&known.gpu).filter(fits);
            if gpu.is_some() {
                return gpu;
            }
        }
        let mut found = self.gpu_candidates(name);
        // `A100` alone is the small one, but a row that states 80 GiB means the large one.
        if let Some(memory) = memory.filter(|_| !found.iter().any(&fits)) {
            found = self.gpu_candidates(&format!("{name} {:.0}GB", memory.as_gib()));
        }
        found.into_iter().find(fits)
    }

    fn fraction_near(&self, parent: &str, share: f64) -> Option<&Gpu> {
        let distance = |gpu: &Gpu| gpu.fraction.as_ref().map_or(1.0, |fraction| (fraction.compute.0 - share).abs());
        let sliced = self.fractions_of(parent).into_iter().filter(|gpu| !gpu.id.contains("-mig-"));
        sliced.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}
