//! The less common instructions: text of protocol 0, 8-bit strings, globals, calls.

use super::arena::{Arena, Kind, Node, Span};
use super::machine::Machine;
use super::stop::{Ran, Stop, empty, line, syntax, syntax_of, too_long};
use super::text;
use super::types::*;
use crate::Error;
use crate::model::hint::Hint;
use crate::model::limits::Limit;

impl Machine {
    /// Runs any less common instruction. Returns the place of the next one.
    #[inline(never)]
    pub(super) fn rare(&mut self, input: &[u8], opcode: u8) -> Ran<usize> {
        let pos = self.pos;
        let at = pos as u32;
        let rest = &input[pos + 1..];
        let bytes_max = self.bytes_max;
        let payload = |header: usize, length: Option<u64>| -> Ran<(Span, usize)> {
            let Some(length) = length else { return Err(Stop::Cut(1 + header)) };
            if length.saturating_add(pos as u64) > bytes_max as u64 {
                return Err(Stop::Error(too_long(bytes_max)));
            }
            let (start, length) = (pos + 1 + header, length as usize);
            if input.len() < start + length {
                return Err(Stop::Cut(1 + header + length));
            }
            Ok((Span { at: start as u32, length: length as u32 }, start + length))
        };
        let one = || rest.first().map(|length| u64::from(*length));
        let four = || rest.first_chunk().map(|four| u64::from(u32::from_le_bytes(*four)));
        let eight = || rest.first_chunk().map(|eight| u64::from_le_bytes(*eight));
        // Reads a text argument: the line, and where the next one begins.
        let text_line = |from: usize| -> Ran<(&[u8], usize)> {
            let line = line(&input[from..]).ok_or(Stop::Cut(input.len() - pos + 1))?;
            Ok((line, from + line.len() + 1))
        };
        let span = |from: usize, length: usize| Span { at: from as u32, length: length as u32 };
        Ok(match opcode {
            SHORT_BINBYTES | BINBYTES | BINBYTES8 => {
                let (span, next) = match opcode {
                    SHORT_BINBYTES => payload(1, one())?,
                    BINBYTES => payload(4, four())?,
                    _ => payload(8, eight())?,
                };
                self.stack.push(Node::Bytes(at, span));
                next
            }
            BYTEARRAY8 => {
                let (span, next) = payload(8, eight())?;
                let node = self.arena.make(Kind::ByteArray, at, &[Node::Bytes(at, span)]);
                self.stack.push(node);
                next
            }
            SHORT_BINSTRING | BINSTRING => {
                let (span, next) = match opcode {
                    SHORT_BINSTRING => payload(1, one())?,
                    _ => match four() {
                        Some(length) if length > i32::MAX as u64 => {
                            return Err(syntax("found a negative length"));
                        }
                        length => payload(4, length)?,
                    },
                };
                self.stack.push(Node::Old(at, span));
                next
            }
            LONG1 | LONG4 => {
                let (span, next) = match opcode {
                    LONG1 => payload(1, one())?,
                    _ => match four() {
                        Some(length) if length > i32::MAX as u64 => {
                            return Err(syntax("found a negative length"));
                        }
                        length => payload(4, length)?,
                    },
                };
                let node = self.long(at, span, input)?;
                self.stack.push(node);
                next
            }
            EXT1 | EXT2 | EXT4 => {
                let (code, next) = match opcode {
                    EXT1 => (one(), pos + 2),
                    EXT2 => {
                        let two = rest.first_chunk().map(|two| u16::from_le_bytes(*two));
                        (two.map(u64::from), pos + 3)
                    }
                    _ => (four(), pos + 5),
                };
                let code = code.ok_or(Stop::Cut(next - pos))?;
                if code == 0 || code > i32::MAX as u64 {
                    return Err(syntax("found an extension code that is not positive"));
                }
                let code = Node::Int(at, code as i64);
                let node = self.arena.make(Kind::Extension, at, &[code]);
                self.stack.push(node);
                next
            }
            INT | LONG => {
                let (line, next) = text_line(pos + 1)?;
                let node = match (opcode, line) {
                    (INT, b"00") => Node::Bool(at, false),
                    (INT, b"01") => Node::Bool(at, true),
                    _ => {
                        let digits = match line {
                            [digits @ .., b'L'] if opcode == LONG => digits,
                            digits => digits,
                        };
                        match text::integer(digits) {
                            None => return Err(not_a("an integer", line)),
                            Some(text::Integer::Small(v)) => Node::Int(at, v),
                            Some(text::Integer::Digits { start, length }) => {
                                self.check_digits(length)?;
                                Node::LongText(at, span(pos + 1 + start, length))
                            }
                        }
                    }
                };
                self.stack.push(node);
                next
            }
            FLOAT => {
                let (line, next) = text_line(pos + 1)?;
                let v = text::float(line).ok_or_else(|| not_a("a number", line))?;
                self.stack.push(Node::Float(at, v));
                next
            }
            STRING => {
                let (line, next) = text_line(pos + 1)?;
                let inner = text::unquote(line).ok_or_else(|| not_a("quoted text", line))?;
                text::unescape_string(inner).map_err(bad_escape)?;
                self.stack.push(Node::OldEscaped(at, span(pos + 2, inner.len())));
                next
            }
            UNICODE => {
                let (line, next) = text_line(pos + 1)?;
                text::unescape_unicode(line).map_err(bad_escape)?;
                self.stack.push(Node::Escaped(at, span(pos + 1, line.len())));
                next
            }
            GET | PUT => {
                let (line, next) = text_line(pos + 1)?;
                let index = match text::memo_index(line) {
                    None => return Err(not_a("a memo number", line)),
                    Some(index) => u32::try_from(index).map_err(|_| {
                        syntax_of(format!(
                            "found the memo number {index}, expected 0 to {}",
                            u32::MAX
                        ))
                    })?,
                };
                match opcode {
                    GET => self.get(at, index)?,
                    _ => self.put(index)?,
                }
                next
            }
            GLOBAL | INST => {
                let (module, middle) = text_line(pos + 1)?;
                let (name, next) = text_line(middle)?;
                if std::str::from_utf8(module).is_err() || std::str::from_utf8(name).is_err() {
                    return Err(syntax("found a global whose name is not UTF-8"));
                }
                let names = [
                    Node::Text(at, span(pos + 1, module.len())),
                    Node::Text(at, span(middle, name.len())),
                ];
                if opcode == GLOBAL {
                    let node = self.arena.make(Kind::Global, at, &names);
                    self.stack.push(node);
                    self.date_name();
                } else {
                    let from = self.mark()?;
                    self.pop_mark();
                    let class = self.arena.make(Kind::Global, at, &names);
                    self.date_name();
                    self.instance(at, class, from);
                }
                next
            }
            OBJ => {
                let from = self.mark()?;
                let Some(&class) = self.stack.get(from) else {
                    return Err(syntax("found nothing after the mark, expected a class"));
                };
                self.callable(class)?;
                self.pop_mark();
                self.instance(at, class, from + 1);
                self.stack.remove(from);
                pos + 1
            }
            STACK_GLOBAL => {
                let from = self.reach(2)?;
                for node in &self.stack[from..] {
                    if Arena::text(*node, input).is_none() {
                        let found = self.describe(*node);
                        return Err(syntax_of(format!("found {found}, expected a name as text")));
                    }
                }
                self.collect(Kind::Global, at, from);
                self.date_name();
                pos + 1
            }
            REDUCE | NEWOBJ => {
                let from = self.reach(2)?;
                self.callable(self.stack[from])?;
                self.arguments(self.stack[from + 1])?;
                let kind = if opcode == REDUCE { Kind::Call } else { Kind::New };
                self.collect(kind, at, from);
                pos + 1
            }
            NEWOBJ_EX => {
                let from = self.reach(3)?;
                self.callable(self.stack[from])?;
                self.arguments(self.stack[from + 1])?;
                match self.stack[from + 2] {
                    Node::Object(_, index) if self.arena.object(index).kind == Kind::Dict => {}
                    other => {
                        let found = self.describe(other);
                        return Err(syntax_of(format!(
                            "found {found} as keyword arguments, expected a dict"
                        )));
                    }
                }
                self.collect(Kind::NewEx, at, from);
                pos + 1
            }
            PERSID => {
                let (line, next) = text_line(pos + 1)?;
                if !line.is_ascii() {
                    return Err(not_a("a persistent id in ASCII", line));
                }
                let id = Node::Text(at, span(pos + 1, line.len()));
                let node = self.arena.make(Kind::PersistentId, at, &[id]);
                self.stack.push(node);
                next
            }
            BINPERSID => {
                let from = self.reach(1)?;
                self.collect(Kind::PersistentId, at, from);
                pos + 1
            }
            NEXT_BUFFER => {
                let number = Node::Int(at, self.buffers);
                self.buffers += 1;
                let node = self.arena.make(Kind::Buffer, at, &[number]);
                self.stack.push(node);
                pos + 1
            }
            READONLY_BUFFER => {
                let from = self.reach(1)?;
                match self.stack[from] {
                    Node::Bytes(..) => {}
                    Node::Object(_, index)
                        if matches!(
                            self.arena.object(index).kind,
                            Kind::Buffer | Kind::ReadonlyBuffer | Kind::ByteArray
                        ) => {}
                    other => {
                        let found = self.describe(other);
                        return Err(syntax_of(format!("found {found}, expected a buffer")));
                    }
                }
                self.collect(Kind::ReadonlyBuffer, at, from);
                pos + 1
            }
            DUP => {
                let node = self.top()?;
                self.push_again(at, node);
                pos + 1
            }
            POP => {
                if self.stack.len() > self.floor {
                    self.drop_from(self.stack.len() - 1);
                } else if !self.marks.is_empty() {
                    self.pop_mark();
                } else {
                    return Err(empty());
                }
                pos + 1
            }
            POP_MARK => {
                let from = self.mark()?;
                self.pop_mark();
                self.drop_from(from);
                pos + 1
            }
            _ => {
                let shown = match opcode {
                    0x21..=0x7E => format!(" ({:?})", char::from(opcode)),
                    _ => String::new(),
                };
                return Err(syntax_of(format!(
                    "found the byte 0x{opcode:02X}{shown}, which is not an opcode"
                )));
            }
        })
    }

