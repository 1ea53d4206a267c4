//! Names of the parts of a split GGUF file: `name-00001-of-00003.gguf`.

/// Most parts that are looked for.
const PARTS_MAX: u32 = 1_000;

/// How many parts a first part's name states.
pub(crate) fn parts_total(path: &str) -> Option<u32> {
    let stem = path.strip_suffix(".gguf")?;
    let (head, total) = stem.rsplit_once("-of-")?;
    head.ends_with("-00001").then_some(())?;
    total.parse().ok().filter(|total| *total <= PARTS_MAX)
}

/// The path of part `number`, from the path of the first.
pub(crate) fn part_path(path: &str, number: u32) -> Option<String> {
    let stem = path.strip_suffix(".gguf")?;
    let (head, total) = stem.rsplit_once("-of-")?;
    let head = head.strip_suffix("00001")?;
    Some(format!("{head}{number:05}-of-{total}.gguf"))
}

/// The number of a part: 1 in `name-00001-of-00003.gguf`.
pub(crate) fn part_number(name: &str) -> Option<u32> {
    let (head, total) = name.strip_suffix(".gguf")?.rsplit_once("-of-")?;
    total.parse::<u32>().ok()?;
    head.rsplit_once('-')?.1.parse().ok()
}
