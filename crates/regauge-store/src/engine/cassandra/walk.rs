//! Ranges of keys in order, over all partitions that may contain some.
//!
//! First, keys and value sizes are read from every partition, as far as needed, and merged: so a
//! page ends when it is large enough, before any value is transferred. Then the values are read,
//! from each partition the part between its first and its last key of the page.
//!
//! The maximum size of the values of a series is recorded. If many of that size fit in a page, they
//! are read at once, without checking their sizes first.

use std::collections::{HashMap, VecDeque};

use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use scylla::value::CqlValue;

use super::cql::unreadable;
use super::partitions::{numbered_in, series_in};
use super::{AT_ONCE, Cassandra, KEY_BYTES_MAX, quoted};
use crate::engine::{Layout, Order, PAGE_BYTES, Pair, Range, narrow_after};
use crate::error::Result;

/// Series partitions per lookup.
const PARTITIONS: i32 = 64;
/// Series partitions that are read concurrently.
const SERIES_AT_ONCE: usize = 4;
/// Values per request.
const RUN: usize = 64;
/// If a page holds fewer values of the largest size than this, their sizes are checked first.
const MANY: usize = 64;

const DOING: &str = "read a range";

/// A key in the range, and its location.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub key: Vec<u8>,
    pub bytes: u64,
    partition: Vec<u8>,
}

/// A partition of a series.
pub(super) struct Part {
    pub name: Vec<u8>,
    /// A number of values that fits in a page, however large they are.
    page: usize,
}

/// A partition being read.
struct Source {
    partition: Vec<u8>,
    rest: Range,
    /// Its next keys, in order.
    ready: VecDeque<Found>,
    /// Whether there are no more after those.
    ended: bool,
}

impl Cassandra {
    /// Returns some of the series partitions in a range.
    pub(super) async fn series_partitions(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
    ) -> Result<Vec<Part>> {
        let table = self.table("regauge_partitions");
        let mut sql = format!("SELECT partition, sizes FROM {table} WHERE collection = ?");
        let mut values = vec![CqlValue::Text(layout.table.clone())];
        ends(&mut sql, &mut values, "partition", range);
        sql += &format!(" ORDER BY partition {} LIMIT ?", direction(order));
        values.push(CqlValue::Int(PARTITIONS));
        let found = self.cql.read(DOING, &sql, &values).await?;
        let rows = found.rows::<(Vec<u8>, Option<Vec<i32>>)>();
        let rows = rows.map_err(|error| unreadable(DOING, &error))?;
        rows.map(|row| {
            let (name, sizes) = row.map_err(|error| unreadable(DOING, &error))?;
            let largest = sizes.unwrap_or_default().into_iter().max();
            let class = largest.and_then(|class| u32::try_from(class).ok());
            let page = class.and_then(|class| PAGE_BYTES.checked_shr(class)).unwrap_or(0);
            Ok(Part { name, page })
        })
        .collect()
    }

    /// Returns some keys of a partition.
    async fn some_keys(
        &self,
        layout: &Layout,
        partition: &[u8],
        range: &Range,
        (order, limit): (Order, usize),
    ) -> Result<Vec<Found>> {
        let key_name = quoted(&layout.key);
        let mut sql =
            format!("SELECT {key_name}, bytes FROM {} WHERE bucket = ?", self.table(&layout.table));
        let mut values = vec![CqlValue::Blob(partition.to_vec())];
        ends(&mut sql, &mut values, &key_name, range);
        sql += &format!(" ORDER BY {key_name} {} LIMIT ?", direction(order));
        values.push(CqlValue::Int(i32::try_from(limit).unwrap_or(i32::MAX)));
        let found = self.cql.read(DOING, &sql, &values).await?;
        let rows = found.rows::<(Vec<u8>, Option<i64>)>();
        let rows = rows.map_err(|error| unreadable(DOING, &error))?;
        rows.map(|row| {
            let (key, bytes) = row.map_err(|error| unreadable(DOING, &error))?;
            let bytes = bytes.unwrap_or_default().unsigned_abs();
            Ok(Found { key, bytes, partition: partition.to_vec() })
        })
        .collect()
    }

    /// Returns the first keys of a range in series partitions, in order.
    async fn series_keys(
        &self,
        layout: &Layout,
        range: &Range,
        (order, limit): (Order, usize),
    ) -> Result<VecDeque<Found>> {
        let mut found = VecDeque::new();
        let mut rest = series_in(range);
        loop {
            let partitions = self.series_partitions(layout, &rest, order).await?;
            let Some(last) = partitions.last() else { return Ok(found) };
            match order {
                Order::Ascending => rest.from = Some([&last.name[..], &[0]].concat()),
                Order::Descending => rest.to = Some(last.name.clone()),
            }
            // All keys of a partition sort before those of the next one.
            let work = partitions
                .iter()
                .map(|one| self.some_keys(layout, &one.name, range, (order, limit)));
            let work: Vec<_> = work.collect();
            let mut answers = stream::iter(work).buffered(SERIES_AT_ONCE);
            while let Some(some) = answers.try_next().await? {
                found.extend(some);
                if found.len() >= limit {
                    found.truncate(limit);
                    return Ok(found);
                }
            }
        }
    }

