//! The fewest machines or replicas that keep what is asked, where more never keep less.

/// More machines than this for one workload is a sign of a wrong unit; also bounds the arithmetic.
pub(crate) const MACHINES_MAX: u32 = 10_000;

/// The smallest number in `1..=most` that keeps the goals; `None` when `most` does not. Asks no more often than the number
/// of bits in `most` and once more.
///
/// # Errors
/// The first of `keeps`.
pub(crate) fn fewest<E>(most: u32, mut keeps: impl FnMut(u32) -> Result<bool, E>) -> Result<Option<u32>, E> {
    if most == 0 || !keeps(most)? {
        return Ok(None);
    }
    let (mut few, mut enough) = (0_u32, most);
    while few + 1 < enough {
        let middle = few.midpoint(enough);
        if keeps(middle)? {
            enough = middle;
        } else {
            few = middle;
        }
    }
    Ok(Some(enough))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The answer, and how often `keeps` was asked.
    fn search(most: u32, needed: u32) -> (Option<u32>, u32) {
        let mut asked = 0;
        let found = fewest(most, |number| {
            assert!((1..=most).contains(&number), "{number} is not in 1..={most}");
            asked += 1;
            Ok::<_, Infallible>(number >= needed)
        });
        (found.unwrap(), asked)
    }

    #[test]
    fn the_first_that_keeps_is_found_in_few_questions() {
        for most in 0..=70 {
            for needed in 1..=72 {
                let (found, asked) = search(most, needed);
                assert_eq!(found, (needed <= most).then_some(needed), "{needed} of {most}");
                assert!(asked <= u32::BITS - most.leading_zeros() + 1, "{asked} questions for {needed} of {most}");
            }
        }
    }

    #[test]
    fn the_edges_are_found() {
        let rows = [(u32::MAX, 1, Some(1)), (u32::MAX, u32::MAX, Some(u32::MAX)), (u32::MAX - 1, u32::MAX, None)];
        for (most, needed, wanted) in rows {
            assert_eq!(search(most, needed).0, wanted, "{needed} of {most}");
        }
    }

    #[test]
    fn an_error_ends_the_search() {
        let mut asked = 0;
        let found = fewest(100, |number| {
            asked += 1;
            if number == 100 { Ok(true) } else { Err("no estimate") }
        });
        assert_eq!((found, asked), (Err("no estimate"), 2));
    }
}
