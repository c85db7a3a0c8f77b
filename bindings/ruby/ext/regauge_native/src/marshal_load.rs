//! Decodes plain Marshal data, and simple objects of permitted classes, in one pass.
//!
//! The library's reader passes over a document twice, because it cannot know in advance which
//! objects a link will refer to. Here every object has a VALUE, which a link refers to by number.
//! This handles what most documents consist of: `nil`, booleans, numbers, text, symbols, arrays,
//! hashes, and objects of the permitted classes with nothing but instance variables. Anything else
//! ends the attempt, including any error in the document: then the library's reader starts from the
//! beginning, and builds it or reports the error.
//!
//! If you change this file: objects are numbered in the order of `marshal.c` `r_object`: a
//! container before its content. No Ruby method is called.

use regauge::event::{ShortText, from_utf8};
use regauge::marshal::float_at;
use regauge::marshal::types::{
    ARRAY, BIGNUM, FALSE, FIXNUM, FLOAT, HASH, IVARS, LINK, NIL, OBJECT, STRING, SYMBOL, SYMLINK,
    TRUE, VERSION, long,
};

use crate::build::plain_hash;
use crate::options::{Settings, permitted};
use crate::ruby::{self, VALUE};
use crate::scratch::Scratch;

/// A container whose values are incomplete.
#[derive(Clone, Copy)]
struct Open {
    kind: Kind,
    /// The number of values (for a hash including keys, for an object including names).
    left: u64,
    /// The number of values on the stack below its own.
    base: usize,
    /// Its object number.
    number: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Array,
    Hash,
    /// An object of this mold's class.
    Object(u8),
}

/// Reads one document.
struct Straight<'a> {
    document: &'a [u8],
    at: usize,
    scratch: &'a Scratch,
    /// The link byte for the symbol `E`, once that has occurred.
    encoding: Option<u8>,
    token_bytes: u64,
    /// The permitted classes: an array, or `nil`.
    permit: VALUE,
    /// The molds whose classes are among them, one bit each.
    permitted: u64,
}

/// Returns whether documents with these settings can be read here.
pub fn is_possible(settings: &Settings) -> bool {
    settings.usual && !settings.symbolize && !settings.freeze && settings.core.marshal.inert
}

/// Returns the object of a document that this can handle; `None` if the library's reader has to
/// take over.
pub fn load(document: &[u8], settings: &Settings, scratch: &Scratch) -> Option<VALUE> {
    let limits = &settings.core.limits;
    if !document.starts_with(&VERSION) || document.len() as u64 > limits.record_bytes {
        return None;
    }
    let mut straight = Straight {
        document,
        at: VERSION.len(),
        scratch,
        encoding: None,
        token_bytes: limits.token_bytes,
        permit: settings.permit,
        permitted: 0,
    };
    straight.read(limits.depth as usize)
}

impl<'a> Straight<'a> {
    fn read(&mut self, depth: usize) -> Option<VALUE> {
        let (values, objects) = (&self.scratch.values, &self.scratch.anchors);
        // The containers around the current one, and that one; the document's own value has an
        // enclosing one of length one.
        let mut outer: Vec<Open> = Vec::new();
        let mut top = Open { kind: Kind::Array, left: 1, base: values.len(), number: 0 };
        // An object counts two, as everywhere.
        let mut level = 0;
        loop {
            // A value, or the beginning of a container.
            let kind = *self.document.get(self.at)?;
            if top.kind != Kind::Array && top.left.is_multiple_of(2) {
                values.push(if top.kind == Kind::Hash { self.key(kind)? } else { self.name()? });
                top.left -= 1;
                continue;
            }
            if matches!(kind, ARRAY | HASH | OBJECT) {
                self.at += 1;
                let (kind, levels) = match kind {
                    ARRAY => (Kind::Array, 1),
                    HASH => (Kind::Hash, 1),
                    _ => (Kind::Object(self.class()?), 2),
                };
                let count = self.count(self.at)?;
                level += levels;
                if level > depth {
                    return None;
                }
                outer.push(top);
                let left = count << u32::from(kind != Kind::Array);
                top = Open { kind, left, base: values.len(), number: objects.len() };
                // Reserves its number; a link to it from within ends the attempt.
                objects.push(ruby::UNDEF);
            } else {
                values.push(self.leaf(kind)?);
                top.left -= 1;
            }
            while top.left == 0 {
                let Open { kind, base, number, .. } = top;
                top = match outer.pop() {
                    Some(open) => open,
                    None => return (self.at == self.document.len()).then(|| values.at(base)),
                };
                let (container, levels) = match kind {
                    Kind::Array => (ruby::array(values.from(base)), 1),
                    Kind::Hash => (plain_hash(self.scratch, base), 1),
                    Kind::Object(mold) => {
                        (self.scratch.molds.object(mold.into(), values.from(base))?, 2)
                    }
                };
                level -= levels;
                values.truncate(base);
                values.push(container);
                objects.set(number, container);
                top.left -= 1;
            }
        }
    }

