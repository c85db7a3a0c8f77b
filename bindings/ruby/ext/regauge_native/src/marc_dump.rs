//! Encodes MARC records: ours, with or without field objects, and ruby-marc's.
//!
//! The objects have the instance variables of ruby-marc, so one walk serves both. It passes the
//! parts of a record directly to the writer; events are created only for MARC-in-JSON.

use regauge::fidelity::Fidelity;
use regauge::marc::{Charset, Record, TakeRecord};
use regauge::out::Out;
use regauge::{Error, Format, Sink, Writer, json, marc};

use crate::errors::{Phase, exception};
use crate::marc::source_of;
use crate::names::names;
use crate::options::{Settings, word};
use crate::ruby::{self, Learned, NIL, Places, Raise, Text, VALUE};
use crate::scratch;

/// The formats of [`dump`].
pub const MARC_21: usize = 0;
/// The same.
pub const XML: usize = 1;
/// The same.
pub const JSON: usize = 2;
/// The same.
pub const MRK: usize = 3;
/// The same.
pub const ALEPH: usize = 4;

/// Implements `Regauge::MARC.dump(records, io = nil, **keywords)` and those of the other formats:
/// see `lib/regauge/marc.rb`.
pub fn dump<const FORMAT: usize>(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    const FORMATS: [Format; 5] =
        [Format::Marc, Format::MarcXml, Format::MarcJson, Format::Mrk, Format::AlephSeq];
    let format = FORMATS[FORMAT];
    let (arguments, keywords) = crate::keywords(arguments);
    let (records, io) = match *arguments {
        [records] => (records, NIL),
        [records, io] => (records, io),
        _ => return Err(ruby::argument_error("dump takes records, an io and keywords")),
    };
    let string = match is_array(records) {
        true => {
            let mut index = 0;
            let mut hashes = false;
            while let Some(record) = ruby::array_get(records, index) {
                hashes |= ruby::is_hash(record);
                index += 1;
            }
            match hashes {
                true => dump_hashes(receiver, records, keywords)?,
                false => bytes(format, keywords, |index| ruby::array_get(records, index))?,
            }
        }
        false if ruby::is_hash(records) => {
            let list = ruby::array(&[records]);
            dump_hashes(receiver, list, keywords)?
        }
        false => bytes(format, keywords, |index| (index == 0).then_some(records))?,
    };
    ruby::keep(keywords);
    if io == NIL {
        return Ok(string);
    }
    ruby::call(io, names().id_write, &[string])?;
    Ok(io)
}

/// Handles Hashes in the shape of MARC-in-JSON among the records.
#[cold]
fn dump_hashes(receiver: VALUE, records: VALUE, keywords: VALUE) -> Result<VALUE, Raise> {
    Ok(ruby::call(receiver, names().id_dump_hashes, &[records, keywords])?)
}

/// `Native.dump_records(format, records, keywords)`: encodes records, ours or ruby-marc's.
pub fn dump_records(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[format, records, keywords] = arguments else {
        return Err(ruby::argument_error("dump_records takes a format, records and keywords"));
    };
    let format = crate::convert::format_of(format)?;
    bytes(format, keywords, |index| ruby::array_get(records, index))
}

/// Gives the parts of each record to a writer of this type.
macro_rules! in_parts {
    ($writer:ty, $out:expr, $core:expr, $fidelity:expr, $at:expr) => {{
        let writer = <$writer>::new($out, $core.marc.clone(), $fidelity);
        let mut writer = writer.with_limits(&$core.limits);
        let written = write($at, |record| {
            match record {
                Given::Read(record) => record.give(writer.parts())?,
                Given::Objects(objects) => objects.give(writer.parts())?,
            }
            writer.end_document()
        });
        written.and_then(|()| writer.finish()).map(|()| writer.into_out())
    }};
}

