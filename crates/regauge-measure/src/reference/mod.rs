//! The user's data as reference bytes: written once by regauge in every format that it knows, so
//! that all contenders of a format decode the same bytes.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use regauge::convert::{self, Input};
use regauge::documents::Documents;
use regauge::format::Framing;
use regauge::output::FileOutput;
use regauge::reader::{Parse, Reader};
use regauge::value::Builder;
use regauge::{Format, Limits, Source as _, Value, json, marc, msgpack};

use crate::contender::Wire;
use crate::error::Error;

/// What the user's file is, which decides who can take part.
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
    pub path: PathBuf,
    /// Where each document stands, for contenders that take them one by one.
    pub spans: Option<PathBuf>,
    pub bytes: u64,
}

/// The same documents in every format.
#[derive(Debug, Clone)]
pub(crate) struct References {
    pub shape: Shape,
    pub documents: u64,
    pub list: Vec<Bytes>,
    pub notes: Vec<String>,
}

impl References {
    /// The reference that a contender of this format decodes.
    pub(crate) fn of(&self, wire: Wire) -> Option<&Bytes> {
        let catalogue = self.shape == Shape::Catalogue;
        self.list.iter().find(|one| match (one.format, wire) {
            (Format::Json | Format::Ndjson, Wire::Json) => true,
            (Format::MarcJson, Wire::Json | Wire::MarcJson) => catalogue,
            (Format::Msgpack, Wire::Msgpack) => true,
            (Format::Marc, Wire::Marc) | (Format::MarcXml, Wire::Marcxml) => true,
            _ => false,
        })
    }

    /// Writes the references of a file into `folder`.
    pub(crate) fn write(input: &Path, from: Format, folder: &Path) -> Result<References, Error> {
        let mut notes = Vec::new();
        let shape = if from.is_marc() {
            Shape::Catalogue
        } else if from == Format::Json || from == Format::Msgpack && is_single(input)? {
            Shape::Document
        } else {
            Shape::Stream
        };
        let text = match shape {
            Shape::Document => Format::Json,
            Shape::Stream => Format::Ndjson,
            Shape::Catalogue => Format::MarcJson,
        };
        // JSON first: it can be cut into documents without being read. Where it cannot hold the
        // data (bytes, NaN, keys that are not text), MessagePack can.
        let skip_bad = shape == Shape::Catalogue;
        let base = match rewrite(input, from, &folder.join("base"), text, skip_bad) {
            Ok(summary) => {
                if summary.bad_records > 0 {
                    notes.push(format!(
                        "{} broken records of the input were left out; `regauge convert --bad \
                         FILE` keeps and names them.",
                        summary.bad_records
                    ));
                }
                text
            }
            Err(refused) if refused.kind() == regauge::ErrorKind::Refused => {
                notes.push(left_out(text, &refused));
                rewrite(input, from, &folder.join("base"), Format::Msgpack, false)
                    .map_err(|error| Error::Input(error.to_string()))?;
                Format::Msgpack
            }
            Err(error) => return Err(Error::Input(error.to_string())),
        };
        if shape == Shape::Catalogue {
            notes.extend(to_utf8(folder)?);
        }
        let mut references = References::from_base(shape, base, folder)?;
        notes.append(&mut references.notes);
        references.notes = notes;
        if references.documents == 0 {
            return Err(Error::Input(format!("{} holds no document", input.display())));
        }
        Ok(references)
    }

