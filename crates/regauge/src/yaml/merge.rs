//! The merge key of YAML 1.1: `<<: *defaults`.
//!
//! Its value is recorded, and given at the end of the mapping: those of its pairs whose keys the
//! mapping does not have itself. So they come last, where PyYAML puts them first; a mapping has no
//! order in YAML.

use std::collections::HashSet;

use super::compose::{Compose, Way};
use super::event::Style;
use super::reader::Schema;
use super::references::Raw;
use super::schema::Meaning;
use super::tags::{self, Content};
use crate::event::Sink;
use crate::hint::Hint;
use crate::limits::Limit;
use crate::options::Opt;
use crate::value::{Builder, Value};
use crate::{Error, Limits, Result};

/// The open mappings. Their keys lie in one text, one after the other: few documents merge, and
/// only for those that do are they looked up.
#[derive(Debug, Default)]
pub(super) struct OpenMaps {
    maps: Vec<MapKeys>,
    names: String,
    /// Where each name ends.
    ends: Vec<usize>,
}

/// An open mapping.
#[derive(Debug, Default)]
struct MapKeys {
    /// Its first key in `ends`.
    first: usize,
    bytes: u64,
    full: bool,
    /// Its keys, once something is merged into it.
    seen: Option<HashSet<String>>,
    /// The nodes to merge into it: their places on the tape.
    merges: Vec<usize>,
}

impl OpenMaps {
    /// Another document begins.
    pub(super) fn clear(&mut self) {
        self.maps.clear();
        self.drop_names(0);
    }

    pub(super) fn begin(&mut self) {
        self.maps.push(MapKeys { first: self.ends.len(), ..MapKeys::default() });
    }

    pub(super) fn end(&mut self) {
        if let Some(map) = self.maps.pop() {
            self.drop_names(map.first);
        }
    }

    /// Whether something is to be merged into the innermost.
    pub(super) fn last_merges(&self) -> bool {
        self.maps.last().is_some_and(|map| !map.merges.is_empty())
    }

    /// A key of the innermost.
    pub(super) fn add_text(&mut self, text: &str, limits: &Limits) {
        self.add('\'', text, limits);
    }

    /// A key of the innermost that is not text.
    pub(super) fn add_value(&mut self, value: &Value, limits: &Limits) {
        if !self.maps.is_empty() {
            self.add(' ', &value.to_string(), limits);
        }
    }

    #[inline]
    fn add(&mut self, kind: char, name: &str, limits: &Limits) {
        let Some(map) = self.maps.last_mut() else { return };
        if map.full {
            return;
        }
        map.bytes += 64 + name.len() as u64;
        if map.bytes > limits.record_bytes {
            (map.full, map.seen) = (true, None);
            let first = map.first;
            return self.drop_names(first);
        }
        if let Some(seen) = &mut map.seen {
            seen.insert(format!("{kind}{name}"));
            return;
        }
        self.names.push(kind);
        self.names.push_str(name);
        self.ends.push(self.names.len());
    }

    /// Forgets the names from this one on.
    fn drop_names(&mut self, first: usize) {
        self.ends.truncate(first);
        self.names.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// The keys of the innermost mapping are looked up from now on; its merges come back.
    fn look_up(&mut self) -> Vec<usize> {
        let Some(map) = self.maps.last_mut() else { return Vec::new() };
        let mut seen = HashSet::new();
        let mut start = map.first.checked_sub(1).map_or(0, |before| self.ends[before]);
        for end in &self.ends[map.first..] {
            seen.insert(self.names[start..*end].to_owned());
            start = *end;
        }
        map.seen = Some(seen);
        let (first, merges) = (map.first, std::mem::take(&mut map.merges));
        self.drop_names(first);
        merges
    }

    /// Whether the innermost has a key of this name.
    fn has(&self, name: &str) -> bool {
        let seen = self.maps.last().and_then(|map| map.seen.as_ref());
        seen.is_some_and(|seen| seen.contains(name))
    }
}

impl<S: Sink + ?Sized> Compose<'_, S> {
    /// Whether a key is the one that merges.
    pub(super) fn is_merge(&self, style: Style, tag: Option<&str>, text: &str) -> bool {
        self.c.options.schema == Schema::Yaml11
            && text == "<<"
            && tags::scalar(Schema::Yaml11, style, tag, text) == Content::Meaning(Meaning::Merge)
    }

    /// A merge key was there: its value is recorded only.
    pub(super) fn begin_merge(&mut self) {
        self.c.merging = Some((self.c.level, self.c.refs.tape.len()));
        self.c.refs.recording += 1;
        self.c.way = Way::Rare;
    }

