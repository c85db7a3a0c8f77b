//! Errors of the library as exceptions of Ruby.

use regauge::{Error, ErrorKind};

use crate::names::names;
use crate::ruby::{self, Raise, VALUE};

/// What was under way: it decides the class of the exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Bytes became objects.
    Decode,
    /// Objects became bytes.
    Encode,
}

/// The exception for an error: `LimitError`, or `DecodeError` or `EncodeError`, with what is known
/// of its place.
#[cold]
pub fn exception(error: &Error, phase: Phase) -> Raise {
    let names = names();
    let class = match (error.kind(), phase) {
        (ErrorKind::Limit, _) => names.limit_error,
        (_, Phase::Decode) => names.decode_error,
        (_, Phase::Encode) => names.encode_error,
    };
    let exception = ruby::exception_text(class, "");
    let set = |name, value: VALUE| ruby::set_variable(exception, name, value);
    let number = |v: Option<u64>| v.map_or(ruby::NIL, |v| ruby::integer(v as i64));
    let optional = |v: Option<&str>| v.map_or(ruby::NIL, ruby::text);
    set(names.id_value, ruby::text(&in_ruby(&error.to_string())));
    set(names.id_error_kind, ruby::symbol(error.kind().name()));
    set(names.id_offset, number(error.offset()));
    set(names.id_record, number(error.record()));
    set(names.id_record_id, optional(error.record_id()));
    set(names.id_path, optional(error.path().map(ToString::to_string).as_deref()));
    set(names.id_format, error.format().map_or(ruby::NIL, |format| ruby::symbol(format.name())));
    set(names.id_line, number(error.line_column().map(|(line, _)| line)));
    set(names.id_column, number(error.line_column().map(|(_, column)| column)));
    set(names.id_excerpt, optional(error.excerpt()));
    Raise::Exception(exception)
}

/// A message that speaks of options of the command as of options of a method.
fn in_ruby(message: &str) -> String {
    const OPTIONS: [(&str, &str); 17] = [
        ("--on-loss wrap", "on_loss: :wrap"),
        ("--on-loss approximate", "on_loss: :approximate"),
        ("--objects data", "objects: :data"),
        ("--objects wrap", "objects: :wrap"),
        ("--duplicate-keys keep", "duplicate_keys: :last"),
        ("--trailing-commas", "trailing_commas: true"),
        ("--comments", "comments: true"),
        ("--charset marc8", "charset: :marc8"),
        ("--charset utf8", "charset: :utf8"),
        ("--charset auto", "charset: :auto"),
        ("--numbers exact", "numbers: :exact"),
        ("--oversize", "oversize: true"),
        ("--repair", "repair: true"),
        ("--bad skip", "skip_bad: true"),
        ("--bad stop", "skip_bad: false"),
        ("--ruby-binary text", "binary: :text"),
        ("; `regauge inspect` lists all that the file has", ""),
    ];
    let mut message = message.to_owned();
    for (option, keyword) in OPTIONS {
        if message.contains(option) {
            message = message.replace(option, keyword);
        }
    }
    // `--limit depth=…` names the limit in the middle.
    while let Some(at) = message.find("--limit ") {
        let rest = &message[at + 8..];
        let Some(end) = rest.find("=…") else { break };
        let keyword = format!("limits: {{ {}: … }}", &rest[..end]);
        message.replace_range(at..at + 8 + end + "=…".len(), &keyword);
    }
    message
}