    /// Writes every format from the documents in `folder/base`.
    fn from_base(shape: Shape, base: Format, folder: &Path) -> Result<References, Error> {
        let path = folder.join("base");
        let mut notes = Vec::new();
        let formats: &[Format] = match shape {
            // JSON was refused before.
            _ if base == Format::Msgpack => &[Format::Msgpack],
            Shape::Document => &[Format::Json, Format::Msgpack],
            Shape::Stream => &[Format::Ndjson, Format::Msgpack],
            Shape::Catalogue => &[Format::Marc, Format::Msgpack, Format::MarcJson, Format::MarcXml],
        };
        let mut list: Vec<Bytes> = Vec::new();
        for &format in formats {
            let out = folder.join(format!("reference-{}.bytes", format.name()));
            match rewrite(&path, base, &out, format, false) {
                Ok(_) => {}
                // A record that one format cannot hold is left out of all: they must hold the
                // same. Those written already are written again.
                Err(error) if shape == Shape::Catalogue && is_about_a_record(&error) => {
                    let bad = records_refused(&path, base, format)?;
                    if bad.is_empty() {
                        return Err(Error::Input(error.to_string()));
                    }
                    notes.push(leave_out(&path, base, format, &bad)?);
                    let mut again = References::from_base(shape, base, folder)?;
                    notes.append(&mut again.notes);
                    again.notes = notes;
                    return Ok(again);
                }
                Err(error) if error.kind() == regauge::ErrorKind::Refused => {
                    notes.push(left_out(format, &error));
                    continue;
                }
                Err(error) => {
                    return Err(Error::Input(format!(
                        "the data cannot be written as {}: {error}",
                        format.title()
                    )));
                }
            }
            let bytes = std::fs::metadata(&out).map_err(Error::io("read", &out))?.len();
            let spans = match (shape, format) {
                (Shape::Document, _) | (_, Format::Marc | Format::MarcXml) => None,
                _ => {
                    let spans = out.with_extension("spans");
                    write_spans(&out, format, &spans)?;
                    Some(spans)
                }
            };
            list.push(Bytes { format, path: out, spans, bytes });
        }
        let documents = match shape {
            Shape::Document => 1,
            _ => spans_of(&path, base)?.len() as u64,
        };
        Ok(References { shape, documents, list, notes })
    }

    /// The references without these documents (from 0), written anew.
    pub(crate) fn without(
        &self,
        gone: &std::collections::BTreeSet<u64>,
        folder: &Path,
    ) -> Result<References, Error> {
        let (path, base) = (folder.join("base"), self.base());
        keep_documents(&path, base, &path, &|index| !gone.contains(&index))?;
        let mut references = References::from_base(self.shape, base, folder)?;
        references.notes.splice(0..0, self.notes.iter().cloned());
        Ok(references)
    }

    /// The references of every `every`-th document, written into `folder`.
    pub(crate) fn slice(
        &self,
        every: u64,
        whole: &Path,
        folder: &Path,
    ) -> Result<References, Error> {
        let base = self.base();
        keep_documents(&whole.join("base"), base, &folder.join("base"), &|index| {
            index.is_multiple_of(every)
        })?;
        References::from_base(self.shape, base, folder)
    }

    /// The format of the file that all others were written from.
    fn base(&self) -> Format {
        self.list
            .iter()
            .map(|one| one.format)
            .find(|format| matches!(format, Format::Json | Format::Ndjson | Format::MarcJson))
            .unwrap_or(Format::Msgpack)
    }
}

/// Why a format is not measured. A flag of `convert` would not help here.
fn left_out(format: Format, refused: &regauge::Error) -> String {
    let place = refused.path().map_or(String::new(), |path| format!(" (at {path})"));
    format!("{} is left out: {}{place}.", format.title(), refused.message())
}

/// Tells the format of a file: by name, then by its first bytes.
pub(crate) fn detect(path: &Path) -> Result<Format, Error> {
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(4096).read_to_end(&mut head))
        .map_err(Error::io("read", path))?;
    let by_bytes = Format::from_magic(&head);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let by_name = name.as_deref().and_then(Format::from_name);
    match (by_name, by_bytes) {
        // A suffix says JSON of a catalogue, too.
        (Some(Format::Json | Format::Ndjson), Some(Format::MarcJson)) => Ok(Format::MarcJson),
        (Some(format), _) | (None, Some(format)) => Ok(format),
        (None, None) => Err(Error::Input(format!(
            "{}: neither its name nor its first bytes tell a format; name it with --from",
            path.display()
        ))),
    }
}

/// How MARC is written for a measurement: in UTF-8, so that all formats hold the same record.
pub(crate) fn marc_options() -> marc::Options {
    marc::Options {
        write_charset: marc::CharsetChoice::Always(marc::Charset::Utf8),
        compact: true,
        ..marc::Options::default()
    }
}

