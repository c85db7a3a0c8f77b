//! Finds a library's limits by trying: the greatest depth and the most digits that it accepts.

use std::time::Instant;

use super::bombs::{self, BombDocument, Scale};
use super::probe::{Prober, Tried};
use crate::model::report::BombOutcome;
use crate::model::text::thousands;
use crate::run::process::Trouble;

/// A limit, as closely as it was searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The greatest accepted size.
    pub taken: usize,
    /// The smallest rejected size.
    pub not: usize,
    /// What became of that.
    pub tried: Tried,
}

/// Halves the distance between a size that is taken and one that is not, down to neighbours. Where
/// a process ends each time, a tenth is close enough: starting others costs more than it tells.
pub(crate) fn bisect(
    full: usize,
    at_full: Tried,
    give_up: Instant,
    mut attempt: impl FnMut(usize) -> Result<Tried, Trouble>,
) -> Result<Option<Found>, Trouble> {
    /// Every library that takes nested data takes this.
    const SMALL: usize = 8;
    if attempt(SMALL)?.outcome != BombOutcome::Decoded {
        // The size is not what is refused.
        return Ok(None);
    }
    let (mut taken, mut not, mut tried) = (SMALL, full, at_full);
    while not - taken > 1 && Instant::now() < give_up {
        if tried.outcome != BombOutcome::Refused && not - taken <= not / 10 {
            break;
        }
        // The geometric mean: limits are anywhere between ten and a million.
        let middle = ((taken as f64 * not as f64).sqrt() as usize).clamp(taken + 1, not - 1);
        let next = attempt(middle)?;
        if next.outcome == BombOutcome::Decoded {
            taken = middle;
        } else {
            (not, tried) = (middle, next);
        }
    }
    Ok(Some(Found { taken, not, tried }))
}

/// Looks for the limits that the bombs of a format let one see. `outcomes` are of `documents`, in
/// their order.
pub(crate) fn find(
    prober: &mut Prober,
    documents: &[BombDocument],
    outcomes: &[Tried],
    give_up: Instant,
) -> Result<Vec<String>, Trouble> {
    // What, and how far: the same of several kinds is told once.
    let mut found: Vec<(&str, String)> = Vec::new();
    for (bomb, tried) in documents.iter().zip(outcomes) {
        let Some((scale, make)) = bomb.scaled else { continue };
        // Each kind of nesting may have a limit of its own; digits have one.
        let (what, unit, full) = match scale {
            Scale::Depth => {
                (bomb.kind.split(" 100,000").next().unwrap_or(bomb.kind), "deep", bombs::DEPTH)
            }
            Scale::Digits => ("integers", "digits", bombs::DIGITS),
        };
        match tried.outcome {
            BombOutcome::Decoded => {
                found.push((what, format!("no limit up to {} {unit}", thousands(full as u64))));
            }
            // How far one comes in time is the machine's limit.
            BombOutcome::OutOfTime => {}
            _ => {
                let give = |size: usize| prober.bomb(&make(size));
                if let Some(limit) = bisect(full, tried.clone(), give_up, give)? {
                    found.push((what, sentence(unit, &limit)));
                }
            }
        }
    }
    Ok(joined(&found))
}

/// Returns text such as "arrays and maps: at most 994 deep".
fn joined(found: &[(&str, String)]) -> Vec<String> {
    found
        .chunk_by(|one, other| one.1 == other.1)
        .map(|chunk| {
            let names: Vec<&str> = chunk.iter().map(|(what, _)| *what).collect();
            format!("{}: {}", names.join(" and "), chunk[0].1)
        })
        .collect()
}

/// Returns text such as "at most 994 deep".
fn sentence(unit: &str, found: &Found) -> String {
    let (taken, not) = (thousands(found.taken as u64), thousands(found.not as u64));
    let does = match found.tried.outcome {
        BombOutcome::Refused | BombOutcome::Decoded => {
            if found.not - found.taken == 1 {
                return format!("at most {taken} {unit}");
            }
            return format!("a limit between {taken} and {not} {unit}");
        }
        BombOutcome::Crashed => "crashes",
        BombOutcome::OutOfMemory => "runs out of memory",
        BombOutcome::OutOfTime => "takes too long",
    };
    format!("{does} somewhere between {taken} and {not} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn tried(outcome: BombOutcome) -> Tried {
        Tried { outcome, ended: false, words: String::new(), peak: None }
    }

    /// Returns what is found for a library that accepts up to `limit`, and in how many attempts.
    fn found(limit: usize, beyond: BombOutcome) -> (Option<Found>, usize) {
        let mut attempts = 0;
        let give_up = Instant::now() + Duration::from_secs(60);
        let found = bisect(100_000, tried(beyond), give_up, |size| {
            attempts += 1;
            Ok(tried(if size <= limit { BombOutcome::Decoded } else { beyond }))
        });
        (found.unwrap(), attempts)
    }

    #[test]
    fn a_limit_is_found_exactly() {
        for limit in [8, 9, 100, 128, 994, 1_024, 10_000, 99_999] {
            let (found, attempts) = found(limit, BombOutcome::Refused);
            let found = found.unwrap();
            assert_eq!((found.taken, found.not), (limit, limit + 1));
            assert!(attempts <= 40, "{limit}: {attempts}");
        }
    }

    #[test]
    fn a_crash_is_found_nearly() {
        for limit in [100, 21_345] {
            let (found, attempts) = found(limit, BombOutcome::Crashed);
            let found = found.unwrap();
            assert!(found.taken <= limit && limit < found.not, "{found:?}");
            assert!(found.not - found.taken <= found.not / 10 && attempts <= 10, "{attempts}");
        }
    }

    #[test]
    fn what_is_refused_for_another_reason_has_no_limit() {
        assert_eq!(found(0, BombOutcome::Refused), (None, 1));
    }

    #[test]
    fn sentences() {
        let text =
            |taken, not, outcome| sentence("deep", &Found { taken, not, tried: tried(outcome) });
        assert_eq!(text(994, 995, BombOutcome::Refused), "at most 994 deep");
        assert_eq!(
            text(21_000, 22_000, BombOutcome::Crashed),
            "crashes somewhere between 21,000 and 22,000 deep"
        );
    }

    #[test]
    fn the_same_limit_is_told_once() {
        let found =
            [("arrays", "at most 9 deep"), ("maps", "at most 9 deep"), ("integers", "none")];
        let found = found.map(|(what, far)| (what, far.to_owned()));
        assert_eq!(joined(&found), ["arrays and maps: at most 9 deep", "integers: none"]);
    }
}
