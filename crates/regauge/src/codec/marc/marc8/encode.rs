//! Text to MARC-8.
//!
//! MARC-8 can spell the same text in many ways. This spelling follows what catalogues contain
//! (measured over real records, see `docs/formats/marc8.md`):
//! - Extended Latin stays in G1, every other set goes to G0: `ESC ( F`, `ESC $ 1`, `ESC g|b|p`.
//! - Back to ASCII with `ESC s` after `ESC g|b|p`, with `ESC ( B` after the rest; always at the end
//!   of the piece.
//! - A character that the set in force also has is written in it if [`stays`] says so.

use unicode_normalization::char::{canonical_combining_class, compose, decompose_canonical};

use super::lookup::{Code, code_in, code_of, is_mark_character};
use super::reference::{self, needs_escape};
use super::{Fault, Marc8Error, NO_LETTER, Set, is_plain};

/// What [`encode`] did beyond a one-to-one translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// Marks over two letters (U+0360, U+0361) written as their halves, because MARC-8 has only
    /// those: they come back as U+FE20 to U+FE23.
    pub halved: usize,
    /// Characters that come back in another composition, canonically equivalent: é as e and its accent.
    pub recomposed: usize,
    /// Characters written as numeric character references.
    pub references: usize,
}

/// Appends `text` to `out` in MARC-8, beginning and ending in the default state.
///
/// Characters are decomposed only if MARC-8 has no code for the composed one, and marks are
/// composed with their letter only if it has none for the mark. What [`super::decode`] returns is
/// the same text, apart from what [`Encoded::recomposed`] counts, which is canonically equivalent, and
/// what [`Encoded::halved`] counts. Text that came from [`super::decode`] comes back unchanged.
///
/// ```
/// let mut bytes = Vec::new();
/// regauge::marc::marc8::encode("Café, Москва", &mut bytes).unwrap();
/// assert_eq!(bytes, b"Caf\xE2e, \x1B(NmOSKWA\x1B(B");
/// ```
///
/// # Errors
/// [`Fault::NoCode`] for a character that no set has (including ESC), and [`Fault::NoLetter`] for a
/// mark without a letter before it. The offset is in bytes of `text`; `out` is unchanged.
pub fn encode(text: &str, out: &mut Vec<u8>) -> Result<Encoded, Marc8Error> {
    run(text, false, out)
}

/// Like [`encode`], but writes a character that no set has as a numeric character reference,
/// `&#x2022;`: the Library's lossless technique. An ampersand that would accidentally begin such a
/// reference is written as `&#x0026;`, so that [`super::resolve_references`] returns the same text.
///
/// # Errors
/// [`Fault::NoLetter`], and [`Fault::NoCode`] for ESC only.
pub fn encode_with_references(text: &str, out: &mut Vec<u8>) -> Result<Encoded, Marc8Error> {
    run(text, true, out)
}

/// A letter and the marks that belong to it, as ranges of `Encoder::chars`.
#[derive(Clone, Copy)]
struct Unit {
    offset: usize,
    letter: char,
    marks: (usize, usize),
}

struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    g0: Set,
    marks: Vec<char>,
    units: Vec<Unit>,
    references: bool,
    done: Encoded,
}

fn run(text: &str, references: bool, out: &mut Vec<u8>) -> Result<Encoded, Marc8Error> {
    if is_plain(text.as_bytes()) && !(references && text.contains("&#x")) {
        out.extend_from_slice(text.as_bytes());
        return Ok(Encoded::default());
    }
    let start = out.len();
    let mut encoder = Encoder {
        out,
        g0: Set::Ascii,
        marks: Vec::new(),
        units: Vec::new(),
        references,
        done: Encoded::default(),
    };
    let result = encoder.text(text);
    if result.is_err() {
        encoder.out.truncate(start);
    }
    result.map(|()| encoder.done)
}

