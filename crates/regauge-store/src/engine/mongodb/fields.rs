//! Documents of commands, fields of documents, and the driver's errors.

use std::collections::HashMap;

use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Binary, Bson, Document, RawBsonRef, RawDocument, doc};
use mongodb::error::{Error as DriverError, ErrorKind, WriteFailure};

use super::keys::Form;
use crate::engine::column::{Stored, from_text};
use crate::engine::runtime::lost;
use crate::engine::{Change, Layout, PAGE_BYTES};
use crate::error::{Error, Result};

/// Bytes of changes per command: a message may have 48 MB.
const COMMAND_BYTES: usize = 24 << 20;
/// Changes per command; a server accepts 100,000.
const COMMAND_CHANGES: usize = 10_000;
/// The limit for FerretDB 1 on SQLite: it leaves the query of every change open until its command
/// ends, each on one of its 100 connections to the file, and then waits forever for another one.
const FERRET_CHANGES: usize = 8;
/// New documents per command for FerretDB, which writes them by the hundred.
const FERRET_INSERTS: usize = 1_000;
/// The page size for FerretDB: it reads its whole collection for any range, so few large pages are
/// best.
const FERRET_PAGE_BYTES: usize = 32 << 20;

/// Server error codes that do not count as failures here.
pub(super) const NAMESPACE_EXISTS: i32 = 48;
pub(super) const DUPLICATE_KEY: i32 = 11_000;

/// A command without its changes, the name of their list, and the changes.
pub(super) type Command = (Document, &'static str, Vec<Document>);

/// The server, and its limits.
pub(super) struct Server {
    /// "MongoDB 8.0.4"; FerretDB reports its own name.
    pub(super) name: String,
    /// Changes per command.
    pub(super) changes: usize,
    /// New documents per command, if trying an insert first is worth it: FerretDB takes 5 to 8 ms
    /// for an update that creates a document.
    pub(super) inserts: Option<usize>,
    /// Whether the server locks what a command changes until it ends, so that two commands must not
    /// have the same keys in different orders.
    pub(super) locks: bool,
    /// Bytes of values per page.
    pub(super) page_bytes: usize,
}

impl Server {
    /// Parses the answer to `buildInfo`.
    pub(super) fn new(built: &Document) -> Server {
        let version = |of: &Document, name: &str| of.get_str(name).map(str::to_owned).ok();
        let nested = built.get_document("ferretdb").ok().and_then(|one| version(one, "version"));
        let server = |name, locks, page_bytes| {
            let (changes, inserts) = (COMMAND_CHANGES, None);
            Server { name, changes, inserts, locks, page_bytes }
        };
        let Some(ferret) = nested.or_else(|| version(built, "ferretdbVersion")) else {
            let name = format!("MongoDB {}", version(built, "version").unwrap_or_default());
            return server(name, false, PAGE_BYTES);
        };
        let ferret = ferret.trim_start_matches('v');
        let major = ferret.split('.').next().and_then(|major| major.parse().ok());
        if major.is_some_and(|major: u32| major >= 2) {
            // PostgreSQL with DocumentDB does the work, and also sorts whole ranges.
            return server(format!("FerretDB {ferret}"), true, FERRET_PAGE_BYTES);
        }
        Server {
            // Version 1 does not know its own version if it was built as a library.
            name: if major.is_some() {
                format!("FerretDB {ferret}")
            } else {
                "FerretDB".to_owned()
            },
            changes: FERRET_CHANGES,
            inserts: Some(FERRET_INSERTS),
            locks: false,
            page_bytes: FERRET_PAGE_BYTES,
        }
    }
}

/// Builds a command that inserts the leading changes, as far as they are values of new keys, and
/// returns how many those are. `None` if the first change is of another kind.
pub(super) fn insertion(
    layout: &Layout,
    form: Form,
    changes: &[Change<'_>],
    at_most: usize,
) -> Result<Option<(Command, usize)>> {
    let mut all = Vec::new();
    let mut bytes = 0;
    for (key, value) in changes.iter().take(at_most) {
        let Some(value) = value else { break };
        bytes += key.len() + value.len();
        if !all.is_empty() && bytes > COMMAND_BYTES {
            break;
        }
        let mut document = Document::new();
        document.insert(&layout.key, form.field(layout, key)?);
        document.insert(&layout.value, stored(layout, value));
        all.push(document);
    }
    let count = all.len();
    Ok((count > 0).then(|| ((doc! { "insert": &layout.table }, "documents", all), count)))
}

/// Builds the server's commands for the changes, keeping only the last change of a key; `at_most`
/// per command.
pub(super) fn commands(
    layout: &Layout,
    form: Form,
    changes: &[Change<'_>],
    at_most: usize,
) -> Result<Vec<Command>> {
    let last: HashMap<&[u8], usize> =
        changes.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
    let mut commands: Vec<Command> = Vec::new();
    let mut bytes = 0;
    for (place, (key, value)) in changes.iter().enumerate() {
        if last[key] != place {
            continue;
        }
        let mut filter = Document::new();
        filter.insert(&layout.key, form.field(layout, key)?);
        let (name, list, one) = match value {
            Some(value) => {
                let mut set = Document::new();
                set.insert(&layout.value, stored(layout, value));
                ("update", "updates", doc! { "q": filter, "u": { "$set": set }, "upsert": true })
            }
            None => ("delete", "deletes", doc! { "q": filter, "limit": 1 }),
        };
        bytes += key.len() + value.map_or(0, <[u8]>::len);
        match commands.last_mut() {
            Some((_, last, all))
                if *last == list && all.len() < at_most && bytes <= COMMAND_BYTES =>
            {
                all.push(one);
            }
            _ => {
                bytes = value.map_or(0, <[u8]>::len);
                let mut head = Document::new();
                head.insert(name, layout.table.clone());
                commands.push((head, list, vec![one]));
            }
        }
    }
    Ok(commands)
}

/// Returns the first change of a command that the server has not done, or its failure to make it
/// durable.
pub(super) fn first_error(answer: &Document) -> Option<&Document> {
    let errors = answer.get_array("writeErrors").ok();
    let first = errors.and_then(|all| all.first()).and_then(Bson::as_document);
    first.or_else(|| answer.get_document("writeConcernError").ok())
}

/// Returns the condition that a document has a value; regauge's own collections have no other
/// documents.
pub(super) fn with_value(layout: &Layout) -> Document {
    let mut filter = Document::new();
    if layout.key != "_id" || layout.value != "value" || layout.text {
        filter.insert(&layout.value, doc! { "$ne": null });
    }
    filter
}

/// Returns the projection on one field; `_id` is included only on request.
pub(super) fn only(name: &str) -> Document {
    let mut fields = Document::new();
    if name != "_id" {
        fields.insert("_id", 0);
    }
    fields.insert(name, 1);
    fields
}

pub(super) fn binary(bytes: &[u8]) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: bytes.to_vec() })
}

