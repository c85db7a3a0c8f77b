//! Emits calls that are recognised, as values.

use super::{Run, Task, Walk};
use crate::Result;
use crate::codec::pickle::arena::{Node, Step};
use crate::codec::pickle::numpy::{Ndarray, Number};
use crate::codec::pickle::understand::Meaning;
use crate::policy::event::{Ext, Sink};

impl Walk<'_> {
    /// Emits a call that is recognised.
    #[inline(never)]
    pub(super) fn meaning<S: Sink + ?Sized>(
        &mut self,
        index: u32,
        meaning: Meaning<'_>,
        sink: &mut S,
    ) -> Result {
        match meaning {
            Meaning::Bytes(bytes) => {
                self.spend_text(bytes.len())?;
                sink.bytes(&bytes)
            }
            Meaning::ByteArray(bytes) => {
                self.typed("bytearray", "", sink)?;
                self.spend_text(bytes.len())?;
                sink.bytes(&bytes)
            }
            Meaning::Date(text) => sink.ext(Ext::Date(&text)),
            Meaning::Time { text, fold } => {
                self.fold(fold, sink)?;
                sink.ext(Ext::Time(&text))
            }
            Meaning::DateTime { text, fold } => {
                self.fold(fold, sink)?;
                sink.ext(Ext::DateTime(&text))
            }
            Meaning::OffsetDateTime { text, fold } => {
                self.fold(fold, sink)?;
                sink.ext(Ext::OffsetDateTime(&text))
            }
            Meaning::Timestamp(at) => sink.ext(Ext::Timestamp(at)),
            Meaning::Duration { seconds, nanoseconds } => {
                sink.ext(Ext::Duration { seconds, nanoseconds })
            }
            Meaning::Decimal(text) => sink.ext(Ext::Decimal(&text)),
            Meaning::NoDecimal(text) => {
                self.typed("decimal", "", sink)?;
                sink.str(&text)
            }
            Meaning::Fraction(text) => {
                self.typed("fraction", "", sink)?;
                sink.str(&text)
            }
            Meaning::Uuid(bytes) => sink.ext(Ext::Uuid(bytes)),
            Meaning::Complex(real, imaginary) => sink.ext(Ext::Complex(real, imaginary)),
            Meaning::Range(three) => self.three("range", three, sink),
            Meaning::Slice(three) => self.three("slice", three, sink),
            Meaning::Path { class, text } => {
                self.typed("path", &class, sink)?;
                sink.str(&text)
            }
            Meaning::Set { frozen, list } => {
                if let Some(list) = list {
                    self.check_members(list, Step::Append)?;
                }
                self.typed(if frozen { "frozenset" } else { "set" }, "", sink)?;
                match list {
                    Some(list) => {
                        self.consume(list)?;
                        self.array(list, Step::Append, sink)
                    }
                    None => self.empty_array(sink),
                }
            }
            Meaning::Deque { maxlen } => {
                let name = maxlen.map(|maxlen| maxlen.to_string()).unwrap_or_default();
                self.typed("deque", &name, sink)?;
                self.enter()?;
                sink.begin_array(Some(self.added(index)))?;
                let first = self.arena.first_chunk(index);
                self.tasks.push(Task::Items(Run::chunks(first, Step::Append)));
                Ok(())
            }
            Meaning::OrderedDict => {
                self.typed("ordered_dict", "", sink)?;
                self.added_pairs(index, sink)
            }
            Meaning::DefaultDict { factory } => {
                self.typed("defaultdict", factory.as_deref().unwrap_or_default(), sink)?;
                self.added_pairs(index, sink)
            }
            Meaning::Counter { dict } => {
                self.typed("counter", "", sink)?;
                self.enter()?;
                let Some(dict) = dict else {
                    sink.begin_map(Some(0))?;
                    return self.end_map(sink);
                };
                self.consume(dict)?;
                sink.begin_map(Some(self.arena.count(dict) / 2))?;
                self.tasks.push(Task::Pairs(Run::all(self.arena, dict, Step::SetItems)));
                Ok(())
            }
            // An array of NumPy becomes plain numbers if the target does not keep it.
            Meaning::Ndarray(_) | Meaning::Scalar(_) if self.exact => self.describe(index, sink),
            Meaning::Ndarray(array) => self.numbers(&array, sink),
            Meaning::Scalar(array) => self.number(array.number(0), sink),
            Meaning::TimeZone { .. } => self.describe(index, sink),
        }
    }

    pub(super) fn fold<S: Sink + ?Sized>(&mut self, fold: bool, sink: &mut S) -> Result {
        if fold { self.typed("fold", "", sink) } else { Ok(()) }
    }

    pub(super) fn empty_array<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        self.enter()?;
        sink.begin_array(Some(0))?;
        self.end_array(sink)
    }

    pub(super) fn three<S: Sink + ?Sized>(
        &mut self,
        kind: &str,
        three: [Node; 3],
        sink: &mut S,
    ) -> Result {
        self.typed(kind, "", sink)?;
        self.enter()?;
        sink.begin_array(Some(3))?;
        for node in three {
            self.leaf(node, sink)?;
        }
        self.end_array(sink)
    }

    /// Emits nested arrays.
    pub(super) fn numbers<S: Sink + ?Sized>(
        &mut self,
        array: &Ndarray<'_>,
        sink: &mut S,
    ) -> Result {
        if array.shape.is_empty() {
            return self.number(array.number(0), sink);
        }
        if self.is_expanding() {
            self.spend(array.count() as u64)?;
        }
        self.spend_text(array.data.len())?;
        let dimensions = array.shape.len();
        for length in &array.shape {
            self.enter()?;
            sink.begin_array(Some(*length as u64))?;
            if *length == 0 {
                break;
            }
        }
        for place in 0..array.count() {
            self.number(array.number(place), sink)?;
            // Every dimension that is full ends, and begins again while there is more.
            let mut full = 0;
            let mut rest = place + 1;
            while full < dimensions && rest % array.shape[dimensions - 1 - full] == 0 {
                rest /= array.shape[dimensions - 1 - full];
                full += 1;
            }
            for _ in 0..full {
                sink.end_array()?;
            }
            if full < dimensions {
                for length in &array.shape[dimensions - full..] {
                    sink.begin_array(Some(*length as u64))?;
                }
            }
        }
        if array.count() == 0 {
            sink.end_array()?;
        }
        self.depth -= dimensions as u32;
        Ok(())
    }

    pub(super) fn number<S: Sink + ?Sized>(&mut self, number: Number, sink: &mut S) -> Result {
        match number {
            Number::Bool(v) => sink.bool(v),
            Number::Int(v) => sink.i64(v),
            Number::UInt(v) => sink.u64(v),
            Number::F32(v) => sink.f32(v),
            Number::F64(v) => sink.f64(v),
            Number::Complex(real, imaginary) => sink.ext(Ext::Complex(real, imaginary)),
        }
    }

    /// Opens a map of the pairs that were added to an object.
    pub(super) fn added_pairs<S: Sink + ?Sized>(&mut self, index: u32, sink: &mut S) -> Result {
        self.enter()?;
        sink.begin_map(Some(self.added(index) / 2))?;
        let first = self.arena.first_chunk(index);
        self.tasks.push(Task::Pairs(Run::chunks(first, Step::SetItems)));
        Ok(())
    }

    /// Returns how many nodes were added to an object.
    pub(super) fn added(&self, index: u32) -> u64 {
        self.arena.chunks(index).map(|chunk| u64::from(chunk.end - chunk.start)).sum()
    }
}
