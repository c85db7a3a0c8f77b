//! What PyYAML and regauge write alike.

use regauge::event::{ShortText, Sink};
use regauge::{BigInt, Error, ErrorKind, Ext, Fidelity, Result, Value};

/// Where PyYAML may break a line, less room for a colon.
const WIDTH: usize = 76;
/// A longer key is written with a question mark.
const KEY_BYTES: usize = 100;

/// An open list or dict.
struct Open {
    /// The column of its items.
    column: usize,
    is_map: bool,
    /// The length of the last key.
    key: usize,
}

/// Passes events on, and refuses those that PyYAML writes in another way: dicts with text as keys,
/// lists, integers, floats, bools, None and text pass that both write plainly on one line.
pub struct Bare<'s, S: ?Sized> {
    sink: &'s mut S,
    open: Vec<Open>,
}

impl<'s, S: Sink + ?Sized> Bare<'s, S> {
    /// Creates one for a document.
    pub fn new(sink: &'s mut S) -> Bare<'s, S> {
        Bare { sink, open: Vec::new() }
    }

    /// Opens a container. In a dict it begins on the next line.
    fn begin(&mut self, is_map: bool) -> Result {
        let column = self.open.last().map_or(0, |open| open.column + 2);
        if column > WIDTH {
            return Err(other());
        }
        self.open.push(Open { column, is_map, key: 0 });
        Ok(())
    }

    fn text(&self, text: &str) -> Result {
        let column = self.open.last().map_or(0, |open| match open.is_map {
            true => open.column + open.key + 2,
            false => open.column + 2,
        });
        let fits = column + text.len() <= WIDTH || !text.contains(' ');
        if is_bare(text.as_bytes()) && fits { Ok(()) } else { Err(other()) }
    }

    fn name(&mut self, key: &str) -> Result {
        if key.len() > KEY_BYTES || !is_bare(key.as_bytes()) {
            return Err(other());
        }
        if let Some(open) = self.open.last_mut() {
            open.key = key.len();
        }
        Ok(())
    }
}

/// The error for anything else, whose text nobody reads.
#[cold]
fn other() -> Error {
    Error::new(ErrorKind::Refused, "found a value that PyYAML writes in another way")
}

/// Returns whether text needs no quotes, whatever surrounds it: words of ASCII with single spaces in
/// between that are no number, bool or null.
fn is_bare(text: &[u8]) -> bool {
    if !matches!(text.first(), Some(b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'/')) {
        return false;
    }
    let is_literal = text.len() <= 5 && self::is_literal(text);
    // Most keys are words, and are recognised without a branch for each byte.
    if text.iter().fold(0, |all, &byte| all | KINDS[usize::from(byte)] as u8) == Kind::Word as u8 {
        return !is_literal;
    }
    let mut before = Kind::Word;
    let mut is_first = true;
    for &byte in text {
        let kind = KINDS[usize::from(byte)];
        let fits = match kind {
            Kind::Word => true,
            Kind::Space => {
                is_first = false;
                before != Kind::Space
            }
            Kind::Dash => before != Kind::Space,
            Kind::Open => !is_first,
            Kind::Close => !is_first && before != Kind::Space,
            Kind::Other => false,
        };
        if !fits {
            return false;
        }
        before = kind;
    }
    before != Kind::Space && !is_literal
}

/// Returns whether a word of up to five bytes is a bool, null or a number.
fn is_literal(word: &[u8]) -> bool {
    const LITERALS: [&[u8]; 11] =
        [b"y", b"n", b"yes", b"no", b"on", b"off", b"true", b"false", b"null", b"nan", b"inf"];
    matches!(word[0] | 0x20, b'y' | b'n' | b'o' | b't' | b'f' | b'i')
        && LITERALS.iter().any(|literal| word.eq_ignore_ascii_case(literal))
}

/// The bytes in such text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One that may be anywhere; the only kind without bits.
    Word = 0,
    Space,
    Dash,
    Open,
    Close,
    /// One that may not be in it.
    Other,
}

static KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b' ' => Kind::Space,
            b'-' => Kind::Dash,
            b'(' => Kind::Open,
            b')' => Kind::Close,
            b'_' | b'.' | b'/' | b'@' | b'+' => Kind::Word,
            other if other.is_ascii_alphanumeric() => Kind::Word,
            _ => Kind::Other,
        };
        byte += 1;
    }
    kinds
};

impl<S: Sink + ?Sized> Sink for Bare<'_, S> {
    fn null(&mut self) -> Result {
        self.sink.null()
    }
    fn bool(&mut self, v: bool) -> Result {
        self.sink.bool(v)
    }
    fn i64(&mut self, v: i64) -> Result {
        self.sink.i64(v)
    }
    fn u64(&mut self, v: u64) -> Result {
        self.sink.u64(v)
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.sink.big_int(v)
    }
    fn f64(&mut self, v: f64) -> Result {
        // Others have an exponent, which YAML 1.1 wants a sign and a point for.
        if v == 0.0 || (1e-4..1e15).contains(&v.abs()) { self.sink.f64(v) } else { Err(other()) }
    }
    fn str(&mut self, v: &str) -> Result {
        self.text(v)?;
        self.sink.str(v)
    }
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        self.text(v.as_str())?;
        self.sink.short_str(v)
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        self.begin(false)?;
        self.sink.begin_array(len)
    }
    fn end_array(&mut self) -> Result {
        self.open.pop();
        self.sink.end_array()
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.begin(true)?;
        self.sink.begin_map(len)
    }
    fn key(&mut self, k: &str) -> Result {
        self.name(k)?;
        self.sink.key(k)
    }
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        self.name(k.as_str())?;
        self.sink.short_key(k)
    }
    fn end_map(&mut self) -> Result {
        self.open.pop();
        self.sink.end_map()
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        self.sink.fidelity()
    }
    fn bytes(&mut self, _: &[u8]) -> Result {
        Err(other())
    }
    fn ext(&mut self, _: Ext<'_>) -> Result {
        Err(other())
    }
    fn key_value(&mut self, _: &Value) -> Result {
        Err(other())
    }
}
