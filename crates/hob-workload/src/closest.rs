//! "Did you mean": the known word nearest to a mistyped one.

/// The nearest of `known`, when it is near enough that a slip of the hand explains the difference.
pub(crate) fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// A longer word is no slip, and comparing costs its length squared.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    let wanted = plain(word);
    let allowed = (wanted.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &plain(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by(|a, b| a.0.cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
