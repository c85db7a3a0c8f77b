//! What was found.

use regauge::Limits;

use crate::prefix::{Merge as _, Prefixes};
use crate::recode::{Recoded, recode};
use crate::tally::Tally;

/// How many prefixes are listed by name; the smallest others are one row.
const ROWS_MAX: usize = 200;
/// The name of that row.
const OTHERS: &str = "(others)";
/// For how many prefixes the sample is written in other formats.
const RECODED: usize = 50;

/// What is in a cache.
#[derive(Debug)]
pub struct Report {
    /// The prefixes, those with the most bytes first.
    pub rows: Vec<Row>,
    /// All of them together.
    pub all: Tally,
}

/// What was counted for a prefix.
#[derive(Debug)]
pub struct Row {
    /// The keys, with `*` for what differs.
    pub prefix: String,
    /// The counts.
    pub tally: Tally,
    /// What the sample takes in other formats, if its values are documents.
    pub recoded: Option<Recoded>,
}

impl Report {
    pub(crate) fn new(prefixes: Prefixes<Tally>, all: Tally, limits: &Limits) -> Report {
        let mut list = prefixes.into_list();
        list.sort_by(|(one, a), (other, b)| {
            b.all.bytes.cmp(&a.all.bytes).then_with(|| one.cmp(other))
        });
        let mut others = Tally::default();
        for (_, tally) in list.split_off(list.len().min(ROWS_MAX)) {
            others.merge(tally);
        }
        if others.keys > 0 {
            list.push((OTHERS.to_owned(), others));
        }
        let rows = list.into_iter().enumerate();
        let rows: Vec<_> = rows
            .map(|(at, (prefix, tally))| {
                let main = tally.forms().first().map(|(form, _)| form.codec);
                let recoded = main
                    .filter(|_| at < RECODED)
                    .map(|codec| recode(&tally.sample, codec, limits))
                    .filter(|recoded| recoded.tried > 0);
                Row { prefix, tally, recoded }
            })
            .collect();
        Report { rows, all }
    }
}
