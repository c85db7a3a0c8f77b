//! Values larger than an engine accepts, in chunks that stay invisible to callers.
//!
//! Such a value is replaced by a *head*, and its bytes are rows of the table `regauge_chunks`,
//! under a generation that is never reused:
//!
//! | row | holds |
//! |---|---|
//! | `head/TABLE/COLUMN/GENERATION` | bytes of the value (8, little-endian), of a chunk (4), the key |
//! | `part/TABLE/COLUMN/GENERATION/NUMBER` | a chunk |
//!
//! A put writes these rows first and the head last, the way the engine stores any value: a value is
//! present whole or not at all, whenever the writer crashes. Replacing and deleting change the head
//! first and then remove the old chunks. A reader that finds chunks missing reads the head again:
//! either it has changed, or the value is damaged.
//!
//! Leftovers of a crashed writer are found by the rows `head/…` whose generation is in no
//! collection: [`Engine::sweep`] removes them once they are too old to belong to an active writer.
//! A writer gives up if its chunks took longer than half that time.
//!
//! A head is 36 bytes:
//!
//! | bytes | what |
//! |---|---|
//! | 0–3 | `C1 67 00 00`: like an envelope of version 0, which does not exist |
//! | 4–7 | bytes of a chunk, little-endian; the last one may have fewer |
//! | 8–15 | bytes of the value |
//! | 16–31 | generation: 8 bytes of the time in nanoseconds, big-endian, and 8 random ones |
//! | 32–35 | CRC-32C of bytes 0–31 |
//!
//! The checksum of the envelope inside proves that the chunks belong to the value.

mod head;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use self::head::{HEAD, Head, column, generation, head_key, noted, part_key, since_1970};
use super::{Change, Engine, KeyKind, Layout, Order, PAGE_BYTES, Pair, Range, narrow_after};
use crate::error::{Error, Result, shown};

/// Chunks written or read per call.
const TOGETHER: usize = 4;
/// Values checked for heads per call: each may be as large as a chunk.
const LOOKED_AT: usize = 32;
/// Rows removed per call.
const REMOVED: usize = 1_000;
/// How long to assume that a collection has no chunked values.
const BELIEVED: Duration = Duration::from_secs(1);
/// Age at which chunks without a head count as abandoned.
pub const ABANDONED: Duration = Duration::from_secs(3_600);

/// An engine that accepts values of any size, on top of one that does not.
pub struct Chunked {
    inner: Box<dyn Engine>,
    limit: usize,
    /// Which columns have chunked values, or had none when last checked.
    used: Mutex<HashMap<String, Option<Instant>>>,
}

/// Called with each head and its key.
type EachHead<'e> = dyn FnMut(&[(Head, Vec<u8>)]) -> Result + 'e;

impl Chunked {
    /// Stores values larger than `limit` bytes in chunks of that size.
    ///
    /// # Panics
    /// For a limit smaller than a head.
    #[must_use]
    pub fn new(inner: Box<dyn Engine>, limit: usize) -> Chunked {
        assert!(limit > HEAD, "a value may have more bytes than a head");
        let limit = limit.min(1 << 30);
        Chunked { inner, limit, used: Mutex::default() }
    }

    /// Returns the layout of the chunk table.
    fn chunks(&self) -> Layout {
        Layout {
            table: "regauge_chunks".to_owned(),
            key: self.inner.key_column().to_owned(),
            value: "value".to_owned(),
            key_kind: KeyKind::Bytes,
            text: false,
        }
    }

    /// Returns whether a column has, or had, chunked values.
    fn is_used(&self, layout: &Layout) -> Result<bool> {
        let column = column(layout);
        let known = || self.used.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match known().get(&column) {
            Some(None) => return Ok(true),
            Some(Some(asked)) if asked.elapsed() < BELIEVED => return Ok(false),
            _ => {}
        }
        let used = self.inner.note(&format!("chunks/{column}"))?.is_some();
        known().insert(column, if used { None } else { Some(Instant::now()) });
        Ok(used)
    }

    /// Records that a column has chunked values, before the first one is written.
    fn use_chunks(&self, layout: &Layout) -> Result {
        if self.is_used(layout)? {
            return Ok(());
        }
        let column = column(layout);
        self.inner.create(&self.chunks())?;
        self.inner.set_note(&format!("chunks/{column}"), Some(b"1"))?;
        let mut known = self.used.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        known.insert(column, None);
        Ok(())
    }

