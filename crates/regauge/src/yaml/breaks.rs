//! The line breaks that only YAML 1.1 has: U+0085, U+2028 and U+2029 (§4.2 there). In YAML 1.2 they are
//! characters like others, so a document that has them reads differently, and is refused under the
//! schema of 1.1. Writers escape them.

use crate::Error;
use crate::hint::Hint;
use crate::options::Opt;

/// Finds them, looking once at every byte.
#[derive(Debug, Default)]
pub(super) struct Breaks {
    /// How many bytes after the place of the parser are known to hold none.
    clear: usize,
}

impl Breaks {
    /// The index of the first one at or after `pos`, and the character.
    pub(super) fn first(&mut self, bytes: &[u8], pos: usize) -> Option<(usize, char)> {
        let mut at = (pos + self.clear).min(bytes.len());
        while let Some(found) = memchr::memchr2(0xC2, 0xE2, &bytes[at..]) {
            at += found;
            let c = match bytes[at..] {
                [0xC2, 0x85, ..] => '\u{85}',
                [0xE2, 0x80, 0xA8, ..] => '\u{2028}',
                [0xE2, 0x80, 0xA9, ..] => '\u{2029}',
                // It may be cut.
                [_] | [0xE2, _] => break,
                _ => {
                    at += 1;
                    continue;
                }
            };
            self.clear = at - pos;
            return Some((at, c));
        }
        let all = bytes.len() - pos;
        self.clear = all.saturating_sub(2).min(all);
        None
    }

    /// The parser's place moves on.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.clear = self.clear.saturating_sub(bytes);
    }
}

#[cold]
pub(super) fn refuse(at: usize, c: char) -> Error {
    let code = u32::from(c);
    Error::syntax(format!(
        "found U+{code:04X}, which ends a line in YAML 1.1 and none in YAML 1.2, expected a line feed or \
         the escape of a double-quoted text"
    ))
    .hint(Hint::set(Opt::YamlSchema, "core").to("take it as text"))
    .at(at as u64)
}
