//! One conversion on the calling thread: from the reader, through the adapters that the options ask for,
//! to the writer.

use crate::bytes::buffer::Out;
use crate::bytes::reader::{Parse, Reader, Skipped};
use crate::codec::bson::extended::{FromExtended, ToExtended};
use crate::codec::contract::{Codec, Visitor};
use crate::convert::input::Input;
use crate::model::format::Format;
use crate::options::{DuplicateKeys, Options};
use crate::policy::documents::{Documents, Duplicates, Join, Split};
use crate::policy::event::{Source as _, Writer};
use crate::policy::fidelity::Fidelity;
use crate::policy::notation::{Escape, Unwrap};
use crate::policy::select::Matches;
use crate::policy::select::plan::Plan;
use crate::policy::select::sink::{Marks, Select};
use crate::policy::take::{Pick, Take, Taken};
use crate::policy::track::Tracker;
use crate::{Error, ErrorKind, Result};
/// What a conversion did.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Documents (records) read and written.
    pub documents: u64,
    /// Records that were skipped.
    pub bad_records: u64,
    /// Values that were not kept exactly.
    pub fidelity: Fidelity,
    /// Which rules of [`Options::select`] matched.
    pub matches: Matches,
}

/// Called for each skipped record, in input order: with the error for the first
/// [`NAMED_BAD_RECORDS`], with only the bytes for the rest. A long record arrives in pieces, and
/// several short ones may arrive as one.
pub type OnBad<'b> = dyn FnMut(Skipped) -> Result + 'b;

/// How many broken records are reported with their error. An error takes a few hundred bytes of
/// memory and of output, and a broken record may be a single byte.
pub const NAMED_BAD_RECORDS: u64 = 1000;

/// Runs one conversion on the calling thread: selects the reader.
pub(crate) fn run<'a>(
    input: Input<'a>,
    out: Out<'a>,
    options: &Options,
    tracked: bool,
    pick: Option<Pick>,
    on_bad: &mut OnBad<'_>,
) -> Result<(Summary, Out<'a>)> {
    let mut identity;
    let mut options = options;
    if options.from == options.to {
        identity = options.clone();
        identity.identity = true;
        options = &identity;
    }
    let job = Job { options, tracked, pick };
    options.from.visit(ConvertFrom { job, input, out, on_bad })
}

/// Opens a format's reader, and goes on to the writer.
struct ConvertFrom<'j, 'a, 'b> {
    job: Job<'j>,
    input: Input<'a>,
    out: Out<'a>,
    on_bad: &'j mut OnBad<'b>,
}

impl<'a> Visitor for ConvertFrom<'_, 'a, '_> {
    type Output = Result<(Summary, Out<'a>)>;

    fn visit<C: Codec>(self) -> Self::Output {
        let reader = self.input.reader(C::parser(self.job.options))?;
        self.job.to_writer(reader, self.out, self.on_bad)
    }
}

/// Opens a format's writer, and runs a reader into it. They are compiled together for the pairs that
/// matter most; for the others the reader drives the writer through dynamic dispatch.
struct ConvertTo<'j, 'a, 'b, P> {
    job: Job<'j>,
    reader: Reader<'a, P>,
    out: Out<'a>,
    fidelity: Fidelity,
    on_bad: &'j mut OnBad<'b>,
}