/// Encodes records, each of which is requested by its index.
fn bytes(
    format: Format,
    keywords: VALUE,
    at: impl Fn(usize) -> Option<VALUE>,
) -> Result<VALUE, Raise> {
    let settings = Settings::parse(format, keywords)?;
    let core = &settings.core;
    let scratch = scratch::take();
    let out = Out::reusing(scratch.out.take());
    let fidelity = || Fidelity::new(core.on_loss, format);
    let ran = match format {
        Format::Marc => {
            let kept = if settings.usual { scratch.marc.take() } else { None };
            let mut writer = kept.unwrap_or_else(|| {
                let out = Out::in_memory();
                let writer = marc::iso2709::Writer::new(out, core.marc.clone(), fidelity());
                Box::new(writer.with_limits(&core.limits))
            });
            writer.replace_out(out);
            let written = write(at, |record| match record {
                Given::Read(record) => writer.record(record),
                Given::Objects(objects) => {
                    objects.give(writer.parts())?;
                    writer.end_document()
                }
            });
            written.map(|()| {
                let out = writer.replace_out(Out::in_memory());
                if settings.usual {
                    scratch.marc.set(Some(writer));
                }
                out
            })
        }
        Format::MarcXml => in_parts!(marc::xml::Writer, out, core, fidelity(), at),
        Format::Mrk => in_parts!(marc::mrk::Writer, out, core, fidelity(), at),
        Format::AlephSeq => in_parts!(marc::aleph::Writer, out, core, fidelity(), at),
        _ => {
            let options = json::WriteOptions { lines: true, ..core.json_write };
            let mut writer = json::Writer::new(out, options, fidelity());
            let written = write(at, |record| {
                match record {
                    Given::Read(record) => record.drive(&mut writer)?,
                    Given::Objects(objects) => {
                        let mut events = Events::new(&mut writer);
                        objects.give(&mut events)?;
                        events.end()?;
                    }
                }
                writer.end_document()
            });
            written.and_then(|()| writer.finish()).map(|()| writer.into_out())
        }
    };
    match ran {
        Ok(out) => {
            let bytes = out.into_vec();
            let string = ruby::output(&bytes, format != Format::Marc);
            scratch.out.set(bytes);
            Ok(string)
        }
        Err(error) => Err(exception(&error.in_format(format), settings.call(Phase::Encode))),
    }
}

/// A record as passed by the caller.
enum Given<'a> {
    /// Its fields have not been accessed since it was read.
    Read(&'a Record),
    /// As objects.
    Objects(Objects<'a>),
}

/// Passes each record to `act`.
fn write(
    at: impl Fn(usize) -> Option<VALUE>,
    mut act: impl FnMut(Given<'_>) -> regauge::Result,
) -> regauge::Result {
    let mut seen = Seen::nothing();
    let mut index = 0;
    while let Some(object) = at(index) {
        index += 1;
        given(object, &mut seen)
            .and_then(&mut act)
            .map_err(|error| error.in_record(index as u64))?;
    }
    Ok(())
}

/// Interprets an object as a record.
fn given(object: VALUE, seen: &mut Seen) -> regauge::Result<Given<'_>> {
    let names = names();
    let leader = ruby::variable(object, names.id_leader);
    let fields = ruby::variable(object, names.id_fields);
    if !is_array(fields) {
        let Some(record) = source_of(fields) else { return Err(no_record(object)) };
        let text = text_of(leader, "a leader")?;
        if text != record.leader() {
            record.set_leader(text);
        }
        return Ok(Given::Read(record));
    }
    Ok(Given::Objects(Objects { object, leader: text_of(leader, "a leader")?, fields, seen }))
}

/// The layout of the objects of records.
struct Seen {
    field: Places<6>,
    subfield: Places<2>,
}

/// The names of [`Seen::field`].
const TAG: usize = 0;
const SUBFIELDS: usize = 1;
const VALUE_OF_FIELD: usize = 2;
const INDICATORS: [usize; 2] = [3, 4];
/// Both in one array: the layout of our own fields.
const PAIR: usize = 5;
/// The names of [`Seen::subfield`].
const CODE: usize = 0;
const VALUE_OF_SUBFIELD: usize = 1;

impl Seen {
    fn nothing() -> Seen {
        // No object is created here.
        static NONE: Learned = Learned::new();
        let names = names();
        let (one, two) = (names.id_indicator1, names.id_indicator2);
        let pair = names.id_indicators;
        let field = [names.id_tag, names.id_subfields, names.id_value, one, two, pair];
        let subfield = [names.id_code, names.id_value];
        Seen { field: Places::unknown(field, &NONE), subfield: Places::unknown(subfield, &NONE) }
    }
}

/// A record with field objects.
struct Objects<'a> {
    object: VALUE,
    leader: &'a str,
    fields: VALUE,
    seen: &'a mut Seen,
}

