//! MARC-8, the character encoding of MARC 21 records whose leader/09 is blank.
//!
//! Two sets of 94 graphic characters are in force at a time: G0 for bytes 0x21 to 0x7E, G1 for 0xA1
//! to 0xFE. A field begins with ASCII in G0 and Extended Latin (ANSEL) in G1; escape sequences
//! replace them with one of eleven other sets. East Asian characters (EACC) take three bytes each.
//! A combining mark comes *before* its letter, whereas Unicode puts it after. The specification is
//! the Library of Congress's "MARC 21 Specifications for Record Structure, Character Sets, and
//! Exchange Media", part "MARC-8 Encoding Environment".
//!
//! [`decode`] returns the code points of the Library's tables with each letter before its marks,
//! *not* composed, and [`encode`] writes them back; its documentation describes the spelling.
//! Composing ([`compose`]) loses the order of marks in rare cases, so a converter should not do it.
//!
//! # Deviations
//! - A mark without a letter after it, at the end of a piece or before a control code, is kept: it
//!   becomes U+25CC DOTTED CIRCLE and the mark. MARC-8 has no dotted circle, so [`encode`]
//!   recognises it.
//! - C0 control codes other than ESC, and DEL, represent themselves, though only 1D to 1F are
//!   registered: catalogues contain tabs and line ends.
//! - 88, 89, 8D and 8E (non-sorting begin and end, joiner, non-joiner) are read under every G1 set.
//! - `ESC $ ( 1` and `ESC $ ) 1` are read as well as the registered `ESC $ , 1` and `ESC $ - 1`,
//!   and Extended Latin as `E` as well as `!E`.
//!
//! # What a round trip loses
//! Text is never lost, but bytes may be: 226 codes of EACC share their character with an earlier
//! code (the tables unify some variants), and escape sequences that change nothing, or that this
//! module would place elsewhere, are normalised.
//!
//! If you add a set: add its final byte to `Set::of_final` and its row to `tools/marc8_tables.py`;
//! the tests over whole tables cover it.

mod decode;
mod encode;
mod lookup;
mod reference;
mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

pub use decode::{decode, decode_lossy};
pub use encode::{Encoded, encode, encode_with_references};
pub use reference::resolve_references;

/// U+25CC, in place of the letter that a combining mark lacks.
const NO_LETTER: char = '\u{25CC}';

/// A registered MARC-8 character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Set {
    /// Basic Latin, that is ASCII: final byte `B`, or the sequence `ESC s`.
    Ascii,
    /// Extended Latin, ANSI Z39.47: final bytes `!E`.
    Ansel,
    /// Basic Greek: final byte `S`.
    Greek,
    /// The three Greek symbols: `ESC g`.
    GreekSymbols,
    /// Basic and Extended Hebrew, one set: final byte `2`.
    Hebrew,
    /// Basic Cyrillic: final byte `N`.
    Cyrillic,
    /// Extended Cyrillic: final byte `Q`.
    ExtendedCyrillic,
    /// Basic Arabic: final byte `3`.
    Arabic,
    /// Extended Arabic: final byte `4`.
    ExtendedArabic,
    /// Subscripts: `ESC b`.
    Subscripts,
    /// Superscripts: `ESC p`.
    Superscripts,
    /// East Asian Character Code, three bytes a character: final byte `1`.
    Eacc,
}

impl Set {
    /// The single-byte sets, in order of preference for a character that is in several.
    const SINGLE: [Set; 11] = [
        Set::Ascii,
        Set::Ansel,
        Set::Greek,
        Set::GreekSymbols,
        Set::Hebrew,
        Set::Cyrillic,
        Set::ExtendedCyrillic,
        Set::Arabic,
        Set::ExtendedArabic,
        Set::Subscripts,
        Set::Superscripts,
    ];

    /// Returns the set that a final byte of an escape sequence designates.
    fn of_final(byte: u8) -> Option<Set> {
        Some(match byte {
            b'B' => Set::Ascii,
            b'E' => Set::Ansel,
            b'S' => Set::Greek,
            b'g' => Set::GreekSymbols,
            b'2' => Set::Hebrew,
            b'N' => Set::Cyrillic,
            b'Q' => Set::ExtendedCyrillic,
            b'3' => Set::Arabic,
            b'4' => Set::ExtendedArabic,
            b'b' => Set::Subscripts,
            b'p' => Set::Superscripts,
            b'1' => Set::Eacc,
            _ => return None,
        })
    }

