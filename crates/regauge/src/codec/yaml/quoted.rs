//! Quoted scalars (YAML 1.2.2 §7.3.1 and §7.3.2).

use super::breaks::Fold;
use super::event::Handler;
use super::fault;
use super::machine::{END, Run, Step};
use super::simd::{Block, sixteen};
use crate::Error;

/// A scalar that is longer is read once to its end before its text is copied, so that one that is broken
/// takes no memory but the window's.
const LARGE: usize = 1 << 20;

/// A quoted scalar.
pub(super) struct Quoted {
    /// The index after the closing quote.
    pub(super) end: usize,
    /// Whether it has several lines.
    pub(super) lines: bool,
    /// The range of its text in the input; `None` if the text is in the scratch buffer.
    borrowed: Option<(usize, usize)>,
}

impl Quoted {
    pub(super) fn text<'t>(&self, input: &'t str, scratch: &'t str) -> &'t str {
        match self.borrowed {
            Some((start, end)) => &input[start..end],
            None => scratch,
        }
    }
}

impl<H: Handler + ?Sized> Run<'_, '_, H> {
    /// Reads the scalar whose opening quote is at `start`, and whose further lines must be indented
    /// more than `least`.
    pub(super) fn quoted(&mut self, start: usize, least: i32) -> Step<Quoted> {
        let quote = self.bytes[start];
        let stop = self.quoted_run(start + 1, quote)?;
        if self.bytes.get(stop) == Some(&quote)
            && !(quote == b'\'' && self.peek(stop + 1)? == quote)
        {
            self.check_length(start, stop)?;
            let borrowed = Some((start + 1, stop));
            return Ok(Quoted { end: stop + 1, lines: false, borrowed });
        }
        let (end, lines) = self.quoted_on(start, stop, quote, least, true)?;
        self.check_length(start, end)?;
        Ok(Quoted { end, lines, borrowed: None })
    }

    /// Returns the end of the run of literal characters from `at` on.
    #[inline(always)]
    pub(super) fn quoted_run(&self, mut at: usize, quote: u8) -> Step<usize> {
        let stands = |byte: u8| byte == b'\t' || byte == b'\\' && quote == b'\'';
        while let Some(block) = sixteen(self.bytes, at) {
            let mut stops = Block::load(block).quoted_stops(quote);
            while stops != 0 {
                let index = at + stops.trailing_zeros() as usize;
                if !stands(self.bytes[index]) {
                    return Ok(index);
                }
                stops &= stops - 1;
            }
            at += 16;
        }
        loop {
            let byte = self.peek(at)?;
            if (byte < 0x20 || byte == quote || byte == b'\\') && !stands(byte) {
                return Ok(at);
            }
            at += 1;
        }
    }

    /// Decodes the scalar from `start` on, plain up to `at`, into the scratch buffer: returns the
    /// index after its closing quote, and whether it has several lines. Without `keep`, the text is
    /// not needed.
    #[inline(never)]
    fn quoted_on(
        &mut self,
        start: usize,
        mut at: usize,
        quote: u8,
        least: i32,
        keep: bool,
    ) -> Step<(usize, bool)> {
        let mut is_whole = !keep;
        let mut scratch = std::mem::take(&mut self.m.scratch);
        scratch.clear();
        let mut from = start + 1;
        let mut lines = false;
        // Whitespace before a line break is dropped, except escaped whitespace, which ends here.
        let mut kept = 0;
        let end = loop {
            if !is_whole && at - start > LARGE {
                if let Err(stop) = self.quoted_on(start, at, quote, least, false) {
                    break Err(stop);
                }
                is_whole = true;
            }
            match keep {
                true => scratch.push_str(&self.text[from..at]),
                false => {
                    scratch.clear();
                    kept = 0;
                }
            }
            let byte = match self.peek(at) {
                Ok(byte) => byte,
                Err(stop) => break Err(stop),
            };
            let next = match byte {
                b'\n' | b'\r' => {
                    let text = scratch.trim_end_matches([' ', '\t']).len();
                    scratch.truncate(text.max(kept));
                    self.quoted_break(at, quote, least).map(|(breaks, to)| {
                        self.breaks_between(at, to, breaks).add(&mut scratch, Fold::Lines);
                        (lines, kept) = (true, scratch.len());
                        to
                    })
                }
                b'\\' if quote == b'"' => match self.peek(at + 1) {
                    Ok(b'\n' | b'\r') => self.quoted_break(at + 1, quote, least).map(|(n, to)| {
                        self.breaks_between(at + 1, to, n).add(&mut scratch, Fold::Escaped);
                        (lines, kept) = (true, scratch.len());
                        to
                    }),
                    Ok(_) => self.escape(at).map(|(char, to)| {
                        scratch.push(char);
                        kept = scratch.len();
                        to
                    }),
                    Err(stop) => Err(stop),
                },
                byte if byte == quote => {
                    if quote == b'"' {
                        break Ok(at + 1);
                    }
                    match self.peek(at + 1) {
                        Ok(b'\'') => {
                            scratch.push('\'');
                            kept = scratch.len();
                            Ok(at + 2)
                        }
                        Ok(_) => break Ok(at + 1),
                        Err(stop) => Err(stop),
                    }
                }
                END if self.is_end(at) => Err(fault::open_quote(quote).at(at as u64).into()),
                0..0x20 => Err(fault::unprintable(char::from(byte)).at(at as u64).into()),
                _ => Ok(at),
            };
            from = match next {
                Ok(from) => from,
                Err(stop) => break Err(stop),
            };
            at = match self.quoted_run(from, quote) {
                Ok(stop) => stop,
                Err(stop) => break Err(stop),
            };
        };
        self.m.scratch = scratch;
        Ok((end?, lines))
    }

