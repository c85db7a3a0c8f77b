//! `convert(map=function)`: a Python function between the reader and the writer of a conversion.

use std::sync::Mutex;

use pyo3::prelude::*;
use regauge::event::{Sink, Writer};
use regauge::fidelity::LossKind;
use regauge::stage::Stage;
use regauge::tape::Tape;
use regauge::whole::whole;
use regauge::{Error, ErrorKind, Format, Limits, Options, Result};

use crate::build::Builder;
use crate::python;
use crate::walk::Walker;

/// In a conversion without a function, both keys are written, so that its hint has another word.
const TAKE_LAST: &str = "pass duplicate_keys=\"last\" to give the function the last of them";

/// The caller's function, for [`Options::stage`].
pub struct Map {
    function: Py<PyAny>,
    from: Format,
    limits: Limits,
    /// Whether the function gets the last of keys that are equal in Python; otherwise they are refused.
    takes_last: bool,
    /// What the function raised.
    raised: Mutex<Option<PyErr>>,
}

impl std::fmt::Debug for Map {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Map")
    }
}

impl Map {
    /// Creates a stage that calls the function for each document of a conversion with these options. Of
    /// keys that are equal in Python, it gets the last, or the document is refused.
    pub fn new(function: Bound<'_, PyAny>, options: &Options, takes_last: bool) -> Map {
        let (from, limits) = (options.from, options.limits);
        Map { function: function.unbind(), from, limits, takes_last, raised: Mutex::new(None) }
    }

    /// Returns Python's exception, if that is why the conversion failed.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().ok()?.take()
    }

    fn raise(&self, raised: PyErr) -> Error {
        if let Ok(mut place) = self.raised.lock() {
            *place = Some(raised);
        }
        Error::new(ErrorKind::Io, "Python raised an exception")
    }

    /// Returns the document for the function, and the error for equal keys of which it has the last.
    fn read<'py>(
        &self,
        py: Python<'py>,
        tape: &Tape,
    ) -> Result<(Bound<'py, PyAny>, Option<Error>)> {
        match self.build(py, tape, true) {
            Err(error) if error.kind() == ErrorKind::Refused => match self.takes_last {
                true => Ok((self.build(py, tape, false)?, Some(error))),
                false => Err(error.hint(TAKE_LAST)),
            },
            done => Ok((done?, None)),
        }
    }

    /// Returns the document as Python objects.
    fn build<'py>(&self, py: Python<'py>, tape: &Tape, unique: bool) -> Result<Bound<'py, PyAny>> {
        let mut builder = Builder::new(py, self.from, None);
        builder.unique_keys(unique);
        match tape.drive(&mut *builder) {
            Ok(()) => Ok(builder.take_or_none()),
            Err(error) => Err(builder.fail().map_or(error, |raised| self.raise(raised))),
        }
    }

    fn walk<'py, S: Sink + ?Sized>(
        &self,
        object: &Bound<'py, PyAny>,
        to: Format,
        sink: &mut S,
    ) -> Result {
        let mut walker = Walker::new(object.py(), to, self.limits);
        match walker.document(object, sink) {
            Ok(()) => Ok(()),
            Err(error) => Err(walker.raised().map_or(error, |raised| self.raise(raised))),
        }
    }

    /// Returns whether the document's objects are still what it says: those that another reading gives.
    fn is_untouched(&self, object: &Bound<'_, PyAny>, tape: &Tape, to: Format) -> Result<bool> {
        let (mut now, mut fresh) = (Tape::new(), Tape::new());
        self.walk(object, to, &mut now)?;
        self.walk(&self.build(object.py(), tape, false)?, to, &mut fresh)?;
        Ok(now.is_same(&fresh))
    }

    /// Calls the function, and writes what it returns.
    fn document(&self, py: Python<'_>, tape: &Tape, to: Format, writer: &mut dyn Writer) -> Result {
        let (object, merged) = self.read(py, tape)?;
        let function = self.function.bind(py);
        let returned = function.call1((&object,)).map_err(|raised| self.raise(raised))?;
        if returned.is(python::omit(py).map_err(|raised| self.raise(raised))?) {
            return Ok(());
        }
        if returned.is_none() && !object.is_none() {
            let found = "the function of map= returned None for a document that is not null, expected the \
                         document to write, or regauge.OMIT to leave it out";
            return Err(self.raise(pyo3::exceptions::PyTypeError::new_err(found)));
        }
        if returned.is(&object) && self.is_untouched(&object, tape, to)? {
            tape.drive(writer)?;
        } else {
            if let Some(error) = merged {
                writer.fidelity().note(LossKind::Key, error.message(), "the last");
            }
            self.walk(&returned, to, writer)?;
        }
        writer.end_document()
    }
}

impl Stage for Map {
    fn open<'w>(&'w self, inner: Box<dyn Writer + 'w>, to: Format) -> Box<dyn Writer + 'w> {
        whole(inner, &self.limits, move |tape, writer| {
            Python::attach(|py| self.document(py, tape, to, writer))
        })
    }

    fn is_divisible(&self) -> bool {
        false
    }

    fn stack_bytes(&self) -> usize {
        // It goes through documents on the caller's thread.
        0
    }

    fn begin_thread(&self) {}
}
