//! Input of a command: a file that can be read again, or a stream that cannot; detects its format
//! and compression.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use regauge::convert::Input;
use regauge::envelope::Opened;
use regauge::options::{Envelopes, Secret};
use regauge::{Format, Limits, convert, detect};
use regauge_os::{Channel, Kind};

use crate::encoded::{Decoder, Encoding};
use crate::failure::{Failure, Result, named, plain};
use crate::progress::Meter;
use crate::read_ahead::ReadAhead;
use crate::tables::{Form, Table};
use crate::words;
use regauge_packing::files::Compression;

/// How much of the (decompressed) input is examined to detect its format.
const HEAD_BYTES: usize = detect::HEAD_BYTES;
/// A decoded input of fewer bytes is held in memory.
const SMALL_BYTES: u64 = 1 << 20;

/// The command line's options for an input.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// `--from`.
    pub form: Option<Form>,
    /// `--input-encoding`.
    pub encoding: Option<Encoding>,
    /// `--decompress`: `Some(None)` for uncompressed.
    pub compression: Option<Option<Compression>>,
    pub limits: Limits,
    /// More than one: a compressed input is decompressed on a separate thread.
    pub jobs: usize,
    /// Whether the command also reads tables: see [`Source::table`].
    pub tables: bool,
    /// `--envelope`.
    pub envelope: Envelopes,
    /// What is in the file of `--secret-file`.
    pub secret: Option<Secret>,
    /// `--salt`.
    pub salt: Option<String>,
}

impl Wanted {
    /// Input of a command that has none of these options but the format.
    pub fn plain(format: Option<Format>) -> Wanted {
        Wanted {
            form: format.map(Form::Format),
            encoding: None,
            compression: None,
            limits: Limits::default(),
            jobs: 1,
            tables: false,
            envelope: Envelopes::Never,
            secret: None,
            salt: None,
        }
    }
}

/// What determined the format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToldBy {
    Option,
    Name,
    Content,
    Envelope,
}

impl ToldBy {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ToldBy::Option => "option",
            ToldBy::Name => "name",
            ToldBy::Content => "content",
            ToldBy::Envelope => "envelope",
        }
    }

    /// Describes it to the user: `by its name`.
    pub fn words(self) -> &'static str {
        match self {
            ToldBy::Option => "as --from says",
            ToldBy::Name => "by its name",
            ToldBy::Content => "by its first bytes",
            ToldBy::Envelope => "by its envelope",
        }
    }
}

/// An input with a known format.
pub struct Source {
    /// The name in messages: that of the file, and of what its envelope is.
    pub name: String,
    /// The name of the file.
    pub file: String,
    /// The format; of a table, one that holds any value.
    pub format: Format,
    /// The kind of table, if it is one. Its rows are read by [`Table::open`].
    pub table: Option<&'static Table>,
    pub told_by: ToldBy,
    pub compression: Option<Compression>,
    /// The size of a regular file.
    pub size: Option<u64>,
    /// What was around the value, if anything was taken off; the stream is what was inside.
    pub opened: Option<Arc<Opened>>,
    stream: Stream,
    limits: Limits,
    jobs: usize,
    meter: Arc<Meter>,
    consumed: Arc<AtomicU64>,
    opened_once: AtomicBool,
}

enum Stream {
    /// A regular file: read at explicit positions, so that it can be read again, and standard input
    /// can be a file, too.
    File { file: Arc<File>, start: u64 },
    /// A pipe, a terminal, a device: already decompressed.
    Once(Mutex<Option<Box<dyn Read + Send>>>),
    /// The bytes, already decompressed: those inside an envelope, or all if there is none after all.
    Memory(Arc<[u8]>),
}

