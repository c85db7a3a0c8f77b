//! Strings, their encodings, and symbols.

use std::ffi::{CStr, c_int, c_long};

use rb_sys::macros::{RSTRING_LEN, RSTRING_PTR};
use regauge::event::ShortText;

use super::jump::{Jump, protect};
use super::{NIL, VALUE, heap_kind, is_heap};

/// Returns the bytes of a string: valid until the string is changed, collected or moved.
#[inline(always)]
pub fn bytes_of<'a>(string: VALUE) -> &'a [u8] {
    // SAFETY: callers pass strings, keep them with `keep`, and let nobody change them meanwhile.
    unsafe {
        let length = RSTRING_LEN(string) as usize;
        std::slice::from_raw_parts(RSTRING_PTR(string).cast::<u8>(), length)
    }
}

/// Creates a UTF-8 string from text, with its known coderange.
#[inline(always)]
pub fn utf8_string(text: &str, ascii: bool) -> VALUE {
    // SAFETY: the lock; no exception. The flags of a new string say that it is binary: all zeros.
    // They are set to those of UTF-8, and those that a scan of the bytes would set.
    unsafe {
        let string = rb_sys::rb_str_new(text.as_ptr().cast(), text.len() as c_long);
        let range = if ascii { CODERANGE_7BIT } else { CODERANGE_VALID };
        (*(string as *mut rb_sys::RBasic)).flags |= (UTF8_INDEX as VALUE) << 22 | range;
        string
    }
}

const CODERANGE_7BIT: VALUE = 1 << 20;
const CODERANGE_VALID: VALUE = 2 << 20;

/// Creates a UTF-8 string from text.
#[inline]
pub fn text(text: &str) -> VALUE {
    utf8_string(text, text.is_ascii())
}

/// Creates a string marked as UTF-8 from bytes, valid or not.
pub fn broken_text(bytes: &[u8]) -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_utf8_str_new(bytes.as_ptr().cast(), bytes.len() as c_long) }
}

/// Creates a binary string from bytes.
#[inline]
pub fn binary(bytes: &[u8]) -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_str_new(bytes.as_ptr().cast(), bytes.len() as c_long) }
}

/// Creates a frozen string, which is the same object for the same text.
#[inline]
pub fn interned(text: &str) -> VALUE {
    // Ruby reads the pointer even for empty text, so it has to be valid.
    let text = if text.is_empty() { EMPTY } else { text };
    // SAFETY: the lock; no exception, the encoding is UTF-8.
    unsafe {
        let utf8 = rb_sys::rb_utf8_encoding();
        rb_sys::rb_enc_interned_str(text.as_ptr().cast(), text.len() as c_long, utf8)
    }
}

/// Returns the frozen string that is the same object for the same text.
pub fn interned_string(string: VALUE) -> VALUE {
    // SAFETY: the lock; no exception for a string.
    unsafe { rb_sys::rb_str_to_interned_str(string) }
}

/// Empty text, at a readable address.
const EMPTY: &str = {
    const BYTES: &str = "\0\0\0\0\0\0\0\0";
    BYTES.split_at(0).0
};

/// Returns the symbol of a text. It can be collected like any object.
pub fn symbol(text: &str) -> VALUE {
    // SAFETY: the lock; no exception, because the text is valid UTF-8.
    unsafe { rb_sys::rb_str_intern(interned(text)) }
}

/// Returns the text of a symbol, as a string.
pub fn symbol_text(symbol: VALUE) -> VALUE {
    // SAFETY: the lock; callers pass symbols.
    unsafe { rb_sys::rb_sym2str(symbol) }
}

/// The content of a string: valid UTF-8 or ASCII, binary, or something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Valid UTF-8.
    Utf8,
    /// Broken UTF-8.
    Broken,
    /// Bytes without an encoding.
    Binary,
    /// Text in another encoding.
    Other,
}

/// The indexes of these encodings (`encindex.h`), the same in all versions of Ruby.
const BINARY_INDEX: c_int = 0;
const UTF8_INDEX: c_int = 1;
const ASCII_INDEX: c_int = 2;

/// Classifies a string's bytes.
#[inline(always)]
pub fn text_kind(string: VALUE) -> Text {
    // SAFETY: callers pass strings, whose flags contain their encoding in seven bits, or that it is
    // stored elsewhere.
    let flags = unsafe { (*(string as *const rb_sys::RBasic)).flags };
    let mut index = (flags >> 22 & 0x7F) as c_int;
    if index == 0x7F {
        // SAFETY: the lock; no exception.
        index = unsafe { rb_sys::rb_enc_get_index(string) };
    }
    if index == BINARY_INDEX {
        return Text::Binary;
    }
    let range = match flags & (3 << 20) {
        // SAFETY: the lock; no exception.
        0 => (unsafe { rb_sys::rb_enc_str_coderange(string) }) as VALUE,
        known => known,
    };
    match index {
        UTF8_INDEX | ASCII_INDEX if range == CODERANGE_7BIT => Text::Utf8,
        UTF8_INDEX if range == CODERANGE_VALID => Text::Utf8,
        UTF8_INDEX | ASCII_INDEX => Text::Broken,
        _ => Text::Other,
    }
}

/// Returns the text of a value that is a UTF-8 string, whose flags say that it was found valid;
/// `None` for any other value. As long-lived as [`bytes_of`].
#[inline(always)]
pub fn known_text<'a>(value: VALUE) -> Option<&'a str> {
    if !is_heap(value) {
        return None;
    }
    // SAFETY: the value is on the heap, so it begins with its flags.
    let flags = unsafe { (*(value as *const rb_sys::RBasic)).flags };
    // A string, and UTF-8.
    let is_text = flags & (0x1F | 0x7F << 22) == 5 | (UTF8_INDEX as VALUE) << 22;
    let range = flags & (3 << 20);
    (is_text && (range == CODERANGE_7BIT || range == CODERANGE_VALID)).then(|| utf8_of(value))
}

