//! How fast cards render, from public benchmark scores.

use hob_catalog::Gpu;
use hob_units::{Count, Interval, PerSecond};

use crate::band;
use crate::rate_table::{cite, unknown_word};
use crate::refusal::{EstimateError, MediaTask};
use crate::render::RenderBasis;
use crate::transcode::{MediaRates, RenderRate};

/// A renderer that scores can be found for. All are path tracers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Family {
    name: &'static str,
    other_names: &'static [&'static str],
    /// How its rows begin in data/media/render_rates.csv.
    rows: Option<&'static str>,
    /// Whether it can keep what the card has no room for in main memory.
    pub out_of_core: bool,
    command: Option<&'static str>,
}

impl Family {
    /// Whether public scores are known.
    pub(crate) fn has_scores(&self) -> bool {
        self.rows.is_some()
    }

    /// The command that renders one frame and prints its time; `None` for a renderer that is timed in its window.
    pub(crate) fn command(&self) -> Option<&'static str> {
        self.command
    }
}

const CYCLES: Family = Family {
    name: "blender-cycles",
    other_names: &["blender", "cycles"],
    rows: Some("Blender Cycles"),
    out_of_core: true,
    command: Some("blender -b scene.blend -E CYCLES -f 1 -- --cycles-device OPTIX"),
};
const FAMILIES: [&Family; 5] = [
    &CYCLES,
    &Family {
        name: "octane",
        other_names: &["octanerender"],
        rows: Some("OctaneBench"),
        out_of_core: true,
        command: None,
    },
    &Family {
        name: "v-ray",
        other_names: &["vray", "v-ray-gpu"],
        rows: Some("V-Ray GPU"),
        out_of_core: true,
        command: Some("time vray -sceneFile=scene.vrscene -rtEngine=7 -frames=1 -display=0"),
    },
    &Family {
        name: "redshift",
        other_names: &[],
        rows: None,
        out_of_core: true,
        command: Some("time redshiftCmdLine scene.rs"),
    },
    &Family {
        name: "arnold",
        other_names: &["arnold-gpu"],
        rows: None,
        out_of_core: false,
        command: Some("time kick -i scene.ass -set options.render_device GPU -dw -dp"),
    },
];

/// The renderer of that name.
pub(crate) fn family(name: &str) -> Result<&'static Family, EstimateError> {
    let wanted = name.trim().to_lowercase().replace([' ', '_'], "-");
    let found = FAMILIES.into_iter().find(|family| family.name == wanted || family.other_names.contains(&&*wanted));
    found.ok_or_else(|| unknown_word("renderer", name, FAMILIES.map(|family| family.name)))
}

fn no_rate(family: &Family, what: MediaTask) -> EstimateError {
    match family.command {
        Some(command) => EstimateError::NoRate { what, measurement: command.to_owned() },
        None => EstimateError::NoRateByHand { what },
    }
}

/// Speed of one card against another.
pub(crate) struct Relative {
    pub speed: Interval<Count>,
    pub basis: RenderBasis,
    pub sources: Vec<String>,
}

/// Path tracers agree on cards only so far: Octane has an A100 at 1.2 times a V100, Cycles at 1.95 times.
const OTHER_RENDERER_FACTOR: f64 = 1.6;

/// Speed of `here` as a multiple of `there`.
pub(crate) fn relative(
    family: &Family,
    there: &str,
    here: &Gpu,
    rates: &MediaRates,
) -> Result<Relative, EstimateError> {
    if let Some(of) = family.rows.and_then(|rows| ratio(rows, there, here, rates)) {
        let (speed, sources) = of;
        return Ok(Relative { speed, basis: RenderBasis::ScaledBySameRenderer, sources });
    }
    let cycles = CYCLES.rows.filter(|_| *family != CYCLES).and_then(|rows| ratio(rows, there, here, rates));
    if let Some((speed, sources)) = cycles {
        let speed = speed.widened(OTHER_RENDERER_FACTOR);
        return Ok(Relative { speed, basis: RenderBasis::ScaledByCycles, sources });
    }
    let (gpu, measured) = (here.id.clone(), there.to_owned());
    Err(no_rate(family, MediaTask::RenderAgainst { renderer: family.name, gpu, measured }))
}