    /// A node has ended: perhaps the value of a merge key.
    pub(super) fn node_done(&mut self) {
        if let Some((level, start)) = self.c.merging
            && level == self.c.level
        {
            self.c.merging = None;
            self.c.refs.recording -= 1;
            self.merge_later(start);
            self.c.settle();
        }
    }

    /// The node at this place of the tape is merged when the mapping ends.
    pub(super) fn merge_later(&mut self, start: usize) {
        if let Some(map) = self.c.maps.maps.last_mut() {
            map.merges.push(start);
        }
    }

    /// Gives what is merged into the mapping that ends.
    pub(super) fn give_merged(&mut self) -> Result {
        if !self.c.maps.last_merges() {
            return Ok(());
        }
        if self.c.maps.maps.last().is_some_and(|map| map.full) {
            return Err(Error::limit(
                "found a merge key in a mapping with more keys than may be held in memory",
            )
            .hint(Hint::raise(Limit::RecordBytes).to("raise the limit")));
        }
        // A later merge key wins over one before.
        for start in self.c.maps.look_up().into_iter().rev() {
            self.merge_node(start, 0)?;
        }
        Ok(())
    }

    /// Gives the pairs of the mapping at `start`, or those of each mapping of the sequence there.
    /// Recurses as deep as mappings merge others, within [`MERGE_DEPTH`].
    fn merge_node(&mut self, start: usize, depth: u32) -> Result {
        if depth > MERGE_DEPTH {
            return Err(Error::limit(format!(
                "found merge keys that nest more than {MERGE_DEPTH} deep"
            )));
        }
        self.c.refs.spend(1, 0, &self.c.limits)?;
        match self.c.refs.tape[start] {
            Raw::Alias { anchor, .. } => {
                let anchor = self.c.refs.anchors[anchor];
                if anchor.end.is_none() {
                    return Err(Error::syntax(format!(
                        "found a merge key inside of the mapping that it merges, whose anchor is \
                         at byte {}",
                        anchor.offset
                    )));
                }
                self.merge_node(anchor.start, depth + 1)
            }
            Raw::Begin { mapping: true, .. } => self.merge_pairs(start + 1, depth),
            Raw::Begin { mapping: false, .. } => {
                let mut at = start + 1;
                while !matches!(self.c.refs.tape[at], Raw::End) {
                    self.merge_node(at, depth + 1)?;
                    at = self.c.refs.node_end(at);
                }
                Ok(())
            }
            _ => Err(Error::syntax(
                "found a scalar behind the merge key `<<`, expected a mapping or a sequence of \
                 mappings",
            )
            .hint(Hint::set(Opt::YamlSchema, "core").to("take `<<` as a key like any other"))),
        }
    }

    fn merge_pairs(&mut self, start: usize, depth: u32) -> Result {
        let mut at = start;
        let mut nested = Vec::new();
        while !matches!(self.c.refs.tape[at], Raw::End) {
            let value = self.c.refs.node_end(at);
            let next = self.c.refs.node_end(value);
            self.c.refs.spend(1, 0, &self.c.limits)?;
            match self.merge_key(at)? {
                None => nested.push(value),
                Some(name) => {
                    if !self.c.maps.has(&name) {
                        self.replay(at, value, true)?;
                        self.replay(value, next, false)?;
                    }
                }
            }
            at = next;
        }
        for start in nested.into_iter().rev() {
            self.merge_node(start, depth + 1)?;
        }
        Ok(())
    }

    /// The name of the key at `at` as [`OpenMaps`] has it; nothing for a merge key.
    fn merge_key(&mut self, at: usize) -> Result<Option<String>> {
        let mut builder = Builder::new(&self.c.limits);
        let mut place = at;
        while let Raw::Alias { anchor, .. } = self.c.refs.tape[place] {
            place = self.c.refs.anchors[anchor].start;
        }
        let Raw::Scalar { style, tag, start, len, .. } = self.c.refs.tape[place] else {
            // A collection as a key: never the same as another.
            return Ok(Some(format!("[{at}")));
        };
        let text = self.c.refs.text(start, len).to_owned();
        let tag = self.c.refs.tag(tag).map(str::to_owned);
        if self.is_merge(style, tag.as_deref(), &text) {
            return Ok(None);
        }
        // A composer of its own would be more than this needs: the key's value is enough.
        super::compose::give(
            &mut builder,
            &self.c.options,
            &self.c.limits,
            tag.as_deref(),
            tags::scalar(Schema::Yaml11, style, tag.as_deref(), &text),
            &text,
        )?;
        Ok(builder.take().map(|value| match value {
            Value::Text(text) => format!("'{text}"),
            value => format!(" {value}"),
        }))
    }
}

/// How deep mappings that are merged may merge others. Each level stands on the stack.
const MERGE_DEPTH: u32 = 64;
