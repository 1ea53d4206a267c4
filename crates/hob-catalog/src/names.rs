//! From the names that people, drivers and other catalogs write to the GPUs of this one.
//!
//! `A100-80GB`, `H100 SXM`, `NVIDIA GeForce RTX 4090`, `V100-32GB SXM2 (NVLink)`, `A100-80-?`: a name is an exact alias,
//! or a model followed by qualifiers (memory, form). A qualifier that no variant has makes the name unknown; it is never
//! dropped in silence.

use std::collections::BTreeMap;

use hob_units::Bytes;

use crate::gpu::Gpu;

/// Longest name that is looked up; a longer one is unknown.
const NAME_CHARS_MAX: usize = 120;
/// Names offered after "did you mean".
const NEAREST_MAX: usize = 3;
/// Below this Jaro-Winkler likeness a name is no help.
const NEAREST_LIKENESS_MIN: f64 = 0.78;

/// Words that say nothing about the variant.
const MAKERS: &[&str] =
    &["nvidia", "tesla", "geforce", "quadro", "graphics", "gpu", "amd", "instinct", "grid", "intel"];
const SILENT: &[&str] = &[
    "hbm2",
    "hbm2e",
    "hbm3",
    "hbm3e",
    "gddr5",
    "gddr6",
    "gddr6x",
    "gddr7",
    "nvlink",
    "nvswitch",
    "vgpu",
    "vcomputeserver",
    "vdws",
    "vws",
    "generation",
    "gen4",
    "gen5",
    "edition",
    "blackwell",
    "server",
    "mega",
    "cts",
    "class",
];

/// How the board is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Sxm,
    Pcie,
    Nvl,
}

fn form_of(word: &str) -> Option<Form> {
    match word {
        "sxm" | "sxm2" | "sxm3" | "sxm4" | "sxm5" | "hgx" => Some(Form::Sxm),
        "pcie" => Some(Form::Pcie),
        "nvl" => Some(Form::Nvl),
        _ => None,
    }
}

/// Words of a name in lower case, without what is between them.
fn words(name: &str) -> Vec<String> {
    name.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn compact(name: &str) -> String {
    words(name).concat()
}

/// The model part of an id, its form, as `a100-sxm-40` -> (`a100`, SXM).
fn model_of_id(id: &str) -> (String, Option<Form>) {
    let mut model = String::new();
    let mut form = None;
    for (place, part) in id.split('-').enumerate() {
        match form_of(part) {
            Some(found) => form = Some(found),
            None if place > 0 && (part == "server" || part.chars().all(|c| c.is_ascii_digit())) => {}
            None => model.push_str(part),
        }
    }
    (model, form)
}

/// The lookup tables of one catalog.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameIndex {
    /// Exact names without separators -> place.
    exact: BTreeMap<String, usize>,
    /// Model names -> places of the whole cards of that model.
    models: BTreeMap<String, Vec<usize>>,
}

impl NameIndex {
    pub(crate) fn build(gpus: &[Gpu], aliases: &[(String, String)]) -> Self {
        let mut index = Self::default();
        let places: BTreeMap<&str, usize> =
            gpus.iter().enumerate().map(|(place, gpu)| (gpu.id.as_str(), place)).collect();
        for (place, gpu) in gpus.iter().enumerate() {
            index.exact.entry(compact(&gpu.id)).or_insert(place);
            if gpu.fraction.is_none() && gpu.gpus_on_board == 1 {
                let (model, _) = model_of_id(&gpu.id);
                index.models.entry(model).or_default().push(place);
            }
        }
        for (alias, id) in aliases {
            let Some(&place) = places.get(id.as_str()) else { continue };
            let key = compact(alias);
            // A later alias wins: a user's rows come after the embedded ones.
            index.exact.insert(key.clone(), place);
            let has_qualifier =
                words(alias).iter().skip(1).any(|word| form_of(word).is_some() || memory_of(word).is_some());
            if has_qualifier {
                continue;
            }
            let same_model = gpus.get(place).map(|gpu| model_of_id(&gpu.id).0);
            let siblings =
                same_model.and_then(|model| index.models.get(&model).cloned()).unwrap_or_else(|| vec![place]);
            index.models.entry(key).or_insert(siblings);
        }
        for (place, gpu) in gpus.iter().enumerate() {
            index.exact.entry(compact(&gpu.name)).or_insert(place);
        }
        index
    }

