//! Converts the library's errors to Ruby exceptions.

use regauge::hint::Surface;
use regauge::options::{Language, Opt, Side};
use regauge::{Error, ErrorKind, Format};

use crate::names::names;
use crate::ruby::{self, Raise, VALUE};

/// The direction of the conversion: it determines the exception class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Bytes to objects.
    Decode,
    /// Objects to bytes.
    Encode,
    /// Bytes to bytes of another format.
    Convert,
}

/// What is known of the method that failed.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub phase: Phase,
    /// Whether its keywords have the format in their names.
    pub is_generic: bool,
}

impl From<Phase> for Call {
    fn from(phase: Phase) -> Call {
        Call { phase, is_generic: phase == Phase::Convert }
    }
}

/// Returns the exception for an error: `LimitError`, or `DecodeError` or `EncodeError`, with its
/// known position.
#[cold]
pub fn exception(error: &Error, call: impl Into<Call>) -> Raise {
    let names = names();
    let call = call.into();
    let phase = call.phase;
    let class = match (error.kind(), phase) {
        (ErrorKind::Limit, _) => names.limit_error,
        // What the target cannot hold.
        (ErrorKind::Refused | ErrorKind::Unrepresentable, Phase::Convert) => names.encode_error,
        (_, Phase::Decode | Phase::Convert) => names.decode_error,
        (_, Phase::Encode) => names.encode_error,
    };
    let exception = ruby::exception_text(class, "");
    let set = |name, value: VALUE| ruby::set_variable(exception, name, value);
    let number = |v: Option<u64>| v.map_or(ruby::NIL, |v| ruby::integer(v as i64));
    let optional = |v: Option<&str>| v.map_or(ruby::NIL, ruby::text);
    set(names.id_value, ruby::text(&text(error, call)));
    set(names.id_error_kind, ruby::symbol(error.kind().name()));
    set(names.id_offset, number(error.offset()));
    set(names.id_record, number(error.record()));
    set(names.id_record_id, optional(error.record_id()));
    set(names.id_path, optional(error.path().map(ToString::to_string).as_deref()));
    set(names.id_format, error.format().map_or(ruby::NIL, |format| ruby::symbol(format.name())));
    set(names.id_line, number(error.line_column().map(|(line, _)| line)));
    set(names.id_column, number(error.line_column().map(|(_, column)| column)));
    let takes = |opt| takes(opt, phase, error.format());
    let surface = Surface { language: Language::Ruby, is_generic: call.is_generic, takes: &takes };
    set(names.id_hint, optional(error.hint_for(&surface).as_deref()));
    set(names.id_excerpt, optional(error.excerpt()));
    Raise::Exception(exception)
}

/// Returns the text of an error, with a hint for the keyword arguments of the method that failed.
pub fn text(error: &Error, call: impl Into<Call>) -> String {
    let Call { phase, is_generic } = call.into();
    let takes = |opt| takes(opt, phase, error.format());
    error.display(&Surface { language: Language::Ruby, is_generic, takes: &takes }).to_string()
}

/// Returns whether the method that failed takes an option. Every method accepts every keyword;
/// those without effect are not suggested.
fn takes(opt: Opt, phase: Phase, format: Option<Format>) -> bool {
    let row = opt.row();
    let is_for = format.is_none_or(|format| row.is_for(format));
    match (phase, row.side) {
        (Phase::Convert, _) | (_, Side::Both) => true,
        // JSON can also be read and written in MongoDB's notation.
        (_, Side::Convert) => opt == Opt::ExtendedJson,
        (Phase::Decode, side) => side == Side::Read && is_for,
        (Phase::Encode, side) => side == Side::Write && is_for,
    }
}
