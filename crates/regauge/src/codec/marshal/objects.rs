//! Objects, classes, wrappers and instance variables: the part of the walk that emits types.
//!
//! | kind | name | value inside |
//! |---|---|---|
//! | `object`, `struct` | class | map of fields |
//! | `dump` | class | the string that `_dump` gave |
//! | `marshal_dump`, `data` | class | the value that `marshal_dump`, `_dump_data` gave |
//! | `subclass`, `extended` | class, module | the string, array, hash or regexp; any value |
//! | `identity` | | the map, whose keys are compared by identity |
//! | `default` | | map of `hash` and `default` |
//! | `set` | class | array |
//! | `class`, `module`, `class_or_module` | name | the name as text |
//! | `regexp` | options | the pattern |
//! | `ivars` | | map of `value` and `ivars` |
//! | `encoding` | encoding | text if the encoding is known, otherwise bytes |
//! | `symbol` | | its bytes or text in its encoding |
//! | `raw` | | bytes of a number in a notation that Ruby does not write |

use super::known;
use super::read::{Encoding, unknown_name};
use super::skip;
use super::types::*;
use super::walk::{Step, Walk};
use crate::Result;
use crate::policy::event::Sink;
use crate::policy::fidelity::LossKind;

impl<'d> Walk<'d> {
    /// Emits the kinds that few documents have.
    #[inline(never)]
    pub fn object<S: Sink + ?Sized>(&mut self, start: usize, sink: &mut S) -> Result {
        let (document, at) = (self.document, self.at);
        match document[at] {
            HASH_DEFAULT => self.hash_with_default(start, sink),
            kind @ (OBJECT | STRUCT) => {
                if known::object(self, start, sink)? {
                    return Ok(());
                }
                let (name, end) = self.scanned.name(at + 1)?;
                let kind = if kind == OBJECT { "object" } else { "struct" };
                self.begin_typed(sink, kind, &name, start)?;
                let (count, end) = skip::number(document, end);
                self.begin_map(sink, count, Step::Fields(count))?;
                self.at = end;
                Ok(())
            }
            USER_CLASS | EXTENDED => self.wrapped(start, sink),
            REGEXP => self.text_like(start, at, at, false, sink),
            USER_DUMP => self.dump(start, false, sink),
            kind @ (USER_MARSHAL | DATA) => {
                if kind == USER_MARSHAL && known::marshal_dump(self, sink)? {
                    return Ok(());
                }
                let (name, end) = self.scanned.name(at + 1)?;
                let kind = if kind == DATA { "data" } else { "marshal_dump" };
                self.begin_typed(sink, kind, &name, start)?;
                self.at = end;
                self.push(Step::Value, 0);
                Ok(())
            }
            kind => {
                let (raw, end) = skip::bytes(document, at + 1);
                let kind = match kind {
                    CLASS => "class",
                    MODULE => "module",
                    _ => "class_or_module",
                };
                let name = std::str::from_utf8(raw).map_err(|_| unknown_name(at))?;
                self.begin_typed(sink, kind, name, start)?;
                sink.str(name)?;
                self.at = end;
                Ok(())
            }
        }
    }

    /// Emits a hash with a default value: a map of both or, for data, the hash alone.
    fn hash_with_default<S: Sink + ?Sized>(&mut self, start: usize, sink: &mut S) -> Result {
        let (count, end) = skip::number(self.document, self.at + 1);
        if self.can_drop(self.at) {
            self.note(sink, LossKind::Type, "the default value of a hash", "nothing");
            self.push(Step::Pass, 0);
            sink.begin_map(Some(count))?;
            self.enter(Step::Map(count), start)?;
        } else {
            self.begin_typed(sink, "default", "", start)?;
            self.begin_map(sink, 2, Step::EndMap)?;
            self.push(Step::Default, 0);
            sink.key("hash")?;
            self.begin_map(sink, count, Step::Map(count))?;
        }
        self.at = end;
        Ok(())
    }

    /// Emits a value with instance variables that is not simply text.
    #[cold]
    #[inline(never)]
    pub fn with_ivars<S: Sink + ?Sized>(&mut self, start: usize, sink: &mut S) -> Result {
        let at = self.at + 1;
        match self.document[at] {
            STRING | REGEXP => return self.text_like(start, at, at, true, sink),
            SYMBOL => {
                let (symbol, end) = self.scanned.symbol(self.at);
                self.symbol(symbol, sink)?;
                self.at = end;
                return Ok(());
            }
            USER_DUMP => return self.dump(start, true, sink),
            USER_CLASS | EXTENDED => {
                let core = self.core(at);
                if matches!(self.document[core], STRING | REGEXP) {
                    return self.text_like(start, at, core, true, sink);
                }
            }
            _ => {}
        }
        if self.can_drop(self.at) {
            self.note(sink, LossKind::Type, "instance variables", "the value without them");
            self.push(Step::PassIvars, 0);
        } else {
            self.begin_typed(sink, "ivars", "", start)?;
            self.begin_map(sink, 2, Step::EndMap)?;
            self.push(Step::Ivars { text: false }, 0);
            sink.key("value")?;
        }
        self.push(Step::Bare, start);
        self.at = at;
        Ok(())
    }

