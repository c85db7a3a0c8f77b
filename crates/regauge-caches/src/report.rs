//! What was found.

use regauge::{Format, Limits};

use crate::look::{Codec, Danger, Looker};
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

/// Sampled values of one format that are plain data, without what was around them.
#[derive(Debug, Default)]
pub struct Plain<'a> {
    /// The values.
    pub values: Vec<&'a [u8]>,
    /// How many prefixes they are from.
    pub prefixes: u64,
}

impl Report {
    /// Returns the sampled values of a format in the prefixes whose whole sample every format of
    /// [`crate::recode`] holds exactly. Each is looked into again: what loading it would do more than create data
    /// is left out.
    pub fn plain(&self, format: Format, limits: &Limits) -> Plain<'_> {
        let looker = Looker::new(*limits);
        let is_plain = |inside: &[u8]| {
            let look = looker.look(inside);
            look.form.codec == Codec::Format(format) && look.danger <= Danger::Data
        };
        let mut found = Plain::default();
        for row in self.rows.iter().filter(|row| row.is_exact_in(format)) {
            let sample = row.tally.sample.values.iter();
            let of_format = sample.filter(|(form, ..)| form.codec == Codec::Format(format));
            let before = found.values.len();
            found
                .values
                .extend(of_format.map(|(.., inside)| inside.as_slice()).filter(|i| is_plain(i)));
            found.prefixes += u64::from(found.values.len() > before);
        }
        found
    }

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

impl Row {
    /// Returns the format with the most bytes, if the most bytes are a document of one.
    pub fn format(&self) -> Option<Format> {
        match self.tally.forms().first()?.0.codec {
            Codec::Format(format) => Some(format),
            _ => None,
        }
    }

    /// Returns whether most bytes are in this format, and all sampled values of it are exact in the others.
    fn is_exact_in(&self, format: Format) -> bool {
        let is_exact = |recoded: &Recoded| recoded.exact > 0 && recoded.exact == recoded.tried;
        self.format() == Some(format) && self.recoded.as_ref().is_some_and(is_exact)
    }
}