impl Objects<'_> {
    /// Passes on the parts of the record. No Ruby method runs meanwhile.
    fn give<T: TakeRecord>(self, target: &mut T) -> regauge::Result {
        let Objects { object, leader, fields, seen } = self;
        let names = names();
        let ours = ruby::class_of(object) == names.marc_record;
        target.begin()?;
        target.leader(leader);
        let charset = match ruby::variable(object, names.id_charset) {
            NIL if ours => None,
            // As in ruby-marc: the output is UTF-8, whatever the leader says.
            NIL => (leader.as_bytes().get(9) != Some(&b'a')).then_some(Charset::Utf8),
            charset => match word(charset) {
                None => None,
                Some(name) => Some(Charset::from_name(&name).ok_or_else(|| no_charset(&name))?),
            },
        };
        if let Some(charset) = charset {
            target.charset(charset);
        }
        for &field in ruby::array_values(fields) {
            seen.field.look(field);
            let variable = |name| seen.field.get(field, name);
            let tag = text_of(variable(TAG), "a tag")?;
            target.tag(tag);
            let subfields = variable(SUBFIELDS);
            if !is_array(subfields) {
                target.text(content_of(variable(VALUE_OF_FIELD), tag)?);
                continue;
            }
            target.begin_data();
            let pair = variable(PAIR);
            let [one, two] = match is_array(pair) {
                true => [0, 1].map(|index| ruby::array_get(pair, index).unwrap_or(NIL)),
                false => INDICATORS.map(variable),
            };
            target.ind1(content_of(one, tag)?);
            target.ind2(content_of(two, tag)?);
            for &subfield in ruby::array_values(subfields) {
                seen.subfield.look(subfield);
                target.code(content_of(seen.subfield.get(subfield, CODE), tag)?);
                let value = seen.subfield.get(subfield, VALUE_OF_SUBFIELD);
                target.value(content_of(value, tag)?);
            }
            target.end_data();
        }
        ruby::keep(object);
        Ok(())
    }
}

/// Creates the events of MARC-in-JSON from parts in the usual order.
struct Events<'a, S> {
    sink: &'a mut S,
    /// The first error of the sink.
    result: regauge::Result,
    /// Whether the array of fields is open, and the one of subfields.
    in_fields: bool,
    in_subfields: bool,
}

