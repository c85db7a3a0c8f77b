//! Encodes objects as bytes.

use std::borrow::Cow;

use regauge::bson::extended::ToExtended;
use regauge::codec::{Codec, Visitor};
use regauge::notation::Escape;
use regauge::out::Out;
use regauge::{Format, Writer};

use crate::errors::{Phase, exception};
use crate::options::Settings;
use crate::ruby::{self, Jump, Raise, VALUE};
use crate::scratch;
use crate::walk::Walk;

/// Output buffers up to this size are kept for the next call.
const KEPT_BYTES: usize = 4 << 20;

/// Encodes an object as a string; for NDJSON and MARC, each element of an array is a document.
///
/// # Errors
/// An `EncodeError` or `LimitError` with the path; whatever a Ruby method raised.
pub fn dump(object: VALUE, settings: &Settings) -> Result<VALUE, Raise> {
    let scratch = scratch::take();
    let bytes = document_bytes(object, settings, scratch.out.take())?;
    let string = ruby::output(&bytes, settings.core.to.is_text());
    if bytes.capacity() <= KEPT_BYTES {
        scratch.out.set(bytes);
    }
    Ok(string)
}

/// Encodes an object as a string, if it is plain data.
///
/// # Errors
/// Whatever a Ruby method raised.
pub fn dump_plain(object: VALUE, settings: &Settings) -> Result<Option<VALUE>, Raise> {
    let scratch = scratch::take();
    let mut jump = None;
    let written = write(object, Out::reusing(scratch.out.take()), settings, &mut jump);
    if let Some(jump) = jump {
        return Err(jump.into());
    }
    let Ok(out) = written else { return Ok(None) };
    let bytes = finished(out, settings);
    let string = ruby::output(&bytes, settings.core.to.is_text());
    if bytes.capacity() <= KEPT_BYTES {
        scratch.out.set(bytes);
    }
    Ok(Some(string))
}

/// Encodes an object in the format, using the memory of `buffer`.
///
/// # Errors
/// Those of `dump`.
pub fn document_bytes(
    object: VALUE,
    settings: &Settings,
    buffer: Vec<u8>,
) -> Result<Vec<u8>, Raise> {
    let mut jump = None;
    match write(object, Out::reusing(buffer), settings, &mut jump) {
        Ok(out) => Ok(finished(out, settings)),
        Err(_) if jump.is_some() => Err(jump.map_or(Raise::Exception(ruby::NIL), Into::into)),
        Err(error) => {
            Err(exception(&error.in_format(settings.core.to), settings.call(Phase::Encode)))
        }
    }
}

/// Returns the bytes. A single JSON document in a string needs no newline.
fn finished(out: Out<'_>, settings: &Settings) -> Vec<u8> {
    let mut bytes = out.into_vec();
    if settings.core.to == Format::Json {
        bytes.truncate(bytes.trim_ascii_end().len());
    }
    bytes
}

fn write<'o>(
    object: VALUE,
    out: Out<'o>,
    settings: &Settings,
    jump: &mut Option<Jump>,
) -> regauge::Result<Out<'o>> {
    settings.core.visit_sized(Dump { object, out, settings, jump })
}

/// Writes an object in a format.
struct Dump<'d, 'o> {
    object: VALUE,
    out: Out<'o>,
    settings: &'d Settings,
    jump: &'d mut Option<Jump>,
}

impl<'o> Visitor for Dump<'_, 'o> {
    type Output = regauge::Result<Out<'o>>;

    fn visit<C: Codec>(self) -> Self::Output {
        let Dump { object, out, settings, jump } = self;
        let mut core = Cow::Borrowed(&settings.core);
        if C::FORMAT == Format::Cbor {
            // The tags that the Ruby side asks for are meant.
            core.to_mut().cbor.keep_tags = true;
        }
        let mut writer = C::writer(out, &core, core.fidelity());
        if let Some(form) = core.bson.extended_json.filter(|_| C::FORMAT.is_json()) {
            let mut writer = ToExtended::new(&mut writer, form);
            slowly(object, settings, &mut writer, jump)?;
        } else if core.wraps() || !const { is_hot(C::FORMAT) } {
            slowly(object, settings, &mut writer, jump)?;
        } else {
            documents(object, settings, &mut writer, jump)?;
        }
        Ok(C::into_out(writer))
    }
}

/// Whether the walk is compiled for the writer of a format. For the others it goes through dynamic
/// dispatch: records of MARC are written by `marc_dump`, and Ruby writes few pickles.
const fn is_hot(format: Format) -> bool {
    !format.is_marc() && !matches!(format, Format::Pickle | Format::Marshal)
}

/// Writes through dynamic dispatch, with the reversible notation if requested.
fn slowly(
    object: VALUE,
    settings: &Settings,
    writer: &mut dyn Writer,
    jump: &mut Option<Jump>,
) -> regauge::Result {
    if settings.core.wraps() {
        let mut escape: Box<dyn Writer + '_> = Box::new(Escape::new(writer));
        return documents(object, settings, &mut *escape, jump);
    }
    documents(object, settings, writer, jump)
}

fn documents<W: Writer + ?Sized>(
    object: VALUE,
    settings: &Settings,
    writer: &mut W,
    jump: &mut Option<Jump>,
) -> regauge::Result {
    use rb_sys::ruby_value_type::RUBY_T_ARRAY;
    let to = settings.core.to;
    let streams = to == Format::Ndjson || to.is_table() || to.is_marc();
    if streams && ruby::kind_of(object) == RUBY_T_ARRAY {
        let mut index = 0;
        while let Some(value) = ruby::array_get(object, index) {
            document(value, settings, writer, jump)
                .map_err(|error| error.in_record(index as u64 + 1))?;
            index += 1;
        }
    } else {
        document(object, settings, writer, jump)?;
    }
    writer.finish()
}

fn document<W: Writer + ?Sized>(
    object: VALUE,
    settings: &Settings,
    writer: &mut W,
    jump: &mut Option<Jump>,
) -> regauge::Result {
    let mut walk = Walk::new(writer, settings);
    let result = walk.document(object);
    *jump = walk.jump;
    result?;
    writer.end_document()
}
