//! The first pass over a document: finds where it ends, where its objects and symbols are, and
//! whether all its counts and numbers are plausible.
//!
//! A link is the number of an earlier object, in an order that is known only once all objects have
//! been seen. So the reader keeps a document in memory and makes two passes. This pass resumes
//! where it stopped when more bytes arrive, and builds only a table of four bytes per object; the
//! second ([`super::walk`]) can rely on every length and number that was checked here.
//!
//! Advice for those who change this file: a token is consumed whole or not at all, and what follows
//! from it is on the stack before the next token is looked at, so a pass can stop before any token.
//! Objects are numbered in the order of `marshal.c` `r_object`: an object before its contents, but
//! the payload of a `_dump` after its instance variables.

mod faults;
mod resume;
mod tables;

use self::faults::{negative, shown, syntax};
use super::types::*;
use crate::model::limits::Limits;
use crate::{Error, Result};

pub(super) use self::tables::{Symbol, Tables};

/// What to do once everything above it on the stack is done.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// Read this many values.
    Values(u64),
    /// Read a symbol.
    Symbol,
    /// Read a count and that many pairs of a symbol and a value.
    Count,
    /// Read this many pairs; in the first of them the symbol is already read.
    Pairs { left: u64, inside: bool },
    /// Read a value that began, with its wrappers, at `start`; then it is done.
    Value { start: u32 },
    /// Like [`Frame::Value`], followed by its instance variables: a count and pairs.
    WithIvars { start: u32 },
    /// Number an object, and read one value.
    Object { start: u32 },
    /// Read the bytes of a `_dump` and its instance variables, then number it.
    Dump { start: u32, ivars: bool },
    /// Number an object.
    Late { start: u32 },
    /// Leave this many levels of nesting, of a wrapper that is done.
    Leave(u32),
}

/// The state of the first pass.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    at: usize,
    stack: Vec<Frame>,
    depth: u32,
    /// The first sign that the input is too short, kept while the rest is searched for a fault: a
    /// streaming reader does not know where the input ends, and both must report the same error.
    short: Option<(usize, String)>,
    /// The longest a document may be.
    bound: usize,
    pub tables: Tables,
}

/// The highest place in a document.
const PLACES: usize = u32::MAX as usize;

impl Scanner {
    /// Begins a document whose version has been read.
    pub fn begin(&mut self) {
        self.at = VERSION.len();
        self.stack.clear();
        self.stack.push(Frame::Values(1));
        self.depth = 0;
        self.short = None;
        self.tables.clear();
    }

    /// Continues over `document`. Returns its length, or `None` if the bytes end before it and more
    /// may follow.
    ///
    /// # Errors
    /// `Syntax`, `Truncated` and `Limit`, with a place in the document.
    pub fn run(&mut self, document: &[u8], last: bool, limits: &Limits) -> Result<Option<usize>> {
        self.bound = usize::try_from(limits.record_bytes).unwrap_or(usize::MAX).min(PLACES);
        while let Some(mut frame) = self.stack.pop() {
            let done = match frame {
                Frame::Values(0) | Frame::Pairs { left: 0, .. } => true,
                Frame::Values(mut left) => {
                    while left > 0 && self.leaf(document, limits) {
                        left -= 1;
                    }
                    frame = Frame::Values(left);
                    if left == 0 {
                        continue;
                    }
                    self.stack.push(Frame::Values(left - 1));
                    let start = self.at;
                    self.value(document, start, false, last, limits)?
                }
                Frame::Pairs { left, inside: false } => {
                    self.stack.push(Frame::Pairs { left, inside: true });
                    self.symbol(document, limits)?
                }
                Frame::Pairs { left, inside: true } => {
                    self.stack.push(Frame::Pairs { left: left - 1, inside: false });
                    let start = self.at;
                    self.value(document, start, false, last, limits)?
                }
                Frame::Symbol => self.symbol(document, limits)?,
                Frame::Count => match self.count(document, 2, last)? {
                    Some(left) => {
                        self.stack.push(Frame::Pairs { left, inside: false });
                        true
                    }
                    None => false,
                },
                Frame::Value { start } => {
                    self.value(document, start as usize, false, last, limits)?
                }
                Frame::WithIvars { start } => {
                    self.stack.push(Frame::Count);
                    self.value(document, start as usize, true, last, limits)?
                }
                Frame::Object { start } => {
                    self.tables.objects.push(start);
                    self.stack.push(Frame::Values(1));
                    true
                }
                Frame::Dump { start, ivars } => match self.bytes(document, self.at, limits)? {
                    Some((_, end)) => {
                        self.at = end;
                        self.stack.push(Frame::Late { start });
                        if ivars {
                            self.stack.push(Frame::Count);
                        }
                        true
                    }
                    None => false,
                },
                Frame::Late { start } => {
                    self.tables.objects.push(start);
                    true
                }
                Frame::Leave(levels) => {
                    self.depth -= levels;
                    true
                }
            };
            if !done {
                // Undo whatever this frame pushed for after the token.
                self.undo(frame);
                return if last { Err(self.cut(document)) } else { Ok(None) };
            }
            if self.at > self.bound {
                return Err(self.too_large(limits));
            }
        }
        Ok(Some(self.at))
    }

