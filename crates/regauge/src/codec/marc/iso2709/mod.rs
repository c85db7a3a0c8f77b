//! ISO 2709, the exchange format of MARC 21 and UNIMARC: a leader, a directory, the fields.
//!
//! ```text
//! leader    24 bytes: 00-04 record length, 09 charset, 12-16 base address of the data
//! directory 12 bytes a field: tag (3), length with terminator (4), start after the base (5)
//!           0x1E
//! fields    control field: text 0x1E
//!           data field: two indicators, then 0x1F code text for each subfield, 0x1E
//!           0x1D
//! ```
//!
//! (MARC 21 Specifications for Record Structure, "Structure"; ISO 2709:2008 §4.) The entry map
//! (leader/20-23) and the two counts (leader/10-11) are fixed in MARC, whatever a record says, so
//! they are kept as text and otherwise ignored, as in every other reader.
//!
//! # Faults that are tolerated
//!
//! * A wrong record length, if a record terminator follows and the directory agrees with the
//!   fields. Counted as a loss, because writing corrects it.
//! * A directory in a different order from the data, and bytes that no entry names: also counted.
//! * A record above 99,999 bytes or a field above 9,999, whose length does not fit its digits:
//!   written as nines, zeros, or its last digits. The fields are then separated by their
//!   terminators, and there must be as many as directory entries. With
//!   [`Options::repair`](super::Options::repair), any wrong directory is handled this way.
//! * Line ends, blanks, NULs, `0x1A` and byte order marks between records.

mod layout;
mod reader;
#[cfg(test)]
mod tests;
mod whole;
mod writer;

pub use reader::{Parser, Reader};
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::codec::contract::Codec;
use crate::model::format::Format;
use crate::options;
use crate::policy::fidelity::Fidelity;

crate::codec::grid::grid! {
    /// Returns the value, which has the shape of MARC-in-JSON, as a record of ISO 2709. What the format cannot hold goes
    /// by `policy`.
    Marc, "record"
}

/// MARC 21 and UNIMARC in ISO 2709.
#[derive(Clone, Copy, Debug)]
pub enum Marc {}

impl Codec for Marc {
    const FORMAT: Format = Format::Marc;
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