impl<'a, P: Parse> Visitor for ConvertTo<'_, 'a, '_, P> {
    type Output = Result<(Summary, Out<'a>)>;

    fn visit<C: Codec>(self) -> Self::Output {
        let ConvertTo { job, reader, out, fidelity, on_bad } = self;
        let mut writer = C::writer(out, job.options, fidelity);
        let summary = if let Some(form) = job.options.writes_extended_json() {
            let mut writer = ToExtended::new(&mut writer, form);
            job.drive(reader, &mut writer as &mut dyn Writer, on_bad)?
        } else if const { is_hot_with_selection(P::FORMAT, C::FORMAT) } {
            job.drive_and_select::<_, _, true>(reader, &mut writer, on_bad)?
        } else if const { is_hot(P::FORMAT, C::FORMAT) } {
            job.drive(reader, &mut writer, on_bad)?
        } else {
            job.drive(reader, &mut writer as &mut dyn Writer, on_bad)?
        };
        Ok((summary, C::into_out(writer)))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Job<'o> {
    pub(super) options: &'o Options,
    pub(super) tracked: bool,
    /// Which documents are converted, unless all are.
    pub(super) pick: Option<Pick>,
}

impl Job<'_> {
    /// Selects the writer.
    fn to_writer<'a, P: Parse>(
        self,
        reader: Reader<'a, P>,
        out: Out<'a>,
        on_bad: &mut OnBad<'_>,
    ) -> Result<(Summary, Out<'a>)> {
        let options = self.options;
        let mut fidelity = options.fidelity();
        if options.numbers_as_decimals() && !options.unwraps() {
            fidelity = fidelity.with_numbers_as_decimals();
        }
        let to = match options.to {
            // Their records are MARC-in-JSON already, which any JSON need not be.
            Format::MarcJson if options.from.gives_records() => Format::Ndjson,
            to => to,
        };
        to.visit(ConvertTo { job: self, reader, out, fidelity, on_bad })
    }

    /// Puts the adapters that the options ask for between reader and writer, and runs. Without any,
    /// the reader drives the writer directly; otherwise it drives a chain of adapters.
    pub(super) fn drive<P: Parse, W: Writer + ?Sized>(
        &self,
        reader: Reader<'_, P>,
        writer: &mut W,
        on_bad: &mut OnBad<'_>,
    ) -> Result<Summary> {
        self.drive_and_select::<P, W, false>(reader, writer, on_bad)
    }

    /// Same as [`Job::drive`]. With `SELECTS`, a selection is compiled together with reader and writer.
    fn drive_and_select<P: Parse, W: Writer + ?Sized, const SELECTS: bool>(
        &self,
        mut reader: Reader<'_, P>,
        writer: &mut W,
        on_bad: &mut OnBad<'_>,
    ) -> Result<Summary> {
        let options = self.options;
        match options.skip_bad && !options.keep_bad {
            true => reader.skip_records(),
            false => reader.keep_records(options.skip_bad),
        }
        let elements = self.pick.is_some() && options.counts_elements();
        let (most, pick) = match self.pick {
            // The loop ends after so many documents.
            Some(Pick::First(most)) if !elements => (most, None),
            pick => (u64::MAX, pick),
        };
        let taken = Taken::default();
        let has_columns = options.from.is_table() && options.to.is_table();
        let run = Loop { skip_bad: options.skip_bad, has_columns, most, taken: &taken };
        let plan = self.plan()?;
        let marks = Marks::new(plan.as_ref());
        let is_read_plainly = pick.is_none() && !self.adapts_reader();
        let is_plain = is_read_plainly && !self.adapts_writer();
        let ran = match &plan {
            None if is_plain => run.pump(&mut reader, writer, on_bad)?,
            Some(plan) if SELECTS && is_plain => {
                run.pump(&mut reader, &mut Select::new(&mut *writer, plan, &marks), on_bad)?
            }
            Some(plan) if is_read_plainly && const { is_quick(P::FORMAT) } => {
                let chain = self.before_writer(&mut *writer)?;
                run.pump(&mut reader, &mut Select::new(chain, plan, &marks), on_bad)?
            }
            _ => {
                let mut chain = self.before_writer(&mut *writer)?;
                if let Some(plan) = &plan {
                    chain = Box::new(Select::new(chain, plan, &marks));
                }
                if let Some(pick) = pick {
                    chain = Box::new(Take::new(chain, pick, elements, &taken));
                }
                chain = self.after_reader(chain);
                if self.tracked {
                    let mut tracker = Tracker::new(chain);
                    run.pump(&mut reader, &mut tracker, on_bad)
                        .map_err(|error| placed(error, &tracker))?
                } else {
                    run.pump(&mut reader, &mut *chain, on_bad)?
                }
            }
        };
        let documents = match pick {
            Some(Pick::Count) => taken.seen(),
            Some(Pick::Sample { .. }) if !elements => taken.kept(),
            _ => reader.records() - ran.bad_records + u64::from(ran.is_cut),
        };
        Ok(Summary {
            documents,
            bad_records: ran.bad_records,
            fidelity: writer.fidelity().clone(),
            matches: marks.matches(),
        })
    }