    /// Writes the chunks of a value, and returns its head, which is not stored yet.
    fn write(&self, layout: &Layout, key: &[u8], value: &[u8]) -> Result<Head> {
        self.use_chunks(layout)?;
        let chunks = self.chunks();
        let head = Head {
            chunk: u32::try_from(self.limit).expect("a limit is no more"),
            length: value.len() as u64,
            generation: generation(),
        };
        let mut said = head.length.to_le_bytes().to_vec();
        said.extend_from_slice(&head.chunk.to_le_bytes());
        said.extend_from_slice(key);
        self.inner.put(&chunks, &head_key(layout, &head), &said)?;
        let parts: Vec<(Vec<u8>, &[u8])> = (0..)
            .zip(value.chunks(self.limit))
            .map(|(number, part)| (part_key(layout, &head, number), part))
            .collect();
        for some in parts.chunks(TOGETHER) {
            let changes: Vec<Change<'_>> =
                some.iter().map(|(key, part)| (&key[..], Some(*part))).collect();
            self.inner.apply(&chunks, &changes)?;
        }
        let took = since_1970().saturating_sub(head.began());
        if took > ABANDONED / 2 {
            return Err(Error::Engine {
                doing: format!("put {}", shown(key)),
                message: format!(
                    "its chunks took {} s, the limit is {} s; nothing was changed",
                    took.as_secs(),
                    ABANDONED.as_secs() / 2
                ),
                passing: true,
            });
        }
        Ok(head)
    }

    /// Returns the value of a head; `None` if some of its chunks are missing.
    fn read(&self, layout: &Layout, head: &Head) -> Result<Option<Vec<u8>>> {
        let chunks = self.chunks();
        let mut value = Vec::new();
        let mut next = 0;
        while next < head.chunks() {
            let end = (next + TOGETHER as u64).min(head.chunks());
            let keys: Vec<Vec<u8>> =
                (next..end).map(|number| part_key(layout, head, number)).collect();
            let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            for part in self.inner.get_many(&chunks, &keys)? {
                let rest = head.length - value.len() as u64;
                match part {
                    Some(part) if part.len() as u64 == rest.min(head.chunk.into()) => {
                        value.extend_from_slice(&part);
                    }
                    _ => return Ok(None),
                }
            }
            next = end;
        }
        Ok(Some(value))
    }

    /// Resolves a stored value. `None` if it was deleted meanwhile; the head itself if chunks are
    /// missing: it is not a valid envelope, so the reader reports damage.
    fn resolve(&self, layout: &Layout, key: &[u8], stored: Vec<u8>) -> Result<Option<Vec<u8>>> {
        let mut stored = stored;
        loop {
            let Some(head) = Head::parse(&stored) else { return Ok(Some(stored)) };
            if let Some(value) = self.read(layout, &head)? {
                return Ok(Some(value));
            }
            match self.inner.get(layout, key)? {
                None => return Ok(None),
                // Chunks are removed after their head, which was there throughout.
                Some(same) if same == stored => return Ok(Some(stored)),
                Some(other) => stored = other,
            }
        }
    }

    /// Returns the heads stored under these keys, each with the index of its key.
    fn heads(&self, layout: &Layout, keys: &[&[u8]]) -> Result<Vec<(usize, Head)>> {
        let mut heads = Vec::new();
        for (group, some) in keys.chunks(LOOKED_AT).enumerate() {
            for (place, stored) in self.inner.get_many(layout, some)?.into_iter().enumerate() {
                let head = stored.as_deref().and_then(Head::parse);
                heads.extend(head.map(|head| (group * LOOKED_AT + place, head)));
            }
        }
        Ok(heads)
    }

    /// Removes the chunks of a head that is stored nowhere any more, its own row last.
    fn remove(&self, layout: &Layout, head: &Head) -> Result {
        let chunks = self.chunks();
        let mut next = 0;
        while next < head.chunks() {
            let end = (next + REMOVED as u64).min(head.chunks());
            let keys: Vec<Vec<u8>> =
                (next..end).map(|number| part_key(layout, head, number)).collect();
            let changes: Vec<Change<'_>> = keys.iter().map(|key| (&key[..], None)).collect();
            self.inner.apply(&chunks, &changes)?;
            next = end;
        }
        self.inner.apply(&chunks, &[(&head_key(layout, head), None)])
    }

    /// Removes the chunks of heads that a completed change replaced. A failure does not undo the
    /// change: a sweep finds the rest.
    fn remove_old(&self, layout: &Layout, keys: &[&[u8]], old: &[(usize, Head)]) {
        for (place, head) in old {
            // With clock skew between servers, the older of two changes may have won.
            match self.inner.get(layout, keys[*place]) {
                Ok(now) if now.as_deref().and_then(Head::parse) != Some(*head) => {
                    let _ = self.remove(layout, head);
                }
                _ => {}
            }
        }
    }