/// Returns whether a string is declared as text in another encoding than UTF-8 or ASCII, and has
/// more than ASCII in it.
#[inline]
pub fn is_transcodable(string: VALUE) -> bool {
    raw_encoding(string) != Some(Text::Utf8)
        && text_kind(string) == Text::Other
        && !is_ascii(string)
}

/// Transcodes text to UTF-8.
///
/// # Errors
/// Ruby's own, for a broken character or one without an equivalent.
pub fn to_utf8(string: VALUE) -> Result<VALUE, Jump> {
    // SAFETY: the lock; under `protect`.
    protect(|| unsafe {
        let utf8 = rb_sys::rb_enc_from_encoding(rb_sys::rb_utf8_encoding());
        rb_sys::rb_str_encode(string, utf8, 0, NIL)
    })
}

/// Returns a copy of a string, which is not frozen.
pub fn copy(string: VALUE) -> VALUE {
    // SAFETY: the lock; no exception for a string.
    unsafe { rb_sys::rb_str_dup(string) }
}

/// Returns an immutable string with the same bytes: the string itself if it is frozen.
pub fn frozen_string(string: VALUE) -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_str_new_frozen(string) }
}

/// Creates a string from the bytes of a text format in UTF-8, or of a binary one.
pub fn output(bytes: &[u8], utf8: bool) -> VALUE {
    if utf8 { broken_text(bytes) } else { binary(bytes) }
}

/// Sets a string's encoding by name; `false` if Ruby does not know it.
pub fn set_encoding(string: VALUE, name: &CStr) -> bool {
    // SAFETY: the lock; no exception: the string was created here, the index was just found.
    unsafe {
        let index = rb_sys::rb_enc_find_index(name.as_ptr());
        if index >= 0 {
            rb_sys::rb_enc_associate_index(string, index);
        }
        index >= 0
    }
}

/// Returns whether text that is read is transcoded to another encoding than UTF-8: `Encoding.default_internal`.
pub fn transcodes() -> bool {
    // SAFETY: the lock; no exception; null for `nil`.
    unsafe {
        let internal = rb_sys::rb_default_internal_encoding();
        !internal.is_null() && internal != rb_sys::rb_utf8_encoding()
    }
}

/// Returns the name of a string's encoding.
pub fn encoding_name<'a>(string: VALUE) -> &'a CStr {
    // SAFETY: the lock; no exception; names of encodings live as long as the process.
    unsafe { CStr::from_ptr((*rb_sys::rb_enc_get(string)).name) }
}

/// Returns whether the bytes of a string are all ASCII.
pub fn is_ascii(string: VALUE) -> bool {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_enc_str_coderange(string) as VALUE == CODERANGE_7BIT }
}

/// Returns the text of a string that [`text_kind`] found to be valid: as long-lived as
/// [`bytes_of`].
#[inline(always)]
pub fn utf8_of<'a>(string: VALUE) -> &'a str {
    // SAFETY: Ruby scanned the bytes and found them to be UTF-8, which it forgets when they change.
    unsafe { std::str::from_utf8_unchecked(bytes_of(string)) }
}

/// Returns the text of a string that [`text_kind`] found to be valid, in the form that is fastest
/// to copy: less than 32 bytes of ASCII embedded in the object itself; `None` for any other. As
/// long-lived as [`bytes_of`].
#[inline(always)]
pub fn short_of<'a>(string: VALUE) -> Option<ShortText<'a>> {
    const ELSEWHERE: VALUE = rb_sys::ruby_rstring_flags::RSTRING_NOEMBED as VALUE;
    // SAFETY: callers pass strings. Memory is mapped in pages of at least 4,096 bytes: so if the
    // first of 32 bytes is mapped, and they do not cross a page, all are. The bytes after the
    // object belong to another object, or to none; nobody writes to them as long as this thread has
    // the lock, and their values are never used. Ruby scanned the bytes of the string, and found
    // them to be ASCII.
    unsafe {
        let flags = (*(string as *const rb_sys::RBasic)).flags;
        if flags & (3 << 20 | ELSEWHERE) != CODERANGE_7BIT {
            return None;
        }
        let (length, start) = (RSTRING_LEN(string) as usize, RSTRING_PTR(string));
        if length >= 32 || start as usize % 4096 > 4096 - 32 {
            return None;
        }
        Some(ShortText::known(&*start.cast::<[u8; 32]>(), length))
    }
}

/// Returns the declared encoding of a string, whatever its bytes: UTF-8, none, or ASCII (as
/// `Other`).
#[inline(always)]
pub fn raw_encoding(string: VALUE) -> Option<Text> {
    // SAFETY: callers pass strings.
    let flags = unsafe { (*(string as *const rb_sys::RBasic)).flags };
    match (flags >> 22 & 0x7F) as c_int {
        UTF8_INDEX => Some(Text::Utf8),
        BINARY_INDEX => Some(Text::Binary),
        ASCII_INDEX => Some(Text::Other),
        _ => None,
    }
}

/// Returns whether a value is a string.
#[inline]
pub fn is_string(value: VALUE) -> bool {
    is_heap(value) && heap_kind(value) == 5
}

/// Returns the text of a key: a string itself, that of a symbol; `None` for other values.
#[inline]
pub fn text_of_key(value: VALUE) -> Option<VALUE> {
    if is_string(value) {
        return Some(value);
    }
    let is_symbol = if is_heap(value) { heap_kind(value) == 20 } else { value & 0xFF == 0x0C };
    is_symbol.then(|| symbol_text(value))
}