impl Encoder<'_> {
    /// Copies ASCII and passes on the rest in zones. A zone begins with the ASCII character that
    /// the next mark may belong to, and ends where two ASCII characters meet: no mark or half of
    /// one crosses that border.
    fn text(&mut self, text: &str) -> Result<(), Marc8Error> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if self.g0 == Set::Ascii {
                let plain = |byte: &u8| byte.is_ascii() && *byte != 0x1B;
                let run = bytes[at..].iter().position(|byte| !plain(byte));
                let run = run.map_or(bytes.len() - at, |run| run.saturating_sub(1));
                // An ampersand may have to be escaped, so nothing is copied if references are on.
                let run = if self.references { 0 } else { run };
                self.out.extend_from_slice(&bytes[at..at + run]);
                at += run;
            }
            let rest = &bytes[at..];
            let border = rest.windows(2).skip(1).position(|pair| pair.is_ascii());
            let end = match border {
                Some(border) if !self.references => at + border + 2,
                _ => bytes.len(),
            };
            self.units.clear();
            self.marks.clear();
            self.split(text, at, end)?;
            self.write(text)?;
            at = end;
        }
        self.designate(Set::Ascii);
        Ok(())
    }

    /// Splits `text[start..end]` into units.
    fn split(&mut self, text: &str, start: usize, end: usize) -> Result<(), Marc8Error> {
        let mut half = None;
        for (offset, c) in text[start..end].char_indices().map(|(at, c)| (start + at, c)) {
            if c.is_ascii() || code_of(c).is_some() || is_syllable(c) {
                self.part(offset, c, &mut half)?;
            } else {
                let mut result = Ok(());
                let mut is_same = false;
                decompose_canonical(c, |part| {
                    is_same = part == c;
                    if result.is_ok() {
                        result = self.part(offset, part, &mut half);
                    }
                });
                result?;
                self.done.recomposed += usize::from(!is_same);
            }
        }
        for index in 0..self.units.len() {
            self.fold(index);
        }
        Ok(())
    }

    /// Adds one character that is not to be decomposed further. `half` is the second half of a mark
    /// over two letters, which the next letter takes.
    fn part(&mut self, offset: usize, c: char, half: &mut Option<char>) -> Result<(), Marc8Error> {
        // The tables decide, if they have the character: superscript alef (U+0670) is a mark in
        // Unicode, but a letter of its own in MARC-8.
        let is_mark = (c as u32) >= 0x300
            && if code_of(c).is_some() {
                is_mark_character(c)
            } else {
                canonical_combining_class(c) != 0
            };
        let end = self.marks.len();
        match self.units.last_mut() {
            Some(unit) if is_mark || joins_jamo(unit.letter, c) => {
                if is_control(unit.letter) {
                    return Err(Marc8Error {
                        offset,
                        length: c.len_utf8(),
                        kind: Fault::NoLetter(c),
                    });
                }
                let (mark, second) = match c {
                    '\u{360}' => ('\u{FE22}', Some('\u{FE23}')),
                    '\u{361}' => ('\u{FE20}', Some('\u{FE21}')),
                    _ => (c, None),
                };
                if second.is_some() {
                    *half = second;
                    self.done.halved += 1;
                }
                self.marks.push(mark);
                unit.marks.1 = self.marks.len();
            }
            None if is_mark => {
                return Err(Marc8Error { offset, length: c.len_utf8(), kind: Fault::NoLetter(c) });
            }
            _ => {
                self.marks.extend(half.take().filter(|_| !is_control(c)));
                self.units.push(Unit { offset, letter: c, marks: (end, self.marks.len()) });
            }
        }
        Ok(())
    }

    /// Composes marks that have no code, or whose letter has none without them, with their letter.
    fn fold(&mut self, index: usize) {
        let Unit { letter, marks: (start, end), .. } = self.units[index];
        let marks = &mut self.marks[start..end];
        if marks.iter().all(|mark| code_of(*mark).is_some())
            && (marks.is_empty() || is_shared(letter) || code_of(letter).is_some())
        {
            return;
        }
        let mut ordered = marks.to_vec();
        ordered.sort_by_key(|mark| canonical_combining_class(*mark));
        let mut folded = letter;
        let mut kept: Vec<char> = Vec::with_capacity(ordered.len());
        for mark in ordered {
            let class = canonical_combining_class(mark);
            // A mark is hidden from its letter by one of the same class between them, a jamo by
            // any.
            let hidden = kept.last().is_some_and(|last| canonical_combining_class(*last) >= class);
            let wanted =
                code_of(mark).is_none() || (!is_shared(folded) && code_of(folded).is_none());
            match compose(folded, mark) {
                Some(composed) if wanted && !hidden => folded = composed,
                _ => kept.push(mark),
            }
        }
        if folded != letter && code_of(folded).is_some() {
            marks[..kept.len()].copy_from_slice(&kept);
            self.done.recomposed += 1;
            self.units[index].letter = folded;
            self.units[index].marks = (start, start + kept.len());
        }
    }

    fn write(&mut self, text: &str) -> Result<(), Marc8Error> {
        for index in 0..self.units.len() {
            let Unit { offset, letter, marks: (start, end) } = self.units[index];
            // Marks with a code up to here belong to the letter; each further mark without one
            // takes the following ones along, as if it were a letter.
            let mut to = start + self.coded(start, end);
            let no_code =
                |c: char| Marc8Error { offset, length: c.len_utf8(), kind: Fault::NoCode(c) };
            if is_control(letter) {
                match letter {
                    '\x1B' => return Err(no_code(letter)),
                    '\x1D'..='\x1F' => self.designate(Set::Ascii),
                    _ => {}
                }
                self.out.push(letter as u8);
            } else if let Some(code) = self.choose(index) {
                if self.references
                    && letter == '&'
                    && to == end
                    && let Some(after) = self.units.get(index + 1)
                    && needs_escape(&text[after.offset..])
                {
                    self.reference(letter, start, to);
                } else {
                    self.character(code, start, to);
                }
            } else if letter == NO_LETTER && start < end && to == end && self.ends(index) {
                self.write_marks(Set::Ansel, start, end);
            } else if self.references {
                self.reference(letter, start, to);
            } else {
                return Err(no_code(letter));
            }
            while to < end {
                let mark = self.marks[to];
                if !self.references {
                    let at = offset + text[offset..].find(mark).unwrap_or(0);
                    return Err(Marc8Error { offset: at, ..no_code(mark) });
                }
                let from = to + 1;
                to = from + self.coded(from, end);
                self.reference(mark, from, to);
            }
        }
        Ok(())
    }

    /// Returns how many of the marks from `start` have a code, up to the first that has none.
    fn coded(&self, start: usize, end: usize) -> usize {
        self.marks[start..end].iter().take_while(|mark| code_of(**mark).is_some()).count()
    }

    /// Returns whether nothing follows that a mark could be read as belonging to.
    fn ends(&self, index: usize) -> bool {
        self.units.get(index + 1).is_none_or(|unit| is_control(unit.letter))
    }

    /// Returns the code to write a letter with, given the set in force.
    fn choose(&self, index: usize) -> Option<Code> {
        let letter = self.units[index].letter;
        if is_shared(letter) {
            let here = if letter == ' ' { Some(0x20) } else { code_in(self.g0, letter) };
            return Some(match here {
                Some(code) if stays(self.g0, letter) => Code { set: self.g0, code: code.into() },
                _ => Code { set: Set::Ascii, code: letter as u32 },
            });
        }
        let preferred = code_of(letter)?;
        if preferred.set == self.g0 || preferred.set == Set::Ansel {
            return Some(preferred);
        }
        if self.g0 != Set::GreekSymbols
            && let Some(code) = code_in(self.g0, letter)
        {
            return Some(Code { set: self.g0, code: code.into() });
        }
        // Alpha, beta or gamma alone is a symbol; next to Greek letters it is a letter.
        let is_greek = |index: usize| {
            let unit = self.units.get(index);
            unit.is_some_and(|unit| code_of(unit.letter).is_some_and(|code| code.set == Set::Greek))
        };
        if let Some(code) = code_in(Set::GreekSymbols, letter)
            && !is_greek(index + 1)
            && !(index > 0 && is_greek(index - 1))
        {
            return Some(Code { set: Set::GreekSymbols, code: code.into() });
        }
        Some(preferred)
    }

    /// Designates `set` as G0.
    fn designate(&mut self, set: Set) {
        if self.g0 == set {
            return;
        }
        let short = matches!(self.g0, Set::GreekSymbols | Set::Subscripts | Set::Superscripts);
        let sequence: &[u8] = match set {
            Set::Ascii if short => b"\x1Bs",
            Set::Ascii => b"\x1B(B",
            Set::Ansel => b"\x1B(!E",
            Set::Greek => b"\x1B(S",
            Set::GreekSymbols => b"\x1Bg",
            Set::Hebrew => b"\x1B(2",
            Set::Cyrillic => b"\x1B(N",
            Set::ExtendedCyrillic => b"\x1B(Q",
            Set::Arabic => b"\x1B(3",
            Set::ExtendedArabic => b"\x1B(4",
            Set::Subscripts => b"\x1Bb",
            Set::Superscripts => b"\x1Bp",
            Set::Eacc => b"\x1B$1",
        };
        self.out.extend_from_slice(sequence);
        self.g0 = set;
    }

    /// Writes the marks `start..end`, then the letter with `code`.
    fn character(&mut self, code: Code, start: usize, end: usize) {
        self.write_marks(code.set, start, end);
        match code.set {
            Set::Ansel => match code.code {
                // The control codes that the tables leave out are handled by the codec itself.
                code @ 0x80.. => self.out.push(code as u8),
                code => self.out.push(code as u8 | 0x80),
            },
            Set::Eacc => {
                self.designate(Set::Eacc);
                self.out.extend_from_slice(&code.code.to_be_bytes()[1..]);
            }
            set => {
                self.designate(set);
                self.out.push(code.code as u8);
            }
        }
    }

    /// Writes the marks `start..end` for a letter of `set`: in that set if it has them.
    fn write_marks(&mut self, set: Set, start: usize, end: usize) {
        if start < end && set != Set::Ansel {
            self.designate(set);
        }
        for index in start..end {
            let mark = self.marks[index];
            let own = if set == Set::Ansel { None } else { code_in(set, mark) };
            match (own, code_of(mark)) {
                (Some(code), _) => {
                    self.designate(set);
                    self.out.push(code);
                }
                (None, Some(code)) if code.set == Set::Ansel => {
                    self.out.push(code.code as u8 | 0x80)
                }
                (None, Some(code)) => {
                    self.designate(code.set);
                    self.out.push(code.code as u8);
                }
                (None, None) => unreachable!("marks without a code are written as references"),
            }
        }
    }

    /// Writes a numeric character reference, after the marks `start..end` that belong to it.
    fn reference(&mut self, c: char, start: usize, end: usize) {
        self.write_marks(Set::Ascii, start, end);
        self.designate(Set::Ascii);
        reference::write(c, self.out);
        self.done.references += 1;
    }
}