impl Source {
    /// Opens `path` (`-` is standard input) and detects its format.
    ///
    /// # Errors
    /// `Usage` if it cannot be opened or its format cannot be detected, `Io` if its beginning
    /// cannot be read.
    pub fn open(path: &Path, wanted: &Wanted, meter: Meter) -> Result<Source> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { "standard input".into() } else { path.display().to_string() };
        let cannot = |error: io::Error| Failure::usage(format!("{name}: {}", plain(&error)));
        let channel = match is_stdin {
            true => regauge_os::stdin().map_err(cannot)?,
            false => match File::open(path) {
                Ok(file) => Channel::File(file),
                // Windows does not open a folder as a file.
                Err(_) if path.is_dir() => return Err(is_folder(&name)),
                Err(error) => return Err(cannot(error)),
            },
        };
        let kind = channel.kind().map_err(cannot)?;
        let unreadable = |error: io::Error| Failure::io(&name, &error);
        let consumed = Arc::new(AtomicU64::new(0));
        let (suffix_compression, stem) = Compression::from_name(if is_stdin { "" } else { &name });
        let mut head = vec![0; HEAD_BYTES];
        let mut tail = None;
        let (stream, size, compression) = match (kind, channel) {
            (Kind::Folder, _) => return Err(is_folder(&name)),
            (Kind::Regular(end), Channel::File(file)) if wanted.encoding.is_none() => {
                let start = match is_stdin {
                    true => io::Seek::stream_position(&mut &file).map_err(cannot)?,
                    false => 0,
                };
                let file = Arc::new(file);
                let mut raw = ReadAt { file: Arc::clone(&file), position: start, end };
                let filled = fill(&mut raw, &mut head).map_err(unreadable)?;
                head.truncate(filled);
                let compression = choose(&name, wanted.compression, suffix_compression, &head)?;
                if let Some(compression) = compression
                    && wanted.form.is_none()
                {
                    raw.position = start;
                    head = peek(compression, raw, &wanted.limits);
                }
                tail = last_bytes(&file, start, end);
                (Stream::File { file, start }, Some(end.saturating_sub(start)), compression)
            }
            (_, channel) => {
                let consumed = Arc::clone(&consumed);
                let packed = Packed { name: &name, suffix: suffix_compression, consumed };
                packed.open(channel, wanted, &mut head)?
            }
        };
        let stem = if is_stdin { "" } else { stem };
        // What is in a compressed file is known only from its first bytes.
        let tail = tail.as_ref().filter(|_| compression.is_none()).map(|tail| &tail[..]);
        let (form, told_by) = match wanted.form {
            Some(form) => (Some(form), ToldBy::Option),
            None => told(&name, stem, &head, tail)?,
        };
        let table = match form {
            Some(Form::Table(table)) => Some(table),
            Some(Form::Format(_)) | None => None,
        };
        if let Some(table) = table {
            if compression.is_none() || told_by == ToldBy::Content {
                table.check_content(&name, &head)?;
            }
            refuse_table(table, wanted, &name)?;
        }
        let format = form.and_then(Form::format);
        let mut source = Source {
            // Replaced if there is an envelope; of a table, one that holds any value.
            format: format.unwrap_or(Format::Msgpack),
            table,
            told_by,
            compression,
            size,
            opened: None,
            stream,
            limits: wanted.limits,
            jobs: wanted.jobs,
            meter: Arc::new(meter.with_total(size)),
            consumed,
            opened_once: AtomicBool::new(false),
            file: name.clone(),
            name,
        };
        if table.is_some() {
            return Ok(source);
        }
        let is_opened = source.open_envelope(wanted, format, &head)?;
        match format {
            None if !is_opened => Err(unknown_format(&source.name, &head, wanted.tables)),
            _ => Ok(source),
        }
    }

    /// Returns what the input is.
    pub fn form(&self) -> Form {
        self.table.map_or(Form::Format(self.format), Form::Table)
    }

    /// Returns whether [`Source::again`] can be called.
    pub fn can_repeat(&self) -> bool {
        !matches!(self.stream, Stream::Once(_))
    }

    /// Bytes read from the file, before decompression.
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Returns the meter that shows reading progress.
    pub fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// Removes the progress bar.
    pub fn finish_progress(&self) {
        self.meter.finish();
    }

    /// Returns the decompressed bytes from the start. Only the first pass counts for the progress
    /// bar; a later one locates an error.
    pub fn again(&self) -> io::Result<Box<dyn Read + Send>> {
        let (file, start) = match &self.stream {
            Stream::File { file, start } => (file, start),
            Stream::Memory(bytes) => return Ok(Box::new(Cursor::new(Arc::clone(bytes)))),
            Stream::Once(_) => return Err(io::Error::other("a stream cannot be read again")),
        };
        let end = start + self.size.unwrap_or(0);
        let raw = ReadAt { file: Arc::clone(file), position: *start, end };
        let first = !self.opened_once.swap(true, Ordering::Relaxed);
        let consumed = if first { Arc::clone(&self.consumed) } else { Arc::default() };
        let raw = Metered { read: raw, meter: first.then(|| Arc::clone(&self.meter)), consumed };
        let raw = Named { read: raw, name: self.name.clone() };
        Ok(match self.compression {
            None => Box::new(raw),
            Some(one) => {
                let decoder = one.decoder(raw, &self.limits)?;
                if self.jobs > 1 && first { Box::new(ReadAhead::new(decoder)) } else { decoder }
            }
        })
    }

    /// Closes the input and returns its name: Windows does not replace a file that is open.
    pub fn close(self) -> String {
        self.name
    }

    /// Returns whether the input supports random access: an uncompressed regular file.
    pub fn is_plain_file(&self) -> bool {
        matches!(self.stream, Stream::File { .. }) && self.compression.is_none()
    }

    /// Returns the input for a reader, which reads it again with `again`, to explain an error, if that is possible.
    ///
    /// # Panics
    /// If called a second time for an input that can be read only once.
    pub fn input<'a>(
        &self,
        again: &'a (dyn Fn() -> io::Result<Box<dyn Read + Send + 'a>> + Sync),
    ) -> Input<'a> {
        if self.can_repeat() { Input::Again(again) } else { Input::Once(self.take()) }
    }

    /// Returns the decompressed bytes of an input that can be read only once.
    ///
    /// # Panics
    /// If called a second time, or for an input that can be read again.
    pub fn take(&self) -> Box<dyn Read + Send> {
        match &self.stream {
            Stream::Once(read) => {
                let read = read.lock().ok().and_then(|mut read| read.take());
                let read = read.expect("a stream is taken once");
                Box::new(Named { read, name: self.name.clone() })
            }
            Stream::File { .. } | Stream::Memory(_) => unreachable!("a file is read again"),
        }
    }
}

