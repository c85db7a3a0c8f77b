//! Decodes bytes to objects.

use regauge::codec::{Codec, Visitor};
use regauge::marshal::Marshal;
use regauge::notation::Unwrap;
use regauge::reader::{Parse, Reader};
use regauge::track::Tracker;
use regauge::{Error, Format, Sink, Source as _, excerpt};

use crate::build::Build;
use crate::errors::{Phase, exception};
use crate::marshal_load;
use crate::options::{Settings, word};
use crate::ruby::{self, NIL, Raise, VALUE};
use crate::scratch::{self, Scratch};

/// Returns the object of the single document in the string; for NDJSON, an array of all.
///
/// # Errors
/// A `DecodeError` or `LimitError` with its position; whatever a Ruby method raised.
pub fn load(string: VALUE, settings: &Settings) -> Result<VALUE, Raise> {
    let string = ruby::frozen_string(string);
    let value = load_bytes(ruby::bytes_of(string), settings)?;
    ruby::keep(string);
    Ok(value)
}

/// Returns the object of the single document in the bytes, which must stay pinned meanwhile.
///
/// # Errors
/// Those of `load`.
pub fn load_bytes(bytes: &[u8], settings: &Settings) -> Result<VALUE, Raise> {
    let rest = ruby::Rest::during(bytes.len())?;
    let scratch = scratch::take();
    let mut build = Build::new(&scratch, settings);
    let result = documents(bytes, settings, &scratch, &mut build);
    drop(rest);
    if let Some(jump) = build.jump {
        return Err(jump.into());
    }
    match result {
        Ok(()) => Ok(build.take()),
        Err(error) => {
            Err(exception(&explain(error, bytes, settings, build), settings.call(Phase::Decode)))
        }
    }
}

/// Returns the object of the single document in the bytes, if it is one of plain data.
///
/// # Errors
/// None about the document; those of the collector.
pub fn load_plain(bytes: &[u8], settings: &Settings) -> Result<Option<VALUE>, Raise> {
    let rest = ruby::Rest::during(bytes.len())?;
    let scratch = scratch::take();
    let mut build = Build::new(&scratch, settings);
    let result = documents(bytes, settings, &scratch, &mut build);
    drop(rest);
    if let Some(jump) = build.jump {
        return Err(jump.into());
    }
    if result.is_err() {
        build.reset();
        return Ok(None);
    }
    Ok(Some(build.take()))
}

/// Reads into the builder, with code compiled for it.
fn documents(
    bytes: &[u8],
    settings: &Settings,
    scratch: &Scratch,
    build: &mut Build<'_>,
) -> regauge::Result {
    let core = &settings.core;
    if core.unwraps() {
        return slowly(bytes, settings, build);
    }
    if core.from == Format::Marshal {
        return marshal(bytes, settings, scratch, build);
    }
    core.from.visit(Load { bytes, settings, sink: build })
}

/// Reads Marshal: plain data in one pass; other data with the parser of the document before, which had
/// the same options.
fn marshal(
    bytes: &[u8],
    settings: &Settings,
    scratch: &Scratch,
    build: &mut Build<'_>,
) -> regauge::Result {
    if marshal_load::is_possible(settings) {
        if let Some(value) = marshal_load::load(bytes, settings, scratch) {
            build.found(value);
            return Ok(());
        }
        build.reset();
    }
    let kept = if settings.usual { scratch.marshal.take() } else { None };
    let parser = kept.unwrap_or_else(|| Marshal::parser(&settings.core));
    let mut reader = Reader::from_slice(parser, bytes);
    one(&mut reader, bytes, build)?;
    if settings.usual {
        scratch.marshal.set(Some(reader.into_parser()));
    }
    Ok(())
}

/// Reads into any sink, through dynamic dispatch; out of the notation if the settings ask for that.
fn slowly(bytes: &[u8], settings: &Settings, sink: &mut dyn Sink) -> regauge::Result {
    match settings.core.unwraps() {
        true => settings.core.from.visit(LoadWrapped { bytes, settings, sink }),
        false => settings.core.from.visit(Load { bytes, settings, sink }),
    }
}

/// Reads the documents of some bytes into a sink, each out of the notation.
struct LoadWrapped<'l> {
    bytes: &'l [u8],
    settings: &'l Settings,
    sink: &'l mut dyn Sink,
}

impl Visitor for LoadWrapped<'_> {
    type Output = regauge::Result;

    fn visit<C: Codec>(self) -> regauge::Result {
        let core = &self.settings.core;
        let mut reader = Reader::from_slice(C::parser(core), self.bytes);
        if !matches!(C::FORMAT, Format::Ndjson | Format::Csv | Format::Tsv) {
            return one(&mut reader, self.bytes, &mut Unwrap::new(self.sink, &core.limits));
        }
        self.sink.begin_array(None)?;
        while reader.next(&mut Unwrap::new(&mut *self.sink, &core.limits))? {}
        self.sink.end_array()
    }
}

/// Reads the documents of some bytes into a sink.
struct Load<'l, S: ?Sized> {
    bytes: &'l [u8],
    settings: &'l Settings,
    sink: &'l mut S,
}

impl<S: Sink + ?Sized> Visitor for Load<'_, S> {
    type Output = regauge::Result;

    fn visit<C: Codec>(self) -> regauge::Result {
        let mut reader = Reader::from_slice(C::parser(&self.settings.core), self.bytes);
        match C::FORMAT {
            Format::Ndjson | Format::Csv | Format::Tsv => all(&mut reader, self.sink),
            _ if self.settings.plain.is_some_and(|plain| plain.documents) => {
                all(&mut reader, self.sink)
            }
            _ => one(&mut reader, self.bytes, self.sink),
        }
    }
}

