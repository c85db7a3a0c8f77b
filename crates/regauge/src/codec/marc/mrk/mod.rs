//! MARCMaker: the lines of text that the Library of Congress's MARCMaker and MARCBreaker exchange with
//! ISO 2709, and that MarcEdit edits as `.mrk`.
//!
//! ```text
//! =LDR  00714cam a2200205 a 4500
//! =001  12883376
//! =008  030616s2002\\\\nyua\\\\\\\\\\000\0\eng\\
//! =245  10$aTransformations /$cby A. Author ({dollar}20).
//! ```
//!
//! A field is a line: an equals sign, the tag, two blanks, the content. `LDR`, or `000`, is the leader, which
//! begins a record; a blank line ends it. A dollar sign begins a subfield. A blank before the first subfield
//! (an indicator, or anywhere in a field of text) is a backslash. A line that does not begin with an equals
//! sign continues the one before it. Curly brackets hold the names of characters.
//!
//! - MARCMaker and MARCBreaker User's Manual, Library of Congress, 2001, revised 2007:
//!   <https://www.loc.gov/marc/makrbrkr.html>. The tables of mnemonics are cited in `mnemonics`.
//! - MarcEdit's help on the mnemonic format has comments: lines that begin with `#`.
//!
//! Content is that of the field in ISO 2709 with these spellings, so that whatever ISO 2709 holds has its
//! place here, and the charset is decided as there: text in UTF-8 under a blank leader/09 is UTF-8, which
//! the record carries; a record in MARC-8 is written with mnemonics, as MARCBreaker writes it.
//!
//! # Deviations
//! - A backslash after the first dollar sign is itself, as in the Library's own test records and in
//!   MARC4J; MARC::File::MARCMaker reads a blank. We write `{bsol}`, on which all agree.
//! - A name that is not in the table is an error; MARCMaker writes `&name;`, and MARC4J keeps it. A bracket
//!   that begins no name is itself.
//! - Lines end in `\n` or `\r\n`; we write `\n`. A leader begins a record without a blank line before it.
//! - Blanks in the leader are read as either, and written as blanks, as MarcEdit does.
//!
//! # What a round trip loses
//! Comments, which are counted; which characters are mnemonics; where lines are continued.

mod expand;
mod faults;
mod mnemonics;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{Parser, Reader};
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::codec::contract::{Codec, skip_blank};
use crate::model::format::Format;
use crate::options;
use crate::policy::fidelity::Fidelity;

crate::codec::grid::grid! {
    /// Returns the value, which has the shape of MARC-in-JSON, as a record of MARCMaker. What the format cannot
    /// hold goes by `policy`.
    Mrk, "record"
}

/// MARCMaker.
#[derive(Clone, Copy, Debug)]
pub enum Mrk {}

impl Codec for Mrk {
    const FORMAT: Format = Format::Mrk;
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

    fn is_likely(head: &[u8], _: bool) -> bool {
        let text = skip_blank(head);
        text.starts_with(b"=LDR  ") || text.starts_with(b"=000  ")
    }
}
