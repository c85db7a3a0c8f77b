//! Rust's own types, from and to every format: [serde](https://serde.rs) over this library's
//! readers and writers. Needs the feature `serde`.
//!
//! ```
//! use regauge::Format;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, PartialEq, Debug)]
//! struct Point {
//!     x: i32,
//!     y: i32,
//! }
//!
//! let point: Point = regauge::serde::from_slice(br#"{"x": 1, "y": -2}"#, Format::Json)?;
//! let packed = regauge::serde::to_vec(&point, Format::Msgpack)?;
//! assert_eq!(packed, b"\x82\xa1x\x01\xa1y\xfe");
//! assert_eq!(regauge::serde::from_slice::<Point>(&packed, Format::Msgpack)?, point);
//! # Ok::<(), regauge::Error>(())
//! ```
//!
//! Every function takes a [`Format`], or [`Options`] with all that a conversion has: policies,
//! limits, and the options of each format. Reading looks at [`Options::from`] and writing at
//! [`Options::to`].
//!
//! # How Rust's types are written
//!
//! The same in every format, and as serde_json does it, except for `f32` and bytes:
//!
//! | Rust | document |
//! |---|---|
//! | struct | a map in the order of its fields; read from an array, too |
//! | tuple, tuple struct, `Vec` | an array |
//! | newtype struct, `Some`, `Box` | what is in it |
//! | `()`, unit struct, `None` | null |
//! | `E::Unit` | `"Unit"` |
//! | `E::Newtype(1)`, `E::Tuple(1, 2)`, `E::Struct { x: 1 }` | `{"Newtype": 1}`, `{"Tuple": [1, 2]}`, `{"Struct": {"x": 1}}` |
//! | `char` | text |
//! | integers to 128 bits | an integer; what is beyond the format's goes by the policy |
//! | `f32` | a single-precision number, or the double of the same value |
//! | bytes (`serde_bytes`) | binary data, where the format has it. `Vec<u8>` is an array to serde |
//! | a map's key | text, or any value, where the format has such keys. A type such as `IpAddr` is text in text formats and in BSON, and binary elsewhere. An integer or a truth value becomes text in JSON and BSON, and text is read as either where a type asks for it |
//!
//! # What serde's model lacks
//!
//! Points in time, decimals, extension types, integers beyond 128 bits, symbols, and classes and
//! tags around a value: [`Value`] has all of them, serde has none. So
//!
//! * a field of the type [`Value`] takes them as they are, and gives them back;
//! * a field that nobody reads may be anything, except in a struct with `flatten`, below;
//! * for any other type the policy decides, as in a conversion: [`OnLoss::Refuse`] is an error
//!   that names the value, [`OnLoss::Wrap`] gives the notation of [`crate::policy::fidelity`] (`{"$time":
//!   …}`), [`OnLoss::Approximate`] the nearest value (the text of a time). For classes, tags and
//!   symbols that is [`Options::objects`].
//!
//! A value that stands in several places is read again for each, within [`Limits::aliases`]; one
//! that holds itself is refused. Of several keys that are the same a struct refuses the second and
//! a `HashMap` keeps the last, unless [`Options::duplicate_keys`] refuses it.
//!
//! *Not kept*: serde itself reads what it buffers, which is all that `flatten`, `untagged` and
//! `tag = "…"` stand at, without telling what for. A `Value` in there goes by the policy.
//!
//! # Documents
//!
//! [`from_slice`] and [`from_reader`] read exactly one document, and [`Stream`] any number of them.
//! With [`Documents::Join`] all of them are read as one array. What is written is a whole file, so
//! JSON ends with a line break.
//!
//! A document is first read to a [`Tape`], whose memory is a small multiple of the document's. With
//! a [`Format`] in the place of options there is no limit on [`Limits::nodes`]: the input bounds it.

mod de;
mod error;
mod key;
mod lower;
mod node;
mod owned;
mod ser;
mod value;

use std::borrow::Cow;
use std::io::{Read, Write};
use std::marker::PhantomData;

use ::serde::Serialize;
use ::serde::de::{Deserialize, DeserializeOwned};

use crate::bytes::buffer::Out;
use crate::bytes::here::Here;
use crate::bytes::output::StreamOutput;
use crate::convert::{DuplicateKeys, Input, explain};
#[cfg(doc)]
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::policy::documents::{Documents, Duplicates};
use crate::policy::event::Sink;
use crate::policy::fidelity::OnLoss;
use crate::policy::track::Tracker;
use crate::sinks::memory::{Values, fill_tape, write_events};
use crate::sinks::tape::Tape;
use crate::{Error, ErrorKind, Format, Options, Result};

