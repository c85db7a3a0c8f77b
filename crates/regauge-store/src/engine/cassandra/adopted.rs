//! Tables created by other programs, with one column as the whole primary key.
//!
//! Such rows are distributed by the hash of their keys, so a range of keys is never contiguous. A
//! walk therefore reads all keys first, sorts them in memory, and keeps them until it ends or
//! something is changed through this connection. That is bounded: a larger table is refused.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use scylla::response::PagingState;
use scylla::value::{CqlTimeuuid, CqlValue, Row};
use uuid::Uuid;

use super::cql::unreadable;
use super::primary::text_of;
use super::{AT_ONCE, Cassandra, locked, quoted, run, text};
use crate::engine::column::{Key, Stored, from_text, wrong};
use crate::engine::{Change, KeyKind, Layout, Order, PAGE_BYTES, Pair, Range, narrow_after};
use crate::error::{Error, Result, shown};

/// Maximum number of keys in a walk: at 16 bytes each, about 200 MB.
const KEYS_MAX: usize = 5_000_000;
/// How long a walk may pause between two pages before its keys are read again.
const REST: Duration = Duration::from_secs(60);

/// The column types that can hold keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Blob,
    Text,
    Ascii,
    Int,
    BigInt,
    SmallInt,
    TinyInt,
    Uuid,
    Timeuuid,
}

/// The columns of such a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Adopted {
    key: Type,
    value_is_text: bool,
}

/// The keys of a walk in progress.
pub(super) struct Walked {
    columns: (String, String, String),
    keys: Arc<Vec<Vec<u8>>>,
    used: Instant,
}

impl Type {
    fn parse(name: &str) -> Option<Type> {
        Some(match name {
            "blob" => Type::Blob,
            "text" | "varchar" => Type::Text,
            "ascii" => Type::Ascii,
            "int" => Type::Int,
            "bigint" => Type::BigInt,
            "smallint" => Type::SmallInt,
            "tinyint" => Type::TinyInt,
            "uuid" => Type::Uuid,
            "timeuuid" => Type::Timeuuid,
            _ => return None,
        })
    }

    fn kind(self) -> KeyKind {
        match self {
            Type::Blob => KeyKind::Bytes,
            Type::Text | Type::Ascii | Type::Uuid | Type::Timeuuid => KeyKind::Text,
            Type::Int | Type::BigInt | Type::SmallInt | Type::TinyInt => KeyKind::Integer,
        }
    }

    /// Returns a key as its column holds it.
    fn value(self, layout: &Layout, key: &[u8]) -> Result<CqlValue> {
        let found = match (Key::new(layout, key)?, self) {
            (Key::Bytes(bytes), _) => Some(CqlValue::Blob(bytes.into_owned())),
            (Key::Text(text), Type::Text) => Some(CqlValue::Text(text.into_owned())),
            (Key::Text(text), Type::Ascii) => {
                text.is_ascii().then(|| CqlValue::Ascii(text.into_owned()))
            }
            (Key::Text(text), Type::Uuid) => uuid(&text).map(CqlValue::Uuid),
            (Key::Text(text), _) => uuid(&text).map(|id| CqlValue::Timeuuid(CqlTimeuuid::from(id))),
            (Key::Integer(number), Type::Int) => number.try_into().ok().map(CqlValue::Int),
            (Key::Integer(number), Type::SmallInt) => {
                number.try_into().ok().map(CqlValue::SmallInt)
            }
            (Key::Integer(number), Type::TinyInt) => number.try_into().ok().map(CqlValue::TinyInt),
            (Key::Integer(number), _) => Some(CqlValue::BigInt(number)),
        };
        found.ok_or_else(|| {
            let expected = match self {
                Type::Uuid | Type::Timeuuid => "a UUID in lower case with its hyphens",
                Type::Ascii => "text in ASCII",
                _ => "smaller numbers",
            };
            wrong(layout, key, expected)
        })
    }
}

/// Parses an identifier in its canonical form: lower case, with hyphens.
fn uuid(text: &str) -> Option<Uuid> {
    Uuid::parse_str(text).ok().filter(|id| id.hyphenated().to_string() == text)
}

fn key_bytes(value: CqlValue) -> Option<Vec<u8>> {
    match value {
        CqlValue::Blob(bytes) => Some(bytes),
        other => text_of(&other).map(String::into_bytes),
    }
}

