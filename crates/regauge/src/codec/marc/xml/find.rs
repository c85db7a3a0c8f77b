//! Finds the tags of records without parsing what is around them, to resume after a broken record.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Start,
    End,
    /// It may be a record's, but the window ends.
    Cut,
}

/// Returns whether there is a tag of an element `record`, with any prefix, at the start of `bytes`.
pub(super) fn record_tag(bytes: &[u8]) -> Option<Tag> {
    let rest = bytes.strip_prefix(b"<")?;
    let (tag, rest) = match rest.strip_prefix(b"/") {
        Some(rest) => (Tag::End, rest),
        None => (Tag::Start, rest),
    };
    let is_end = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'>' | b'/' | b'<');
    let Some(end) = rest[..rest.len().min(256)].iter().position(is_end) else {
        return (rest.len() < 256).then_some(Tag::Cut);
    };
    let name = &rest[..end];
    let is_record = name == b"record" || name.ends_with(b":record");
    if tag == Tag::End && is_record && memchr::memchr(b'>', rest).is_none() {
        return Some(Tag::Cut);
    }
    is_record.then_some(tag)
}
