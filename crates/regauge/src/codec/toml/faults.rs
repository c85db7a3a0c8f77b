//! What is wrong with a document, in words.

use std::cell::RefCell;

use toml_parser::{ErrorSink, Expected, ParseError};

use super::tree::BYTES_MAX;
use super::types::Item;
use crate::Error;
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::text::shorten;

/// The first error of an expression: of the grammar, or of what is built. The last that comes is
/// rarely the one to tell.
pub(super) struct Faults<'i> {
    text: &'i str,
    first: RefCell<Option<Error>>,
}

impl<'i> Faults<'i> {
    pub fn new(text: &'i str) -> Faults<'i> {
        Faults { text, first: RefCell::new(None) }
    }

    pub fn take(&self) -> Option<Error> {
        self.first.borrow_mut().take()
    }

    pub fn is_some(&self) -> bool {
        self.first.borrow().is_some()
    }

    pub fn put(&self, error: Error) {
        self.first.borrow_mut().get_or_insert(error);
    }
}

impl ErrorSink for &Faults<'_> {
    fn report_error(&mut self, error: ParseError) {
        if !self.is_some() {
            self.put(of_grammar(self.text, &error));
        }
    }
}

/// The error that the parser of the grammar reports, at its byte of `text`.
#[cold]
pub(super) fn of_grammar(text: &str, error: &ParseError) -> Error {
    let span = error.unexpected().or(error.context()).unwrap_or_default();
    let at = span.start().min(text.len());
    let description = error.description();
    let is_control =
        text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(char::is_control);
    let (expected, why) = match in_our_words(description) {
        _ if is_control && description.ends_with(" string") && !is_at_line_end(text, at) => {
            ("an escape for it, in a basic string".to_owned(), None)
        }
        Some(("a value", _)) if text.get(at..span.end()).is_some_and(|it| it.contains(' ')) => {
            ("one value".to_owned(), Some("text needs quotes, and items a comma"))
        }
        Some((expected, why)) => {
            (expected.to_owned(), why.filter(|_| !is_control && at < text.len()))
        }
        // The quote at the end is missing.
        None if description.ends_with(" string") => (list(error.expected()), None),
        None => (list(error.expected()), Some(description)),
    };
    let mut message = format!("found {}", found(text, at, span.end()));
    if !expected.is_empty() {
        message.push_str(", expected ");
        message.push_str(&expected);
    }
    if let Some(why) = why {
        message.push_str(&format!(" ({why})"));
    }
    // What brackets hold may go on to the last line of a file.
    let is_cut =
        at == text.len() || matches!(description, "unclosed array" | "unclosed inline table");
    let error = if is_cut { Error::truncated(message) } else { Error::syntax(message) };
    error.at(at as u64)
}

/// What is expected and why, where the parser says it in words that fit less well: its list of what
/// is expected is short of something, or long, or its description adds nothing.
fn in_our_words(description: &str) -> Option<(&'static str, Option<&'static str>)> {
    Some(match description {
        "string values must be quoted" => ("a value", Some("text needs quotes")),
        "missing value" => ("a value", None),
        "unquoted keys cannot be empty" | "invalid key-value pair" => ("a key", None),
        "invalid unquoted key" => {
            ("a letter of A to Z, a digit, `-` or `_`", Some("other keys need quotes"))
        }
        "keys cannot be multi-line basic strings" | "keys cannot be multi-line literal strings" => {
            ("a key on one line", None)
        }
        "key with no value" | "missing value for key" => ("`=` and a value", None),
        "missing escaped value" => ("an escape such as `\\n`, `\\\\` or `\\u00E9`", None),
        "too few unicode value digits" => ("a hexadecimal digit", None),
        "invalid value" => ("the number of a character, which surrogates are not", None),
        "extra comma in array" => ("a value or `]`", None),
        "extra comma in inline table" => ("a key or `}`", None),
        "extra `=`" => ("a value", None),
        "missing comma between array elements" => ("`,` or `]`", None),
        "missing comma between key-value pairs" => ("`,` or `}`", None),
        "unexpected key or value" => ("the end of the line", None),
        "unclosed array" => ("`,` or `]`", None),
        "unclosed inline table" => ("`,` or `}`", None),
        "unclosed table" => ("`]`", None),
        "unclosed array table" => ("`]]`", None),
        "invalid comment character" => ("a comment without control characters", None),
        "carriage return must be followed by newline" => {
            ("a line feed after the carriage return", None)
        }
        "unexpected leading zero" => ("a number without a leading zero", None),
        "integers with a radix cannot be signed" => {
            ("a number without a sign, as it has a prefix", None)
        }
        "`_` may only go between digits" => ("`_` between digits only", None),
        _ => return None,
    })
}

