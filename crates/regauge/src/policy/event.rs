//! The vocabulary that all formats share: a document is a sequence of events.
//!
//! A reader turns bytes into events and drives a [`Sink`] with them; a writer is a sink that turns
//! them into bytes. Everything else that consumes or produces events (a [`Value`], the shape of a
//! file, the comparison of two files) implements the same traits, so N readers and N writers give
//! N² conversions, and none of them builds a tree.
//!
//! # The grammar of events
//!
//! ```text
//! document = value
//! value    = null | bool | i64 | u64 | f64 | f32 | str | bytes | big_int | ext
//!          | begin_array value* end_array
//!          | begin_map ((key | key_value) value)* end_map
//!          | begin_typed value end_typed
//!          | begin_anchor value end_anchor | alias
//! ```
//!
//! An integer is an `i64` if it fits, a `u64` only above `i64::MAX`, and a `big_int` only outside
//! both. A length of `Some` is a promise; `None` means that it is not known.
//!
//! A type (a class, a tag) wraps the one value that it describes. An anchor names the one value in
//! it by a number, counted from 1 within the document; an alias is that value again, even inside
//! itself. Anchors are sent only to a sink that [`holds_references`](Sink::holds_references); for
//! any other sink the reader repeats the value itself, within a budget. If a value has both, the
//! anchor is outside.

#[cfg(test)]
pub(crate) mod recorder;

use crate::Result;
pub use crate::model::ext::{BigInt, Ext, ExtBuf, Origin, Timestamp, Type, TypeBuf};
pub use crate::model::utf8::{ShortText, from_utf8};
use crate::model::value::Value;
use crate::policy::fidelity::{self, Fidelity};

/// Consumes the events of documents.
///
/// Every method is one event. The events that nearly every format supports are required; the others
/// have a default body that applies the fidelity policy: it refuses the event, writes it in the
/// reversible notation, or writes the nearest value and counts the loss (see [`crate::policy::fidelity`]).
/// A sink that can hold such an event exactly overrides the method.
///
/// `Sink` works both as a type parameter and as `dyn Sink`.
///
/// # Errors
/// Every method returns the sink's own errors: [`Io`](crate::ErrorKind::Io) from the output,
/// [`Refused`](crate::ErrorKind::Refused) from the policy, and
/// [`Unrepresentable`](crate::ErrorKind::Unrepresentable) for a document that does not fit the
/// format. They carry no offset; the reader adds it.
pub trait Sink {
    /// Receives the null value.
    fn null(&mut self) -> Result;
    /// Receives a boolean.
    fn bool(&mut self, v: bool) -> Result;
    /// Receives null, as `None`, or a boolean. A source may call this in place of the other two if it does not branch on
    /// which of them it has: in an array of all three, such a branch is hard to foresee.
    #[inline]
    fn constant(&mut self, v: Option<bool>) -> Result {
        match v {
            None => self.null(),
            Some(v) => self.bool(v),
        }
    }
    /// Receives an integer that fits `i64`.
    fn i64(&mut self, v: i64) -> Result;
    /// Receives an integer above `i64::MAX`.
    fn u64(&mut self, v: u64) -> Result;
    /// Receives a double, including NaN and the infinities; a sink that cannot hold those calls
    /// [`fidelity::non_finite`].
    fn f64(&mut self, v: f64) -> Result;
    /// Receives text, valid only during the call.
    fn str(&mut self, v: &str) -> Result;
    /// Opens an array of `len` values, if the length is known in advance.
    fn begin_array(&mut self, len: Option<u64>) -> Result;
    /// Closes the array.
    fn end_array(&mut self) -> Result;
    /// Opens a map of `len` pairs, if the length is known in advance.
    fn begin_map(&mut self, len: Option<u64>) -> Result;
    /// Receives a text key, as nearly all keys are.
    fn key(&mut self, k: &str) -> Result;
    /// Closes the map.
    fn end_map(&mut self) -> Result;