    /// Returns the place after the wrappers at `at`.
    fn core(&self, mut at: usize) -> usize {
        while matches!(self.document[at], USER_CLASS | EXTENDED) {
            at = skip::symbol(self.document, at + 1);
        }
        at
    }

    /// Emits a value inside a subclass or a module.
    fn wrapped<S: Sink + ?Sized>(&mut self, start: usize, sink: &mut S) -> Result {
        let core = self.core(self.at);
        if matches!(self.document[core], STRING | REGEXP) {
            return self.text_like(start, self.at, core, false, sink);
        }
        self.at = self.wrapper(self.at, start, sink)?;
        self.push(Step::Bare, start);
        Ok(())
    }

    /// Emits the wrapper at `at`, and returns the place after it.
    fn wrapper<S: Sink + ?Sized>(
        &mut self,
        at: usize,
        start: usize,
        sink: &mut S,
    ) -> Result<usize> {
        let (name, end) = self.scanned.name(at + 1)?;
        let kind = match self.document[at] {
            EXTENDED => "extended",
            // How Ruby marks a hash that compares its keys by identity.
            _ if name == "Hash" && matches!(self.document[end], HASH | HASH_DEFAULT) => {
                self.begin_typed(sink, "identity", "", start)?;
                return Ok(end);
            }
            _ => "subclass",
        };
        self.begin_typed(sink, kind, &name, start)?;
        Ok(end)
    }

    /// Emits a string or a regular expression at `core`, after wrappers that begin at `wrappers`
    /// and before its `ivars`.
    fn text_like<S: Sink + ?Sized>(
        &mut self,
        start: usize,
        wrappers: usize,
        core: usize,
        ivars: bool,
        sink: &mut S,
    ) -> Result {
        let (raw, end) = skip::bytes(self.document, core + 1);
        let regexp = self.document[core] == REGEXP;
        let end = end + usize::from(regexp);
        let (encoding, after) = self.say_ivars(start, end, ivars, sink)?;
        let mut at = wrappers;
        while at < core {
            at = self.wrapper(at, start, sink)?;
        }
        if regexp {
            let options = regexp_options(self.document[end - 1]);
            self.begin_typed(sink, "regexp", &options, start)?;
        }
        self.text(raw, encoding, sink)?;
        self.at = after;
        Ok(())
    }

    /// Emits an object written by `_dump`, as the string, which can have an encoding and instance
    /// variables.
    fn dump<S: Sink + ?Sized>(&mut self, start: usize, ivars: bool, sink: &mut S) -> Result {
        if known::dump(self, ivars, sink)? {
            return Ok(());
        }
        let (name, end) = self.scanned.name(self.at + usize::from(ivars) + 1)?;
        self.begin_typed(sink, "dump", &name, start)?;
        let (raw, end) = skip::bytes(self.document, end);
        let (encoding, after) = self.say_ivars(start, end, ivars, sink)?;
        self.text(raw, encoding, sink)?;
        self.at = after;
        Ok(())
    }

    /// Opens a type for the instance variables of text at `at`, if it has any besides its encoding.
    /// Returns the encoding, and where to continue after the text.
    fn say_ivars<S: Sink + ?Sized>(
        &mut self,
        start: usize,
        at: usize,
        ivars: bool,
        sink: &mut S,
    ) -> Result<(Encoding<'d>, usize)> {
        if !ivars {
            return Ok((Encoding::None, at));
        }
        let found = self.scanned.ivars(at);
        let odd = found.odd && self.options.exact;
        if found.others == 0 && !odd {
            return Ok((found.encoding, found.at));
        }
        if self.can_drop(start) {
            let text = "the text without them";
            self.note(sink, LossKind::Type, "instance variables of text", text);
            return Ok((found.encoding, skip::ivars(self.document, at)));
        }
        self.begin_typed(sink, "ivars", "", start)?;
        self.begin_map(sink, 2, Step::EndMap)?;
        self.push(Step::Ivars { text: !odd }, 0);
        sink.key("value")?;
        Ok((if odd { Encoding::None } else { found.encoding }, at))
    }
}

/// Returns the options of a regular expression as letters: Ruby's own, `f` for a fixed encoding and
/// `n` for none.
fn regexp_options(bits: u8) -> String {
    match bits & !0x37 {
        0 => OPTIONS.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, letter)| letter).collect(),
        _ => bits.to_string(),
    }
}

/// Returns the bits for the letters of a regular expression, as Marshal writes them.
pub fn regexp_bits(options: &str) -> Option<u8> {
    if let Ok(bits) = options.parse() {
        return Some(bits);
    }
    options.chars().try_fold(0, |bits, letter| {
        let (bit, _) = OPTIONS.iter().find(|(_, known)| *known == letter)?;
        (bits & bit == 0).then_some(bits | bit)
    })
}

/// `Regexp::MULTILINE`, `IGNORECASE`, `EXTENDED`, `FIXEDENCODING`, `NOENCODING`.
const OPTIONS: [(u8, char); 5] = [(4, 'm'), (1, 'i'), (2, 'x'), (16, 'f'), (32, 'n')];

/// The bit of [`regexp_bits`] that restricts matching to text of this encoding.
pub(super) const FIXED_ENCODING: u8 = 16;
