//! What counts as plain data, for a [dialect](crate::dialect).

use regauge::yaml::{self, Peer};
use regauge::{Error, ErrorKind, Result};

use crate::options::Settings;
use crate::ruby::{self, Text, VALUE};

/// What counts as plain data besides `nil`, booleans, numbers, text, arrays and hashes.
#[derive(Clone, Copy, Debug)]
pub struct Plain {
    /// Whether symbols do, except as keys.
    pub symbols: Symbols,
    /// Whether text does only if it needs no quotes in YAML, and `nil` does not.
    pub bare_text: bool,
    /// Whether arrays and hashes must not be empty.
    pub filled: bool,
    /// Whether negative zero does not.
    pub no_minus_zero: bool,
    /// Whether all documents are read, into an array.
    pub documents: bool,
    /// The documents that the other library has to read.
    pub refuses: Refuses,
    /// A module whose `ext` builds the values that only some formats have, and whose `lower` turns
    /// objects into what is written for them; each returns the module itself for what is not plain. `nil`
    /// if there is none.
    pub values: VALUE,
    /// The class of hashes, if it is not Hash; `nil` otherwise.
    pub hash: VALUE,
}

/// Whether symbols are plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// They are not.
    No,
    /// They are, unless they have a `to_json` of their own.
    WithoutToJson,
    /// They are.
    Yes,
}

/// Documents that the other library has to read, whatever is in them.
#[derive(Clone, Copy, Debug)]
pub struct Refuses {
    /// Those that begin with a byte order mark.
    pub marks: bool,
    /// Those in another encoding than UTF-8.
    pub encodings: bool,
    /// Those of BSON with what may be a DBRef.
    pub dbrefs: bool,
    /// Those of YAML that Psych may read in another way.
    pub differences: bool,
}

impl Refuses {
    /// Returns whether this is one.
    pub fn takes(self, bytes: &[u8], encoding: Text) -> bool {
        self.encodings && encoding != Text::Utf8
            || self.marks && bytes.starts_with(b"\xEF\xBB\xBF")
            || self.dbrefs
                && memchr::memchr_iter(b'$', bytes).any(|at| bytes[at..].starts_with(b"$ref"))
            || self.differences && differs(bytes, encoding)
    }
}

/// Returns whether Psych may refuse a document of YAML, read it differently, or transcode it: Rails sets the
/// internal encoding to UTF-8.
fn differs(bytes: &[u8], encoding: Text) -> bool {
    if !bytes.is_ascii() && encoding != Text::Utf8 || ruby::transcodes() {
        return true;
    }
    std::str::from_utf8(bytes).map_or(true, |text| yaml::differs(text, Peer::Psych))
}

impl Plain {
    /// Returns whether symbols are plain data.
    pub fn takes_symbols(self) -> bool {
        self.symbols != Symbols::No
    }

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
    /// The classes of text, arrays and hashes.
    classes: [VALUE; 4],
    /// Whether text must need no quotes.
    is_bare: bool,
    /// Whether symbols may be keys in any case.
    takes_symbol_keys: bool,
    /// Whether only text in UTF-8 and symbols may be keys, and strings must be UTF-8.
    takes_text_only: bool,
    /// The least float that passes, except 0; 0 if all do.
    float_least: f64,
    /// Whether negative zero passes.
    takes_minus_zero: bool,
    /// Whether symbols pass: unknown before the first one.
    takes_symbols: Option<bool>,
    /// The containers so far, if they would get an anchor where they occur again.
    seen: Vec<VALUE>,
    /// How many there are when they are next looked at for one that occurs twice: otherwise a few that hold
    /// each other would be walked forever.
    seen_next: usize,
}

/// How many containers are looked at first, and how many times as many from then on.
const SEEN_FIRST: usize = 64;
const SEEN_FACTOR: usize = 8;

impl Checks {
    pub fn new(settings: &Settings) -> Checks {
        let is_json = settings.core.to.is_json();
        let plain = settings.plain;
        let is_bare = plain.is_some_and(|plain| plain.bare_text);
        let converts = plain.is_some_and(Plain::converts);
        let [text, array, hash] = [T_STRING, T_ARRAY, T_HASH].map(ruby::core_class);
        Checks {
            plain,
            classes: [text, array, hash, plain.map_or(ruby::NIL, |plain| plain.hash)],
            is_bare,
            takes_symbol_keys: is_json || converts,
            takes_text_only: converts || is_bare,
            float_least: match plain {
                Some(_) if is_bare => BARE_FLOAT,
                Some(_) if is_json => JSON_FLOAT,
                _ => 0.0,
            },
            takes_minus_zero: plain.is_none_or(|plain| !plain.no_minus_zero),
            takes_symbols: match plain.map(|plain| plain.symbols) {
                None | Some(Symbols::Yes) => Some(true),
                Some(Symbols::No) => Some(false),
                Some(Symbols::WithoutToJson) => None,
            },
            seen: Vec::new(),
            seen_next: SEEN_FIRST,
        }
    }

