//! From the content of a line to the content of a field in ISO 2709: subfield delimiters for dollar signs,
//! blanks for backslashes, characters for mnemonics.
//!
//! A mnemonic stands for bytes of MARC-8, in which a mark comes before its letter. So a record in MARC-8
//! becomes bytes, which are decoded as those of ISO 2709 are. In a record in UTF-8, what follows a
//! mnemonic is decoded together with it, as far as it is ASCII.

use super::mnemonics::{Bracket, bracket};
use crate::codec::marc::SUBFIELD_DELIMITER;
use crate::codec::marc::charset::{ESCAPE, decode_piece};

/// What is wrong with the content of a line, and where in it.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) kind: Wrong,
}

/// What is wrong.
#[derive(Debug)]
pub(super) enum Wrong {
    /// This mnemonic is not in the table.
    Unknown(String),
    /// What MARC-8 does not have, as found and expected.
    Marc8(String),
}

/// Expands the contents of lines.
#[derive(Debug, Default)]
pub(super) struct Expander {
    /// Whether a mnemonic that is not in the table stays text.
    pub(super) keeps_unknown: bool,
    /// The mnemonics that stayed text.
    pub(super) unknown: Vec<String>,
}

/// A part of a line's content.
enum Piece<'r> {
    Text(&'r [u8]),
    Delimiter,
    Blank,
    Mnemonic(Vec<u8>),
}

impl Expander {
    /// Appends the bytes of a field in MARC-8.
    pub(super) fn expand_bytes(
        &mut self,
        raw: &[u8],
        is_control: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        self.split(raw, is_control, |_, piece| {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Delimiter => out.push(SUBFIELD_DELIMITER),
                Piece::Blank => out.push(b' '),
                Piece::Mnemonic(bytes) => out.extend_from_slice(&bytes),
            }
            Ok(())
        })
    }

    /// Appends the text of a field in UTF-8.
    pub(super) fn expand_text(
        &mut self,
        raw: &str,
        is_control: bool,
        out: &mut String,
    ) -> Result<(), Fault> {
        let mut run = Run::default();
        self.split(raw.as_bytes(), is_control, |at, piece| match piece {
            // A piece ends before an ASCII character, so it is whole characters.
            Piece::Text(text) => run.text(&String::from_utf8_lossy(text), out),
            Piece::Delimiter => run.control(SUBFIELD_DELIMITER, out),
            Piece::Blank => run.text(" ", out),
            Piece::Mnemonic(bytes) => run.mnemonic(at, &bytes, out),
        })?;
        run.flush(out)
    }

    fn split<'r>(
        &mut self,
        raw: &'r [u8],
        is_control: bool,
        mut take: impl FnMut(usize, Piece<'r>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let (mut at, mut is_head) = (0, true);
        while at < raw.len() {
            let rest = &raw[at..];
            let (length, piece) = match rest[0] {
                b'$' if !is_control => {
                    is_head = false;
                    (1, Piece::Delimiter)
                }
                b'\\' if is_head => (1, Piece::Blank),
                b'{' => match bracket(rest) {
                    Bracket::Known(length, bytes) => (length, Piece::Mnemonic(bytes)),
                    Bracket::Unknown(length) => {
                        let name = String::from_utf8_lossy(&rest[..length]).into_owned();
                        if !self.keeps_unknown {
                            return Err(Fault { at, kind: Wrong::Unknown(name) });
                        }
                        self.unknown.push(name);
                        (length, Piece::Text(&rest[..length]))
                    }
                    Bracket::Text => (1, Piece::Text(&rest[..1])),
                },
                _ => {
                    let is_special = |byte: &u8| matches!(byte, b'$' | b'\\' | b'{');
                    let more = rest[1..].iter().position(is_special).unwrap_or(rest.len() - 1);
                    (1 + more, Piece::Text(&rest[..=more]))
                }
            };
            take(at, piece)?;
            at += length;
        }
        Ok(())
    }
}

/// MARC-8 in a record in UTF-8: a mnemonic and the ASCII after it, not decoded yet. Empty outside of it.
#[derive(Default)]
struct Run {
    bytes: Vec<u8>,
    /// Where the mnemonic is.
    at: usize,
}

impl Run {
    fn text(&mut self, text: &str, out: &mut String) -> Result<(), Fault> {
        if self.bytes.is_empty() {
            out.push_str(text);
            return Ok(());
        }
        let is_marc8 = |c: char| c.is_ascii() && c != char::from(ESCAPE);
        let length = text.find(|c| !is_marc8(c)).unwrap_or(text.len());
        let (ascii, rest) = text.split_at(length);
        self.bytes.extend_from_slice(ascii.as_bytes());
        if !rest.is_empty() {
            let (first, rest) = crate::codec::marc::lines::split_first(rest);
            self.flush_before(first, out)?;
            out.push_str(rest);
        }
        Ok(())
    }

    fn control(&mut self, byte: u8, out: &mut String) -> Result<(), Fault> {
        self.flush(out)?;
        out.push(char::from(byte));
        Ok(())
    }

    fn mnemonic(&mut self, at: usize, bytes: &[u8], out: &mut String) -> Result<(), Fault> {
        match bytes {
            [byte @ (ESCAPE | 0x1D..=0x1F)] => self.control(*byte, out),
            _ if bytes.contains(&ESCAPE) => {
                self.flush(out)?;
                self.start(at, bytes);
                self.flush(out)
            }
            _ if bytes.is_ascii() => self.text(&String::from_utf8_lossy(bytes), out),
            _ => {
                self.start(at, bytes);
                Ok(())
            }
        }
    }

    fn start(&mut self, at: usize, bytes: &[u8]) {
        self.at = at;
        self.bytes.extend_from_slice(bytes);
    }

    /// Decodes what there is, with its last marks over this character, which is not ASCII.
    fn flush_before(&mut self, character: &str, out: &mut String) -> Result<(), Fault> {
        let marks = self.bytes.iter().rev().take_while(|byte| matches!(byte, 0xE0..=0xFE)).count();
        let mut tail = self.bytes.split_off(self.bytes.len() - marks);
        self.flush(out)?;
        out.push_str(character);
        if marks > 0 {
            tail.push(b'x');
            let mut marked = String::new();
            self.decode(&tail, &mut marked)?;
            out.push_str(&marked[1..]);
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut String) -> Result<(), Fault> {
        let bytes = std::mem::take(&mut self.bytes);
        self.decode(&bytes, out)
    }

    fn decode(&self, bytes: &[u8], out: &mut String) -> Result<(), Fault> {
        let fault = |(_, message)| Fault { at: self.at, kind: Wrong::Marc8(message) };
        decode_piece(bytes, out, false).map_err(fault)
    }
}
