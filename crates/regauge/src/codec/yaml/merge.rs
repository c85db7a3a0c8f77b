//! The merge key of YAML 1.1: `<<: *defaults`.
//!
//! Its value is recorded, and sent at the end of the mapping: those of its pairs whose keys the
//! mapping itself lacks. So they come last, whereas PyYAML puts them first; a YAML mapping has no
//! order.

use std::collections::HashSet;

use super::compose::{Compose, Way};
use super::event::Style;
use super::references::Raw;
use super::schema::Meaning;
use super::tags::{self, Content};
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::option::Opt;
use crate::model::value::Value;
use crate::policy::event::Sink;
use crate::policy::tree::Builder;
use crate::{Error, Limits, Result};

/// The open mappings. Their keys are stored in one string, one after the other: few documents use
/// merge keys, and keys are looked up only for those that do.
#[derive(Debug, Default)]
pub(super) struct OpenMaps {
    maps: Vec<MapKeys>,
    names: String,
    /// The end of each name.
    ends: Vec<usize>,
}

/// An open mapping.
#[derive(Debug, Default)]
struct MapKeys {
    /// The index of its first key in `ends`.
    first: usize,
    bytes: u64,
    full: bool,
    /// Its keys, once something is merged into it.
    seen: Option<HashSet<String>>,
    /// The nodes to merge into it: their positions on the tape.
    merges: Vec<usize>,
}

impl OpenMaps {
    /// Prepares for another document.
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

    /// Returns whether something is to be merged into the innermost mapping.
    pub(super) fn last_merges(&self) -> bool {
        self.maps.last().is_some_and(|map| !map.merges.is_empty())
    }

    /// Adds a key to the innermost mapping.
    pub(super) fn add_text(&mut self, text: &str, limits: &Limits) {
        self.add('\'', text, limits);
    }

    /// Adds a key that is not text to the innermost mapping.
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

    /// Indexes the keys of the innermost mapping for lookup; returns its merges.
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

    /// Returns whether the innermost mapping has a key of this name.
    fn has(&self, name: &str) -> bool {
        let seen = self.maps.last().and_then(|map| map.seen.as_ref());
        seen.is_some_and(|seen| seen.contains(name))
    }
}

impl<S: Sink + ?Sized> Compose<'_, S> {
    /// Returns whether a key is the merge key.
    pub(super) fn is_merge(&self, style: Style, tag: Option<&str>, text: &str) -> bool {
        self.c.options.schema.is_old()
            && text == "<<"
            && tags::scalar(self.c.options.schema, style, tag, text)
                == Content::Meaning(Meaning::Merge)
    }

    /// Handles a merge key: its value is only recorded.
    pub(super) fn begin_merge(&mut self) {
        self.c.merging = Some((self.c.level, self.c.refs.tape.len()));
        self.c.refs.recording += 1;
        self.c.way = Way::Rare;
    }

    /// Handles the end of a node, which may be the value of a merge key.
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

    /// Schedules the node at this position of the tape to be merged when the mapping ends.
    pub(super) fn merge_later(&mut self, start: usize) {
        if let Some(map) = self.c.maps.maps.last_mut() {
            map.merges.push(start);
        }
    }

    /// Sends what is merged into the mapping that ends.
    pub(super) fn give_merged(&mut self) -> Result {
        if !self.c.maps.last_merges() {
            return Ok(());
        }
        if self.c.maps.maps.last().is_some_and(|map| map.full) {
            return Err(Error::limit(
                "found a merge key in a mapping with too many keys to hold in memory",
            )
            .hint(Hint::raise(Limit::RecordBytes).to("raise the limit")));
        }
        // A later merge key takes precedence over an earlier one.
        for start in self.c.maps.look_up().into_iter().rev() {
            self.merge_node(start, 0)?;
        }
        Ok(())
    }

    /// Sends the pairs of the mapping at `start`, or those of each mapping of the sequence there.
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
                        "found a merge key inside the mapping that it merges, whose anchor is \
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
                "found a scalar after the merge key `<<`, expected a mapping or a sequence of \
                 mappings",
            )
            .hint(Hint::set(Opt::YamlSchema, "core").to("read `<<` as an ordinary key"))),
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

    /// Returns the name of the key at `at` in the form that [`OpenMaps`] stores; `None` for a merge
    /// key.
    fn merge_key(&mut self, at: usize) -> Result<Option<String>> {
        let mut builder = Builder::new(&self.c.limits);
        let mut place = at;
        while let Raw::Alias { anchor, .. } = self.c.refs.tape[place] {
            place = self.c.refs.anchors[anchor].start;
        }
        let Raw::Scalar { style, tag, start, len, .. } = self.c.refs.tape[place] else {
            // A collection as a key never equals another.
            return Ok(Some(format!("[{at}")));
        };
        let text = self.c.refs.text(start, len).to_owned();
        let tag = self.c.refs.tag(tag).map(str::to_owned);
        if self.is_merge(style, tag.as_deref(), &text) {
            return Ok(None);
        }
        // A composer of its own would be overkill: the key's value is enough.
        super::meaning::give(
            &mut builder,
            &self.c.options,
            &self.c.limits,
            tag.as_deref(),
            super::meaning::wanted(
                &self.c.options,
                tag.as_deref(),
                tags::scalar(self.c.options.schema, style, tag.as_deref(), &text),
            ),
            &text,
        )?;
        Ok(builder.take().map(|value| match value {
            Value::Text(text) => format!("'{text}"),
            value => format!(" {value}"),
        }))
    }
}

/// How deep merged mappings may merge others. Each level uses the call stack.
const MERGE_DEPTH: u32 = 64;