/// A plain file whose parts are read by several threads. Everything before the furthest byte counts
/// as read.
impl convert::ReadAt for Source {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let Stream::File { file, start } = &self.stream else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let got = match regauge_os::read_at(file, buffer, start + offset) {
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => return Err(named("read", &self.name, &error)),
        };
        self.opened_once.store(true, Ordering::Relaxed);
        let most = self.size.unwrap_or(u64::MAX);
        let reached = (offset + got as u64).min(most);
        let before = self.consumed.fetch_max(reached, Ordering::Relaxed);
        self.meter.reached(before.max(reached));
        Ok(got)
    }

    fn size(&self) -> io::Result<u64> {
        self.size.ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        self.again()
    }
}

#[cold]
fn is_folder(name: &str) -> Failure {
    Failure::usage(format!("{name}: is a directory, expected a file"))
}

/// Refuses a table where none is read, and options that it does not follow.
fn refuse_table(table: &Table, wanted: &Wanted, name: &str) -> Result {
    let title = table.title;
    let found = match wanted.envelope {
        _ if !wanted.tables => {
            format!(
                "{title}, which only `regauge convert`, `query` and `inspect` read; convert it first"
            )
        }
        _ if wanted.secret.is_some() => {
            format!("{title}, which has no envelope; leave out --secret-file")
        }
        Envelopes::Open | Envelopes::Keep => {
            format!("{title}, which has no envelope; leave out --envelope")
        }
        Envelopes::Never | Envelopes::Auto => return Ok(()),
    };
    Err(Failure::usage(format!("{name}: is {found}")))
}

