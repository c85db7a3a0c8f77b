//! Writes scalars of each style directly into an [`Out`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::quote::is_printable_at;
use crate::Result;
use crate::bytes::buffer::Out;

/// Long text is written in pieces of this many bytes, so that the buffer need not grow with it.
const PIECE: usize = 4 << 10;

/// Nothing written needs to stay in memory: the writer never goes back.
pub(super) const KEEP: u64 = u64::MAX;

/// Makes room for a token of this many bytes.
#[inline(always)]
pub(super) fn room(out: &mut Out<'_>, bytes: usize) -> Result {
    out.room(bytes, KEEP)
}

/// Writes this many spaces. There must be room for them and 32 more.
#[inline(always)]
pub(super) fn spaces(out: &mut Out<'_>, mut count: usize) {
    while count > 32 {
        out.push_array([b' '; 32]);
        count -= 32;
    }
    let end = out.held().len() + count;
    out.push_array([b' '; 32]);
    out.held_mut().truncate(end);
}

/// Writes any number of bytes unchanged.
pub(super) fn raw(out: &mut Out<'_>, bytes: &[u8]) -> Result {
    for piece in bytes.chunks(16 * PIECE) {
        room(out, piece.len())?;
        out.extend(piece);
    }
    Ok(())
}

/// Writes text in single quotes. It must contain neither quotes nor line breaks.
pub(super) fn single(out: &mut Out<'_>, text: &str) -> Result {
    room(out, 1)?;
    out.push(b'\'');
    raw(out, text.as_bytes())?;
    room(out, 1)?;
    out.push(b'\'');
    Ok(())
}

/// Writes text in double quotes, with escapes.
pub(super) fn double(out: &mut Out<'_>, text: &str) -> Result {
    room(out, 1)?;
    out.push(b'"');
    let bytes = text.as_bytes();
    // The end of what was written so far.
    let mut done = 0;
    let mut at = 0;
    while at < bytes.len() {
        let (escape, length) = match ESCAPES[usize::from(bytes[at])] {
            0 => {
                at += 1;
                continue;
            }
            DOUBTFUL if is_printable_at(&bytes[at..]) => {
                at += 1;
                continue;
            }
            DOUBTFUL => wide(&bytes[at..]),
            HEXADECIMAL => (Escape::hexadecimal(bytes[at]), 1),
            letter => (Escape { bytes: [b'\\', letter, 0, 0, 0, 0, 0, 0], count: 2 }, 1),
        };
        raw(out, &bytes[done..at])?;
        room(out, 8)?;
        out.extend_short(&escape.bytes[..escape.count]);
        at += length;
        done = at;
    }
    raw(out, &bytes[done..])?;
    room(out, 1)?;
    out.push(b'"');
    Ok(())
}

/// An escape: its bytes, and how many of them count.
struct Escape {
    bytes: [u8; 8],
    count: usize,
}

impl Escape {
    fn hexadecimal(byte: u8) -> Escape {
        let [high, low] = digits(byte);
        Escape { bytes: [b'\\', b'x', high, low, 0, 0, 0, 0], count: 4 }
    }
}

fn digits(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 15].map(|digit| b"0123456789ABCDEF"[usize::from(digit)])
}

/// Returns the escape of a character outside ASCII, and the length of the character in bytes.
#[cold]
fn wide(bytes: &[u8]) -> (Escape, usize) {
    let letter = |letter| Escape { bytes: [b'\\', letter, 0, 0, 0, 0, 0, 0], count: 2 };
    match bytes {
        [0xC2, 0x85, ..] => (letter(b'N'), 2),
        [0xC2, low, ..] => (Escape::hexadecimal(*low), 2),
        [0xE2, _, 0xA8, ..] => (letter(b'L'), 3),
        [0xE2, _, 0xA9, ..] => (letter(b'P'), 3),
        [_, second, third, ..] => {
            let [a, b] = digits(0xF0 | second >> 2 & 15);
            let [c, d] = digits(second << 6 | third & 0x3F);
            (Escape { bytes: [b'\\', b'u', a, b, c, d, 0, 0], count: 6 }, 3)
        }
        _ => unreachable!("only characters of two and three bytes are asked about"),
    }
}

/// The byte after the backslash for each byte; 0 if it needs no escape.
static ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = HEXADECIMAL;
        byte += 1;
    }
    table[0x7F] = HEXADECIMAL;
    table[0] = b'0';
    table[7] = b'a';
    table[8] = b'b';
    table[9] = b't';
    table[10] = b'n';
    table[11] = b'v';
    table[12] = b'f';
    table[13] = b'r';
    table[27] = b'e';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[0xC2] = DOUBTFUL;
    table[0xE2] = DOUBTFUL;
    table[0xEF] = DOUBTFUL;
    table
};

