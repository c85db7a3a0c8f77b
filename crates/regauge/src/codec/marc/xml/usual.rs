//! What nearly all of a file consists of, recognised in one step: see `Parser::take_usual`.

use super::scan::first_special;

/// Returns the length of the white space at the start.
#[inline]
pub(super) fn white_space(bytes: &[u8]) -> usize {
    let is_other = |b: &u8| !matches!(b, b' ' | b'\n' | b'\r' | b'\t');
    bytes.iter().position(is_other).unwrap_or(bytes.len())
}

/// Returns the text up to the end tag, if it is complete and has no reference, comment or control
/// character.
#[inline]
pub(super) fn plain_text<'x>(bytes: &'x [u8], end_tag: &[u8]) -> Option<&'x str> {
    let (text, rest) = bytes.split_at(first_special(bytes));
    if rest.starts_with(end_tag) { crate::model::utf8::from_utf8(text) } else { None }
}

/// Returns the tag and the indicators of a data field's tag of the usual length.
#[inline]
pub(super) fn usual_data_field(head: &[u8; 39]) -> Option<(&str, &str, &str)> {
    let usual = head.starts_with(b"<datafield tag=\"")
        && head[19..27] == *b"\" ind1=\""
        && head[28..36] == *b"\" ind2=\""
        && head[37..] == *b"\">";
    let is_plain = |b: &u8| matches!(b, b' ' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z');
    let plain = head[16..19].iter().all(is_plain) && is_plain(&head[27]) && is_plain(&head[36]);
    if !(usual && plain) {
        return None;
    }
    let text = std::str::from_utf8(head).ok()?;
    Some((&text[16..19], &text[27..28], &text[36..37]))
}
