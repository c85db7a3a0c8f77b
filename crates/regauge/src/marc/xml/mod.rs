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
//! A record is an element `record` in the namespace of MARCXML, in that of MarcXchange
//! (ISO 25577), or in none, under any prefix and at any depth, so answers of SRU and OAI-PMH can be
//! read as they are. A text field is a `controlfield`, whatever its tag.
//!
//! XML without any such record is refused, but for an empty `collection`.
//!
//! # Deviations
//! - Well-formedness is checked as far as records go: tags match, attributes stand once, characters
//!   and references are those of XML 1.0. Names of elements outside of records are not checked
//!   letter by letter, and several documents may stand one behind the other.
//! - A document type is read over if it declares nothing, and refused if it does: entities are
//!   never expanded. Encodings other than UTF-8 are refused.
//! - What `xml:space`, comments, `xsi:schemaLocation`, and `type` and `id` of a record say is no
//!   part of the record. Other attributes and text outside of records are counted as losses.
//!
//! # What XML cannot hold
//! Control characters other than tab and line ends, U+FFFE and U+FFFF: refused, replaced by U+FFFD
//! under [`OnLoss::Approximate`](crate::OnLoss::Approximate), and under
//! [`OnLoss::Wrap`](crate::OnLoss::Wrap) written as processing instructions, which the reader
//! understands and other readers pass over: `<?regauge u+0002?>` in text, and before the text
//! `<?regauge code u+0002?>` for all of an attribute. A record's charset, where it has to be
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

/// The namespace of MARCXML.
pub const NAMESPACE: &str = "http://www.loc.gov/MARC21/slim";

/// The namespaces of MarcXchange, ISO 25577, without the number of their version.
const MARCXCHANGE: &str = "info:lc/xmlns/marcxchange-v";

/// The target of our processing instructions.
const INSTRUCTION: &str = "regauge";

/// Whether text can stand in an element as it is: no character of it means something to XML, or is
/// one that XML has no place for. A few that could stand so are not seen as such.
#[inline]
#[must_use]
pub fn is_plain(text: &str) -> bool {
    scan::first_special(text.as_bytes()) == text.len()
}

/// Tells whether XML 1.0 has no place for the character, not even as a reference (§2.2).
#[inline]
fn is_forbidden(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
}
