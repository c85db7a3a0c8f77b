//! The second pass: the events of a scanned document.
//!
//! Nothing is looked up or created: a class is a name in a type. Pending work is on a stack of
//! steps, so nesting in the document never becomes nested calls. Only a key that is not text is
//! built by a walk of its own, and those nest [`Value::KEY_NESTING`] deep.
//!
//! Advice for those who change this file: the document has been scanned, so lengths and numbers are
//! valid and slices cannot fail. The tables have the place of whatever a link names. If the sink
//! holds references, a shared value is emitted once, so the walk only goes forward and the next
//! anchor is known by its place; if not, [`Step::Return`] says where to continue. Anything that can
//! contain itself pushes a step with its own place, so that cycles are detected.

use super::read::{Encoding, Scanned};
use super::scan::{Tables, short_link};
use super::types::*;
use super::{Options, skip};
use crate::model::limits::Limits;
use crate::model::utf8::from_utf8;
use crate::model::value::Value;
use crate::policy::event::{Origin, ShortText, Sink, Type};
use crate::policy::fidelity::LossKind;
use crate::{Error, Result};

/// What to do when all steps above it are done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Emit this many values, then the end of the array.
    Array(u64),
    /// Emit this many pairs, then the end of the map.
    Map(u64),
    /// Emit this many fields, whose names are symbols, then the end of the map.
    Fields(u64),
    /// Emit this many elements of a set, which are keys of a hash whose values carry no
    /// information.
    Elements(u64),
    /// Emit the default value of a hash, under its key.
    Default,
    /// Emit the instance variables, under their key; those of text without its encoding.
    Ivars {
        text: bool,
    },
    /// Emit a value.
    Value,
    /// Emit a value whose wrappers have been emitted.
    Bare,
    /// Skip a value.
    Pass,
    /// Skip instance variables.
    PassIvars,
    EndMap,
    EndTyped,
    EndAnchor,
    /// Continue here after the target of a link.
    Return(u32),
}

/// A step, and the place of the object that it belongs to, or 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) step: Step,
    pub(super) start: u32,
}

/// Buffers of a walk, reused from document to document.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub(super) steps: Vec<Open>,
    /// Symbols as keys, by their number.
    pub(super) keys: Vec<Option<Value>>,
}

/// The walk over one document.
pub(super) struct Walk<'d> {
    pub scanned: Scanned<'d>,
    pub document: &'d [u8],
    pub options: &'d Options,
    pub(super) limits: &'d Limits,
    pub(super) room: &'d mut Room,
    /// The current place.
    pub at: usize,
    /// The byte that links to the symbol `E`, if there is one.
    pub(super) encoding_link: Option<u8>,
    /// The objects that get an anchor, by place, with their number.
    pub(super) linked: Vec<(u32, u32)>,
    pub(super) next_linked: usize,
    /// The index of the next of them.
    pub(super) next_anchor: usize,
    /// The anchors emitted so far, by the number of their object; 0 for none. They count from 1 in
    /// their own order, so they do not depend on what else has a number.
    pub(super) anchors: Vec<u32>,
    pub(super) last_anchor: u32,
    pub(super) references: bool,
    /// Open containers, types and anchors, as the sink sees them.
    pub(super) open: u32,
    pub(super) most_open: u32,
    /// Number of links whose targets are being emitted.
    pub(super) expanding: u32,
    /// Events that links may still add.
    pub(super) budget: u64,
    /// How many keys are being built, one inside another.
    pub(super) keys_open: usize,
    /// Bytes that may still be skipped to see what follows them. Nested values that need this would
    /// otherwise have the same bytes skipped at every level.
    pub(super) patience: u64,
    /// Losses seen while building a key, whose sink is not the writer.
    pub(super) losses: Vec<(LossKind, String, &'static str)>,
}

impl<'d> Walk<'d> {
    /// Emits the events of `document`, which has a version of two bytes and these tables.
    ///
    /// # Errors
    /// The sink's; `Syntax` for text that is not a number; `Limit` and `Refused` for links that
    /// cannot be expanded. Each has its place in the document.
    pub fn run<S: Sink + ?Sized>(
        document: &'d [u8],
        tables: &'d Tables,
        options: &'d Options,
        limits: &'d Limits,
        room: &'d mut Room,
        sink: &mut S,
    ) -> std::result::Result<(), (Error, usize)> {
        room.steps.clear();
        room.keys.clear();
        let mut walk = Walk::new(document, tables, options, limits, room);
        walk.references = tables.links > 0 && sink.holds_references();
        if walk.references {
            let scanned = walk.scanned;
            walk.linked = tables.linked();
            if !options.exact {
                walk.linked.retain(|(start, _)| {
                    let start = *start as usize;
                    let text = options.inert && matches!(document[start], STRING | IVARS);
                    text || !scanned.is_leaf(start)
                });
            }
            walk.find_anchor();
        }
        walk.push(Step::Value, 0);
        walk.go(sink)
    }