/// Returns whether a character that ASCII has too is written in `set`, which is in force and has
/// it.
///
/// Catalogues keep space and punctuation in the surrounding script, even before the end of a
/// subfield, but write digits in ASCII (without exception in Hebrew and Arabic, which run right to
/// left). Between East Asian characters, a space is an ASCII one.
fn stays(set: Set, c: char) -> bool {
    match set {
        Set::Eacc | Set::GreekSymbols | Set::Subscripts | Set::Superscripts => false,
        _ => !c.is_ascii_digit(),
    }
}

/// Returns whether this is space or a printable character of ASCII, some of which other sets have
/// too.
fn is_shared(c: char) -> bool {
    matches!(c, ' '..='~')
}

/// Returns whether this is a control code that represents itself in every state.
fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\x1F' | '\x7F')
}

/// Returns whether `c` is a Hangul syllable: EACC has them whole or not at all.
pub(super) fn is_syllable(c: char) -> bool {
    matches!(c, '\u{AC00}'..='\u{D7A3}')
}

/// Returns whether the Hangul vowel or final consonant `c` belongs to the syllable that `letter`
/// begins.
fn joins_jamo(letter: char, c: char) -> bool {
    match c {
        '\u{1161}'..='\u{1175}' => matches!(letter, '\u{1100}'..='\u{1112}'),
        '\u{11A8}'..='\u{11C2}' => {
            let open = is_syllable(letter) && (letter as u32 - 0xAC00).is_multiple_of(28);
            open || matches!(letter, '\u{1100}'..='\u{1112}')
        }
        _ => false,
    }
}
