//! Anchored nodes, kept so that the node can be sent again for each alias.
//!
//! Only anchored nodes are kept, as events of the grammar, in order on one tape for the whole
//! document. An alias within one is kept as an alias, so the tape is never longer than the input,
//! however often aliases of aliases multiply. That growth is bounded when they are sent again.

use std::collections::HashMap;

use super::event::Style;
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::option::Opt;
use crate::{Error, Limits, Result};

/// An event on the tape.
#[derive(Clone, Copy, Debug)]
pub(super) enum Raw {
    Scalar { style: Style, key: bool, tag: Tag, start: usize, len: usize },
    Begin { mapping: bool, key: bool, tag: Tag },
    End,
    Alias { anchor: usize, key: bool },
}

/// An index into the list of tags; 0 means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag(u32);

/// A node with a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    /// Its first event on the tape.
    pub(super) start: usize,
    /// After its last event; `None` while it is open.
    pub(super) end: Option<usize>,
    /// Its offset in the input.
    pub(super) offset: u64,
    /// The number that the sink knows it by, if any.
    pub(super) id: Option<u64>,
    pub(super) scalar: bool,
}

#[derive(Debug, Default)]
pub(super) struct References {
    pub(super) tape: Vec<Raw>,
    text: String,
    tags: Vec<String>,
    pub(super) anchors: Vec<Anchor>,
    names: HashMap<String, usize>,
    /// Anchored collections that are open: their level, and their index in `anchors`.
    open: Vec<(u32, usize)>,
    /// How many of them are recorded; more if something else is.
    pub(super) recording: u32,
    /// How many values aliases may still add.
    pub(super) left: u64,
    next_id: u64,
}

impl References {
    /// Prepares for another document.
    pub(super) fn reset(&mut self, limits: &Limits) {
        (self.left, self.next_id, self.recording) = (limits.aliases, 0, 0);
        if !self.anchors.is_empty() || !self.tape.is_empty() {
            self.tape.clear();
            self.text.clear();
            self.tags.clear();
            self.anchors.clear();
            self.names.clear();
            self.open.clear();
        }
    }

    /// Returns the node that a name refers to.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Names the next node on the tape; returns its number for a sink that holds references.
    pub(super) fn anchor(
        &mut self,
        name: &str,
        offset: u64,
        scalar: bool,
        sent: bool,
    ) -> Option<u64> {
        self.next_id += u64::from(sent);
        let id = sent.then_some(self.next_id);
        let anchor = Anchor { start: self.tape.len(), end: None, offset, id, scalar };
        self.names.insert(name.to_owned(), self.anchors.len());
        self.anchors.push(anchor);
        id
    }

    /// Records the anchored collection that was named last until [`close`](Self::close).
    pub(super) fn open(&mut self, level: u32) {
        self.open.push((level, self.anchors.len() - 1));
        self.recording += 1;
    }

    /// Ends the collection at `level`.
    pub(super) fn close(&mut self, level: u32) {
        if self.open.last().is_some_and(|(open, _)| *open == level) {
            let (_, anchor) = self.open.pop().expect("just checked");
            self.anchors[anchor].end = Some(self.tape.len());
            self.recording -= 1;
        }
    }

    /// Ends the scalar that was named last, which is on the tape.
    pub(super) fn close_scalar(&mut self) {
        let end = self.tape.len();
        if let Some(anchor) = self.anchors.last_mut() {
            anchor.end = Some(end);
        }
    }

    pub(super) fn push(&mut self, raw: Raw, limits: &Limits) -> Result {
        self.tape.push(raw);
        let bytes = self.tape.len() * size_of::<Raw>() + self.text.len() + 64 * self.anchors.len();
        if bytes as u64 <= limits.record_bytes {
            return Ok(());
        }
        let most = limits.record_bytes;
        Err(Error::limit(format!(
            "found anchored values that need more than {most} bytes, the limit of record_bytes"
        ))
        .hint(Hint::raise(Limit::RecordBytes)))
    }

    pub(super) fn push_scalar(
        &mut self,
        style: Style,
        tag: Option<&str>,
        text: &str,
        key: bool,
        limits: &Limits,
    ) -> Result {
        let tag = self.push_tag(tag);
        let (start, len) = (self.text.len(), text.len());
        self.text.push_str(text);
        self.push(Raw::Scalar { style, key, tag, start, len }, limits)
    }

    pub(super) fn push_tag(&mut self, tag: Option<&str>) -> Tag {
        let Some(tag) = tag else { return Tag(0) };
        if self.tags.last().is_none_or(|last| last != tag) {
            self.tags.push(tag.to_owned());
        }
        Tag(self.tags.len() as u32)
    }

    pub(super) fn tag(&self, tag: Tag) -> Option<&str> {
        self.tags.get((tag.0 as usize).checked_sub(1)?).map(String::as_str)
    }

    pub(super) fn text(&self, start: usize, len: usize) -> &str {
        &self.text[start..start + len]
    }

    /// Returns the index after the node that begins at `at` on the tape.
    pub(super) fn node_end(&self, mut at: usize) -> usize {
        let mut depth = 0;
        loop {
            match self.tape[at] {
                Raw::Begin { .. } => depth += 1,
                Raw::End => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return at;
            }
        }
    }

    /// Counts what an alias adds: a value, and its text.
    pub(super) fn spend(&mut self, values: u64, bytes: usize, limits: &Limits) -> Result {
        let cost = values + (bytes / 64) as u64;
        match self.left.checked_sub(cost) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let most = limits.aliases;
                Err(Error::limit(format!(
                    "found aliases that expand to more than {most} values, the limit of aliases"
                ))
                .hint(
                    Hint::set(Opt::OnLoss, "wrap")
                        .to("keep them as references")
                        .or(Hint::raise(Limit::Aliases)),
                ))
            }
        }
    }
}