    /// Places of all GPUs that a name may mean, the preferred one first: SXM before PCIe, then the smaller memory.
    pub(crate) fn candidates(&self, gpus: &[Gpu], name: &str) -> Vec<usize> {
        if name.chars().count() > NAME_CHARS_MAX {
            return Vec::new();
        }
        let found = self.search(gpus, name);
        if !found.is_empty() {
            return found;
        }
        // "A100-SXM (size not stated)": what is in brackets may be a remark.
        match name.split_once('(') {
            Some((before, _)) if !before.trim().is_empty() => self.search(gpus, before),
            _ => Vec::new(),
        }
    }

    fn search(&self, gpus: &[Gpu], name: &str) -> Vec<usize> {
        let words: Vec<String> = words(name);
        let without_makers: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| !MAKERS.contains(word)).collect();
        for key in [words.concat(), without_makers.concat()] {
            if let Some(place) = self.exact.get(&key) {
                return vec![*place];
            }
        }
        // The longest run of leading words that is a model; the rest must be qualifiers.
        for split in (1..=without_makers.len()).rev() {
            let (model, rest) = without_makers.split_at(split);
            if let Some(places) = self.models.get(&model.concat()) {
                return qualified(gpus, places, rest);
            }
        }
        Vec::new()
    }

    /// Ids nearest to a name.
    pub(crate) fn nearest(&self, gpus: &[Gpu], name: &str) -> Vec<String> {
        let wanted: String = compact(name).chars().take(NAME_CHARS_MAX).collect();
        let mut scored: Vec<(f64, &str)> = self
            .exact
            .iter()
            .filter_map(|(key, place)| Some((strsim::jaro_winkler(&wanted, key), gpus.get(*place)?.id.as_str())))
            .collect();
        best(&mut scored)
    }
}

fn qualified(gpus: &[Gpu], places: &[usize], rest: &[&str]) -> Vec<usize> {
    let mut memory = None;
    let mut form = None;
    for word in rest {
        if let Some(found) = form_of(word) {
            form = Some(found);
        } else if let Some(gb) = memory_of(word) {
            memory = Some(gb);
        } else if !SILENT.contains(word) && !is_power(word) {
            return Vec::new();
        }
    }
    let mut found: Vec<usize> = places
        .iter()
        .copied()
        .filter(|place| {
            gpus.get(*place).is_some_and(|gpu| {
                let own = model_of_id(&gpu.id).1;
                let form_fits = form.is_none_or(|form| own.is_none_or(|own| own == form));
                form_fits && memory.is_none_or(|gb| (gpu.memory.as_gib() / gb - 1.0).abs() < 0.04)
            })
        })
        .collect();
    found.sort_by_key(|place| {
        let gpu = gpus.get(*place);
        let is_sxm = gpu.is_some_and(|gpu| model_of_id(&gpu.id).1 == Some(Form::Sxm));
        (!is_sxm, gpu.map_or(Bytes(u64::MAX), |gpu| gpu.memory), *place)
    });
    found
}

/// `80`, `80gb`, `80g`, and the vGPU profiles `24q`, `80c`; a number past any card's memory is not one.
fn memory_of(word: &str) -> Option<f64> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = word.get(digits.len()..)?;
    if !matches!(unit, "" | "g" | "gb" | "gib" | "q" | "c") {
        return None;
    }
    let gb: f64 = digits.parse().ok()?;
    (1.0..=1024.0).contains(&gb).then_some(gb)
}

fn is_power(word: &str) -> bool {
    word.strip_suffix('w').is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()))
}

fn best(scored: &mut Vec<(f64, &str)>) -> Vec<String> {
    scored.retain(|(likeness, _)| *likeness >= NEAREST_LIKENESS_MIN);
    scored.sort_by(|(a, a_name), (b, b_name)| b.total_cmp(a).then_with(|| a_name.cmp(b_name)));
    let mut names: Vec<String> = Vec::new();
    for (_, name) in scored.iter() {
        if !names.iter().any(|known| known == name) {
            names.push((*name).to_owned());
        }
        if names.len() == NEAREST_MAX {
            break;
        }
    }
    names
}

/// Names nearest to a wanted one, best first, at most three.
pub(crate) fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let wanted: String = wanted.to_lowercase().chars().take(NAME_CHARS_MAX).collect();
    let mut scored: Vec<(f64, &str)> =
        names.map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name)).collect();
    best(&mut scored)
}