    /// Returns a count that the rest of the document can satisfy.
    #[inline(always)]
    fn count(&mut self, at: usize) -> Option<u64> {
        let (count, end) = long(self.document, at)?;
        let count = u64::try_from(count).ok()?;
        self.at = end;
        (count <= (self.document.len() - end) as u64).then_some(count)
    }

    /// Returns the mold of the class named next, if it is permitted.
    #[inline(always)]
    fn class(&mut self) -> Option<u8> {
        let symbol = self.name()?;
        match self.scratch.molds.find(symbol) {
            Some((mold, _)) if self.permitted >> mold & 1 == 1 => Some(mold as u8),
            found => self.permitted_class(symbol, found),
        }
    }

    /// The same for a class that occurs for the first time.
    #[inline(never)]
    fn permitted_class(&mut self, symbol: VALUE, found: Option<(usize, VALUE)>) -> Option<u8> {
        if self.permit == ruby::NIL {
            return None;
        }
        // Of classes with the same name, the first in the list is used, as everywhere.
        let is_first = |class| ruby::array_get(self.permit, 0) == Some(class);
        let mold = match found {
            Some((mold, class)) if is_first(class) => mold,
            _ => {
                let class = permitted(self.permit, ruby::symbol_text(symbol));
                match found {
                    Some((mold, known)) if known == class => mold,
                    _ if !ruby::is_class(class) => return None,
                    _ => self.scratch.molds.add(symbol, class, self.permitted)?,
                }
            }
        };
        self.permitted |= 1 << mold;
        u8::try_from(mold).ok()
    }

