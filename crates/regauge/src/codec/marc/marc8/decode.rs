//! MARC-8 to text.

use super::lookup::{character, control, eacc_character, is_mark};
use super::{Fault, Marc8Error, NO_LETTER, Set, State, is_plain};

const ESC: u8 = 0x1B;

/// Appends the text of `bytes`, a piece of a field, to `out`, and leaves in `state` the sets in
/// force after it.
///
/// The piece may be a subfield's data or a whole field: a delimiter or terminator (0x1D to 0x1F)
/// among the bytes restores the default state. Numeric character references are left unchanged; see
/// [`super::resolve_references`].
///
/// ```
/// use regauge::marc::marc8::{State, decode};
/// let mut text = String::new();
/// decode(b"Caf\xE2e, \x1B(NmOSKWA\x1B(B", &mut State::default(), &mut text).unwrap();
/// assert_eq!(text, "Cafe\u{301}, Москва");
/// ```
///
/// # Errors
/// A byte or sequence that the sets in force do not have. `out` then ends before it, and `state` is
/// the one at the fault: a caller may continue at `offset + length`, as [`decode_lossy`] does.
pub fn decode(bytes: &[u8], state: &mut State, out: &mut String) -> Result<(), Marc8Error> {
    if *state == State::default() && is_plain(bytes) {
        if let Ok(text) = std::str::from_utf8(bytes) {
            out.push_str(text);
        }
        return Ok(());
    }
    out.reserve(bytes.len());
    let mut decoder = Decoder { state, out, marks: String::new() };
    let result = decoder.run(bytes, 0);
    decoder.finish_marks();
    result
}

/// Like [`decode`], but writes U+FFFD for each fault and continues after it. Returns the number of
/// faults. The faulty bytes are lost.
pub fn decode_lossy(bytes: &[u8], state: &mut State, out: &mut String) -> usize {
    let mut decoder = Decoder { state, out, marks: String::new() };
    let (mut start, mut faults) = (0, 0);
    while let Err(error) = decoder.run(bytes, start) {
        decoder.put('\u{FFFD}');
        faults += 1;
        start = error.offset + error.length;
    }
    decoder.finish_marks();
    faults
}

struct Decoder<'a> {
    state: &'a mut State,
    out: &'a mut String,
    /// Marks that wait for their letter.
    marks: String,
}

