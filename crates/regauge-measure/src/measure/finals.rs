//! Checks the winners on large data, which is otherwise checked and timed on a part. The first of
//! each runtime for each use is checked on the whole, and decodes and encodes it once. If there was
//! no time for that, a note says so.

use std::time::{Duration, Instant};

use super::data::Data;
use crate::judge::fill::no_times;
use crate::judge::summary;
use crate::judge::verdict::{self, Untimed};
use crate::model::error::Error;
use crate::model::report::{Report, Row, Whole};
use crate::plan::folders::subfolder;
use crate::plan::options::{Progress, Stage};
use crate::plan::reference::References;
use crate::run::check::{self, Blame, Compared, Outcome, Terms};
use crate::run::checks::Check;
use crate::run::compression::{GZIP, grown};
use crate::run::gzip::gzip_of;
use crate::run::timed;

/// If one of them fails, the next is checked; at most this many times.
const TURNS: usize = 4;

/// The inputs for checking them again.
pub(super) struct Finals<'f> {
    pub check: &'f Check<'f>,
    pub data: &'f Data,
}

impl Finals<'_> {
    /// Checks those that come first; the ones that are wrong lose their times.
    pub(crate) fn hold(
        &self,
        report: &mut Report,
        untimed: &mut Vec<Untimed>,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        let options = self.check.options;
        let mut seen: Vec<usize> = Vec::new();
        let mut on_the_part: Vec<String> = Vec::new();
        for _ in 0..TURNS {
            let leaders = verdict::leaders(report, &options.assumed, options.allow);
            let mut due: Vec<usize> =
                leaders.into_iter().filter_map(|place| self.index(&report.rows[place])).collect();
            due.retain(|index| !seen.contains(index));
            if due.is_empty() || options.is_stopped() {
                break;
            }
            let until = options.budget.saturating_sub(Duration::from_millis(500));
            let until = self.check.began + until;
            let outcomes = self.check.each(&due, Stage::Finals, progress, &|index, folder| {
                self.look(index, folder, until)
            })?;
            for (index, outcome) in due.iter().zip(outcomes) {
                if is_out_of_time(&outcome, options.patience) {
                    let one = &self.check.contenders[*index];
                    on_the_part.push(format!("{} ({})", one.name, one.runtime.name()));
                    continue;
                }
                let row = self.row(report, *index);
                if let Some(fallen) =
                    row.and_then(|row| settle(row, outcome, self.data.is_gzip_scaled))
                {
                    untimed.push(fallen);
                }
            }
            seen.extend(due);
            summary::rank(report, options.seed);
        }
        if !on_the_part.is_empty() {
            report.notes.push(format!(
                "Checked on the timed part only, because the budget ran out (a longer --budget checks \
                 them on the whole file): {}.",
                timed::list(&on_the_part)
            ));
        }
        Ok(())
    }

    fn look(&self, index: usize, folder: &std::path::Path, until: Instant) -> Outcome {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(own) = subfolder(self.check.work, &format!("final-{index}")) else {
            return Outcome::NotReached;
        };
        if left.is_zero() {
            return Outcome::NotReached;
        }
        let terms = Terms {
            patience: left,
            most: self.check.options.patience,
            folder: &own,
            goes_on: false,
            compile: Duration::ZERO,
            sample_min: None,
            probe: self.check.options.probe,
            is_stopped: &|| self.check.options.is_stopped(),
            outputs: self.check.outputs,
        };
        let (contender, launch) = (&self.check.contenders[index], &self.check.launches[index]);
        let gzip = |name: &str| gzip_of(&self.data.whole_gzip, name);
        check::check(contender, launch, &self.data.whole, &gzip, folder, &terms)
    }

    fn index(&self, row: &Row) -> Option<usize> {
        self.check
            .contenders
            .iter()
            .position(|one| one.runtime == row.runtime && one.name == row.contender)
    }

    fn row<'r>(&self, report: &'r mut Report, index: usize) -> Option<&'r mut Row> {
        let one = &self.check.contenders[index];
        report.rows.iter_mut().find(|row| row.runtime == one.runtime && row.contender == one.name)
    }

    /// Scales the output of a library from the part to the whole, as regauge's own bytes of that
    /// format grow.
    pub(crate) fn enlarge(&self, report: &mut Report) {
        let data = self.data;
        let sizes = |references: &References, gzip: &[(String, u64)], format: &str| {
            let same = references.list.iter().find(|one| one.name() == format);
            same.or(references.list.first())
                .map_or((1, 1), |one| (one.bytes.max(1), gzip_of(gzip, &one.name()).max(1)))
        };
        for row in &mut report.rows {
            let part = sizes(&data.timed, &data.gzip, &row.format);
            let whole = sizes(&data.whole, &data.whole_gzip, &row.format);
            row.output_bytes = row.output_bytes.map(|bytes| grown(bytes, part.0, whole.0));
            row.output_gzip_bytes =
                row.output_gzip_bytes.map(|bytes| grown(bytes, part.1, whole.1));
            for (codec, bytes) in &mut row.output_compressed {
                let (part, whole) =
                    if codec == GZIP { (part.1, whole.1) } else { (part.0, whole.0) };
                *bytes = grown(*bytes, part, whole);
            }
        }
    }
}

/// Returns whether there was no time for a check, or not enough: that says nothing about the library,
/// which keeps its times on the part.
fn is_out_of_time(outcome: &Outcome, patience: Duration) -> bool {
    match outcome {
        Outcome::NotReached => true,
        Outcome::Late { after, .. } => after.is_none_or(|after| after < patience),
        _ => false,
    }
}

/// Updates a row with the result for the whole file; returns why it fails, if it does.
fn settle(row: &mut Row, outcome: Outcome, is_gzip_scaled: bool) -> Option<Untimed> {
    let (why, is_ruled_out) = match outcome {
        Outcome::Compared(compared) if compared.wrong.is_empty() => {
            accept(row, *compared, is_gzip_scaled);
            return None;
        }
        Outcome::Compared(compared) => {
            row.wrong = compared.wrong;
            row.wrong_documents = compared.wrong_documents;
            ("its output is wrong".to_owned(), true)
        }
        Outcome::Failed { why, blame, .. } => {
            (format!("fails on the whole file: {why}"), blame == Blame::Library)
        }
        Outcome::Late { why, .. } | Outcome::Missing(why) => (why, false),
        Outcome::NotReached => return None,
    };
    row.timing = None;
    if row.wrong.is_empty() {
        row.failure = Some(why.clone());
    }
    Some(no_times(row, why, is_ruled_out))
}

/// Updates a row whose output is right on the whole. Compressed sizes are compared with those of libraries
/// that were not checked on the whole, so they stay scaled if those are.
fn accept(row: &mut Row, compared: Compared, is_gzip_scaled: bool) {
    row.output_bytes = Some(compared.output_bytes);
    if !is_gzip_scaled {
        row.output_gzip_bytes = Some(compared.output_gzip_bytes);
        if let Some(bytes) = row.output_compressed.get_mut(GZIP) {
            *bytes = compared.output_gzip_bytes;
        }
    }
    row.losses = compared.losses;
    row.whole = Some(Whole {
        decode_ns: compared.first_decode_ns,
        encode_ns: compared.checked.encode_ns as f64,
    });
}