    /// Returns the text of a string that starts here and is UTF-8, or pure ASCII. Advances past it.
    #[inline(always)]
    fn text(&mut self) -> Option<Text<'a>> {
        let document = self.document;
        if *document.get(self.at + 1)? != STRING {
            return None;
        }
        let (length, start) = long(document, self.at + 2)?;
        let length = usize::try_from(length).ok().filter(|v| *v as u64 <= self.token_bytes)?;
        let end = start.checked_add(length)?;
        self.at = match document.get(end..)? {
            [6, SYMLINK, name, TRUE, ..] if Some(*name) == self.encoding => end + 4,
            [6, SYMBOL, 6, b'E', TRUE, ..] if self.encoding.is_none() => {
                self.begin_encoding()?;
                end + 5
            }
            _ => return None,
        };
        if let Some(window) = document[start..].first_chunk::<32>()
            && let Some(text) = ShortText::ascii(window, length)
        {
            return Some(Text::Ascii(text.as_str()));
        }
        let text = from_utf8(&document[start..end])?;
        Some(if text.is_ascii() { Text::Ascii(text) } else { Text::Utf8(text) })
    }

    /// Assigns a number to the first occurrence of the symbol `E`.
    #[cold]
    fn begin_encoding(&mut self) -> Option<()> {
        let symbols = &self.scratch.symbols;
        self.encoding = Some(match symbols.len() {
            0 => 0,
            number @ 1..=122 => number as u8 + 5,
            _ => return None,
        });
        symbols.push(self.scratch.keys.symbol("E"));
        Some(())
    }

    /// Reads a value that is not a container.
    #[inline(always)]
    fn leaf(&mut self, kind: u8) -> Option<VALUE> {
        let (document, at) = (self.document, self.at);
        let objects = &self.scratch.anchors;
        Some(match kind {
            IVARS => {
                let string = match self.text()? {
                    Text::Ascii(text) => ruby::utf8_string(text, true),
                    Text::Utf8(text) => ruby::utf8_string(text, false),
                };
                objects.push(string);
                string
            }
            FIXNUM => {
                let (v, end) = long(document, at + 1)?;
                self.at = end;
                ruby::integer(v)
            }
            LINK => {
                let value = self.linked()?;
                // A key is not a value, and the same text as a value is another string.
                if ruby::is_string(value) && ruby::is_frozen(value) {
                    return None;
                }
                value
            }
            FLOAT => {
                let (length, start) = long(document, at + 1)?;
                let end = start.checked_add(usize::try_from(length).ok()?)?;
                let value = ruby::float(float_at(document, start, end)?);
                objects.push(value);
                self.at = end;
                value
            }
            NIL | TRUE | FALSE => {
                self.at = at + 1;
                match kind {
                    NIL => ruby::NIL,
                    TRUE => ruby::TRUE,
                    _ => ruby::FALSE,
                }
            }
            SYMBOL | SYMLINK => self.symbol(kind)?,
            STRING => {
                let (length, start) = long(document, at + 1)?;
                let length = usize::try_from(length).ok()?;
                let end = start.checked_add(length)?;
                if length as u64 > self.token_bytes {
                    return None;
                }
                let string = ruby::binary(document.get(start..end)?);
                objects.push(string);
                self.at = end;
                string
            }
            BIGNUM => {
                let negative = match document.get(at + 1)? {
                    b'+' => false,
                    b'-' => true,
                    _ => return None,
                };
                let (words, start) = long(document, at + 2)?;
                let length = 2 * usize::try_from(words).ok().filter(|words| *words <= 4)?;
                let mut word = [0; 8];
                word[..length].copy_from_slice(document.get(start..start + length)?);
                let v = u64::from_le_bytes(word);
                let value = match (negative, i64::try_from(v)) {
                    (false, Ok(v)) => ruby::integer(v),
                    (false, Err(_)) => ruby::unsigned(v),
                    (true, _) => ruby::integer(0i64.checked_sub_unsigned(v)?),
                };
                objects.push(value);
                self.at = start + length;
                value
            }
            _ => return None,
        })
    }

    /// Reads a key: interned text, or a symbol.
    #[inline(always)]
    fn key(&mut self, kind: u8) -> Option<VALUE> {
        Some(match kind {
            IVARS => {
                let (Text::Ascii(text) | Text::Utf8(text)) = self.text()?;
                let key = self.scratch.keys.string(text);
                self.scratch.anchors.push(key);
                key
            }
            LINK => {
                let key = self.linked()?;
                if !ruby::is_string(key) {
                    return None;
                }
                match ruby::is_frozen(key) {
                    true => key,
                    false => self.scratch.keys.string(ruby::known_text(key)?),
                }
            }
            SYMBOL | SYMLINK => self.symbol(kind)?,
            _ => return None,
        })
    }

    /// Returns what a link refers to, unless it is a container that is still open.
    #[inline(always)]
    fn linked(&mut self) -> Option<VALUE> {
        let (number, end) = long(self.document, self.at + 1)?;
        let objects = &self.scratch.anchors;
        let number = usize::try_from(number).ok().filter(|number| *number < objects.len())?;
        self.at = end;
        Some(objects.at(number)).filter(|value| *value != ruby::UNDEF)
    }

    /// Reads the name of a class or of an instance variable.
    #[inline(always)]
    fn name(&mut self) -> Option<VALUE> {
        match *self.document.get(self.at)? {
            kind @ (SYMBOL | SYMLINK) => self.symbol(kind),
            _ => None,
        }
    }

    /// Reads an ASCII symbol, or the one that is linked to.
    #[inline]
    fn symbol(&mut self, kind: u8) -> Option<VALUE> {
        let (number, start) = long(self.document, self.at + 1)?;
        let number = usize::try_from(number).ok()?;
        let symbols = &self.scratch.symbols;
        if kind == SYMLINK {
            self.at = start;
            return (number < symbols.len()).then(|| symbols.at(number));
        }
        if number as u64 > self.token_bytes {
            return None;
        }
        let end = start.checked_add(number)?;
        let text = from_utf8(self.document.get(start..end)?).filter(|text| text.is_ascii())?;
        if text == "E" {
            return None;
        }
        let symbol = self.scratch.keys.symbol(text);
        symbols.push(symbol);
        self.at = end;
        Some(symbol)
    }
}

/// Text with a known coderange.
enum Text<'a> {
    Ascii(&'a str),
    Utf8(&'a str),
}
