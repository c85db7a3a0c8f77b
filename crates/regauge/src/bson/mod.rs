//! BSON.

use crate::event::Sink;
use crate::fidelity::Fidelity;
use crate::format::Format;
use crate::limits::Limits;
use crate::out::Out;
use crate::reader::{Parse, Status};
use crate::{Error, Result};

/// How BSON is read and written.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {}

/// Reads BSON.
#[derive(Debug)]
pub struct Parser {
    limits: Limits,
}

impl Parser {
    /// A parser at the start of a stream.
    pub fn new(_options: Options, limits: Limits) -> Parser {
        Parser { limits }
    }
}

impl Parse for Parser {
    const FORMAT: Format = Format::Bson;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        _bytes: &[u8],
        _pos: &mut usize,
        _last: bool,
        _sink: &mut S,
    ) -> Result<Status> {
        Err(Error::syntax("BSON cannot be read yet"))
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// Writes BSON.
pub struct Writer<'a> {
    inner: crate::json::Writer<'a>,
}

impl<'a> Writer<'a> {
    /// A writer to `out`.
    pub fn new(out: Out<'a>, _options: Options, fidelity: Fidelity) -> Writer<'a> {
        Writer { inner: crate::json::Writer::new(out, Default::default(), fidelity) }
    }

    /// What was written.
    pub fn into_out(self) -> Out<'a> {
        self.inner.into_out()
    }
}

impl Sink for Writer<'_> {
    crate::event::forward!(null bool i64 u64 f64 f32 str bytes big_int ext begin_array end_array);
    crate::event::forward!(begin_map key key_value end_map typed text_pair fidelity);
}

impl crate::event::Writer for Writer<'_> {
    crate::event::forward!(finish checkpoint rollback);

    fn end_document(&mut self) -> Result {
        self.inner.end_document()?;
        Err(Error::syntax("BSON cannot be written yet"))
    }
}
