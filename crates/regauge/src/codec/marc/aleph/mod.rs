//! Aleph sequential: the lines of text that Ex Libris's library system Aleph loads and unloads.
//!
//! ```text
//! 000000228 LDR   L ^^^^^nam^a22002891^^4500
//! 000000228 001   L 000000228
//! 000000228 008   L 880715r19691828nyuab^^^^^^^^|00000^eng^^
//! 000000228 24514 L $$aThe descent of manuscripts.
//! ```
//!
//! The columns of a line, in bytes: a system number of nine digits, a blank, a tag of three characters, two
//! indicators, a blank, an alphabet code, a blank, the content. Lines with the same number, one after the
//! other, are a record. `$$` and a code begin a subfield. Blanks in the leader and in fields `00X` are
//! carets. The text is UTF-8. Fields that have no subfields, such as `FMT`, are text.
//!
//! Ex Libris describes the format to its customers only. This module follows what reads and writes it:
//! - the description by Bill Dueber, <https://github.com/billdueber/marc_alephsequential>,
//! - Catmandu, <https://metacpan.org/pod/Catmandu::Importer::MARC::ALEPHSEQ>, and the National Library of
//!   Finland's <https://github.com/NatLibFi/marc-record-serializers>, with real files in their tests,
//! - for long fields, the article that `split` cites.
//!
//! # Deviations
//! - A field 001 that is missing is the system number, as in Aleph's own export; counted. So is a missing
//!   leader, as in MARCXML.
//! - A line that does not begin with a number is an error; the Ruby reader takes it for a part of the field
//!   before it. A record ends where the number changes, and nowhere else: Catmandu looks for `FMT`.
//! - A line that continues a field is joined with it (`split`).
//!
//! # What a round trip loses
//! The system number, if it is not that of field 001, which is counted; alphabet codes other than `L`, also
//! counted; where long fields are split.
//!
//! # What the format cannot hold
//! Line ends, two dollar signs in a text, a dollar sign at the end of a subfield that another follows, a caret
//! in a field `00X`; a record without 001; a charset other than the leader's, because the text is UTF-8 and
//! the leader alone tells how it is to be written in ISO 2709.

mod faults;
mod reader;
mod split;
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
    /// Returns the value, which has the shape of MARC-in-JSON, as a record of Aleph sequential. What the format
    /// cannot hold goes by `policy`.
    AlephSeq, "record"
}

/// Aleph sequential.
#[derive(Clone, Copy, Debug)]
pub enum AlephSeq {}

impl Codec for AlephSeq {
    const FORMAT: Format = Format::AlephSeq;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &options::Options) -> Self::Parser {
        Parser::new(options.limits)
    }

    fn writer<'o>(out: Out<'o>, options: &options::Options, fidelity: Fidelity) -> Writer<'o> {
        Writer::new(out, options.marc.clone(), fidelity).with_limits(&options.limits)
    }

    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    /// Whether the first line has the columns.
    fn is_likely(head: &[u8], _: bool) -> bool {
        let line = skip_blank(head);
        line.len() >= 18
            && line[..9].iter().all(u8::is_ascii_digit)
            && line[10..13].iter().all(u8::is_ascii_alphanumeric)
            && line[16].is_ascii_uppercase()
            && [9, 15, 17].iter().all(|place| line[*place] == b' ')
    }
}