    /// Reads more of a partition.
    async fn fill(
        &self,
        layout: &Layout,
        source: &mut Source,
        (order, limit): (Order, usize),
    ) -> Result {
        let some = self.some_keys(layout, &source.partition, &source.rest, (order, limit)).await?;
        source.ended = some.len() < limit;
        if let Some(last) = some.last() {
            match order {
                Order::Ascending => source.rest.from = Some([&last.key[..], &[0]].concat()),
                Order::Descending => source.rest.to = Some(last.key.clone()),
            }
        }
        source.ready.extend(some);
        Ok(())
    }

    /// Returns the first keys of a range, up to a number of keys or until their values reach a
    /// size.
    pub(super) async fn find_own(
        &self,
        layout: &Layout,
        numbered: u16,
        range: &Range,
        (order, limit): (Order, usize),
        bytes_max: u64,
    ) -> Result<Vec<Found>> {
        let numbered = numbered_in(range, numbered);
        // Slightly more than an equal share, because they are not equally full.
        let share = limit.div_ceil(numbered.len());
        let share = (share + share / 4 + 4).min(limit).max(1);
        let mut sources: Vec<Source> = numbered
            .iter()
            .map(|partition| Source {
                partition: partition.bytes(),
                rest: range.clone(),
                ready: VecDeque::new(),
                ended: false,
            })
            .collect();
        let series = self.series_keys(layout, range, (order, limit));
        let numbered =
            try_join_all(sources.iter_mut().map(|one| self.fill(layout, one, (order, share))));
        let (series, _) = futures_util::future::try_join(series, numbered).await?;
        // Everything wanted from them has been read.
        let rest = Range::all();
        sources.push(Source { partition: Vec::new(), rest, ready: series, ended: true });
        let mut found: Vec<Found> = Vec::new();
        let mut bytes = 0;
        while found.len() < limit && bytes < bytes_max {
            let empty = sources.iter_mut().filter(|one| one.ready.is_empty() && !one.ended);
            try_join_all(empty.map(|one| self.fill(layout, one, (order, share)))).await?;
            let fronts = sources.iter().enumerate().filter(|(_, one)| !one.ready.is_empty());
            let next = fronts.min_by(|(_, one), (_, other)| {
                let compared = one.ready[0].key.cmp(&other.ready[0].key);
                if order == Order::Ascending { compared } else { compared.reverse() }
            });
            let Some((place, _)) = next else { break };
            let one = sources[place].ready.pop_front().expect("it has a front");
            bytes += one.bytes;
            found.push(one);
        }
        Ok(found)
    }

    /// Returns the first keys and values of a range.
    pub(super) async fn page_own(
        &self,
        layout: &Layout,
        numbered: u16,
        range: &Range,
        (order, limit): (Order, usize),
    ) -> Result<Vec<Pair>> {
        if let Some(page) = self.page_of_series(layout, numbered, range, (order, limit)).await? {
            return Ok(page);
        }
        let mut rest = range.clone();
        loop {
            let most = PAGE_BYTES as u64;
            let found = self.find_own(layout, numbered, &rest, (order, limit), most).await?;
            let Some(last) = found.last() else { return Ok(Vec::new()) };
            narrow_after(&mut rest, layout, &last.key, order);
            let mut values = self.values(layout, &found, order).await?;
            let pairs: Vec<Pair> = found
                .into_iter()
                .filter_map(|one| values.remove(&one.key).map(|value| (one.key, value)))
                .collect();
            // An empty page means the end of the range; if all values were deleted meanwhile, it is
            // not the end.
            if !pairs.is_empty() {
                return Ok(pairs);
            }
        }
    }