    /// Marks the last global as having a Python 2 name, if the protocol is that old.
    fn date_name(&mut self) {
        let old = self.protocol < 3;
        if let Some(global) = self.arena.objects.last_mut() {
            global.old_name = old;
        }
    }

    /// Creates an instance of `class` with the arguments from `from` on, and replaces them.
    fn instance(&mut self, at: u32, class: Node, from: usize) {
        let arguments = self.arena.make(Kind::Tuple, at, &self.stack[from..]);
        self.stack.truncate(from);
        let node = self.arena.make(Kind::Instance, at, &[class, arguments]);
        self.stack.push(node);
    }

    /// Checks that the node may be called when Python loads it.
    fn callable(&self, node: Node) -> Ran {
        match node {
            Node::Object(_, index)
                if matches!(
                    self.arena.object(index).kind,
                    Kind::Global
                        | Kind::Call
                        | Kind::New
                        | Kind::NewEx
                        | Kind::Instance
                        | Kind::PersistentId
                        | Kind::Extension
                ) =>
            {
                Ok(())
            }
            other => {
                let found = self.describe(other);
                Err(syntax_of(format!("found {found}, expected a callable")))
            }
        }
    }

    fn arguments(&self, node: Node) -> Ran {
        match node {
            Node::Object(_, index) if self.arena.object(index).kind == Kind::Tuple => Ok(()),
            other => {
                let found = self.describe(other);
                Err(syntax_of(format!("found {found} as arguments, expected a tuple")))
            }
        }
    }