/// Whether a line ends here.
fn is_at_line_end(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with('\n') || rest.starts_with("\r\n"))
}

/// What stands at a byte, as messages name it.
pub(super) fn found(text: &str, at: usize, end: usize) -> String {
    let rest = text.get(at..).unwrap_or_default();
    match rest.chars().next() {
        None => "the end of the file".to_owned(),
        Some('\n') => "the end of the line".to_owned(),
        Some('\r') if rest.starts_with("\r\n") => "the end of the line".to_owned(),
        Some('\r') => "a carriage return that no line feed follows".to_owned(),
        Some(c) if c.is_control() => format!("the control character U+{:04X}", u32::from(c)),
        Some(first) => {
            let word = text.get(at..end).filter(|word| !word.is_empty()).unwrap_or_else(|| {
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
                let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                &rest[..length.max(first.len_utf8())]
            });
            let line = word.lines().next().unwrap_or_default();
            format!("`{}`", shorten(line))
        }
    }
}

fn list(expected: Option<&'static [Expected]>) -> String {
    let names: Vec<String> = expected
        .unwrap_or_default()
        .iter()
        .map(|one| match one {
            Expected::Literal("\n") => "the end of the line".to_owned(),
            Expected::Literal(literal) => format!("`{literal}`"),
            Expected::Description(words) => (*words).to_owned(),
            _ => "something else".to_owned(),
        })
        .collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// The line of a byte, from 1.
fn line(text: &str, at: u32) -> usize {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..(at as usize).min(text.len())]).count()
}

/// A key that a table has already.
#[cold]
pub(super) fn twice(text: &str, key: &str, first_at: u32) -> Error {
    let (key, line) = (shorten(key), line(text, first_at));
    Error::syntax(format!(
        "found the key {key:?} a second time in its table, expected it once (the first is on line {line})"
    ))
}

/// A table that is defined already, by a header or by dotted keys.
#[cold]
pub(super) fn redefined(text: &str, key: &str, first_at: u32) -> Error {
    let (key, line) = (shorten(key), line(text, first_at));
    Error::syntax(format!(
        "found a second definition of the table {key:?}, expected one (the first is on line {line})"
    ))
}

/// A key or a header that goes on in a value that cannot have more.
#[cold]
pub(super) fn closed(text: &str, key: &str, item: Item, first_at: u32) -> Error {
    let (key, line) = (shorten(key), line(text, first_at));
    let (name, so) = match item {
        Item::Array { is_open: true } => (item.name(), "which `[[…]]` extends"),
        _ => (item.name(), "which cannot be extended"),
    };
    Error::syntax(format!(
        "found more of {key:?}, expected another name: it is {name} on line {line}, {so}"
    ))
}

/// An integer beyond 64 bits.
#[cold]
pub(super) fn beyond_i64(digits: &str) -> Error {
    Error::syntax(format!(
        "found the integer {}, expected one from -2^63 to 2^63-1",
        shorten(digits)
    ))
    .hint("an integer of more than 64 bits needs quotes, as text")
}

/// A float beyond the range of a double.
#[cold]
pub(super) fn beyond_f64(text: &str) -> Error {
    Error::syntax(format!(
        "found the number {}, expected one within the range of a double",
        shorten(text)
    ))
}

#[cold]
pub(super) fn too_deep(most: u32) -> Error {
    Error::limit(format!("found more than {most} nested tables and arrays, the limit of depth"))
        .hint_depth(most)
}

#[cold]
pub(super) fn too_many(most: u64) -> Error {
    Error::limit(format!("found a document that takes more than {most} nodes, the limit of nodes"))
        .hint(Hint::say("a TOML document is held as a whole").then(Hint::raise(Limit::Nodes)))
}

#[cold]
pub(super) fn too_long(most: u64) -> Error {
    if most == BYTES_MAX {
        let message = format!("found a document of more than {most} bytes, the most that is held");
        return Error::limit(message).hint("a TOML document is held as a whole");
    }
    Error::limit(format!("found a document of more than {most} bytes, the limit of record_bytes"))
        .hint(Hint::say("a TOML document is held as a whole").then(Hint::raise(Limit::RecordBytes)))
}

#[cold]
pub(super) fn token_too_long(most: u64) -> Error {
    Error::limit(format!(
        "found a single value of more than {most} bytes, the limit of token_bytes"
    ))
    .hint(Hint::raise(Limit::TokenBytes))
}
