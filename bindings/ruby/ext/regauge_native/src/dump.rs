//! Encodes objects as bytes.

use regauge::bson::extended::ToExtended;
use regauge::out::Out;
use regauge::wrap::Escape;
use regauge::{Error, Fidelity, Format, Writer};
use regauge::{bson, cbor, json, marc, msgpack, pickle, yaml};

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
        Ok(out) => {
            let mut bytes = out.into_vec();
            // A single JSON document in a string needs no newline.
            if settings.core.to == Format::Json {
                bytes.truncate(bytes.trim_ascii_end().len());
            }
            Ok(bytes)
        }
        Err(_) if jump.is_some() => Err(jump.map_or(Raise::Exception(ruby::NIL), Into::into)),
        Err(error) => Err(exception(&error.in_format(settings.core.to), Phase::Encode)),
    }
}

fn write<'o>(
    object: VALUE,
    out: Out<'o>,
    settings: &Settings,
    jump: &mut Option<Jump>,
) -> regauge::Result<Out<'o>> {
    let core = &settings.core;
    let fidelity = Fidelity::new(core.on_loss, core.to).with_objects(core.resolved_objects());
    let plain = !core.wraps();
    match core.to {
        Format::Json | Format::Ndjson => {
            let mut write = core.json_write;
            write.lines = core.to == Format::Ndjson;
            let mut writer = json::Writer::new(out, write, fidelity);
            if let Some(form) = core.bson.extended_json {
                let mut writer = ToExtended::new(&mut writer, form);
                slowly(object, settings, &mut writer, jump)?;
            } else if plain {
                documents(object, settings, &mut writer, jump)?;
            } else {
                slowly(object, settings, &mut writer, jump)?;
            }
            Ok(writer.into_out())
        }
        Format::Msgpack if plain => {
            let mut writer = msgpack::Promised::new(out, fidelity);
            documents(object, settings, &mut writer, jump)?;
            Ok(writer.into_out())
        }
        // The notation's escapes change the number of pairs in a map.
        Format::Msgpack => {
            let mut writer = msgpack::Writer::new(out, fidelity);
            slowly(object, settings, &mut writer, jump)?;
            Ok(writer.into_out())
        }
        Format::Yaml => {
            let mut writer = yaml::Writer::new(out, core.yaml_write.clone(), fidelity);
            match plain {
                true => documents(object, settings, &mut writer, jump)?,
                false => slowly(object, settings, &mut writer, jump)?,
            }
            Ok(writer.into_out())
        }
        Format::Bson => {
            let mut writer = bson::Writer::new(out, core.bson.clone(), fidelity);
            match plain {
                true => documents(object, settings, &mut writer, jump)?,
                false => slowly(object, settings, &mut writer, jump)?,
            }
            Ok(writer.into_out())
        }
        Format::Cbor => {
            let mut options = core.cbor.clone();
            // Tags that the Ruby side asks for are intended.
            options.keep_tags = true;
            let mut writer = cbor::Writer::new(out, options, fidelity);
            match plain {
                true => documents(object, settings, &mut writer, jump)?,
                false => slowly(object, settings, &mut writer, jump)?,
            }
            Ok(writer.into_out())
        }
        Format::Pickle => {
            let mut writer = pickle::Writer::new(out, core.pickle.clone(), fidelity);
            slowly(object, settings, &mut writer, jump)?;
            Ok(writer.into_out())
        }
        Format::Marc => {
            let writer = marc::iso2709::Writer::new(out, core.marc.clone(), fidelity);
            let mut writer = writer.with_limits(&core.limits);
            slowly(object, settings, &mut writer, jump)?;
            Ok(writer.into_out())
        }
        Format::MarcXml => {
            let writer = marc::xml::Writer::new(out, core.marc.clone(), fidelity);
            let mut writer = writer.with_limits(&core.limits);
            slowly(object, settings, &mut writer, jump)?;
            Ok(writer.into_out())
        }
        Format::MarcJson => {
            let mut writer = marc::json::Writer::new(out, fidelity);
            slowly(object, settings, &mut writer, jump)?;
            Ok(writer.into_out())
        }
        _ => Err(Error::unrepresentable("Marshal has a separate writer")),
    }
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
    let streams = matches!(settings.core.to, Format::Ndjson) || settings.core.to.is_marc();
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