    /// Same as [`str`](Sink::str), which it calls by default, for text that a sink may copy faster.
    #[inline]
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        self.str(v.as_str())
    }
    /// Same as [`key`](Sink::key), which it calls by default, for text that a sink may copy faster.
    #[inline]
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        self.key(k.as_str())
    }

    /// Returns the policy and the losses so far.
    fn fidelity(&mut self) -> &mut Fidelity;

    /// Receives a map of one text pair: `begin_map`, `key`, `str` and `end_map` in one event. MARC
    /// records are made of such maps; writing each in one step makes a sink 1.5x faster.
    #[inline]
    fn text_pair(&mut self, k: &str, v: &str) -> Result {
        self.begin_map(Some(1))?;
        self.key(k)?;
        self.str(v)?;
        self.end_map()
    }

    /// Receives an array of doubles: `begin_array`, an `f64` for each and `end_array` in one event.
    /// Coordinates are such arrays; the per-event overhead took half of their time.
    #[inline]
    fn f64_array(&mut self, values: &[f64]) -> Result {
        self.begin_array(Some(values.len() as u64))?;
        values.iter().try_for_each(|v| self.f64(*v))?;
        self.end_array()
    }
    /// Receives an array of two finite doubles: coordinates, of which files hold tens of thousands.
    ///
    /// # Errors
    /// Same as [`f64_array`](Sink::f64_array).
    #[inline]
    fn f64_pair(&mut self, x: f64, y: f64) -> Result {
        self.f64_array(&[x, y])
    }

    /// Returns a MARC record for the reader to fill in directly, instead of sending the events of a
    /// document. Only a sink that keeps records returns one, and only if it accepts records of
    /// `bytes` bytes of memory.
    fn whole_record(&mut self, bytes: u64) -> Option<&mut crate::model::record::Record> {
        let _ = bytes;
        None
    }

    /// Receives a single-precision number. The default sends the double of the same value, which
    /// loses only the width.
    fn f32(&mut self, v: f32) -> Result {
        self.f64(crate::model::number::widened(v))
    }
    /// Receives binary data.
    fn bytes(&mut self, v: &[u8]) -> Result {
        fidelity::bytes(self, v)
    }
    /// Receives an integer outside `i64` and `u64`.
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        fidelity::big_int(self, v)
    }
    /// Receives a value that only some formats have.
    fn ext(&mut self, v: Ext<'_>) -> Result {
        fidelity::ext(self, v)
    }
    /// Receives a key that is not text. Keys are small, so they arrive whole.
    fn key_value(&mut self, k: &Value) -> Result {
        fidelity::key_value(self, k)
    }
    /// Opens a type around the one value that follows.
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        fidelity::begin_typed(self, t)
    }
    /// Closes the type.
    fn end_typed(&mut self) -> Result {
        fidelity::end_typed(self)
    }
    /// Returns whether anchors and aliases may be sent. By default only in the wrapped notation.
    fn holds_references(&mut self) -> bool {
        self.fidelity().policy() == fidelity::OnLoss::Wrap
    }
    /// Names the one value that follows, for aliases.
    fn begin_anchor(&mut self, id: u64) -> Result {
        fidelity::begin_anchor(self, id)
    }
    /// Closes the anchor.
    fn end_anchor(&mut self) -> Result {
        fidelity::end_anchor(self)
    }
    /// Receives the value of that anchor again.
    fn alias(&mut self, id: u64) -> Result {
        fidelity::alias(self, id)
    }
}

/// A sink that produces bytes and is told where documents end.
pub trait Writer: Sink {
    /// Ends a document: writes what belongs between two documents.
    fn end_document(&mut self) -> Result;

    /// Ends the output: writes everything still in memory.
    fn finish(&mut self) -> Result;

    /// Marks this place between two documents (or between two values of one array), so that
    /// [`rollback`](Writer::rollback) can return to it. From the first call on, nothing after the
    /// latest checkpoint leaves memory.
    fn checkpoint(&mut self);

    /// Drops everything since the last [`checkpoint`](Writer::checkpoint), so that a broken record
    /// leaves no trace.
    fn rollback(&mut self);

    /// Receives the columns of the source as a row of empty text, before [`finish`](Writer::finish), so that a table
    /// without rows has a header. Other writers ignore it.
    ///
    /// # Errors
    /// The sink's own, about the names.
    fn columns(&mut self, row: &Value) -> Result {
        let _ = row;
        Ok(())
    }

    /// Returns the path of the current value, if the writer tracks it: see
    /// [`crate::policy::track::Tracker`].
    fn path(&self) -> Option<crate::model::path::Path> {
        None
    }
}

/// Produces the events of documents, one document per call.
pub trait Source {
    /// Drives the next document into `sink`; returns `Ok(false)` at a clean end of the stream.
    ///
    /// # Errors
    /// The reader's own, with their offset, and the sink's, with the offset of the event.
    fn next<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result<bool>;

    /// Returns how many bytes of input have been consumed.
    fn offset(&self) -> u64;
}

