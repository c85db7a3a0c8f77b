//! Converts bytes to bytes: without a block no object is built, so other threads run meanwhile.

use std::path::Path;
use std::sync::Arc;

use regauge::convert::{Input, Summary, convert};
use regauge::detect::{self, HEAD_BYTES};
use regauge::envelope::{self, Opened};
use regauge::hint::literals;
use regauge::options::{Language, OPTIONS};
use regauge::output::{FileOutput, Output as _, StreamOutput};
use regauge::reader::{BadRecord, Skipped};
use regauge::shape::Shape;
use regauge::stage::Stage;
use regauge::{Error, Format, Options};
use regauge_os::NewFile;
use regauge_packing::Values;

use crate::enveloped;
use crate::errors::{Phase, exception};
use crate::load::{in_utf8, source_string};
use crate::map::Map;
use crate::options::{Settings, word};
use crate::ruby::{self, Raise, VALUE};

/// Returns the format of a name.
///
/// # Errors
/// An `ArgumentError` that lists the valid names.
pub fn format_of(value: VALUE) -> Result<Format, Raise> {
    let name = word(value).unwrap_or_default();
    name.replace('_', "-")
        .parse()
        .or_else(|_| name.parse())
        .map_err(|message: String| ruby::argument_error(&message))
}

/// Returns the format that the caller names; `nil` for none.
fn named(from: VALUE) -> Result<Option<Format>, Raise> {
    if from == ruby::NIL { Ok(None) } else { format_of(from).map(Some) }
}

/// Returns the symbol of a format.
///
/// # Errors
/// An `ArgumentError` if there is none.
pub fn format_symbol(format: Option<Format>) -> Result<VALUE, Raise> {
    format
        .map(|format| ruby::symbol(format.name()))
        .ok_or_else(|| ruby::argument_error("cannot detect the format from the bytes: pass from:"))
}

/// Returns the options, before it is known what is in an envelope.
fn wanted(from: Option<Format>, to: VALUE, keywords: VALUE) -> Result<Options, Raise> {
    let to = format_of(to)?;
    Ok(Settings::converting(from.unwrap_or(to), to).with(keywords)?.core)
}

/// Puts the caller's function between reader and writer; `nil` for none.
fn mapped(settings: &mut Settings, given: [VALUE; 5]) -> Result<Option<Arc<Map>>, Raise> {
    let [from, to, keywords, function, omit] = given;
    if function == ruby::NIL {
        return Ok(None);
    }
    let map = Arc::new(Map::new(function, omit, self::settings(from, to, keywords)?));
    settings.core.stage = Some(Arc::clone(&map) as Arc<dyn Stage>);
    Ok(Some(map))
}

/// Runs a conversion: with the GVL if it calls a block, otherwise without.
fn run<R: Send>(
    map: Option<&Map>,
    act: impl FnOnce() -> regauge::Result<R> + Send,
) -> Result<R, Raise> {
    let result = match map {
        Some(_) => act(),
        None => ruby::without_lock(act)?,
    };
    result.map_err(|error| {
        map.and_then(Map::raised).unwrap_or_else(|| exception(&error, Phase::Convert))
    })
}

fn settings(from: VALUE, to: VALUE, keywords: VALUE) -> Result<Settings, Raise> {
    let (from, to) = (format_of(from)?, format_of(to)?);
    let mut settings = Settings::converting(from, to).with(keywords)?;
    // Between formats, objects are converted as far as possible.
    settings.core.marshal.inert = false;
    Ok(settings)
}

/// `Native.convert(string, from, to, keywords, function, omit)`: returns the bytes, and what was not
/// kept. Without `from`, the format is detected, or told by an envelope.
pub fn convert_string(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[string, from, to, keywords, function, omit] = arguments else {
        return Err(ruby::argument_error("convert takes a string, two formats and keywords"));
    };
    let string = source_string(string)?;
    let raw = ruby::bytes_of(string);
    let detected = Format::from_magic(&raw[..raw.len().min(HEAD_BYTES)]);
    let named = named(from)?;
    let string = match named.or(detected) {
        Some(format) => in_utf8(string, format)?,
        None => string,
    };
    let string = ruby::frozen_string(string);
    let bytes = ruby::bytes_of(string);
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let wanted = wanted(named.or(detected), to, keywords)?;
    let is_whole = head.len() == bytes.len();
    let opened = match enveloped::may_peel(head, is_whole, named, &wanted) {
        true => enveloped::peel(bytes.to_vec(), named.or(detected), &wanted)?,
        false => None,
    };
    let inside = opened.as_ref().map(|opened| opened.format);
    let from = format_symbol(named.or(inside).or(detected))?;
    let mut settings = settings(from, to, keywords)?;
    let map = mapped(&mut settings, [from, to, keywords, function, omit])?;
    let options = settings.core;
    let result = run(map.as_deref(), || {
        let mut bad = Vec::new();
        let on_bad = &mut |piece| {
            keep(&mut bad, piece);
            Ok(())
        };
        let (output, summary) = match &opened {
            Some(opened) => envelope::convert(opened, &options, &Values, on_bad)?,
            None => {
                let mut output = Vec::new();
                let stream = StreamOutput::new(&mut output);
                let summary = convert(Input::Bytes(bytes), stream, &options, on_bad)?;
                (output, summary)
            }
        };
        Ok((output, summary, bad))
    });
    ruby::keep(string);
    let (output, summary, bad) = result?;
    let is_text = options.to.is_text() && (opened.is_none() || !enveloped::keeps(&options));
    let output = ruby::output(&output, is_text);
    let report = report(&summary, &bad, &options)?;
    Ok(ruby::array(&[output, report]))
}