    /// Reads the line break at `at` and the blank lines after it: returns the number of breaks, and
    /// where the text continues.
    fn quoted_break(&self, at: usize, quote: u8, least: i32) -> Step<(usize, usize)> {
        let next = self.next_line(at)?;
        if self.peek(next.text)? == END && self.is_end(next.text) {
            return Err(fault::open_quote(quote).at(next.text as u64).into());
        }
        if next.start == next.text && self.is_marker(next.start)? {
            return Err(fault::marker_in_quotes(quote).at(next.start as u64).into());
        }
        if next.indent <= least {
            return Err(fault::indent_in("a quoted scalar", least).at(next.text as u64).into());
        }
        Ok((next.breaks, next.text))
    }

    /// Reads the escape at `at` (§5.7): returns its character, and the index after it.
    fn escape(&self, at: usize) -> Step<(char, usize)> {
        let byte = self.peek(at + 1)?;
        let char = match byte {
            b'0' => '\0',
            b'a' => '\x07',
            b'b' => '\x08',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\x0B',
            b'f' => '\x0C',
            b'r' => '\r',
            b'e' => '\x1B',
            b' ' => ' ',
            b'"' => '"',
            b'/' => '/',
            b'\\' => '\\',
            b'N' => '\u{85}',
            b'_' => '\u{A0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' => return self.hex(at, 2),
            b'u' => return self.hex(at, 4),
            b'U' => return self.hex(at, 8),
            END if self.is_end(at + 1) => {
                return Err(fault::open_quote(b'"').at((at + 1) as u64).into());
            }
            _ => {
                let char = self.text[at + 1..].chars().next().unwrap_or('\0');
                return Err(fault::escape(char).at(at as u64).into());
            }
        };
        Ok((char, at + 2))
    }

    /// Reads the escape at `at` with this many hexadecimal digits.
    fn hex(&self, at: usize, digits: usize) -> Step<(char, usize)> {
        let (code, end) = self.hex_digits(at + 2, digits)?;
        // Two escapes that form a surrogate pair, as JSON writes them.
        if digits == 4
            && code & 0xFC00 == 0xD800
            && self.peek(end)? == b'\\'
            && self.peek(end + 1)? == b'u'
        {
            let (low, after) = self.hex_digits(end + 2, 4)?;
            if low & 0xFC00 == 0xDC00 {
                let code = 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF);
                return Ok((char::from_u32(code).unwrap_or('\0'), after));
            }
        }
        match char::from_u32(code) {
            Some(char) => Ok((char, end)),
            None => Err(fault::no_character(&self.text[at..end]).at(at as u64).into()),
        }
    }

    fn hex_digits(&self, at: usize, count: usize) -> Step<(u32, usize)> {
        let mut code = 0u32;
        for index in at..at + count {
            let byte = self.peek(index)?;
            if byte == END && self.is_end(index) {
                return Err(fault::open_quote(b'"').at(index as u64).into());
            }
            let Some(digit) = char::from(byte).to_digit(16) else {
                let char = self.text[index..].chars().next().unwrap_or('\0');
                let fault: Error = fault::hex_digit(char, count);
                return Err(fault.at(index as u64).into());
            };
            code = code << 4 | digit;
        }
        Ok((code, at + count))
    }
}
