//! A valid record taken over unchanged: its bytes in one piece, and the positions of its parts.
//!
//! The fields, indicators and subfields are the same as in the events of [`super::reader`]; the
//! tests compare them.

use super::layout::{ENTRY_BYTES, Layout};
use crate::codec::marc::leader::LEADER_BYTES;
use crate::codec::marc::{Record, is_control_tag, is_pair};

/// Returns at least the bytes of memory that the record takes, by the count that the limit uses.
pub(super) fn weight(head: &str, text: &str, layout: &Layout) -> u64 {
    let entries = 32 * layout.fields.len() + 16 * layout.delimiters.len();
    (head.len() + text.len() + entries) as u64
}

/// Fills `record`: `head` is the leader and directory, and the layout refers to `text`. `exact`
/// means that the directory refers to this text too, and neither has a fault.
pub(super) fn fill(record: &mut Record, head: &str, text: &str, layout: &Layout, exact: bool) {
    let Layout { fields, delimiters, .. } = layout;
    // The places of the subfields include one for each field, which ends it.
    let subfields = delimiters.len().saturating_sub(fields.len());
    record.begin_whole([head, text], fields.len(), subfields);
    record.leader_at(0..LEADER_BYTES as u32);
    let base = head.len() as u32;
    // The length of the character at a position: one byte, except in broken data in UTF-8.
    let character = |at: u32, end: u32| match text.as_bytes().get(at as usize) {
        _ if at >= end => 0,
        Some(0..=0x7F) | None => 1,
        Some(_) => text[at as usize..].chars().next().map_or(0, char::len_utf8) as u32,
    };
    let (mut cursor, mut tag_at) = (0, LEADER_BYTES);
    // Whether a writer would produce the same from the parts.
    let mut regular = exact;
    for field in fields {
        let first = cursor;
        while delimiters[cursor] < field.end {
            cursor += 1;
        }
        let own = &delimiters[first..cursor];
        // The terminator.
        cursor += 1;
        let tag = tag_at as u32..tag_at as u32 + 3;
        let is_control = is_control_tag(&head.as_bytes()[tag_at..tag_at + 3]);
        tag_at += ENTRY_BYTES;
        let end_of_indicators = match own.first() {
            Some(first) if !is_control => *first,
            _ if is_control
                || !is_pair(&text.as_bytes()[field.start as usize..field.end as usize]) =>
            {
                regular &= is_control && own.is_empty();
                record.text_at(tag, base + field.start..base + field.end);
                continue;
            }
            _ => field.end,
        };
        let between = field.start + character(field.start, end_of_indicators);
        regular &= between == field.start + 1 && end_of_indicators == between + 1;
        record.data_at(
            tag,
            base + field.start..base + between,
            base + between..base + end_of_indicators,
        );
        record.subfields_at(own.iter().enumerate().map(|(index, place)| {
            let (start, end) = (place + 1, own.get(index + 1).map_or(field.end, |next| *next));
            let value = start + character(start, end);
            [base + start..base + value, base + value..base + end]
        }));
    }
    if regular {
        record.is_verbatim_from(LEADER_BYTES as u32);
    }
}
