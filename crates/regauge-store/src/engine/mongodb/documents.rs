//! One field of the documents of another program's collection in MongoDB.
//!
//! Like [`cells`](crate::cells) for a column of a table, this needs to know nothing of what is in the field, and keeps
//! nothing of its own in the database. A value is replaced only if it still is what was read.
//!
//! - **Values** are binary data of any subtype, or text. A document in which the field is missing, null or of another
//!   type is handed out without a value.
//! - **Order**: the server's own, by one cursor, so that nothing is sorted and every type of `_id` will do. What is
//!   there all the time comes exactly once.
//! - **Reads** take the read preference and the read concern of the URL. What is compared and replaced is on the
//!   primary, and acknowledged by the majority unless the URL says otherwise.
//! - **Memory**: what the server sends at once, 16 MiB at most.

use std::collections::BTreeSet;
use std::mem;

use mongodb::bson::{Binary, Bson, Document as Query, RawBsonRef, RawDocumentBuf, doc};
use mongodb::error::{Error as DriverError, ErrorKind, WriteFailure};
use mongodb::options::ReadPreference;
use mongodb::results::CollectionType;
use mongodb::{Collection, Cursor, IndexModel};

use super::fields::{DUPLICATE_KEY, at_path, code, failed, field, unreadable};
use super::ttl::Expiry;
use super::{LOOKED_AT, MongoDb, ids};
use crate::cells::{Access, Swapped, listed};
use crate::error::{Error, Result};

/// Server error codes by which a collection refuses a value, but not every value: its validation rules, a capped
/// collection whose documents keep their size, a document that is too large.
const UNFIT: [i32; 6] = [121, 10_003, 10_334, 17_419, 17_420, DUPLICATE_KEY];

/// The server's error code for a user who may not do this.
const UNAUTHORIZED: i32 = 13;

/// Which field of which collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The collection.
    pub collection: String,
    /// The name of the field; one in embedded documents has dots.
    pub path: String,
}

/// What the field of a document holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held<'a> {
    /// Binary data.
    Bytes(&'a [u8]),
    /// Text.
    Text(&'a str),
    /// Nothing, or null.
    Absent,
    /// A value of another type.
    Other,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document<'a> {
    /// Its `_id` as text, by which [`Documents::swap`] finds it.
    pub key: String,
    /// What the field holds.
    pub held: Held<'a>,
    /// When it expires, in milliseconds since 1970, UTC; `None` for never, and if [`Documents::knows_expiry`] is false.
    pub expires_at: Option<i64>,
}

/// The documents of a collection.
pub struct Documents {
    server: MongoDb,
    collection: Collection<RawDocumentBuf>,
    field: Field,
    access: Access,
    expiry: Expiry,
    /// Whether the collection takes different texts for equal.
    collates: bool,
}

/// A walk over the documents. Dropped before its end, it leaves a cursor that the server closes after some minutes.
pub struct Reading<'d> {
    documents: &'d Documents,
    /// `Some` until it is dropped.
    cursor: Option<Cursor<RawDocumentBuf>>,
}

impl Documents {
    /// Connects to the database of a URL, `mongodb://…` or `mongodb+srv://…`, and finds the collection and the field.
    ///
    /// # Errors
    /// `Usage` for a collection that does not exist, or a field that no document has; both name what is there. `Usage`
    /// for a view or a time series. `Engine` if the server cannot be reached, or refuses the user.
    pub fn open(url: &str, field: Field, access: Access) -> Result<Documents> {
        check_path(&field)?;
        let server = MongoDb::open(url)?;
        if access == Access::Write && matches!(server.write_concern.get_i32("w"), Ok(0)) {
            return Err(Error::usage(
                "found w=0 in the URL: the server then does not acknowledge writes; remove it",
            ));
        }
        let mut documents = Documents {
            collection: server.database.collection(&field.collection),
            server,
            field,
            access,
            expiry: Expiry::default(),
            collates: false,
        };
        documents.look_at_collection()?;
        documents.look_for_field()?;
        documents.expiry = Expiry::new(&documents.indexes()?);
        Ok(documents)
    }

