//! Lists and dicts that stand in several places, for formats that hold references.
//!
//! What nobody else refers to cannot stand twice, and nearly everything is so. So a document is
//! walked without anchors first, and only what has more references than its parent's is remembered.
//! When one of those comes a second time the walk starts again: once to learn which come twice, and
//! once to write them.

use std::collections::HashMap;

use regauge::event::Sink;
use regauge::{Error, ErrorKind, Result};

use super::{Object, Walker};
use crate::raw::view;

/// References to an object that stands in one place: its parent's, and ours.
const ALONE: isize = 2;

/// What is known of the objects that others refer to as well. Each is held, so that its address is
/// not given to another.
#[derive(Default)]
pub(super) enum Shared<'py> {
    /// The format holds no references.
    #[default]
    None,
    /// Nothing came twice so far.
    First(HashMap<usize, Object<'py>>),
    /// Learning how often each comes.
    Counting(HashMap<usize, (Object<'py>, u32)>),
    /// Those that come more than once, and their anchors.
    Known(HashMap<usize, (Object<'py>, u64)>, u64),
}

impl<'py> Walker<'py> {
    /// Looks for shared objects from now on.
    pub fn want_references(&mut self) {
        self.shared = Shared::First(HashMap::new());
    }

    /// Whether the walk stopped because something came twice. If so, the next one will count, and
    /// the one after that write anchors.
    pub fn starts_again(&mut self) -> bool {
        match std::mem::take(&mut self.shared) {
            Shared::Counting(counts) => {
                let twice = counts.into_iter().filter(|(_, (_, count))| *count > 1);
                let known = twice.map(|(at, (object, _))| (at, (object, 0))).collect();
                self.shared = Shared::Known(known, 0);
                true
            }
            other => {
                self.shared = other;
                false
            }
        }
    }

    /// Whether the walk is the one that counts, whose events nobody needs.
    pub fn is_counting(&self) -> bool {
        matches!(self.shared, Shared::Counting(_))
    }

    /// Whether an object may stand in other places too, and that matters.
    #[inline(always)]
    pub(super) fn is_shared(&self, object: &Object<'py>) -> bool {
        !matches!(self.shared, Shared::None) && view::references(object) > ALONE
    }

    /// What an object that [may be shared](Walker::is_shared) needs before it is written: nothing, an anchor, or, if `true` comes back,
    /// nothing more than the alias that it got.
    #[inline(never)]
    pub(super) fn anchor<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        sink: &mut S,
    ) -> Result<bool> {
        let at = object.as_ptr() as usize;
        match &mut self.shared {
            Shared::None => Ok(false),
            Shared::First(seen) => {
                if seen.insert(at, object.clone()).is_none() {
                    return Ok(false);
                }
                self.shared = Shared::Counting(HashMap::new());
                Err(Error::new(ErrorKind::Io, "a value comes twice: the walk starts again"))
            }
            Shared::Counting(counts) => {
                let entry = counts.entry(at).or_insert_with(|| (object.clone(), 0));
                entry.1 += 1;
                let again = entry.1 > 1;
                if again {
                    sink.null()?;
                }
                Ok(again)
            }
            Shared::Known(known, anchors) => match known.get_mut(&at) {
                None => Ok(false),
                Some((_, id @ 0)) => {
                    *anchors += 1;
                    *id = *anchors;
                    sink.begin_anchor(*id)?;
                    Ok(false)
                }
                Some((_, id)) => {
                    sink.alias(*id)?;
                    Ok(true)
                }
            },
        }
    }

    /// Closes the anchor of an object that has just been written, if it has one.
    #[inline(always)]
    pub(super) fn end_anchor<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        sink: &mut S,
    ) -> Result {
        match &self.shared {
            Shared::Known(known, _) if known.contains_key(&(object.as_ptr() as usize)) => {
                sink.end_anchor()
            }
            _ => Ok(()),
        }
    }
}
