//! One column of a table in SQLite, PostgreSQL, MySQL or MariaDB.
//!
//! | URL | what |
//! |---|---|
//! | `sqlite:app.db?table=jobs&column=body` | the column `body` of the table `jobs` in a file |
//! | `postgres://user:password@host/base?table=jobs&column=body` | in PostgreSQL |
//! | `mysql://user:password@host/base?table=jobs&column=body&key=slug` | in MySQL or MariaDB; rows by their `slug` |
//!
//! `key` is a column that is different in every row; without it, it is the primary key. What names contain is
//! percent-encoded, as in every URL. Other parameters are the driver's.
//!
//! - **Keys** of the items are table, column and the row's key: `jobs.body/17`. Keys of bytes are hexadecimal digits.
//! - **Values** are the bytes of a binary column, or the text of a text column, in UTF-8. Null is no value.
//! - **Order**: rows come in the order of their keys, page by page. What is there all the time comes exactly once.
//! - **Nothing is written** unless the source was opened for it, and then only by [`Source::replace_if_unchanged`]: one
//!   `UPDATE` in a transaction of its own, which compares the bytes. Other columns stay as they are.
//! - **Memory**: 500 keys, and values of 4 MiB or one longer value, which the driver holds a second time.

mod url;

use regauge::Result;
use regauge_store::cells::{self, Cells, Head as Cell, Key};

use crate::database::{failed, replace, too_long};
use crate::feed::{Each, Feed, Head};
use crate::pace::Pace;
use crate::source::At;
use crate::{Flow, Kind, Replaced, Source, Summary, Wanted};

pub use regauge_store::cells::Access;

/// How many keys are read at once.
const PAGE_KEYS: u32 = 500;
/// How many bytes of values are read at once, unless one is longer.
const PAGE_BYTES: u64 = 4 << 20;

/// How the URLs of databases begin.
const SCHEMES: [&str; 4] = ["sqlite:", "postgres://", "postgresql://", "mysql://"];

/// A column of a table.
pub struct Sql {
    cells: Box<dyn Cells>,
    title: String,
    /// What precedes the key of a row: `jobs.body/`.
    prefix: Vec<u8>,
}

/// Returns whether a URL is that of a database.
pub fn is_url(url: &str) -> bool {
    SCHEMES.iter().any(|scheme| url.starts_with(scheme))
}

/// Returns a URL for messages: without user, password and parameters.
pub fn name(url: &str) -> String {
    cells::shown(url)
}

impl Sql {
    /// Opens a database, and finds the column.
    ///
    /// # Errors
    /// `Refused` for a URL that is none, and for a table, column or key that is missing or cannot be used; `Io` if the
    /// database cannot be opened.
    pub fn open(url: &str, access: Access) -> Result<Sql> {
        let (url, column) = url::parse(url)?;
        let cells = cells::open(&url, &column, access).map_err(failed)?;
        let prefix = format!("{}.{}/", column.table, column.column).into_bytes();
        let title = format!("{}, {} of {}", cells.name(), column.column, column.table);
        Ok(Sql { cells, title, prefix })
    }

    /// Hands out these cells, which follow each other.
    fn hand_out(&self, page: &[Cell], feed: &mut Feed<'_>) -> Result<Flow> {
        let taken = page.iter().map(|cell| {
            let key = [&self.prefix, cell.key.text().as_bytes()].concat();
            let takes = !feed.is_full() && feed.takes(0, &key, Kind::String);
            (cell, takes.then_some(key))
        });
        let taken: Vec<(&Cell, Option<Vec<u8>>)> = taken.collect();
        for run in taken.chunk_by(|one, other| one.1.is_some() == other.1.is_some()) {
            let mut rest = run;
            while let [(_, Some(_)), ..] = rest {
                let (some, others) = rest.split_at(fitting(rest, feed.wanted.value_bytes_max));
                rest = others;
                let flow = match feed.wanted.values {
                    true => self.hand_out_values(some, feed)?,
                    false => lengths(some, feed)?,
                };
                if flow == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        Ok(Flow::Continue)
    }

    /// Reads the values of cells that follow each other, and hands them out.
    fn hand_out_values(
        &self,
        cells: &[(&Cell, Option<Vec<u8>>)],
        feed: &mut Feed<'_>,
    ) -> Result<Flow> {
        let ([(first, Some(key)), ..], [.., (last, _)]) = (cells, cells) else {
            return Ok(Flow::Continue);
        };
        let most = feed.wanted.value_bytes_max;
        if first.bytes > most {
            return Err(too_long(key, first.bytes, most));
        }
        let mut values =
            self.cells.values(&first.key, &last.key).map_err(failed)?.into_iter().peekable();
        for (cell, key) in cells {
            let Some(key) = key else { continue };
            let is_new = |found: &Key| cells.iter().all(|(cell, _)| cell.key != *found);
            // Rows that were added meanwhile are passed over.
            while values.next_if(|(found, _)| *found != cell.key && is_new(found)).is_some() {}
            let Some((_, value)) = values.next_if(|(found, _)| *found == cell.key) else {
                feed.summary.vanished += 1;
                continue;
            };
            let head = head(key, cell);
            feed.begin(&head, Some(1));
            if feed.value(&head, None, None, &value)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }
}

impl Source for Sql {
    fn read(&mut self, wanted: &Wanted<'_>, each: Each<'_>) -> Result<Summary> {
        let mut feed = Feed::new(wanted, each);
        feed.summary.title.clone_from(&self.title);
        let mut pace = Pace::new(wanted.rate);
        let limit = pace.batch(PAGE_KEYS) as usize;
        let mut after = None;
        let mut is_whole = false;
        while !is_whole && !feed.is_full() {
            let page = self.cells.heads(after.as_ref(), limit).map_err(failed)?;
            is_whole = page.len() < limit;
            if self.hand_out(&page, &mut feed)? == Flow::Stop {
                is_whole = false;
                break;
            }
            pace.wait(page.len());
            after = page.into_iter().next_back().map(|cell| cell.key);
        }
        let mut summary = feed.summary;
        summary.is_whole = is_whole;
        summary.bytes = summary.item_bytes;
        Ok(summary)
    }

    fn replace_if_unchanged(&mut self, at: &At<'_>, old: &[u8], new: &[u8]) -> Result<Replaced> {
        let swap = |key: &str| self.cells.swap(key, old, new);
        replace(at, &self.prefix, "column", swap)
    }
}

/// Returns how many of the first cells are read at once. One that is too long is the first.
fn fitting(cells: &[(&Cell, Option<Vec<u8>>)], most: u64) -> usize {
    let mut bytes = 0;
    let fits = |(cell, _): &&(&Cell, Option<Vec<u8>>)| {
        bytes += cell.bytes;
        bytes <= PAGE_BYTES && cell.bytes <= most
    };
    cells.iter().take_while(fits).count().max(1)
}

/// Hands out cells without their values.
fn lengths(cells: &[(&Cell, Option<Vec<u8>>)], feed: &mut Feed<'_>) -> Result<Flow> {
    for (cell, key) in cells {
        let Some(key) = key else { continue };
        if feed.whole(&head(key, cell), cell.bytes, Some(1))? == Flow::Stop {
            return Ok(Flow::Stop);
        }
    }
    Ok(Flow::Continue)
}

fn head<'k>(key: &'k [u8], cell: &Cell) -> Head<'k> {
    Head { is_text: cell.is_text, knows_expiry: false, ..Head::new(0, key, Kind::String) }
}
