//! Files that are tables with a footer: they are read at any position, and written with all of their columns known.
//!
//! The library's formats are streams of bytes in both directions, and their table has the code of each. A row of
//! [`TABLES`] has the same facts as one there, and the code that reads and writes the file, if this build has it.
//! `--from` and `--to` take either: a [`Form`].

#[cfg(feature = "parquet")]
mod parquet;

use std::fmt::{self, Debug};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use regauge::convert::{Given, Summary, convert_given, read_given};
use regauge::{Error, Format, Limits, OnLoss, Options, Sink, Writer};

use crate::args::{Packed, near};
use crate::failure::{Failure, Result};
use crate::flags::parquet::Flags;
use crate::input::Source;
use crate::output::Outlet;
use regauge_packing::files::Compression;

/// Every kind of table.
pub static TABLES: [Table; 1] = [Table {
    name: "parquet",
    title: "Parquet",
    suffixes: &["parquet", "parq", "pq"],
    magic: b"PAR1",
    cannot_hold: &[
        "values of several types in a column",
        "fields that a document lacks (null)",
        "duplicate keys",
        "decimals beyond 38 digits",
        "UUIDs and ObjectIds (text)",
        "extension types",
        "classes, tags and symbols",
        "shared references",
        "text that is not UTF-8",
    ],
    #[cfg(feature = "parquet")]
    code: Some(&parquet::Parquet),
    #[cfg(not(feature = "parquet"))]
    code: None,
}];

/// A row: the facts, as in [`regauge::format::Info`], and the code.
pub struct Table {
    /// The name on the command line.
    pub name: &'static str,
    /// The name in prose.
    pub title: &'static str,
    /// File name suffixes without the dot, in lower case.
    pub suffixes: &'static [&'static str],
    /// The first and the last bytes of a file.
    magic: &'static [u8],
    /// What the kind cannot hold of the event model, in words.
    pub cannot_hold: &'static [&'static str],
    /// `None` if this build was made without the feature of this name.
    code: Option<&'static dyn Code>,
}

/// The code of a kind of table.
trait Code: Sync {
    /// Opens a file.
    fn rows(&self, source: Arc<Source>, limits: &Limits) -> regauge::Result<Box<dyn Rows>>;

    /// Checks what the command line asks of a file to be written.
    fn plan(&self, asked: &Asked<'_>) -> Result<Box<dyn Plan>>;
}

/// The rows of a file that is being read.
pub trait Rows: Send {
    /// Sends the next row; returns `false` at the end.
    fn next(&mut self, sink: &mut dyn Sink) -> regauge::Result<bool>;

    /// Sends rows with the columns of MARC records as such records from now on.
    fn as_records(&mut self);

    /// Returns how many rows the file has.
    fn count(&self) -> u64;

    /// Returns facts about the file, each with its name.
    fn facts(&self) -> Vec<(&'static str, String)>;
}

/// A file that is about to be written.
pub trait Plan: Send + Sync {
    /// Writes the documents that `read` sends.
    fn write(
        &self,
        out: &mut Outlet,
        options: &Options,
        read: &mut Read<'_>,
    ) -> regauge::Result<Summary>;
}

/// Sends documents to a sink.
pub type Read<'r> = dyn FnMut(&mut dyn Writer) -> regauge::Result<Summary> + 'r;

/// What the command line asks of a file to be written.
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "no code of a table reads it"))]
pub struct Asked<'a> {
    pub flags: &'a Flags,
    pub compress: Option<Packed>,
    pub level: Option<u32>,
    pub on_loss: OnLoss,
    /// Whether the documents are MARC records, as they were read.
    pub is_marc: bool,
    pub limits: Limits,
}