/// Brings the records in `folder/base` to UTF-8 by way of MARC 21, so that leader/09 says so in
/// every format. Gives notes on records that MARC 21 cannot hold; they are left out.
fn to_utf8(folder: &Path) -> Result<Vec<String>, Error> {
    let (base, through) = (folder.join("base"), folder.join("utf8"));
    let mut notes = Vec::new();
    if let Err(error) = rewrite(&base, Format::MarcJson, &through, Format::Marc, false) {
        if !is_about_a_record(&error) {
            return Err(Error::Input(error.to_string()));
        }
        let bad = records_refused(&base, Format::MarcJson, Format::Marc)?;
        notes.push(leave_out(&base, Format::MarcJson, Format::Marc, &bad)?);
        rewrite(&base, Format::MarcJson, &through, Format::Marc, false)
            .map_err(|error| Error::Input(error.to_string()))?;
    }
    rewrite(&through, Format::Marc, &base, Format::MarcJson, false)
        .map_err(|error| Error::Input(error.to_string()))?;
    std::fs::remove_file(&through).map_err(Error::io("remove", &through))?;
    Ok(notes)
}

/// Whether an error is one record's, so that the others can go on without it.
fn is_about_a_record(error: &regauge::Error) -> bool {
    matches!(error.kind(), regauge::ErrorKind::Refused | regauge::ErrorKind::Unrepresentable)
}

/// The records (from 1) that a format cannot hold, each tried alone, with the reason.
fn records_refused(base: &Path, from: Format, to: Format) -> Result<Vec<(u64, String)>, Error> {
    let bytes = std::fs::read(base).map_err(Error::io("read", base))?;
    let options = convert_options(from, to, false);
    let mut bad = Vec::new();
    for (index, (start, end)) in spans_of(base, from)?.into_iter().enumerate() {
        let record = &bytes[start as usize..end as usize];
        if let Err(error) = convert::convert_bytes(record, &options) {
            bad.push((index as u64 + 1, error.message().to_owned()));
        }
    }
    Ok(bad)
}

/// Takes records out of a base file, and says so.
fn leave_out(
    base: &Path,
    from: Format,
    to: Format,
    bad: &[(u64, String)],
) -> Result<String, Error> {
    let gone: std::collections::HashSet<u64> = bad.iter().map(|(record, _)| *record).collect();
    keep_documents(base, from, base, &|index| !gone.contains(&(index + 1)))?;
    let (record, why) = bad.first().map_or((0, ""), |(record, why)| (*record, why.as_str()));
    Ok(format!(
        "{} records were left out of all formats, because {} cannot hold them; the first, \
         record {record}: {why}.",
        bad.len(),
        to.title()
    ))
}

/// Converts a file.
fn rewrite(
    input: &Path,
    from: Format,
    out: &Path,
    to: Format,
    skip_bad: bool,
) -> regauge::Result<convert::Summary> {
    let open = || -> std::io::Result<Box<dyn Read + Send>> { Ok(Box::new(File::open(input)?)) };
    let output = FileOutput::new(File::create(out)?)?;
    let options = convert_options(from, to, skip_bad);
    convert::convert(Input::Again(&open), output, &options, &mut |_| Ok(()))
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
    options
}

/// The documents of a file, one after the other.
pub(crate) struct Values<'f> {
    reader: AnyReader<'f>,
    builder: Builder,
}