pub(super) fn stored(layout: &Layout, value: &[u8]) -> Bson {
    match Stored::new(layout, value) {
        Stored::Bytes(bytes) => binary(bytes),
        Stored::Text(text) => Bson::String(text.into_owned()),
    }
}

pub(super) fn field<'d>(document: &'d RawDocument, name: &str) -> Result<Option<RawBsonRef<'d>>> {
    document.get(name).map_err(|error| unreadable(&error))
}

/// Returns what a dotted path names in a document and the documents in it; of an array on the way, the array.
pub(super) fn at_path<'d>(document: &'d RawDocument, path: &str) -> Result<Option<RawBsonRef<'d>>> {
    let mut found = Some(RawBsonRef::Document(document));
    for name in path.split('.') {
        found = match found {
            Some(RawBsonRef::Document(inner)) => field(inner, name)?,
            Some(RawBsonRef::Array(_)) => return Ok(found),
            _ => return Ok(None),
        };
    }
    Ok(found)
}

/// Returns the bytes of a stored value; `None` if there is none. An embedded document is returned
/// as BSON.
pub(super) fn bytes_of(layout: &Layout, value: Option<RawBsonRef<'_>>) -> Result<Option<Vec<u8>>> {
    Ok(Some(match value {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => return Ok(None),
        Some(RawBsonRef::Binary(binary)) => binary.bytes.to_vec(),
        Some(RawBsonRef::String(text)) if layout.text => from_text(text.as_bytes()),
        Some(RawBsonRef::String(text)) => text.as_bytes().to_vec(),
        Some(RawBsonRef::Document(document)) => document.as_bytes().to_vec(),
        Some(RawBsonRef::Int32(number)) => number.to_string().into_bytes(),
        Some(RawBsonRef::Int64(number)) => number.to_string().into_bytes(),
        Some(RawBsonRef::Double(number)) => number.to_string().into_bytes(),
        Some(other) => {
            return Err(Error::usage(format!(
                "collection {}: field {} holds a value of type {:?}, expected binary, text or a \
                 document",
                layout.table,
                layout.value,
                other.element_type()
            )));
        }
    }))
}

/// Returns the two sums of a count; `None` if they are not numbers.
pub(super) fn numbers(sums: &RawDocument) -> Option<(u64, u64)> {
    let number = |name: &str| match sums.get(name).ok().flatten()? {
        RawBsonRef::Int32(number) => u64::try_from(number).ok(),
        RawBsonRef::Int64(number) => u64::try_from(number).ok(),
        RawBsonRef::Double(number) if number >= 0.0 => Some(number as u64),
        _ => None,
    };
    Some((number("values")?, number("bytes")?))
}

pub(super) fn unreadable(error: &dyn std::fmt::Display) -> Error {
    Error::Engine {
        doing: "read what the server sent".to_owned(),
        message: error.to_string(),
        passing: false,
    }
}

pub(super) fn code(error: &DriverError) -> Option<i32> {
    match &*error.kind {
        ErrorKind::Command(command) => Some(command.code),
        _ => None,
    }
}

pub(super) fn is_duplicate(error: &DriverError) -> bool {
    matches!(&*error.kind,
        ErrorKind::Write(WriteFailure::WriteError(error)) if error.code == DUPLICATE_KEY)
}

/// Converts the driver's error. `harmless`: the call may be repeated, whatever became of this one.
pub(super) fn failed(doing: &str, harmless: bool) -> impl Fn(DriverError) -> Error + '_ {
    move |error| {
        let words = error.kind.to_string();
        let (doing, message, passing) = match &*error.kind {
            ErrorKind::ServerSelection { .. }
            | ErrorKind::ConnectionPoolCleared { .. }
            | ErrorKind::DnsResolve { .. } => (format!("{doing}: no connection"), words, true),
            ErrorKind::Io(_) if harmless => {
                (doing.to_owned(), format!("the connection was lost ({words})"), true)
            }
            ErrorKind::Io(_) => (doing.to_owned(), lost(&words), false),
            // A transaction that failed this way leaves nothing behind.
            _ => (doing.to_owned(), words, error.contains_label("TransientTransactionError")),
        };
        Error::Engine { doing, message, passing }
    }
}