    /// Returns the name of the server for display: `MongoDB 8.0.4`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.server.server.name
    }

    /// Returns whether the collection says when its documents expire, by TTL indexes that are for all of them.
    #[must_use]
    pub fn knows_expiry(&self) -> bool {
        self.expiry.is_known()
    }

    /// Begins to read all documents, this many per request.
    ///
    /// # Errors
    /// `Engine`.
    pub fn read(&self, batch: u32) -> Result<Reading<'_>> {
        let cursor = self.server.ask("read a collection", async {
            let find = self.collection.find(doc! {}).projection(self.projection());
            find.batch_size(batch).await
        })?;
        Ok(Reading { documents: self, cursor: Some(cursor) })
    }

    /// Replaces a value if it still is `old`, byte by byte, in one update. `key` is [`Document::key`]. Text stays text,
    /// and binary data keeps its subtype.
    ///
    /// # Errors
    /// `Engine`: the server refuses to write, or the connection was lost. `Usage` for a key that no document can have,
    /// and if this was opened to read only.
    pub fn swap(&self, key: &str, old: &[u8], new: &[u8]) -> Result<Swapped> {
        let Field { collection, path } = &self.field;
        if self.access == Access::Read {
            return Err(Error::usage(format!("found {collection} opened to read only")));
        }
        let id = ids::parse(key).ok_or_else(|| {
            Error::usage(format!("collection {collection}: found the key {key}, which is no _id"))
        })?;
        let doing = format!("replace {path} of {key:?} in {collection}");
        // A condition on a document as the _id would be one on its fields.
        let mut filter = match id {
            Bson::Document(id) => doc! { "_id": { "$eq": id } },
            id => doc! { "_id": id },
        };
        let primary = ReadPreference::Primary;
        let found = self.server.ask(&doing, async {
            let find = self.collection.find_one(filter.clone()).projection(self.projection());
            find.selection_criteria(primary.into()).await
        })?;
        let Some(document) = found else { return Ok(Swapped::Gone) };
        let (before, after) = match at_path(&document, path)? {
            None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => return Ok(Swapped::Gone),
            Some(RawBsonRef::Binary(found)) if found.bytes == old => {
                let of = |bytes: &[u8]| Binary { subtype: found.subtype, bytes: bytes.to_vec() };
                (Bson::Binary(of(old)), Bson::Binary(of(new)))
            }
            Some(RawBsonRef::String(found)) if found.as_bytes() == old => {
                if self.collates {
                    return Ok(Swapped::Unfit(COLLATES.to_owned()));
                }
                let Ok(text) = str::from_utf8(new) else {
                    return Ok(Swapped::Unfit(NOT_TEXT.to_owned()));
                };
                (found.into(), text.into())
            }
            Some(_) => return Ok(Swapped::Changed),
        };
        filter.insert(path, before);
        // An array that holds the value meets the condition on the value as well.
        filter.insert(format!("{path}.0"), doc! { "$exists": false });
        let mut set = Query::new();
        set.insert(path, after);
        self.server.written(&doing, async {
            match self.collection.update_one(filter, doc! { "$set": set }).await {
                Ok(done) if done.matched_count == 1 => Ok(Swapped::Done),
                Ok(_) => Ok(Swapped::Changed),
                Err(error) => match unfit(&error) {
                    Some(words) => Ok(Swapped::Unfit(words)),
                    None => Err(refused(&doing, error)),
                },
            }
        })
    }

    /// Returns what is read of a document.
    fn projection(&self) -> Query {
        let mut fields = doc! { "_id": 1 };
        let path = &self.field.path;
        fields.insert(path, 1);
        // A server takes no two of which one is in the other; what has the value in it, or is in it, is no date.
        let is_in = |one: &str, other: &str| {
            one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        for date in self.expiry.paths() {
            if !is_in(date, path) && !is_in(path, date) {
                fields.insert(date, 1);
            }
        }
        fields
    }

    fn look_at_collection(&mut self) -> Result {
        let name = &self.field.collection;
        let all = self.server.ask("list the collections", async {
            let mut cursor = self.server.database.list_collections().await?;
            let mut all = Vec::new();
            while cursor.advance().await? {
                all.push(cursor.deserialize_current()?);
            }
            Ok(all)
        })?;
        let Some(found) = all.iter().find(|one| one.name == *name) else {
            let mut names: Vec<_> = all.into_iter().map(|one| one.name).collect();
            names.retain(|name| !name.starts_with("system."));
            names.sort();
            let found = match &names[..] {
                [] => "has no collections".to_owned(),
                some => format!("has {}", listed(some)),
            };
            return Err(Error::usage(format!("found no collection {name}; the database {found}")));
        };
        let kind = match found.collection_type {
            CollectionType::View => "view",
            CollectionType::Timeseries => "time series",
            _ => {
                self.collates = found.options.collation.is_some();
                return Ok(());
            }
        };
        Err(Error::usage(format!("found {name}, which is a {kind}; name an ordinary collection")))
    }

    /// Checks that a document has the field, unless there is none at all.
    fn look_for_field(&self) -> Result {
        const DOING: &str = "look at a collection";
        let Field { collection, path } = &self.field;
        let mut names = BTreeSet::new();
        let found = self.server.waited(DOING, async {
            let find = self.collection.find(doc! {}).limit(LOOKED_AT);
            let mut cursor = find.await.map_err(failed(DOING, true))?;
            while cursor.advance().await.map_err(failed(DOING, true))? {
                let document = cursor.current();
                if at_path(document, path)?.is_some() {
                    return Ok(true);
                }
                let found = document.iter().filter_map(std::result::Result::ok);
                names.extend(found.map(|(name, _)| name.as_str().to_owned()));
            }
            Ok(false)
        })?;
        if found || names.is_empty() {
            return Ok(());
        }
        let mut has = Query::new();
        has.insert(path, doc! { "$exists": true });
        let any = self.server.ask("look for the field", async {
            self.collection.find_one(has).projection(doc! { "_id": 1 }).await
        })?;
        if any.is_some() {
            return Ok(());
        }
        let names = listed(&Vec::from_iter(names));
        Err(Error::usage(format!(
            "collection {collection}: no document has the field {path}; the first have {names}"
        )))
    }

    fn indexes(&self) -> Result<Vec<IndexModel>> {
        self.server.ask("look at the indexes of a collection", async {
            let mut found = Vec::new();
            let mut cursor = self.collection.list_indexes().await?;
            while cursor.advance().await? {
                found.push(cursor.deserialize_current()?);
            }
            Ok(found)
        })
    }
}