/// The narrowest ratio over the benchmark versions that both cards have a score in.
fn ratio(rows: &str, there: &str, here: &Gpu, rates: &MediaRates) -> Option<(Interval<Count>, Vec<String>)> {
    let mut best: Option<(Interval<Count>, Vec<String>)> = None;
    for version in versions(rows, rates) {
        let Some((mine, my_row)) = score(rows, version, here, rates) else { continue };
        let Some(their_row) = fastest(rows, version, there, rates) else { continue };
        let speed = band::quotient(mine, their_row.score);
        if best.as_ref().is_none_or(|(narrowest, _)| speed.factor() < narrowest.factor()) {
            best = Some((speed, vec![cite(&my_row.provenance), cite(&their_row.provenance)]));
        }
    }
    best
}

/// Versions of a benchmark, in the order of the table: the one with most runs comes first.
fn versions<'r>(rows: &str, rates: &'r MediaRates) -> Vec<&'r str> {
    let mut versions: Vec<&str> = Vec::new();
    for row in rates.render.iter().filter(|row| row.renderer.starts_with(rows)) {
        if !versions.contains(&row.version.as_str()) {
            versions.push(&row.version);
        }
    }
    versions
}

/// A card's score in one version: that of its faster back end, since the picture is the same.
fn fastest<'r>(rows: &str, version: &str, gpu: &str, rates: &'r MediaRates) -> Option<&'r RenderRate> {
    let of_card =
        rates.render.iter().filter(|row| row.gpu == gpu && row.version == version && row.renderer.starts_with(rows));
    of_card.max_by(|a, b| a.score.mid.0.total_cmp(&b.score.mid.0).then(b.renderer.cmp(&a.renderer)))
}

/// The score of a fraction against its share of the whole card: the four fractions of one version that were measured
/// reach 0.69 to 1.40 of it (data/media/render_rates.csv), more when neighbours are idle.
const OF_SHARE: Interval<Count> = Interval { low: Count(0.69), mid: Count(1.0), high: Count(1.4) };

/// The card's own score, or a fraction's part of the whole card's.
fn score<'r>(rows: &str, version: &str, gpu: &Gpu, rates: &'r MediaRates) -> Option<(Interval<Count>, &'r RenderRate)> {
    if let Some(row) = fastest(rows, version, &gpu.id, rates) {
        return Some((row.score, row));
    }
    let fraction = gpu.fraction.as_ref()?;
    let whole = fastest(rows, version, &fraction.parent, rates)?;
    let share: Interval<Count> = OF_SHARE.scaled(fraction.compute.0);
    Some((band::product(whole.score, share), whole))
}

/// Benchmark scenes whose samples a minute a Blender score adds up.
const SCENES: f64 = 3.0;

/// Samples of all pixels of a full-HD frame each second, on the mean benchmark scene. Only Blender's score is a rate.
pub(crate) fn samples_per_second(
    family: &Family,
    gpu: &Gpu,
    rates: &MediaRates,
) -> Result<(Interval<PerSecond>, String), EstimateError> {
    let rows = family.rows.filter(|_| *family == CYCLES);
    let found =
        rows.and_then(|rows| versions(rows, rates).into_iter().find_map(|version| score(rows, version, gpu, rates)));
    let (score, row) =
        found.ok_or_else(|| no_rate(family, MediaTask::Render { renderer: family.name, gpu: gpu.id.clone() }))?;
    let source = format!("{} {}: {}", row.renderer, row.version, cite(&row.provenance));
    Ok((score.scaled(1.0 / SCENES / 60.0), source))
}