use de::TreeDeserializer;
use lower::Policy;
pub use ser::{Compound, Serializer};

/// The options for a format alone: strict in everything but the size of a document.
impl From<Format> for Cow<'_, Options> {
    fn from(format: Format) -> Self {
        let mut options = Options::new(format, format);
        options.limits.nodes = u64::MAX;
        Cow::Owned(options)
    }
}

impl<'o> From<&'o Options> for Cow<'o, Options> {
    fn from(options: &'o Options) -> Self {
        Cow::Borrowed(options)
    }
}

impl From<Options> for Cow<'_, Options> {
    fn from(options: Options) -> Self {
        Cow::Owned(options)
    }
}

/// Reads the one document of `bytes`.
///
/// A type that borrows text from the document is read with [`Decoded`].
///
/// # Errors
/// The reader's, with offset and line, and `Data` with the path of a value that is not what `T` asks
/// for:
///
/// ```
/// use regauge::{ErrorKind, Format, serde::from_slice};
///
/// let error = from_slice::<Vec<u8>>(b"[1, 256]", Format::Json).unwrap_err();
/// assert_eq!(error.to_string(), "json: at $[1]: found the integer 256, expected u8");
/// assert_eq!(error.kind(), ErrorKind::Data);
/// ```
pub fn from_slice<'o, T: DeserializeOwned>(
    bytes: &[u8],
    options: impl Into<Cow<'o, Options>>,
) -> Result<T> {
    read_one(Input::Bytes(bytes), &reading(options.into()))
}

/// As [`from_slice`], of a stream.
///
/// # Errors
/// As [`from_slice`].
#[allow(unsafe_code, reason = "the stream stays on this thread")]
pub fn from_reader<'o, T: DeserializeOwned>(
    read: impl Read,
    options: impl Into<Cow<'o, Options>>,
) -> Result<T> {
    // SAFETY: the reader that takes it is used and dropped in `read_one`, which starts no thread.
    let read = unsafe { Here::new(read) };
    read_one(Input::Once(Box::new(read)), &reading(options.into()))
}

/// As [`Decoded::open`] and [`Decoded::get`], without a move of what was read.
fn read_one<T: DeserializeOwned>(input: Input<'_>, options: &Options) -> Result<T> {
    let mut decoded = Decoded::empty(options);
    decoded.read(input, options)?;
    decoded.get()
}

/// Reads a value.
///
/// ```
/// use regauge::{Value, serde::from_value};
///
/// let value = Value::from([("x", 1), ("y", 2)]);
/// let map: std::collections::BTreeMap<String, i32> = from_value(&value)?;
/// assert_eq!(map["y"], 2);
/// # Ok::<(), regauge::Error>(())
/// ```
///
/// # Errors
/// `Data` and `Refused`, with the path.
pub fn from_value<'v, T: Deserialize<'v>>(value: &'v Value) -> Result<T> {
    T::deserialize(value)
}

/// Makes a value.
///
/// # Errors
/// Those that a `Serialize` of your own gives.
pub fn to_value<T: Serialize + ?Sized>(v: &T) -> Result<Value> {
    ser::value_of(v, true)
}

/// Writes one document.
///
/// # Errors
/// Those of the policy and of the writer, with the path of the value.
pub fn to_vec<'o, T: Serialize + ?Sized>(
    v: &T,
    options: impl Into<Cow<'o, Options>>,
) -> Result<Vec<u8>> {
    let options = options.into();
    let (_, out) = write_one(v, Out::reusing(Vec::with_capacity(128)), &options)?;
    Ok(out.into_vec())
}

/// Writes one document to a stream, and says what was not kept under [`OnLoss::Approximate`].
///
/// # Errors
/// As [`to_vec`], and `Io`.
pub fn to_writer<'o, T: Serialize + ?Sized>(
    write: impl Write,
    v: &T,
    options: impl Into<Cow<'o, Options>>,
) -> Result<crate::convert::Summary> {
    let options = options.into();
    let out = to_stream(write, &options);
    write_one(v, out, &options).map(|(summary, _)| summary)
}

