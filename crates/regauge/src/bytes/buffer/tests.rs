//! Tests of [`super`].

use super::*;
use std::io::{Read as _, Seek as _, Write as _};

use crate::bytes::output::{FileOutput, StreamOutput};

#[test]
fn a_checkpoint_holds_bytes_back() {
    let mut sink = Vec::new();
    let mut out = Out::to_output(StreamOutput::new(&mut sink), 1 << 20);
    out.extend(b"good ");
    out.checkpoint();
    out.extend(b"bad ");
    out.flush_before(u64::MAX).unwrap();
    assert_eq!(out.held(), b"bad ");
    out.rollback();
    out.extend(b"better");
    out.finish().unwrap();
    drop(out);
    assert_eq!(sink, b"good better");
}

#[test]
fn a_file_drops_what_is_rolled_back() {
    let mut file = tempfile::tempfile().unwrap();
    let output = FileOutput::new(file.try_clone().unwrap()).unwrap();
    let mut out = Out::to_output(output, 4);
    out.extend(b"good,");
    for _ in 0..2 {
        assert!(out.checkpoint_in_output());
        out.extend(b"bad and far too long,");
        out.flush_before(u64::MAX).unwrap();
        assert_eq!(out.held(), b"", "nothing waits for the rollback");
        out.extend(b"bad");
        out.rollback();
        assert_eq!(out.position(), 5);
        assert_eq!(out.held().last(), Some(&b','));
        // Nothing has left this time.
        out.extend(b"worse");
        out.rollback();
    }
    out.held_mut().pop();
    out.extend(b"!");
    out.finish().unwrap();
    drop(out);
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "good!");
}

#[test]
fn a_file_that_goes_on_is_not_truncated() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"what is there").unwrap();
    file.rewind().unwrap();
    let mut out = Out::to_output(FileOutput::new(file).unwrap(), 1 << 20);
    assert!(!out.checkpoint_in_output());
}

#[test]
fn a_patch_across_the_edge() {
    let mut sink = Vec::new();
    let mut out = Out::to_output(StreamOutput::new(&mut sink), 1 << 20);
    out.hold().unwrap();
    out.extend(b"0123456789");
    out.flush_before(5).unwrap();
    out.patch(3, b"abcd").unwrap();
    out.patch(8, b"z").unwrap();
    out.patch(0, b"Z").unwrap();
    out.finish().unwrap();
    drop(out);
    assert_eq!(sink, b"Z12abcd7z9");
}

#[test]
fn small_pushes() {
    let mut out = Out::in_memory();
    out.room(8 + 16, 0).unwrap();
    out.push(b'a');
    out.push_array(*b"bcd");
    out.push_with_header([b'i'], *b"jk");
    out.extend_window(*b"lm", b"nopqrstuvwxyzNOPQRSTUVWXYZ......", 3);
    assert_eq!(out.into_vec(), b"abcdijklmnop");
}

#[test]
fn pushes_where_there_is_room() {
    let mut out = Out::reusing(Vec::with_capacity(64));
    let room = out.held().len() + 64;
    assert!(out.try_push(*b"ab......", 2, *b"cde"));
    assert!(out.try_push([], 0, *b"f"));
    let window = b"hijklmnopqrstuvwxyzHIJKLMNOPQRST";
    assert!(out.try_extend_window([b'g'], window, 3, b'.'));
    assert_eq!(out.held(), b"abcdefghij.");
    while out.held().len() + 34 <= room.min(out.held_mut().capacity()) {
        assert!(out.try_extend_window([b'g'], window, 0, b'.'));
    }
    let before = out.held().to_vec();
    assert!(!out.has_room(34) && !out.try_extend_window([b'g'], window, 0, b'.'));
    while out.has_room(8) {
        assert!(out.try_push(*b"1234", 1, *b"5678"));
    }
    assert!(!out.try_push(*b"1234", 0, *b"5678"));
    assert!(out.held().starts_with(&before) && out.held().ends_with(b"5678"));
}

#[test]
fn short_copies_of_every_length() {
    let source: Vec<u8> = (1..=80).collect();
    for count in 0..=80 {
        for room in [0, 16, 64] {
            let mut out = Out::in_memory();
            out.extend(b"before");
            out.room(room, 0).unwrap();
            out.extend_short(&source[..count]);
            assert_eq!(out.held(), [b"before", &source[..count]].concat());
        }
    }
}

#[test]
fn headers_are_spliced_in_one_pass() {
    let mut out = Out::in_memory();
    out.extend(b"..A234B67CCC");
    out.checkpoint();
    out.extend(b"tail");
    let edit = |at, old, header: &[u8; 5], length| Edit { at, old, header: *header, length };
    let edits = [
        edit(2, 1, b"aaaaa", 5),
        edit(6, 1, b"b....", 1),
        edit(9, 3, b"c....", 1),
        edit(12, 0, b"<>...", 2),
    ];
    out.splice(&edits);
    assert_eq!(out.held().escape_ascii().to_string(), "..aaaaa234b67c<>tail");
    assert_eq!(out.checkpoint_position(), Some(14));

    let mut out = Out::in_memory();
    out.extend(b"AAA12BBB34");
    let moved = out.splice(&[edit(0, 3, b"a....", 1), edit(5, 3, b"b....", 1)]);
    assert_eq!(out.held(), b"a12b34");
    assert_eq!(moved, 4);
}