    /// Returns whether text must need no quotes.
    #[inline(always)]
    pub fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// Returns whether keys must be text in UTF-8 or symbols, and strings must be UTF-8.
    #[inline(always)]
    pub fn takes_text_only(&self) -> bool {
        self.takes_text_only
    }

    /// Checks a value on the heap: of no subclass, and without methods of its own.
    ///
    /// # Errors
    /// [`not_plain`], like the others.
    #[inline(always)]
    pub fn value(&self, value: VALUE, kind: u32) -> Result {
        if self.plain.is_none() || self.is_plain(value, kind) { Ok(()) } else { Err(not_plain()) }
    }

    #[inline(always)]
    fn is_plain(&self, value: VALUE, kind: u32) -> bool {
        let [text, array, hash, other_hash] = self.classes;
        match kind {
            T_STRING => {
                ruby::heap_class(value) == text && (!self.is_bare || self.is_bare_text(value))
            }
            T_ARRAY => ruby::heap_class(value) == array,
            T_HASH => [hash, other_hash].contains(&ruby::heap_class(value)),
            T_FLOAT | T_BIGNUM | T_SYMBOL => true,
            _ => false,
        }
    }

    #[inline(always)]
    fn is_bare_text(&self, value: VALUE) -> bool {
        !ruby::has_extra_variables(value) && is_bare(ruby::bytes_of(value))
    }

    /// Checks a key: a string, or a symbol that has this text.
    #[inline(always)]
    pub fn key(&self, key: VALUE, text: VALUE) -> Result {
        let Some(plain) = self.plain else { return Ok(()) };
        let fits = match text == key {
            true => self.is_plain(key, T_STRING),
            false => !self.is_bare && (plain.takes_symbols() || self.takes_symbol_keys),
        };
        if fits { Ok(()) } else { Err(not_plain()) }
    }

    #[inline(always)]
    pub fn symbol(&mut self) -> Result {
        let takes = *self.takes_symbols.get_or_insert_with(|| !ruby::symbols_have_to_json());
        if takes { Ok(()) } else { Err(not_plain()) }
    }

    /// Checks that Ruby's `Float#to_s` is what is written.
    #[inline(always)]
    pub fn float(&self, value: f64) -> Result {
        if self.floats(&[value]) { Ok(()) } else { Err(not_plain()) }
    }

    /// The same for several.
    #[inline(always)]
    pub fn floats(&self, values: &[f64]) -> bool {
        let fits = |value: &f64| match *value == 0.0 {
            true => self.takes_minus_zero || value.is_sign_positive(),
            false => (self.float_least..FLOAT_END).contains(&value.abs()),
        };
        self.float_least == 0.0 || values.iter().all(fits)
    }

    /// Checks an array or a hash, and remembers it.
    #[inline(always)]
    pub fn enter(&mut self, container: VALUE, is_empty: bool) -> Result {
        let Some(plain) = self.plain else { return Ok(()) };
        if plain.filled && is_empty {
            return Err(not_plain());
        }
        if self.is_bare {
            self.seen.push(container);
            if self.seen.len() == self.seen_next {
                self.seen_next *= SEEN_FACTOR;
                return self.finish();
            }
        }
        Ok(())
    }

    /// Checks at the end that no array or hash occurred twice.
    pub fn finish(&mut self) -> Result {
        self.seen.sort_unstable();
        if self.seen.is_sorted_by(|one, other| one < other) { Ok(()) } else { Err(not_plain()) }
    }
}

/// Returns whether text of one line needs no quotes in YAML, for any writer, wherever it stands:
/// words of ASCII that are no number, bool or null, too short to be folded.
fn is_bare(text: &[u8]) -> bool {
    let begins = matches!(text.first(), Some(b'A'..=b'Z' | b'a'..=b'z' | b'_'));
    if text.len() > BARE_BYTES || !begins {
        return false;
    }
    let mut before = WORD;
    for &byte in text {
        let kind = KINDS[usize::from(byte)];
        // Neither a space nor a dash follows a space.
        if kind == NONE || before == SPACE && kind != WORD {
            return false;
        }
        before = kind;
    }
    before != SPACE && (text.len() > 5 || !is_literal(text))
}

/// Returns whether a word of up to five bytes is a bool, null or a number in any YAML.
fn is_literal(word: &[u8]) -> bool {
    const LITERALS: [&[u8]; 11] =
        [b"y", b"n", b"no", b"on", b"off", b"yes", b"true", b"null", b"false", b"nan", b"inf"];
    matches!(word[0] | 0x20, b'y' | b'n' | b'o' | b't' | b'f' | b'i')
        && LITERALS.iter().any(|literal| word.eq_ignore_ascii_case(literal))
}

/// The kinds of bytes in such text: none that may be in it, a space, a dash, others.
const NONE: u8 = 0;
const SPACE: u8 = 1;
const DASH: u8 = 2;
const WORD: u8 = 3;
static KINDS: [u8; 256] = {
    let mut kinds = [NONE; 256];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b' ' => SPACE,
            b'-' => DASH,
            b'_' | b'.' | b'/' | b'@' | b'+' => WORD,
            other if other.is_ascii_alphanumeric() => WORD,
            _ => NONE,
        };
        byte += 1;
    }
    kinds
};