/// An input that is read once: a pipe, or text that is decoded first.
struct Packed<'p> {
    name: &'p str,
    suffix: Option<Compression>,
    consumed: Arc<AtomicU64>,
}

impl Packed<'_> {
    /// Opens it, with its first bytes, decompressed, in `head`.
    fn open(
        self,
        channel: Channel,
        wanted: &Wanted,
        head: &mut Vec<u8>,
    ) -> Result<(Stream, Option<u64>, Option<Compression>)> {
        let Packed { name, suffix, consumed } = self;
        let unreadable = |error: io::Error| Failure::io(name, &error);
        // What is counted, and shown as the size, is the value itself.
        let raw: Box<dyn Read + Send> = match wanted.encoding {
            Some(encoding) => Box::new(Decoder::new(channel, encoding)),
            None => Box::new(channel),
        };
        let mut raw = Metered { read: raw, meter: None, consumed };
        let filled = fill(&mut raw, head).map_err(unreadable)?;
        head.truncate(filled);
        let compression = choose(name, wanted.compression, suffix, head)?;
        let whole = Cursor::new(head.clone()).chain(raw);
        let mut plain: Box<dyn Read + Send> = match compression {
            None => Box::new(whole),
            Some(one) => {
                let decoder = one.decoder(whole, &wanted.limits).map_err(unreadable)?;
                if wanted.jobs > 1 { Box::new(ReadAhead::new(decoder)) } else { decoder }
            }
        };
        if compression.is_some() && wanted.form.is_none() {
            head.resize(HEAD_BYTES, 0);
            let filled = fill(&mut plain, head).map_err(unreadable)?;
            head.truncate(filled);
            plain = Box::new(Cursor::new(head.clone()).chain(plain));
        }
        let (stream, size) = match wanted.encoding {
            Some(_) => small(plain).map_err(unreadable)?,
            None => (Stream::Once(Mutex::new(Some(plain))), None),
        };
        Ok((stream, size, compression))
    }
}

/// Identifies a file by its name, or by its content if the name has no known suffix.
fn told(
    name: &str,
    stem: &str,
    head: &[u8],
    tail: Option<&[u8]>,
) -> Result<(Option<Form>, ToldBy)> {
    if let Some(table) = Table::from_name(stem) {
        return Ok((Some(Form::Table(table)), ToldBy::Name));
    }
    let named = Format::from_name(stem).is_some();
    if !named && let Some(table) = Table::from_content(head, tail) {
        return Ok((Some(Form::Table(table)), ToldBy::Content));
    }
    let told = detect::detect(stem, head)
        .map_err(|error| Failure::usage(format!("{name}: {}", words::text(&error))))?;
    Ok((told.map(Form::Format), if named { ToldBy::Name } else { ToldBy::Content }))
}

/// Returns the last bytes of a regular file, which identify a table.
fn last_bytes(file: &File, start: u64, end: u64) -> Option<[u8; 4]> {
    let mut tail = [0; 4];
    let offset = end.checked_sub(tail.len() as u64).filter(|offset| *offset >= start)?;
    let got = regauge_os::read_at(file, &mut tail, offset).ok()?;
    (got == tail.len()).then_some(tail)
}

/// Holds a decoded input in memory if it is small: such a value is looked at more than once. Returns its size then.
fn small(mut read: Box<dyn Read + Send>) -> io::Result<(Stream, Option<u64>)> {
    let mut bytes = Vec::new();
    read.by_ref().take(SMALL_BYTES).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < SMALL_BYTES {
        let size = bytes.len() as u64;
        return Ok((Stream::Memory(bytes.into()), Some(size)));
    }
    Ok((Stream::Once(Mutex::new(Some(Box::new(Cursor::new(bytes).chain(read))))), None))
}