    /// Returns the states of the selection, if there is one.
    fn plan(&self) -> Result<Option<Plan>> {
        let Options { select, from, to, .. } = self.options;
        if select.is_empty() {
            return Ok(None);
        }
        let plan = Plan::new(select, to.is_marc())
            .map_err(|fault| Error::new(ErrorKind::Unsupported, fault))?;
        let is_marc = from.is_marc() || to.is_marc();
        Ok(Some(if is_marc { plan.pruning() } else { plan }))
    }

    /// Returns whether the events of the reader are changed, or their place is tracked.
    fn adapts_reader(&self) -> bool {
        self.tracked || self.options.unwraps() || self.options.reads_extended_json()
    }

    /// Returns whether documents are checked, cut, changed or joined before they are written.
    fn adapts_writer(&self) -> bool {
        self.options.wraps()
            || self.options.stage.is_some()
            || self.options.duplicate_keys == DuplicateKeys::Refuse
            || !matches!(self.options.resolved_documents(), Documents::Keep | Documents::Auto)
    }

    /// Puts the adapters that check, cut, change and join documents in front of a writer.
    fn before_writer<'w, W: Writer + ?Sized>(
        &'w self,
        writer: &'w mut W,
    ) -> Result<Box<dyn Writer + 'w>> {
        let options = self.options;
        let mut chain: Box<dyn Writer + 'w> = Box::new(writer);
        if options.wraps() {
            chain = Box::new(Escape::new(chain));
        }
        let documents = options.resolved_documents();
        if documents == Documents::Join {
            chain = Box::new(Join::new(chain)?);
        }
        if let Some(stage) = &options.stage {
            if self.tracked {
                chain = Box::new(Tracker::new(chain));
            }
            chain = stage.open(chain, options.to);
        }
        if documents == Documents::Split {
            chain = Box::new(Split::new(chain));
        }
        let refuses = options.duplicate_keys == DuplicateKeys::Refuse;
        if refuses || options.report {
            chain = Box::new(Duplicates::new(chain, refuses));
        }
        Ok(chain)
    }

    /// Puts the adapters that undo a notation in front of the others.
    fn after_reader<'w>(&self, mut chain: Box<dyn Writer + 'w>) -> Box<dyn Writer + 'w> {
        let options = self.options;
        if options.unwraps() {
            let unwrap = Unwrap::new(chain, &options.limits);
            chain = match options.numbers_as_decimals() {
                true => Box::new(unwrap.with_numbers_as_decimals()),
                false => Box::new(unwrap),
            };
        }
        if options.reads_extended_json() {
            chain = Box::new(FromExtended::new(chain, &options.limits));
        }
        chain
    }
}

/// Returns whether a selection is compiled together with the reader and the writer of a pair. For every
/// pair that is hot, that would be 2 MB.
const fn is_hot_with_selection(from: Format, to: Format) -> bool {
    matches!(from, Format::Json) && (to.is_json() || matches!(to, Format::Msgpack | Format::Csv))
}

/// Returns whether a reader is so quick that a second step of dynamic dispatch, to the selection and from
/// there to the writer, shows: 10% of the time for MessagePack.
const fn is_quick(from: Format) -> bool {
    matches!(from, Format::Json | Format::Msgpack | Format::Cbor | Format::Bson)
}

/// Returns whether a pair of formats gets its own compiled code: everything to JSON and
/// MessagePack, JSON to everything, and ISO 2709, MARCXML and MARC-in-JSON among themselves. Dynamic
/// dispatch costs up to a fifth of the time; compiling all pairs would add a megabyte of code, and minutes
/// to the build.
const fn is_hot(from: Format, to: Format) -> bool {
    const fn is_common(format: Format) -> bool {
        matches!(format, Format::Marc | Format::MarcXml | Format::MarcJson)
    }
    let marc = is_common(from) && is_common(to);
    to.is_json() || matches!(to, Format::Msgpack) || matches!(from, Format::Json) || marc
}