    /// Restores the stack after this frame's token turned out incomplete.
    fn undo(&mut self, frame: Frame) {
        match frame {
            Frame::Values(_) | Frame::Pairs { .. } | Frame::WithIvars { .. } => {
                self.stack.pop();
            }
            _ => {}
        }
        self.stack.push(frame);
    }

    /// Skips a value of the most common kinds, if it is complete and valid;
    /// [`value`](Scanner::value) handles everything else.
    #[inline(always)]
    fn leaf(&mut self, document: &[u8], limits: &Limits) -> bool {
        let at = self.at;
        let Some(&kind) = document.get(at) else { return false };
        let end = match kind {
            IVARS => match self.text(document, at, limits) {
                Some(end) => end,
                None => return false,
            },
            LINK => match long(document, at + 1) {
                Some((index, end)) if (index as u64) < self.tables.objects.len() as u64 => {
                    if end > self.bound {
                        return false;
                    }
                    self.tables.link(index as usize);
                    self.at = end;
                    return true;
                }
                _ => return false,
            },
            FIXNUM => match long(document, at + 1) {
                Some((_, end)) if end <= self.bound => {
                    self.at = end;
                    return true;
                }
                _ => return false,
            },
            FLOAT => match long(document, at + 1) {
                Some((length @ 0..=64, start)) => start + length as usize,
                _ => return false,
            },
            NIL | TRUE | FALSE if at < self.bound => {
                self.at = at + 1;
                return true;
            }
            _ => return false,
        };
        if end > self.bound || end > document.len() || (kind == FLOAT && limits.token_bytes < 64) {
            return false;
        }
        self.tables.objects.push(at as u32);
        self.at = end;
        true
    }

