//! MARCXML, the Library of Congress's "MARC 21 slim" schema.
//!
//! ```xml
//! <collection xmlns="http://www.loc.gov/MARC21/slim">
//!   <record>
//!     <leader>00714cam a2200205 a 4500</leader>
//!     <controlfield tag="001">12883376</controlfield>
//!     <datafield tag="245" ind1="1" ind2="0"><subfield code="a">Transformations</subfield></datafield>
//!   </record>
//! </collection>
//! ```
//!
//! A record is an element `record` in the namespace of MARCXML, in that of MarcXchange (ISO 25577),
//! or in none, with any prefix and at any depth, so responses of SRU and OAI-PMH can be read
//! directly. A text field is a `controlfield`, whatever its tag.
//!
//! XML without any such record is refused, except for an empty `collection`.
//!
//! # Deviations
//! - Well-formedness is checked as far as records are concerned: tags match, attributes are unique,
//!   characters and references are those of XML 1.0. Names of elements outside of records are not
//!   checked letter by letter, and there may be several documents in sequence.
//! - A document type is skipped if it declares nothing, and refused if it does: entities are never
//!   expanded. Encodings other than UTF-8 are refused.
//! - `xml:space`, comments, `xsi:schemaLocation`, and the `type` and `id` of a record are not part
//!   of the record. Other attributes and text outside of records are counted as losses.
//!
//! # What XML cannot hold
//! Control characters other than tab and line ends, U+FFFE and U+FFFF. They are refused, replaced
//! with U+FFFD under [`OnLoss::Approximate`](crate::OnLoss::Approximate), or, under
//! [`OnLoss::Wrap`](crate::OnLoss::Wrap), written as processing instructions, which this reader
//! understands and other readers skip: `<?regauge u+0002?>` in text, and before the text
//! `<?regauge code u+0002?>` for a whole attribute. A record's charset is written as one too, if it
//! has to be carried: `<?regauge charset="utf-8"?>`.
//! carried, is one too: `<?regauge charset="utf-8"?>`.

mod attributes;
mod contents;
mod encoding;
mod find;
mod reader;
mod scan;
mod scope;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod usual;
mod writer;

pub use reader::{Parser, Reader};
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::codec::contract::Codec;
use crate::model::format::Format;
use crate::options;
use crate::policy::fidelity::Fidelity;

/// The namespace of MARCXML.
pub const NAMESPACE: &str = "http://www.loc.gov/MARC21/slim";

/// The namespaces of MarcXchange, ISO 25577, without their version number.
const MARCXCHANGE: &str = "info:lc/xmlns/marcxchange-v";

/// The target of our processing instructions.
const INSTRUCTION: &str = "regauge";

/// Returns whether text can be written to an element unchanged: it has no character with a meaning
/// in XML, or without a place in it. May return `false` for a few texts that could.
#[inline]
#[must_use]
pub fn is_plain(text: &str) -> bool {
    scan::first_special(text.as_bytes()) == text.len()
}

/// Returns whether XML 1.0 does not allow the character, not even as a reference (§2.2).
#[inline]
fn is_forbidden(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
}

crate::codec::grid::grid! {
    /// Returns the value, which has the shape of MARC-in-JSON, as a collection of MARCXML with one record. What the format cannot hold goes
    /// by `policy`.
    MarcXml, "record"
}

/// MARCXML.
#[derive(Clone, Copy, Debug)]
pub enum MarcXml {}

impl Codec for MarcXml {
    const FORMAT: Format = Format::MarcXml;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &options::Options) -> Self::Parser {
        Parser::new(options.marc_read(), options.limits)
    }

    fn writer<'o>(out: Out<'o>, options: &options::Options, fidelity: Fidelity) -> Writer<'o> {
        Writer::new(out, options.marc.clone(), fidelity).with_limits(&options.limits)
    }

    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }
}
