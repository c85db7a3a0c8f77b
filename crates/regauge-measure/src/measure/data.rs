//! The data of a measurement: the whole of it, and the part that large data is checked and timed on.

use std::collections::BTreeSet;
use std::path::Path;

use crate::model::error::Error;
use crate::model::report::{Compression, Part};
use crate::plan::folders::subfolder;
use crate::plan::options::{BUDGET, Options};
use crate::plan::reference::References;
use crate::run::compression;
use crate::run::gzip::{gzip_all, gzip_scaled};

/// The references of the whole data, of what is checked and timed, and their compressed sizes.
pub(super) struct Data {
    pub whole: References,
    /// What is checked and timed: the whole, or a part that is the same for all contenders.
    pub timed: References,
    /// The gzipped sizes of what is timed.
    pub gzip: Vec<(String, u64)>,
    /// The gzipped sizes of the whole.
    pub whole_gzip: Vec<(String, u64)>,
    /// Whether those are scaled from the part.
    pub is_gzip_scaled: bool,
    /// Every how many elements or records the part has one, and of what; nothing if it is the whole.
    pub smaller: Option<(u64, Option<Part>)>,
}

impl Data {
    /// Writes the part that is timed, if the data is large, into a folder of `work`.
    pub(super) fn of(whole: References, options: &Options, work: &Path) -> Result<Data, Error> {
        let smaller = match may_be_smaller(options) {
            true => whole.smaller(options.part_size, &subfolder(work, "part")?)?,
            false => None,
        };
        let Some(smaller) = smaller else {
            let gzip = gzip_all(&whole)?;
            return Ok(Data {
                timed: whole.clone(),
                whole_gzip: gzip.clone(),
                is_gzip_scaled: false,
                smaller: None,
                whole,
                gzip,
            });
        };
        let gzip = gzip_all(&smaller.references)?;
        // Compressing large data in every format takes more time than a quick look has.
        let is_gzip_scaled = options.budget < BUDGET;
        let whole_gzip = match is_gzip_scaled {
            true => gzip_scaled(&gzip, &smaller.references, &whole),
            false => gzip_all(&whole)?,
        };
        Ok(Data {
            whole,
            timed: smaller.references,
            gzip,
            whole_gzip,
            is_gzip_scaled,
            smaller: Some((smaller.every, smaller.part)),
        })
    }

    /// Drops documents from what is timed, and notes why.
    pub(super) fn drop_documents(
        &mut self,
        gone: &BTreeSet<u64>,
        note: String,
    ) -> Result<(), Error> {
        self.timed = self.timed.without(gone)?;
        self.gzip = gzip_all(&self.timed)?;
        if self.smaller.is_none() {
            self.whole = self.timed.clone();
            self.whole_gzip = self.gzip.clone();
        } else if self.is_gzip_scaled {
            self.whole_gzip = gzip_scaled(&self.gzip, &self.timed, &self.whole);
        }
        self.whole.notes.push(note);
        Ok(())
    }

    /// Scales what compression makes of the part to the whole.
    pub(super) fn grown(&self, compressions: Vec<Vec<Compression>>) -> Vec<Vec<Compression>> {
        match self.smaller {
            Some(_) => {
                let of_the_whole = compression::of_the_whole;
                of_the_whole(&compressions, &self.timed, &self.whole, &self.whole_gzip)
            }
            None => compressions,
        }
    }
}

/// Returns whether large data may be timed on a part: not where everything was asked for, and not
/// for a task, whose figures are of the whole, unless it is short of time.
fn may_be_smaller(options: &Options) -> bool {
    let is_for_all = options.take_part.is_empty() && !options.common;
    options.rounds.is_none() && (is_for_all || options.part_only)
}