enum AnyReader<'f> {
    Json(Reader<'f, json::Parser>),
    Msgpack(Reader<'f, msgpack::Parser>),
    Marc(Reader<'f, marc::iso2709::Parser>),
    MarcXml(Reader<'f, marc::xml::Parser>),
}

enum Bytestream<'f> {
    File(BufReader<File>),
    Slice(&'f [u8]),
}

impl Values<'_> {
    /// Opens a file.
    pub(crate) fn open(path: &Path, format: Format) -> Result<Values<'static>, Error> {
        let file = BufReader::new(File::open(path).map_err(Error::io("read", path))?);
        Ok(Values::of(Bytestream::File(file), format))
    }

    /// The documents in these bytes.
    pub(crate) fn from_slice(bytes: &[u8], format: Format) -> Values<'_> {
        Values::of(Bytestream::Slice(bytes), format)
    }

    fn of(bytes: Bytestream<'_>, format: Format) -> Values<'_> {
        fn reader<P: Parse>(bytes: Bytestream<'_>, parser: P) -> Reader<'_, P> {
            match bytes {
                Bytestream::File(file) => Reader::from_read(parser, file),
                Bytestream::Slice(bytes) => Reader::from_slice(parser, bytes),
            }
        }
        let limits = Limits::NONE;
        let marc = marc::Options::default();
        let reader = match format {
            Format::Msgpack => AnyReader::Msgpack(reader(bytes, msgpack::Parser::new(limits))),
            Format::Marc => {
                AnyReader::Marc(reader(bytes, marc::iso2709::Parser::new(marc, limits)))
            }
            Format::MarcXml => {
                AnyReader::MarcXml(reader(bytes, marc::xml::Parser::new(marc, limits)))
            }
            _ => {
                let framing = match format {
                    Format::Json => json::Framing::Single,
                    _ => json::Framing::Lines,
                };
                let options = json::ReadOptions { framing, ..Default::default() };
                AnyReader::Json(reader(bytes, json::Parser::new(options, limits)))
            }
        };
        Values { reader, builder: Builder::new(&limits) }
    }

    /// The next document.
    pub(crate) fn next(&mut self) -> regauge::Result<Option<Value>> {
        let more = match &mut self.reader {
            AnyReader::Json(reader) => reader.next(&mut self.builder)?,
            AnyReader::Msgpack(reader) => reader.next(&mut self.builder)?,
            AnyReader::Marc(reader) => reader.next(&mut self.builder)?,
            AnyReader::MarcXml(reader) => reader.next(&mut self.builder)?,
        };
        Ok(if more { self.builder.take() } else { None })
    }

    /// Bytes of the file behind the last document.
    fn offset(&self) -> u64 {
        match &self.reader {
            AnyReader::Json(reader) => reader.offset(),
            AnyReader::Msgpack(reader) => reader.offset(),
            AnyReader::Marc(reader) => reader.offset(),
            AnyReader::MarcXml(reader) => reader.offset(),
        }
    }
}

/// Whether a MessagePack file holds one value.
fn is_single(path: &Path) -> Result<bool, Error> {
    let mut values = Values::open(path, Format::Msgpack)?;
    let told = |error: regauge::Error| Error::Input(format!("{}: {error}", path.display()));
    values.next().map_err(told)?;
    Ok(values.next().map_err(told)?.is_none())
}

const RECORD_END: &str = "</record>";

/// Start and end of every document of a file that regauge wrote.
fn spans_of(path: &Path, format: Format) -> Result<Vec<(u64, u64)>, Error> {
    let mut spans = Vec::new();
    if matches!(format, Format::Msgpack | Format::Marc) {
        let mut values = Values::open(path, format)?;
        let mut start = 0;
        while values.next().map_err(|error| Error::Input(error.to_string()))?.is_some() {
            spans.push((start, values.offset()));
            start = values.offset();
        }
        return Ok(spans);
    }
    if format == Format::MarcXml {
        // As regauge writes it: a `<` in a text would be an entity.
        let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
        let mut from = 0;
        while let Some(start) = text[from..].find("<record").map(|place| from + place)
            && let Some(end) = text[start..].find(RECORD_END).map(|place| start + place)
        {
            from = end + RECORD_END.len();
            spans.push((start as u64, from as u64));
        }
        return Ok(spans);
    }
    // JSON as regauge writes it has no line feed but those between documents.
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    let mut start = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let end = start + line.len();
        let without = line.strip_suffix(b"\n").unwrap_or(line);
        if !without.is_empty() {
            spans.push((start as u64, (start + without.len()) as u64));
        }
        start = end;
    }
    Ok(spans)
}

/// Writes the spans of a file that regauge wrote, as the runners read them.
pub(crate) fn write_spans(path: &Path, format: Format, out: &Path) -> Result<(), Error> {
    let flat: Vec<u64> =
        spans_of(path, format)?.into_iter().flat_map(|(start, end)| [start, end]).collect();
    let text = serde_json::to_vec(&flat).expect("numbers");
    std::fs::write(out, text).map_err(Error::io("write", out))
}

/// Copies the documents that `keep` says, by index from 0.
fn keep_documents(
    path: &Path,
    format: Format,
    out: &Path,
    keep: &dyn Fn(u64) -> bool,
) -> Result<(), Error> {
    let spans = spans_of(path, format)?;
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    let mut file = BufWriter::new(File::create(out).map_err(Error::io("write", out))?);
    let lines = format != Format::Msgpack;
    let mut copy = || -> std::io::Result<()> {
        for (index, (start, end)) in spans.iter().enumerate() {
            if keep(index as u64) {
                file.write_all(&bytes[*start as usize..*end as usize])?;
                if lines {
                    file.write_all(b"\n")?;
                }
            }
        }
        file.flush()
    };
    copy().map_err(Error::io("write", out))
}
