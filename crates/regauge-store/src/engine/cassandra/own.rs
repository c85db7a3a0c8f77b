//! Tables created by regauge: keys and values in partitions that `partitions` chooses.

use std::collections::HashMap;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use scylla::statement::batch::BatchType;
use scylla::value::CqlValue;

use super::cql::unreadable;
use super::partitions::{Partition, numbered_in, series_in};
use super::url::is_name;
use super::{AT_ONCE, Cassandra, buckets_note, check_key, locked, quoted, run, text};
use crate::engine::{Change, Layout, Order, Range};
use crate::error::{Error, Result, shown};

/// Maximum size of a logged batch in bytes: a server refuses 50 KiB.
const LOGGED_BYTES: usize = 40 << 10;
/// The server's overhead for a row in addition to its key and its value, rounded up.
const ROW_BYTES: usize = 128;
/// Bytes of changes to one partition that are sent together.
const TOGETHER_BYTES: usize = 512 << 10;
/// Changes per batch; a server accepts 65,535.
const TOGETHER: usize = 1_000;
/// Keys of one partition per request.
const ASKED: usize = 32;
/// Number of series partitions remembered as listed in the partition table.
const REMEMBERED: usize = 100_000;

impl Cassandra {
    /// Lists the partitions of series before anything is stored there, each with the size class of
    /// the largest value to come, unless known already: their content is found only through this
    /// list.
    async fn note_partitions(
        &self,
        table: &str,
        partitions: impl Iterator<Item = (&Partition, u8)>,
    ) -> Result {
        let doing = "note a part of a series";
        let mark = |name: &[u8]| (table.to_owned(), name.to_vec());
        let new: Vec<(&Vec<u8>, u8)> = partitions
            .filter_map(|(one, class)| match one {
                Partition::Series(name) => Some((name, class)),
                Partition::Numbered(_) => None,
            })
            .filter(|(name, class)| {
                locked(&self.known).get(&mark(name)).is_none_or(|known| known < class)
            })
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        // If two processes list one at the same time, both classes stay.
        let sql = format!(
            "UPDATE {} SET sizes = sizes + ? WHERE collection = ? AND partition = ?",
            self.table("regauge_partitions")
        );
        let work = new.iter().map(|(name, class)| {
            let classes = CqlValue::Set(vec![CqlValue::Int(i32::from(*class))]);
            let values = [classes, text(table), CqlValue::Blob((*name).clone())];
            let sql = &sql;
            async move { self.cql.write(doing, sql, &values).await }
        });
        run(work).await?;
        let mut known = locked(&self.known);
        if known.len() > REMEMBERED {
            known.clear();
        }
        known.extend(new.into_iter().map(|(name, class)| (mark(name), class)));
        Ok(())
    }

    /// Returns a change in CQL: its text and its values.
    fn change(
        &self,
        layout: &Layout,
        partition: &Partition,
        (key, value): &Change<'_>,
    ) -> (String, Vec<CqlValue>) {
        let table = self.table(&layout.table);
        let (key_name, value_name) = (quoted(&layout.key), quoted(&layout.value));
        let (bucket, key) = (CqlValue::Blob(partition.bytes()), CqlValue::Blob(key.to_vec()));
        match value {
            Some(value) => (
                format!(
                    "INSERT INTO {table} (bucket, {key_name}, bytes, {value_name}) \
                     VALUES (?, ?, ?, ?)"
                ),
                vec![bucket, key, size(value), CqlValue::Blob(value.to_vec())],
            ),
            None => (
                format!("DELETE FROM {table} WHERE bucket = ? AND {key_name} = ?"),
                vec![bucket, key],
            ),
        }
    }

