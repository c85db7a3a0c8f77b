//! Text between quotes, into an [`Out`].

#![allow(unsafe_code)]

use super::simd::{Block, sixteen};
use crate::Result;
use crate::out::Out;

/// Text longer than this is written in pieces, so that the buffer need not grow with it.
const PIECE: usize = 4 << 10;

/// Writes `"`, the text, and the two bytes of `tail`. From the position `keep` on bytes must stay
/// in memory, whatever is written here.
#[inline(always)]
pub(super) fn quoted(out: &mut Out<'_>, text: &str, tail: [u8; 2], keep: u64) -> Result {
    let bytes = text.as_bytes();
    if bytes.len() > PIECE {
        return escaped(out, text, tail, keep, false);
    }
    out.room(bytes.len() + 3, keep.min(out.position().saturating_sub(1)))?;
    let mut clean = true;
    // SAFETY: `copy` writes the text's length from its pointer on, so that in all it is that and
    // three bytes more, every one of them; or nothing is appended.
    unsafe {
        out.append_with(bytes.len() + 3, |at| {
            clean = copy(bytes, at.add(1));
            at.write(b'"');
            at.add(1 + bytes.len()).cast::<[u8; 2]>().write_unaligned(tail);
            if clean { bytes.len() + 3 } else { 0 }
        });
    }
    match clean {
        true => Ok(()),
        false => escaped(out, text, tail, keep, false),
    }
}

/// Copies bytes by overlapping moves, and tells whether none of them needs an escape.
///
/// # Safety
/// As many bytes as `bytes` has must be writable at `to`.
#[inline(always)]
unsafe fn copy(bytes: &[u8], to: *mut u8) -> bool {
    let length = bytes.len();
    // Each arm stores all bytes of `bytes` at their index, some of them twice.
    if let Some(last) = bytes.last_chunk::<16>() {
        let mut stops = 0;
        let mut at = 0;
        while let Some(block) = sixteen(bytes, at) {
            stops |= Block::load(block).string_stops();
            // SAFETY: `at + 16` is within the length, as the read has shown.
            unsafe { to.add(at).cast::<[u8; 16]>().write_unaligned(*block) };
            at += 16;
        }
        stops |= Block::load(last).string_stops();
        // SAFETY: the last sixteen of `length` bytes.
        unsafe { to.add(length - 16).cast::<[u8; 16]>().write_unaligned(*last) };
        return stops == 0;
    }
    let mut block = [b' '; 16];
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        block[..8].copy_from_slice(first);
        block[8..].copy_from_slice(last);
        // SAFETY: the first and the last eight of `length` bytes.
        unsafe {
            to.cast::<[u8; 8]>().write_unaligned(*first);
            to.add(length - 8).cast::<[u8; 8]>().write_unaligned(*last);
        }
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        block[..4].copy_from_slice(first);
        block[4..8].copy_from_slice(last);
        // SAFETY: the first and the last four of `length` bytes.
        unsafe {
            to.cast::<[u8; 4]>().write_unaligned(*first);
            to.add(length - 4).cast::<[u8; 4]>().write_unaligned(*last);
        }
    } else if let [first, .., last] | [first @ last] = bytes {
        let middle = bytes[length / 2];
        (block[0], block[1], block[2]) = (*first, middle, *last);
        // SAFETY: three indices below `length`, which is 1 to 3: every one of them is met.
        unsafe {
            to.write(*first);
            to.add(length / 2).write(middle);
            to.add(length - 1).write(*last);
        }
    }
    Block::load(&block).string_stops() == 0
}

/// What stands behind the backslash for each byte; `u` where only the code point can be named, 0
/// where nothing need be escaped.
static ESCAPES: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[8] = b'b';
    table[9] = b't';
    table[10] = b'n';
    table[12] = b'f';
    table[13] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

/// The same for any text, in pieces; with `ascii`, characters outside of ASCII as `\u` escapes.
#[cold]
#[inline(never)]
pub(super) fn escaped(
    out: &mut Out<'_>,
    text: &str,
    tail: [u8; 2],
    keep: u64,
    ascii: bool,
) -> Result {
    // The quote ends the need to keep what stands before it: a comma comes behind it.
    out.push(b'"');
    unquoted(out, text, keep, ascii)?;
    out.room(2, keep.min(out.position()))?;
    out.push_array(tail);
    Ok(())
}

/// Text without the quotes around it.
pub(super) fn unquoted(out: &mut Out<'_>, text: &str, keep: u64, ascii: bool) -> Result {
    let mut rest = text;
    while !rest.is_empty() {
        let mut cut = rest.len().min(PIECE);
        while !rest.is_char_boundary(cut) {
            cut -= 1;
        }
        let (piece, behind) = rest.split_at(cut);
        // An escape is six bytes at most, for a byte; a pair of them is twelve, for four.
        out.room(6 * piece.len(), keep.min(out.position()))?;
        match ascii {
            true => piece.chars().for_each(|char| ascii_char(out, char)),
            false => piece_of(out, piece.as_bytes()),
        }
        rest = behind;
    }
    Ok(())
}

fn piece_of(out: &mut Out<'_>, bytes: &[u8]) {
    let mut at = 0;
    loop {
        while let Some(run) = sixteen(bytes, at) {
            let stops = Block::load(run).string_stops();
            let count = stops.trailing_zeros().min(16) as usize;
            out.extend_16(run, count);
            at += count;
            if stops != 0 {
                break;
            }
        }
        let Some(&byte) = bytes.get(at) else { return };
        match ESCAPES.get(usize::from(byte)) {
            Some(0) | None => out.push(byte),
            Some(b'u') => out.push_array(unicode(u16::from(byte))),
            Some(&letter) => out.push_array([b'\\', letter]),
        }
        at += 1;
    }
}

fn ascii_char(out: &mut Out<'_>, char: char) {
    let mut units = [0; 2];
    match ESCAPES.get(char as usize) {
        Some(0) => out.push(char as u8),
        Some(b'u') => out.push_array(unicode(char as u16)),
        Some(&letter) => out.push_array([b'\\', letter]),
        None => char.encode_utf16(&mut units).iter().for_each(|unit| {
            out.push_array(unicode(*unit));
        }),
    }
}

/// `\u` and four digits.
pub(super) fn unicode(unit: u16) -> [u8; 6] {
    let digit = |shift: u32| b"0123456789abcdef"[usize::from(unit >> shift & 15)];
    [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]
}