/// Writes documents to a stream, and says what was not kept under [`OnLoss::Approximate`].
///
/// ```
/// let mut lines = Vec::new();
/// regauge::serde::to_writer_all(&mut lines, [(1, "a"), (2, "b")], regauge::Format::Ndjson)?;
/// assert_eq!(lines, b"[1,\"a\"]\n[2,\"b\"]\n");
/// # Ok::<(), regauge::Error>(())
/// ```
///
/// # Errors
/// As [`to_writer`].
pub fn to_writer_all<'o, T: Serialize>(
    write: impl Write,
    documents: impl IntoIterator<Item = T>,
    options: impl Into<Cow<'o, Options>>,
) -> Result<crate::convert::Summary> {
    let options = options.into();
    let out = to_stream(write, &options);
    let mut documents = documents.into_iter();
    let form = form_of(&options);
    let mut give = |sink: &mut dyn Sink| {
        let Some(document) = documents.next() else { return Ok(false) };
        document.serialize(Serializer::with(sink, form)).map(|()| true)
    };
    write_events(&mut give, out, &options).map(|(summary, _)| summary)
}

/// Returns a buffer of a stream, for a writer that is used and dropped on this thread.
#[allow(unsafe_code, reason = "the stream stays on this thread")]
fn to_stream<'w>(write: impl Write + 'w, options: &Options) -> Out<'w> {
    // SAFETY: both callers use and drop the writer that takes it themselves, and start no thread.
    let write = unsafe { Here::new(write) };
    Out::to_output(StreamOutput::new(write), options.limits.record_bytes)
}

fn write_one<'a, T: Serialize + ?Sized>(
    v: &T,
    out: Out<'a>,
    options: &Options,
) -> Result<(crate::convert::Summary, Out<'a>)> {
    let form = form_of(options);
    let mut left = Some(v);
    let mut give = |sink: &mut dyn Sink| {
        let Some(v) = left.take() else { return Ok(false) };
        v.serialize(Serializer::with(sink, form)).map(|()| true)
    };
    write_events(&mut give, out, options)
}

fn form_of(options: &Options) -> ser::Form {
    // A type that has integers as keys reads them from text again, so that nothing is lost.
    let text_keys = match options.to {
        Format::Json | Format::Ndjson | Format::Bson => options.on_loss == OnLoss::Refuse,
        _ => false,
    };
    ser::Form {
        text_keys,
        human_readable: options.to.is_text(),
        readable_keys: has_readable_keys(options.to),
    }
}

/// Returns whether keys have the form for people, if their type has one: in text, and where all keys are text.
fn has_readable_keys(format: Format) -> bool {
    format.is_text() || format == Format::Bson
}

/// A document that was read, and from which types may borrow their text.
///
/// ```
/// use regauge::{Format, serde::Decoded};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct User<'a> {
///     name: &'a str,
/// }
///
/// let decoded = Decoded::from_slice(br#"{"name": "Ada \ud83d\ude00"}"#, Format::Json)?;
/// let user: User<'_> = decoded.get()?;
/// assert_eq!(user.name, "Ada 😀");
/// # Ok::<(), regauge::Error>(())
/// ```
#[derive(Debug)]
pub struct Decoded {
    tape: Tape,
    how: de::How,
    format: Format,
}

impl Decoded {
    /// Reads the one document of `bytes`.
    ///
    /// # Errors
    /// The reader's, with offset and line; `Data` for more than one document.
    pub fn from_slice<'o>(bytes: &[u8], options: impl Into<Cow<'o, Options>>) -> Result<Decoded> {
        Decoded::open(Input::Bytes(bytes), options)
    }

    fn open<'o>(input: Input<'_>, options: impl Into<Cow<'o, Options>>) -> Result<Decoded> {
        let options = reading(options.into());
        let mut decoded = Decoded::empty(&options);
        decoded.read(input, &options)?;
        Ok(decoded)
    }

    #[inline]
    fn empty(options: &Options) -> Decoded {
        let tape = Tape::bounded(&options.limits).without_references();
        let how = de::How {
            policy: Policy::of(options),
            human_readable: options.from.is_text(),
            readable_keys: has_readable_keys(options.from),
        };
        Decoded { tape, how, format: options.from }
    }

    /// Reads the one document of `input`.
    fn read(&mut self, input: Input<'_>, options: &Options) -> Result {
        let again = match &input {
            Input::Bytes(bytes) => Some(Input::Bytes(bytes)),
            _ => None,
        };
        read_document(input, options, &mut self.tape)
            .map_err(|error| explain(error, again, options))?;
        self.check(options)
    }

    /// Refuses or wraps in the document what the options say.
    fn check(&mut self, options: &Options) -> Result {
        if options.duplicate_keys != DuplicateKeys::Keep {
            self.tape = checked(&self.tape, options)?;
        }
        if self.how.policy.wraps() {
            self.tape = self.how.policy.wrap(&self.tape)?;
        }
        Ok(())
    }

    /// Reads the document as a type.
    ///
    /// # Errors
    /// `Data` and `Refused`, with the path.
    pub fn get<'t, T: Deserialize<'t>>(&'t self) -> Result<T> {
        let root = de::root(&self.tape)?;
        T::deserialize(TreeDeserializer::new(root, self.how))
            .map_err(|error| placed(error).in_format(self.format))
    }
}

