//! What is wrong with a table or a row, in words.

use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::text::shorten;
use crate::{Error, ErrorKind, Fidelity, Format};

#[cold]
pub(super) fn stray_quote() -> Error {
    Error::syntax("found a quote in a field that does not begin with one, expected none")
        .hint("such a field belongs in quotes, with each quote in it doubled")
}

#[cold]
pub(super) fn after_quote() -> Error {
    Error::syntax("found text after a closing quote, expected the delimiter or the end of the line")
        .hint("a quote in a field is written twice")
}

#[cold]
pub(super) fn lone_return() -> Error {
    Error::syntax("found a carriage return without a line feed, expected both or a line feed alone")
        .hint("a carriage return in a field belongs in quotes")
}

#[cold]
pub(super) fn unclosed() -> Error {
    Error::truncated("found the end of the file in a field in quotes, expected a closing quote")
}

/// Text that is not UTF-8, at this index of `bytes`.
#[cold]
pub(super) fn no_utf8(bytes: &[u8]) -> (Error, usize) {
    let at = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let byte = bytes.get(at).copied().unwrap_or_default();
    let error = Error::syntax(format!("found byte 0x{byte:02X}, expected UTF-8"));
    (error.hint("convert the file first, as with iconv"), at)
}

#[cold]
pub(super) fn blank_line(before_header: bool) -> Error {
    if before_header {
        return Error::syntax("found a blank line, expected the first row")
            .hint("remove the blank lines at the beginning");
    }
    Error::syntax("found a blank line in a table of one column, expected a field")
        .hint("write \"\" for a field without text, or remove the blank line")
}

#[cold]
pub(super) fn column_again(name: &str, first: usize, second: usize) -> Error {
    let shown = shorten(name);
    Error::syntax(format!(
        "found the name {shown:?} for columns {first} and {second}, expected each name once"
    ))
    .hint(Hint::set(Opt::CsvHeader, "no").to("read rows as arrays"))
}

#[cold]
pub(super) fn ragged(found: u64, expected: u64, has_header: bool, format: Format) -> Error {
    let first = if has_header { "header" } else { "first row" };
    let fields = if found == 1 { "1 field".to_owned() } else { format!("{found} fields") };
    let error = Error::syntax(format!("found {fields}, expected {expected} as in the {first}"));
    // The whole line may be one field because of another delimiter.
    match (expected.min(found), format) {
        (1, Format::Csv) => {
            let others = Hint::set_any(Opt::CsvDelimiter, &["semicolon", "colon", "space"]);
            error.hint(others.when("that is between the fields"))
        }
        _ => error,
    }
}

/// A row to be written that has another number of fields than the first.
#[cold]
pub(super) fn uneven(found: u64, expected: u64) -> Error {
    let fields = if found == 1 { "1 value".to_owned() } else { format!("{found} values") };
    Error::unrepresentable(format!("found {fields} in a row, expected {expected} as in the first"))
}

#[cold]
pub(super) fn no_such_column(name: &str, target: &str) -> Error {
    Error::unrepresentable(format!(
        "found the key {:?}, which is not in the first row; {target} names its columns once",
        shorten(name)
    ))
    .hint(Hint::give(Opt::Only).to("keep what all rows have"))
}

#[cold]
pub(super) fn no_columns(target: &str) -> Error {
    Error::unrepresentable(format!(
        "found nothing in the first row, expected at least one value: {target} has no row without a field"
    ))
}

#[cold]
pub(super) fn mixed() -> Error {
    Error::unrepresentable("found a map and an array as rows of one table, expected one kind")
}

#[cold]
pub(super) fn too_many(what: &str, most: u64, limit: crate::model::limits::Limit) -> Error {
    Error::limit(format!("found a row of more than {most} {what}, the limit of {}", limit.name()))
        .hint(Hint::raise(limit))
}

/// A map or an array in a row.
#[cold]
pub(super) fn nested(what: &str, target: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("found {what} in a row, which {target} cannot hold"))
        .hint(
            Hint::set(Opt::CsvNested, "flatten")
                .to("write a column for each value in it")
                .or(Hint::set(Opt::OnLoss, "wrap").to("write it in the notation (reversible)"))
                .or(Hint::set(Opt::OnLoss, "approximate").to("write it as JSON")),
        )
}

/// A document that is not a map.
#[cold]
pub(super) fn no_map(what: &str, target: &str) -> Error {
    let message = format!("found {what} as a whole document, which {target} cannot hold");
    let hint = Hint::set(Opt::OnLoss, "wrap")
        .to("write the column `$value` (reversible)")
        .or(Hint::set(Opt::OnLoss, "approximate").to("write the column `value`"));
    let hint = match what {
        "an array" => Hint::set(Opt::CsvHeader, "no").to("write rows without a header").or(hint),
        _ => hint,
    };
    Error::new(ErrorKind::Refused, message).hint(hint)
}

/// A loss for which there is no notation.
#[cold]
pub(super) fn refusal(fidelity: &Fidelity, found: &str, nearest: &str) -> Error {
    let target = fidelity.target().title();
    Error::new(ErrorKind::Refused, format!("found {found}, which {target} cannot hold"))
        .hint(Hint::set(Opt::OnLoss, "approximate").to(format!("write {nearest}")))
}