/// Writes the methods of [`Sink`] that only pass the event on to `self.inner`: an adapter lists
/// those here and implements the others.
macro_rules! forward {
    ($($method:ident)*) => { $($crate::policy::event::forward!(@ $method);)* };
    (@ null) => {
        #[inline]
        fn null(&mut self) -> $crate::Result {
            self.inner.null()
        }
    };
    (@ bool) => {
        #[inline]
        fn bool(&mut self, v: bool) -> $crate::Result {
            self.inner.bool(v)
        }
    };
    (@ i64) => {
        #[inline]
        fn i64(&mut self, v: i64) -> $crate::Result {
            self.inner.i64(v)
        }
    };
    (@ u64) => {
        #[inline]
        fn u64(&mut self, v: u64) -> $crate::Result {
            self.inner.u64(v)
        }
    };
    (@ f64) => {
        #[inline]
        fn f64(&mut self, v: f64) -> $crate::Result {
            self.inner.f64(v)
        }
    };
    (@ f32) => {
        #[inline]
        fn f32(&mut self, v: f32) -> $crate::Result {
            self.inner.f32(v)
        }
    };
    (@ str) => {
        #[inline]
        fn str(&mut self, v: &str) -> $crate::Result {
            self.inner.str(v)
        }
        #[inline]
        fn short_str(&mut self, v: $crate::policy::event::ShortText<'_>) -> $crate::Result {
            self.inner.short_str(v)
        }
    };
    (@ bytes) => {
        #[inline]
        fn bytes(&mut self, v: &[u8]) -> $crate::Result {
            self.inner.bytes(v)
        }
    };
    (@ big_int) => {
        #[inline]
        fn big_int(&mut self, v: $crate::BigInt<'_>) -> $crate::Result {
            self.inner.big_int(v)
        }
    };
    (@ ext) => {
        #[inline]
        fn ext(&mut self, v: $crate::Ext<'_>) -> $crate::Result {
            self.inner.ext(v)
        }
    };
    (@ begin_array) => {
        #[inline]
        fn begin_array(&mut self, len: Option<u64>) -> $crate::Result {
            self.inner.begin_array(len)
        }
    };
    (@ end_array) => {
        #[inline]
        fn end_array(&mut self) -> $crate::Result {
            self.inner.end_array()
        }
    };
    (@ begin_map) => {
        #[inline]
        fn begin_map(&mut self, len: Option<u64>) -> $crate::Result {
            self.inner.begin_map(len)
        }
    };
    (@ key) => {
        #[inline]
        fn key(&mut self, k: &str) -> $crate::Result {
            self.inner.key(k)
        }
        #[inline]
        fn short_key(&mut self, k: $crate::policy::event::ShortText<'_>) -> $crate::Result {
            self.inner.short_key(k)
        }
    };
    (@ key_value) => {
        #[inline]
        fn key_value(&mut self, k: &$crate::Value) -> $crate::Result {
            self.inner.key_value(k)
        }
    };
    (@ typed) => {
        fn begin_typed(&mut self, t: &$crate::policy::event::Type<'_>) -> $crate::Result {
            self.inner.begin_typed(t)
        }
        fn end_typed(&mut self) -> $crate::Result {
            self.inner.end_typed()
        }
        fn holds_references(&mut self) -> bool {
            self.inner.holds_references()
        }
        fn begin_anchor(&mut self, id: u64) -> $crate::Result {
            self.inner.begin_anchor(id)
        }
        fn end_anchor(&mut self) -> $crate::Result {
            self.inner.end_anchor()
        }
        fn alias(&mut self, id: u64) -> $crate::Result {
            self.inner.alias(id)
        }
    };
    (@ end_map) => {
        #[inline]
        fn end_map(&mut self) -> $crate::Result {
            self.inner.end_map()
        }
    };
    (@ text_pair) => {
        #[inline]
        fn text_pair(&mut self, k: &str, v: &str) -> $crate::Result {
            self.inner.text_pair(k, v)
        }
    };
    (@ fidelity) => {
        #[inline]
        fn fidelity(&mut self) -> &mut $crate::Fidelity {
            self.inner.fidelity()
        }
    };
    (@ end_document) => {
        fn end_document(&mut self) -> $crate::Result {
            self.inner.end_document()
        }
    };
    (@ finish) => {
        fn finish(&mut self) -> $crate::Result {
            self.inner.finish()
        }
    };
    (@ checkpoint) => {
        fn checkpoint(&mut self) {
            self.inner.checkpoint()
        }
    };
    (@ rollback) => {
        fn rollback(&mut self) {
            self.inner.rollback()
        }
    };
    (@ columns) => {
        fn columns(&mut self, row: &$crate::Value) -> $crate::Result {
            self.inner.columns(row)
        }
    };
}