    /// Calls `each` with every head ever written for a column and not yet removed, and its key.
    fn each_head(&self, layout: &Layout, each: &mut EachHead<'_>) -> Result {
        let chunks = self.chunks();
        let prefix = format!("head/{}/", column(layout)).into_bytes();
        let mut rest = Range::prefix(&prefix);
        loop {
            let rows = self.inner.page(&chunks, &rest, Order::Ascending, LOOKED_AT)?;
            let Some((last, _)) = rows.last() else { return Ok(()) };
            let more = narrow_after(&mut rest, &chunks, last, Order::Ascending);
            let heads: Vec<(Head, Vec<u8>)> =
                rows.iter().filter_map(|(name, said)| noted(&prefix, name, said)).collect();
            each(&heads)?;
            if !more {
                return Ok(());
            }
        }
    }

    /// Returns which of these heads are in the collection.
    fn standing(&self, layout: &Layout, heads: &[(Head, Vec<u8>)]) -> Result<Vec<bool>> {
        let keys: Vec<&[u8]> = heads.iter().map(|(_, key)| &key[..]).collect();
        let now = self.inner.get_many(layout, &keys)?;
        let stands = |(now, (head, _)): (&Option<Vec<u8>>, &(Head, Vec<u8>))| {
            now.as_deref().and_then(Head::parse) == Some(*head)
        };
        Ok(now.iter().zip(heads).map(stands).collect())
    }

    fn swap_in_chunks(
        &self,
        layout: &Layout,
        key: &[u8],
        seen: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        let present = self.inner.get(layout, key)?;
        let old = present.as_deref().and_then(Head::parse);
        let is_seen = match (seen, &present) {
            (None, None) => true,
            (Some(seen), Some(present)) => match &old {
                Some(head) => self.read(layout, head)?.as_deref() == Some(seen) || present == seen,
                None => present == seen,
            },
            _ => false,
        };
        if !is_seen {
            return Ok(false);
        }
        let written = match new {
            Some(new) if new.len() > self.limit => Some(self.write(layout, key, new)?),
            _ => None,
        };
        let head = written.map(|head| head.bytes());
        let new = head.as_ref().map(|head| &head[..]).or(new);
        let done = self.inner.swap(layout, key, present.as_deref(), new)?;
        match (done, old, written) {
            (true, Some(old), _) => self.remove_old(layout, &[key], &[(0, old)]),
            // The engine reported that this head was not written, so nobody will ever see it.
            (false, _, Some(written)) => drop(self.remove(layout, &written)),
            _ => {}
        }
        Ok(done)
    }
}

impl Engine for Chunked {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn is_atomic(&self) -> bool {
        self.inner.is_atomic()
    }

    fn sync_each_change(&self, each: bool) -> Result {
        self.inner.sync_each_change(each)
    }

