//! Why the machine stops at an instruction.

use super::types::opcode_name;
use crate::Error;
use crate::model::hint::Hint;
use crate::model::limits::Limit;

/// The result of an instruction.
pub(super) type Ran<T = ()> = std::result::Result<T, Stop>;

/// Why the machine has stopped.
pub(super) enum Stop {
    /// The instruction is incomplete; the number of bytes it needs, as far as is known.
    Cut(usize),
    Error(Error),
}

#[cold]
pub(super) fn syntax(message: &'static str) -> Stop {
    Stop::Error(Error::syntax(message))
}

#[cold]
pub(super) fn syntax_of(message: String) -> Stop {
    Stop::Error(Error::syntax(message))
}

#[cold]
pub(super) fn empty() -> Stop {
    syntax("found too few values on the stack for this instruction")
}

#[cold]
pub(super) fn odd(opcode: u8) -> Stop {
    let name = opcode_name(opcode).unwrap_or_default();
    syntax_of(format!("found a key without a value in {name}"))
}

#[cold]
pub(super) fn too_long(bytes_max: usize) -> Error {
    Error::limit(format!(
        "found a pickle of more than {bytes_max} bytes, the limit of record_bytes"
    ))
    .hint(Hint::say("a pickle is read as a whole").then(Hint::raise(Limit::RecordBytes)))
}

/// Returns the line that begins here, without its line break.
pub(super) fn line(bytes: &[u8]) -> Option<&[u8]> {
    memchr::memchr(b'\n', bytes).map(|end| &bytes[..end])
}
