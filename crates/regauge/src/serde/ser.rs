//! The serializer: the events of a value, as it comes, into a sink. No tree is built.

use ::serde::ser::{self, Impossible, Serialize};

use super::value::{KEY, VALUE, taken};
use crate::model::limits::Limits;
use crate::model::number;
use crate::model::path::Step;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Sink};
use crate::policy::tree::Builder;
use crate::{Error, ErrorKind, Result};

/// Drives a sink with what Rust's types say about themselves: a writer, a
/// [`Tape`](crate::sinks::tape::Tape), a [`Shape`](crate::sinks::shape::Shape), or one of your own.
///
/// ```
/// use regauge::{serde::Serializer, sinks::tape::Tape};
/// use serde::Serialize as _;
///
/// let mut tape = Tape::new();
/// [Some(1), None].serialize(Serializer::new(&mut tape))?;
/// assert_eq!(tape.events(), 4);
/// assert_eq!(tape.root().unwrap().to_value().to_string(), "[1,null]");
/// # Ok::<(), regauge::Error>(())
/// ```
pub struct Serializer<'s, S: ?Sized> {
    sink: &'s mut S,
    form: Form,
}

#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Whether keys that are integers and truth values become text.
    pub(super) text_keys: bool,
    /// Whether types that have a form for people and one for machines are written in the former.
    pub(super) human_readable: bool,
    /// The same for keys.
    pub(super) readable_keys: bool,
}

impl Form {
    /// Returns the form of a value without a format.
    fn of_values(human_readable: bool) -> Form {
        Form { text_keys: false, human_readable, readable_keys: human_readable }
    }
}

impl<'s, S: Sink + ?Sized> Serializer<'s, S> {
    /// Writes into `sink`, which is human-readable as far as types ask for it.
    pub fn new(sink: &'s mut S) -> Serializer<'s, S> {
        Serializer::with(sink, Form::of_values(true))
    }

    pub(super) fn with(sink: &'s mut S, form: Form) -> Serializer<'s, S> {
        Serializer { sink, form }
    }

    fn again(&mut self) -> Serializer<'_, S> {
        Serializer { sink: self.sink, form: self.form }
    }

    /// A map of one key, which has to be ended.
    fn begin_variant(&mut self, variant: &str) -> Result {
        self.sink.begin_map(Some(1))?;
        self.sink.key(variant)
    }

    fn wide(self, negative: bool, magnitude: u128) -> Result {
        let magnitude = number::to_magnitude(magnitude);
        self.sink.big_int(BigInt::Binary { negative, magnitude: &magnitude })
    }
}

/// Integers that always fit `i64`.
macro_rules! small {
    ($($method:ident $integer:ty,)*) => {$(
        fn $method(self, v: $integer) -> Result {
            self.sink.i64(v.into())
        }
    )*};
}

impl<'s, S: Sink + ?Sized> ser::Serializer for Serializer<'s, S> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'s, S>;
    type SerializeTuple = Compound<'s, S>;
    type SerializeTupleStruct = Compound<'s, S>;
    type SerializeTupleVariant = Compound<'s, S>;
    type SerializeMap = Compound<'s, S>;
    type SerializeStruct = Compound<'s, S>;
    type SerializeStructVariant = Compound<'s, S>;

    fn serialize_bool(self, v: bool) -> Result {
        self.sink.bool(v)
    }
    small! {
        serialize_i8 i8,
        serialize_i16 i16,
        serialize_i32 i32,
        serialize_u8 u8,
        serialize_u16 u16,
        serialize_u32 u32,
    }
    fn serialize_i64(self, v: i64) -> Result {
        self.sink.i64(v)
    }
    fn serialize_i128(self, v: i128) -> Result {
        match (i64::try_from(v), u64::try_from(v)) {
            (Ok(v), _) => self.sink.i64(v),
            (_, Ok(v)) => self.sink.u64(v),
            _ => self.wide(v < 0, v.unsigned_abs()),
        }
    }
    fn serialize_u64(self, v: u64) -> Result {
        match i64::try_from(v) {
            Ok(v) => self.sink.i64(v),
            Err(_) => self.sink.u64(v),
        }
    }
    fn serialize_u128(self, v: u128) -> Result {
        match u64::try_from(v) {
            Ok(v) => self.serialize_u64(v),
            Err(_) => self.wide(false, v),
        }
    }
    fn serialize_f32(self, v: f32) -> Result {
        self.sink.f32(v)
    }
    fn serialize_f64(self, v: f64) -> Result {
        self.sink.f64(v)
    }
    fn serialize_char(self, v: char) -> Result {
        self.sink.str(v.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, v: &str) -> Result {
        self.sink.str(v)
    }
    fn serialize_bytes(self, v: &[u8]) -> Result {
        self.sink.bytes(v)
    }
    fn serialize_none(self) -> Result {
        self.sink.null()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result {
        v.serialize(self)
    }
    fn serialize_unit(self) -> Result {
        self.sink.null()
    }
    fn serialize_unit_struct(self, _name: &'static str) -> Result {
        self.sink.null()
    }
    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result {
        self.sink.str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, v: &T) -> Result {
        if name == VALUE {
            return taken(v)?.drive(self.sink);
        }
        refuse_private(name)?;
        v.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        v: &T,
    ) -> Result {
        self.begin_variant(variant)?;
        v.serialize(self.again()).map_err(|error| error.below(Step::Key(variant.into())))?;
        self.sink.end_map()
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<Compound<'s, S>> {
        self.sink.begin_array(len.map(|len| len as u64))?;
        Ok(Compound { inner: self, index: 0, variant: None })
    }
    fn serialize_tuple(self, len: usize) -> Result<Compound<'s, S>> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Compound<'s, S>> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_variant(
        mut self,
        name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Compound<'s, S>> {
        refuse_private(name)?;
        self.begin_variant(variant)?;
        self.sink.begin_array(Some(len as u64))?;
        Ok(Compound { inner: self, index: 0, variant: Some(variant) })
    }
    fn serialize_map(self, len: Option<usize>) -> Result<Compound<'s, S>> {
        self.sink.begin_map(len.map(|len| len as u64))?;
        Ok(Compound { inner: self, index: 0, variant: None })
    }
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Compound<'s, S>> {
        refuse_private(name)?;
        self.serialize_map(Some(len))
    }
    fn serialize_struct_variant(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Compound<'s, S>> {
        self.begin_variant(variant)?;
        self.sink.begin_map(Some(len as u64))?;
        Ok(Compound { inner: self, index: 0, variant: Some(variant) })
    }