impl Reading<'_> {
    /// Returns the next document; `None` after the last one.
    ///
    /// # Errors
    /// `Engine`. What precedes was read; what follows needs a new reading.
    pub fn advance(&mut self) -> Result<Option<Document<'_>>> {
        const DOING: &str = "read a collection";
        let Documents { server, field: Field { path, .. }, expiry, .. } = self.documents;
        let Some(cursor) = &mut self.cursor else { return Ok(None) };
        if !server.ask(DOING, cursor.advance())? {
            return Ok(None);
        }
        let document = cursor.current();
        let id = field(document, "_id")?.ok_or_else(|| unreadable(&"a document without an _id"))?;
        let held = match at_path(document, path)? {
            None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => Held::Absent,
            Some(RawBsonRef::Binary(binary)) => Held::Bytes(binary.bytes),
            Some(RawBsonRef::String(text)) => Held::Text(text),
            Some(_) => Held::Other,
        };
        Ok(Some(Document { key: ids::text_of(id)?, held, expires_at: expiry.of(document)? }))
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        // The driver sends the end of a cursor in a task, which it needs the runtime for.
        let cursor = mem::take(&mut self.cursor);
        let _ = self.documents.server.waited("close a cursor", async {
            drop(cursor);
            Ok(())
        });
    }
}

const NOT_TEXT: &str = "found bytes that are not UTF-8, expected text: the field holds text";
const COLLATES: &str =
    "found text in a collection with a collation, in which it cannot be compared byte by byte";

/// Checks that a field can be read and set.
fn check_path(field: &Field) -> Result {
    let path = &field.path;
    let mut names = path.split('.');
    let expected = if path == "_id" || path.starts_with("_id.") {
        "a field other than the _id, which cannot be changed"
    } else if names.any(|name| name.is_empty() || name.starts_with('$')) {
        "names with dots between them"
    } else {
        return Ok(());
    };
    Err(Error::usage(format!("found the field {path:?}, expected {expected}")))
}

/// Returns the error of an update, with what to do if the user may not write.
fn refused(doing: &str, error: DriverError) -> Error {
    let code = code(&error);
    match failed(doing, false)(error) {
        Error::Engine { doing, message, passing } if code == Some(UNAUTHORIZED) => {
            let message = format!("{message}; give the address of a user with the role readWrite");
            Error::Engine { doing, message, passing }
        }
        other => other,
    }
}

/// Returns why the collection refuses a value, if it would take another one.
fn unfit(error: &DriverError) -> Option<String> {
    match &*error.kind {
        ErrorKind::Write(WriteFailure::WriteError(refused)) if UNFIT.contains(&refused.code) => {
            Some(refused.message.clone())
        }
        ErrorKind::Command(refused) if code(error).is_some_and(|code| UNFIT.contains(&code)) => {
            Some(refused.message.clone())
        }
        _ => None,
    }
}
