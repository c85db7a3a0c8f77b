//! Envelopes of frameworks, which conversions take off and put back.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use regauge::detect::{self, HEAD_BYTES};
use regauge::envelope::{self, Fact, Keys, Layer, Opened, Peeled, Tools};
use regauge::options::Envelopes;
use regauge::{Format, Options, Value};
use regauge_packing::{Secrets, Values};

use crate::convert::{format_of, format_symbol, table};
use crate::errors::{Phase, exception};
use crate::load::source_string;
use crate::options::Settings;
use crate::ruby::{self, Raise, VALUE};

/// Returns whether [`peel`] may take something off of an input that begins with `head`.
pub fn may_peel(head: &[u8], is_whole: bool, named: Option<Format>, options: &Options) -> bool {
    envelope::may_peel(head, is_whole, named, options.envelope, options.secret.is_some())
}

/// Takes off what the options ask for. `told` is the format of the bytes, if one is known.
///
/// # Errors
/// A `DecodeError` if there is no envelope and one is asked for, or if it is broken.
pub fn peel(
    bytes: Vec<u8>,
    told: Option<Format>,
    options: &Options,
) -> Result<Option<Opened>, Raise> {
    let keys = Keys::of(options, &Secrets);
    let tools = Tools { limits: &options.limits, packer: &Values, keys };
    match envelope::peel(bytes, told, options.envelope, &tools) {
        Ok(Peeled::Opened(opened)) => Ok(Some(opened)),
        Ok(Peeled::Bare(_)) => Ok(None),
        Err(error) => Err(exception(&error, Phase::Convert)),
    }
}

/// Returns whether the output has the envelope of the input.
pub fn keeps(options: &Options) -> bool {
    options.envelope == Envelopes::Keep
}

/// Takes off the envelopes of a file. `wanted` returns the options for an input of this format.
///
/// # Errors
/// Those of [`peel`], and of reading the file.
pub fn of_file(
    path: &str,
    named: Option<Format>,
    wanted: impl Fn(Option<Format>) -> Result<Options, Raise>,
) -> Result<Option<Opened>, Raise> {
    let failed = |error: regauge::Error| exception(&error, Phase::Convert);
    let named = named.or_else(|| Format::from_name(&name_of(path)));
    let options = wanted(named)?;
    let head = head(path)?;
    if !may_peel(&head, head.len() < HEAD_BYTES, named, &options) {
        return Ok(None);
    }
    let file = File::open(path).map_err(|error| failed(error.into()))?;
    peel(envelope::read_all(file, &options.limits).map_err(failed)?, named, &options)
}

/// Returns the format of a file, from its name or its first bytes.
///
/// # Errors
/// A `DecodeError` if they contradict each other, an `ArgumentError` if neither tells it.
pub fn detected(path: &str) -> Result<VALUE, Raise> {
    let found = detect::detect(&name_of(path), &head(path)?)
        .map_err(|error| exception(&error, Phase::Decode))?;
    format_symbol(found)
}

fn name_of(path: &str) -> String {
    Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn head(path: &str) -> Result<Vec<u8>, Raise> {
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head))
        .map_err(|error| system_error(&error, path))?;
    Ok(head)
}

/// `Native.open_envelope(string, format, keywords)`: takes off every envelope; returns the bytes inside, their
/// format and the layers, or `nil` if there is no envelope. With a `secret:`, that is an error.
pub fn open_envelope(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[string, format, keywords] = arguments else {
        return Err(ruby::argument_error("open_envelope takes a string, a format and keywords"));
    };
    let mut options = Settings::converting(Format::Json, Format::Json).with(keywords)?.core;
    options.envelope = Envelopes::Open;
    let told = if format == ruby::NIL { None } else { Some(format_of(format)?) };
    let string = ruby::frozen_string(source_string(string)?);
    let bytes = ruby::bytes_of(string);
    if options.secret.is_none() && envelope::find_whole(bytes, told).is_none() {
        return Ok(ruby::NIL);
    }
    let opened = peel(bytes.to_vec(), told, &options);
    ruby::keep(string);
    let Some(opened) = opened? else { return Ok(ruby::NIL) };
    let layers = ruby::array(&[]);
    for one in &opened.layers {
        ruby::array_extend(layers, &[layer(one)?]);
    }
    let inside = ruby::output(&opened.bytes, opened.format.is_text());
    Ok(ruby::array(&[inside, symbol(opened.format), layers]))
}

fn layer(layer: &Layer) -> Result<VALUE, Raise> {
    let steps: Vec<_> = layer.steps.iter().map(|step| ruby::text(step)).collect();
    let names: Vec<_> = layer.facts.iter().map(|fact| fact.name.replace(' ', "_")).collect();
    let mut pairs = vec![
        ("name", ruby::text(layer.row.name)),
        ("title", ruby::text(layer.row.title)),
        ("steps", ruby::array(&steps)),
        ("holds", symbol(layer.format)),
    ];
    for (name, Fact { value, .. }) in names.iter().zip(&layer.facts) {
        let value = match value {
            Value::Timestamp(at) => ruby::time(at.seconds, at.nanoseconds),
            Value::Text(text) => ruby::text(text),
            Value::Int(number) => ruby::integer(*number),
            other => ruby::text(&other.to_string()),
        };
        pairs.push((name, value));
    }
    table(&pairs)
}

fn symbol(format: Format) -> VALUE {
    ruby::symbol(&format.name().replace('-', "_"))
}

/// Returns the exception for an error of the system about a file: that of `File.open`, such as
/// `Errno::ENOENT`.
pub fn system_error(error: &io::Error, path: &str) -> Raise {
    match error.raw_os_error().filter(|_| cfg!(unix)) {
        Some(number) => ruby::system_error(number, path),
        None => {
            let error = io::Error::new(error.kind(), format!("{path}: {error}"));
            exception(&error.into(), Phase::Convert)
        }
    }
}