    /// Creates a walk that has not begun, without references.
    pub fn new(
        document: &'d [u8],
        tables: &'d Tables,
        options: &'d Options,
        limits: &'d Limits,
        room: &'d mut Room,
    ) -> Walk<'d> {
        Walk {
            scanned: Scanned { document, tables },
            document,
            options,
            limits,
            room,
            at: VERSION.len(),
            encoding_link: tables.encoding_flag.and_then(short_link),
            linked: Vec::new(),
            next_linked: 0,
            next_anchor: usize::MAX,
            anchors: Vec::new(),
            last_anchor: 0,
            references: false,
            open: 0,
            most_open: limits.depth.min(Limits::DEPTH_CEILING),
            expanding: 0,
            budget: limits.aliases,
            keys_open: 0,
            patience: (64 << 10) + 4 * document.len() as u64,
            losses: Vec::new(),
        }
    }

    /// Runs all steps. An error has its place.
    pub fn go<S: Sink + ?Sized>(
        &mut self,
        sink: &mut S,
    ) -> std::result::Result<(), (Error, usize)> {
        self.steps(0, sink).map_err(|error| {
            let at = error.offset().map_or(self.at, |at| at as usize);
            (error, at)
        })
    }

    #[inline]
    pub fn push(&mut self, step: Step, start: usize) {
        self.room.steps.push(Open { step, start: start as u32 });
    }

    /// Runs the steps above the first `base`, until they are done.
    pub(super) fn steps<S: Sink + ?Sized>(&mut self, base: usize, sink: &mut S) -> Result {
        while self.room.steps.len() > base {
            let top = self.room.steps.last_mut().expect("above the base");
            match &mut top.step {
                Step::Map(left @ 1..) => {
                    *left -= 1;
                    self.key(sink)?;
                    self.value(sink)?;
                }
                Step::Array(left @ 1..) => {
                    *left -= 1;
                    self.value(sink)?;
                }
                Step::Array(0) => {
                    self.leave();
                    sink.end_array()?;
                }
                Step::Map(0) | Step::Fields(0) | Step::EndMap => {
                    self.leave();
                    sink.end_map()?;
                }
                Step::Fields(left) => {
                    *left -= 1;
                    self.field(sink)?;
                    self.value(sink)?;
                }
                _ => self.rare_step(sink)?,
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn rare_step<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        let Open { step, start } = *self.room.steps.last().expect("there is a step");
        match step {
            Step::Elements(0) => {
                self.leave();
                // The default value of a set's hash is false.
                self.at += 1;
                return sink.end_array();
            }
            Step::Elements(left) => {
                let top = self.room.steps.last_mut().expect("there is a step");
                top.step = Step::Elements(left - 1);
                // The element is followed by a true.
                self.push(Step::Pass, 0);
                return self.value(sink);
            }
            Step::EndTyped => {
                self.leave();
                return sink.end_typed();
            }
            Step::EndAnchor => {
                self.leave();
                return sink.end_anchor();
            }
            _ => {
                self.room.steps.pop();
            }
        }
        match step {
            Step::Value => self.value(sink),
            Step::Bare => self.bare_value(start as usize, sink),
            Step::Default => {
                sink.key("default")?;
                self.value(sink)
            }
            Step::Ivars { text } => {
                let ivars = self.scanned.ivars(self.at);
                let (count, at) = match text {
                    true => (ivars.others, ivars.at),
                    false => skip::number(self.document, self.at),
                };
                sink.key("ivars")?;
                self.at = at;
                self.begin_map(sink, count, Step::Fields(count))
            }
            Step::Pass => {
                self.at = skip::value(self.document, self.at);
                Ok(())
            }
            Step::PassIvars => {
                self.at = skip::ivars(self.document, self.at);
                Ok(())
            }
            Step::Return(at) => {
                self.at = at as usize;
                self.expanding -= 1;
                Ok(())
            }
            _ => unreachable!("handled above"),
        }
    }

    #[inline]
    pub(super) fn leave(&mut self) {
        self.open -= 1;
        self.room.steps.pop();
    }

    /// Enters a container, type or anchor, which `step` closes.
    #[inline]
    pub fn enter(&mut self, step: Step, start: usize) -> Result {
        if self.open >= self.most_open {
            return Err(self.too_deep());
        }
        self.open += 1;
        self.push(step, start);
        Ok(())
    }

    #[cold]
    fn too_deep(&self) -> Error {
        Error::limit(format!(
            "found values nested more than {} deep, the limit of depth (a class and a shared value \
             count as one level each)",
            self.most_open
        ))
        .hint_depth(self.most_open)
        .at(self.at as u64)
    }

    pub fn begin_typed<S: Sink + ?Sized>(
        &mut self,
        sink: &mut S,
        kind: &str,
        name: &str,
        start: usize,
    ) -> Result {
        sink.begin_typed(&Type { origin: Origin::Ruby, kind, name })?;
        self.enter(Step::EndTyped, start)
    }

    pub fn begin_map<S: Sink + ?Sized>(&mut self, sink: &mut S, count: u64, step: Step) -> Result {
        sink.begin_map(Some(count))?;
        self.enter(step, 0)
    }

    /// Returns whether the current value may be skipped to see what follows it.
    pub fn is_patient(&self) -> bool {
        self.patience > 0
    }

    /// Records that `bytes` bytes were skipped.
    pub fn passed_over(&mut self, bytes: usize) {
        self.patience = self.patience.saturating_sub(bytes as u64);
    }

    /// For data, returns whether the value at `at` can be emitted without its extras: whether no
    /// alias needs any of them.
    pub fn can_drop(&mut self, at: usize) -> bool {
        if !self.options.data || !self.references {
            return self.options.data;
        }
        if !self.is_patient() {
            return false;
        }
        let end = skip::value(self.document, at);
        self.passed_over(end - at);
        !self.has_anchor_inside(at, end)
    }

    /// Records a loss, directly on the writer if this is its walk.
    #[cold]
    pub fn note<S: Sink + ?Sized>(
        &mut self,
        sink: &mut S,
        kind: LossKind,
        found: impl Into<String>,
        written: &'static str,
    ) {
        if self.keys_open == 0 {
            sink.fidelity().note(kind, found, written);
        } else {
            self.losses.push((kind, found.into(), written));
        }
    }

    /// Emits the current value.
    #[inline]
    pub(super) fn value<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        if self.expanding > 0 {
            self.spend(1)?;
        }
        let at = self.at;
        if at >= self.next_anchor {
            self.anchor(sink)?;
        }
        self.bare_value(at, sink)
    }

    /// Emits the current value without its anchor. `start` is where it begins, including its
    /// wrappers.
    pub(super) fn bare_value<S: Sink + ?Sized>(&mut self, start: usize, sink: &mut S) -> Result {
        let (document, at) = (self.document, self.at);
        match document[at] {
            IVARS => match self.common_text(at) {
                Some((text, end)) => {
                    match text {
                        Common::Short(text) => sink.short_str(text)?,
                        Common::Long(text) => sink.str(text)?,
                    }
                    self.at = end;
                }
                None => self.with_ivars(start, sink)?,
            },
            LINK => self.link(sink)?,
            FIXNUM => {
                let (v, end) = long(document, at + 1).expect("scanned before");
                if self.options.exact && !is_rubys(v, &document[at + 1..end]) {
                    return self.raw(end, sink);
                }
                sink.i64(v)?;
                self.at = end;
            }
            FLOAT => self.float(sink)?,
            NIL => {
                sink.null()?;
                self.at = at + 1;
            }
            kind @ (TRUE | FALSE) => {
                sink.bool(kind == TRUE)?;
                self.at = at + 1;
            }
            ARRAY => {
                let (count, end) = skip::number(document, at + 1);
                sink.begin_array(Some(count))?;
                self.enter(Step::Array(count), start)?;
                self.at = end;
            }
            HASH => {
                let (count, end) = skip::number(document, at + 1);
                sink.begin_map(Some(count))?;
                self.enter(Step::Map(count), start)?;
                self.at = end;
            }
            STRING => {
                let (raw, end) = skip::bytes(document, at + 1);
                self.text(raw, Encoding::None, sink)?;
                self.at = end;
            }
            SYMBOL | SYMLINK => {
                let (symbol, end) = self.scanned.symbol(at);
                self.symbol(symbol, sink)?;
                self.at = end;
            }
            BIGNUM => self.big_integer(sink)?,
            _ => self.object(start, sink)?,
        }
        Ok(())
    }

    /// Reads the usual form of text: UTF-8 or ASCII, with no other instance variable. Returns it
    /// and the place after it.
    // A call returns it through memory, which took 5% of the time of reading texts into Python.
    #[inline(always)]
    pub(super) fn common_text(&self, at: usize) -> Option<(Common<'d>, usize)> {
        let document = self.document;
        if document[at + 1] != STRING {
            return None;
        }
        let (length, start) = skip::number(document, at + 2);
        let end = start + length as usize;
        let (flag, after) = match document[end..] {
            [6, SYMLINK, name, flag, ..] if Some(name) == self.encoding_link => (flag, end + 4),
            [6, SYMBOL, 6, b'E', flag, ..] => (flag, end + 5),
            _ => return None,
        };
        let ascii = match flag {
            TRUE => false,
            FALSE if !self.options.keeps_objects() => true,
            _ => return None,
        };
        if let Some(window) = document[start..].first_chunk::<32>()
            && let Some(text) = ShortText::ascii(window, length as usize)
        {
            return Some((Common::Short(text), after));
        }
        let text = from_utf8(&document[start..end])?;
        (!ascii || text.is_ascii()).then_some((Common::Long(text), after))
    }
}

/// See [`Walk::common_text`].
pub(super) enum Common<'d> {
    Short(ShortText<'d>),
    Long(&'d str),
}

/// Returns whether Ruby would write the number with these bytes, as a fixnum.
fn is_rubys(v: i64, bytes: &[u8]) -> bool {
    FIXNUM_RANGE.contains(&v) && {
        let (shortest, count) = long_bytes(v as i32);
        shortest[..count] == *bytes
    }
}
