//! Writes the user's data as reference bytes, once in every format that regauge knows, so that all
//! contenders of a format decode the same bytes.
//!
//! Everything is first written into one *base* file, from which all formats are made: MARC-in-JSON
//! for a catalogue; for anything else one line of JSON per document, in the reversible notation,
//! which can hold the values of every format.

mod catalogue;
mod part;
mod spans;
mod values;
mod write;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use regauge::codec::Framing;
use regauge::convert::{self, Input};
use regauge::documents::Documents;
use regauge::fidelity::LossKind;
use regauge::output::FileOutput;
use regauge::{Format, Limits, OnLoss};

pub(crate) use spans::{read_spans, write_spans};
pub(crate) use values::{Values, options, options_for};

use crate::model::error::Error;
use crate::model::report::Loss;
use crate::model::text::were;
use crate::model::wire::{Wire, marc_options};
use crate::plan::input::{Files, InputFile};
use crate::plan::parallel;
use catalogue::{is_about_a_record, leave_out, records_refused, to_utf8};
use spans::{count, keep_documents};
use write::{Document, Originals, Written, write_data};

/// The number of formats written at once: each holds a whole document in memory.
const THREADS_MAX: usize = 2;

/// The kind of the user's data, which decides which contenders can take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One document.
    Document,
    /// A stream of documents.
    Stream,
    /// A stream of MARC records.
    Catalogue,
}

/// Reference bytes of one format.
#[derive(Debug, Clone)]
pub(crate) struct Bytes {
    pub format: Format,
    /// The protocol of a pickle, if it is not the default.
    pub protocol: Option<u8>,
    pub path: PathBuf,
    /// Where each document begins and ends, for contenders that take them one by one.
    pub spans: Option<PathBuf>,
    pub bytes: u64,
    /// What the format cannot hold.
    pub losses: Vec<Loss>,
}

impl Bytes {
    /// Returns the name in tables: `json`, `pickle`, `pickle-0`.
    pub(crate) fn name(&self) -> String {
        match self.protocol {
            Some(protocol) => format!("{}-{protocol}", self.format.name()),
            None => self.format.name().to_owned(),
        }
    }
}

/// Returns whether contenders of a format decode these bytes.
fn serves(shape: Shape, (format, protocol): (Format, Option<u8>), wire: Wire) -> bool {
    let catalogue = shape == Shape::Catalogue;
    let wanted = match wire {
        Wire::Pickle0 => Some(0),
        Wire::Pickle2 => Some(2),
        Wire::Pickle5 => Some(5),
        _ => None,
    };
    protocol == wanted
        && match (format, wire) {
            (Format::Json | Format::Ndjson, Wire::Json) => true,
            (Format::MarcJson, Wire::Json | Wire::MarcJson) => catalogue,
            (Format::Marc, Wire::Marc) | (Format::MarcXml, Wire::Marcxml) => true,
            (Format::Msgpack, Wire::Msgpack) | (Format::Yaml, Wire::Yaml) => true,
            (Format::Bson, Wire::Bson) | (Format::Cbor, Wire::Cbor) => true,
            (Format::Marshal, Wire::Marshal) => true,
            (Format::Pickle, Wire::Pickle | Wire::Pickle0 | Wire::Pickle2 | Wire::Pickle5) => true,
            _ => false,
        }
}

/// The formats that large data is written in: writing all takes longer than a run may.
#[derive(Debug, Clone)]
pub(crate) struct Needed {
    /// Data of more bytes is large.
    pub above: u64,
    /// The formats of the contenders that were chosen.
    pub wires: Vec<Wire>,
}

/// The same documents in every format.
#[derive(Debug, Clone)]
pub(crate) struct References {
    pub shape: Shape,
    pub documents: u64,
    pub list: Vec<Bytes>,
    pub notes: Vec<String>,
    /// Where they are.
    folder: PathBuf,
    /// If not all formats were written, those that were needed.
    needed: Option<Vec<Wire>>,
}

impl References {
    /// Returns the reference that a contender of this format decodes.
    pub(crate) fn of(&self, wire: Wire) -> Option<&Bytes> {
        self.list.iter().find(|one| serves(self.shape, (one.format, one.protocol), wire))
    }

    /// Writes the references of the input into `folder`.
    pub(crate) fn write(files: &Files, folder: &Path) -> Result<References, Error> {
        References::write_needed(files, None, folder)
    }

