//! The part of the writer that turns the reader's types back into objects: types, anchors, text in
//! other encodings.
//!
//! Ruby puts `I` before a value that is followed by its encoding or instance variables, even before
//! its class and modules. So when a class has been written and its value turns out to be text, the
//! `I` is inserted where the value began; until the value is complete, what has been written of it
//! stays in memory.

mod text;

use super::counted::Kind;
use super::objects::regexp_bits;
use super::types::*;
use super::writer::{Anchored, Writer};
use crate::model::text::shorten;
use crate::model::value::Value;
use crate::policy::event::{Origin, Type};
use crate::policy::fidelity;
use crate::{Error, Result};

/// State that applies to the next value.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Part of the value has been written, at the `floor` of the buffer.
    begun: bool,
    /// The value is in a type of instance variables, which its encoding joins.
    bare: bool,
    /// A class or a module was written before the value.
    wrapped: bool,
    /// The value is the string of a `_dump`.
    payload: bool,
    /// The value is a regular expression with these options.
    regexp: Option<u8>,
    /// Text is in this encoding.
    encoding: Option<Box<str>>,
    expects: Expects,
}

/// What the next event must be.
#[derive(Debug, Default, PartialEq)]
enum Expects {
    #[default]
    Anything,
    /// Text or bytes.
    Text,
    /// The map of an object's fields.
    Fields,
    /// A map.
    Hash,
    /// The array of a set.
    Elements,
    /// This text, which has already been written.
    Name(Box<str>),
    /// Text or bytes of a symbol.
    Symbol,
    /// Bytes of a number.
    Raw,
    /// The map that holds a value and its extras.
    Wrapper(Kind),
    /// The next key of that map.
    Key,
    /// The map of a hash that has a default value.
    HashWithDefault,
    /// The map of instance variables.
    Ivars,
}

impl Expects {
    fn words(&self) -> &'static str {
        match self {
            Expects::Anything => "a value",
            Expects::Text => "text or bytes",
            Expects::Fields => "the map of its fields",
            Expects::Hash | Expects::HashWithDefault => "a map",
            Expects::Elements => "an array",
            Expects::Name(_) => "its name",
            Expects::Symbol => "text or bytes of a symbol",
            Expects::Raw => "the bytes of one number",
            Expects::Wrapper(Kind::Default) => "a map of `hash` and `default`",
            Expects::Wrapper(_) => "a map of `value` and `ivars`",
            Expects::Key => "a key",
            Expects::Ivars => "the map of instance variables",
        }
    }
}

/// An open type.
#[derive(Debug)]
pub(super) enum Frame {
    /// Nothing needs to be done at its end.
    Type,
    /// A `_dump`: the object gets its number at the end, and these anchors.
    Dump(Vec<u64>),
    /// Instance variables, and the encoding of the value in it.
    Ivars(Option<Box<str>>),
}

#[cold]
fn misfit(found: &str, expects: &Expects) -> Error {
    Error::unrepresentable(format!("found {found} in a Ruby type, expected {}", expects.words()))
}