impl<'a, S: Sink> Events<'a, S> {
    fn new(sink: &'a mut S) -> Events<'a, S> {
        Events { sink, result: Ok(()), in_fields: false, in_subfields: false }
    }

    fn then(&mut self, act: impl FnOnce(&mut S) -> regauge::Result) {
        if self.result.is_ok() {
            self.result = act(self.sink);
        }
    }

    fn open_subfields(&mut self) {
        if !std::mem::replace(&mut self.in_subfields, true) {
            self.then(|sink| {
                sink.key("subfields")?;
                sink.begin_array(None)
            });
        }
    }

    fn open_fields(&mut self) {
        if !std::mem::replace(&mut self.in_fields, true) {
            self.then(|sink| {
                sink.key("fields")?;
                sink.begin_array(None)
            });
        }
    }

    /// Ends the record.
    fn end(mut self) -> regauge::Result {
        self.open_fields();
        self.then(|sink| {
            sink.end_array()?;
            sink.end_map()
        });
        self.result
    }
}

impl<S: Sink> TakeRecord for Events<'_, S> {
    fn begin(&mut self) -> regauge::Result {
        self.sink.begin_map(None)
    }
    fn leader(&mut self, text: &str) {
        self.then(|sink| {
            sink.key("leader")?;
            sink.str(text)
        });
    }
    fn charset(&mut self, charset: Charset) {
        self.then(|sink| {
            sink.key("charset")?;
            sink.str(charset.name())
        });
    }
    fn tag(&mut self, tag: &str) {
        self.open_fields();
        self.then(|sink| {
            sink.begin_map(Some(1))?;
            sink.key(tag)
        });
    }
    fn text(&mut self, text: &str) {
        self.then(|sink| {
            sink.str(text)?;
            sink.end_map()
        });
    }
    fn begin_data(&mut self) {
        self.in_subfields = false;
        self.then(|sink| sink.begin_map(Some(3)));
    }
    fn ind1(&mut self, text: &str) {
        self.then(|sink| {
            sink.key("ind1")?;
            sink.str(text)
        });
    }
    fn ind2(&mut self, text: &str) {
        self.then(|sink| {
            sink.key("ind2")?;
            sink.str(text)
        });
    }
    fn code(&mut self, code: &str) {
        self.open_subfields();
        self.then(|sink| {
            sink.begin_map(Some(1))?;
            sink.key(code)
        });
    }
    fn value(&mut self, text: &str) {
        self.then(|sink| {
            sink.str(text)?;
            sink.end_map()
        });
    }
    fn end_data(&mut self) {
        self.open_subfields();
        self.then(|sink| {
            sink.end_array()?;
            sink.end_map()?;
            sink.end_map()
        });
    }
    fn weight(&self) -> u64 {
        0
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        self.sink.fidelity()
    }
}

fn is_array(value: VALUE) -> bool {
    ruby::kind_of(value) == rb_sys::ruby_value_type::RUBY_T_ARRAY
}

/// Returns text, or an empty one for `nil`.
#[inline(always)]
fn content_of<'a>(value: VALUE, tag: &str) -> regauge::Result<&'a str> {
    match ruby::known_text(value) {
        Some(text) => Ok(text),
        None if value == NIL => Ok(""),
        None => other_text(value, tag),
    }
}

#[inline(always)]
fn text_of<'a>(value: VALUE, what: &str) -> regauge::Result<&'a str> {
    match ruby::known_text(value) {
        Some(text) => Ok(text),
        None => other_text(value, what),
    }
}

#[cold]
#[inline(never)]
fn other_text<'a>(value: VALUE, what: &str) -> regauge::Result<&'a str> {
    if ruby::is_heap(value) && ruby::kind_of(value) == rb_sys::ruby_value_type::RUBY_T_STRING {
        if ruby::text_kind(value) == Text::Utf8 {
            return Ok(ruby::utf8_of(value));
        }
        // Bytes from a file that was read without an encoding.
        if ruby::text_kind(value) == Text::Binary
            && let Ok(text) = std::str::from_utf8(ruby::bytes_of(value))
        {
            return Ok(text);
        }
    }
    Err(Error::unrepresentable(format!("found no UTF-8 text in {what}, expected a UTF-8 String")))
}

#[cold]
fn no_record(object: VALUE) -> Error {
    let class = word(ruby::module_name(ruby::class_of(object))).unwrap_or_default();
    Error::unrepresentable(format!("found an object of the class {class}, expected a MARC record"))
}

#[cold]
fn no_charset(name: &str) -> Error {
    Error::unrepresentable(format!(
        "found the charset {name:?}, expected the charset: utf-8 or marc-8"
    ))
    .hint("only MARC records can be written as MARC")
}