    /// Reads one value whose wrappers begin at `start`. With `ivars`, the frame on top of the stack
    /// reads the instance variables that follow it. Returns `false` if the value is cut off, in
    /// which case nothing has changed.
    #[inline]
    fn value(
        &mut self,
        document: &[u8],
        start: usize,
        ivars: bool,
        last: bool,
        limits: &Limits,
    ) -> Result<bool> {
        let at = self.at;
        let Some(&kind) = document.get(at) else { return Ok(false) };
        let begin = start as u32;
        match kind {
            IVARS => {
                if let Some(end) = self.text(document, at, limits) {
                    self.tables.objects.push(begin);
                    self.at = end;
                    return Ok(true);
                }
                self.enter(2, limits)?;
                self.at = at + 1;
                self.stack.push(Frame::Leave(2));
                self.stack.push(Frame::WithIvars { start: begin });
            }
            LINK => {
                let Some((index, end)) = long(document, at + 1) else { return Ok(false) };
                match usize::try_from(index) {
                    Ok(index) if index < self.tables.objects.len() => self.tables.link(index),
                    _ => return Err(self.bad_link(index)),
                }
                self.at = end;
            }
            FIXNUM => {
                let Some((_, end)) = long(document, at + 1) else { return Ok(false) };
                self.at = end;
            }
            NIL | TRUE | FALSE => self.at = at + 1,
            STRING | FLOAT | CLASS | MODULE | MODULE_OLD => {
                let Some((_, end)) = self.bytes(document, at + 1, limits)? else {
                    return Ok(false);
                };
                self.tables.objects.push(begin);
                self.at = end;
            }
            SYMBOL => return self.real_symbol(document, ivars, limits),
            SYMLINK => {
                if ivars {
                    return Err(syntax(
                        at,
                        "found a link to a symbol with instance variables, expected the symbol or a link alone",
                    ));
                }
                return self.symlink(document);
            }
            ARRAY => {
                let Some((count, end)) = self.checked_count(document, at, 1, last)? else {
                    return Ok(false);
                };
                self.enter(1, limits)?;
                self.tables.objects.push(begin);
                self.at = end;
                self.stack.push(Frame::Leave(1));
                self.stack.push(Frame::Values(count));
            }
            HASH | HASH_DEFAULT => {
                let Some((count, end)) = self.checked_count(document, at, 2, last)? else {
                    return Ok(false);
                };
                let with_default = u64::from(kind == HASH_DEFAULT);
                let levels = 1 + 2 * with_default as u32;
                self.enter(levels, limits)?;
                self.tables.objects.push(begin);
                self.at = end;
                self.stack.push(Frame::Leave(levels));
                self.stack.push(Frame::Values(2 * count + with_default));
            }
            OBJECT | STRUCT => {
                self.enter(2, limits)?;
                self.tables.objects.push(begin);
                self.at = at + 1;
                self.stack.push(Frame::Leave(2));
                self.stack.push(Frame::Count);
                self.stack.push(Frame::Symbol);
            }
            BIGNUM => {
                let Some(&sign) = document.get(at + 1) else { return Ok(false) };
                if !matches!(sign, b'+' | b'-') {
                    return Err(syntax(
                        at + 1,
                        format!(
                            "found the byte {}, expected the sign of an integer, + or -",
                            shown(sign)
                        ),
                    ));
                }
                let Some((words, after)) = long(document, at + 2) else { return Ok(false) };
                let Some(length) = u64::try_from(words).ok().and_then(|words| words.checked_mul(2))
                else {
                    return Err(negative(at, words));
                };
                if length > limits.token_bytes {
                    return Err(self.token_too_long(length, limits));
                }
                let end = after.saturating_add(length as usize);
                if end > self.bound {
                    return Err(self.too_large(limits));
                }
                if end > document.len() {
                    return Ok(false);
                }
                self.tables.objects.push(begin);
                self.at = end;
            }
            REGEXP => {
                let Some((_, end)) = self.bytes(document, at + 1, limits)? else {
                    return Ok(false);
                };
                if end >= document.len() {
                    return Ok(false);
                }
                self.enter(1, limits)?;
                self.stack.push(Frame::Leave(1));
                self.tables.objects.push(begin);
                self.at = end + 1;
            }
            USER_CLASS | EXTENDED => {
                self.enter(1, limits)?;
                self.at = at + 1;
                self.stack.push(Frame::Leave(1));
                self.stack.push(Frame::Value { start: begin });
                self.stack.push(Frame::Symbol);
            }
            USER_DUMP => {
                self.enter(1, limits)?;
                self.at = at + 1;
                if ivars {
                    // This object reads its instance variables itself, before it gets a number.
                    self.stack.pop();
                }
                self.stack.push(Frame::Leave(1));
                self.stack.push(Frame::Dump { start: begin, ivars });
                self.stack.push(Frame::Symbol);
            }
            USER_MARSHAL | DATA => {
                self.enter(1, limits)?;
                self.at = at + 1;
                self.stack.push(Frame::Leave(1));
                self.stack.push(Frame::Object { start: begin });
                self.stack.push(Frame::Symbol);
            }
            _ => {
                return Err(syntax(
                    at,
                    format!(
                        "found the byte {}, which does not begin a value, expected one of 0TFi\"[{{:;@IofluUCeScm/dM}}",
                        shown(kind)
                    ),
                ));
            }
        }
        Ok(true)
    }

    /// Skips the usual form of text: `I"`, the bytes, and `E` as the one instance variable, with
    /// the symbol or a short link to it. Returns `None` for any other text, which takes the slow
    /// path.
    #[inline(always)]
    fn text(&mut self, document: &[u8], at: usize, limits: &Limits) -> Option<usize> {
        if *document.get(at + 1)? != STRING {
            return None;
        }
        let (length, start) = long(document, at + 2)?;
        let length = usize::try_from(length).ok()?;
        if length as u64 > limits.token_bytes {
            return None;
        }
        let tail = document.get(start.checked_add(length)?..)?;
        let [count, kind, name, flag, ..] = *tail else { return None };
        if count != 6 || !matches!(flag, TRUE | FALSE) || kind != SYMLINK {
            return None;
        }
        let link = short_link(self.tables.encoding_flag?)?;
        let end = start + length + 4;
        (name == link && end <= self.bound).then_some(end)
    }