/// What is wrong with the document as a whole is at its root.
#[cold]
fn placed(error: Error) -> Error {
    match error.path() {
        Some(_) => error,
        None => error.at_path(crate::Path::default()),
    }
}

/// The options for reading: what comes is no conversion, and least of all one from a format to
/// itself, which keeps what only that format has.
fn reading(mut options: Cow<'_, Options>) -> Cow<'_, Options> {
    if options.to != Format::Json {
        options.to_mut().to = Format::Json;
    }
    options
}

/// The one way in: reads a document, or all of them, through the table of formats.
fn read_document(input: Input<'_>, options: &Options, tape: &mut Tape) -> Result {
    if options.documents == Documents::Join {
        let mut values = Values::open(input, options)?;
        tape.begin_array(None)?;
        while values.next_tape(tape)? {}
        return tape.end_array();
    }
    match fill_tape(input, options, tape)? {
        0 => Err(Error::truncated("found no document").in_format(options.from)),
        1 => Ok(()),
        _ => {
            let message = "found more than one document, expected one";
            Err(Error::new(ErrorKind::Data, message)
                .in_format(options.from)
                .hint("read them one by one, or joined to an array"))
        }
    }
}

/// Refuses keys that occur twice.
fn checked(tape: &Tape, options: &Options) -> Result<Tape> {
    let mut checked = Tape::new();
    let mut tracker = Tracker::new(Duplicates::new(&mut checked, true));
    match tape.drive(&mut tracker) {
        Ok(()) => Ok(checked),
        Err(error) => Err(error.at_path(tracker.path()).in_format(options.from)),
    }
}

/// The documents of a stream, one after the other. Ends after an error.
///
/// ```
/// use regauge::{Format, convert::Input, serde::Stream};
///
/// let lines = Input::Bytes(b"[1, \"a\"]\n[2, \"b\"]\n");
/// let pairs: Result<Vec<(u32, String)>, _> = Stream::open(lines, Format::Ndjson)?.collect();
/// assert_eq!(pairs?, [(1, "a".to_owned()), (2, "b".to_owned())]);
/// # Ok::<(), regauge::Error>(())
/// ```
pub struct Stream<'a, T> {
    values: Option<Values<'a>>,
    decoded: Decoded,
    options: Options,
    records: u64,
    document: PhantomData<fn() -> T>,
}

impl<'a, T: DeserializeOwned> Stream<'a, T> {
    /// The documents of a stream of [`Options::from`].
    ///
    /// # Errors
    /// `Io`, when the input cannot be opened; `Unsupported` for options that only a conversion follows
    /// (`select`, `head`, `sample`, `skip_bad`).
    pub fn open<'o>(input: Input<'a>, options: impl Into<Cow<'o, Options>>) -> Result<Self> {
        let options = reading(options.into()).into_owned();
        let values = Some(Values::open(input, &options)?);
        let decoded = Decoded::empty(&options);
        Ok(Stream { values, decoded, options, records: 0, document: PhantomData })
    }

    fn read(&mut self, values: &mut Values<'a>) -> Result<Option<T>> {
        self.decoded.tape.clear();
        if !values.next_tape(&mut self.decoded.tape)? {
            return Ok(None);
        }
        self.records += 1;
        let plain = self.options.duplicate_keys == DuplicateKeys::Keep
            && self.options.on_loss != OnLoss::Wrap
            && self.options.resolved_objects() != crate::Objects::Wrap;
        let document = if plain {
            self.decoded.get()
        } else {
            let document = self.decoded.check(&self.options).and_then(|()| self.decoded.get());
            // What was checked is another tape, without the limits.
            self.decoded.tape = Tape::bounded(&self.options.limits).without_references();
            document
        };
        document.map(Some).map_err(|error| error.in_record(self.records))
    }
}

impl<T: DeserializeOwned> Iterator for Stream<'_, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        let mut values = self.values.take()?;
        let next = self.read(&mut values).transpose()?;
        if next.is_ok() {
            self.values = Some(values);
        }
        Some(next)
    }
}

impl<T> std::iter::FusedIterator for Stream<'_, T> where T: DeserializeOwned {}