    /// Writes the references of the input into `folder`; of large data, only those that are needed.
    pub(crate) fn write_needed(
        files: &Files,
        needed: Option<Needed>,
        folder: &Path,
    ) -> Result<References, Error> {
        let base = folder.join("base");
        let mut notes = files.notes.clone();
        let shape = if files.are_marc() {
            write_base(files, Format::MarcJson, &base, &mut notes)?;
            notes.extend(to_utf8(folder)?);
            Shape::Catalogue
        } else {
            write_base(files, Format::Ndjson, &base, &mut notes)?;
            // Lines say that they are records, also where there is one of them.
            let is_lines = files.list.iter().any(|file| file.format == Format::Ndjson);
            match count(&base)? {
                1 if !is_lines => Shape::Document,
                _ => Shape::Stream,
            }
        };
        let bytes = std::fs::metadata(&base).map_err(Error::io("read", &base))?.len();
        // Records that a format cannot hold are left out of all, so a catalogue needs all formats.
        let needed = needed.filter(|one| bytes > one.above && shape != Shape::Catalogue);
        let needed = needed.map(|one| one.wires);
        let mut references = References::from_base(shape, folder, needed.as_deref())?;
        notes.append(&mut references.notes);
        references.notes = notes;
        if references.documents == 0 {
            let name = files.list.first().map_or("", |file| file.name.as_str());
            return Err(Error::Input(match files.list.len() {
                1 => format!("{name} contains no document"),
                count => format!("{name} and the {} other files contain no document", count - 1),
            }));
        }
        Ok(references)
    }

    /// Writes every format from the documents in `folder/base`, or those that are needed, and JSON.
    fn from_base(
        shape: Shape,
        folder: &Path,
        needed: Option<&[Wire]>,
    ) -> Result<References, Error> {
        let path = folder.join("base");
        let mut notes = Vec::new();
        let rest = [
            Format::Msgpack,
            Format::Cbor,
            Format::Bson,
            Format::Yaml,
            Format::Marshal,
            Format::Pickle,
        ];
        let formats: Vec<Format> = match shape {
            Shape::Document => [Format::Json].into_iter().chain(rest).collect(),
            Shape::Stream => [Format::Ndjson].into_iter().chain(rest).collect(),
            Shape::Catalogue => {
                [Format::Marc, Format::MarcJson, Format::MarcXml].into_iter().chain(rest).collect()
            }
        };
        let mut list: Vec<Bytes> = Vec::new();
        let usual = formats.into_iter().map(|format| (format, None));
        let others = [0, 2, 5].map(|protocol| (Format::Pickle, Some(protocol)));
        let is_needed = |one: &(Format, Option<u8>)| {
            needed.is_none_or(|wires| {
                wires.iter().chain(&[Wire::Json]).any(|wire| serves(shape, *one, *wire))
            })
        };
        let targets: Vec<Bytes> = usual
            .chain(others)
            .filter(is_needed)
            .map(|(format, protocol)| {
                let mut one = Bytes {
                    format,
                    protocol,
                    path: PathBuf::new(),
                    spans: None,
                    bytes: 0,
                    losses: Vec::new(),
                };
                one.path = folder.join(format!("reference-{}.bytes", one.name()));
                one
            })
            .collect();
        let document = match shape {
            Shape::Document => Document::read(&path)?,
            _ => None,
        };
        let originals = document.as_ref().map_or(Originals::Base(&path), Originals::One);
        let tried = parallel::map(&targets, THREADS_MAX, &|one| match shape {
            Shape::Catalogue => {
                let mut options = convert_options(Format::MarcJson, one.format, false);
                options.pickle.protocol = one.protocol;
                Tried::Records(rewrite_with(&path, &one.path, &options).map(drop))
            }
            _ => Tried::Data(write_data(
                &originals,
                (one.format, one.protocol),
                shape == Shape::Stream,
                &one.path,
            )),
        });
        for (mut one, tried) in targets.into_iter().zip(tried) {
            let (format, out) = (one.format, &one.path);
            one.losses = match tried {
                Tried::Records(written) => match written {
                    Ok(()) => Vec::new(),
                    // A record that one format cannot hold is left out of all: they must hold the
                    // same. Those written already are written again.
                    Err(error) if is_about_a_record(&error) => {
                        let bad = records_refused(&path, format)?;
                        if bad.is_empty() {
                            return Err(Error::Input(told(&error)));
                        }
                        notes.push(leave_out(&path, format, &bad)?);
                        let mut again = References::from_base(shape, folder, needed)?;
                        notes.append(&mut again.notes);
                        again.notes = notes;
                        return Ok(again);
                    }
                    Err(error) => {
                        return Err(Error::Input(format!(
                            "the data cannot be written as {}: {}",
                            format.title(),
                            told(&error)
                        )));
                    }
                },
                Tried::Data(written) => match written? {
                    Written::Done(losses) => losses,
                    Written::LeftOut(reason) => {
                        // The protocols of pickle all hold the same.
                        if one.protocol.is_none() {
                            notes.push(format!("{} is left out: {reason}.", format.title()));
                        }
                        continue;
                    }
                },
            };
            one.bytes = std::fs::metadata(out).map_err(Error::io("read", out))?.len();
            one.spans = match (shape, format) {
                (Shape::Document, _) | (_, Format::Marc | Format::MarcXml) => None,
                _ => {
                    let spans = out.with_extension("spans");
                    write_spans(out, format, &spans)?;
                    Some(spans)
                }
            };
            list.push(one);
        }
        let documents = count(&path)?;
        let (folder, needed) = (folder.to_owned(), needed.map(<[Wire]>::to_vec));
        Ok(References { shape, documents, list, notes, folder, needed })
    }