    /// Reads a page of a range within one series at once; `None` if that is impossible, or
    /// undesirable because its values are large.
    async fn page_of_series(
        &self,
        layout: &Layout,
        numbered: u16,
        range: &Range,
        (order, limit): (Order, usize),
    ) -> Result<Option<Vec<Pair>>> {
        let [numbered] = &numbered_in(range, numbered)[..] else { return Ok(None) };
        let numbered = numbered.bytes();
        let others = self.some_keys(layout, &numbered, range, (order, 1));
        let within = series_in(range);
        let parts = self.series_partitions(layout, &within, order);
        let (others, parts) = futures_util::future::try_join(others, parts).await?;
        // Other keys with this name would have to be merged in.
        if !others.is_empty() || parts.iter().any(|one| one.page < MANY) {
            return Ok(None);
        }
        let asked = |one: &Part| one.page.min(limit);
        let mut page = Vec::new();
        let mut bytes = 0;
        // Several at once only if the first one does not fill the page.
        let mut rest = &parts[..];
        while let [first, after @ ..] = rest {
            let (some, left) = match page.is_empty() && rest.len() == parts.len() {
                true => (std::slice::from_ref(first), after),
                false => rest.split_at(rest.len().min(SERIES_AT_ONCE)),
            };
            rest = left;
            let work = some
                .iter()
                .map(|one| self.some_values(layout, &one.name, range, (order, asked(one))));
            for (one, rows) in some.iter().zip(try_join_all(work).await?) {
                let full = rows.len() >= asked(one);
                for (key, value) in rows {
                    let Some(value) = value else { continue };
                    bytes += value.len();
                    page.push((key, value));
                }
                if full || bytes >= PAGE_BYTES || page.len() >= limit {
                    page.truncate(limit);
                    // An empty page means the end of the range; here there may be more.
                    return Ok((!page.is_empty()).then_some(page));
                }
            }
        }
        let more = parts.len() >= usize::try_from(PARTITIONS).unwrap_or(usize::MAX);
        Ok((!page.is_empty() || !more).then_some(page))
    }

    /// Reads some keys of a partition, with their values.
    async fn some_values(
        &self,
        layout: &Layout,
        partition: &[u8],
        range: &Range,
        (order, limit): (Order, usize),
    ) -> Result<Vec<(Vec<u8>, Option<Vec<u8>>)>> {
        let (key_name, value_name) = (quoted(&layout.key), quoted(&layout.value));
        let mut sql = format!(
            "SELECT {key_name}, {value_name} FROM {} WHERE bucket = ?",
            self.table(&layout.table)
        );
        let mut values = vec![CqlValue::Blob(partition.to_vec())];
        ends(&mut sql, &mut values, &key_name, range);
        sql += &format!(" ORDER BY {key_name} {} LIMIT ?", direction(order));
        values.push(CqlValue::Int(i32::try_from(limit).unwrap_or(i32::MAX)));
        let found = self.cql.read(DOING, &sql, &values).await?;
        let rows = found.rows::<(Vec<u8>, Option<Vec<u8>>)>();
        let rows = rows.map_err(|error| unreadable(DOING, &error))?;
        rows.map(|row| row.map_err(|error| unreadable(DOING, &error))).collect()
    }

    /// Reads the values of keys that were found.
    async fn values(
        &self,
        layout: &Layout,
        found: &[Found],
        order: Order,
    ) -> Result<HashMap<Vec<u8>, Vec<u8>>> {
        let (key_name, value_name) = (quoted(&layout.key), quoted(&layout.value));
        let sql = format!(
            "SELECT {key_name}, {value_name} FROM {} \
             WHERE bucket = ? AND {key_name} >= ? AND {key_name} <= ?",
            self.table(&layout.table)
        );
        let sql = &sql;
        let mut parts: HashMap<&[u8], Vec<&[u8]>> = HashMap::new();
        for one in found {
            parts.entry(&one.partition).or_default().push(&one.key);
        }
        let work = parts.iter().flat_map(|(partition, keys)| {
            keys.chunks(RUN).map(move |run| {
                let (first, last) = (run[0], run[run.len() - 1]);
                let (low, high) = match order {
                    Order::Ascending => (first, last),
                    Order::Descending => (last, first),
                };
                let blob = |bytes: &[u8]| CqlValue::Blob(bytes.to_vec());
                let values = [blob(partition), blob(low), blob(high)];
                async move { self.cql.read(DOING, sql, &values).await }
            })
        });
        let work: Vec<_> = work.collect();
        let mut answers = stream::iter(work).buffer_unordered(AT_ONCE);
        let mut values = HashMap::with_capacity(found.len());
        while let Some(rows) = answers.try_next().await? {
            let rows = rows.rows::<(Vec<u8>, Option<Vec<u8>>)>();
            for row in rows.map_err(|error| unreadable(DOING, &error))? {
                let (key, value) = row.map_err(|error| unreadable(DOING, &error))?;
                if let Some(value) = value {
                    values.insert(key, value);
                }
            }
        }
        Ok(values)
    }
}

fn direction(order: Order) -> &'static str {
    match order {
        Order::Ascending => "ASC",
        Order::Descending => "DESC",
    }
}

/// Builds the conditions of a range on a column.
fn ends(sql: &mut String, values: &mut Vec<CqlValue>, column: &str, range: &Range) {
    let mut end = |end: &Option<Vec<u8>>, sign: &str, longer: &str| {
        let Some(end) = end else { return };
        // No key is this long: whatever follows its longest possible prefix follows it.
        let (sign, end) = match end.get(..KEY_BYTES_MAX) {
            Some(most) if end.len() > KEY_BYTES_MAX => (longer, most),
            _ => (sign, &end[..]),
        };
        *sql += &format!(" AND {column} {sign} ?");
        values.push(CqlValue::Blob(end.to_vec()));
    };
    end(&range.from, ">=", ">");
    end(&range.to, "<", "<=");
}
