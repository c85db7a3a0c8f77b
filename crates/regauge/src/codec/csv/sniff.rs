//! Which delimiter a table has, by its header.

use memchr::memchr;

use super::Delimiter;

/// The delimiters that are recognised. A comma wins wherever it stands outside of quotes.
const KNOWN: [Delimiter; 4] =
    [Delimiter::Comma, Delimiter::Semicolon, Delimiter::Tab, Delimiter::Pipe];

/// How much of a header is looked at, in bytes.
const LOOKED_AT_MAX: usize = 1 << 16;

/// Returns the delimiter of a table that begins here: a comma if the first line has one outside of
/// quotes, otherwise the most frequent of semicolon, tab and `|`, and a comma if it has none of them or
/// is very long. Returns `None` if the line goes on after the window.
pub(super) fn delimiter(bytes: &[u8], last: bool) -> Option<Delimiter> {
    let head = &bytes[..bytes.len().min(LOOKED_AT_MAX)];
    let mut counts = [0_usize; KNOWN.len()];
    let mut is_quoted = false;
    let mut is_whole = last && head.len() == bytes.len();
    for byte in head {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => {
                is_whole = true;
                break;
            }
            byte if !is_quoted => {
                if let Some(at) = KNOWN.iter().position(|known| known.byte() == *byte) {
                    counts[at] += 1;
                }
            }
            _ => {}
        }
    }
    if !is_whole {
        return (head.len() == LOOKED_AT_MAX).then_some(Delimiter::Comma);
    }
    let [commas, others @ ..] = counts;
    let most = others.into_iter().max().unwrap_or(0);
    match others.iter().position(|count| *count == most) {
        Some(first) if commas == 0 && most > 0 => Some(KNOWN[1 + first]),
        _ => Some(Delimiter::Comma),
    }
}

/// Returns whether a header of this one name would be taken for several names.
pub(super) fn is_several(name: &str) -> bool {
    KNOWN.iter().any(|known| memchr(known.byte(), name.as_bytes()).is_some())
}