/// Adds the path that the writer tracks, if it does.
#[cold]
fn placed<W: Writer + ?Sized>(error: Error, writer: &W) -> Error {
    match writer.path() {
        Some(path) if error.path().is_none() && error.kind() != ErrorKind::Io => {
            error.at_path(path)
        }
        _ => error,
    }
}

/// Adds to what a writer without documents says that all of them were skipped.
#[cold]
fn all_bad(error: Error, ran: &Ran, first: &str) -> Error {
    let skipped = match ran.bad_records {
        1 => format!("a file whose one document was broken and skipped ({first})"),
        count => format!("a file whose {count} documents were broken and skipped (first: {first})"),
    };
    match error.kind() {
        ErrorKind::Unrepresentable => error.within(&skipped),
        _ => error,
    }
}

/// The main loop.
struct Loop<'t> {
    skip_bad: bool,
    /// Whether reader and writer have tables.
    has_columns: bool,
    /// The number of documents after which it ends.
    most: u64,
    /// What an adapter that picks documents has to say.
    taken: &'t Taken,
}

/// What the main loop did.
struct Ran {
    bad_records: u64,
    /// Whether it ended within a document.
    is_cut: bool,
}

impl Loop<'_> {
    /// Runs: one document after the other.
    fn pump<P: Parse, W: Writer + ?Sized>(
        &self,
        reader: &mut Reader<'_, P>,
        writer: &mut W,
        on_bad: &mut OnBad<'_>,
    ) -> Result<Ran> {
        let skip_bad = self.skip_bad;
        let mut ran = Ran { bad_records: 0, is_cut: false };
        let mut first_bad = None;
        loop {
            if skip_bad {
                writer.checkpoint();
            }
            writer.fidelity().set_record(reader.records() + 1);
            if reader.records() - ran.bad_records >= self.most || self.taken.has_stopped() {
                break;
            }
            let mut take = |mut piece: Skipped| {
                piece.error = piece.error.filter(|_| ran.bad_records < NAMED_BAD_RECORDS);
                if first_bad.is_none() {
                    first_bad = piece.error.as_ref().map(|error| error.message().to_owned());
                }
                on_bad(piece)
            };
            match reader.next(writer) {
                Ok(false) => break,
                Ok(true) => match writer.end_document() {
                    Ok(()) => continue,
                    Err(error) => take(reader.reject(placed(error, writer), skip_bad)?)?,
                },
                Err(_) if self.taken.has_stopped() => {
                    ran.is_cut = true;
                    break;
                }
                Err(error) if skip_bad => reader.pass_over(placed(error, writer), &mut take)?,
                Err(error) => return Err(error),
            }
            writer.rollback();
            ran.bad_records += 1;
        }
        let finished = self.finish(reader, writer);
        finished.map_err(|error| match first_bad {
            Some(first) if reader.records() == ran.bad_records => all_bad(error, &ran, &first),
            _ => error,
        })?;
        Ok(ran)
    }

    /// Ends the output, after telling the writer which columns there were.
    fn finish<P: Parse, W: Writer + ?Sized>(
        &self,
        reader: &Reader<'_, P>,
        writer: &mut W,
    ) -> Result {
        if self.has_columns
            && let Some(row) = reader.parser().columns()
        {
            writer.columns(&row)?;
        }
        writer.finish()
    }
}

/// Drives a custom reader into the writer that the options ask for. With `tracked`, errors and losses
/// have their path, and a copy of each key is made for it. `pick` says which documents are written, unless
/// all are.
///
/// # Errors
/// Same as [`convert`].
pub(crate) fn write_with<'a, P: Parse>(
    reader: Reader<'a, P>,
    out: Out<'a>,
    options: &Options,
    tracked: bool,
    pick: Option<Pick>,
) -> Result<(Summary, Out<'a>)> {
    let job = Job { options, tracked, pick };
    job.to_writer(reader, out, &mut |_| Ok(()))
}