impl Table {
    /// Returns the table with this file name's suffix.
    pub fn from_name(name: &str) -> Option<&'static Table> {
        let name = name.to_ascii_lowercase();
        let fits =
            |suffix: &&str| name.strip_suffix(*suffix).is_some_and(|stem| stem.ends_with('.'));
        TABLES.iter().find(|table| table.suffixes.iter().any(&fits))
    }

    /// Returns the table whose first and last bytes these are. `tail` is `None` for a stream, whose end cannot be read
    /// yet.
    pub fn from_content(head: &[u8], tail: Option<&[u8]>) -> Option<&'static Table> {
        // Text may begin with the same letters.
        let is_binary = |head: &[u8]| head.get(4).is_some_and(u8::is_ascii_control);
        TABLES.iter().find(|table| {
            head.starts_with(table.magic)
                && tail.map_or_else(|| is_binary(head), |tail| tail.ends_with(table.magic))
        })
    }

    /// Refuses a file that is no such table.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check_content(&self, name: &str, head: &[u8]) -> Result {
        if head.starts_with(self.magic) {
            return Ok(());
        }
        let found = match head {
            [] => "it is empty".to_owned(),
            _ => format!("it begins with \"{}\"", head[..head.len().min(16)].escape_ascii()),
        };
        Err(Failure::usage(format!("{name}: is not {}: {found}", self.title)))
    }

    /// Returns whether this build reads and writes it.
    pub fn is_built(&self) -> bool {
        self.code.is_some()
    }

    fn code(&self) -> Result<&'static dyn Code> {
        self.code.ok_or_else(|| {
            Failure::usage(format!(
                "this regauge was built without {}; build it with `cargo build --release -p regauge-cli \
                 --features {}`",
                self.title, self.name
            ))
        })
    }

    /// Opens a file.
    ///
    /// # Errors
    /// `Usage` if this build cannot, or the input cannot be read at any position; those of reading.
    pub fn open(&self, source: &Arc<Source>, limits: &Limits) -> Result<Box<dyn Rows>> {
        let code = self.code()?;
        self.check_source(source)?;
        code.rows(Arc::clone(source), limits).map_err(|error| Failure::data(&source.name, error))
    }

    /// Refuses an input that cannot be read at any position.
    ///
    /// # Errors
    /// `Usage`.
    fn check_source(&self, source: &Source) -> Result {
        let Source { name, .. } = source;
        if source.compression.is_some() {
            return Err(Failure::usage(format!(
                "{name}: is compressed as a whole, and {} is read at any position; decompress it first",
                self.title
            )));
        }
        if !source.can_repeat() {
            return Err(Failure::usage(format!(
                "{name}: is a pipe, and {} is read from its end; write it to a file first",
                self.title
            )));
        }
        Ok(())
    }

    /// Checks what the command line asks of a file to be written.
    ///
    /// # Errors
    /// `Usage`; those of reading the file that gives the columns.
    pub fn plan(&self, asked: &Asked<'_>) -> Result<Box<dyn Plan>> {
        self.code()?.plan(asked)
    }
}

impl Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What a file is: a stream in one of the library's formats, or a table.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    Format(Format),
    Table(&'static Table),
}

impl Form {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Form::Format(format) => format.name(),
            Form::Table(table) => table.name,
        }
    }

    /// Returns the name in prose.
    pub fn title(self) -> &'static str {
        match self {
            Form::Format(format) => format.title(),
            Form::Table(table) => table.title,
        }
    }

    /// Returns whether a terminal can show it.
    pub fn is_text(self) -> bool {
        matches!(self, Form::Format(format) if format.is_text())
    }

    /// Returns the format, if it is one of the library's.
    pub fn format(self) -> Option<Format> {
        match self {
            Form::Format(format) => Some(format),
            Form::Table(_) => None,
        }
    }

    /// Returns the form with this file name's suffix.
    pub fn from_name(name: &str) -> Option<Form> {
        let table = Table::from_name(name).map(Form::Table);
        table.or_else(|| Format::from_name(name).map(Form::Format))
    }

    /// Returns all names, or those of the formats alone, for a message.
    pub fn names(with_tables: bool) -> String {
        let count = if with_tables { usize::MAX } else { Format::ALL.len() };
        Form::all().take(count).collect::<Vec<_>>().join(", ")
    }

    fn all() -> impl Iterator<Item = &'static str> {
        let forms = Format::ALL.into_iter().map(Form::Format).chain(TABLES.iter().map(Form::Table));
        forms.map(Form::name)
    }
}

impl From<Format> for Form {
    fn from(format: Format) -> Form {
        Form::Format(format)
    }
}

impl PartialEq<Format> for Form {
    fn eq(&self, other: &Format) -> bool {
        self.format() == Some(*other)
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Form, String> {
        let lower = name.to_ascii_lowercase();
        let is = |table: &&Table| table.name == lower || table.suffixes.contains(&&*lower);
        if let Some(table) = TABLES.iter().find(is) {
            return Ok(Form::Table(table));
        }
        let format = name.parse().map(Form::Format);
        format.map_err(|_: String| {
            let near = near(name, Form::all());
            format!("unknown format `{name}`: known are {}{near}", Form::names(true))
        })
    }
}

/// Converts the rows of a file to a format.
///
/// # Errors
/// As [`convert_given`].
pub fn from_table(
    rows: &mut dyn Rows,
    outlet: &mut Outlet,
    options: &Options,
) -> std::result::Result<Summary, Error> {
    if options.to.is_marc() {
        rows.as_records();
    }
    let count = Some(rows.count());
    convert_given(Given { next: &mut |sink| rows.next(sink), count }, outlet, options)
}

/// Sends the rows of a file to a sink.
///
/// # Errors
/// As [`read_given`].
pub fn read_table(
    rows: &mut dyn Rows,
    options: &Options,
    sink: &mut dyn Writer,
) -> std::result::Result<Summary, Error> {
    let count = Some(rows.count());
    read_given(Given { next: &mut |sink| rows.next(sink), count }, options, sink)
}

/// Refuses a compression around a file that compresses its pages.
///
/// # Errors
/// `Usage`.
pub fn check_whole(table: &Table, path: &Path, compression: Option<Compression>) -> Result {
    match compression {
        None => Ok(()),
        Some(_) => Err(Failure::usage(format!(
            "{}: {} compresses its pages, and is read at any position; drop the second suffix and pass --compress",
            path.display(),
            table.title
        ))),
    }
}