/// Defines the events of plain values, each of which goes through `self.leaf`.
macro_rules! leaves {
    () => { $crate::policy::event::leaves! {
        null() bool(v: bool) i64(v: i64) u64(v: u64) f64(v: f64) f32(v: f32)
        str(v: &str) bytes(v: &[u8]) big_int(v: $crate::policy::event::BigInt<'_>)
    } };
    ($($method:ident($($v:ident: $kind:ty)?))*) => {
        $(fn $method(&mut self $(, $v: $kind)?) -> $crate::Result {
            self.leaf(|sink| sink.$method($($v)?))
        })*
    };
}
pub(crate) use {forward, leaves};

/// Implements [`Sink`] for a pointer to a sink.
macro_rules! pointer {
    ($pointer:ty) => {
        impl<S: Sink + ?Sized> Sink for $pointer {
            #[inline]
            fn null(&mut self) -> Result {
                (**self).null()
            }
            #[inline]
            fn bool(&mut self, v: bool) -> Result {
                (**self).bool(v)
            }
            #[inline]
            fn constant(&mut self, v: Option<bool>) -> Result {
                (**self).constant(v)
            }
            #[inline]
            fn i64(&mut self, v: i64) -> Result {
                (**self).i64(v)
            }
            #[inline]
            fn u64(&mut self, v: u64) -> Result {
                (**self).u64(v)
            }
            #[inline]
            fn f64(&mut self, v: f64) -> Result {
                (**self).f64(v)
            }
            #[inline]
            fn f32(&mut self, v: f32) -> Result {
                (**self).f32(v)
            }
            #[inline]
            fn str(&mut self, v: &str) -> Result {
                (**self).str(v)
            }
            #[inline]
            fn bytes(&mut self, v: &[u8]) -> Result {
                (**self).bytes(v)
            }
            #[inline]
            fn big_int(&mut self, v: BigInt<'_>) -> Result {
                (**self).big_int(v)
            }
            #[inline]
            fn ext(&mut self, v: Ext<'_>) -> Result {
                (**self).ext(v)
            }
            #[inline]
            fn begin_array(&mut self, len: Option<u64>) -> Result {
                (**self).begin_array(len)
            }
            #[inline]
            fn end_array(&mut self) -> Result {
                (**self).end_array()
            }
            #[inline]
            fn begin_map(&mut self, len: Option<u64>) -> Result {
                (**self).begin_map(len)
            }
            #[inline]
            fn key(&mut self, k: &str) -> Result {
                (**self).key(k)
            }
            #[inline]
            fn key_value(&mut self, k: &Value) -> Result {
                (**self).key_value(k)
            }
            #[inline]
            fn text_pair(&mut self, k: &str, v: &str) -> Result {
                (**self).text_pair(k, v)
            }
            #[inline]
            fn f64_array(&mut self, values: &[f64]) -> Result {
                (**self).f64_array(values)
            }
            #[inline]
            fn f64_pair(&mut self, x: f64, y: f64) -> Result {
                (**self).f64_pair(x, y)
            }
            #[inline]
            fn whole_record(&mut self, bytes: u64) -> Option<&mut crate::model::record::Record> {
                (**self).whole_record(bytes)
            }
            #[inline]
            fn short_str(&mut self, v: ShortText<'_>) -> Result {
                (**self).short_str(v)
            }
            #[inline]
            fn short_key(&mut self, k: ShortText<'_>) -> Result {
                (**self).short_key(k)
            }
            #[inline]
            fn end_map(&mut self) -> Result {
                (**self).end_map()
            }
            fn begin_typed(&mut self, t: &Type<'_>) -> Result {
                (**self).begin_typed(t)
            }
            fn end_typed(&mut self) -> Result {
                (**self).end_typed()
            }
            fn holds_references(&mut self) -> bool {
                (**self).holds_references()
            }
            fn begin_anchor(&mut self, id: u64) -> Result {
                (**self).begin_anchor(id)
            }
            fn end_anchor(&mut self) -> Result {
                (**self).end_anchor()
            }
            fn alias(&mut self, id: u64) -> Result {
                (**self).alias(id)
            }
            #[inline]
            fn fidelity(&mut self) -> &mut Fidelity {
                (**self).fidelity()
            }
        }

        impl<S: Writer + ?Sized> Writer for $pointer {
            fn end_document(&mut self) -> Result {
                (**self).end_document()
            }
            fn finish(&mut self) -> Result {
                (**self).finish()
            }
            fn checkpoint(&mut self) {
                (**self).checkpoint();
            }
            fn rollback(&mut self) {
                (**self).rollback();
            }
            fn columns(&mut self, row: &Value) -> Result {
                (**self).columns(row)
            }
            fn path(&self) -> Option<crate::model::path::Path> {
                (**self).path()
            }
        }
    };
}
pointer!(&mut S);
pointer!(Box<S>);
