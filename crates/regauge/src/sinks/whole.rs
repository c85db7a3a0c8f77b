//! A writer that hands over whole documents: between the reader and the writer of a conversion whose
//! [`Stage`](crate::stage::Stage) is a function of a programming language.

use crate::model::limits::Limits;
use crate::model::path::Path;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink, Type, Writer};
use crate::policy::fidelity::Fidelity;
use crate::sinks::tape::Tape;
use crate::{Error, Result};

/// Returns a writer that collects each document, and then calls `take` with it and the next writer, to
/// which `take` writes any number of documents. A document is bounded by [`Limits::nodes`].
pub fn whole<'w>(
    mut inner: Box<dyn Writer + 'w>,
    limits: &Limits,
    take: impl FnMut(&Tape, &mut dyn Writer) -> Result + 'w,
) -> Box<dyn Writer + 'w> {
    let mut tape = Tape::bounded(limits);
    if !inner.holds_references() {
        tape = tape.without_references();
    }
    Box::new(Whole { tape, inner, take })
}

struct Whole<'w, F> {
    tape: Tape,
    inner: Box<dyn Writer + 'w>,
    take: F,
}

/// Passes events on to the tape.
macro_rules! collect {
    ($($method:ident($($name:ident: $type:ty)?);)*) => {
        $(
            fn $method(&mut self $(, $name: $type)?) -> Result {
                self.tape.$method($($name)?)
            }
        )*
    };
}

impl<F> Sink for Whole<'_, F> {
    collect! {
        null(); bool(v: bool); i64(v: i64); u64(v: u64); f64(v: f64); f32(v: f32); str(v: &str);
        bytes(v: &[u8]); big_int(v: BigInt<'_>); ext(v: Ext<'_>); begin_array(len: Option<u64>);
        end_array(); begin_map(len: Option<u64>); key(k: &str); key_value(k: &Value); end_map();
        begin_typed(t: &Type<'_>); end_typed(); begin_anchor(id: u64); end_anchor(); alias(id: u64);
    }

    fn holds_references(&mut self) -> bool {
        self.tape.holds_references()
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        self.inner.fidelity()
    }
}

impl<F: FnMut(&Tape, &mut dyn Writer) -> Result> Writer for Whole<'_, F> {
    fn end_document(&mut self) -> Result {
        let taken = (self.take)(&self.tape, &mut *self.inner);
        self.tape.clear();
        taken.map_err(|error: Error| match self.inner.path() {
            Some(path) if error.path().is_none() => error.at_path(path),
            _ => error,
        })
    }

    fn finish(&mut self) -> Result {
        self.inner.finish()
    }

    fn checkpoint(&mut self) {
        self.inner.checkpoint();
    }

    fn rollback(&mut self) {
        self.tape.clear();
        self.inner.rollback();
    }

    fn columns(&mut self, row: &Value) -> Result {
        self.inner.columns(row)
    }

    fn path(&self) -> Option<Path> {
        self.inner.path()
    }
}
