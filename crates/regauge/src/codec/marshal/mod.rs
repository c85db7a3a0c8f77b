//! Ruby's Marshal 4.8, read as inert data: no class is looked up, no object created, no method
//! called.
//!
//! There is no specification except `marshal.c` of CRuby and its documentation
//! (`doc/marshal.rdoc`); this code was checked against Ruby 3.1. A file is any number of documents
//! in sequence. `docs/formats/marshal.md` describes how objects are represented.

mod classes;
mod counted;
mod direct;
mod encoding;
mod equal;
mod float;
mod keys;
mod known;
mod leaves;
mod links;
mod moment;
mod objects;
mod read;
mod reader;
mod scan;
mod skip;
mod survey;
#[cfg(test)]
mod tests;
mod typed;
pub mod types;
mod walk;
mod writer;

pub use crate::model::risk::Risk;
pub use crate::options::marshal::{Binary, Options};
pub use float::{TEXT_BYTES as FLOAT_BYTES, read_at as float_at, text as float_text};
pub use objects::regexp_bits;
pub use reader::Parser;
pub use survey::{Call, Class, Survey, Verdict, survey};
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::codec::contract::Codec;
use crate::codec::contract::Looks;
use crate::model::format::Format;
use crate::options;
use crate::policy::fidelity::{Fidelity, OnLoss};

/// Reads Ruby Marshal.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

crate::codec::grid::grid! {
    /// Returns the value as Ruby Marshal. What the format cannot hold goes by `policy`.
    ///
    /// ```
    /// use regauge::{OnLoss, Value, marshal};
    /// let value = Value::from([("a", 1)]);
    /// let bytes = marshal::to_vec(&value, OnLoss::Refuse)?;
    /// assert_eq!(marshal::from_slice(&bytes)?, value);
    /// # Ok::<(), regauge::Error>(())
    /// ```
    Marshal, "document"
}

/// Ruby's Marshal.
#[derive(Clone, Copy, Debug)]
pub enum Marshal {}

impl Codec for Marshal {
    const FORMAT: Format = Format::Marshal;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &options::Options) -> Parser {
        let mut marshal = options.marshal.clone();
        marshal.exact |= options.identity;
        marshal.date_times |= options.on_loss == OnLoss::Wrap;
        marshal.data |= options.symbols_become_text() && !marshal.exact;
        Parser::new(marshal, options.limits)
    }

    fn writer<'o>(out: Out<'o>, options: &options::Options, fidelity: Fidelity) -> Writer<'o> {
        Writer::new(out, options.marshal.clone(), fidelity)
    }

    #[inline]
    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    fn is_contradicted(looks: Looks, _: &[u8]) -> bool {
        match looks {
            // A length can begin like this.
            Looks::Like(other) => other != Self::FORMAT && other != Format::Bson,
            Looks::Other(_) => true,
            Looks::Text => false,
        }
    }
}
