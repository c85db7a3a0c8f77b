//! Finds where the values stand in a text that the reader has accepted.

use crate::model::place::{Form, Place, Places};

/// Returns the places of the documents of a text: of each value, in the reader's order.
pub(crate) fn places(bytes: &[u8]) -> Vec<Place> {
    let mut places = Places::default();
    let mut key = None;
    let mut at = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at = match byte {
            b'"' => string_end(bytes, at),
            b'/' => comment_end(bytes, at),
            _ if is_word(byte) => {
                at + bytes[at..].iter().take_while(|byte| is_word(**byte)).count()
            }
            _ => at + 1,
        };
        match byte {
            b'{' | b'[' => places.begin(Some(start), Form::Flow),
            b'}' | b']' => places.end(Some(at)),
            b':' => {
                if let Some(key) = key.take() {
                    places.entry(key, Some(at), false);
                }
            }
            b'"' if is_key(bytes, &mut places) => key = Some(start),
            b'"' => places.value(start..at, Form::Double),
            _ if is_word(byte) => places.value(start..at, Form::Plain),
            _ => {}
        }
    }
    places.roots
}

/// Returns whether a text in quotes is a key: in a map, where no key waits for its value.
fn is_key(bytes: &[u8], places: &mut Places) -> bool {
    let in_map =
        places.innermost().is_some_and(|around| bytes.get(around.span.start) == Some(&b'{'));
    in_map && !places.is_in_entry()
}

fn is_word(byte: u8) -> bool {
    !matches!(
        byte,
        b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"' | b'/'
    )
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// Returns the index after a comment.
pub(crate) fn comment_end(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start..];
    let length = match rest.get(1) {
        Some(b'/') => memchr::memchr2(b'\n', b'\r', rest),
        Some(b'*') => memchr::memmem::find(&rest[2..], b"*/").map(|found| found + 4),
        _ => Some(1),
    };
    length.map_or(bytes.len(), |length| start + length)
}