/// `Native.convert_file(input path, output path, from, to, keywords, function, omit)`: returns what was
/// not kept. Without `from`, the format is detected, or told by an envelope.
pub fn convert_file(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[input, output, from, to, keywords, function, omit] = arguments else {
        return Err(ruby::argument_error("convert_file takes two paths, two formats and keywords"));
    };
    let (input, output) = (word(input).unwrap_or_default(), word(output).unwrap_or_default());
    let named = named(from)?;
    let opened = enveloped::of_file(&input, named, |told| wanted(told, to, keywords))?;
    let inside = opened.as_ref().map(|opened| opened.format);
    let from = match named.or(inside) {
        Some(format) => format_symbol(Some(format))?,
        None => enveloped::detected(&input)?,
    };
    let mut settings = settings(from, to, keywords)?;
    let map = mapped(&mut settings, [from, to, keywords, function, omit])?;
    let options = settings.core;
    let new = NewFile::create(Path::new(&output))
        .map_err(|error| enveloped::system_error(&error, &output))?;
    let (summary, bad) = run(map.as_deref(), || files(&input, opened.as_ref(), new, &options))?;
    report(&summary, &bad, &options)
}

type Converted = (Summary, Vec<BadRecord>);

fn files(
    input: &str,
    opened: Option<&Opened>,
    new: NewFile,
    options: &Options,
) -> regauge::Result<Converted> {
    let open = || -> std::io::Result<Box<dyn std::io::Read + Send>> {
        Ok(Box::new(std::fs::File::open(input)?))
    };
    let mut to = FileOutput::new(new.file().try_clone()?)?;
    let mut bad = Vec::new();
    let on_bad = &mut |piece| {
        keep(&mut bad, piece);
        Ok(())
    };
    let summary = match opened {
        Some(opened) => {
            let (bytes, summary) = envelope::convert(opened, options, &Values, on_bad)?;
            to.write(&bytes)?;
            summary
        }
        None => convert(Input::Again(&open), to, options, on_bad)?,
    };
    new.commit()?;
    Ok((summary, bad))
}

/// Keeps the broken records that are listed: the first thousand.
fn keep(bad: &mut Vec<BadRecord>, piece: Skipped) {
    match (piece.error, bad.last_mut()) {
        (Some(error), _) => bad.push(BadRecord { error, bytes: piece.bytes }),
        (None, Some(last)) if piece.continues => last.bytes.extend(piece.bytes),
        (None, _) => {}
    }
}

/// Returns `{ documents:, bad_records:, bad_record_count:, losses: [{ kind:, count:, examples: […]
/// }], unmatched: [path, …] }`.
fn report(summary: &Summary, bad: &[BadRecord], options: &Options) -> Result<VALUE, Raise> {
    let list = ruby::array(&[]);
    for loss in summary.fidelity.losses() {
        let examples = ruby::array(&[]);
        for example in loss.examples.iter().take(10) {
            let path =
                example.path.as_ref().map_or(ruby::NIL, |path| ruby::text(&path.to_string()));
            let found = ruby::text(&example.found);
            let written = ruby::text(&example.written);
            let record = example.record.map_or(ruby::NIL, |v| ruby::integer(v as i64));
            let entry = table(&[
                ("path", path),
                ("record", record),
                ("found", found),
                ("written", written),
            ])?;
            ruby::array_extend(examples, &[entry]);
        }
        let entry = table(&[
            ("kind", ruby::symbol(loss.kind.name())),
            ("count", ruby::integer(loss.count as i64)),
            ("examples", examples),
        ])?;
        ruby::array_extend(list, &[entry]);
    }
    let skipped = ruby::array(&[]);
    for record in bad {
        ruby::array_extend(skipped, &[crate::stream::bad_record(record)?]);
    }
    let unmatched = ruby::array(&[]);
    for rule in summary.matches.unmatched(&options.select) {
        ruby::array_extend(unmatched, &[ruby::text(&rule.to_string())]);
    }
    table(&[
        ("documents", ruby::integer(summary.documents as i64)),
        ("bad_records", skipped),
        ("bad_record_count", ruby::integer(summary.bad_records as i64)),
        ("losses", list),
        ("unmatched", unmatched),
    ])
}