    /// Rewrites the references without these documents (numbered from 0).
    pub(crate) fn without(&self, gone: &BTreeSet<u64>) -> Result<References, Error> {
        let path = self.folder.join("base");
        keep_documents(&path, &path, &|index| !gone.contains(&index))?;
        let mut references =
            References::from_base(self.shape, &self.folder, self.needed.as_deref())?;
        references.notes.splice(0..0, self.notes.iter().cloned());
        Ok(references)
    }

    /// Writes the references of every `every`-th document into `folder`; returns these references
    /// themselves if that is all of them.
    pub(crate) fn slice(&self, every: u64, folder: &Path) -> Result<References, Error> {
        if every <= 1 {
            return Ok(self.clone());
        }
        keep_documents(&self.folder.join("base"), &folder.join("base"), &|index| {
            index.is_multiple_of(every)
        })?;
        References::from_base(self.shape, folder, self.needed.as_deref())
    }
}

/// The result of writing a format: MARC records, or other data.
enum Tried {
    Records(regauge::Result<()>),
    Data(Result<Written, Error>),
}

/// Words an error of the library for this command, which has none of the options that the error may
/// suggest.
pub(crate) fn told(error: &regauge::Error) -> String {
    let language = regauge::options::Language::Command;
    error
        .display(&regauge::hint::Surface { language, is_generic: false, takes: &|_| false })
        .to_string()
}

/// Writes all documents of all files into the base file.
fn write_base(
    files: &Files,
    to: Format,
    base: &Path,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let part = base.with_extension("part");
    let mut whole = File::create(base).map_err(Error::io("write", base))?;
    let mut bad_records = 0;
    for file in &files.list {
        let named = |message: String| match files.list.len() {
            1 => message,
            _ => format!("{}: {message}", file.name),
        };
        let summary = rewrite(&file.path, file.format, &part, to, to == Format::MarcJson)
            .map_err(|error| Error::Input(format!("{}: {}", place_of(file), told(&error))))?;
        bad_records += summary.bad_records;
        for loss in summary.fidelity.losses() {
            notes.push(named(told_reading(loss)));
        }
        let mut written = File::open(&part).map_err(Error::io("read", &part))?;
        std::io::copy(&mut written, &mut whole).map_err(Error::io("write", base))?;
    }
    std::fs::remove_file(&part).map_err(Error::io("remove", &part))?;
    if bad_records > 0 {
        notes.push(format!(
            "{} left out of the input; `regauge convert --bad FILE` keeps and lists such records.",
            were(bad_records, "broken record")
        ));
    }
    Ok(())
}

/// Returns where a file of the input is, for an error: its path, or its name if that is of a copy.
fn place_of(file: &InputFile) -> String {
    match file.path.ends_with(&file.name) {
        true => file.path.display().to_string(),
        false => file.name.clone(),
    }
}

/// Says in a sentence what reading the input did not keep.
fn told_reading(loss: &regauge::fidelity::Loss) -> String {
    let place = loss
        .examples
        .first()
        .and_then(|one| Some(format!("; the first: {} at {}", one.found, one.path.as_ref()?)))
        .unwrap_or_default();
    match loss.kind {
        LossKind::DuplicateKey => {
            let keys = if loss.count == 1 { "key is a duplicate" } else { "keys are duplicates" };
            format!("{} {keys}, which most libraries do not keep{place}.", loss.count)
        }
        LossKind::Rounded => format!(
            "{} {} more digits than a double can hold; the nearest double is measured{place}.",
            loss.count,
            if loss.count == 1 { "number has" } else { "numbers have" }
        ),
        kind => {
            let values = if loss.count == 1 { "value was" } else { "values were" };
            format!("{} {values} changed before measuring ({}){place}.", loss.count, kind.name())
        }
    }
}

/// Converts a file.
fn rewrite(
    input: &Path,
    from: Format,
    out: &Path,
    to: Format,
    skip_bad: bool,
) -> regauge::Result<convert::Summary> {
    rewrite_with(input, out, &convert_options(from, to, skip_bad))
}

fn rewrite_with(
    input: &Path,
    out: &Path,
    options: &convert::Options,
) -> regauge::Result<convert::Summary> {
    let open = || -> std::io::Result<Box<dyn Read + Send>> { Ok(Box::new(File::open(input)?)) };
    let output = FileOutput::new(File::create(out)?)?;
    convert::convert(Input::Again(&open), output, options, &mut |_| Ok(()))
}

fn convert_options(from: Format, to: Format, skip_bad: bool) -> convert::Options {
    let mut options = convert::Options::new(from, to);
    // A document is a document: an array of a million records stays one, as the user wrote it.
    options.documents = if from.is_marc() && to.framing() != Framing::Single {
        Documents::Auto
    } else {
        Documents::Keep
    };
    options.skip_bad = skip_bad;
    options.limits = Limits::NONE;
    options.marc = marc_options();
    options.yaml_write.document_start = true;
    if to == Format::Ndjson {
        // The base of everything but catalogues: any loss here is reported.
        options.on_loss = OnLoss::Wrap;
        options.report = true;
    }
    options
}