    fn is_human_readable(&self) -> bool {
        self.form.human_readable
    }
}

/// Refuses types that only the serializer of their own library understands: raw JSON and exact numbers of serde_json,
/// times of toml, tags of ciborium. Their private notation would be written as data.
fn refuse_private(name: &str) -> Result {
    if name.starts_with(['$', '@']) { refuse_marked(name) } else { Ok(()) }
}

#[cold]
fn refuse_marked(name: &str) -> Result {
    let (library, what) = match name {
        "$serde_json::private::RawValue" => ("serde_json", "a raw value"),
        "$serde_json::private::Number" => ("serde_json", "a number of any precision"),
        "@@TAG@@" | "@@TAGGED@@" | "@@UNTAGGED@@" | "@@ST@@" => ("ciborium", "a tag"),
        _ if name.starts_with("$__toml_private") => ("toml", "a date or time"),
        _ => return Ok(()),
    };
    let message = format!("found {what} of {library}, which only {library} writes");
    Err(Error::new(ErrorKind::Unsupported, message)
        .hint("use a field of the type regauge::Value, which holds what serde's model lacks"))
}

/// An array or a map that is open.
pub struct Compound<'s, S: ?Sized> {
    inner: Serializer<'s, S>,
    /// The index of the next element.
    index: u64,
    /// The variant of an enum whose map stands around this one.
    variant: Option<&'static str>,
}

impl<S: Sink + ?Sized> Compound<'_, S> {
    fn element<T: Serialize + ?Sized>(&mut self, v: &T) -> Result {
        match v.serialize(self.inner.again()) {
            Ok(()) => {
                self.index += 1;
                Ok(())
            }
            Err(error) => Err(self.placed(error, Step::Index(self.index))),
        }
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, v: &T) -> Result {
        let result = self.inner.sink.key(key).and_then(|()| v.serialize(self.inner.again()));
        result.map_err(|error| self.placed(error, Step::Key(key.into())))
    }

    #[cold]
    fn placed(&self, error: Error, step: Step) -> Error {
        let error = error.below(step);
        match self.variant {
            Some(variant) => error.below(Step::Key(variant.into())),
            None => error,
        }
    }

    fn end_array(self) -> Result {
        self.inner.sink.end_array()?;
        self.end_variant()
    }

    fn end_map(self) -> Result {
        self.inner.sink.end_map()?;
        self.end_variant()
    }

    fn end_variant(self) -> Result {
        match self.variant {
            Some(_) => self.inner.sink.end_map(),
            None => Ok(()),
        }
    }
}