impl Writer<'_> {
    /// Begins a value: writes the version before the first, and in a set the bytes after the
    /// previous element.
    fn start(&mut self) -> Result {
        if self.pending.begun {
            return Ok(());
        }
        self.begin_document()?;
        if self.counted.kind() == Kind::Set && self.counted.count > 0 {
            self.counted.room(1)?;
            self.counted.out.push(TRUE);
        }
        self.begin_here();
        Ok(())
    }

    /// Marks the place for whatever is inserted before the value.
    fn begin_here(&mut self) {
        self.pending.begun = true;
        self.counted.floor = self.counted.out.position();
    }

    /// Ends a value.
    fn clear(&mut self) {
        self.pending = Pending::default();
        self.counted.floor = u64::MAX;
        self.settle();
    }

    /// Updates `plain` after a container, a type or a value has ended.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.plain = self.counted.kind() != Kind::Set && self.named.is_empty();
    }

    fn misfit(&self, found: &str) -> Error {
        misfit(found, &self.pending.expects)
    }

    /// Prepares for a value that is neither text nor a container.
    #[inline(never)]
    pub(super) fn prepare(&mut self) -> Result {
        self.start()?;
        if self.pending.expects != Expects::Anything {
            return Err(self.misfit("a plain value"));
        }
        self.clear();
        Ok(())
    }

    /// Prepares for a value without a number: an alias of it becomes a copy.
    #[inline(never)]
    pub(super) fn prepare_leaf(&mut self, leaf: impl FnOnce() -> Value) -> Result {
        self.prepare()?;
        self.name_leaf(leaf);
        Ok(())
    }

    fn name_leaf(&mut self, leaf: impl FnOnce() -> Value) {
        if self.named.is_empty() {
            return;
        }
        let leaf = leaf();
        for id in std::mem::take(&mut self.named) {
            self.anchors.insert(id, Anchored::Leaf(leaf.clone()));
        }
        self.settle();
    }

    /// Attaches the open anchors to the object that gets the next number.
    pub(super) fn take_anchors(&mut self) {
        for id in std::mem::take(&mut self.named) {
            self.anchors.insert(id, Anchored::Object(self.objects));
        }
        self.settle();
    }

    /// Takes the anchors of an object that gets its number later.
    pub(super) fn detach_anchors(&mut self) -> Vec<u64> {
        let anchors = std::mem::take(&mut self.named);
        self.settle();
        anchors
    }

    /// Numbers an object.
    pub(super) fn register(&mut self, anchors: Vec<u64>) {
        for id in anchors {
            self.anchors.insert(id, Anchored::Object(self.objects));
        }
        self.objects += 1;
    }

    /// Begins an array with pending state. Returns whether it is written as an array.
    #[inline(never)]
    pub(super) fn prepare_array(&mut self, len: Option<u64>) -> Result<bool> {
        self.start()?;
        match self.pending.expects {
            Expects::Anything => {
                self.clear();
                self.take_anchors();
                self.plain = true;
                Ok(true)
            }
            Expects::Elements => {
                self.clear();
                self.counted.begin(Kind::Set, len, 0)?;
                self.plain = false;
                Ok(false)
            }
            _ => Err(self.misfit("an array")),
        }
    }

    pub(super) fn end_set(&mut self) -> Result {
        self.counted.room(2)?;
        if self.counted.count > 0 {
            self.counted.out.push(TRUE);
        }
        self.counted.out.push(FALSE);
        self.counted.end()?;
        self.settle();
        Ok(())
    }

    /// Begins a map with pending state. Returns the byte of the hash that it is written as, and the
    /// kind of its entries, or `None` if it has already begun.
    #[inline(never)]
    pub(super) fn prepare_map(&mut self, len: Option<u64>) -> Result<Option<(u8, Kind)>> {
        self.start()?;
        let kind = match std::mem::take(&mut self.pending.expects) {
            Expects::Anything => (HASH, Kind::Map),
            Expects::Hash => (HASH, Kind::IdentityMap),
            Expects::HashWithDefault => (HASH_DEFAULT, Kind::Map),
            Expects::Fields => {
                self.clear();
                self.counted.begin(Kind::Fields, len, 0)?;
                self.plain = true;
                return Ok(None);
            }
            Expects::Ivars => {
                let Some(Frame::Ivars(encoding)) = self.frames.last_mut() else {
                    return Err(misfit("a map", &Expects::Anything));
                };
                let encoding = encoding.take();
                self.clear();
                self.counted.begin(Kind::Fields, len, u64::from(encoding.is_some()))?;
                if let Some(encoding) = encoding {
                    self.encoding(&encoding)?;
                }
                self.plain = true;
                return Ok(None);
            }
            Expects::Wrapper(kind) => {
                self.counted.begin_silent(kind);
                self.pending.expects = Expects::Key;
                return Ok(None);
            }
            expects => return Err(misfit("a map", &expects)),
        };
        self.clear();
        self.take_anchors();
        self.plain = true;
        Ok(Some(kind))
    }

    /// Handles a key of a map of which only the values are written.
    #[cold]
    pub(super) fn special_key(&mut self, k: &str) -> Result {
        let (kind, count) = (self.counted.kind(), self.counted.count);
        self.plain = false;
        match (kind, k, count) {
            (Kind::Ivars, "value", 0) => {
                self.pending.expects = match self.pending.payload {
                    true => Expects::Text,
                    false => Expects::Anything,
                };
                self.pending.bare = true;
                Ok(())
            }
            (Kind::Ivars, "ivars", 1) => {
                self.pending.expects = Expects::Ivars;
                self.pending.begun = true;
                Ok(())
            }
            (Kind::Default, "hash", 0) => {
                self.pending.expects = Expects::HashWithDefault;
                Ok(())
            }
            (Kind::Default, "default", 1) => {
                self.settle();
                Ok(())
            }
            _ => Err(Error::unrepresentable(format!(
                "found the key {:?} in a Ruby type, expected {}",
                shorten(k),
                Expects::Wrapper(kind).words()
            ))),
        }
    }

    /// Writes a key that is not text, if symbols are expected.
    #[cold]
    pub(super) fn special_key_value(&mut self, k: &Value) -> Result {
        match k {
            Value::Ext(_) | Value::Typed(..) if self.counted.kind() == Kind::Fields => {
                let count = self.counted.count;
                let symbol = match k {
                    Value::Ext(v) => matches!(v.as_ext(), crate::Ext::Symbol(_)),
                    Value::Typed(t, _) => t.origin == Origin::Ruby && t.kind == "symbol",
                    _ => false,
                };
                if symbol {
                    k.drive(self)?;
                    self.counted.count = count;
                    return Ok(());
                }
            }
            _ => {}
        }
        Err(Error::unrepresentable(format!(
            "found a key that is {} in a Ruby type, expected text or a symbol",
            k.type_name()
        )))
    }

    pub(super) fn end_wrapper_map(&mut self) -> Result {
        if self.counted.count != 2 {
            return Err(misfit("a map that ends early", &Expects::Wrapper(self.counted.kind())));
        }
        self.counted.end_silent();
        Ok(())
    }

    /// Opens a type: natively if it is one of Ruby's.
    pub(super) fn begin_native(&mut self, t: &Type<'_>) -> Result {
        if t.origin != Origin::Ruby || !KINDS.contains(&t.kind) {
            return fidelity::begin_typed(self, t);
        }
        self.start()?;
        let fits = match self.pending.expects {
            Expects::Anything => true,
            Expects::Text => matches!(t.kind, "encoding" | "ivars"),
            Expects::Symbol => t.kind == "encoding",
            _ => false,
        };
        // A `_dump` has no room for instance variables except those of the string.
        let twice = self.pending.bare && matches!(t.kind, "ivars" | "symbol" | "raw");
        let dump = self.pending.bare && !self.pending.wrapped && t.kind == "dump";
        if !fits || twice || dump {
            return Err(self.misfit(&t.to_string()));
        }
        let mut frame = Frame::Type;
        match t.kind {
            "object" | "struct" => {
                self.head(if t.kind == "object" { OBJECT } else { STRUCT })?;
                self.number_now();
                self.text_symbol(t.name)?;
                self.pending =
                    Pending { begun: true, expects: Expects::Fields, ..Pending::default() };
            }
            "dump" => {
                frame = Frame::Dump(self.detach_anchors());
                self.head(USER_DUMP)?;
                self.text_symbol(t.name)?;
                self.pending.expects = Expects::Text;
                (self.pending.payload, self.pending.bare) = (true, false);
            }
            "marshal_dump" | "data" => {
                self.head(if t.kind == "data" { DATA } else { USER_MARSHAL })?;
                self.text_symbol(t.name)?;
                self.number_now();
                self.pending = Pending::default();
                self.begin_here();
            }
            "subclass" | "extended" => {
                self.head(if t.kind == "subclass" { USER_CLASS } else { EXTENDED })?;
                self.text_symbol(t.name)?;
                self.pending.wrapped = true;
            }
            "identity" => {
                self.head(USER_CLASS)?;
                self.text_symbol("Hash")?;
                self.pending.expects = Expects::Hash;
            }
            "default" => self.pending.expects = Expects::Wrapper(Kind::Default),
            "set" => {
                self.head(OBJECT)?;
                self.number_now();
                self.text_symbol(t.name)?;
                self.counted.room(1 + LONG_BYTES)?;
                self.long(1);
                self.text_symbol("@hash")?;
                self.head(HASH_DEFAULT)?;
                self.objects += 1;
                self.pending =
                    Pending { begun: true, expects: Expects::Elements, ..Pending::default() };
            }
            "class" | "module" | "class_or_module" => {
                let kind = match t.kind {
                    "class" => CLASS,
                    "module" => MODULE,
                    _ => MODULE_OLD,
                };
                self.sized(kind, t.name.as_bytes())?;
                self.number_now();
                self.pending.expects = Expects::Name(t.name.into());
            }
            "regexp" => {
                let Some(bits) = regexp_bits(t.name) else {
                    return Err(Error::unrepresentable(format!(
                        "found the options {:?} of a Ruby regular expression, expected letters of mixfn",
                        shorten(t.name)
                    )));
                };
                self.pending.regexp = Some(bits);
                self.pending.expects = Expects::Text;
            }
            "ivars" => {
                self.counted.insert(self.counted.floor, IVARS)?;
                frame = Frame::Ivars(None);
                self.pending.expects = Expects::Wrapper(Kind::Ivars);
            }
            "encoding" => {
                self.pending.encoding = Some(t.name.into());
                if self.pending.expects == Expects::Anything {
                    self.pending.expects = Expects::Text;
                }
            }
            "symbol" => self.pending.expects = Expects::Symbol,
            _ => self.pending.expects = Expects::Raw,
        }
        self.frames.push(frame);
        self.fidelity.hold_typed();
        self.plain = false;
        Ok(())
    }

    fn head(&mut self, kind: u8) -> Result {
        self.counted.room(1)?;
        self.counted.out.push(kind);
        Ok(())
    }

    /// Numbers the current object.
    fn number_now(&mut self) {
        self.take_anchors();
        self.objects += 1;
    }

    /// Closes a type.
    pub(super) fn end_native(&mut self) -> Result {
        if !self.fidelity.end_held() {
            return fidelity::end_typed(self);
        }
        if self.pending.begun {
            return Err(self.misfit("no value"));
        }
        if let Some(Frame::Dump(anchors)) = self.frames.pop() {
            self.register(anchors);
        }
        self.settle();
        Ok(())
    }

    /// Opens an anchor.
    pub(super) fn begin_named(&mut self, id: u64) -> Result {
        self.named.push(id);
        self.plain = false;
        self.fidelity.hold_typed();
        Ok(())
    }

    /// Closes an anchor.
    pub(super) fn end_named(&mut self) -> Result {
        self.fidelity.end_held();
        self.settle();
        Ok(())
    }

    /// Writes an alias: a link, or the value again.
    pub(super) fn refer(&mut self, id: u64) -> Result {
        match self.anchors.get(&id).cloned() {
            Some(Anchored::Object(object)) => {
                self.prepare()?;
                for id in std::mem::take(&mut self.named) {
                    self.anchors.insert(id, Anchored::Object(object));
                }
                self.settle();
                self.link(object)?;
                self.counted.count += 1;
                Ok(())
            }
            Some(Anchored::Leaf(value)) => value.drive(self),
            None => Err(Error::unrepresentable(format!(
                "found an alias of value {id}, which has not been written yet"
            ))),
        }
    }
}

/// The kinds of types that are written natively.
const KINDS: [&str; 18] = [
    "object",
    "struct",
    "dump",
    "marshal_dump",
    "data",
    "subclass",
    "extended",
    "identity",
    "default",
    "set",
    "class",
    "module",
    "class_or_module",
    "regexp",
    "ivars",
    "encoding",
    "symbol",
    "raw",
];
