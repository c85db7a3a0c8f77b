//! Single instructions: frames, the memo, globals, payloads.

use super::keys::Found;
use super::scalars::eight;
use super::{Open, Shape, Writer};
use crate::codec::pickle::names;
use crate::codec::pickle::text::latin1_text;
use crate::codec::pickle::types::*;
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::policy::event::BigInt;
use crate::{Error, Result};

/// A frame of this length is closed, as in CPython.
const FRAME_BYTES: u64 = 64 << 10;

/// A shorter frame has no header, as in CPython.
const FRAME_LEAST: u64 = 4;

/// The most globals of a document in the memo.
const GLOBALS: usize = 4096;

impl Writer<'_> {
    /// Ensures that `n` bytes fit, and that a frame is open for them.
    #[inline]
    pub(super) fn room(&mut self, n: usize) -> Result {
        if !self.begun || self.out.position() >= self.frame_full || self.frame == u64::MAX {
            self.begin_frame()?;
        }
        if self.out.has_room(n) { Ok(()) } else { self.out.room(n, self.frame) }
    }

    #[cold]
    #[inline(never)]
    fn begin_frame(&mut self) -> Result {
        self.close_frame();
        if !self.begun {
            self.begun = true;
            if self.protocol >= 2 {
                self.out.room(2, u64::MAX)?;
                self.out.push_array([PROTO, self.protocol]);
            }
        }
        if self.protocol < 4 {
            return Ok(());
        }
        self.out.room(16, u64::MAX)?;
        self.frame = self.out.position();
        self.frame_full = self.frame + 9 + FRAME_BYTES;
        self.out.push_array([FRAME; 9]);
        Ok(())
    }

    /// Writes the length of the open frame.
    pub(super) fn close_frame(&mut self) {
        if self.frame == u64::MAX {
            return;
        }
        let start = (self.frame - self.out.base()) as usize;
        let length = self.out.position() - self.frame - 9;
        (self.frame, self.frame_full) = (u64::MAX, u64::MAX);
        let held = self.out.held_mut();
        if length < FRAME_LEAST {
            held.remove(start..start + 9);
        } else {
            held[start + 1..start + 9].copy_from_slice(&length.to_le_bytes());
        }
    }

    /// Writes an opcode with a length, and that many bytes. Long payloads are outside frames.
    pub(super) fn payload<const N: usize>(&mut self, header: [u8; N], bytes: &[u8]) -> Result {
        if self.protocol >= 4 && bytes.len() as u64 >= FRAME_BYTES {
            self.close_frame();
            self.out.room(N + bytes.len() + 8, u64::MAX)?;
            self.out.push_array(header);
            self.out.extend(bytes);
            // The next instruction opens another.
            return Ok(());
        }
        self.room(N + bytes.len() + 8)?;
        self.out.extend_with_header(header, bytes);
        Ok(())
    }

    /// Writes an opcode of protocol 0 and its line.
    pub(super) fn line(&mut self, opcode: u8, line: &[u8]) -> Result {
        self.room(line.len() + 8)?;
        self.out.extend_with_header([opcode], line);
        self.out.push(b'\n');
        Ok(())
    }

    pub(super) fn write_none(&mut self) {
        self.out.push(NONE);
    }

    /// Puts the top of the stack into the memo. Returns its number.
    pub(super) fn put(&mut self) -> Result<u32> {
        let number = self.memo;
        self.memo += 1;
        self.room(16)?;
        match self.protocol {
            0 => self.line(PUT, number.to_string().as_bytes())?,
            1..=3 => match u8::try_from(number) {
                Ok(number) => self.out.push_array([BINPUT, number]),
                Err(_) => {
                    let [a, b, c, d] = number.to_le_bytes();
                    self.out.push_array([LONG_BINPUT, a, b, c, d]);
                }
            },
            _ => self.out.push(MEMOIZE),
        }
        Ok(number)
    }

    /// Pushes the memo entry of this number.
    #[inline]
    pub(super) fn get(&mut self, number: u32) -> Result {
        self.room(16)?;
        match (self.protocol, u8::try_from(number)) {
            (0, _) => self.line(GET, number.to_string().as_bytes())?,
            (_, Ok(number)) => self.out.push_array([BINGET, number]),
            (_, Err(_)) => {
                let [a, b, c, d] = number.to_le_bytes();
                self.out.push_array([LONG_BINGET, a, b, c, d]);
            }
        }
        Ok(())
    }

    /// Writes a key, from the memo if it repeats.
    #[inline]
    pub(super) fn write_key(&mut self, key: &str) -> Result {
        match self.keys.find(key.as_bytes()) {
            Found::Number(number) => self.get(number),
            Found::Nothing => self.write_text(key.as_bytes()),
            Found::Place(place) => {
                self.write_text(key.as_bytes())?;
                let number = self.put()?;
                self.keys.insert(place, key.as_bytes(), number);
                Ok(())
            }
        }
    }

    /// Writes a class or a function by its name.
    pub(super) fn global(&mut self, module: &str, name: &str) -> Result {
        let (module, name) = match self.protocol {
            0..=2 => names::renamed_back(module, name),
            _ => (module, name),
        };
        let full = format!("{module}\n{name}");
        // A global that is changed in place is written again: from the memo it would be the same
        // object as another.
        let anew = self.is_changed_global();
        if let Some(&number) = self.globals.get(&full).filter(|_| !anew) {
            return self.get(number);
        }
        if self.protocol >= 4 {
            self.write_text(module.as_bytes())?;
            self.write_text(name.as_bytes())?;
            self.room(8)?;
            self.out.push(STACK_GLOBAL);
        } else {
            if module.contains('\n') || name.contains('\n') {
                return Err(Error::unrepresentable(format!(
                    "found the name {:?} with a line break, which pickle protocol {} cannot hold",
                    format!("{module}.{name}"),
                    self.protocol
                ))
                .hint(Hint::set_any(Opt::PickleProtocol, &["4", "5"])));
            }
            self.room(full.len() + 8)?;
            self.out.extend_with_header([GLOBAL], full.as_bytes());
            self.out.push(b'\n');
        }
        if self.globals.len() < GLOBALS && !anew {
            let number = self.put()?;
            self.globals.insert(full, number);
        }
        Ok(())
    }

    /// Writes a builtin of Python.
    pub(super) fn builtin(&mut self, name: &str) -> Result {
        self.global("builtins", name)
    }

    /// Opens the arguments of a call.
    pub(super) fn begin_arguments(&mut self) -> Result {
        self.room(8)?;
        if self.protocol < 2 {
            self.out.push(MARK);
        }
        Ok(())
    }

    /// Closes the arguments, at most three.
    pub(super) fn end_arguments(&mut self, count: u8) -> Result {
        self.room(8)?;
        match (self.protocol, count) {
            (0 | 1, _) => self.out.push(TUPLE),
            (_, 0) => self.out.push(EMPTY_TUPLE),
            (_, count) => self.out.push(TUPLE1 - 1 + count),
        }
        Ok(())
    }

    /// Closes the arguments, and calls.
    pub(super) fn call(&mut self, count: u8) -> Result {
        self.end_arguments(count)?;
        self.out.push(REDUCE);
        Ok(())
    }

    pub(super) fn write_bytes(&mut self, bytes: &[u8]) -> Result {
        if self.protocol < 3 {
            if bytes.is_empty() {
                self.builtin("bytes")?;
                self.begin_arguments()?;
                return self.call(0);
            }
            self.global("_codecs", "encode")?;
            self.begin_arguments()?;
            self.write_text(latin1_text(bytes).as_bytes())?;
            self.write_text(b"latin1")?;
            return self.call(2);
        }
        match u32::try_from(bytes.len()) {
            Ok(length @ 0..=0xFF) => self.payload([SHORT_BINBYTES, length as u8], bytes),
            Ok(length) => {
                let [a, b, c, d] = length.to_le_bytes();
                self.payload([BINBYTES, a, b, c, d], bytes)
            }
            Err(_) if self.protocol >= 4 => self.payload(eight(BINBYTES8, bytes.len()), bytes),
            Err(_) => Err(self.too_long(bytes.len())),
        }
    }

    pub(super) fn write_bytearray(&mut self, bytes: &[u8]) -> Result {
        if self.protocol >= 5 {
            return self.payload(eight(BYTEARRAY8, bytes.len()), bytes);
        }
        self.builtin("bytearray")?;
        self.begin_arguments()?;
        if bytes.is_empty() {
            return self.call(0);
        }
        self.write_bytes(bytes)?;
        self.call(1)
    }

    pub(super) fn write_big_int(&mut self, v: BigInt<'_>) -> Result {
        let (negative, mut bytes) = match v {
            BigInt::Decimal { negative, digits } if self.protocol < 2 => {
                let sign = if negative { "-" } else { "" };
                return self.line(LONG, format!("{sign}{digits}L").as_bytes());
            }
            BigInt::Decimal { negative, digits } => {
                (negative, crate::model::number::magnitude(digits))
            }
            BigInt::Binary { negative, magnitude } => (negative, magnitude.to_vec()),
        };
        // A byte for the sign.
        bytes.push(0);
        if negative {
            negate(&mut bytes);
        }
        self.write_long(&bytes)
    }

    pub(super) fn begin_list(&mut self, len: Option<u64>) -> Result {
        match self.protocol {
            0 => self.out.push_array([MARK, LIST]),
            _ => self.out.push(EMPTY_LIST),
        }
        self.begin_adding(Shape::List, len)
    }

    pub(super) fn begin_dict(&mut self, len: Option<u64>) -> Result {
        match self.protocol {
            0 => self.out.push_array([MARK, DICT]),
            _ => self.out.push(EMPTY_DICT),
        }
        self.begin_adding(Shape::Dict, len)
    }

    /// Opens the object that was just pushed, for items to be added to it.
    pub(super) fn begin_adding(&mut self, shape: Shape, len: Option<u64>) -> Result {
        if self.anchor.is_some() {
            let anchor = self.anchor.take();
            self.remember(anchor)?;
        }
        let mut open = Open::new(shape);
        let set = matches!(open.shape, Shape::Set);
        open.batches = set || (self.protocol > 0 && len != Some(1));
        open.hashed = set;
        self.stack.push(open);
        Ok(())
    }

    pub(super) fn begin_tuple(&mut self, len: Option<u64>) -> Result {
        let mut open = Open::new(match len {
            Some(0..=3) if self.protocol >= 2 => Shape::ShortTuple,
            _ => Shape::Tuple,
        });
        if matches!(open.shape, Shape::Tuple) {
            self.out.push(MARK);
        }
        open.hashed = self.is_hashed();
        open.anchor = self.anchor.take();
        self.stack.push(open);
        Ok(())
    }
}

/// Negates a little-endian two's complement integer.
pub(super) fn negate(bytes: &mut [u8]) {
    let mut carry = true;
    for byte in bytes {
        (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
    }
}
