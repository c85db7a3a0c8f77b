//! Builds Ruby objects from events.
//!
//! Values wait on a stack until their container ends, and then become an array or a hash in one
//! call: appending them one by one costs about twice as much. A container that an alias may refer
//! to while it is open is created when it begins, and filled when it ends.
//!
//! If you change this file: anything waiting must be on the stack, where the collector sees it,
//! before the next call into Ruby. Rare kinds of values are created on the Ruby side
//! (`lib/regauge/build.rb`), which gets only plain values.

mod events;

use regauge::fidelity::Fidelity;
use regauge::hint::Hint;
use regauge::options::Opt;
use regauge::{Error, ErrorKind, OnLoss, Origin, Result};

use crate::names::names;
use crate::options::{Settings, permitted};
use crate::plain::not_plain;
use crate::ruby::{self, Jump, NIL, VALUE};
use crate::scratch::Scratch;

/// An open item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Array,
    Map,
    /// A map whose pairs stay on the stack for the enclosing type.
    Pairs,
    /// An array or map created when it began: it is below its values.
    Early,
    /// A map that becomes a hash that compares its keys by identity.
    ById,
    /// An anchor with this number.
    Anchor(u64),
    /// A type: its name is below its value.
    Typed(Typed),
}

/// The type of an enclosed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Typed {
    /// An object with instance variables; it is on the stack after its name if an alias may refer
    /// to it.
    Object { early: bool },
    /// A hash that compares its keys by identity; it is on the stack after its name if an alias may
    /// refer to it.
    Identity { early: bool },
    /// The encoding of a string.
    Encoding,
    /// Instance variables of a value that is not a plain object.
    Variables,
    /// Anything else: its origin; the kind is on the stack after the name.
    Other(Origin),
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: Kind,
    /// The number of values below the container's.
    base: u32,
    /// Whether all keys are strings and symbols.
    plain: bool,
}

/// Builds the objects of consecutive documents.
pub struct Build<'a> {
    scratch: &'a Scratch,
    settings: &'a Settings,
    frames: Vec<Frame>,
    /// Whether the next container has to be created when it begins.
    early: bool,
    /// The number of open types [`Typed::Identity`].
    identities: u32,
    /// A non-local exit from a Ruby method.
    pub jump: Option<Jump>,
    /// Whether Ruby methods must not be called: the document is read for its error's path.
    pub quiet: bool,
    fidelity: Fidelity,
}

