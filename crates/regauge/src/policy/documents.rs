//! Converts between streams of documents and arrays of values.
//!
//! A JSON file holds one document and an NDJSON file any number; an array in one is a stream in the
//! other. [`Split`] turns the elements of a top-level array into documents, [`Join`] turns
//! documents into the elements of one array.

use crate::Result;
use crate::model::value::Value;
use crate::policy::event::{Sink, Writer, forward};

/// How the documents of the input become documents of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Documents {
    /// Depends on the two formats: a JSON array becomes lines of NDJSON, a stream of records
    /// becomes one JSON array, everything else is kept.
    #[default]
    Auto,
    /// One document for each document.
    Keep,
    /// The elements of a top-level array become documents.
    Split,
    /// All documents become the elements of one array.
    Join,
}

/// Turns each element of a top-level array into a document. A document that is not an array is
/// passed on unchanged.
pub struct Split<S> {
    inner: S,
    /// Open containers, including the top-level array.
    depth: usize,
    /// Whether the current document is an array being split.
    splits: bool,
}

impl<S: Writer> Split<S> {
    /// Creates an adapter in front of `inner`.
    pub fn new(inner: S) -> Self {
        Split { inner, depth: 0, splits: false }
    }

    #[inline]
    fn leaf(&mut self, result: Result) -> Result {
        result?;
        if self.splits && self.depth == 1 { self.inner.end_document() } else { Ok(()) }
    }

    fn close(&mut self, result: Result) -> Result {
        self.depth -= 1;
        self.leaf(result)
    }
}

impl<S: Writer> Sink for Split<S> {
    forward!(key key_value fidelity);

    fn null(&mut self) -> Result {
        let result = self.inner.null();
        self.leaf(result)
    }
    fn bool(&mut self, v: bool) -> Result {
        let result = self.inner.bool(v);
        self.leaf(result)
    }
    fn i64(&mut self, v: i64) -> Result {
        let result = self.inner.i64(v);
        self.leaf(result)
    }
    fn u64(&mut self, v: u64) -> Result {
        let result = self.inner.u64(v);
        self.leaf(result)
    }
    fn f64(&mut self, v: f64) -> Result {
        let result = self.inner.f64(v);
        self.leaf(result)
    }
    fn f32(&mut self, v: f32) -> Result {
        let result = self.inner.f32(v);
        self.leaf(result)
    }
    fn str(&mut self, v: &str) -> Result {
        let result = self.inner.str(v);
        self.leaf(result)
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        let result = self.inner.bytes(v);
        self.leaf(result)
    }
    fn big_int(&mut self, v: crate::BigInt<'_>) -> Result {
        let result = self.inner.big_int(v);
        self.leaf(result)
    }
    fn ext(&mut self, v: crate::Ext<'_>) -> Result {
        let result = self.inner.ext(v);
        self.leaf(result)
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        if self.depth == 0 {
            (self.depth, self.splits) = (1, true);
            return Ok(());
        }
        self.depth += 1;
        self.inner.begin_array(len)
    }
    fn end_array(&mut self) -> Result {
        if self.depth == 1 && self.splits {
            self.depth = 0;
            return Ok(());
        }
        let result = self.inner.end_array();
        self.close(result)
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.depth += 1;
        self.inner.begin_map(len)
    }
    fn end_map(&mut self) -> Result {
        let result = self.inner.end_map();
        self.close(result)
    }
    // An array with a type around it is a single value, not a file of documents.
    fn begin_typed(&mut self, t: &crate::Type<'_>) -> Result {
        self.depth += 1;
        self.inner.begin_typed(t)
    }
    fn end_typed(&mut self) -> Result {
        let result = self.inner.end_typed();
        self.close(result)
    }
    // An alias in one document to an anchor in another would refer to nothing.
    fn holds_references(&mut self) -> bool {
        false
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.depth += 1;
        self.inner.begin_anchor(id)
    }
    fn end_anchor(&mut self) -> Result {
        let result = self.inner.end_anchor();
        self.close(result)
    }
    fn alias(&mut self, id: u64) -> Result {
        let result = self.inner.alias(id);
        self.leaf(result)
    }
}

impl<S: Writer> Writer for Split<S> {
    forward!(finish checkpoint columns);

    fn end_document(&mut self) -> Result {
        if std::mem::take(&mut self.splits) { Ok(()) } else { self.inner.end_document() }
    }
    fn rollback(&mut self) {
        (self.depth, self.splits) = (0, false);
        self.inner.rollback();
    }
}

/// Turns every document into an element of one array, which is written even if there are no
/// documents.
pub struct Join<S> {
    inner: S,
    /// Anchors in the earlier documents.
    before: u64,
    /// The highest anchor in this document.
    highest: u64,
}

impl<S: Writer> Join<S> {
    /// Creates an adapter in front of `inner` and opens the array.
    ///
    /// # Errors
    /// The inner writer's.
    pub fn new(mut inner: S) -> Result<Self> {
        inner.begin_array(None)?;
        Ok(Join { inner, before: 0, highest: 0 })
    }
}