impl Decoder<'_> {
    fn run(&mut self, bytes: &[u8], start: usize) -> Result<(), Marc8Error> {
        let mut at = start;
        while at < bytes.len() {
            let byte = bytes[at];
            at = match byte {
                ESC => self.escape(bytes, at)?,
                0x20..0x7F if self.state.g0 == Set::Ascii => self.ascii(bytes, at),
                0x20 => {
                    self.put(' ');
                    at + 1
                }
                0x21..0x7F => self.graphic(bytes, at, self.state.g0)?,
                0x00..0x20 | 0x7F => {
                    self.finish_marks();
                    if (0x1D..0x20).contains(&byte) {
                        *self.state = State::default();
                    }
                    self.out.push(byte as char);
                    at + 1
                }
                0x80..0xA0 => {
                    let Some(character) = control(byte) else {
                        let kind = Fault::Byte { byte, set: self.state.g1 };
                        return Err(Marc8Error { offset: at, length: 1, kind });
                    };
                    self.put(character);
                    at + 1
                }
                0xA0..=0xFF => self.graphic(bytes, at, self.state.g1)?,
            };
        }
        Ok(())
    }

    /// Decodes a run of ASCII, and returns the offset after it. The first character takes the
    /// waiting marks.
    fn ascii(&mut self, bytes: &[u8], at: usize) -> usize {
        let run = bytes[at..].iter().position(|b| !(0x20..0x7F).contains(b));
        let end = run.map_or(bytes.len(), |run| at + run);
        let mut rest = &bytes[at..end];
        if !self.marks.is_empty() {
            self.put(rest[0] as char);
            rest = &rest[1..];
        }
        if let Ok(text) = std::str::from_utf8(rest) {
            self.out.push_str(text);
        }
        end
    }

    /// Decodes one graphic character of `set`, and returns the offset after it.
    fn graphic(&mut self, bytes: &[u8], at: usize, set: Set) -> Result<usize, Marc8Error> {
        if set == Set::Eacc {
            let Some(&[a, b, c]) = bytes[at..].first_chunk() else {
                let length = bytes.len() - at;
                return Err(Marc8Error { offset: at, length, kind: Fault::TruncatedEacc });
            };
            // A character begun in G1 has the high bit in all three bytes, one begun in G0 in none.
            let high = a & 0x80;
            let code = [a & 0x7F, b & 0x7F, c & 0x7F];
            return match eacc_character(code).filter(|_| b & 0x80 == high && c & 0x80 == high) {
                Some(character) => {
                    self.put(character);
                    Ok(at + 3)
                }
                None => {
                    // A control code among the three, or a byte of the other half, means that bytes
                    // are missing: continue with it, so that one slip does not garble the whole
                    // run.
                    let odd = |x: u8| x & 0x7F <= 0x20 || x & 0x80 != high;
                    let length = if odd(b) {
                        1
                    } else if odd(c) {
                        2
                    } else {
                        3
                    };
                    Err(Marc8Error { offset: at, length, kind: Fault::Eacc([a, b, c]) })
                }
            };
        }
        let code = bytes[at] & 0x7F;
        match (code >= 0x21).then(|| character(set, code)).flatten() {
            Some(mark) if is_mark(set, code) => self.marks.push(mark),
            Some(character) => self.put(character),
            None => {
                let kind = Fault::Byte { byte: bytes[at], set };
                return Err(Marc8Error { offset: at, length: 1, kind });
            }
        }
        Ok(at + 1)
    }

    /// Decodes an escape sequence, and returns the offset after it.
    fn escape(&mut self, bytes: &[u8], at: usize) -> Result<usize, Marc8Error> {
        let after = |n: usize| bytes.get(at + n).copied().unwrap_or(0);
        let (first, second, third) = (after(1), after(2), after(3));
        let state = &mut *self.state;
        // (sets of one byte a character or of three, whether for G0, bytes before the final one)
        let (wide, g0, length) = match (first, second) {
            (b's', _) => {
                state.g0 = Set::Ascii;
                return Ok(at + 2);
            }
            (b'g' | b'b' | b'p', _) => {
                state.g0 = Set::of_final(first).unwrap_or(Set::Ascii);
                return Ok(at + 2);
            }
            (b'(' | b',', b'!') => (false, true, 3),
            (b')' | b'-', b'!') => (false, false, 3),
            (b'(' | b',', _) => (false, true, 2),
            (b')' | b'-', _) => (false, false, 2),
            (b'$', b',' | b'(') => (true, true, 3),
            (b'$', b')' | b'-') => (true, false, 3),
            (b'$', _) => (true, true, 2),
            _ => (false, true, 0),
        };
        let set = Set::of_final(after(length)).filter(|set| {
            let named_by_two = second == b'!' && length == 3;
            length > 0 && (*set == Set::Eacc) == wide && (!named_by_two || *set == Set::Ansel)
        });
        match set {
            Some(set) if g0 => state.g0 = set,
            Some(set) => state.g1 = set,
            None => {
                let kind = Fault::Escape([first, second, third]);
                return Err(Marc8Error { offset: at, length: 1, kind });
            }
        }
        Ok(at + length + 1)
    }

    /// Appends a letter, and the marks that waited for it.
    #[inline]
    fn put(&mut self, character: char) {
        self.out.push(character);
        if !self.marks.is_empty() {
            self.out.push_str(&self.marks);
            self.marks.clear();
        }
    }

    /// Appends marks that find no letter.
    fn finish_marks(&mut self) {
        if !self.marks.is_empty() {
            self.put(NO_LETTER);
        }
    }
}