    pub(super) async fn apply_own(
        &self,
        layout: &Layout,
        numbered: u16,
        changes: &[Change<'_>],
    ) -> Result {
        let doing = "change values";
        // All changes of a batch have the same timestamp, and at equal timestamps a deletion wins:
        // only the last change of a key is sent.
        let last: HashMap<&[u8], usize> =
            changes.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
        let mut parts: HashMap<Partition, Vec<&Change<'_>>> = HashMap::new();
        let mut bytes = 0;
        for (place, change) in changes.iter().enumerate() {
            if last[change.0] == place {
                check_key(change.0)?;
                bytes += ROW_BYTES + change.0.len() + change.1.map_or(0, <[u8]>::len);
                parts.entry(Partition::of(change.0, numbered)).or_default().push(change);
            }
        }
        let largest = parts.iter().filter_map(|(partition, some)| {
            Some((partition, some.iter().filter_map(|one| one.1).map(size_class).max()?))
        });
        self.note_partitions(&layout.table, largest).await?;
        if parts.len() > 1 && bytes <= LOGGED_BYTES && last.len() <= TOGETHER {
            let all: Vec<_> = parts
                .iter()
                .flat_map(|(partition, some)| {
                    some.iter().map(|one| self.change(layout, partition, one))
                })
                .collect();
            return self.cql.write_all(doing, BatchType::Logged, &all).await;
        }
        let mut together: Vec<Vec<(String, Vec<CqlValue>)>> = Vec::new();
        for (partition, some) in &parts {
            let mut bytes = usize::MAX;
            for change in some {
                let more = change.0.len() + change.1.map_or(0, <[u8]>::len);
                let change = self.change(layout, partition, change);
                bytes = bytes.saturating_add(more);
                match together.last_mut() {
                    Some(open) if bytes <= TOGETHER_BYTES && open.len() < TOGETHER => {
                        open.push(change);
                    }
                    _ => {
                        bytes = more;
                        together.push(vec![change]);
                    }
                }
            }
        }
        let work = together.iter().map(|some| async move {
            match &some[..] {
                [(text, values)] => self.cql.write(doing, text, values).await,
                // For a single partition, it is one change to the server.
                some => self.cql.write_all(doing, BatchType::Unlogged, some).await,
            }
        });
        run(work).await
    }

    pub(super) async fn swap_own(
        &self,
        layout: &Layout,
        numbered: u16,
        (key, seen, new): (&[u8], Option<&[u8]>, Option<&[u8]>),
    ) -> Result<bool> {
        let doing = format!("change {}", shown(key));
        check_key(key)?;
        let partition = Partition::of(key, numbered);
        let table = self.table(&layout.table);
        let (key_name, value_name) = (quoted(&layout.key), quoted(&layout.value));
        let bucket = CqlValue::Blob(partition.bytes());
        let blob = |bytes: &[u8]| CqlValue::Blob(bytes.to_vec());
        let place = format!("WHERE bucket = ? AND {key_name} = ?");
        if let Some(new) = new {
            let class = size_class(new);
            self.note_partitions(&layout.table, std::iter::once((&partition, class))).await?;
        }
        match (seen, new) {
            (Some(seen), Some(new)) => {
                let sql = format!(
                    "UPDATE {table} SET bytes = ?, {value_name} = ? {place} IF {value_name} = ?"
                );
                let values = [size(new), blob(new), bucket, blob(key), blob(seen)];
                self.cql.write_if(&doing, &sql, &values).await
            }
            (Some(seen), None) => {
                let sql = format!("DELETE FROM {table} {place} IF {value_name} = ?");
                self.cql.write_if(&doing, &sql, &[bucket, blob(key), blob(seen)]).await
            }
            (None, Some(new)) => {
                let sql = format!(
                    "INSERT INTO {table} (bucket, {key_name}, bytes, {value_name}) \
                     VALUES (?, ?, ?, ?) IF NOT EXISTS"
                );
                let values = [bucket, blob(key), size(new), blob(new)];
                self.cql.write_if(&doing, &sql, &values).await
            }
            (None, None) => Ok(self.get_own(layout, numbered, key).await?.is_none()),
        }
    }

    pub(super) async fn get_own(
        &self,
        layout: &Layout,
        numbered: u16,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let doing = "read a value";
        check_key(key)?;
        let sql = format!(
            "SELECT {} FROM {} WHERE bucket = ? AND {} = ?",
            quoted(&layout.value),
            self.table(&layout.table),
            quoted(&layout.key)
        );
        let bucket = CqlValue::Blob(Partition::of(key, numbered).bytes());
        let found = self.cql.read(doing, &sql, &[bucket, CqlValue::Blob(key.to_vec())]).await?;
        let row = found.maybe_first_row::<(Option<Vec<u8>>,)>();
        Ok(row.map_err(|error| unreadable(doing, &error))?.and_then(|(value,)| value))
    }

    pub(super) async fn get_many_own(
        &self,
        layout: &Layout,
        numbered: u16,
        keys: &[&[u8]],
    ) -> Result<HashMap<Vec<u8>, Vec<u8>>> {
        let doing = "read values";
        let sql = format!(
            "SELECT {key}, {} FROM {} WHERE bucket = ? AND {key} IN ?",
            quoted(&layout.value),
            self.table(&layout.table),
            key = quoted(&layout.key)
        );
        let sql = &sql;
        let mut parts: HashMap<Partition, Vec<CqlValue>> = HashMap::new();
        for key in keys {
            check_key(key)?;
            let part = parts.entry(Partition::of(key, numbered)).or_default();
            part.push(CqlValue::Blob(key.to_vec()));
        }
        let work = parts.iter().flat_map(|(partition, keys)| {
            keys.chunks(ASKED).map(move |some| {
                let values = [CqlValue::Blob(partition.bytes()), CqlValue::List(some.to_vec())];
                async move { self.cql.read(doing, sql, &values).await }
            })
        });
        let work: Vec<_> = work.collect();
        let mut answers = stream::iter(work).buffer_unordered(AT_ONCE);
        let mut found = HashMap::with_capacity(keys.len());
        while let Some(rows) = answers.try_next().await? {
            let rows = rows.rows::<(Vec<u8>, Option<Vec<u8>>)>();
            for row in rows.map_err(|error| unreadable(doing, &error))? {
                let (key, value) = row.map_err(|error| unreadable(doing, &error))?;
                if let Some(value) = value {
                    found.insert(key, value);
                }
            }
        }
        Ok(found)
    }

    pub(super) async fn count_own(&self, layout: &Layout, numbered: u16) -> Result<(u64, u64)> {
        let doing = "count the values";
        let sql = format!(
            "SELECT count(*), sum(bytes) FROM {} WHERE bucket = ?",
            self.table(&layout.table)
        );
        let all = Range::all();
        let mut parts: Vec<Vec<u8>> =
            numbered_in(&all, numbered).iter().map(Partition::bytes).collect();
        let mut rest = series_in(&all);
        loop {
            let some = self.series_partitions(layout, &rest, Order::Ascending).await?;
            let Some(last) = some.last() else { break };
            rest.from = Some([&last.name[..], &[0]].concat());
            parts.extend(some.into_iter().map(|one| one.name));
        }
        let work = parts.into_iter().map(|part| {
            let sql = &sql;
            async move { self.cql.read(doing, sql, &[CqlValue::Blob(part)]).await }
        });
        let work: Vec<_> = work.collect();
        let mut answers = stream::iter(work).buffer_unordered(AT_ONCE);
        let (mut values, mut bytes) = (0, 0);
        while let Some(rows) = answers.try_next().await? {
            let row = rows.first_row::<(i64, Option<i64>)>();
            let (some, sum) = row.map_err(|error| unreadable(doing, &error))?;
            values += some.unsigned_abs();
            bytes += sum.unwrap_or_default().unsigned_abs();
        }
        Ok((values, bytes))
    }

    pub(super) async fn create_own(&self, layout: &Layout, doing: &str) -> Result {
        if !is_name(&layout.table) {
            return Err(Error::usage(format!(
                "table {}: a name has up to 48 letters, digits and _ here",
                layout.table
            )));
        }
        self.make_notes(doing).await?;
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS {} (collection text, partition blob, \
             sizes set<int>, PRIMARY KEY ((collection), partition))",
            self.table("regauge_partitions")
        );
        if !self.has_own("regauge_partitions").await? {
            self.cql.define(doing, &sql).await?;
        }
        // The first note counts: rows are stored according to it from then on.
        let sql = format!(
            "INSERT INTO {} (name, note) VALUES (?, ?) IF NOT EXISTS",
            self.table("regauge_notes")
        );
        let note = CqlValue::Blob(self.place.buckets.to_string().into_bytes());
        self.cql.write_if(doing, &sql, &[text(&buckets_note(&layout.table)), note]).await?;
        let (key, value) = (quoted(&layout.key), quoted(&layout.value));
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS {} (bucket blob, {key} blob, bytes bigint, {value} blob, \
             PRIMARY KEY ((bucket), {key}))",
            self.table(&layout.table)
        );
        self.cql.define(doing, &sql).await
    }
}

/// Returns the smallest power of two larger than a value's size.
fn size_class(value: &[u8]) -> u8 {
    u8::try_from(usize::BITS - value.len().leading_zeros()).expect("64 at most")
}

fn size(value: &[u8]) -> CqlValue {
    CqlValue::BigInt(i64::try_from(value.len()).expect("a length is no more"))
}