    /// Reads a symbol where nothing else is allowed.
    fn symbol(&mut self, document: &[u8], limits: &Limits) -> Result<bool> {
        match document.get(self.at) {
            None => Ok(false),
            Some(&SYMBOL) => self.real_symbol(document, false, limits),
            Some(&SYMLINK) => self.symlink(document),
            Some(&IVARS) => match document.get(self.at + 1) {
                None => Ok(false),
                Some(&SYMBOL) => {
                    self.at += 1;
                    if self.real_symbol(document, true, limits)? {
                        self.stack.push(Frame::Count);
                        return Ok(true);
                    }
                    self.at -= 1;
                    Ok(false)
                }
                Some(&byte) => Err(syntax(
                    self.at + 1,
                    format!(
                        "found the byte {}, expected a symbol (: with I before it)",
                        shown(byte)
                    ),
                )),
            },
            Some(&byte) => Err(syntax(
                self.at,
                format!("found the byte {}, expected a symbol (: or ; or I:)", shown(byte)),
            )),
        }
    }

    fn real_symbol(&mut self, document: &[u8], ivars: bool, limits: &Limits) -> Result<bool> {
        let Some((start, end)) = self.bytes(document, self.at + 1, limits)? else {
            return Ok(false);
        };
        if self.tables.encoding_flag.is_none() && &document[start..end] == b"E" {
            self.tables.encoding_flag = Some(self.tables.symbols.len() as u32);
        }
        if self.tables.symbols.len() as u64 >= limits.nodes {
            return Err(self.too_many_symbols(limits));
        }
        let (at, length) = (start as u32, (end - start) as u32);
        self.tables.symbols.push(Symbol { at, length, ivars });
        self.at = end;
        Ok(true)
    }

    #[inline]
    fn symlink(&mut self, document: &[u8]) -> Result<bool> {
        let Some((index, end)) = long(document, self.at + 1) else { return Ok(false) };
        let count = self.tables.symbols.len();
        if usize::try_from(index).is_ok_and(|index| index < count) {
            self.at = end;
            return Ok(true);
        }
        Err(syntax(
            self.at,
            format!("found a link to symbol {index}, expected one of the {count} before it"),
        ))
    }

    /// Reads a length and that many bytes. Returns their place and the end, or `None` if they are
    /// cut off.
    #[inline]
    fn bytes(&self, document: &[u8], at: usize, limits: &Limits) -> Result<Option<(usize, usize)>> {
        let Some((length, start)) = long(document, at) else { return Ok(None) };
        let Ok(length) = usize::try_from(length) else { return Err(negative(self.at, length)) };
        if length as u64 > limits.token_bytes {
            return Err(self.token_too_long(length as u64, limits));
        }
        // Decided by the announced length alone, so that a caller never waits for bytes over the
        // limit.
        let end = start.saturating_add(length);
        if end > self.bound {
            return Err(self.too_large(limits));
        }
        Ok((end <= document.len()).then_some((start, end)))
    }

    /// Reads the count at the current place, for entries of at least `each` bytes, and consumes it.
    fn count(&mut self, document: &[u8], each: u64, last: bool) -> Result<Option<u64>> {
        let Some((count, end)) = long(document, self.at) else { return Ok(None) };
        let Ok(count) = u64::try_from(count) else { return Err(negative(self.at, count)) };
        self.check_left(document, end, count, each, last);
        self.at = end;
        Ok(Some(count))
    }

    /// Returns the count after the byte at `at`, and the place after the count; consumes nothing.
    #[inline]
    fn checked_count(
        &mut self,
        document: &[u8],
        at: usize,
        each: u64,
        last: bool,
    ) -> Result<Option<(u64, usize)>> {
        let Some((count, end)) = long(document, at + 1) else { return Ok(None) };
        let Ok(count) = u64::try_from(count) else { return Err(negative(at, count)) };
        self.check_left(document, end, count, each, last);
        Ok(Some((count, end)))
    }

    #[inline]
    fn check_left(&mut self, document: &[u8], end: usize, count: u64, each: u64, last: bool) {
        let left = (document.len() - end) as u64;
        if last && count.saturating_mul(each) > left && self.short.is_none() {
            let what = format!(
                "found {count} entries declared with {left} bytes left, expected at least {each} per entry",
            );
            self.short = Some((self.at, what));
        }
    }

    #[inline]
    fn enter(&mut self, levels: u32, limits: &Limits) -> Result {
        let most = limits.depth.min(Limits::DEPTH_CEILING);
        if self.depth + levels > most {
            return Err(Error::limit(format!(
                "found values nested more than {most} deep, the limit of depth (an object with its class counts as two)"
            ))
            .hint_depth(most)
            .at(self.at as u64));
        }
        self.depth += levels;
        Ok(())
    }
}

/// Returns the byte after `;` that names the symbol of this number, if one byte can.
#[inline]
pub(super) fn short_link(index: u32) -> Option<u8> {
    match index {
        0 => Some(0),
        1..=122 => Some(index as u8 + 5),
        _ => None,
    }
}
