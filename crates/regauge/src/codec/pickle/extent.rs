//! Finds the end of a large pickle before its values are built: they take up to eight times as much
//! memory as the instructions, which a pickle that is cut off is not worth.
//!
//! Instructions are skipped by their length alone, and nothing is kept of them.

use super::types::*;

/// What has been found so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Extent {
    /// Nothing was looked for.
    #[default]
    Unknown,
    /// Whole instructions up to here.
    Open(usize),
    /// `STOP`.
    Whole,
    /// The place of an instruction that is unknown, too long or cut off, as the machine finds.
    Fault(usize),
}

impl Extent {
    /// Continues the search, which begins at `from`, the place of an instruction. `input` begins where
    /// the pickle begins, which may have `bytes_max` bytes. With `last`, nothing follows.
    pub fn search(self, input: &[u8], from: usize, bytes_max: usize, last: bool) -> Extent {
        let mut at = match self {
            Extent::Unknown => from,
            Extent::Open(at) => at,
            Extent::Whole | Extent::Fault(_) => return self,
        };
        loop {
            at = skip_common(input, at, bytes_max);
            if at > bytes_max {
                return Extent::Fault(at);
            }
            let rest = input.get(at..).unwrap_or_default();
            let length = match rest.first().map(|opcode| length(*opcode)) {
                Some(Length::Fixed(length)) => Some(u64::from(length)),
                Some(Length::Counted(header)) => counted(rest, header),
                Some(Length::Lines(count)) => {
                    memchr::memchr_iter(b'\n', rest).nth(count - 1).map(|end| end as u64 + 1)
                }
                Some(Length::Stop) => return Extent::Whole,
                Some(Length::Unknown) => return Extent::Fault(at),
                None => None,
            };
            match length {
                // A frame holds instructions.
                Some(length) if length <= rest.len() as u64 && rest[0] == FRAME => at += 9,
                Some(length) if length <= rest.len() as u64 => at += length as usize,
                Some(length) if last || length > (bytes_max - at) as u64 => {
                    return Extent::Fault(at);
                }
                None if last => return Extent::Fault(at),
                _ => return Extent::Open(at),
            }
        }
    }
}

/// Returns whether a pickle has so many cells at the place `pos` that its end is looked for first: a
/// quarter of `nodes`, which is 4 MiB by default. One that has many more cells than a pickler writes,
/// which is one for every two bytes, is about to be refused, and needs no more of its bytes for that.
pub(super) fn is_large(cells: usize, pos: usize, nodes: u64) -> bool {
    let cells = cells as u64;
    cells > nodes / 4 && cells <= pos as u64 / 2 + nodes / 8 || cells > nodes.saturating_mul(2)
}

/// How long an instruction is.
enum Length {
    /// So many bytes with the opcode.
    Fixed(u8),
    /// Its payload has a length before it, of so many bytes.
    Counted(usize),
    /// Up to the end of so many lines.
    Lines(usize),
    Stop,
    /// No instruction begins so.
    Unknown,
}

const fn length(opcode: u8) -> Length {
    match opcode {
        STOP => Length::Stop,
        BININT1 | BINGET | BINPUT | PROTO | EXT1 => Length::Fixed(2),
        BININT2 | EXT2 => Length::Fixed(3),
        BININT | LONG_BINGET | LONG_BINPUT | EXT4 => Length::Fixed(5),
        BINFLOAT => Length::Fixed(9),
        SHORT_BINSTRING | SHORT_BINBYTES | SHORT_BINUNICODE | LONG1 => Length::Counted(1),
        BINSTRING | BINBYTES | BINUNICODE | LONG4 => Length::Counted(4),
        BINUNICODE8 | BINBYTES8 | BYTEARRAY8 | FRAME => Length::Counted(8),
        FLOAT | INT | LONG | PERSID | STRING | UNICODE | GET | PUT => Length::Lines(1),
        GLOBAL | INST => Length::Lines(2),
        _ if opcode_name(opcode).is_some() => Length::Fixed(1),
        _ => Length::Unknown,
    }
}

/// Returns the length of an instruction whose payload has a length before it, unless that is cut off.
fn counted(rest: &[u8], header: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes[..header].copy_from_slice(rest.get(1..=header)?);
    Some(u64::from_le_bytes(bytes).saturating_add(1 + header as u64))
}

/// The length of a common instruction without its payload, and which bits after the opcode are the
/// payload's length; 0 for any other instruction.
static COMMON: [(u8, u32); 256] = {
    let mut common = [(0, 0); 256];
    let mut opcode = 0;
    while opcode < 256 {
        common[opcode] = match length(opcode as u8) {
            Length::Fixed(length) => (length, 0),
            Length::Counted(1) => (2, 0xFF),
            Length::Counted(4) => (5, u32::MAX),
            _ => (0, 0),
        };
        opcode += 1;
    }
    common
};

/// Skips common instructions from `at` on, as far as they are whole. Without a branch that depends on the
/// instruction, it takes half as long as the loop that knows them all.
fn skip_common(input: &[u8], mut at: usize, bytes_max: usize) -> usize {
    let most = input.len().min(bytes_max);
    while let Some([opcode, payload @ ..]) = input.get(at..).and_then(<[u8]>::first_chunk::<5>) {
        let (length, mask) = COMMON[usize::from(*opcode)];
        let payload = (u32::from_le_bytes(*payload) & mask) as usize;
        let next = payload.saturating_add(at + usize::from(length));
        if length == 0 || next > most {
            break;
        }
        at = next;
    }
    at
}
