//! One field of the documents of a collection in MongoDB.
//!
//! | URL | what |
//! |---|---|
//! | `mongodb://user:password@host/base.jobs?field=body` | the field `body` of the collection `jobs` in the database `base` |
//! | `mongodb+srv://host/base.app.jobs?field=job.body` | `body` in the embedded document `job`; the collection is `app.jobs` |
//!
//! What names contain is percent-encoded, as in every URL. Other parameters are the driver's.
//!
//! - **Keys** of the items are collection, field and the document's `_id`: `jobs.body/0a1b…`. An ObjectId is its
//!   hexadecimal digits, a UUID `UUID/…`, other binary data `BinData/SUBTYPE/DIGITS`; text and whole numbers are as they
//!   are, and what remains is Extended JSON.
//! - **Values** are binary data of any subtype, or text. A document without the field, or with a value of another type
//!   in it, is counted: [`Skipped::absent`](crate::Skipped::absent), [`Skipped::others`](crate::Skipped::others).
//! - **Order**: the server's, by one cursor. What is there all the time comes exactly once.
//! - **Expiry** is known if a TTL index without conditions says it.
//! - **Nothing is written** unless the source was opened for it, and then only by [`Source::replace_if_unchanged`]: one
//!   `updateOne` that compares the bytes. Other fields stay as they are.
//! - **Memory**: what the server sends at once, 16 MiB at most.

mod url;

use regauge::Result;
use regauge_store::cells::Access;
use regauge_store::documents::{Document, Documents, Held};

use crate::database::{failed, hand_out, replace};
use crate::feed::{Each, Feed, Head};
use crate::pace::Pace;
use crate::source::At;
use crate::{Flow, Kind, Replaced, Source, Summary, Wanted};

/// How many documents are asked for at once.
const PAGE: u32 = 500;

/// A field of a collection.
pub struct MongoDb {
    documents: Documents,
    title: String,
    /// What precedes the `_id`: `jobs.body/`.
    prefix: Vec<u8>,
}

impl MongoDb {
    /// Connects to the server of a URL, and finds the collection and the field.
    ///
    /// # Errors
    /// `Refused` for a URL that is none, and for a collection or a field that is missing or cannot be used; `Io` if the
    /// server cannot be reached, or refuses the user.
    pub fn open(url: &str, access: Access) -> Result<MongoDb> {
        let (url, field) = url::parse(url)?;
        let prefix = format!("{}.{}/", field.collection, field.path).into_bytes();
        let about = format!("{} of {}", field.path, field.collection);
        let documents = Documents::open(&url, field, access).map_err(failed)?;
        let title = format!("{}, {about}", documents.name());
        Ok(MongoDb { documents, title, prefix })
    }

    /// Hands out a document, or counts it.
    fn hand_out(&self, document: &Document<'_>, feed: &mut Feed<'_>) -> Result<Flow> {
        let key = [&self.prefix, document.key.as_bytes()].concat();
        let (value, is_text) = match document.held {
            Held::Bytes(bytes) => (bytes, false),
            Held::Text(text) => (text.as_bytes(), true),
            Held::Absent | Held::Other => {
                let admits = feed.wanted.admits(0, &key, Kind::String);
                let skipped = &mut feed.summary.skipped;
                match document.held {
                    Held::Absent => skipped.absent += u64::from(admits),
                    _ => skipped.others += u64::from(admits),
                }
                return Ok(Flow::Continue);
            }
        };
        let head = Head {
            is_text,
            expires_at: document.expires_at,
            knows_expiry: self.documents.knows_expiry(),
            ..Head::new(0, &key, Kind::String)
        };
        hand_out(&head, value, feed)
    }
}

impl Source for MongoDb {
    fn read(&mut self, wanted: &Wanted<'_>, each: Each<'_>) -> Result<Summary> {
        let mut feed = Feed::new(wanted, each);
        feed.summary.title.clone_from(&self.title);
        let mut pace = Pace::new(wanted.rate);
        let batch = pace.batch(PAGE);
        let mut reading = self.documents.read(batch).map_err(failed)?;
        let mut is_whole = false;
        let mut read = 0;
        while !feed.is_full() {
            let Some(document) = reading.advance().map_err(failed)? else {
                is_whole = true;
                break;
            };
            if self.hand_out(&document, &mut feed)? == Flow::Stop {
                break;
            }
            read += 1;
            if read == batch {
                pace.wait(read as usize);
                read = 0;
            }
        }
        let mut summary = feed.summary;
        summary.is_whole = is_whole;
        summary.bytes = summary.item_bytes;
        Ok(summary)
    }

    fn replace_if_unchanged(&mut self, at: &At<'_>, old: &[u8], new: &[u8]) -> Result<Replaced> {
        let swap = |key: &str| self.documents.swap(key, old, new);
        replace(at, &self.prefix, "field", swap)
    }
}
