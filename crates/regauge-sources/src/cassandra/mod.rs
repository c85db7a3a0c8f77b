//! One column of a table in Cassandra or ScyllaDB.
//!
//! | URL | what |
//! |---|---|
//! | `cassandra://user:password@host/app.jobs?column=body` | the column `body` of the table `jobs` in the keyspace `app` |
//! | `cassandra://host1:9042,host2/app.jobs?column=body&tls=true` | the same by two hosts, encrypted |
//!
//! What names contain is percent-encoded, as in every URL. Other parameters are those of the store's addresses: `tls`,
//! `ca`, `datacenter`, `timeout`.
//!
//! - **Keys** of the items are table, column and the row's whole primary key: `jobs.body/17`. Several columns have `/`
//!   between them, `events.body/user:1/2026-11-27`; in each, `/` is `%2F` and `%` is `%25`. Bytes are hexadecimal digits.
//! - **Values** are blob, text or ascii. Rows with null are counted: [`Skipped::absent`](crate::Skipped::absent).
//! - **Order**: that of the tokens, by one scan of the table. What is there all the time comes exactly once.
//! - **Expiry** is that of the value, to the second.
//! - **Nothing is written** unless the source was opened for it, and then only by [`Source::replace_if_unchanged`]: an
//!   update whose time is a microsecond after that of the value, so that whatever is written meanwhile wins.
//! - **Memory**: a page of at most 100 rows, and fewer if their values are long.

mod url;

use regauge::Result;
use regauge_store::cells::Access;
use regauge_store::rows::{PAGE_ROWS, Row, Rows};

use crate::database::{failed, hand_out, replace};
use crate::feed::{Each, Feed, Head};
use crate::pace::Pace;
use crate::source::At;
use crate::{Flow, Kind, Replaced, Source, Summary, Wanted};

/// A column of a table.
pub struct Cassandra {
    rows: Rows,
    title: String,
    /// What precedes the key of a row: `jobs.body/`.
    prefix: Vec<u8>,
}

impl Cassandra {
    /// Connects to the servers of a URL, and finds the column.
    ///
    /// # Errors
    /// `Refused` for a URL that is none, and for a keyspace, table or column that is missing or cannot be used; `Io` if no
    /// server can be reached, or if it refuses the user.
    pub fn open(url: &str, access: Access) -> Result<Cassandra> {
        let (url, column) = url::parse(url)?;
        let rows = Rows::open(&url, &column, access).map_err(failed)?;
        let prefix = format!("{}.{}/", column.table, column.column).into_bytes();
        let title = format!("{}, {} of {}", rows.name(), column.column, column.table);
        Ok(Cassandra { rows, title, prefix })
    }

    /// Hands out a row, or counts it.
    fn hand_out(&self, row: &Row, feed: &mut Feed<'_>) -> Result<Flow> {
        let key = [&self.prefix, row.key.as_bytes()].concat();
        let Some(value) = &row.value else {
            let admits = feed.wanted.admits(0, &key, Kind::String);
            feed.summary.skipped.absent += u64::from(admits);
            return Ok(Flow::Continue);
        };
        let head = Head {
            is_text: self.rows.is_text(),
            expires_at: row.expires_at,
            ..Head::new(0, &key, Kind::String)
        };
        hand_out(&head, value, feed)
    }
}

impl Source for Cassandra {
    fn read(&mut self, wanted: &Wanted<'_>, each: Each<'_>) -> Result<Summary> {
        let mut feed = Feed::new(wanted, each);
        feed.summary.title.clone_from(&self.title);
        let mut pace = Pace::new(wanted.rate);
        let mut reading = self.rows.read(pace.batch(PAGE_ROWS));
        let mut is_whole = false;
        'pages: while !feed.is_full() {
            let Some(page) = reading.page().map_err(failed)? else {
                is_whole = true;
                break;
            };
            for row in &page {
                if feed.is_full() || self.hand_out(row, &mut feed)? == Flow::Stop {
                    break 'pages;
                }
            }
            pace.wait(page.len());
        }
        let mut summary = feed.summary;
        summary.is_whole = is_whole;
        summary.bytes = summary.item_bytes;
        Ok(summary)
    }

    fn replace_if_unchanged(&mut self, at: &At<'_>, old: &[u8], new: &[u8]) -> Result<Replaced> {
        let swap = |key: &str| self.rows.swap(key, old, new);
        replace(at, &self.prefix, "column", swap)
    }
}
