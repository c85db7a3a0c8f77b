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
//! (leader/20-23) and the two counts (leader/10-11) are the same in every MARC record whatever
//! they say, so they are kept as text and not obeyed, as in every other reader.
//!
//! # What is read although it is not right
//!
//! * A record length that is wrong, when a record terminator comes and directory and fields agree
//!   with each other. It is counted as a loss, because writing makes it right.
//! * A directory in another order than the data, and bytes that no entry names: likewise counted.
//! * A record above 99,999 bytes or a field above 9,999, whose length does not fit its digits:
//!   written as nines, zeros, or its last digits. The fields are then told apart by their
//!   terminators, and there must be as many as directory entries. With
//!   [`Options::repair`](super::Options::repair) the same is done for any wrong directory.
//! * Line ends, blanks, NULs, `0x1A` and byte order marks between records.

mod layout;
mod reader;
mod scan;
#[cfg(test)]
mod tests;
mod whole;
mod writer;

pub use reader::{Parser, Reader};
pub use writer::Writer;