/// Builds a hash with symbol keys.
pub fn table(pairs: &[(&str, VALUE)]) -> Result<VALUE, Raise> {
    let hash = ruby::hash();
    for (name, value) in pairs {
        ruby::hash_insert(hash, &[ruby::symbol(name), *value], true)?;
    }
    Ok(hash)
}

/// `Native.inspect(string, format, keywords)`: describes the content.
pub fn inspect(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[string, format, keywords] = arguments else {
        return Err(ruby::argument_error("inspect takes a string, a format and keywords"));
    };
    let options = settings(format, format, keywords)?.core;
    let string = ruby::frozen_string(in_utf8(source_string(string)?, options.from)?);
    let bytes = ruby::bytes_of(string);
    let result = ruby::without_lock(|| {
        let mut shape = Shape::new(options.from);
        let mut none = |_| Ok(());
        regauge::convert::read(Input::Bytes(bytes), &options, &mut shape, &mut none)?;
        Ok::<_, Error>(shape)
    })?;
    ruby::keep(string);
    let shape = result.map_err(|error| exception(&error, Phase::Convert))?;
    let paths = ruby::array(&[]);
    for path in shape.paths() {
        let kinds = ruby::hash();
        for (kind, count) in path.kinds.seen() {
            let pair = [ruby::symbol(kind.name()), ruby::integer(count as i64)];
            ruby::hash_insert(kinds, &pair, true)?;
        }
        let entry = table(&[
            ("path", ruby::text(&path.path)),
            ("types", kinds),
            ("bytes", ruby::integer(path.bytes as i64)),
        ])?;
        ruby::array_extend(paths, &[entry]);
    }
    let types = ruby::array(&[]);
    for (kind, count) in shape.types().0 {
        let entry = table(&[
            ("type", ruby::text(&kind.as_type().to_string())),
            ("count", ruby::integer(count as i64)),
        ])?;
        ruby::array_extend(types, &[entry]);
    }
    table(&[
        ("format", ruby::symbol(options.from.name())),
        ("documents", ruby::integer(shape.documents() as i64)),
        ("depth", ruby::integer(shape.depth() as i64)),
        ("bytes", ruby::integer(shape.bytes() as i64)),
        ("duplicate_keys", ruby::integer(shape.duplicate_keys() as i64)),
        ("types", types),
        ("paths", paths),
    ])
}

/// `Native.option_table`: the core's table of options for the tests; for each its keyword in a format's
/// module and in methods of all formats, the old names in both, its values in Ruby notation, the side,
/// and the formats (none means all).
pub fn option_table(_: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let table = ruby::array(&[]);
    for row in &OPTIONS {
        let Some(name) = row.spelled(Language::Ruby, false) else { continue };
        let Some(full) = row.spelled(Language::Ruby, true) else { continue };
        let old = [false, true].map(|is_generic| {
            let names: Vec<_> =
                row.old_names(Language::Ruby, is_generic).map(ruby::symbol).collect();
            ruby::array(&names)
        });
        let values = ruby::array(&[]);
        for value in literals(row.opt, Language::Ruby) {
            ruby::array_extend(values, &[ruby::text(&value)]);
        }
        let formats = ruby::array(&[]);
        for format in row.formats {
            ruby::array_extend(formats, &[ruby::symbol(&format.name().replace('-', "_"))]);
        }
        let side = ruby::symbol(&format!("{:?}", row.side).to_lowercase());
        let names = [ruby::symbol(name), ruby::symbol(full), old[0], old[1]];
        let row = ruby::array(&[names[0], names[1], names[2], names[3], values, side, formats]);
        ruby::array_extend(table, &[row]);
    }
    Ok(table)
}

/// `Native.detect(string, name)`: the format implied by a file's name or its first bytes, or `nil`.
/// Raises if the two contradict each other.
pub fn detect(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[string, name] = arguments else {
        return Err(ruby::argument_error("detect takes a string and a name"));
    };
    let string = if string == ruby::NIL { string } else { source_string(string)? };
    let head = if string == ruby::NIL { &[] } else { ruby::bytes_of(string) };
    let head = &head[..head.len().min(HEAD_BYTES)];
    let format = detect::detect(&word(name).unwrap_or_default(), head)
        .map_err(|error| exception(&error, Phase::Decode))?;
    ruby::keep(string);
    Ok(format.map_or(ruby::NIL, |format| ruby::symbol(format.name())))
}