    fn key_column(&self) -> &'static str {
        self.inner.key_column()
    }

    fn has_table(&self, name: &str) -> Result<bool> {
        self.inner.has_table(name)
    }

    fn check(&self, layout: &Layout) -> Result {
        self.inner.check(layout)
    }

    fn create(&self, layout: &Layout) -> Result {
        self.inner.create(layout)
    }

    fn create_plain(&self, layout: &Layout) -> Result {
        self.inner.create_plain(layout)
    }

    fn drop_table(&self, layout: &Layout) -> Result {
        self.inner.drop_table(layout)?;
        if self.is_used(layout)? {
            self.each_head(layout, &mut |heads| {
                heads.iter().try_for_each(|(head, _)| self.remove(layout, head))
            })?;
        }
        Ok(())
    }

    fn create_noted(&self, layout: &Layout, name: &str, note: &[u8]) -> Result {
        self.inner.create_noted(layout, name, note)
    }

    fn get(&self, layout: &Layout, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.inner.get(layout, key)? {
            Some(stored) => self.resolve(layout, key, stored),
            None => Ok(None),
        }
    }

    fn get_many(&self, layout: &Layout, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        let stored = self.inner.get_many(layout, keys)?;
        let values = keys.iter().zip(stored).map(|(key, stored)| match stored {
            Some(stored) => self.resolve(layout, key, stored),
            None => Ok(None),
        });
        values.collect()
    }

    fn exists(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        self.inner.exists(layout, key)
    }

    fn apply(&self, layout: &Layout, changes: &[Change<'_>]) -> Result {
        let is_large = |value: &Option<&[u8]>| value.is_some_and(|one| one.len() > self.limit);
        if !changes.iter().any(|(_, value)| is_large(value)) && !self.is_used(layout)? {
            return self.inner.apply(layout, changes);
        }
        let mut last: HashMap<&[u8], usize> = HashMap::new();
        for (place, (key, _)) in changes.iter().enumerate() {
            last.insert(key, place);
        }
        // Of two changes to a key, only the last one is ever visible.
        let changes: Vec<&Change<'_>> = changes
            .iter()
            .enumerate()
            .filter_map(|(place, change)| (last[change.0] == place).then_some(change))
            .collect();
        let keys: Vec<&[u8]> = changes.iter().map(|(key, _)| *key).collect();
        let old = self.heads(layout, &keys)?;
        let mut stored: Vec<Option<Cow<'_, [u8]>>> = Vec::with_capacity(changes.len());
        for (key, value) in &changes {
            stored.push(match value {
                Some(value) if value.len() > self.limit => {
                    Some(self.write(layout, key, value)?.bytes().to_vec().into())
                }
                value => value.map(Cow::from),
            });
        }
        let heads: Vec<Change<'_>> =
            keys.iter().zip(&stored).map(|(key, value)| (*key, value.as_deref())).collect();
        // After an error it is not always known whether the heads were written: their chunks stay.
        self.inner.apply(layout, &heads)?;
        self.remove_old(layout, &keys, &old);
        Ok(())
    }

    fn swap(
        &self,
        layout: &Layout,
        key: &[u8],
        seen: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        let small = |value: Option<&[u8]>| value.is_none_or(|one| one.len() <= self.limit);
        match small(seen) && small(new) && !self.is_used(layout)? {
            true => self.inner.swap(layout, key, seen, new),
            false => self.swap_in_chunks(layout, key, seen, new),
        }
    }

    fn swap_many(&self, layout: &Layout, swaps: &[(&[u8], &[u8], &[u8])]) -> Result<Vec<bool>> {
        let is_small =
            |one: &(&[u8], &[u8], &[u8])| one.1.len() <= self.limit && one.2.len() <= self.limit;
        let small: Vec<_> = swaps.iter().filter(|one| is_small(one)).copied().collect();
        let mut done = self.inner.swap_many(layout, &small)?.into_iter();
        let used = self.is_used(layout)?;
        let mut all = Vec::with_capacity(swaps.len());
        for one in swaps {
            let did = is_small(one) && done.next().unwrap_or(false);
            // A small value may have been chunked when the limit was different.
            let try_chunks = !did && (used || !is_small(one));
            let (key, seen, new) = *one;
            all.push(did || try_chunks && self.swap_in_chunks(layout, key, Some(seen), Some(new))?);
        }
        Ok(all)
    }

    fn delete(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        if !self.is_used(layout)? {
            return self.inner.delete(layout, key);
        }
        let old = self.heads(layout, &[key])?;
        let deleted = self.inner.delete(layout, key)?;
        self.remove_old(layout, &[key], &old);
        Ok(deleted)
    }

    fn page(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Pair>> {
        let mut rest = range.clone();
        loop {
            let rows = self.inner.page(layout, &rest, order, limit)?;
            let Some((last, _)) = rows.last() else { return Ok(rows) };
            let more = narrow_after(&mut rest, layout, last, order);
            let mut pairs = Vec::with_capacity(rows.len());
            let mut bytes = 0;
            for (key, stored) in rows {
                if bytes >= PAGE_BYTES {
                    break;
                }
                // The engine returned a page; with chunks it may be much larger.
                let given = stored.len();
                if let Some(value) = self.resolve(layout, &key, stored)? {
                    bytes += value.len().saturating_sub(given);
                    pairs.push((key, value));
                }
            }
            // An empty page means the end of the range; if all values were deleted meanwhile, it is
            // not the end.
            if !pairs.is_empty() || !more {
                return Ok(pairs);
            }
        }
    }

    fn keys(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        self.inner.keys(layout, range, order, limit)
    }

    fn count(&self, layout: &Layout) -> Result<(u64, u64)> {
        let (values, mut bytes) = self.inner.count(layout)?;
        if self.is_used(layout)? {
            // A text column holds the Base64 of a head.
            let head = if layout.text { HEAD.div_ceil(3) * 4 } else { HEAD } as u64;
            self.each_head(layout, &mut |heads| {
                let standing = self.standing(layout, heads)?;
                for ((one, _), stands) in heads.iter().zip(standing) {
                    if stands {
                        bytes = (bytes + one.length).saturating_sub(head);
                    }
                }
                Ok(())
            })?;
        }
        Ok((values, bytes))
    }

    fn sweep(&self, layout: &Layout, older_than: Duration) -> Result<u64> {
        if !self.is_used(layout)? {
            return Ok(0);
        }
        let mut removed = 0;
        let now = since_1970();
        self.each_head(layout, &mut |heads| {
            let standing = self.standing(layout, heads)?;
            for ((head, _), stands) in heads.iter().zip(standing) {
                if !stands && now.saturating_sub(head.began()) >= older_than {
                    self.remove(layout, head)?;
                    removed += 1;
                }
            }
            Ok(())
        })?;
        Ok(removed)
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.inner.note(name)
    }

    fn set_note(&self, name: &str, note: Option<&[u8]>) -> Result {
        self.inner.set_note(name, note)
    }

    fn notes(&self, prefix: &str) -> Result<Vec<String>> {
        self.inner.notes(prefix)
    }
}
