//! The two passes over what is not plain: a single value, or the rest of the document.

use super::super::walk::{Open, Step, Walk};
use super::{Direct, Ended, Input, Place};
use crate::Error;
use crate::policy::event::Sink;

/// The first [`ODD_FREE`] values go through both passes on their own, then one per [`ODD_SHARE`]
/// objects: setting up the passes costs as much as passing over several more plain values.
const ODD_FREE: usize = 64;
const ODD_SHARE: usize = 8;
/// A value that is cut off is scanned again from its beginning if at most this many bytes of it
/// were scanned.
const AGAIN: usize = 1024;

impl Direct<'_, '_> {
    /// Scans and walks the single value or key at the current place. Returns how that ended, unless
    /// it succeeded.
    #[inline(never)]
    pub(super) fn one<S: Sink + ?Sized>(&mut self, is_key: bool, sink: &mut S) -> Option<Ended> {
        let Input { document, last, options, limits, .. } = self.input;
        let Place { at: start, left, .. } = self.state.place;
        let depth = self.room.steps.len();
        self.state.odd += 1;
        let objects = self.scanner.tables.objects.len();
        if self.state.odd > ODD_FREE && self.state.odd * ODD_SHARE > objects {
            return Some(Ended::Left(self.state.place));
        }
        let symbols = self.scanner.tables.symbols.len();
        self.scanner.resume(start, depth as u32, 1);
        let end = match self.scanner.run(document, last, limits) {
            Ok(Some(end)) => end,
            Ok(None) if self.scanner.at() - start > AGAIN => {
                return Some(Ended::Begun);
            }
            Ok(None) => {
                self.scanner.tables.forget(objects, symbols);
                self.state.odd -= 1;
                return Some(Ended::More);
            }
            Err(error) => return Some(Ended::Broken(error)),
        };
        let after = Place { at: end, left: left - u64::from(!is_key), between: is_key };
        // The cost of sets is counted over a whole document, whose length is not known yet.
        if self.has_new_set() {
            return Some(Ended::Left(after));
        }
        let mut walk = Walk::new(document, &self.scanner.tables, options, limits, self.room);
        (walk.at, walk.open, walk.budget) = (start, depth as u32, self.state.budget);
        let walked = if is_key {
            walk.key(sink)
        } else {
            walk.push(Step::Value, 0);
            walk.steps(depth, sink)
        };
        self.state.budget = walk.budget;
        if let Err(error) = walked {
            let at = error.offset().map_or(walk.at, |at| at as usize);
            self.room.steps.truncate(depth);
            return Some(Ended::Failed(error, at, after));
        }
        self.state.place.at = end;
        None
    }

    /// Returns whether any symbol so far is the name of a set.
    fn has_new_set(&mut self) -> bool {
        let symbols = &self.scanner.tables.symbols;
        let found = symbols[self.state.symbols_seen..].iter().any(|symbol| {
            let name = &self.input.document[symbol.at as usize..][..symbol.length as usize];
            matches!(name, b"Set" | b"SortedSet")
        });
        self.state.symbols_seen = if found { 0 } else { symbols.len() };
        found
    }

    /// Prepares the scanner to go over the rest of the document from `from`.
    #[cold]
    pub(super) fn begin_rest(&mut self, from: Place) {
        let values = |step: Step, left: u64| match step {
            Step::Map(_) => 2 * left,
            _ => left,
        };
        let Some((last, outer)) = self.room.steps.split_last() else {
            return self.scanner.resume(from.at, 0, from.left);
        };
        // Nothing more encloses the document.
        self.scanner.resume(from.at, 0, 0);
        for open in outer {
            let (Step::Array(left) | Step::Map(left)) = open.step else { continue };
            self.scanner.enter_again(values(open.step, left));
        }
        self.scanner.enter_again(values(last.step, from.left) - u64::from(from.between));
    }

    /// Does the same if the scanner is already inside the current value.
    #[cold]
    pub(super) fn put_rest_below(&mut self) {
        let Place { left, between, .. } = self.state.place;
        let begun = self.scanner.suspend();
        let is_key =
            !between && matches!(self.room.steps.last(), Some(Open { step: Step::Map(_), .. }));
        self.begin_rest(Place { at: 0, left: left - u64::from(!is_key), between: is_key });
        self.scanner.go_on_with(begun);
    }

    /// Walks the rest of the document, whose length is now known.
    #[cold]
    pub(super) fn walk_rest<S: Sink + ?Sized>(
        &mut self,
        length: usize,
        sink: &mut S,
    ) -> std::result::Result<(), (Error, usize)> {
        let Input { document, options, limits, .. } = self.input;
        let Place { at, left, between } = self.state.place;
        let depth = self.room.steps.len();
        if let Some(open) = self.room.steps.last_mut() {
            open.step = match open.step {
                Step::Map(_) => Step::Map(left - u64::from(between)),
                _ => Step::Array(left),
            };
        }
        let (document, tables) = (&document[..length], &self.scanner.tables);
        let mut walk = Walk::new(document, tables, options, limits, self.room);
        (walk.at, walk.open, walk.budget) = (at, depth as u32, self.state.budget);
        if depth == 0 || between {
            walk.push(Step::Value, 0);
        }
        walk.go(sink)
    }
}