    /// Returns the set's name in plain English, as messages show it.
    pub fn name(self) -> &'static str {
        match self {
            Set::Ascii => "ASCII",
            Set::Ansel => "Extended Latin",
            Set::Greek => "Greek",
            Set::GreekSymbols => "Greek symbols",
            Set::Hebrew => "Hebrew",
            Set::Cyrillic => "Basic Cyrillic",
            Set::ExtendedCyrillic => "Extended Cyrillic",
            Set::Arabic => "Basic Arabic",
            Set::ExtendedArabic => "Extended Arabic",
            Set::Subscripts => "subscripts",
            Set::Superscripts => "superscripts",
            Set::Eacc => "East Asian (EACC)",
        }
    }
}

/// The sets in force: what [`decode`] carries from one piece of a field to the next.
///
/// The default is the state at the beginning of a field, ASCII and Extended Latin. The
/// specification requires a field to return to it before each subfield delimiter and at its end.
/// Records that forget to do so still begin the next subfield with its own escape sequence, so use
/// a new state for each subfield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The set of bytes 0x21 to 0x7E.
    pub g0: Set,
    /// The set of bytes 0xA1 to 0xFE.
    pub g1: Set,
}

impl Default for State {
    fn default() -> State {
        State { g0: Set::Ascii, g1: Set::Ansel }
    }
}

/// A fault in [`decode`] or [`encode`], and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marc8Error {
    /// The offset of the fault, in bytes from the start of the piece.
    pub offset: usize,
    /// How many bytes to skip to continue after it, at least 1.
    pub length: usize,
    /// What was found there.
    pub kind: Fault,
}

/// The kinds of [`Marc8Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A byte without a meaning in the set in force.
    Byte {
        /// The byte found.
        byte: u8,
        /// The set in force for it.
        set: Set,
    },
    /// Three bytes that EACC does not list, with the high bits cleared.
    Eacc([u8; 3]),
    /// The piece ends inside a three-byte character.
    TruncatedEacc,
    /// An escape sequence that designates no registered set; the bytes after ESC, 0 past the end.
    Escape([u8; 3]),
    /// A character that no MARC-8 set has ([`encode`] only).
    NoCode(char),
    /// A combining mark with no letter before it ([`encode`] only).
    NoLetter(char),
}

impl fmt::Display for Marc8Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.kind)
    }
}

/// Writes what was found and what was expected, without the place.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Fault::Byte { byte, set } => {
                write!(f, "found byte 0x{byte:02X}, expected a character of the set {}", set.name())
            }
            Fault::Eacc([a, b, c]) => {
                write!(
                    f,
                    "found bytes 0x{a:02X} 0x{b:02X} 0x{c:02X}, expected a character of the set {}",
                    Set::Eacc.name()
                )
            }
            Fault::TruncatedEacc => f.write_str(
                "found the end of the text inside an East Asian character, expected three bytes",
            ),
            Fault::Escape(after) => {
                f.write_str("found ESC")?;
                for byte in after.iter().take_while(|byte| **byte != 0) {
                    write!(f, " 0x{byte:02X}")?;
                }
                f.write_str(", expected an escape sequence that designates a MARC-8 set")
            }
            Fault::NoCode(c) => write!(
                f,
                "found U+{:04X}, expected a character that MARC-8 has; write it as a numeric character reference",
                c as u32
            ),
            Fault::NoLetter(c) => {
                write!(
                    f,
                    "found the combining mark U+{:04X}, expected a letter before it",
                    c as u32
                )
            }
        }
    }
}

impl std::error::Error for Marc8Error {}

/// Returns whether `bytes` mean the same in ASCII and in MARC-8's default state: no byte from 0x80
/// up and no ESC. This is true of most fields, which then need no decoding.
#[inline]
pub fn is_plain(bytes: &[u8]) -> bool {
    bytes.is_ascii() && memchr::memchr(0x1B, bytes).is_none()
}

/// Returns `text` in Normalization Form C, for display or comparison; see the module documentation
/// for what that loses.
pub fn compose(text: &str) -> Cow<'_, str> {
    use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}