    /// Drops what is on the stack from `from` on. Python has already created it.
    fn drop_from(&mut self, from: usize) {
        self.arena.drops |= self.stack[from..].iter().any(|node| matches!(node, Node::Object(..)));
        self.stack.truncate(from);
    }

    /// Reads a two's complement integer.
    fn long(&self, at: u32, span: Span, input: &[u8]) -> Ran<Node> {
        let bytes = span.of(input);
        let Some(&top) = bytes.last() else { return Ok(Node::Int(at, 0)) };
        // Bytes that only repeat the sign.
        let sign = if top >= 0x80 { 0xFF } else { 0 };
        let mut length = bytes.len();
        while length > 1 && bytes[length - 1] == sign && (bytes[length - 2] ^ sign) < 0x80 {
            length -= 1;
        }
        if length <= 8 {
            let mut eight = [sign; 8];
            eight[..length].copy_from_slice(&bytes[..length]);
            return Ok(Node::Int(at, i64::from_le_bytes(eight)));
        }
        // A byte is 2.408 decimal digits, rounded down so that nothing is refused too early.
        self.check_digits((length - 1).saturating_mul(2408) / 1000)?;
        Ok(Node::Long(at, Span { at: span.at, length: length as u32 }))
    }

    fn check_digits(&self, digits: usize) -> Ran {
        if digits <= self.integer_digits {
            return Ok(());
        }
        Err(Stop::Error(
            Error::limit(format!(
                "found an integer of about {digits} digits, more than {}, the limit of \
                 integer_digits",
                self.integer_digits
            ))
            .hint(Hint::raise(Limit::IntegerDigits)),
        ))
    }
}

#[cold]
fn bad_escape(what: &'static str) -> Stop {
    syntax_of(format!("found {what}, expected an escape of Python"))
}

#[cold]
fn not_a(expected: &str, line: &[u8]) -> Stop {
    let shown: String = String::from_utf8_lossy(line).chars().take(40).collect();
    syntax_of(format!("found the line {shown:?}, expected {expected}"))
}
