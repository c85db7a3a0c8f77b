//! What is wrong with a line, in words.

use crate::Error;

/// Returns the start of a line, for a message.
fn shown(line: &[u8]) -> String {
    let more = if line.len() > 20 { "…" } else { "" };
    format!("\"{}{more}\"", line[..line.len().min(20)].escape_ascii())
}

#[cold]
pub(super) fn no_number(line: &[u8]) -> Error {
    Error::syntax(format!(
        "found {}, expected a line that begins with the nine digits of a system number and a blank",
        shown(line)
    ))
    .hint("a field has no line ends")
}

#[cold]
pub(super) fn no_columns(line: &[u8]) -> Error {
    Error::syntax(format!(
        "found {}, expected a tag and indicators in five printable ASCII characters, and the alphabet \
         code between two blanks",
        shown(line)
    ))
}

#[cold]
pub(super) fn no_utf8(byte: u8) -> Error {
    Error::syntax(format!("found byte 0x{byte:02X}, expected UTF-8"))
        .hint("convert the file first, as with iconv")
}

#[cold]
pub(super) fn control(byte: u8, tag: &str) -> Error {
    Error::syntax(format!(
        "found the control character U+{byte:04X} in {tag}, expected none that ends a line, or a field \
         in ISO 2709"
    ))
}

#[cold]
pub(super) fn second_leader() -> Error {
    Error::syntax("found a second LDR in a record, expected one")
        .hint("two records in a row need different system numbers")
}

#[cold]
pub(super) fn indicators(tag: &str) -> Error {
    Error::syntax(format!("found indicators in {tag}, expected two blanks: it has no subfields"))
}

#[cold]
pub(super) fn no_subfield(content: &str, tag: &str) -> Error {
    Error::syntax(format!(
        "found {} in {tag}, expected $$ and the code of a subfield",
        shown(content.as_bytes())
    ))
}

#[cold]
pub(super) fn no_code(tag: &str) -> Error {
    Error::syntax(format!("found $$ at the end of {tag}, expected the code of a subfield"))
}

#[cold]
pub(super) fn other_code(found: char, expected: char, tag: &str) -> Error {
    Error::syntax(format!(
        "found more of ${found} in {tag}, expected more of ${expected}, which is the last subfield"
    ))
}