/// Determines the compression: from the option, else the suffix, else the first bytes.
///
/// # Errors
/// `Usage` if the suffix and the first bytes contradict each other.
fn choose(
    name: &str,
    wanted: Option<Option<Compression>>,
    suffix: Option<Compression>,
    head: &[u8],
) -> Result<Option<Compression>> {
    match (wanted, suffix) {
        (Some(told), _) => Ok(told),
        (None, None) => Ok(Compression::from_magic(head)),
        (None, Some(one)) if head.is_empty() || one.can_begin(head) => Ok(Some(one)),
        (None, Some(one)) => {
            let begins = detect::shown(&head[..head.len().min(8)]);
            Err(Failure::usage(format!(
                "{name}: begins with \"{begins}\", which is not {}; pass --decompress with what it is, or none",
                one.name()
            )))
        }
    }
}

/// Returns the first decompressed bytes; fewer if the data is broken, which shows again later.
fn peek(compression: Compression, raw: ReadAt, limits: &Limits) -> Vec<u8> {
    let mut head = vec![0; HEAD_BYTES];
    let mut filled = 0;
    if let Ok(mut decoder) = compression.decoder(raw, limits) {
        while filled < head.len() {
            match decoder.read(&mut head[filled..]) {
                Ok(0) | Err(_) => break,
                Ok(got) => filled += got,
            }
        }
    }
    head.truncate(filled);
    head
}

/// Reads until the buffer is full or the stream ends.
fn fill(read: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn unknown_format(name: &str, head: &[u8], takes_tables: bool) -> Failure {
    if head.is_empty() {
        return Failure::usage(format!(
            "{name}: is empty, expected a document; for a stream without documents, pass --from ndjson or the like"
        ));
    }
    if let Some(other) = detect::other(head) {
        let names = Form::names(takes_tables);
        return Failure::usage(format!("{name}: looks like {other}, expected one of {names}"));
    }
    Failure::usage(format!(
        "{name}: cannot tell the format, it begins with \"{}\"; pass --from with one of {}",
        detect::shown(&head[..head.len().min(16)]),
        Form::names(takes_tables)
    ))
}

/// Reads from a file at a position of its own.
struct ReadAt {
    file: Arc<File>,
    position: u64,
    /// Size of the file when it was opened.
    end: u64,
}

impl Read for ReadAt {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = regauge_os::read_at(&self.file, buffer, self.position)?;
        if got == 0 && !buffer.is_empty() && self.position < self.end {
            return Err(io::Error::other(convert::shrunk(self.position)));
        }
        self.position += got as u64;
        Ok(got)
    }
}

/// Counts bytes read, for the report and the progress bar.
struct Metered<R> {
    read: R,
    meter: Option<Arc<Meter>>,
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.read.read(buffer)?;
        let all = self.consumed.fetch_add(got as u64, Ordering::Relaxed) + got as u64;
        if let Some(meter) = &self.meter {
            meter.reached(all);
        }
        Ok(got)
    }
}

/// Adds the file's name to system errors.
struct Named<R> {
    read: R,
    name: String,
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read.read(buffer).map_err(|error| match error.raw_os_error() {
            Some(_) if error.kind() != io::ErrorKind::Interrupted => {
                named("read", &self.name, &error)
            }
            _ => error,
        })
    }
}

mod envelope;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::When;

    #[test]
    fn a_file_that_shrinks_while_it_is_read_is_not_taken_for_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.ndjson");
        let wanted = Wanted::plain(None);
        std::fs::write(&path, "1\n2\n3\n").unwrap();
        let source = Source::open(&path, &wanted, Meter::new(When::Never, true)).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(4).unwrap();
        let mut bytes = Vec::new();
        let error = source.again().unwrap().read_to_end(&mut bytes).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("byte 4: found the end of a file that has shrunk"), "{text}");
    }
}
