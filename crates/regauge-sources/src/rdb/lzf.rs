//! LZF, the compression of strings in a dump (M. Lehmann's LibLZF; Redis `src/lzf_d.c`).
//!
//! A step begins with a byte. Below 32, it is the number of literal bytes that follow, less one. Otherwise its
//! upper three bits are a length less two, where 7 adds another byte to it, and its lower five bits with the last
//! byte are how far back to copy from, less one.

/// The most bytes that three bytes stand for: a copy of 7 + 255 + 2.
const EXPANSION_MAX: u64 = 264_u64.div_ceil(3);

/// What is wrong with compressed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// They end within a step.
    Cut,
    /// A copy begins before the first byte.
    Before,
    /// They give another number of bytes than they should.
    Length,
}

/// Returns whether so many bytes can come of so few. Nothing is allocated for what cannot.
pub(super) fn is_possible(compressed: u64, length: u64) -> bool {
    length <= compressed.saturating_mul(EXPANSION_MAX)
}

/// Decompresses a string of this length into `out`, which is cleared.
pub(super) fn decompress(bytes: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
    out.clear();
    out.reserve(length);
    expand(bytes, length, out)?;
    if out.len() == length { Ok(()) } else { Err(Fault::Length) }
}

/// Decompresses the first `count` bytes, or a few more, or as many as these give.
pub(super) fn head(bytes: &[u8], count: usize, out: &mut Vec<u8>) {
    out.clear();
    let mut rest = bytes;
    while out.len() < count && step(&mut rest, out).is_ok() {}
}

fn expand(bytes: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut rest = bytes;
    while !rest.is_empty() {
        step(&mut rest, out)?;
        if out.len() > length {
            return Err(Fault::Length);
        }
    }
    Ok(())
}

#[inline]
fn step(rest: &mut &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let control = usize::from(next(rest)?);
    if control < 32 {
        let (literal, after) = rest.split_at_checked(control + 1).ok_or(Fault::Cut)?;
        out.extend_from_slice(literal);
        *rest = after;
        return Ok(());
    }
    let mut length = (control >> 5) + 2;
    if length == 9 {
        length += usize::from(next(rest)?);
    }
    let back = ((control & 31) << 8 | usize::from(next(rest)?)) + 1;
    let start = out.len().checked_sub(back).ok_or(Fault::Before)?;
    // What is copied may reach into the copy: each round can take twice as much as the one before.
    while length > 0 {
        let take = length.min(out.len() - start);
        out.extend_from_within(start..start + take);
        length -= take;
    }
    Ok(())
}

#[inline]
fn next(rest: &mut &[u8]) -> Result<u8, Fault> {
    let (first, after) = rest.split_first().ok_or(Fault::Cut)?;
    *rest = after;
    Ok(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(compressed: &[u8], length: usize, expected: Result<&[u8], Fault>) {
        let mut out = Vec::new();
        let done = decompress(compressed, length, &mut out);
        assert_eq!(done.map(|()| &out[..]), expected, "{compressed:x?}");
    }

    #[test]
    fn steps_give_their_bytes() {
        check(b"\x02abc", 3, Ok(b"abc"));
        // Three bytes from three back; one byte, eight times; a long copy with its own length.
        check(b"\x02abc\x20\x02", 6, Ok(b"abcabc"));
        check(b"\x00a\xC0\x00", 9, Ok(b"aaaaaaaaa"));
        check(b"\x00a\xE0\xFF\x00", 265, Ok(&[b'a'; 265]));
        check(b"\x01ab\x60\x01", 7, Ok(b"abababa"));
        check(b"", 0, Ok(b""));
    }

    #[test]
    fn what_is_no_whole_string_is_refused() {
        check(b"\x02ab", 3, Err(Fault::Cut));
        check(b"\x00a\x20", 4, Err(Fault::Cut));
        check(b"\x00a\xE0\xFF", 265, Err(Fault::Cut));
        check(b"\x00a\x20\x01", 4, Err(Fault::Before));
        check(b"\x02abc", 4, Err(Fault::Length));
        check(b"\x02abc\x20\x02", 4, Err(Fault::Length));
        assert!(is_possible(3, 264) && !is_possible(3, 265));
    }

    #[test]
    fn a_head_takes_as_little_as_it_can() {
        let mut out = Vec::new();
        head(b"\x02abc\x20\x02\x02", 4, &mut out);
        assert_eq!(out, b"abcabc");
        head(b"\x02abc\x02d", 8, &mut out);
        assert_eq!(out, b"abc");
    }
}