macro_rules! compound {
    ($($of:ident: $method:ident($($key:ident: $key_type:ty)?) = $does:ident, $end:ident;)*) => {$(
        impl<S: Sink + ?Sized> ser::$of for Compound<'_, S> {
            type Ok = ();
            type Error = Error;
            #[inline]
            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($key: $key_type,)?
                v: &T,
            ) -> Result {
                self.$does($($key,)? v)
            }
            #[inline]
            fn end(self) -> Result {
                self.$end()
            }
        }
    )*};
}
compound! {
    SerializeSeq: serialize_element() = element, end_array;
    SerializeTuple: serialize_element() = element, end_array;
    SerializeTupleStruct: serialize_field() = element, end_array;
    SerializeTupleVariant: serialize_field() = element, end_array;
    SerializeStruct: serialize_field(key: &'static str) = field, end_map;
    SerializeStructVariant: serialize_field(key: &'static str) = field, end_map;
}

impl<S: Sink + ?Sized> ser::SerializeMap for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result {
        let Serializer { sink, form } = &mut self.inner;
        match key.serialize(KeySerializer { sink: &mut **sink, form: *form }) {
            Ok(()) => Ok(()),
            Err(NoKey::Failed(error)) => Err(error),
            Err(NoKey::Whole) => {
                let key = value_of(key, form.readable_keys)?;
                key.check_key()?;
                sink.key_value(&key)
            }
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, v: &T) -> Result {
        v.serialize(self.inner.again())
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        v: &V,
    ) -> Result {
        let result = self.serialize_key(key).and_then(|()| self.serialize_value(v));
        result.map_err(|error| {
            // A key that cannot be written has its text in the message.
            match value_of(key, true) {
                Ok(Value::Text(key)) => error.below(Step::Key(key.into())),
                Ok(key) => error.below(Step::Key(key.to_string().into())),
                Err(_) => error,
            }
        })
    }

    fn end(self) -> Result {
        self.end_map()
    }
}

/// Returns what a type says about itself, as a tree, in its form for people or in that for machines.
pub(super) fn value_of<T: Serialize + ?Sized>(v: &T, human_readable: bool) -> Result<Value> {
    let mut builder = Builder::new(&Limits::NONE);
    v.serialize(Serializer::with(&mut builder, Form::of_values(human_readable)))?;
    builder.take().ok_or_else(|| Error::new(ErrorKind::Data, "found a type without a value"))
}

/// Writes a key that is text, or that a format whose keys are text writes as text.
struct KeySerializer<'s, S: ?Sized> {
    sink: &'s mut S,
    form: Form,
}

/// Why a key was not written.
enum NoKey {
    Failed(Error),
    /// It has to be built first, and written whole.
    Whole,
}

impl From<Error> for NoKey {
    fn from(error: Error) -> NoKey {
        NoKey::Failed(error)
    }
}

impl ser::Error for NoKey {
    fn custom<T: std::fmt::Display>(message: T) -> NoKey {
        NoKey::Failed(ser::Error::custom(message))
    }
}

impl std::error::Error for NoKey {}

impl std::fmt::Debug for NoKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::fmt::Display for NoKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoKey::Failed(error) => error.fmt(f),
            NoKey::Whole => f.write_str("a key that is not text"),
        }
    }
}

macro_rules! integers {
    ($($method:ident $integer:ty,)*) => {$(
        fn $method(self, v: $integer) -> Result<(), NoKey> {
            if self.form.text_keys {
                return Ok(self.sink.key(itoa::Buffer::new().format(v))?);
            }
            Ok(self.sink.key_value(&Value::from(v))?)
        }
    )*};
}

macro_rules! whole {
    ($($method:ident($($argument:ty),*) -> $ok:ty;)*) => {$(
        fn $method(self $(, _: $argument)*) -> Result<$ok, NoKey> {
            Err(NoKey::Whole)
        }
    )*};
}

impl<S: Sink + ?Sized> ser::Serializer for KeySerializer<'_, S> {
    type Ok = ();
    type Error = NoKey;
    type SerializeSeq = Impossible<(), NoKey>;
    type SerializeTuple = Impossible<(), NoKey>;
    type SerializeTupleStruct = Impossible<(), NoKey>;
    type SerializeTupleVariant = Impossible<(), NoKey>;
    type SerializeMap = Impossible<(), NoKey>;
    type SerializeStruct = Impossible<(), NoKey>;
    type SerializeStructVariant = Impossible<(), NoKey>;

    #[inline]
    fn serialize_str(self, v: &str) -> Result<(), NoKey> {
        Ok(self.sink.key(v)?)
    }
    fn serialize_char(self, v: char) -> Result<(), NoKey> {
        Ok(self.sink.key(v.encode_utf8(&mut [0; 4]))?)
    }
    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), NoKey> {
        Ok(self.sink.key(variant)?)
    }
    fn serialize_bool(self, v: bool) -> Result<(), NoKey> {
        if self.form.text_keys {
            return Ok(self.sink.key(if v { "true" } else { "false" })?);
        }
        Ok(self.sink.key_value(&Value::Bool(v))?)
    }

    integers! {
        serialize_i8 i8,
        serialize_i16 i16,
        serialize_i32 i32,
        serialize_i64 i64,
        serialize_i128 i128,
        serialize_u8 u8,
        serialize_u16 u16,
        serialize_u32 u32,
        serialize_u64 u64,
        serialize_u128 u128,
    }

    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<(), NoKey> {
        v.serialize(self)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        v: &T,
    ) -> Result<(), NoKey> {
        // What a `Value` says to be an integer never becomes text without the policy.
        if name == KEY || name == VALUE { Err(NoKey::Whole) } else { v.serialize(self) }
    }

    whole! {
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _v: &T,
    ) -> Result<(), NoKey> {
        Err(NoKey::Whole)
    }

    fn is_human_readable(&self) -> bool {
        self.form.readable_keys
    }
}
