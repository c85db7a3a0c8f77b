//! Builds Ruby objects from events.
//!
//! Values wait on a stack until their container ends, and then become an array or a hash in one
//! call: appending them one by one costs about twice as much. A container that an alias may refer
//! to while it is open is created when it begins, and filled when it ends.
//!
//! If you change this file: anything waiting must be on the stack, where the collector sees it,
//! before the next call into Ruby. Rare kinds of values are created on the Ruby side
//! (`lib/regauge/build.rb`), which gets only plain values.

use regauge::event::ShortText;
use regauge::fidelity::Fidelity;
use regauge::hint::Hint;
use regauge::limits::Limit;
use regauge::options::Opt;
use regauge::{BigInt, Error, ErrorKind, Ext, OnLoss, Origin, Result, Sink, Type, Value};

use crate::names::names;
use crate::options::{Settings, permitted};
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
        if self.settings.freeze {
            ruby::freeze(string);
        }
        self.push(string)
    }

    /// Pushes the result of a call into Ruby, replacing the stack from `base` on.
    fn called(&mut self, base: usize, result: std::result::Result<VALUE, Jump>) -> Result {
        match result {
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
        let result = ruby::call(names.build, names.id_ext, values.from(base));
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

    /// Ends a value with instance variables: `value`, the value, `ivars`, a hash.
    #[cold]
    fn end_variables(&mut self, base: usize) -> Result {
        self.check_fields(base)?;
        let values = &self.scratch.values;
        if values.len() - base != 4 || !ruby::is_hash(values.at(base + 3)) {
            return Err(no_fields());
        }
        let (mut value, variables) = (values.at(base + 1), values.at(base + 3));
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

impl Sink for Build<'_> {
    #[inline]
    fn null(&mut self) -> Result {
        self.push(NIL)
    }
    #[inline]
    fn bool(&mut self, v: bool) -> Result {
        self.push(if v { ruby::TRUE } else { ruby::FALSE })
    }
    #[inline]
    fn i64(&mut self, v: i64) -> Result {
        self.push(ruby::integer(v))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.push(ruby::unsigned(v))
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        self.push(ruby::float(v))
    }
    #[inline]
    fn f64_pair(&mut self, x: f64, y: f64) -> Result {
        if let (Some(x), Some(y)) = (ruby::simple_float(x), ruby::simple_float(y))
            && !self.early
        {
            return self.simple_array(&[x, y]);
        }
        self.f64_array(&[x, y])
    }
    #[inline]
    fn f64_array(&mut self, values: &[f64]) -> Result {
        const FEW: usize = 4;
        let mut floats = [NIL; FEW];
        let mut are_simple = !self.early && values.len() <= FEW;
        for (place, v) in floats.iter_mut().zip(values) {
            match ruby::simple_float(*v) {
                Some(float) => *place = float,
                None => are_simple = false,
            }
        }
        if !are_simple {
            self.begin_array(Some(values.len() as u64))?;
            values.iter().try_for_each(|v| self.f64(*v))?;
            return self.end_array();
        }
        self.simple_array(&floats[..values.len()])
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        self.string(ruby::text(v))
    }
    #[inline]
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        self.string(ruby::utf8_string(v.as_str(), true))
    }
    #[inline]
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.string(ruby::binary(v))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        let value = match v {
            BigInt::Decimal { negative, digits } => {
                if digits.len() > self.settings.core.limits.integer_digits as usize {
                    return Err(Error::limit(format!(
                        "found an integer of {} digits, more than the limit of integer_digits",
                        digits.len()
                    ))
                    .hint(Hint::raise(Limit::IntegerDigits)));
                }
                ruby::decimal_integer(negative, digits)
            }
            BigInt::Binary { negative, magnitude } => ruby::big_integer(negative, magnitude),
        };
        self.push(value)
    }

    fn ext(&mut self, v: Ext<'_>) -> Result {
        let date = |v: &str| ruby::text(v);
        match v {
            Ext::Symbol(v) => self.push(self.scratch.keys.symbol(v)),
            Ext::Int64(v) => self.i64(v),
            Ext::Timestamp(at) => self.push(ruby::time(at.seconds, at.nanoseconds)),
            Ext::BrokenText(v) | Ext::Surrogates(v) => self.string(ruby::broken_text(v)),
            Ext::Decimal(v) => self.special("decimal", &[ruby::text(v)]),
            Ext::MsgpackExt(kind, v) => {
                self.special("msgpack", &[ruby::integer(kind.into()), ruby::binary(v)])
            }
            Ext::Date(v) => self.special("date", &[date(v)]),
            Ext::Time(v) => self.special("local_time", &[date(v)]),
            Ext::DateTime(v) => self.special("local_date_time", &[date(v)]),
            Ext::OffsetDateTime(v) => self.special("offset_date_time", &[date(v)]),
            Ext::Duration { seconds, nanoseconds } => self
                .special("duration", &[ruby::integer(seconds), ruby::integer(nanoseconds.into())]),
            Ext::Decimal128(v) => match regauge::decimal128::to_text(&v) {
                Some(text) => self.special("decimal128", &[ruby::text(&text), ruby::binary(&v)]),
                None => self.special("decimal128", &[NIL, ruby::binary(&v)]),
            },
            Ext::ObjectId(v) => self.special("object_id", &[ruby::binary(&v)]),
            Ext::Uuid(v) => self.special("uuid", &[ruby::binary(&v)]),
            Ext::Binary(subtype, v) => {
                self.special("binary", &[ruby::integer(subtype.into()), ruby::binary(v)])
            }
            Ext::Regex { pattern, options } => {
                self.special("regex", &[ruby::text(pattern), ruby::text(options)])
            }
            Ext::BsonTimestamp { seconds, increment } => self.special(
                "timestamp",
                &[ruby::integer(seconds.into()), ruby::integer(increment.into())],
            ),
            Ext::MinKey => self.special("min_key", &[]),
            Ext::MaxKey => self.special("max_key", &[]),
            Ext::Undefined => self.special("undefined", &[]),
            Ext::Code(v) => self.special("code", &[ruby::text(v)]),
            Ext::DbPointer { namespace, id } => {
                self.special("db_pointer", &[ruby::text(namespace), ruby::binary(&id)])
            }
            Ext::Simple(v) => self.special("simple", &[ruby::integer(v.into())]),
            Ext::Complex(real, imaginary) => {
                self.special("complex", &[ruby::float(real), ruby::float(imaginary)])
            }
            other => Err(Error::new(
                ErrorKind::Unsupported,
                format!("found {}, which has no object in Ruby", other.type_name()),
            )),
        }
    }

    #[inline]
    fn begin_array(&mut self, _len: Option<u64>) -> Result {
        if self.early {
            return self.begin_early(ruby::array(&[]));
        }
        self.open(Kind::Array);
        Ok(())
    }

    #[inline]
    fn end_array(&mut self) -> Result {
        let Frame { kind, base, .. } = self.frames.pop().expect("a reader begins before it ends");
        let base = base as usize;
        let values = &self.scratch.values;
        let array = if kind == Kind::Array {
            ruby::array(values.from(base))
        } else {
            let array = values.at(base - 1);
            ruby::array_extend(array, values.from(base));
            array
        };
        values.truncate(base - usize::from(kind != Kind::Array));
        if self.settings.freeze {
            ruby::freeze(array);
        }
        self.push(array)
    }

    #[inline]
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        if self.early {
            return self.begin_early(ruby::hash());
        }
        let pairs = matches!(
            self.frames.last(),
            Some(Frame { kind: Kind::Typed(Typed::Object { .. } | Typed::Variables), .. })
        );
        self.open(if pairs { Kind::Pairs } else { Kind::Map });
        Ok(())
    }

    #[inline]
    fn key(&mut self, k: &str) -> Result {
        let keys = &self.scratch.keys;
        let key = if self.settings.symbolize
            && !matches!(self.frames.last(), Some(Frame { kind: Kind::Pairs, .. }))
        {
            keys.symbol(k)
        } else {
            keys.string(k)
        };
        self.push(key)
    }

    fn key_value(&mut self, k: &Value) -> Result {
        if let Value::Ext(name) = k
            && let Ext::Symbol(name) = name.as_ext()
        {
            return self.push(self.scratch.keys.symbol(name));
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.plain = false;
        }
        k.drive(self)
    }

    #[inline]
    fn end_map(&mut self) -> Result {
        let frame = self.frames.pop().expect("a reader begins before it ends");
        let base = frame.base as usize;
        match frame.kind {
            Kind::Pairs => Ok(()),
            Kind::Early => {
                let hash = self.scratch.values.at(base - 1);
                self.hash(hash, base, frame.plain)?;
                self.scratch.values.truncate(base);
                Ok(())
            }
            _ => {
                let hash = if frame.plain {
                    self.plain_hash(base)?
                } else {
                    let hash = ruby::hash();
                    // If methods run, the hash has to be visible too: from this thread's stack.
                    self.hash(hash, base, false)?;
                    ruby::keep(hash);
                    hash
                };
                self.scratch.values.truncate(base);
                self.push(hash)
            }
        }
    }

    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        let early = std::mem::take(&mut self.early);
        let name = self.scratch.keys.string(t.name);
        self.push(name)?;
        let typed = match (t.origin, t.kind) {
            (Origin::Ruby, "object") if !is_structural(t.name) => {
                if early {
                    let object = self.new_object(name)?;
                    self.name_early(object);
                    self.push(object)?;
                }
                Typed::Object { early }
            }
            (Origin::Ruby, "encoding") => Typed::Encoding,
            (Origin::Ruby, "ivars") => Typed::Variables,
            (origin, kind) => {
                self.push(self.scratch.keys.string(kind))?;
                Typed::Other(origin)
            }
        };
        self.open(Kind::Typed(typed));
        Ok(())
    }

    fn end_typed(&mut self) -> Result {
        let frame = self.frames.pop().expect("a reader begins before it ends");
        let base = frame.base as usize;
        match frame.kind {
            Kind::Typed(Typed::Object { early }) => self.end_object(base, early),
            Kind::Typed(Typed::Encoding) => {
                let values = &self.scratch.values;
                let (name, string) = (values.at(base - 1), values.at(base));
                if !ruby::is_string(string) {
                    return Err(Error::new(ErrorKind::Syntax, "found an encoding of no text"));
                }
                let text = ruby::binary(ruby::bytes_of(string));
                ruby::keep(string);
                let encoding = std::ffi::CString::new(ruby::bytes_of(name)).unwrap_or_default();
                if !ruby::set_encoding(text, &encoding) {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        format!(
                            "found text in the encoding {encoding:?}, which Ruby does not know"
                        ),
                    ));
                }
                self.scratch.values.truncate(base - 1);
                self.string(text)
            }
            Kind::Typed(Typed::Variables) => self.end_variables(base),
            Kind::Typed(Typed::Other(origin)) => self.end_other(base, origin),
            _ => unreachable!("a reader ends what it began"),
        }
    }

    fn holds_references(&mut self) -> bool {
        true
    }

    fn begin_anchor(&mut self, id: u64) -> Result {
        self.open(Kind::Anchor(id));
        self.early = true;
        Ok(())
    }

    fn end_anchor(&mut self) -> Result {
        self.early = false;
        if let Some(Frame { kind: Kind::Anchor(id), .. }) = self.frames.pop() {
            let value = self.scratch.values.at(self.scratch.values.len() - 1);
            self.remember(id, value);
        }
        Ok(())
    }

    fn alias(&mut self, id: u64) -> Result {
        let anchors = &self.scratch.anchors;
        let at = id as usize;
        if at < anchors.len() && anchors.at(at) != ruby::UNDEF {
            return self.push(anchors.at(at));
        }
        Err(Error::new(
            ErrorKind::Unsupported,
            "found a value that contains itself, but that Ruby has to create as a whole",
        ))
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

#[cold]
fn no_fields() -> Error {
    Error::new(ErrorKind::Syntax, "found an object whose fields are not a map from names to values")
}

/// Types of objects that Marshal writes as objects, but that have no plain instance variables.
fn is_structural(name: &str) -> bool {
    name == "Range"
}

impl Build<'_> {
    /// Begins a container that an alias may refer to.
    #[cold]
    fn begin_early(&mut self, container: VALUE) -> Result {
        self.early = false;
        self.name_early(container);
        self.push(container)?;
        self.open(Kind::Early);
        Ok(())
    }

    fn name_early(&mut self, value: VALUE) {
        if let Some(Frame { kind: Kind::Anchor(id), .. }) = self.frames.last() {
            self.remember(*id, value);
        }
    }

    fn remember(&mut self, id: u64, value: VALUE) {
        let anchors = &self.scratch.anchors;
        while anchors.len() <= id as usize {
            anchors.push(ruby::UNDEF);
        }
        anchors.set(id as usize, value);
    }
}
