//! Lists and dicts that occur several times, for formats with references.
//!
//! An object that nobody else refers to cannot occur twice, and nearly all are like that. So a
//! document is walked without anchors first, and only objects with more references than their
//! parent's are remembered. When one of those occurs a second time, the walk restarts: once to
//! learn which ones occur twice, and once to write them.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use regauge::event::Sink;
use regauge::{Error, ErrorKind, Result};

use super::{Object, Walker};
use crate::raw::view;

/// References to an object that occurs once: its parent's, and ours.
const ALONE: isize = 2;

/// Objects by their addresses, which no input chooses: so a fast hash will do.
type Objects<T> = HashMap<usize, T, FixedState>;

/// The state of objects that others refer to as well. Each is held, so that its address is not
/// reused.
#[derive(Default)]
pub(super) enum Shared<'py> {
    /// The format has no references.
    #[default]
    None,
    /// Nothing has occurred twice so far.
    First(Objects<Object<'py>>),
    /// Counting how often each occurs.
    Counting(Objects<(Object<'py>, u32)>),
    /// Those that occur more than once, and their anchors.
    Known(Objects<(Object<'py>, u64)>, u64),
}

impl<'py> Walker<'py> {
    /// Starts looking for shared objects.
    pub fn want_references(&mut self) {
        self.shared = Shared::First(Objects::default());
    }

    /// Returns whether the walk stopped because something occurred twice. If so, the next one
    /// counts, and the one after that writes anchors.
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

    /// Returns whether this is the counting walk, whose events are not needed.
    pub fn is_counting(&self) -> bool {
        matches!(self.shared, Shared::Counting(_))
    }

    /// Returns whether an object may occur elsewhere too, and that matters.
    #[inline(always)]
    pub(super) fn is_shared(&self, object: &Object<'py>) -> bool {
        !matches!(self.shared, Shared::None) && view::references(object) > ALONE
    }

    /// Writes what an object that [may be shared](Walker::is_shared) needs before it: nothing, an
    /// anchor, or, if this returns `true`, an alias that replaces it.
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
                self.shared = Shared::Counting(Objects::default());
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
