//! What is wrong with a line, in words.

use super::expand::Wrong;
use crate::Error;
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::record::Charset;

/// Returns the start of a line, for a message.
fn shown(line: &[u8]) -> String {
    let more = if line.len() > 12 { "…" } else { "" };
    format!("\"{}{more}\"", line[..line.len().min(12)].escape_ascii())
}

#[cold]
pub(super) fn no_leader(line: &[u8]) -> Error {
    Error::syntax(format!("found {}, expected =LDR, which begins a record", shown(line)))
        .hint("a blank line ends a record; remove one that does not")
}

#[cold]
pub(super) fn no_tag(line: &[u8]) -> Error {
    Error::syntax(format!(
        "found {}, expected an equals sign, a tag of three printable ASCII characters and two blanks",
        shown(line)
    ))
}

#[cold]
pub(super) fn wrong(wrong: Wrong, tag: &str) -> Error {
    match wrong {
        Wrong::Unknown(name) => Error::syntax(format!(
            "found {name} in {tag}, expected a mnemonic of the Library of Congress's tables"
        ))
        .hint(
            Hint::say("write {lcub} for a bracket that is text").or(Hint::set(
                Opt::OnLoss,
                "approximate",
            )
            .to("keep it as text")),
        ),
        Wrong::Marc8(message) => marc8(&message, tag),
    }
}

/// What MARC-8 does not have, as found and expected.
#[cold]
pub(super) fn marc8(message: &str, tag: &str) -> Error {
    let (found, expected) = message.split_once(", ").unwrap_or((message, ""));
    Error::syntax(format!("{found} in {tag} (MARC-8), {expected}"))
}

#[cold]
pub(super) fn terminator(byte: u8, tag: &str) -> Error {
    Error::syntax(format!(
        "found the control character U+{byte:04X} in {tag}, expected none that ends a field or a record \
         in ISO 2709"
    ))
}

/// A byte that is not UTF-8.
#[cold]
pub(super) fn no_utf8(byte: u8, said: Charset) -> Error {
    let (why, hint) = match said {
        Charset::Utf8 => (
            "leader/09 is \"a\"",
            Hint::set(Opt::Charset, "marc8")
                .when("the leader is wrong and the record is in MARC-8"),
        ),
        Charset::Marc8 => ("as requested", Hint::set(Opt::Charset, "auto").to("use leader/09")),
    };
    Error::syntax(format!("found byte 0x{byte:02X}, expected UTF-8 ({why})")).hint(hint)
}