/// Compares keys: as numbers, or by bytes.
fn compare(kind: KeyKind, one: &[u8], other: &[u8]) -> Ordering {
    let number = |key: &[u8]| std::str::from_utf8(key).ok()?.parse::<i64>().ok();
    match (kind, number(one), number(other)) {
        (KeyKind::Integer, Some(one), Some(other)) => one.cmp(&other),
        _ => one.cmp(other),
    }
}

impl Cassandra {
    /// Checks whether another program's table can be used as a collection.
    pub(super) async fn look_at(&self, layout: &Layout) -> Result<Adopted> {
        let doing = "look at a table";
        let table = &layout.table;
        let sql = "SELECT column_name, kind, type FROM system_schema.columns \
                   WHERE keyspace_name = ? AND table_name = ?";
        let names = [text(&self.place.keyspace), text(table)];
        let found = self.cql.read(doing, sql, &names).await?;
        let rows = found.rows::<(String, String, String)>();
        let rows = rows.map_err(|error| unreadable(doing, &error))?;
        let columns: Vec<(String, String, String)> = rows
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| unreadable(doing, &error))?;
        if columns.is_empty() {
            return Err(Error::usage(format!("the database has no table {table}")));
        }
        let column = |name: &String| {
            columns.iter().find(|(column, _, _)| column == name).ok_or_else(|| {
                let all: Vec<&str> = columns.iter().map(|(column, _, _)| &column[..]).collect();
                Error::usage(format!("table {table} has no column {name}, but {}", all.join(", ")))
            })
        };
        let (_, kind, key_type) = column(&layout.key)?;
        let (_, value_kind, value_type) = column(&layout.value)?;
        let others = columns.iter().any(|(name, kind, _)| {
            *name != layout.key && matches!(kind.as_str(), "partition_key" | "clustering")
        });
        if kind != "partition_key" || others {
            return Err(Error::usage(format!(
                "table {table}: column {} alone is not unique, since it is not the whole primary \
                 key, so it cannot be a key",
                layout.key
            )));
        }
        let key = Type::parse(key_type).filter(|one| one.kind() == layout.key_kind);
        let Some(key) = key else {
            return Err(Error::usage(format!(
                "table {table}: column {} holds a key of type {key_type}, expected {}; adopt it \
                 with the right --key-kind (bytes for blob, text for text and uuid, integer for \
                 int and bigint)",
                layout.key,
                layout.key_kind.name()
            )));
        };
        let value_is_text = matches!(value_type.as_str(), "text" | "varchar" | "ascii");
        if value_kind != "regular" || !(value_is_text || value_type == "blob") {
            return Err(Error::usage(format!(
                "table {table}: column {} is of type {value_type}, expected blob or text",
                layout.value
            )));
        }
        if value_is_text != layout.text {
            let (is, right) = if value_is_text { ("text", "text") } else { ("blob", "bytes") };
            return Err(Error::usage(format!(
                "table {table}: column {} is of type {is}; adopt it as {right}",
                layout.value
            )));
        }
        Ok(Adopted { key, value_is_text })
    }

    fn stored(
        &self,
        layout: &Layout,
        adopted: Adopted,
        key: &[u8],
        value: &[u8],
    ) -> Result<CqlValue> {
        match (Stored::new(layout, value), adopted.value_is_text) {
            (Stored::Bytes(bytes), false) => Ok(CqlValue::Blob(bytes.to_vec())),
            (Stored::Text(text), true) => Ok(CqlValue::Text(text.into_owned())),
            (Stored::Text(text), false) => Ok(CqlValue::Blob(text.into_owned().into_bytes())),
            (Stored::Bytes(_), true) => {
                Err(Error::usage(format!("key {}: the column takes text only", shown(key))))
            }
        }
    }

    pub(super) async fn get_adopted(
        &self,
        layout: &Layout,
        adopted: Adopted,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let doing = "read a value";
        let sql = format!(
            "SELECT {} FROM {} WHERE {} = ?",
            quoted(&layout.value),
            self.table(&layout.table),
            quoted(&layout.key)
        );
        let found = self.cql.read(doing, &sql, &[adopted.key.value(layout, key)?]).await?;
        let row = found.maybe_first_row::<Row>().map_err(|error| unreadable(doing, &error))?;
        let value = row.and_then(|row| row.columns.into_iter().next().flatten());
        Ok(value.map(|value| match value {
            CqlValue::Text(text) | CqlValue::Ascii(text) => from_text(text.as_bytes()),
            CqlValue::Blob(bytes) => bytes,
            _ => Vec::new(),
        }))
    }

    pub(super) async fn apply_adopted(
        &self,
        layout: &Layout,
        adopted: Adopted,
        changes: &[Change<'_>],
    ) -> Result {
        let doing = "change values";
        *locked(&self.walked) = None;
        let table = self.table(&layout.table);
        let (key_name, value_name) = (quoted(&layout.key), quoted(&layout.value));
        let put = format!("UPDATE {table} SET {value_name} = ? WHERE {key_name} = ?");
        let delete = format!("DELETE FROM {table} WHERE {key_name} = ?");
        let mut last = std::collections::HashMap::new();
        for (key, value) in changes {
            last.insert(*key, *value);
        }
        let mut all = Vec::with_capacity(last.len());
        for (key, value) in last {
            let bound = adopted.key.value(layout, key)?;
            all.push(match value {
                Some(value) => (&put, vec![self.stored(layout, adopted, key, value)?, bound]),
                None => (&delete, vec![bound]),
            });
        }
        run(all.iter().map(|(sql, values)| self.cql.write(doing, sql, values))).await
    }

    pub(super) async fn swap_adopted(
        &self,
        layout: &Layout,
        adopted: Adopted,
        (key, seen, new): (&[u8], Option<&[u8]>, Option<&[u8]>),
    ) -> Result<bool> {
        let doing = format!("change {}", shown(key));
        *locked(&self.walked) = None;
        let table = self.table(&layout.table);
        let (key_name, value_name) = (quoted(&layout.key), quoted(&layout.value));
        let bound = adopted.key.value(layout, key)?;
        let stored = |value| self.stored(layout, adopted, key, value);
        match (seen, new) {
            (Some(seen), Some(new)) => {
                let sql = format!(
                    "UPDATE {table} SET {value_name} = ? WHERE {key_name} = ? IF {value_name} = ?"
                );
                self.cql.write_if(&doing, &sql, &[stored(new)?, bound, stored(seen)?]).await
            }
            (Some(seen), None) => {
                let sql = format!("DELETE FROM {table} WHERE {key_name} = ? IF {value_name} = ?");
                self.cql.write_if(&doing, &sql, &[bound, stored(seen)?]).await
            }
            (None, Some(new)) => {
                let sql = format!(
                    "INSERT INTO {table} ({key_name}, {value_name}) VALUES (?, ?) IF NOT EXISTS"
                );
                self.cql.write_if(&doing, &sql, &[bound, stored(new)?]).await
            }
            (None, None) => Ok(self.get_adopted(layout, adopted, key).await?.is_none()),
        }
    }

    pub(super) async fn delete_adopted(
        &self,
        layout: &Layout,
        adopted: Adopted,
        key: &[u8],
    ) -> Result<bool> {
        let doing = format!("delete {}", shown(key));
        *locked(&self.walked) = None;
        let sql = format!(
            "DELETE FROM {} WHERE {} = ? IF EXISTS",
            self.table(&layout.table),
            quoted(&layout.key)
        );
        self.cql.write_if(&doing, &sql, &[adopted.key.value(layout, key)?]).await
    }

    /// Returns all keys that have values, in order.
    async fn all_keys(&self, layout: &Layout) -> Result<Vec<Vec<u8>>> {
        let doing = "read the keys";
        // The write time shows that there is a value, without transferring it.
        let sql = format!(
            "SELECT {}, writetime({}) FROM {}",
            quoted(&layout.key),
            quoted(&layout.value),
            self.table(&layout.table)
        );
        let mut keys = Vec::new();
        let mut state = Some(PagingState::start());
        while let Some(next) = state {
            let (rows, rest) = self.cql.read_some(doing, &sql, next, None).await?;
            for row in rows.rows::<Row>().map_err(|error| unreadable(doing, &error))? {
                let row = row.map_err(|error| unreadable(doing, &error))?;
                let mut columns = row.columns.into_iter();
                if let (Some(Some(key)), Some(Some(_))) = (columns.next(), columns.next()) {
                    let key = key_bytes(key);
                    keys.push(key.ok_or_else(|| unreadable(doing, &"a key of another type"))?);
                }
            }
            if keys.len() > KEYS_MAX {
                return Err(Error::usage(format!(
                    "table {} has more than {KEYS_MAX} rows: a walk has to put the keys of such a \
                     table in order in memory; read it key by key, or import it into a collection",
                    layout.table
                )));
            }
            state = rest;
        }
        keys.sort_unstable_by(|one, other| compare(layout.key_kind, one, other));
        Ok(keys)
    }

    /// Returns the keys of a range in order, from the walk that continues here, or freshly read.
    pub(super) async fn keys_adopted(
        &self,
        layout: &Layout,
        adopted: Adopted,
        range: &Range,
        (order, limit): (Order, usize),
    ) -> Result<Vec<Vec<u8>>> {
        let kind = layout.key_kind;
        for end in [&range.from, &range.to].into_iter().flatten() {
            if kind == KeyKind::Integer {
                adopted.key.value(layout, end).or_else(|_| Type::BigInt.value(layout, end))?;
            }
        }
        let columns = (layout.table.clone(), layout.key.clone(), layout.value.clone());
        let going_on = |keys: &Vec<Vec<u8>>| {
            let is_key = |key: &[u8]| keys.binary_search_by(|one| compare(kind, one, key)).is_ok();
            match (order, &range.from, &range.to) {
                (Order::Ascending, Some(from), _) if kind == KeyKind::Integer => {
                    let number = std::str::from_utf8(from).ok().and_then(|text| text.parse().ok());
                    let last = number.and_then(|number: i64| number.checked_sub(1));
                    last.is_some_and(|last| is_key(last.to_string().as_bytes()))
                }
                (Order::Ascending, Some(from), _) => {
                    from.split_last().is_some_and(|(zero, key)| *zero == 0 && is_key(key))
                }
                (Order::Descending, _, Some(to)) => is_key(to),
                _ => false,
            }
        };
        let held = locked(&self.walked).take().filter(|walked| {
            walked.columns == columns && walked.used.elapsed() < REST && going_on(&walked.keys)
        });
        let keys = match held {
            Some(walked) => walked.keys,
            None => Arc::new(self.all_keys(layout).await?),
        };
        let begin = match &range.from {
            Some(from) => keys.partition_point(|key| compare(kind, key, from) == Ordering::Less),
            None => 0,
        };
        let end = match &range.to {
            Some(to) => keys.partition_point(|key| compare(kind, key, to) == Ordering::Less),
            None => keys.len(),
        };
        let some = keys.get(begin..end).unwrap_or_default();
        let found: Vec<Vec<u8>> = match order {
            Order::Ascending => some.iter().take(limit).cloned().collect(),
            Order::Descending => some.iter().rev().take(limit).cloned().collect(),
        };
        if !found.is_empty() {
            *locked(&self.walked) = Some(Walked { columns, keys, used: Instant::now() });
        }
        Ok(found)
    }

    pub(super) async fn page_adopted(
        &self,
        layout: &Layout,
        adopted: Adopted,
        range: &Range,
        (order, limit): (Order, usize),
    ) -> Result<Vec<Pair>> {
        let mut rest = range.clone();
        loop {
            let keys = self.keys_adopted(layout, adopted, &rest, (order, limit)).await?;
            let Some(last) = keys.last() else { return Ok(Vec::new()) };
            let more = narrow_after(&mut rest, layout, last, order);
            let mut pairs = Vec::with_capacity(keys.len());
            let mut bytes = 0;
            for some in keys.chunks(AT_ONCE) {
                let work = some.iter().map(|key| self.get_adopted(layout, adopted, key));
                let work: Vec<_> = work.collect();
                let values: Vec<Option<Vec<u8>>> =
                    stream::iter(work).buffered(AT_ONCE).try_collect().await?;
                for (key, value) in some.iter().zip(values) {
                    // One deleted in the meantime does not count.
                    let Some(value) = value else { continue };
                    if bytes < PAGE_BYTES {
                        bytes += value.len();
                        pairs.push((key.clone(), value));
                    }
                }
                if bytes >= PAGE_BYTES {
                    break;
                }
            }
            if !pairs.is_empty() || !more {
                return Ok(pairs);
            }
        }
    }

    pub(super) async fn count_adopted(
        &self,
        layout: &Layout,
        adopted: Adopted,
    ) -> Result<(u64, u64)> {
        let keys = self.all_keys(layout).await?;
        let (mut values, mut bytes) = (0, 0);
        for some in keys.chunks(AT_ONCE) {
            let work: Vec<_> =
                some.iter().map(|key| self.get_adopted(layout, adopted, key)).collect();
            let found: Vec<Option<Vec<u8>>> =
                stream::iter(work).buffered(AT_ONCE).try_collect().await?;
            for value in found.into_iter().flatten() {
                values += 1;
                bytes += value.len() as u64;
            }
        }
        Ok((values, bytes))
    }
}