impl<'a> Build<'a> {
    /// Resets the state at the beginning of a document.
    pub fn new(scratch: &'a Scratch, settings: &'a Settings) -> Build<'a> {
        Build {
            scratch,
            settings,
            frames: Vec::new(),
            early: false,
            identities: 0,
            jump: None,
            quiet: false,
            fidelity: Fidelity::new(OnLoss::Approximate, settings.core.from),
        }
    }

    /// Returns the object of a complete document.
    pub fn take(&mut self) -> VALUE {
        let value = self.scratch.values.at(0);
        self.reset();
        value
    }

    /// Accepts the object of a complete document created elsewhere.
    pub fn found(&mut self, value: VALUE) {
        self.reset();
        self.scratch.values.push(value);
    }

    /// Discards the current document.
    pub fn reset(&mut self) {
        self.scratch.values.truncate(0);
        self.scratch.anchors.truncate(0);
        self.scratch.symbols.truncate(0);
        self.frames.clear();
        self.early = false;
        self.identities = 0;
    }

    #[inline(always)]
    fn push(&mut self, value: VALUE) -> Result {
        self.scratch.values.push(value);
        Ok(())
    }

    /// Adds an array of immediate values.
    #[inline(always)]
    fn simple_array(&mut self, values: &[VALUE]) -> Result {
        let array = ruby::array_of_simple(values);
        if self.settings.freeze {
            ruby::freeze(array);
        }
        self.push(array)
    }

    #[inline(always)]
    fn open(&mut self, kind: Kind) {
        let base = self.scratch.values.len() as u32;
        self.frames.push(Frame { kind, base, plain: true });
    }

    #[inline(always)]
    fn string(&mut self, string: VALUE) -> Result {
        if !self.settings.freeze {
            return self.push(string);
        }
        if self.settings.plain.is_some() {
            // The libraries whose documents these are make equal text one object.
            return self.push(ruby::interned_string(string));
        }
        ruby::freeze(string);
        self.push(string)
    }

    /// Pushes the result of a call into Ruby, replacing the stack from `base` on.
    fn called(&mut self, base: usize, result: std::result::Result<VALUE, Jump>) -> Result {
        // Not `rb_obj_freeze`: a Set has more to freeze than itself.
        let frozen = match result {
            Ok(value) if self.settings.freeze => {
                ruby::call(names().build, names().id_frozen, &[value])
            }
            result => result,
        };
        match frozen {
            Ok(value) => {
                self.scratch.values.truncate(base);
                self.push(value)
            }
            Err(jump) => self.jumped(jump),
        }
    }

    #[cold]
    fn jumped<T>(&mut self, jump: Jump) -> Result<T> {
        self.jump = Some(jump);
        Err(Error::new(ErrorKind::Io, "a method raised an exception"))
    }

    /// Adds a value that the Ruby side creates.
    #[cold]
    fn special(&mut self, kind: &str, arguments: &[VALUE]) -> Result {
        if self.quiet {
            return self.push(NIL);
        }
        let values = &self.scratch.values;
        let base = values.len();
        values.push(ruby::interned(kind));
        arguments.iter().for_each(|argument| values.push(*argument));
        let names = names();
        let dialect = self.settings.plain.filter(|plain| plain.converts());
        let maker = dialect.map_or(names.build, |plain| plain.values);
        let result = ruby::call(maker, names.id_ext, values.from(base));
        if matches!(&result, Ok(made) if *made == maker) {
            return Err(not_plain());
        }
        self.called(base, result)
    }

    /// Builds a hash from the pairs from `base` on.
    #[inline]
    fn hash(&mut self, hash: VALUE, base: usize, plain: bool) -> Result {
        let pairs = self.scratch.values.from(base);
        if let Err(jump) = ruby::hash_insert(hash, pairs, plain) {
            return self.jumped(jump);
        }
        if self.settings.core.duplicate_keys == regauge::convert::DuplicateKeys::Refuse
            && ruby::hash_size(hash) != pairs.len() / 2
        {
            return Err(self.duplicate(base));
        }
        if self.settings.freeze {
            ruby::freeze(hash);
        }
        Ok(())
    }

    /// Builds a hash from the pairs from `base` on, whose keys are text.
    #[inline]
    fn plain_hash(&mut self, base: usize) -> Result<VALUE> {
        if let Some(plain) = self.settings.plain
            && plain.hash != NIL
        {
            return Ok(ruby::as_hash_class(plain_hash(self.scratch, base), plain.hash));
        }
        if self.settings.core.duplicate_keys == regauge::convert::DuplicateKeys::Refuse {
            let hash = ruby::hash();
            self.hash(hash, base, true)?;
            ruby::keep(hash);
            return Ok(hash);
        }
        let hash = plain_hash(self.scratch, base);
        if self.settings.freeze {
            ruby::freeze(hash);
        }
        Ok(hash)
    }

    #[cold]
    fn duplicate(&self, base: usize) -> Error {
        let pairs = self.scratch.values.from(base);
        let text = |key: VALUE| crate::options::word(key);
        let keys: Vec<_> = pairs.iter().step_by(2).map(|key| text(*key)).collect();
        let twice = keys.iter().enumerate().find(|(at, key)| keys[..*at].contains(key));
        let shown = twice.and_then(|(_, key)| key.clone()).unwrap_or_default();
        Error::new(ErrorKind::Refused, format!("found the key {shown:?} a second time in one map"))
            .hint(Hint::set(Opt::DuplicateKeys, "keep").to("have the last"))
    }

    /// Returns the class of this name, if it is permitted.
    pub fn permitted(&self, name: VALUE) -> VALUE {
        if self.quiet { NIL } else { permitted(self.settings.permit, name) }
    }

    /// Creates an object of a permitted class, or an inert one.
    fn new_object(&mut self, name: VALUE) -> Result<VALUE> {
        let class = self.permitted(name);
        let names = names();
        let class = if class == NIL { names.object } else { class };
        match ruby::allocate(class) {
            Ok(object) if ruby::is_heap(object) && ruby::heap_kind(object) == T_OBJECT => {
                Ok(object)
            }
            Ok(_) => Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "found an object of {} with instance variables, but such objects cannot \
                     simply have them",
                    crate::options::word(name).unwrap_or_default()
                ),
            )),
            Err(jump) => self.jumped(jump),
        }
    }

    /// Checks that the stack from `base` on holds pairs whose keys are text: a document in the
    /// reversible notation can put any value into a type, and Marshal can use any symbol as a field
    /// name.
    fn check_fields(&mut self, base: usize) -> Result {
        let values = &self.scratch.values;
        let mut good = (values.len() - base).is_multiple_of(2);
        for index in (base..values.len()).step_by(2) {
            match ruby::text_of_key(values.at(index)) {
                Some(text) if good => values.set(index, text),
                _ => good = false,
            }
        }
        if good { Ok(()) } else { Err(no_fields()) }
    }

    /// Ends an object: its name is at `base - 1`, or before the object, followed by its pairs.
    fn end_object(&mut self, base: usize, early: bool) -> Result {
        self.check_fields(base)?;
        let values = &self.scratch.values;
        let start = base - 1 - usize::from(early);
        let name = values.at(start);
        let object = if early { values.at(base - 1) } else { self.new_object(name)? };
        // Below its pairs, where the collector sees it.
        let values = &self.scratch.values;
        values.set(base - 1, object);
        let names = names();
        if ruby::heap_class(object) == names.object {
            let hash = ruby::hash();
            values.push(hash);
            let end = values.len() - 1;
            let pairs = &values.from(base)[..end - base];
            if let Err(jump) = ruby::hash_insert(hash, pairs, true) {
                return self.jumped(jump);
            }
            if self.settings.freeze {
                ruby::freeze(hash);
            }
            ruby::set_variable(object, names.id_class_name, name);
            ruby::set_variable(object, names.id_kind, ruby::symbol("object"));
            ruby::set_variable(object, names.id_value, hash);
        } else {
            for index in (base..values.len()).step_by(2) {
                match self.scratch.keys.id(values.at(index)) {
                    Ok(id) => ruby::set_variable(object, id, values.at(index + 1)),
                    Err(jump) => return self.jumped(jump),
                }
            }
        }
        if self.settings.freeze {
            ruby::freeze(object);
        }
        self.scratch.values.truncate(start);
        self.push(object)
    }

    /// Ends a hash that compares its keys by identity: its name is at `base - 1`, or before the hash,
    /// followed by its pairs.
    #[cold]
    fn end_identity(&mut self, base: usize, early: bool) -> Result {
        self.identities -= 1;
        let values = &self.scratch.values;
        let start = base - 1 - usize::from(early);
        let count = values.len() - base;
        if count == 1 && !early && ruby::is_hash(values.at(base)) {
            // One with a default value, in which it is.
            let hash = values.at(base);
            if matches!(ruby::call(hash, names().id_by_identity, &[]), Ok(ruby::TRUE)) {
                values.truncate(start);
                return self.push(hash);
            }
        }
        if !count.is_multiple_of(2) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "found no map in a hash that compares its keys by identity",
            ));
        }
        let hash = if early { values.at(base - 1) } else { ruby::hash() };
        // Below its pairs, where the collector sees it.
        values.set(base - 1, hash);
        self.fill_by_identity(hash, base)?;
        self.scratch.values.truncate(start);
        self.push(hash)
    }

    /// Fills a hash that compares its keys by identity with the pairs from `base` on.
    fn fill_by_identity(&mut self, hash: VALUE, base: usize) -> Result {
        let values = &self.scratch.values;
        for index in (base..values.len()).step_by(2) {
            let key = values.at(index);
            // Equal keys are one object on the stack, because they come from a cache; those with
            // instance variables do not.
            let is_shared = ruby::is_string(key) && !ruby::has_extra_variables(key);
            let own = if is_shared { ruby::copy(key) } else { key };
            values.set(index, own);
            if is_shared && self.settings.freeze {
                ruby::freeze(own);
            }
        }
        if let Err(jump) = ruby::fill_by_identity(hash, values.from(base)) {
            return self.jumped(jump);
        }
        if self.settings.freeze {
            ruby::freeze(hash);
        }
        Ok(())
    }

    /// Returns whether the map that begins is the hash with a default value that compares its keys by
    /// identity: in a type `default`, under the key `hash`.
    #[cold]
    fn is_by_identity(&self) -> bool {
        let [.., outer, typed, map] = self.frames.as_slice() else { return false };
        let values = &self.scratch.values;
        matches!(outer.kind, Kind::Typed(Typed::Identity { .. }))
            && typed.kind == Kind::Typed(Typed::Other(Origin::Ruby))
            && map.kind == Kind::Map
            && crate::options::word(values.at(values.len() - 1)).as_deref() == Some("hash")
    }

    /// Ends a value with instance variables: `value`, the value, `ivars`, a hash.
    #[cold]
    fn end_variables(&mut self, base: usize) -> Result {
        self.check_fields(base)?;
        let values = &self.scratch.values;
        if values.len() - base != 4 || !ruby::is_hash(values.at(base + 3)) {
            return Err(no_fields());
        }
        let (mut value, variables) = (values.at(base + 1), values.at(base + 3));
        if is_inert(value) {
            return self.inert_variables(base);
        }
        if self.settings.freeze {
            // Frozen values accept no more variables.
            value = match ruby::call(value, names().id_dup, &[]) {
                Ok(copy) => copy,
                Err(jump) => return self.jumped(jump),
            };
            values.set(base + 1, value);
        }
        let mut failed = None;
        let mut good = true;
        ruby::each_pair(variables, |key, variable| {
            let Some(key) = ruby::text_of_key(key) else {
                good = false;
                return false;
            };
            let set = ruby::id_of(key).and_then(|id| {
                ruby::protect(|| {
                    ruby::set_variable(value, id, variable);
                    NIL
                })
            });
            failed = set.err();
            failed.is_none()
        });
        match failed {
            Some(jump) => self.jumped(jump),
            None if !good => Err(no_fields()),
            None => {
                if self.settings.freeze {
                    ruby::freeze(value);
                }
                self.scratch.values.truncate(base - 1);
                self.push(value)
            }
        }
    }

    /// Keeps the instance variables of what stands for a value of the document next to it, in a
    /// `Regauge::Marshal::Object` of the kind `ivars`: its own would be overwritten.
    fn inert_variables(&mut self, base: usize) -> Result {
        let (names, values) = (names(), &self.scratch.values);
        let (value, variables) = (values.at(base + 1), values.at(base + 3));
        let fields = ruby::hash();
        values.push(fields);
        let mut added = Ok(());
        ruby::each_pair(variables, |key, variable| {
            let Some(key) = ruby::text_of_key(key) else { return true };
            added = ruby::hash_insert(fields, &[key, variable], true);
            added.is_ok()
        });
        let whole = ruby::hash();
        let pairs = [values.at(base), value, values.at(base + 2), fields];
        let added = added.and_then(|()| ruby::hash_insert(whole, &pairs, true));
        if let Err(jump) = added {
            return self.jumped(jump);
        }
        if ruby::hash_size(fields) != ruby::hash_size(variables) {
            return Err(no_fields());
        }
        values.push(whole);
        let name = match ruby::heap_class(value) == names.object {
            true => ruby::variable(value, names.id_class_name),
            false => ruby::interned(""),
        };
        let object =
            match ruby::call(names.object, names.id_new, &[name, ruby::symbol("ivars"), whole]) {
                Ok(object) => object,
                Err(jump) => return self.jumped(jump),
            };
        if self.settings.freeze {
            [fields, whole, object].into_iter().for_each(ruby::freeze);
        }
        self.scratch.values.truncate(base - 1);
        self.push(object)
    }

    /// Ends any other type: its name, its kind and the value are at `base - 2` and up.
    #[cold]
    fn end_other(&mut self, base: usize, origin: Origin) -> Result {
        let start = base - 2;
        if self.quiet {
            self.scratch.values.truncate(start);
            return self.push(NIL);
        }
        let values = &self.scratch.values;
        let (name, kind, value) = (values.at(start), values.at(start + 1), values.at(base));
        // The classes, and the non-canonical numbers, of a Marshal document.
        let origin = ruby::interned(origin.name());
        values.push(origin);
        let names = names();
        let arguments = [origin, kind, name, value, self.settings.permit];
        let result = ruby::call(names.build, names.id_typed, &arguments);
        self.called(start, result)
    }
}

/// `T_OBJECT`.
const T_OBJECT: u32 = 1;
/// `T_CLASS`.
const T_CLASS: u32 = 2;
/// `T_MODULE`.
const T_MODULE: u32 = 3;

/// Returns whether a value stands for one of the document, or is a class of the program: a document
/// must not set its instance variables.
fn is_inert(value: VALUE) -> bool {
    let names = names();
    ruby::is_heap(value)
        && (matches!(ruby::heap_kind(value), T_CLASS | T_MODULE)
            || [names.object, names.typed, names.special].contains(&ruby::class_of(value)))
}

/// Builds a hash from the pairs from `base` on, whose keys are interned text or symbols; of
/// duplicate keys, the last wins.
#[inline]
pub fn plain_hash(scratch: &Scratch, base: usize) -> VALUE {
    let pairs = scratch.values.from(base);
    if let Some(hash) = scratch.shapes.hash(pairs) {
        return hash;
    }
    let hash = ruby::hash();
    ruby::hash_insert_plain(hash, pairs);
    scratch.shapes.learn(hash, pairs);
    ruby::keep(hash);
    hash
}

#[cold]
fn no_fields() -> Error {
    Error::new(ErrorKind::Syntax, "found an object whose fields are not a map from names to values")
}
