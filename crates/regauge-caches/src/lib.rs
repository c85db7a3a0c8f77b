//! What is in a cache, per prefix of the keys: envelopes, formats, classes and sizes; and how its values move.
//!
//! [`Xray`] reads a [`Source`], or takes its items one by one, and counts them; [`Report`] is what it found. Memory is bounded: prefixes fold into `*` ([`prefix`]), and what is kept of each is counts
//! and a small sample.
//!
//! | module | |
//! |---|---|
//! | [`look`] | one value: its envelopes, compressions and format, and what loading it would do |
//! | [`plain`], [`php`] | values that are in no format of regauge |
//! | [`prefix`] | keys to prefixes |
//! | [`tally`] | what is counted for a prefix |
//! | [`recode`] | what a sample would take in other formats |
//! | [`migrate`], [`journal`] | a value in another format, in the same envelope; what was replaced |
//! | [`rules`] | what becomes of single classes then |

#![forbid(unsafe_code)]

mod ahead;
mod coded;
mod compressed;
pub mod journal;
pub mod look;
pub mod migrate;
pub mod php;
pub mod plain;
pub mod prefix;
mod reason;
pub mod recode;
mod report;
pub mod rules;
pub mod tally;

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use regauge::{Limits, Result};
use regauge_sources::{Item, Source, Summary, Wanted};

pub use report::{Plain, Report, Row};

use look::{Look, Looker};
use prefix::Prefixes;
use tally::Tally;

/// How many values are remembered, to find duplicates: 16 MiB of hashes at most.
const REMEMBERED: usize = 1 << 20;
/// The shortest value that counts as a duplicate: shorter ones cost less than what would refer to them.
const DUPLICATE_BYTES: usize = 32;

/// Looks into values, and counts what it finds.
pub struct Xray {
    looker: Looker,
    prefixes: Prefixes<Tally>,
    seen: HashSet<u64, Identity>,
    hasher: RandomState,
    all: Tally,
    limits: Limits,
}

impl Xray {
    /// Creates one that reads each value within these limits.
    pub fn new(limits: Limits) -> Xray {
        Xray {
            looker: Looker::new(limits),
            prefixes: Prefixes::new(),
            seen: HashSet::default(),
            hasher: RandomState::new(),
            all: Tally::default(),
            limits,
        }
    }

    /// Counts what is wanted of a source. Looks into values on `jobs` cores, and calls `each` for every item, in the
    /// order of the source.
    ///
    /// # Errors
    /// Those of [`Source::read`] and of `each`. What was read before an error has been counted.
    pub fn read(
        &mut self,
        source: &mut dyn Source,
        wanted: &Wanted<'_>,
        jobs: usize,
        each: &mut dyn FnMut(&Item<'_>, Option<&Look>) -> Result<()>,
    ) -> Result<Summary> {
        ahead::read(source, wanted, self.limits, jobs, &mut |item, looked| {
            self.count(item, looked.as_ref());
            each(item, looked.as_ref())
        })
    }

    /// Looks into an item and counts it; returns what its value is.
    pub fn take(&mut self, item: &Item<'_>) -> Option<Look> {
        let looked = item.value.map(|value| self.looker.look(value));
        self.count(item, looked.as_ref());
        looked
    }

    fn count(&mut self, item: &Item<'_>, looked: Option<&Look>) {
        let is_repeated = item.value.is_some_and(|value| self.is_repeated(value));
        let tally = self.prefixes.of(item.key, item.is_first);
        for tally in [tally, &mut self.all] {
            tally.add(item, looked, is_repeated);
        }
    }

    /// Returns whether the same value has been seen: of the first million.
    fn is_repeated(&mut self, value: &[u8]) -> bool {
        if value.len() < DUPLICATE_BYTES {
            return false;
        }
        let hash = self.hasher.hash_one(value);
        match self.seen.len() < REMEMBERED {
            true => !self.seen.insert(hash),
            false => self.seen.contains(&hash),
        }
    }

    /// Returns what was found, prefixes with the most bytes first.
    pub fn finish(self) -> Report {
        Report::new(self.prefixes, self.all, &self.limits)
    }
}

/// Hashes are hashed already.
#[derive(Clone, Copy, Default)]
struct Identity;

impl std::hash::BuildHasher for Identity {
    type Hasher = Same;

    fn build_hasher(&self) -> Same {
        Same(0)
    }
}

/// The hash of a hash: itself.
struct Same(u64);

impl std::hash::Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