/// Reads the single document of the bytes.
fn one<P: Parse, S: Sink + ?Sized>(
    reader: &mut Reader<'_, P>,
    bytes: &[u8],
    sink: &mut S,
) -> regauge::Result {
    if !reader.next(sink)? {
        // An empty YAML file still is a document.
        if P::FORMAT == Format::Yaml {
            return sink.null();
        }
        let error = Error::truncated("found no bytes, expected a value");
        return Err(error.at(0).in_format(P::FORMAT));
    }
    let end = reader.offset();
    if end == bytes.len() as u64 {
        return Ok(());
    }
    // Text may have trailing white space; anything else is an error.
    if P::FORMAT.is_text() && !reader.next(&mut Nothing::new())? {
        return Ok(());
    }
    let left = bytes.len() as u64 - end;
    Err(Error::syntax(format!(
        "found {left} trailing bytes after the value, expected the end of the input"
    ))
    .hint("call each to read several documents")
    .at(end)
    .in_format(P::FORMAT))
}

/// Reads all documents into an array.
fn all<P: Parse, S: Sink + ?Sized>(reader: &mut Reader<'_, P>, sink: &mut S) -> regauge::Result {
    sink.begin_array(None)?;
    while reader.next(sink)? {}
    sink.end_array()
}

/// Adds what a second pass finds: the path, the line and an excerpt.
#[cold]
fn explain(mut error: Error, bytes: &[u8], settings: &Settings, mut build: Build<'_>) -> Error {
    if error.path().is_none() {
        build.reset();
        build.quiet = true;
        let mut tracker = Tracker::new(&mut build);
        let _ = slowly(bytes, settings, &mut tracker);
        error = error.at_path(tracker.path());
    }
    located(error, bytes, settings.core.from)
}

/// Adds line, column and excerpt to the error.
pub fn located(error: Error, bytes: &[u8], format: Format) -> Error {
    let Some(offset) = error.offset() else { return error };
    match excerpt::place(bytes, offset, format.is_text()) {
        Ok(place) => {
            let error = error.with_excerpt(place.excerpt);
            match place.line_column {
                Some((line, column)) => error.at_line(line, column),
                None => error,
            }
        }
        Err(_) => error,
    }
}

/// Returns the string of a source: a string itself, everything that `read` returns, or the result
/// of `to_str`.
///
/// # Errors
/// A `TypeError`; whatever the methods raise.
pub fn source_string(source: VALUE) -> Result<VALUE, Raise> {
    if ruby::is_string(source) {
        return Ok(source);
    }
    let names = crate::names::names();
    if source != NIL {
        for method in [names.id_read, names.id_to_str] {
            if ruby::responds(source, method)? {
                let string = ruby::call(source, method, &[])?;
                if ruby::is_string(string) {
                    return Ok(string);
                }
            }
        }
    }
    Err(no_source(source))
}

/// Creates the `TypeError` for what is no source of bytes.
#[cold]
pub fn no_source(source: VALUE) -> Raise {
    let class = word(ruby::module_name(ruby::class_of(source)));
    let found = match source {
        NIL => "nil".to_owned(),
        _ => format!("an object of {}", class.as_deref().unwrap_or("a class without a name")),
    };
    ruby::type_error(&format!(
        "found {found}, expected a String, or an IO or the like whose method read returns one"
    ))
}

/// Returns the string in UTF-8 if it is text in another encoding, like json; a string of bytes, and
/// one of a format that is not text in UTF-8, stays as it is.
///
/// # Errors
/// Ruby's own, for a broken character or one without an equivalent.
pub fn in_utf8(string: VALUE, format: Format) -> Result<VALUE, Raise> {
    if !format.is_text() || format.is_marc() || !ruby::is_transcodable(string) {
        return Ok(string);
    }
    Ok(ruby::to_utf8(string)?)
}

/// Accepts events and ignores them.
pub struct Nothing(regauge::Fidelity);

impl Nothing {
    /// Creates a sink.
    pub fn new() -> Nothing {
        Nothing(regauge::Fidelity::new(regauge::OnLoss::Approximate, Format::Json))
    }
}

impl Sink for Nothing {
    fn null(&mut self) -> regauge::Result {
        Ok(())
    }
    fn bool(&mut self, _: bool) -> regauge::Result {
        Ok(())
    }
    fn i64(&mut self, _: i64) -> regauge::Result {
        Ok(())
    }
    fn u64(&mut self, _: u64) -> regauge::Result {
        Ok(())
    }
    fn f64(&mut self, _: f64) -> regauge::Result {
        Ok(())
    }
    fn str(&mut self, _: &str) -> regauge::Result {
        Ok(())
    }
    fn big_int(&mut self, _: regauge::BigInt<'_>) -> regauge::Result {
        Ok(())
    }
    fn begin_array(&mut self, _: Option<u64>) -> regauge::Result {
        Ok(())
    }
    fn end_array(&mut self) -> regauge::Result {
        Ok(())
    }
    fn begin_map(&mut self, _: Option<u64>) -> regauge::Result {
        Ok(())
    }
    fn key(&mut self, _: &str) -> regauge::Result {
        Ok(())
    }
    fn key_value(&mut self, _: &regauge::Value) -> regauge::Result {
        Ok(())
    }
    fn end_map(&mut self) -> regauge::Result {
        Ok(())
    }
    fn fidelity(&mut self) -> &mut regauge::Fidelity {
        &mut self.0
    }
}
