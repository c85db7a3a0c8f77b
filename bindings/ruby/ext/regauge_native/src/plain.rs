//! What counts as plain data, for a [dialect](crate::dialect).

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use regauge::{Error, ErrorKind, Result};

use crate::options::Settings;
use crate::ruby::{self, Text, VALUE};

/// What counts as plain data besides `nil`, booleans, numbers, text, arrays and hashes.
#[derive(Clone, Copy, Debug)]
pub struct Plain {
    /// Whether symbols do.
    pub symbols: bool,
    /// Whether text does only if it needs no quotes in YAML, and `nil` does not.
    pub bare_text: bool,
    /// Whether arrays and hashes must not be empty.
    pub filled: bool,
    /// Whether all documents are read, into an array.
    pub documents: bool,
    /// A module whose `ext` builds the values that only some formats have, and whose `lower` turns
    /// objects into what is written for them; each returns the module itself for what is not plain. `nil`
    /// if there is none.
    pub values: VALUE,
    /// The class of hashes, if it is not Hash; `nil` otherwise.
    pub hash: VALUE,
}

impl Plain {
    /// Returns whether values of other classes are plain data as well.
    pub fn converts(self) -> bool {
        self.values != ruby::NIL
    }
}

/// The error for anything else, which only a dialect sees.
#[cold]
pub fn not_plain() -> Error {
    Error::new(ErrorKind::Refused, "found a value that is not plain data")
}

/// Floats from here to [`FLOAT_END`] are written without an exponent, by Ruby and by the writer of
/// JSON or YAML.
const JSON_FLOAT: f64 = 1e-4;
const BARE_FLOAT: f64 = 1e-3;
const FLOAT_END: f64 = 1e15;
/// Text of this length stays in 80 columns, 20 levels deep.
const BARE_BYTES: usize = 40;

const T_FLOAT: u32 = 4;
const T_STRING: u32 = 5;
const T_ARRAY: u32 = 7;
const T_HASH: u32 = 8;
const T_BIGNUM: u32 = 10;
const T_SYMBOL: u32 = 20;

/// Checks the values of one walk. Without [`Plain`], all of them pass.
pub struct Checks {
    plain: Option<Plain>,
    /// Whether symbols may be keys in any case.
    takes_symbol_keys: bool,
    /// Whether only text and symbols may be keys.
    takes_text_keys: bool,
    /// The least float that passes, except 0; 0 if all do.
    float_least: f64,
    /// The containers so far, if they would get an anchor where they occur again.
    seen: HashSet<VALUE, BuildHasherDefault<Address>>,
}

impl Checks {
    pub fn new(settings: &Settings) -> Checks {
        let is_json = settings.core.to.is_json();
        let float_least = match settings.plain {
            Some(plain) if plain.bare_text => BARE_FLOAT,
            Some(_) if is_json => JSON_FLOAT,
            _ => 0.0,
        };
        let seen = HashSet::default();
        let converts = settings.plain.is_some_and(Plain::converts);
        let takes_text_keys = converts || settings.plain.is_some_and(|plain| plain.bare_text);
        let takes_symbol_keys = is_json || converts;
        Checks { plain: settings.plain, takes_symbol_keys, takes_text_keys, float_least, seen }
    }

    /// Returns whether text must need no quotes.
    #[inline(always)]
    pub fn is_bare(&self) -> bool {
        self.plain.is_some_and(|plain| plain.bare_text)
    }

    /// Returns whether keys must be text or symbols.
    #[inline(always)]
    pub fn takes_text_keys(&self) -> bool {
        self.takes_text_keys
    }

    /// Checks a value on the heap: of no subclass, and without methods of its own.
    ///
    /// # Errors
    /// [`not_plain`], like the others.
    #[inline(always)]
    pub fn value(&self, value: VALUE, kind: u32) -> Result {
        match self.plain {
            Some(plain) if !is_plain(value, kind, plain) => Err(not_plain()),
            _ => Ok(()),
        }
    }

    /// Checks a key: a string, or a symbol that has this text.
    #[inline(always)]
    pub fn key(&self, key: VALUE, text: VALUE) -> Result {
        let Some(plain) = self.plain else { return Ok(()) };
        let fits = match text == key {
            true => is_plain(key, T_STRING, plain),
            false => !plain.bare_text && (plain.symbols || self.takes_symbol_keys),
        };
        if fits { Ok(()) } else { Err(not_plain()) }
    }

    #[inline(always)]
    pub fn symbol(&self) -> Result {
        match self.plain {
            Some(plain) if !plain.symbols => Err(not_plain()),
            _ => Ok(()),
        }
    }

    /// Checks that Ruby's `Float#to_s` is what is written.
    #[inline(always)]
    pub fn float(&self, value: f64) -> Result {
        if self.floats(&[value]) { Ok(()) } else { Err(not_plain()) }
    }

    /// The same for several.
    #[inline(always)]
    pub fn floats(&self, values: &[f64]) -> bool {
        let fits =
            |value: &f64| *value == 0.0 || (self.float_least..FLOAT_END).contains(&value.abs());
        self.float_least == 0.0 || values.iter().all(fits)
    }

    /// Checks an array or a hash, and remembers it.
    #[inline(always)]
    pub fn enter(&mut self, container: VALUE, is_empty: bool) -> Result {
        let Some(plain) = self.plain else { return Ok(()) };
        if plain.filled && is_empty || plain.bare_text && !self.seen.insert(container) {
            return Err(not_plain());
        }
        Ok(())
    }
}

#[inline]
fn is_plain(value: VALUE, kind: u32, plain: Plain) -> bool {
    match kind {
        T_STRING => {
            ruby::heap_class(value) == ruby::core_class(kind)
                && (!plain.converts() || ruby::text_kind(value) == Text::Utf8)
                && (!plain.bare_text
                    || !ruby::has_extra_variables(value)
                        && ruby::text_kind(value) == Text::Utf8
                        && is_bare(ruby::bytes_of(value)))
        }
        T_ARRAY => ruby::heap_class(value) == ruby::core_class(kind),
        T_HASH => [ruby::core_class(kind), plain.hash].contains(&ruby::heap_class(value)),
        T_FLOAT | T_BIGNUM | T_SYMBOL => true,
        _ => false,
    }
}

/// Returns whether text of one line needs no quotes in YAML, for any writer, wherever it stands:
/// words of ASCII that are no number, bool or null, too short to be folded.
fn is_bare(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 11] =
        [b"y", b"n", b"no", b"on", b"off", b"yes", b"true", b"null", b"false", b"nan", b"inf"];
    let begins = matches!(text.first(), Some(b'A'..=b'Z' | b'a'..=b'z' | b'_'));
    if text.len() > BARE_BYTES || !begins {
        return false;
    }
    let mut before = b' ';
    for &byte in text {
        let fits = match byte {
            b' ' | b'-' => before != b' ',
            _ => byte.is_ascii_alphanumeric() || b"_./@+".contains(&byte),
        };
        if !fits {
            return false;
        }
        before = byte;
    }
    let is_word = text.len() <= 5 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    before != b' ' && !is_word
}

/// Hashes the address of an object.
#[derive(Default)]
pub struct Address(u64);

impl Hasher for Address {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }
}
