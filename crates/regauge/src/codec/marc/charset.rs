//! The charset of a record, and the passage of its fields through the MARC-8 codec.

use super::SUBFIELD_DELIMITER;
use super::marc8::{self, State};
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::record::{CHARSET_POSITION, Charset};
use crate::options::marc::CharsetChoice;
use crate::policy::fidelity::{Fidelity, LossKind, OnLoss};
use crate::{Error, ErrorKind, Result};

/// Begins an escape sequence of MARC-8.
pub(crate) const ESCAPE: u8 = 0x1B;

/// Returns the charset that a leader declares in its position 09.
pub(super) fn declared(leader: &str) -> Charset {
    let code = leader.chars().nth(CHARSET_POSITION);
    Charset::of_leader(code.and_then(|c| u8::try_from(c).ok()).unwrap_or(b' '))
}

/// Returns the charset for writing a record that carries this one, or none. `code` is leader/09, which
/// changes with a charset that the choice names.
pub(super) fn charset_of(
    code: &mut u8,
    carried: Option<Charset>,
    choice: CharsetChoice,
) -> Charset {
    match choice {
        CharsetChoice::Auto => carried.unwrap_or(Charset::of_leader(*code)),
        CharsetChoice::Always(charset) => {
            *code = match charset {
                Charset::Utf8 => b'a',
                Charset::Marc8 => b' ',
            };
            charset
        }
    }
}

/// Appends a field in MARC-8, without its terminator, to `out` as text; delimiters and subfield
/// codes are kept. Each subfield begins with the default sets, as the specification requires.
///
/// # Errors
/// The index in `bytes` of the fault, and what was found and expected there.
pub(crate) fn decode_field(
    bytes: &[u8],
    out: &mut String,
    references: bool,
) -> std::result::Result<(), (usize, String)> {
    let mut at = 0;
    while at <= bytes.len() {
        let rest = &bytes[at..];
        let end = at + memchr::memchr(SUBFIELD_DELIMITER, rest).unwrap_or(rest.len());
        let mut piece = &bytes[at..end];
        let mut start = at;
        // The code of a subfield is not text: it is a letter or a digit in every set.
        if let [code @ 0..=0x7F, value @ ..] = piece
            && *code != ESCAPE
            && at > 0
        {
            out.push(char::from(*code));
            (piece, start) = (value, start + 1);
        }
        decode_piece(piece, out, references).map_err(|(offset, text)| (start + offset, text))?;
        if end < bytes.len() {
            out.push(char::from(SUBFIELD_DELIMITER));
        }
        at = end + 1;
    }
    Ok(())
}

/// Appends a piece of a field in MARC-8 to `out` as text.
///
/// # Errors
/// The index in `piece` of the fault, and what was found and expected there.
pub(super) fn decode_piece(
    piece: &[u8],
    out: &mut String,
    references: bool,
) -> std::result::Result<(), (usize, String)> {
    let start = out.len();
    marc8::decode(piece, &mut State::default(), out).map_err(|error| {
        let text = error.to_string();
        let text = text.split_once(": ").map_or(text.as_str(), |(_, text)| text);
        (error.offset, text.to_owned())
    })?;
    if references && let std::borrow::Cow::Owned(text) = marc8::resolve_references(&out[start..]) {
        out.truncate(start);
        out.push_str(&text);
    }
    Ok(())
}

#[cold]
fn write_utf8() -> Hint {
    Hint::set(Opt::MarcWriteCharset, "utf8").to("write UTF-8")
}

/// Returns whether text is the same in MARC-8. In the wrapped notation, text that looks like a reference is
/// not, so that it does not become a character.
pub(super) fn is_same(text: &[u8], policy: OnLoss) -> bool {
    let refers = || memchr::memmem::find(text, b"&#x").is_some();
    marc8::is_plain(text) && !(policy == OnLoss::Wrap && refers())
}

/// Refuses an indicator or a subfield code that MARC-8 has only as several characters; under `approximate` it is
/// counted already.
#[cold]
pub(super) fn taken_apart(what: &str, text: &str, tag: &str, fidelity: &mut Fidelity) -> Result {
    if fidelity.policy() == OnLoss::Approximate {
        return Ok(());
    }
    let found = format!("found the {what} {text:?} in {tag}");
    Err(Error::new(
        ErrorKind::Refused,
        format!("{found}, which MARC-8 has only as a letter and a mark"),
    )
    .hint(write_utf8()))
}

/// Appends `text` to `out` in MARC-8. The policy decides whether a character without a MARC-8 code
/// is refused or written by the lossless technique.
///
/// # Errors
/// `Refused` at the place that `place` names.
pub(crate) fn encode(
    text: &str,
    out: &mut Vec<u8>,
    fidelity: &mut Fidelity,
    place: impl Fn() -> String,
) -> Result {
    if is_same(text.as_bytes(), fidelity.policy()) {
        out.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    let refused = |error: marc8::Marc8Error| {
        let found = error.to_string();
        let found = found.split_once(": ").map_or(found.as_str(), |(_, text)| text);
        let found = found.split(';').next().unwrap_or(found);
        let (found, expected) = found.split_once(", ").unwrap_or((found, ""));
        Error::new(ErrorKind::Refused, format!("{found} in {} (MARC-8), {expected}", place())).hint(
            write_utf8()
                .or(Hint::set(Opt::OnLoss, "wrap")
                    .to("write references such as &#x2022; (reversible)")),
        )
    };
    let encoded = match fidelity.policy() {
        OnLoss::Refuse => marc8::encode(text, out).map_err(refused)?,
        _ => marc8::encode_with_references(text, out).map_err(refused)?,
    };
    if encoded.references > 0 && fidelity.policy() == OnLoss::Approximate {
        let found =
            format!("{} characters without a MARC-8 code in {}", encoded.references, place());
        fidelity.note(LossKind::Marc, found, "references such as &#x2022;");
    }
    if encoded.recomposed > 0 {
        fidelity.note(
            LossKind::Marc,
            "characters that MARC-8 has in another composition",
            "canonically equivalent ones",
        );
    }
    if encoded.halved > 0 {
        let found = format!("{} marks over two letters in {}", encoded.halved, place());
        if fidelity.policy() != OnLoss::Approximate {
            return Err(Error::new(
                ErrorKind::Refused,
                format!("found {found}, which MARC-8 has only as halves (U+FE20 to U+FE23)"),
            )
            .hint(write_utf8().or(Hint::set(Opt::OnLoss, "approximate").to("write the halves"))));
        }
        fidelity.note(LossKind::Marc, found, "their halves (U+FE20 to U+FE23)");
    }
    Ok(())
}