/// It can only be written as its number.
const HEXADECIMAL: u8 = b'x';
/// It begins a character that may need an escape.
const DOUBTFUL: u8 = 0xFF;

/// Writes a block of lines, indented by this many spaces, whose first line follows what is already
/// written. The text begins with a line that is not empty, and no line has trailing blanks.
pub(super) fn literal(out: &mut Out<'_>, text: &str, column: usize) -> Result {
    room(out, 3)?;
    let (lines, header): (_, &[u8]) = match text.strip_suffix('\n') {
        None => (text, b"|-\n"),
        Some(lines) if lines.ends_with('\n') => (lines, b"|+\n"),
        Some(lines) => (lines, b"|\n"),
    };
    out.extend(header);
    for line in lines.split('\n') {
        if !line.is_empty() {
            room(out, column + 32)?;
            spaces(out, column);
            raw(out, line.as_bytes())?;
        }
        room(out, 1)?;
        out.push(b'\n');
    }
    Ok(())
}

/// The longest that [`number`] makes of a double.
pub(super) const NUMBER_BYTES: usize = 32;

/// Writes a double with the shortest digits that read back as the same double, in a form that both
/// YAML 1.1 and 1.2 take for a number that is not an integer: with a point, and with a sign in the
/// exponent. There must be room for [`NUMBER_BYTES`].
#[inline(always)]
pub(super) fn number(out: &mut Out<'_>, v: f64) {
    if !v.is_finite() {
        return out.extend(match v {
            _ if v.is_nan() => b".nan",
            _ if v > 0.0 => b".inf",
            _ => b"-.inf",
        });
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(v);
    let size = v.abs();
    if (1e-3..1e15).contains(&size) || size == 0.0 {
        // Never with an exponent.
        return out.extend_short(text.as_bytes());
    }
    exponent(out, text);
}

/// Writes a number in decimal notation (RFC 8259 §6) in the same form.
#[inline(never)]
pub(super) fn exponent(out: &mut Out<'_>, text: &str) {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    out.extend(mantissa.as_bytes());
    if !mantissa.contains('.') {
        out.extend(b".0");
    }
    if let Some(exponent) = exponent {
        out.push(b'e');
        if !exponent.starts_with(['+', '-']) {
            out.push(b'+');
        }
        out.extend(exponent.as_bytes());
    }
}

/// Writes bytes in Base64, after their tag.
pub(super) fn binary(out: &mut Out<'_>, bytes: &[u8]) -> Result {
    room(out, 16)?;
    out.extend(b"!!binary ");
    if bytes.is_empty() {
        out.extend(b"''");
    }
    let mut text = [0; PIECE / 3 * 4];
    for piece in bytes.chunks(PIECE / 3 * 3) {
        let count = BASE64.encode_slice(piece, &mut text).expect("four characters for three bytes");
        raw(out, &text[..count])?;
    }
    Ok(())
}

/// Writes a tag in its shortest notation.
pub(super) fn tag(out: &mut Out<'_>, tag: &str) -> Result {
    let (before, name, after) = match (tag.strip_prefix('!'), tag.strip_prefix(super::props::CORE))
    {
        (Some(""), _) => ("!", "", ""),
        (Some(name), _) if is_shorthand(name) => ("!", name, ""),
        (_, Some(name)) if is_shorthand(name) => ("!!", name, ""),
        _ => ("!<", tag, ">"),
    };
    room(out, 3 * tag.len() + 3)?;
    out.extend(before.as_bytes());
    for byte in name.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => out.push(byte),
            _ if IN_TAGS.contains(&byte) => out.push(byte),
            b'!' | b',' | b'[' | b']' if before == "!<" => out.push(byte),
            _ => {
                let [high, low] = digits(byte);
                out.push_array([b'%', high, low]);
            }
        }
    }
    out.extend(after.as_bytes());
    Ok(())
}

/// Characters allowed in every tag besides letters and digits (YAML 1.2.2, productions 39 and 40).
const IN_TAGS: &[u8] = b"-#;/?:@&=+$_.~*'()";

/// Returns whether the name can follow `!` or `!!`: a `!` in it would end a handle.
fn is_shorthand(name: &str) -> bool {
    !name.is_empty() && !name.contains('!')
}
