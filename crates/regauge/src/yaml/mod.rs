//! YAML 1.2.

mod quote;
mod quote_simd;
mod scalar;
mod writer;

pub use writer::{WriteOptions, Writer};

use crate::event::Sink;
use crate::format::Format;
use crate::limits::Limits;
use crate::reader::{Parse, Status};
use crate::{Error, Result};

/// How YAML is read and written.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {}

/// Reads YAML.
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
    const FORMAT: Format = Format::Yaml;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        _bytes: &[u8],
        _pos: &mut usize,
        _last: bool,
        _sink: &mut S,
    ) -> Result<Status> {
        Err(Error::syntax("YAML cannot be read yet"))
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}
