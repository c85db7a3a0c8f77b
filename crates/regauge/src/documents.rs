//! Streams of documents and arrays of values, one turned into the other.
//!
//! JSON holds one document in a file and NDJSON any number; what is an array in the one is a
//! stream in the other. [`Split`] makes the elements of a top-level array documents, [`Join`]
//! makes documents the elements of one array.

use crate::Result;
use crate::event::{Sink, Writer, forward};
use crate::value::Value;

/// How the documents of the input become documents of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Documents {
    /// As the two formats ask for: a JSON array becomes lines of NDJSON, a stream of records
    /// becomes one JSON array, everything else is kept.
    #[default]
    Auto,
    /// A document for a document.
    Keep,
    /// The elements of a top-level array become documents.
    Split,
    /// All documents become the elements of one array.
    Join,
}

/// Makes each element of a top-level array a document. A document that is no array passes as it
/// is.
pub struct Split<S> {
    inner: S,
    /// Open containers, the top-level array included.
    depth: usize,
    /// Whether the document at hand is an array that is split.
    splits: bool,
}

impl<S: Writer> Split<S> {
    /// An adapter in front of `inner`.
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
    // An array with a type around it is a value of its own, and not a file of documents.
    fn begin_typed(&mut self, t: &crate::Type<'_>) -> Result {
        self.depth += 1;
        self.inner.begin_typed(t)
    }
    fn end_typed(&mut self) -> Result {
        let result = self.inner.end_typed();
        self.close(result)
    }
    // An alias of one document in the next would name nothing.
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
    forward!(finish checkpoint);

    fn end_document(&mut self) -> Result {
        if std::mem::take(&mut self.splits) { Ok(()) } else { self.inner.end_document() }
    }
    fn rollback(&mut self) {
        (self.depth, self.splits) = (0, false);
        self.inner.rollback();
    }
}

/// Makes every document an element of one array, which is there even when no document comes.
pub struct Join<S> {
    inner: S,
    /// Anchors in the documents before this one.
    before: u64,
    /// The highest anchor of this document.
    highest: u64,
}

impl<S: Writer> Join<S> {
    /// An adapter in front of `inner`; opens the array.
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

    // Documents number their anchors anew, and become one: the numbers go on.
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

/// Finds keys that stand twice in one map: counts them as [`LossKind::DuplicateKey`], or refuses
/// them.
///
/// It keeps a hash of 64 bits for each key of the open maps; a key is called a duplicate when the
/// hash was there, which happens by chance once in 2⁴⁰ maps of a thousand keys.
///
/// [`LossKind::DuplicateKey`]: crate::fidelity::LossKind::DuplicateKey
pub struct Duplicates<S> {
    inner: S,
    refuse: bool,
    maps: Vec<Vec<u64>>,
    /// Sets for the maps that outgrew a list.
    sets: Vec<Option<std::collections::HashSet<u64>>>,
    hasher: std::hash::RandomState,
}

/// Up to so many keys a linear search is faster than hashing again.
const LIST_KEYS: usize = 32;
/// The keys of one map that are remembered: 4 Mi hashes are 64 MiB with their table.
const MAP_KEYS: usize = 4 << 20;

impl<S: Sink> Duplicates<S> {
    /// An adapter in front of `inner`; with `refuse` the second of two equal keys is an error.
    pub fn new(inner: S, refuse: bool) -> Self {
        let hasher = std::hash::RandomState::new();
        Duplicates { inner, refuse, maps: Vec::new(), sets: Vec::new(), hasher }
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
                        "found a map of more than {MAP_KEYS} keys, too many to look for duplicates"
                    ))
                    .hint(crate::hint::Hint::set(crate::options::Opt::DuplicateKeys, "keep")));
                }
                set.clear();
                let kind = crate::fidelity::LossKind::DuplicateKey;
                let found = format!("more than {MAP_KEYS} keys: duplicates are sought in parts");
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
        let shown = crate::fidelity::shorten(shown);
        if self.refuse {
            return Err(crate::Error::new(
                crate::ErrorKind::Refused,
                format!("found the key {shown:?} a second time in one map"),
            )
            .hint(
                crate::hint::Hint::set(crate::options::Opt::DuplicateKeys, "keep").to("write both"),
            ));
        }
        let kind = crate::fidelity::LossKind::DuplicateKey;
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
        self.inner.key_value(k)?;
        // The notation of a key that is not text never equals that of one that is.
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
    forward!(end_document finish checkpoint);

    fn rollback(&mut self) {
        self.maps.clear();
        self.sets.clear();
        self.inner.rollback();
    }
}
