//! Links: anchors and aliases if the sink holds references, otherwise copies of the value.

use super::skip;
use super::types::*;
use super::walk::{Common, Step, Walk};
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::option::Opt;
use crate::policy::event::Sink;
use crate::policy::fidelity::LossKind;
use crate::{Error, ErrorKind, Result};

/// A leaf that a link names counts as one event per this many bytes.
pub(super) const LEAF_BYTES: u64 = 64;

impl Walk<'_> {
    /// Moves the next anchor to the first one that is not before the current place.
    pub fn find_anchor(&mut self) {
        while let Some((start, _)) = self.linked.get(self.next_linked)
            && (*start as usize) < self.at
        {
            self.next_linked += 1;
        }
        let next = self.linked.get(self.next_linked);
        self.next_anchor = next.map_or(usize::MAX, |(start, _)| *start as usize);
    }

    /// Gives the current object no anchor even if a link names it, because it is text: every link
    /// to it becomes a copy.
    pub fn pass_anchor(&mut self) {
        if self.common_text(self.at).is_none() {
            return;
        }
        self.next_linked += 1;
        self.at += 1;
        self.find_anchor();
        self.at -= 1;
    }

    /// Returns whether an object after `start` and before `end` needs an anchor, so that it cannot
    /// be skipped.
    pub fn has_anchor_inside(&self, start: usize, end: usize) -> bool {
        let after = self.linked.partition_point(|(place, _)| *place as usize <= start);
        self.linked.get(after).is_some_and(|(place, _)| (*place as usize) < end)
    }

    #[cold]
    pub fn anchor<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        self.find_anchor();
        if self.next_anchor == self.at {
            let (_, index) = self.linked[self.next_linked];
            self.next_linked += 1;
            let index = index as usize;
            if self.anchors.len() <= index {
                self.anchors.resize(index + 1, 0);
            }
            self.last_anchor += 1;
            self.anchors[index] = self.last_anchor;
            sink.begin_anchor(u64::from(self.last_anchor))?;
            self.enter(Step::EndAnchor, 0)?;
            self.at += 1;
            self.find_anchor();
            self.at -= 1;
        }
        Ok(())
    }

    /// Emits a link to an object that came before, or is still open.
    pub fn link<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        let at = self.at;
        let (index, end) = skip::number(self.document, at + 1);
        let target = self.scanned.tables.objects[index as usize] as usize;
        // An object that was never emitted, such as the name of an encoding, has no anchor.
        if let Some(id @ 1..) = self.anchors.get(index as usize).copied() {
            sink.alias(u64::from(id))?;
            self.at = end;
            return Ok(());
        }
        match self.document[target] {
            FLOAT => {
                self.at = target;
                self.float(sink)?;
                // If an enclosing type has yet to end, that step needs no place.
                self.at = end;
                return Ok(());
            }
            IVARS => {
                if let Some((text, _)) = self.common_text(target) {
                    match text {
                        Common::Short(text) => sink.short_str(text)?,
                        Common::Long(text) => {
                            self.spend(text.len() as u64 / LEAF_BYTES)?;
                            sink.str(text)?;
                        }
                    }
                    self.at = end;
                    return Ok(());
                }
            }
            _ => {}
        }
        if self.scanned.is_leaf(target) {
            // Text and numbers are the same everywhere; only their bytes count.
            let bytes = skip::value(self.document, target) - target;
            self.spend(bytes as u64 / LEAF_BYTES)?;
            self.at = target;
            self.push(Step::Return(end as u32), 0);
            self.expanding += 1;
            self.bare_value(target, sink)?;
            return Ok(());
        }
        if self.room.steps.iter().any(|open| open.start == target as u32) {
            return Err(self.cycle(at, target, sink));
        }
        if self.expanding == 0 {
            let found = format!("another reference to the object at byte {target}");
            self.note(sink, LossKind::Reference, found, "a copy");
        }
        self.spend(1)?;
        self.push(Step::Return(end as u32), 0);
        self.expanding += 1;
        self.at = target;
        self.bare_value(target, sink)
    }

    #[inline]
    pub fn spend(&mut self, events: u64) -> Result {
        match self.budget.checked_sub(events) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(self.overspent()),
        }
    }

    #[cold]
    pub fn overspent(&self) -> Error {
        Error::limit(format!(
            "found shared values that add more than {} values when expanded, the limit \
             of aliases",
            self.limits.aliases
        ))
        .hint(
            Hint::raise(Limit::Aliases)
                .or(Hint::set(Opt::OnLoss, "wrap").to("keep the references")),
        )
        .at(self.at as u64)
    }

    #[cold]
    pub fn cycle<S: Sink + ?Sized>(&self, at: usize, target: usize, sink: &mut S) -> Error {
        let (why, hint) = sink.fidelity().no_cycles();
        Error::new(
            ErrorKind::Refused,
            format!(
                "found a link to the value that contains it, which begins at byte {target} of its \
                 document; {why}"
            ),
        )
        .hint(hint)
        .at(at as u64)
    }
}