impl<S: Writer> Sink for Join<S> {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext);
    forward!(begin_array end_array begin_map key key_value end_map fidelity);

    // Each document numbers its anchors from 1; in the joined document the numbers continue.
    fn begin_typed(&mut self, t: &crate::Type<'_>) -> Result {
        self.inner.begin_typed(t)
    }
    fn end_typed(&mut self) -> Result {
        self.inner.end_typed()
    }
    fn holds_references(&mut self) -> bool {
        self.inner.holds_references()
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.highest = self.highest.max(id);
        self.inner.begin_anchor(self.before + id)
    }
    fn end_anchor(&mut self) -> Result {
        self.inner.end_anchor()
    }
    fn alias(&mut self, id: u64) -> Result {
        self.inner.alias(self.before + id)
    }
}

impl<S: Writer> Writer for Join<S> {
    forward!(checkpoint rollback);

    fn end_document(&mut self) -> Result {
        self.before += std::mem::take(&mut self.highest);
        Ok(())
    }
    fn finish(&mut self) -> Result {
        self.inner.end_array()?;
        self.inner.end_document()?;
        self.inner.finish()
    }
}

/// Finds keys that occur twice in one map: counts them as [`LossKind::DuplicateKey`], or refuses
/// them.
///
/// Keeps a 64-bit hash for each key of the open maps. A key counts as a duplicate if its hash was
/// seen before; a false positive occurs about once in 2⁴⁰ maps of a thousand keys.
///
/// [`LossKind::DuplicateKey`]: crate::policy::fidelity::LossKind::DuplicateKey
pub struct Duplicates<S> {
    inner: S,
    refuse: bool,
    maps: Vec<Vec<u64>>,
    /// Hash sets for the maps that outgrew a list.
    sets: Vec<Option<std::collections::HashSet<u64>>>,
    hasher: std::hash::RandomState,
}

/// Up to this many keys, a linear search is faster than a hash set.
const LIST_KEYS: usize = 32;
/// How many keys of one map are remembered: 4 Mi hashes take 64 MiB with their table.
const MAP_KEYS: usize = 4 << 20;

impl<S: Sink> Duplicates<S> {
    /// Creates an adapter in front of `inner`; with `refuse`, the second of two equal keys is an
    /// error.
    pub fn new(inner: S, refuse: bool) -> Self {
        let hasher = std::hash::RandomState::new();
        Duplicates { inner, refuse, maps: Vec::new(), sets: Vec::new(), hasher }
    }

    /// Returns the inner sink.
    pub(crate) fn inner(&mut self) -> &mut S {
        &mut self.inner
    }

    fn seen(&mut self, key: &[u8], shown: &str) -> Result {
        use std::hash::BuildHasher as _;
        let hash = self.hasher.hash_one(key);
        let (Some(list), Some(set)) = (self.maps.last_mut(), self.sets.last_mut()) else {
            return Ok(());
        };
        let new = match set {
            Some(set) if set.len() >= MAP_KEYS => {
                if self.refuse {
                    return Err(crate::Error::limit(format!(
                        "found a map of more than {MAP_KEYS} keys, too many to check for duplicates"
                    ))
                    .hint(crate::model::hint::Hint::set(
                        crate::model::option::Opt::DuplicateKeys,
                        "keep",
                    )));
                }
                set.clear();
                let kind = crate::policy::fidelity::LossKind::DuplicateKey;
                let found = format!("more than {MAP_KEYS} keys: duplicates are checked in parts");
                self.inner.fidelity().note(kind, found, "all");
                set.insert(hash)
            }
            Some(set) => set.insert(hash),
            None if list.contains(&hash) => false,
            None => {
                list.push(hash);
                if list.len() > LIST_KEYS {
                    *set = Some(list.drain(..).collect());
                }
                true
            }
        };
        if new {
            return Ok(());
        }
        let shown = crate::model::text::shorten(shown);
        if self.refuse {
            return Err(crate::Error::new(
                crate::ErrorKind::Refused,
                format!("found the key {shown:?} a second time in one map"),
            )
            .hint(
                crate::model::hint::Hint::set(crate::model::option::Opt::DuplicateKeys, "keep")
                    .to("accept it"),
            ));
        }
        let kind = crate::policy::fidelity::LossKind::DuplicateKey;
        self.inner.fidelity().note(kind, format!("{shown:?} again"), "both");
        Ok(())
    }
}

impl<S: Sink> Sink for Duplicates<S> {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext begin_array end_array typed fidelity);

    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.maps.push(Vec::new());
        self.sets.push(None);
        self.inner.begin_map(len)
    }
    fn key(&mut self, k: &str) -> Result {
        self.inner.key(k)?;
        self.seen(k.as_bytes(), k)
    }
    fn key_value(&mut self, k: &Value) -> Result {
        let lost = self.inner.fidelity().count();
        self.inner.key_value(k)?;
        if self.inner.fidelity().count() > lost {
            let text = crate::policy::fidelity::key_text(k);
            return self.seen(text.as_bytes(), &text);
        }
        // The notation of a key that is not text never equals that of a text key.
        let notation = k.to_string();
        self.seen(format!("\0{notation}").as_bytes(), &notation)
    }
    fn end_map(&mut self) -> Result {
        self.maps.pop();
        self.sets.pop();
        self.inner.end_map()
    }
}

impl<S: Writer> Writer for Duplicates<S> {
    forward!(end_document finish checkpoint columns);

    fn rollback(&mut self) {
        self.maps.clear();
        self.sets.clear();
        self.inner.rollback();
    }
}
