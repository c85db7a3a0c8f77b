//! What the records of one load have in common.
//!
//! A catalogue grows by loads: a vendor's file, a retrospective conversion, a batch of scanned
//! books. Records that came in together lie together and are alike, in language, rules, local
//! fields and dates. That is a good part of why real catalogues compress as well as they do, so
//! the sample has it too.

use super::super::rng::Rng;
use super::super::words::LANGUAGE_WEIGHT;
use super::AGENCY;
use super::notes::{KEPT, LOADED};
use super::numbers::Date;

const LOADS: u64 = 3;

/// Records in a load.
const LOAD_RECORDS: u64 = 61;

/// The traits of a load.
pub(super) struct Load {
    /// The language of half of its books: an index of the vocabulary's languages.
    pub(super) language: usize,
    /// By the rules of 2010 and after.
    pub(super) rda: bool,
    /// Accents as combining marks.
    pub(super) decomposed: bool,
    /// Has a digitised copy of most books.
    pub(super) digitised: bool,
    /// Has 003.
    pub(super) named: bool,
    /// Has the number of an older system in 035.
    pub(super) renumbered: bool,
    /// Has 050, 082, 090, and with what indicators.
    pub(super) lc_class: bool,
    pub(super) lc_indicators: &'static str,
    pub(super) dewey: bool,
    pub(super) dewey_indicators: &'static str,
    pub(super) local_class: bool,
    /// 049 $a, or empty.
    pub(super) holding_code: &'static str,
    /// Notes on retention (583) and on the load itself (599), or empty.
    pub(super) kept: &'static str,
    pub(super) loaded: &'static str,
    /// What a later clean-up did (948 $x), or empty.
    pub(super) maintained: &'static str,
    /// Has the item type in 970, library numbers in 596.
    pub(super) typed: bool,
    pub(super) numbered: bool,
    /// Has the month and source of the load in 901 and 902; its state in 905, 910 and 911.
    pub(super) marked: bool,
    pub(super) statused: bool,
    /// The agency most records came from.
    pub(super) agency: &'static str,
    /// The day of the load.
    pub(super) date: Date,
}

impl Load {
    /// Returns the load that record `index` came in with.
    pub(super) fn of(seed: u64, index: u64) -> Load {
        let rng = &mut Rng::for_item(seed, LOADS, index / LOAD_RECORDS);
        let rda = rng.chance(240);
        Load {
            language: rng.weighted(&LANGUAGE_WEIGHT),
            rda,
            decomposed: !rda && rng.chance(600),
            digitised: rng.chance(380),
            named: rng.chance(720),
            renumbered: rng.chance(500),
            lc_class: rng.chance(740),
            lc_indicators: rng.pick(&["00", "0 ", " 4", "14"]),
            dewey: rng.chance(580),
            dewey_indicators: rng.pick(&["0 ", "00", "04"]),
            local_class: rng.chance(300),
            holding_code: rng.pick(&["", "", "RGLA", "RGLA", "RGLM", "RGLL"]),
            kept: if rng.chance(500) { rng.pick(&KEPT) } else { "" },
            loaded: if rng.chance(650) { rng.pick(&LOADED) } else { "" },
            maintained: if rng.chance(420) { rng.pick(&MAINTAINED) } else { "" },
            typed: rng.chance(480),
            numbered: rng.chance(600),
            marked: rng.chance(700),
            statused: rng.chance(620),
            agency: rng.pick_skewed(&AGENCY),
            date: Date::draw(rng, if rda { 2011 } else { 2002 }, 2014),
        }
    }
}

const MAINTAINED: [&str; 6] = ["addfast", "authority", "url", "reclass", "barcode", "subjects"];
